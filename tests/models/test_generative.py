"""Generative models as contestants: the contract, the twins, what is measured once, and what is refused."""

import itertools

import numpy as np
import pytest
import torch
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from audits import contest, load
from audits.dataset import Roster
from audits.models.generative import CONDITIONS, generative
from audits.models.generative.contestant import averaged
from audits.models.generative.core import plan
from audits.models.generative.items import Item, Row, Scene
from audits.models.generative.reading import Reader
from audits.models.generative.sights import NO_IMAGE, NULLS, Sight
from audits.scoring import score as run_scorer
from audits.statistics.layout import Layout
from baselines.engine import Engine
from baselines.schema import BOTH, TEXT, Scorer, Surveys
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates, Instance, Shape
from tests.small_captioners import CAPTIONS, IMAGES, picture

ALL = list(CONDITIONS)
BATCH = [
    Candidates("a", (IMAGES[0],), ("a cat sits on a chair", "a chair sits on a cat")),
    Candidates("b", (IMAGES[1],), ("two cups", "Three cups.", " two cups ", "café <b>&amp;</b> [red]")),
    Candidates("c", (IMAGES[0], IMAGES[1]), ("a dog", "a very large dog"), query="Which is it? "),
    Candidates("d", (IMAGES[2],), ("only one of two", None)),
    Candidates("e", (IMAGES[0],), ("", "x")),
    Candidates("f", (ImageRef.absent(),), ("the same", "the same")),
    Candidates("g", (IMAGES[2],), ("the same", "the same")),
]


@pytest.fixture(params=list(itertools.product(("git", "qwen2_vl"), ("likelihood", "vqascore"))), ids="-".join)
def family(request, small_captioner):
    """A model with all its twins."""
    name, score = request.param
    return generative(str(small_captioner(name)), score=score, conditions=ALL, device="cpu")


@pytest.fixture
def git(small_captioner):
    return str(small_captioner("git"))


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


def test_a_model_and_its_twins_are_scorers_with_names_of_their_own(family):
    own, *twins = family
    assert [twin.name for twin in twins] == [f"{own.name}:{condition}" for condition in ALL]
    assert all(isinstance(one, Scorer) and isinstance(one, Surveys) for one in family)
    assert own.sees == BOTH
    assert not own.blind
    assert all(twin.sees == TEXT and twin.blind for twin in twins)
    assert [one.needs_images for one in family] == [True, False, False, True]
    assert len({tuple(sorted(one.signature.items())) for one in family}) == len(family)
    for one in family:
        assert all(isinstance(key, str) and "\n" not in key + value for key, value in one.signature.items())


def test_only_the_twins_without_an_image_of_the_benchmark_stand_for_the_probability_of_the_text(git):
    likely = generative(git, conditions=ALL, device="cpu")
    assert [one.prior_of for one in likely] == ["", "git", "git", ""]
    assert [one.prior_of for one in generative(git, score="vqascore", conditions=ALL, device="cpu")] == [""] * 4


def test_vqascore_is_a_judgement_and_a_likelihood_is_none(git):
    assert [one.threshold for one in generative(git, score="vqascore", conditions=["no_image"], device="cpu")] == [
        0.5,
        0.5,
    ]
    assert not hasattr(generative(git, device="cpu")[0], "threshold")


def test_scores_have_the_declared_shapes_and_what_is_missing_has_a_reason(family, work):
    for one in family:
        found = one.score(BATCH, work)
        for item, scored in zip(BATCH, found, strict=True):
            rows = 1 if one.sees == TEXT else len(item.images)
            assert tuple(scored.columns) == one.columns
            for values in scored.columns.values():
                assert values.shape == (rows, len(item.captions))
                assert values.dtype == np.float64
                assert {place for place in np.ndindex(values.shape) if np.isnan(values[place])} == set(scored.notes)
            assert scored.tokens.shape == (rows, len(item.captions))


