"""Time the likelihood baseline against minicons on the same captions under the same model, in one run.

    python tests/speed/likelihood.py [--captions 2000] [--rounds 2] [--tuned] [--whole]

The peer is `IncrementalLMScorer.sequence_score` in fp32 at the best of three batch sizes (chosen on a hundred
captions). Ours is the whole path, from captions through tokens, trees, model and cache file to columns, in fp32 and in
mixed. The contestants take turns and each one's best round counts. `--tuned` adds minicons with the memory settings
that ours sets for itself; `--whole` adds all of SugarCrepe in both modes, each in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
sys.path.insert(0, str(Path(__file__).parent / "peers"))

from minicons_peer import Peer, Spent, say, timed  # noqa: E402

from baselines.engine import Engine  # noqa: E402
from baselines.language.packing import plan, tree  # noqa: E402
from baselines.language.rows import Row  # noqa: E402
from baselines.likelihood import Likelihood  # noqa: E402
from baselines.schema import Scored  # noqa: E402
from benchmarks.images import ImageRef  # noqa: E402
from benchmarks.schema import Candidates  # noqa: E402
from benchmarks.tableaux.sample import specification  # noqa: E402

SUGARCREPE = ROOT.parent / "shared" / "data" / "sugar-crepe" / "data"
TUNED = "minicons with our memory settings"
Pair = tuple[str, str]


def real_pairs() -> list[Pair]:
    """Return SugarCrepe's pairs, or those of the bundled sample where it is absent."""
    if SUGARCREPE.is_dir():
        files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(SUGARCREPE.glob("*.json"))]
        return [(row["caption"], row["negative_caption"]) for rows in files for row in rows.values()]
    say("SugarCrepe is not there: captions of the bundled sample")
    return [pair for variation in specification(80).variations() for pair in variation.captions.values()]


def some_pairs(count: int) -> list[Pair]:
    """Return pairs in a fixed order, drawn over all subsets, as long as they have at most so many captions."""
    pairs = real_pairs()
    random.Random(0).shuffle(pairs)
    taken: list[Pair] = []
    seen: set[str] = set()
    for pair in pairs:
        if len(seen | set(pair)) <= count:
            taken.append(pair)
            seen |= set(pair)
    return taken


def distinct(pairs: Sequence[Pair]) -> list[str]:
    return list(dict.fromkeys(text for pair in pairs for text in pair))


def candidates(pairs: Sequence[Pair]) -> list[Candidates]:
    return [Candidates(str(n), (ImageRef.absent(),), pair) for n, pair in enumerate(pairs)]


def peak() -> float:
    """Return the fp32 floating point operations a second of the best of some square products."""
    best = 0.0
    for size in (1024, 1536, 2048, 3072):
        a, b = torch.randn(size, size), torch.randn(size, size)
        best = max(best, 2 * size**3 / min(timed(lambda a=a, b=b: a @ b).wall for _ in range(6)))
    return best


class Ours:
    """Score pairs by the baseline into an empty cache; weights are loaded beforehand."""

    def __init__(self, dtype: str, pairs: Sequence[Pair]) -> None:
        self.scorer = Likelihood(dtype=dtype, device="cpu")
        self.batch = candidates(pairs)
        self.results: list[Scored] = []
        self.scorer._model  # noqa: B018 - loads the weights

    def __call__(self) -> None:
        self.scorer.facts.clear()
        with tempfile.TemporaryDirectory() as folder, Engine(Path(folder) / "scores.sqlite") as engine:
            self.results = self.scorer.score(self.batch, engine)

    def rows(self) -> list[Row]:
        texts = dict.fromkeys(text for item in self.batch for text in item.captions)
        return list({row.key: row for row in self.scorer._rows([("", text) for text in texts])}.values())


def work_of(model: torch.nn.Module, rows: Sequence[Row], nodes: int) -> tuple[int, float]:
    """Return tokens computed, and the floating point operations they need: products, logits, attention to ancestors."""
    trees = [tree([rows[place] for place in pack]) for pack in plan(rows, nodes)]
    config = model.config
    inner = sum(p.numel() for p in model.base_model.parameters()) - config.vocab_size * config.hidden_size
    tokens = sum(len(one.tokens) for one in trees)
    logits = sum(len(np.unique(one.nodes)) for one in trees) * config.hidden_size * config.vocab_size
    seen = sum(int((one.depths + 1).sum()) for one in trees)
    attention = 2 * seen * config.hidden_size * config.num_hidden_layers
    return tokens, 2.0 * (tokens * inner + logits + attention)


@torch.inference_mode()
def one_at_a_time(model: torch.nn.Module, rows: Sequence[Row]) -> list[float]:
    """Return the plain loop: one row a pass, in fp32, the logarithm in float64."""
    found = []
    for row in rows:
        ids = torch.tensor(row.ids)
        logs = model(input_ids=ids[None, :-1]).logits[0].double().log_softmax(-1)
        found.append(float(logs.gather(1, ids[1:, None]).sum()))
    return found


