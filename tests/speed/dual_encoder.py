"""Time a dual encoder against a plain loop over rows with the same model, in one run.

    python tests/speed/dual_encoder.py [--scenes 4] [--quick]

The plain loop does what an evaluation script does: for each variation and each of its three tiers it opens both
images, encodes both and both captions (rows of 77 ids), and takes four cosines: six image encodes a variation. Ours is
the whole path, from references to images and captions through the cache file to scores. Both use one open_clip
ViT-B/32 with random weights, loaded beforehand, on scenes that the bundled generator draws. `--quick` takes a tenth of
the rows of the plain loop and scales its time up.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import open_clip
import torch
from open_clip.model import get_model_preprocess_cfg
from open_clip.transform import PreprocessCfg, image_transform_v2
from torch.utils.flop_counter import FlopCounterMode

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent / "peers"))

from hydra import compose, initialize_config_module  # noqa: E402
from minicons_peer import Spent, say, timed  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from safetensors.torch import save_file  # noqa: E402

from audits import load  # noqa: E402
from audits.models.dual_encoder.openclip import from_open_clip  # noqa: E402
from audits.models.dual_encoder.scorer import DualEncoder  # noqa: E402
from baselines.engine import Engine  # noqa: E402
from baselines.schema import Scored  # noqa: E402
from benchmarks.compset import CompoSET  # noqa: E402
from benchmarks.images import decode  # noqa: E402
from benchmarks.schema import Candidates, Instance  # noqa: E402

ARCH = "ViT-B-32"
WANTED = 5.0


def save_model(folder: Path) -> None:
    """Save a ViT-B/32 with random weights as open_clip's hub holds one, in half precision."""
    torch.manual_seed(0)
    model = open_clip.create_model(ARCH, load_weights=False)
    config = {"model_cfg": open_clip.get_model_config(ARCH), "preprocess_cfg": {}}
    folder.mkdir()
    (folder / "open_clip_config.json").write_text(json.dumps(config), encoding="utf-8")
    state = {key: value.half().contiguous() for key, value in model.state_dict().items()}
    save_file(state, folder / "open_clip_model.safetensors")


def peak() -> float:
    """Return the fp32 floating point operations a second of the best of some square products."""
    best = 0.0
    for size in (1024, 1536, 2048, 3072):
        a, b = torch.randn(size, size), torch.randn(size, size)
        best = max(best, 2 * size**3 / min(timed(lambda a=a, b=b: a @ b).wall for _ in range(6)))
    return best


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


class Ours:
    """Score all rows into an empty cache; weights are loaded beforehand."""

    def __init__(self, folder: Path, rows: Sequence[Instance]) -> None:
        self.scorer: DualEncoder = from_open_clip(str(folder), device="cpu")
        self.batch: list[Candidates] = [row.candidates() for row in rows]
        self.results: list[Scored] = []
        self.computed: dict[str, int] = {}
        self.scorer.encoder._model  # noqa: B018 - loads the weights

    def __call__(self) -> None:
        with tempfile.TemporaryDirectory() as folder, Engine(Path(folder) / "scores.sqlite") as engine:
            self.results = self.scorer.score(self.batch, engine)
            self.computed = {label.rpartition(" ")[2]: count.computed for label, count in engine.counts.items()}

    def operations(self) -> float:
        """Return the floating point operations of the encodes that it needs, counted on the same batches."""
        encoder, rows = self.scorer.encoder, self.scorer._texts(self.batch)
        texts = list({text.key: text for text in rows.values()}.values())
        image = encoder.prepare(decode(self.batch[0].images[0]).image)
        with FlopCounterMode(display=False) as one:
            encoder.encode_images([image])
        with FlopCounterMode(display=False) as all_texts:
            for batch in self.scorer._plan(texts):
                encoder.encode_texts([texts[place] for place in batch])
        return one.get_total_flops() * self.computed["images"] + all_texts.get_total_flops()