def test_reasons_say_what_is_wrong(git, work):
    own, nothing, null, other = generative(git, conditions=ALL, device="cpu")
    by_name = {one.name: dict(zip("abcdefg", one.score(BATCH, work), strict=True)) for one in (own, nothing, other)}
    assert by_name[own.name]["d"].notes == {(0, 1): "no text"}
    assert by_name[own.name]["e"].notes == {(0, 0): "no tokens"}
    assert by_name[own.name]["f"].notes == {(0, 0): "no image", (0, 1): "no image"}
    assert by_name[nothing.name]["f"].notes == {}  # text alone needs no image
    assert by_name[other.name]["f"].notes == {(0, 0): "no image", (0, 1): "no image"}
    assert null.score(BATCH[5:6], work)[0].notes == {}


def test_equal_captions_get_equal_scores(family, work):
    for one in family:
        [scored] = one.score(BATCH[-1:], work) if one.name.count("shuffled") == 0 else one.score(BATCH, work)[-1:]
        assert all(values[0, 0] == values[0, 1] for values in scored.columns.values())


def test_permuted_options_and_instances_get_permuted_scores(family, tmp_path):
    turned = [Candidates(one.id, one.images[::-1], one.captions[::-1], one.query) for one in BATCH[::-1]]
    for number, one in enumerate(family):
        with Engine(tmp_path / f"{number}a") as first, Engine(tmp_path / f"{number}b") as second:
            straight, reverse = one.score(BATCH, first), one.score(turned, second)[::-1]
        for left, right in zip(straight, reverse, strict=True):
            for name in one.columns:
                assert np.allclose(left.columns[name], right.columns[name][::-1, ::-1], atol=1e-5, equal_nan=True)


def test_no_candidates_is_no_score(family, work):
    assert all(one.score([], work) == [] for one in family)


def test_the_query_stands_in_front_and_is_not_scored(git, work):
    own, *_ = generative(git, device="cpu")
    plain, asked, prompted = own.score(
        [Candidates("a", IMAGES[:1], CAPTIONS, query) for query in ("", "Which? ", "a photo of")], work
    )
    assert plain.tokens.tolist() == asked.tokens.tolist()
    assert not np.allclose(plain.columns["unnorm"], asked.columns["unnorm"])
    same, *_ = generative(git, prompt="a photo of", device="cpu")
    [again] = same.score([Candidates("a", IMAGES[:1], CAPTIONS)], work)
    assert again.columns["unnorm"].tolist() == prompted.columns["unnorm"].tolist()


def test_the_query_takes_its_place_in_the_prompt(git, work):
    inside, *_ = generative(git, prompt="Q: {query} A:", device="cpu")
    whole, *_ = generative(git, prompt="Q: which A:", device="cpu")
    [left] = inside.score([Candidates("a", IMAGES[:1], CAPTIONS, "which")], work)
    [right] = whole.score([Candidates("a", IMAGES[:1], CAPTIONS)], work)
    assert left.columns["unnorm"].tolist() == right.columns["unnorm"].tolist()


def test_a_caption_beyond_the_context_is_not_scored_and_says_so(git, work):
    own, *_ = generative(git, device="cpu")  # 40 positions: [CLS] and 40 tokens, the last of which is only predicted
    fits, not_ = " ".join(["a"] * 40), " ".join(["a"] * 41)
    [scored] = own.score([Candidates("a", IMAGES[:1], (fits, not_))], work)
    assert np.isfinite(scored.columns["unnorm"][0, 0])
    assert scored.notes == {(0, 1): "prompt and caption do not fit the model's context"}


def test_marks_that_stand_in_a_caption_are_text(small_captioner, work):
    own, *_ = generative(str(small_captioner("llava_next")), device="cpu")
    [scored] = own.score([Candidates("a", IMAGES[:1], ("a <image> of <s> a cup", "a cup"))], work)
    assert np.isfinite(scored.columns["unnorm"]).all()
    assert scored.tokens[0, 0] > 8  # "<image>" is spelt out


