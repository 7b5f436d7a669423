"""Area D for models that are shown an image: alignment (D9), batches (D10), blindness (D14), start marks (D3)."""

import math
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from audits import load
from audits.dataset import Roster
from audits.measured import from_cells
from audits.models.generative import CONDITIONS, generative
from audits.models.generative.asking import Likelihood
from audits.models.generative.causal import Causal
from audits.models.generative.conditions import NoImage, NullImages, Own
from audits.models.generative.contestant import Generative
from audits.models.generative.items import Row, Scene
from audits.models.generative.logits import ends
from audits.models.generative.reading import Checked
from audits.scoring import score
from audits.statistics.layout import Layout
from baselines.engine import Engine
from benchmarks.schema import Candidates, Instance, Shape
from tests.small_captioners import CAPTIONS, IMAGES, picture

CPU = torch.device("cpu")
START, DOGS, RUN, REST = range(4)
VOCABULARY = 4


class Shown:
    """A left-to-right model with three places for the image and a table of log-probabilities, by previous id.

    It reads an image of three places in front of the text, as GIT does, and keeps what it has read; the logits of the
    image's places and of the prompt would be worth a lot, if they were counted.
    """

    IMAGE_PLACES = 3
    model_type = "git"

    def __init__(self, rule):
        self.rule, self.config = rule, self
        self.device, self.dtype = CPU, torch.float32

    def forward(self, input_ids, pixel_values=None, cache=None, use_cache=False, position_ids=None, logits_to_keep=0):
        rows = [[self._logits(int(token)) for token in row] for row in input_ids]
        if pixel_values is not None:
            rows = [[self._logits(REST)] * self.IMAGE_PLACES + row for row in rows]
        logits = torch.tensor(rows, dtype=torch.float32)
        return SimpleNamespace(logits=logits[:, -logits_to_keep:], cache=Kept())

    __call__ = forward

    def _logits(self, previous):
        known = [self.rule(previous, token) for token in range(VOCABULARY - 1)]
        return [*known, math.log(1 - sum(math.exp(value) for value in known))]


class Kept:
    """What the stub keeps of what it has read: nothing, for its table looks back by one id."""

    layers = ()

    def batch_select_indices(self, chosen):
        """Take the rows that are asked for."""


def test_d9_image_positions_in_front_of_the_caption():
    # Three image positions, then two caption tokens worth -1 and -2: -3 from 2 tokens, in a batch and one by one.
    def rule(previous, token):
        return {(START, DOGS): -1.0, (DOGS, RUN): -2.0}.get((previous, token), -9.0)

    adapter = Causal(Shown(rule), image_id=None, at_once=8)
    row = Row((START,), (DOGS, RUN))
    scene = Scene({"pixel_values": torch.zeros(1, 3, 2, 2)}, [row])
    [batched] = adapter.batch([scene])
    assert batched.tolist() == pytest.approx([-1, -2], abs=1e-5)
    assert adapter.single(scene, row).tolist() == pytest.approx([-1, -2], abs=1e-5)


def test_d9_the_prompt_conditions_and_is_never_scored():
    # The prompt RUN is worth -5 and no part of the sum; after it DOGS is worth -0.5 instead of -1.
    def rule(previous, token):
        return {(START, RUN): -5.0, (START, DOGS): -1.0, (RUN, DOGS): -0.5}.get((previous, token), -9.0)

    adapter = Causal(Shown(rule), image_id=None, at_once=8)
    rows = [Row((START, RUN), (DOGS,)), Row((START,), (DOGS,))]
    pixels = {"pixel_values": torch.zeros(1, 3, 2, 2)}
    prompted, bare = (adapter.batch([Scene(pixels, [row])])[0].tolist() for row in rows)
    assert (prompted, bare) == (pytest.approx([-0.5], abs=1e-5), pytest.approx([-1], abs=1e-5))
    # Both behind one image share the start mark alone: what is behind it differs, and is read behind it.
    together = adapter.batch([Scene(pixels, rows)])
    assert [one.tolist() for one in together] == [pytest.approx([-0.5], abs=1e-5), pytest.approx([-1], abs=1e-5)]


def test_d9_more_scored_ids_than_were_read_is_a_fault():
    with pytest.raises(ValueError, match="more ids are scored than were read"):
        ends(torch.zeros(1, 1, VOCABULARY), [Row((), (DOGS, RUN))], [1])


