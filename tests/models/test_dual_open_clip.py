"""Dual encoders of open_clip against one image and one caption at a time, by plain calls of the library."""

import io
import random
import sqlite3
from contextlib import closing
from copy import deepcopy

import numpy as np
import open_clip
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from audits.models.dual_encoder import checks
from audits.models.dual_encoder.clip_tower import Way
from audits.models.dual_encoder.openclip import from_open_clip
from baselines.engine import Engine
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.images import ImageRef, decode
from benchmarks.schema import Candidates
from tests.small_encoders import QUICK, RESNET, SIGLIP, VIT, save_open_clip, save_t5_tokenizer

CLOSE = 1e-4
LONG = " ".join(["very"] * 90)
CAPTIONS = ["a red cup", "A Blue Cup.", "two cups left of a table", f"{LONG} red", "", "a cat!", "café & tea"]


def picture(number: int) -> ImageRef:
    values = np.random.default_rng(number).integers(0, 255, (40 + number, 50, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(values).save(stream, "PNG")
    return ImageRef(f"{number}.png", data=stream.getvalue())


ENCODERS, TOKENIZERS = {}, {}  # made once for all examples
PICTURES = [picture(number) for number in range(5)]
BATCH = [Candidates(str(n), (PICTURES[n], PICTURES[n + 1]), (CAPTIONS[n], CAPTIONS[n + 1])) for n in range(4)]
BATCH.append(Candidates("many", (PICTURES[0],), tuple(CAPTIONS)))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    top = tmp_path_factory.mktemp("encoders")
    for name, config in {"vit": VIT, "quick": QUICK, "resnet": RESNET}.items():
        save_open_clip(top / name, deepcopy(config))
    save_open_clip(top / "siglip", deepcopy(SIGLIP), tokenizer=save_t5_tokenizer)
    return top


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "scores.sqlite") as engine:
        yield engine


@torch.inference_mode()
def oracle(folder, batch):
    """Return the cosines of each candidate, computed as open_clip's readme does, one pair at a time."""
    model, _, prepare = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    model.eval()
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    found = []
    for item in batch:
        grid = np.empty(item.shape)
        for row, ref in enumerate(item.images):
            for column, text in enumerate(item.captions):
                image = model.encode_image(prepare(decode(ref).image)[None])
                caption = model.encode_text(tokenizer([text]))
                image, caption = image / image.norm(dim=-1), caption / caption.norm(dim=-1)
                grid[row, column] = float(image[0] @ caption[0])
        found.append(grid)
    return found


@pytest.mark.parametrize("kind", ["vit", "quick", "resnet", "siglip"])
def test_scores_equal_one_image_and_one_caption_at_a_time(folders, kind, work):
    scorer = from_open_clip(str(folders / kind), device="cpu", images_per_batch=3, tokens_per_batch=90)
    scored = scorer.score(BATCH, work)
    for one, wanted in zip(scored, oracle(folders / kind, BATCH), strict=True):
        assert one.columns[""] == pytest.approx(wanted, abs=CLOSE)
    spread = np.concatenate([one.columns[""].ravel() for one in scored])
    assert spread.std() > 0.05, "the models tell the inputs apart, so the comparison can fail"


@pytest.mark.parametrize("kind", ["vit", "siglip"])
def test_batch_size_and_order_change_nothing_beyond_rounding_and_no_decision(folders, kind, tmp_path):
    found = []
    for number, (images, tokens, order) in enumerate([(64, 4096, 1), (1, 1, 1), (2, 100, -1)]):
        scorer = from_open_clip(str(folders / kind), device="cpu", images_per_batch=images, tokens_per_batch=tokens)
        with Engine(tmp_path / f"{number}.sqlite") as engine:
            scored = scorer.score(BATCH[::order], engine)[::order]
        found.append([one.columns[""] for one in scored])
    flips = 0
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert same == pytest.approx(one, abs=1e-5)
            flips += int((np.sign(one[:, :1] - one) != np.sign(same[:, :1] - same)).sum())
    assert flips == 0


def test_options_in_another_order_give_the_same_scores_in_that_order(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    item = BATCH[-1]
    order = list(range(len(item.captions)))
    random.Random(3).shuffle(order)
    turned = Candidates("x", item.images, tuple(item.captions[place] for place in order))
    [one], [other] = scorer.score([item], work), scorer.score([turned], work)
    assert other.columns[""].tolist() == one.columns[""][:, order].tolist()


def test_each_distinct_image_and_caption_is_encoded_once(folders, work):
    same = ImageRef("another-name.png", data=PICTURES[0].data)
    batch = [
        Candidates("a", (PICTURES[0], PICTURES[1]), ("a red cup", "a blue cup")),
        Candidates("b", (PICTURES[1], same), ("a blue cup", "A red  CUP")),  # read as `a red cup`
    ]
    scored = from_open_clip(str(folders / "vit"), device="cpu").score(batch, work)
    images, captions = (work.counts[label] for label in sorted(work.counts, reverse=True))
    assert (images.computed, captions.computed) == (2, 2)
    # The second instance is the first one with both sides turned round: equal to the last bit.
    assert scored[0].columns[""].tolist() == scored[1].columns[""][::-1, ::-1].tolist()


def test_a_run_that_finds_all_in_the_cache_loads_no_weights(folders, work):
    first = from_open_clip(str(folders / "vit"), device="cpu").score(BATCH, work)
    again = from_open_clip(str(folders / "vit"), device="cpu")
    second = again.score(BATCH, work)
    assert "_model" not in vars(again.encoder)
    assert "weights" not in again.facts
    assert [one.columns[""].tolist() for one in first] == [one.columns[""].tolist() for one in second]


def test_embeddings_are_kept_in_float32(folders, work):
    from_open_clip(str(folders / "vit"), device="cpu").score(BATCH, work)
    with closing(sqlite3.connect(work.cache.path)) as stored:
        assert stored.execute("SELECT DISTINCT length(value) FROM scores").fetchall() == [(24 * 4,)]


def test_the_models_own_text_is_cut_at_the_end_mark_only_where_that_is_exact(folders, work):
    clip = from_open_clip(str(folders / "vit"), device="cpu")
    clip.score(BATCH, work)
    assert "cut at the end mark" in str(clip.facts["text tower"])
    texts = clip.encoder.read(["a red cup"])
    assert [(one.width, len(one.ids)) for one in texts] == [(5, 77)]  # start, three words, end
    siglip = from_open_clip(str(folders / "siglip"), device="cpu")
    assert [one.width for one in siglip.encoder.read(["a red cup"])] == [64]


def test_a_tower_that_answers_otherwise_when_cut_is_not_cut(folders, work, monkeypatch):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    tower = scorer.encoder._tower
    true = tower._layers
    monkeypatch.setattr(tower, "_layers", lambda *args: true(*args) + 0.01)
    scored = scorer.score(BATCH, work)
    assert str(scorer.facts["text tower"]).startswith("not cut")
    for one, wanted in zip(scored, oracle(folders / "vit", BATCH), strict=True):
        assert one.columns[""] == pytest.approx(wanted, abs=CLOSE)


@pytest.mark.parametrize("kind", ["vit", "quick", "resnet"])
def test_every_way_of_reading_gives_the_same_embeddings(folders, kind):
    """As a prefix tree, cut at the end mark, and whole; among captions that begin alike and one that is cut."""
    encoder = from_open_clip(str(folders / kind), device="cpu").encoder
    captions = [*CAPTIONS, "a red cup on a table", "a red cup on a dog", "a red", "two cups", f"{LONG} blue"]
    texts = encoder.read(captions)
    found = [checks.unit(encoder._tower._run(texts, way)) for way in Way]
    for other in found[:2]:
        assert other == pytest.approx(found[2], abs=1e-5)
    assert list(Way) == [Way.TREE, Way.CUT, Way.WHOLE]
    one_by_one = np.concatenate([checks.unit(encoder._tower._run([text], Way.TREE)) for text in texts])
    assert one_by_one == pytest.approx(found[2], abs=1e-5)


TEXTS = st.lists(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(
            ["", "!", "a", "<end_of_text>", "<start_of_text> a", "&amp;amp;lt; b <p>", "\u2026 \u00e9\U0001f600 \x00"]
        ),
        st.lists(st.sampled_from(["red", "cup", "A", "dog."]), max_size=100).map(" ".join),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=TEXTS)
@pytest.mark.parametrize("kind", ["vit", "siglip"])
def test_any_text_is_read_as_the_library_reads_it_and_every_way_gives_its_embedding(folders, kind, texts):
    encoder = ENCODERS.setdefault(kind, from_open_clip(str(folders / kind), device="cpu").encoder)
    tokenizer = TOKENIZERS.setdefault(kind, open_clip.get_tokenizer(f"local-dir:{folders / kind}"))
    read = encoder.read(texts)
    assert np.stack([one.ids for one in read]).tolist() == tokenizer(texts).tolist()
    with torch.inference_mode():
        whole = checks.unit(encoder._model.encode_text(tokenizer(texts)))
    assert encoder.encode_texts(read) == pytest.approx(whole, abs=1e-5)
    for one in read:
        assert 0 < one.tokens <= len(one.ids)
        assert one.truncated == (one.total > one.tokens)


def test_captions_that_begin_alike_share_a_batch_and_their_beginning(folders):
    encoder = from_open_clip(str(folders / "vit"), device="cpu").encoder
    texts = encoder.read(["a red cup", "two dogs", "a red dog"])
    # Start, a, red, cup, end; then dog, end: 7 nodes; the third brings two, dogs, end. `dog` is the smaller id.
    assert encoder.plan(texts, 7) == [[2, 0], [1]]
    assert encoder.plan(texts, 10) == [[2, 0, 1]]


def test_half_precision_weights_give_float32_unit_vectors(folders, work):
    exact = from_open_clip(str(folders / "vit"), device="cpu").score(BATCH, work)
    half = from_open_clip(str(folders / "vit"), device="cpu", dtype="bfloat16").score(BATCH, work)
    one, other = (np.concatenate([part.columns[""].ravel() for part in found]) for found in (exact, half))
    assert other == pytest.approx(one, abs=0.05)
    assert not np.array_equal(one, other), "another dtype is another signature"
    # bfloat16 keeps 8 bits: its own numbers would be multiples of 1/256 here.
    assert np.unique(other * 256 % 1).size > 5


def test_a_query_stands_before_every_caption(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    [asked] = scorer.score([Candidates("a", PICTURES[:1], ("red", "blue"), query="What colour is it?")], work)
    whole = ("What colour is it? red", "What colour is it? blue")
    [plain] = scorer.score([Candidates("a", PICTURES[:1], whole)], work)
    assert asked.columns[""].tolist() == plain.columns[""].tolist()


def test_what_cannot_be_scored_says_why_and_leaves_the_rest_alone(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    item = Candidates("a", (PICTURES[0], ImageRef.absent()), ("a cup", None, "half \ud800 of it"))
    [scored] = scorer.score([item], work)
    assert np.isnan(scored.columns[""]).tolist() == [[False, True, True], [True, True, True]]
    assert scored.notes[0, 1] == "no text"
    assert scored.notes[0, 2] == "the text holds half of a character"
    assert scored.notes[1, 0] == "no image"
    assert (0, 0) not in scored.notes


def test_a_broken_image_stops_the_run_and_is_named(folders, work):
    broken = ImageRef("broken.png", data=PICTURES[0].data[:60])
    with pytest.raises(InputError, match=r"broken\.png"):
        from_open_clip(str(folders / "vit"), device="cpu").score([Candidates("a", (broken,), ("a", "b"))], work)


def test_an_embedding_that_is_not_finite_is_unscored_with_a_reason(folders, work, monkeypatch):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    true = scorer.encoder._tower._run
    monkeypatch.setattr(scorer.encoder._tower, "_run", lambda texts, way: true(texts, way) * 0)
    [scored] = scorer.score(BATCH[:1], work)
    assert np.isnan(scored.columns[""]).all()
    assert set(scored.notes.values()) == {"the embedding of the image or of the caption is not finite"}


def test_memory_that_runs_out_halves_the_batch_and_changes_no_score(folders, work, tmp_path, monkeypatch):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    true = scorer.encoder.encode_images

    def narrow(prepared):
        if len(prepared) > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes")
        return true(prepared)

    monkeypatch.setattr("audits.models.dual_encoder.checks.TWICE", 1)
    monkeypatch.setattr(scorer.encoder, "encode_images", narrow)
    scored = scorer.score(BATCH, work)
    assert work.counts[f"{scorer.name} images"].reductions > 0
    with Engine(tmp_path / "other.sqlite") as other:
        whole = from_open_clip(str(folders / "vit"), device="cpu").score(BATCH, other)
    for one, wanted in zip(scored, whole, strict=True):
        assert one.columns[""] == pytest.approx(wanted.columns[""], abs=1e-6)


def test_a_built_in_architecture_with_a_tag_reads_the_hubs_cache(tmp_path, monkeypatch, folders):
    """The files behind a tag, laid out as the hub's cache holds them, are found, loaded whole and pinned by commit."""
    from huggingface_hub import constants
    from open_clip import factory, pretrained

    config = deepcopy(VIT)
    monkeypatch.setitem(factory._MODEL_CONFIGS, "ViT-tiny-test", config)
    tag = {"hf_hub": "someone/tiny/", "mean": (0.1, 0.2, 0.3), "std": (0.5, 0.5, 0.5), "quick_gelu": True}
    monkeypatch.setitem(pretrained._PRETRAINED, "ViT-tiny-test", {"sometag": tag})
    commit = "0123456789abcdef0123456789abcdef01234567"
    snapshot = tmp_path / "models--someone--tiny" / "snapshots" / commit
    snapshot.mkdir(parents=True)
    (snapshot.parent.parent / "refs").mkdir()
    (snapshot.parent.parent / "refs" / "main").write_text(commit, encoding="utf-8")
    weights = (folders / "vit" / "open_clip_model.safetensors").read_bytes()
    (snapshot / "open_clip_model.safetensors").write_bytes(weights)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    scorer = from_open_clip("ViT-tiny-test", pretrained="sometag", device="cpu")
    assert scorer.signature["revision"] == commit
    assert scorer.signature["activation"] == "quickgelu", "the tag knows, whatever the plain name says"
    assert "0.1, 0.2, 0.3" in scorer.signature["image"]
    with Engine(tmp_path / "scores.sqlite") as engine:
        scored = scorer.score(BATCH[:1], engine)
    assert np.isfinite(scored[0].columns[""]).all()
    with pytest.raises(InputError, match="has no such weights") as caught:
        from_open_clip("ViT-tiny-test", pretrained="some-tag", device="cpu")
    assert "sometag" in str(caught.value)
    (snapshot / "open_clip_model.safetensors").unlink()
    with pytest.raises(NotAvailableError, match="cannot be had from the hub"):
        from_open_clip("ViT-tiny-test", pretrained="sometag", device="cpu")


def test_mistakes_are_named_with_what_would_do(folders, tmp_path):
    with pytest.raises(InputError, match="which model is meant"):
        from_open_clip()
    for arch, more in (("ViT-B-32", {"checkpoint": "x.pt"}), (str(folders / "vit"), {})):
        with pytest.raises(InputError, match="named twice"):
            from_open_clip(arch, pretrained="openai", **more)
    with pytest.raises(InputError, match="did you mean ViT-B-32"):
        from_open_clip("VIT-B-32x", pretrained="openai")
    with pytest.raises(InputError, match="which weights are meant"):
        from_open_clip("ViT-B-32")
    with pytest.raises(InputError, match="unknown dtype"):
        from_open_clip(str(folders / "vit"), dtype="float8")
    with pytest.raises(InputError, match="unknown cleaning"):
        from_open_clip(str(folders / "vit"), cleaning="lowercase")
    with pytest.raises(InputError, match="does not exist"):
        from_open_clip(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no configuration of open_clip"):
        from_open_clip(str(tmp_path / "empty"))
    with pytest.raises(InputError, match="no such model is shipped"):
        from_open_clip("shipped:nothing")


def test_the_signature_names_what_could_change_a_number(folders):
    base = dict(from_open_clip(str(folders / "vit"), device="cpu").signature)
    for changed in ({"cleaning": "off"}, {"dtype": "bfloat16"}):
        other = from_open_clip(str(folders / "vit"), device="cpu", **changed).signature
        assert dict(other) != base
    assert dict(from_open_clip(str(folders / "quick"), device="cpu").signature) != base
    speed = from_open_clip(str(folders / "vit"), device="cpu", images_per_batch=3, tokens_per_batch=9).signature
    assert dict(speed) == base
    assert {"weights_sha256", "activation", "image", "text", "context", "dtype", "cosine", "torch"} <= set(base)