def decisions(results: Sequence[Scored]) -> list[list[int]]:
    return [[int(np.sign(v[0, 0] - v[0, 1])) for v in one.columns.values()] for one in results]


def differing(one: Sequence[Scored], other: Sequence[Scored]) -> int:
    pairs = zip(decisions(one), decisions(other), strict=True)
    return sum(a != b for left, right in pairs for a, b in zip(left, right, strict=True))


def compare(count: int, rounds: int, *, tuned: bool) -> None:
    pairs = some_pairs(count)
    captions = distinct(pairs)
    exact, mixed = Ours("float32", pairs), Ours("mixed", pairs)
    model, top = exact.scorer._model, peak()
    peers = {
        name: Peer(exact.scorer._found.folder, tuned=name != "minicons")
        for name in (("minicons", TUNED) if tuned else ("minicons",))
    }
    size = peers["minicons"].best_size(captions[:96])
    seconds: dict[str, list[Spent]] = {name: [] for name in (*peers, "ours, float32", "ours, mixed")}
    theirs: list[float] = []
    for _ in range(rounds):
        seconds["ours, float32"].append(timed(exact))
        for name, peer in peers.items():
            spent, theirs = peer(captions, size)
            seconds[name].append(spent)
        seconds["ours, mixed"].append(timed(mixed))
        top = max(top, peak())
    for peer in peers.values():
        peer.stop()
    best = {name: Spent(*(min(part) for part in zip(*turns, strict=True))) for name, turns in seconds.items()}
    rows = exact.rows()
    tokens, operations = work_of(model, rows, exact.scorer._budget)
    every = sum(len(row.ids) for row in rows)
    threads, load = torch.get_num_threads(), os.getloadavg()[0]
    say(f"{len(captions)} captions, {len(pairs)} pairs, {threads} threads, load {load:.1f}")
    for name, value in best.items():
        faster = best["minicons"].wall / value.wall, best["minicons"].core / value.core
        say(f"  {name}: {value.wall:.1f} s on the wall, {value.core:.1f} s on a core")
        say(f"    {faster[0]:.2f} and {faster[1]:.2f} times minicons' speed")
    say(f"  minicons at batch size {size}")
    say(f"  tokens in all {every}, computed by ours {tokens}, {every / tokens:.2f} times fewer")
    rate = operations / best["ours, float32"].wall
    say(f"  peak of fp32 products {top / 1e9:.0f} GFLOP/s; ours reaches {rate / 1e9:.0f}, a share of {rate / top:.2f}")
    say(f"  facts of mixed: {mixed.scorer.facts}")
    agreement(model, (exact, mixed), theirs)


def agreement(model: torch.nn.Module, ours: tuple[Ours, Ours], theirs: Sequence[float]) -> None:
    """Print how far the ways are apart."""
    exact, mixed = ours
    sums = {
        text: one.columns["unnorm"][0, place]
        for item, one in zip(exact.batch, exact.results, strict=True)
        for place, text in enumerate(item.captions)
    }
    few = list(sums)[:: max(1, len(sums) // 250)]
    slow = one_at_a_time(model, exact.scorer._rows([("", str(text)) for text in few]))
    apart = max(abs(sums[text] - value) for text, value in zip(few, slow, strict=True))
    peers = max(abs(value - other) for value, other in zip(sums.values(), theirs, strict=True))
    say(f"  largest difference from one caption at a time ({len(few)} captions): {apart:.1e} nats")
    say(f"  largest difference between ours and minicons: {peers:.1e} nats")
    turned, of = differing(exact.results, mixed.results), 4 * len(exact.results)
    say(f"  decisions of mixed that differ from float32's: {turned} of {of}")
    if apart >= 1e-3 or turned:
        sys.exit("the ways do not agree")


def whole(dtype: str) -> None:
    pairs = real_pairs()
    ours = Ours(dtype, pairs)
    seconds = timed(ours).wall
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    say(f"  {dtype}: {len(distinct(pairs))} captions in {seconds:.1f} s, peak memory {memory:.2f} GiB")
    say(f"  facts: {ours.scorer.facts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=int, default=2000, help="distinct captions to compare on")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each contestant")
    parser.add_argument("--tuned", action="store_true", help="minicons with our memory settings as well")
    parser.add_argument("--whole", action="store_true", help="all of SugarCrepe in both modes as well")
    parser.add_argument("--only", choices=("float32", "mixed"), help="all of SugarCrepe in one mode and nothing else")
    options = parser.parse_args()
    if options.only:
        whole(options.only)
        return
    compare(options.captions, options.rounds, tuned=options.tuned)
    if options.whole:
        say("All pairs, each mode in a process of its own, weights loaded beforehand:")
        for dtype in ("float32", "mixed"):
            subprocess.run([sys.executable, __file__, "--only", dtype], check=True)


if __name__ == "__main__":
    main()