class Short:
    """An adapter that leaves out the last token of every caption."""

    def batch(self, scenes):
        return [torch.zeros(len(row.target) - 1) for scene in scenes for row in scene.rows]

    def single(self, scene, row):
        return torch.zeros(len(row.target) - 1)


@pytest.mark.parametrize("name", ["git", "llava_next"])
def test_d9_an_adapter_that_counts_otherwise_is_found_out(small_captioner, name, tmp_path):
    own, *_ = generative(str(small_captioner(name)), device="cpu")
    own._core._reader._adapter = Short()
    with Engine(tmp_path / "cache") as engine, pytest.raises(ValueError, match="log-probabilities for"):
        own.score([Candidates("a", IMAGES[:1], CAPTIONS)], engine)


@pytest.mark.parametrize("name", ["git", "blip", "blip2_opt", "blip2_t5", "llava_next", "qwen2_vl"])
def test_d10_batched_vlm_with_uneven_image_tokens(small_captioner, name, tmp_path):
    # One small and one large image, the same prompt, two captions: the four sums are those of single runs.
    small, large = IMAGES[0], picture(9, (96, 96))
    own, *_ = generative(str(small_captioner(name)), prompt="Describe the image.", device="cpu")
    with Engine(tmp_path / "cache") as engine:
        [scored] = own.score([Candidates("a", (small, large), CAPTIONS[:2])], engine)
        reader = own._core._reader
        assert reader.checked.in_batches
        reader._checked = Checked(in_batches=False, difference=1.0)
    with Engine(tmp_path / "single") as engine:
        single = [own.score([Candidates("a", (image,), CAPTIONS[:2])], engine)[0] for image in (small, large)]
    assert np.allclose(scored.columns["unnorm"], np.concatenate([one.columns["unnorm"] for one in single]), atol=1e-4)


class Shifted:
    """An adapter whose batches are wrong by a constant, as when padding stands on the wrong side."""

    def __init__(self, adapter):
        self.adapter = adapter

    def batch(self, scenes):
        return [value + 0.5 for value in self.adapter.batch(scenes)]

    def single(self, scene, row):
        return self.adapter.single(scene, row)


@pytest.mark.parametrize("name", ["git", "qwen2_vl"])
def test_d10_batches_that_differ_are_given_up_and_the_run_says_so(small_captioner, name, tmp_path):
    own, *_ = generative(str(small_captioner(name)), device="cpu")
    item = Candidates("a", IMAGES, CAPTIONS)
    with Engine(tmp_path / "right") as engine:
        [right] = own.score([item], engine)
    wrong, *_ = generative(str(small_captioner(name)), device="cpu")
    wrong._core._reader._adapter = Shifted(wrong._core._reader._adapter)
    with Engine(tmp_path / "wrong") as engine:
        [scored] = wrong.score([item], engine)
    assert np.allclose(scored.columns["unnorm"], right.columns["unnorm"], atol=1e-4)
    assert wrong.facts["batches"].startswith("one by one: batches differ")
    assert "0.5" in wrong.facts["batches"]


def test_d10_positions_left_of_another_image_do_not_shift_the_text(small_captioner, tmp_path):
    # Qwen2-VL keeps by how much the last image shifted positions: a text without an image must not be shifted by it.
    folder = str(small_captioner("qwen2_vl"))
    _, alone = generative(folder, conditions=["no_image"], device="cpu")
    own, behind = generative(folder, conditions=["no_image"], device="cpu")
    item = Candidates("a", IMAGES, CAPTIONS)
    with Engine(tmp_path / "a") as engine:
        alone._core._reader._checked = Checked(in_batches=True, difference=0.0)  # no image was ever read
        [first] = alone.score([item], engine)
    with Engine(tmp_path / "b") as engine:
        own.score([item], engine)
        [second] = behind.score([item], engine)
    assert np.allclose(first.columns["unnorm"], second.columns["unnorm"], atol=1e-5)


def test_d3_a_chat_template_that_writes_the_start_mark_gets_no_second_one(small_captioner, tmp_path):
    folder = shutil.copytree(small_captioner("llava_next"), tmp_path / "marked")
    template = folder / "chat_template.jinja"
    template.write_text("<s>" + template.read_text(encoding="utf-8"), encoding="utf-8")
    item = Candidates("a", IMAGES, CAPTIONS)
    found = []
    for number, path in enumerate((small_captioner("llava_next"), folder)):
        own, blind = generative(str(path), prompt="Describe", conditions=["no_image"], device="cpu")
        prompter = own._core.prompter
        shown = prompter.show(Image.new("RGB", (40, 40)), prompter.render("Describe", has_image=True))
        start = prompter.tokenizer.bos_token_id
        assert [shown.ids.count(start), shown.ids[0]] == [1, start]
        with Engine(tmp_path / str(number)) as engine:
            found.append([one.score([item], engine)[0].columns["unnorm"] for one in (own, blind)])
    assert all(np.array_equal(left, right) for left, right in zip(*found, strict=True))