def test_every_distinct_image_is_decoded_and_encoded_once_for_all_its_captions(git, tmp_path, monkeypatch):
    own, *_ = generative(git, device="cpu", images_at_once=2)
    decoded = []
    image = Sight.image.fget
    monkeypatch.setattr(Sight, "image", property(lambda sight: decoded.append(sight.key) or image(sight)))
    encoded = []
    reader = own._core._reader
    assert reader.checked.in_batches  # the check reads images of its own first
    reader._adapter._model.git.image_encoder.register_forward_hook(
        lambda module, given, out: encoded.append(len(given[0]))
    )
    items = [
        Candidates(str(number), (IMAGES[number % 3],), (CAPTIONS[number % 2], CAPTIONS[2], f"cup {number}"))
        for number in range(9)
    ]
    with Engine(tmp_path / "cache") as engine:
        own.score(items, engine)
        counts = engine.counts[own.name]
    assert sorted(decoded) == sorted({Sight(key).key for key in decoded})
    assert len(decoded) == 3
    assert sum(encoded) == 3
    # 9 x 3 captions; beside each of 3 images 2 + 1 + 3 distinct ones: the first alternates, the last is new each time.
    assert counts.distinct == counts.computed == 3 * (2 + 1 + 3)


def test_twins_share_one_loaded_model_and_a_second_run_loads_none(git, tmp_path, monkeypatch):
    family = generative(git, conditions=ALL, device="cpu")
    with Engine(tmp_path / "cache") as engine:
        first = [one.score(BATCH, engine) for one in family]
    assert len({id(one._core) for one in family}) == 1
    again = generative(git, conditions=ALL, device="cpu")
    monkeypatch.setattr("audits.models.generative.loading.adapter", lambda *_, **__: pytest.fail("loaded"))
    with Engine(tmp_path / "cache") as engine:
        second = [one.score(BATCH, engine) for one in again]
    for left, right in zip(itertools.chain(*first), itertools.chain(*second), strict=True):
        assert all(left.columns[name].tobytes() == right.columns[name].tobytes() for name in left.columns)
    assert "batches" not in again[0].facts


def test_memory_that_runs_out_halves_the_batch_and_changes_nothing(git, tmp_path, monkeypatch):
    own, *_ = generative(git, device="cpu")
    item = Candidates("a", IMAGES, CAPTIONS)
    with Engine(tmp_path / "a") as engine:
        [whole] = own.score([item], engine)
    read, sizes = Reader.read, []

    def small(reader, items):
        sizes.append(len(items))
        if len(items) > 4:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return read(reader, items)

    monkeypatch.setattr(Reader, "read", small)
    with Engine(tmp_path / "b") as engine:
        [halved] = own.score([item], engine)
        assert engine.counts[own.name].reductions >= 1
    assert sizes[0] == 12
    assert max(sizes[2:]) <= 4
    assert np.allclose(whole.columns["unnorm"], halved.columns["unnorm"], atol=1e-5)


def test_a_plan_holds_every_item_once_in_batches_of_whole_images():
    items = [Item(Sight(name), "", tuple(range(size))) for name in "abc" for size in range(1, 6)]
    ordered = sorted(items, key=lambda item: -item.cost)
    batches = plan(ordered, 2, 12)
    assert sorted(itertools.chain(*batches)) == list(range(15))
    assert [sorted({ordered[place].sight.key for place in batch}) for batch in batches] == [["a", "b"], ["c"]]
    assert [len(batch) for batch in plan(ordered, 2, 4)] == [5, 5, 5]  # more captions than at once: read in parts
    many = [Item(Sight("a"), "", (number,)) for number in range(20)]
    assert [len(batch) for batch in plan(many, 2, 1)] == [8, 8, 4]  # but no batch is without end
    alone = [Item(NO_IMAGE, "", (1,) * size) for size in range(1, 11)]
    assert [len(batch) for batch in plan(alone, 8, 4)] == [4, 4, 2]


def test_rows_share_what_their_prompts_have_in_common_at_the_front():
    rows = [Row((1, 2, 3, 9), (7,)), Row((1, 2, 3), (7,)), Row((1, 2, 4), (7,)), Row((1, 2, 3, 3), (7,))]
    assert Scene({}, rows).shared == 2
    assert Scene({}, rows[:2]).shared == 3
    assert Scene({}, rows[:1]).shared == 4
    assert Scene({}, [Row((2, 1), (7,)), Row((1, 1), (7,))]).shared == 0