class Plain:
    """Go through the rows one by one, as an evaluation script does."""

    def __init__(self, folder: Path, model: torch.nn.Module, rows: Sequence[Instance]) -> None:
        self.model, self.rows = model, rows
        self.prepare = image_transform_v2(PreprocessCfg(**get_model_preprocess_cfg(model)), is_train=False)
        self.tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
        self.results: list[np.ndarray] = []

    @torch.inference_mode()
    def __call__(self) -> None:
        self.results = []
        for row in self.rows:
            images = self.model.encode_image(torch.stack([self.prepare(decode(ref).image) for ref in row.images]))
            texts = self.model.encode_text(self.tokenizer(list(row.captions)))
            images, texts = (side / side.norm(dim=-1, keepdim=True) for side in (images, texts))
            self.results.append((images @ texts.T).numpy())


def rows_of(scenes: int, cache: str) -> list[Instance]:
    """Return the rows of a sample with so many scenes, its pictures drawn."""
    words = ["benchmark=compset", "benchmark.source=sample", f"benchmark.sample.scenes={scenes}"]
    with initialize_config_module("conf", version_base=None):
        composed = compose("run", [*words, f"paths.cache={cache}"])
    benchmark = load.benchmark({"benchmark": OmegaConf.to_container(composed.benchmark, resolve=True)})
    assert isinstance(benchmark, CompoSET)
    benchmark.prepare_images()
    return list(benchmark)


def report(ours: Ours, plain: Plain, spent: tuple[Spent, Spent], of: int, top: float) -> None:
    mine, theirs = spent
    rows = len(ours.batch)
    variations = rows // 3
    say(f"{rows} rows of {variations} variations, {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}")
    say(f"  encodes a variation: plain 6.00 images and 6.00 captions; ours {ours.computed['images'] / variations:.2f}")
    say(f"    images and {ours.computed['captions'] / variations:.2f} captions ({ours.computed})")
    say(f"  ours: {mine.wall:.1f} s on the wall, {mine.core:.1f} s on a core")
    scaled = "" if of == rows else f" (scaled up from {of} rows)"
    say(f"  plain loop: {theirs.wall:.1f} s on the wall, {theirs.core:.1f} s on a core{scaled}")
    say(f"  ours is {theirs.wall / mine.wall:.2f} times as fast on the wall, {theirs.core / mine.core:.2f} on a core")
    rate = ours.operations() / mine.wall
    say(f"  peak of fp32 products {top / 1e9:.0f} GFLOP/s; ours reaches {rate / 1e9:.0f}, a share of {rate / top:.2f}")
    say(f"  facts: {ours.scorer.facts}")


def agreement(ours: Ours, plain: Plain) -> bool:
    pairs = list(zip((one.columns[""] for one in ours.results), plain.results, strict=False))
    apart = max(float(np.abs(one - other).max()) for one, other in pairs)
    turned = sum(
        int((np.sign(np.diff(one, axis=axis)) != np.sign(np.diff(other, axis=axis))).sum())
        for one, other in pairs
        for axis in (0, 1)
    )
    say(f"  largest difference of a cosine: {apart:.1e}; decisions that differ: {turned} of {4 * len(pairs)}")
    return apart < 1e-4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=4, help="scenes to draw")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows in the plain loop, scaled up")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as top_folder:
        folder = Path(top_folder) / "model"
        save_model(folder)
        rows = rows_of(options.scenes, top_folder)
        few = rows[:: 10 if options.quick else 1]
        ours = Ours(folder, rows)
        plain = Plain(folder, ours.scorer.encoder._model, few)
        top, before = peak(), memory()
        mine = timed(ours)
        after = memory()
        part = timed(plain)
        theirs = Spent(*(value * len(rows) / len(few) for value in part))
        top = max(top, peak())
        report(ours, plain, (mine, theirs), len(few), top)
        say(
            f"  peak memory {after:.2f} GiB with ours, {before:.2f} before it (model loaded), {memory():.2f} at the end"
        )
        if options.quick:
            ours.results = ours.results[::10]
        good = agreement(ours, plain)
    if not good or theirs.wall / mine.wall < WANTED:
        sys.exit(f"the scores differ, or ours is less than {WANTED:g} times as fast")


if __name__ == "__main__":
    main()