def test_d3_a_model_without_a_start_mark_gets_none_behind_a_template(small_captioner):
    own, *_ = generative(str(small_captioner("qwen2_vl")), device="cpu")
    prompter = own._core.prompter
    ids = prompter.read(prompter.render("x", has_image=False))
    assert prompter.tokenizer.convert_ids_to_tokens(ids[0]) == "<|im_start|>"
    assert own.signature["start"].startswith("none")


def test_d1_a_caption_with_nothing_in_front_starts_from_a_declared_stand_in(small_captioner, tmp_path):
    own, blind = generative(str(small_captioner("qwen2_vl")), template=False, conditions=["no_image"], device="cpu")
    assert "<|im_end|>" in own.signature["start"]
    with Engine(tmp_path / "cache") as engine:
        for one in (own, blind):
            [scored] = one.score([Candidates("a", IMAGES[:1], CAPTIONS)], engine)
            assert np.isfinite(scored.columns["unnorm"]).all()


class Believer:
    """A core whose model adds +1 to the positive only if an image is there: -3 for the positive, -2.5 without it."""

    identity, facts = {"model": "believer"}, {}

    class prompter:  # noqa: N801 - stands where the core has its prompter
        @staticmethod
        def render(text, *, has_image):
            return text

    def encode(self, texts):
        return {text: ((1,) if "right" in text else (2,)) for text in texts}

    def measure(self, items, work, label):
        plain = {(1,): -3.0, (2,): -2.5}
        return {one.key: plain[one.target] + (one.sight.ref is not None and one.target == (1,)) for one in items}


def test_d14_what_blind_means(tmp_path):
    # With the image the positive is worth -2 and wins 2 of 2; without it -3 against -2.5, it wins 0 of 2. Same ids.
    gold = np.array([[True, False]])
    instances = [
        Instance(name, (image,), (f"right {name}", f"wrong {name}"), gold)
        for name, image in zip("ab", IMAGES[:2], strict=True)
    ]
    found = {}
    for condition in (Own(), NoImage(), NullImages()):
        scorer = Generative(Believer(), Likelihood(Believer(), prompt="", end_token=False), condition, name="m")
        kind = load._kind("model", scorer)
        rows = Roster(["a", "b"], ["", ""], [gold] * 2, [Shape(1, 2)] * 2, Layout("demo", [""] * 2, ["a", "b"]))
        with Engine(tmp_path / "cache") as engine:
            cells = score(scorer, instances, engine, seed=1, chunk=10)
        outcome = from_cells(load.Contestant(kind, scorer), cells, rows, tolerance=0.0).outcomes
        found[scorer.name] = (kind, outcome[f"{scorer.name}:unnorm"]["accuracy"], cells.instance.tolist())
    assert list(found) == ["m", "m:no_image", "m:null_images"]
    assert [kind for kind, *_ in found.values()] == ["model", "blind", "blind"]
    assert [outcome.credit.sum() for _, outcome, _ in found.values()] == [2, 0, 0]
    assert len({tuple(rows) for *_, rows in found.values()}) == 1  # the same instances and candidates, in one order


@pytest.mark.parametrize("name", ["git", "blip", "llava_next"])
def test_d14_conditions_are_apart_and_ties_are_the_same(small_captioner, name, tmp_path):
    family = generative(str(small_captioner(name)), conditions=list(CONDITIONS), device="cpu")
    batch = [Candidates(str(n), (image,), ("a cup", "a cup", "a dog")) for n, image in enumerate(IMAGES)]
    with Engine(tmp_path / "cache") as engine:
        by_name = {one.name: one.score(batch, engine)[0].columns["unnorm"] for one in family}
    values = [found[0] for found in by_name.values()]
    assert all(value[0] == value[1] for value in values)  # equal captions tie, under every condition
    assert len({float(value[2]) for value in values}) == len(family)  # and no condition is another one
    assert len({one.signature["image"] for one in family}) == len(family)