def test_the_mean_of_probabilities_is_taken_of_probabilities():
    # (0.5 + 0.25 + 0.25) / 3 = 1/3; of numbers too small to be told from 0 the log stays right: log((2 e^-800) / 2).
    assert averaged(np.log([0.5, 0.25, 0.25])) == pytest.approx(np.log(1 / 3))
    assert averaged(np.array([-800.0, -800.0])) == pytest.approx(-800.0)
    assert np.isnan(averaged(np.array([-1.0, np.nan])))
    assert np.isinf(averaged(np.array([-1.0, np.inf])))


def test_null_images_are_named_and_differ():
    pixels = {name: np.asarray(Sight(f"null:{name}").image) for name in NULLS}
    assert [int(pixels[name].mean()) for name in ("black", "white", "grey")] == [0, 255, 128]
    assert pixels["noise"].std() > 40
    assert np.array_equal(pixels["noise"], np.asarray(Sight("null:noise").image))
    assert NO_IMAGE.image is None
    assert not NO_IMAGE.shows


def drawn(twin, item):
    [row] = twin._condition.sights(item)
    return row


def test_a_shuffled_image_is_another_one_and_depends_on_the_seed_alone(git):
    images = [picture(100 + number, (16, 16)) for number in range(12)]
    items = [Candidates(str(number), (images[number], images[(number + 1) % 12]), ("x", "y")) for number in range(12)]
    _, twin = generative(git, conditions=["shuffled_images"], device="cpu")
    _, other = generative(git, conditions=["shuffled_images"], seed=7, device="cpu")
    twin.survey(items)
    first = [drawn(twin, item)[0].ref.key for item in items]
    assert all(key not in [ref.key for ref in item.images] for key, item in zip(first, items, strict=True))
    assert len(set(first)) > 3
    twin.survey(reversed([Candidates(one.id, one.images[::-1], one.captions) for one in items]))
    assert [drawn(twin, item)[0].ref.key for item in items] == first
    other.survey(items)
    assert [drawn(other, item)[0].ref.key for item in items] != first


def test_equal_bytes_under_another_name_are_no_other_image(git, work):
    same = ImageRef("copy.png", data=IMAGES[0].data)
    _, twin = generative(git, conditions=["shuffled_images"], device="cpu")
    twin.survey([Candidates("a", (IMAGES[0],), ("x", "y")), Candidates("b", (same,), ("x", "y"))])
    [scored] = twin.score([Candidates("a", (IMAGES[0],), ("x", "y"))], work)
    assert scored.notes == {(0, 0): "the benchmark holds no other image", (0, 1): "the benchmark holds no other image"}


def test_the_runner_shows_every_instance_before_the_first_is_scored(git, tmp_path):
    gold = np.array([[True, False]])
    many = [Instance(str(n), (picture(200 + n, (16, 16)),), ("a cup", "a dog"), gold) for n in range(5)]
    labels = Layout("demo", [""] * 5, [one.id for one in many])
    roster = Roster([one.id for one in many], [""] * 5, [gold] * 5, [Shape(1, 2)] * 5, labels)
    found = []
    for chunk in (1, 100):
        _, twin = generative(git, conditions=["shuffled_images"], device="cpu")
        values = {"paths": {"cache": tmp_path / str(chunk)}, "seed": 1, "engine": {"chunk": chunk}}
        values["statistics"] = {"tie_tolerance": 0.0}
        [measured] = contest.measure([load.Contestant("blind", twin)], many, roster, values)
        assert measured.cells.notes == {}
        found.append(measured.cells.columns["unnorm"])
    assert np.allclose(*found, atol=1e-5)


def test_chunks_of_a_run_draw_from_the_whole_benchmark(git, tmp_path):
    gold = np.array([[True, False]])
    instances = [
        Instance(str(number), (picture(200 + number, (16, 16)),), ("a cup", "a dog"), gold) for number in range(6)
    ]
    found = []
    for number, chunk in enumerate((100, 1)):
        _, twin = generative(git, conditions=["shuffled_images"], device="cpu")
        twin.survey(one.candidates() for one in instances)
        with Engine(tmp_path / str(number)) as engine:
            found.append(run_scorer(twin, instances, engine, seed=42, chunk=chunk).columns["unnorm"])
    assert np.allclose(*found, atol=1e-5)
    assert np.isfinite(found[0]).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"score": "likelihod"}, "unknown score"),
        ({"model": None}, "no model is named"),
        ({"conditions": ["no_images"]}, "unknown conditions"),
        ({"conditions": ["no_image", "no_image"]}, "twice"),
        ({"conditions": "no_image"}, "a list"),
        ({"dtype": "float8"}, "unknown dtype"),
        ({"dtype": "mixed"}, "unknown dtype"),
        ({"images_at_once": 0}, "must be positive"),
        ({"captions_at_once": 0}, "must be positive"),
        ({"device": "tpu"}, "device"),
        ({"score": "vqascore", "question": "What is it?"}, "no place for the caption"),
        ({"score": "vqascore", "answer": ""}, "no answer"),
        ({"score": "vqascore", "end_token": True}, "end_token"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_an_option_that_is_wrong_is_refused(git, options, said):
    with pytest.raises(InputError, match=said):
        generative(**{"model": git, "device": "cpu", **options})


def test_what_is_no_model_of_this_kind_is_refused(tiny_llama, tmp_path):
    with pytest.raises(InputError):
        generative(str(tiny_llama), device="cpu")
    with pytest.raises(InputError, match="does not exist"):
        generative(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="shipped"):
        generative("shipped:nothing-like-it")


def named():
    with initialize_config_module("conf", version_base=None):
        composed = compose("run", ["benchmark=table", "baseline=none", f"model=[{','.join(LEAVES)}]"])
    return OmegaConf.to_container(composed.model, resolve=False)


LEAVES = ("blip2_2_7b", "blip_base", "generative", "git_base_coco", "llava_1_6_mistral_7b", "qwen2_vl_7b", "vqascore")


@pytest.mark.parametrize("leaf", LEAVES)
def test_every_yaml_builds_a_model_with_its_twins_and_tells_what_it_is(leaf, small_captioner, monkeypatch):
    options = named()[leaf]
    card = options["card"]
    assert set(card) == {"title", "kind", "parameters", "licence", "source", "paper"}
    assert card["kind"] in ("captioner", "vision-language model")
    source = options["model"]
    options["model"] = str(small_captioner("git"))
    built = load.panel({"model": {leaf: options}}).contestants
    assert [one.kind for one in built] == ["model", "blind", "blind", "blind"]
    assert [one.needs_images for one in built] == [True, False, False, True]
    if leaf == "generative":
        assert source is None
        return
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(NotAvailableError):
        load.panel({"model": {leaf: {**options, "model": source}}})
    length = {"_target_": "baselines.length.Length", "units": ["words"]}
    skipped = {"baseline": {"length": length}, "model": {leaf: {**options, "model": source}}}
    [said] = load.panel({**skipped, "missing_contestants": "skip"}).absent
    assert source in said


@pytest.mark.parametrize("name", ["git", "blip", "blip2_t5", "qwen2_vl"])
def test_many_captions_behind_one_image_are_read_in_parts_of_one_batch(name, small_captioner, tmp_path):
    captions = [f"a red cup {'left ' * (number % 5)}number {number}" for number in range(9)]
    item = Candidates("a", (IMAGES[0],), tuple(captions))
    found = []
    for number, at_once in enumerate((64, 2)):
        own, *_ = generative(str(small_captioner(name)), captions_at_once=at_once, device="cpu")
        with Engine(tmp_path / str(number)) as engine:
            found.append(own.score([item], engine)[0].columns["unnorm"])
            assert engine.counts[own.name].batches == 1  # the image is read once
    assert np.allclose(*found, atol=1e-4)
