"""Area C of the public fault reports, dual encoders. One test per entry, and its siblings."""

import io
import json
import logging
import sqlite3
from contextlib import closing
from copy import deepcopy

import numpy as np
import open_clip
import pytest
import torch
from open_clip.transformer import QuickGELU
from PIL import Image

from audits.models.dual_encoder import checks
from audits.models.dual_encoder.openclip import from_open_clip
from audits.models.dual_encoder.schema import Text
from audits.models.dual_encoder.scorer import DualEncoder
from audits.statistics.outcomes import outcomes
from baselines.engine import Engine
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates
from tests.small_encoders import QUICK, SIGLIP, VIT, save_open_clip, save_t5_tokenizer

LONG = " ".join(["very"] * 90)
FIRST_RIGHT = np.array([[True, False]])


def picture(number=0):
    values = np.random.default_rng(number).integers(0, 255, (40, 50, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(values).save(stream, "PNG")
    return ImageRef(f"{number}.png", data=stream.getvalue())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    top = tmp_path_factory.mktemp("encoders")
    save_open_clip(top / "vit", deepcopy(VIT))
    save_open_clip(top / "quick", deepcopy(QUICK))
    save_open_clip(top / "siglip", deepcopy(SIGLIP), tokenizer=save_t5_tokenizer)
    return top


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "scores.sqlite") as engine:
        yield engine


class Fixed:
    """An encoder that returns given vectors: what the scorer makes of them is looked at."""

    name, dimension = "fixed", 2

    def __init__(self, image, **captions):
        self.image, self.captions, self.facts = image, captions, {}
        self.signature = {"vectors": repr((image, captions))}

    def read(self, captions):
        return [Text(np.array([list(self.captions).index(one)], np.int32), 1, 1, one, 1) for one in captions]

    def prepare(self, image):
        return image

    def check(self, texts):
        pass

    def plan(self, texts, tokens):
        return None

    def encode_images(self, prepared):
        return checks.unit(torch.tensor([self.image] * len(prepared)))

    def encode_texts(self, texts):
        vectors = list(self.captions.values())
        return checks.unit(torch.tensor([vectors[one.ids[0]] for one in texts]))


# --- C1


@pytest.fixture
def tiny_arch(monkeypatch):
    """A built-in architecture of test size, plain and with QuickGELU, as ViT-B-32 and ViT-B-32-quickgelu are."""
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "ViT-tiny-test", deepcopy(VIT))
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "ViT-tiny-test-quickgelu", deepcopy(QUICK))
    return "ViT-tiny-test"


def test_c1_gelu_in_place_of_quickgelu(folders, tiny_arch, work):
    checkpoint = str(folders / "vit" / "open_clip_model.safetensors")
    with pytest.raises(InputError, match="needs its activation declared") as caught:
        from_open_clip(tiny_arch, checkpoint=checkpoint)
    assert "activation=quickgelu or activation=gelu" in caught.value.step
    found = {}
    for activation in ("quickgelu", "gelu"):
        scorer = from_open_clip(tiny_arch, checkpoint=checkpoint, activation=activation, device="cpu")
        blocks = [*scorer.encoder._model.transformer.resblocks, *scorer.encoder._model.visual.transformer.resblocks]
        assert {type(block.mlp.gelu) for block in blocks} == {QuickGELU if activation == "quickgelu" else torch.nn.GELU}
        [scored] = scorer.score([Candidates("a", (picture(),), ("a cup", "a dog"))], work)
        found[activation] = scored.columns[""]
        assert scorer.signature["activation"] == activation
        assert scorer.signature["checkpoint_sha256"]
        assert scorer.signature["config_sha256"]
    assert np.abs(found["gelu"] - found["quickgelu"]).max() > 1e-4, "it does move numbers"


def test_c1_the_name_of_the_architecture_and_the_activation_must_agree(folders, tiny_arch):
    checkpoint = str(folders / "vit" / "open_clip_model.safetensors")
    with pytest.raises(InputError, match="contradict each other"):
        from_open_clip(f"{tiny_arch}-quickgelu", checkpoint=checkpoint, activation="gelu")
    with pytest.raises(InputError, match="unknown activation"):
        from_open_clip(tiny_arch, checkpoint=checkpoint, activation="relu")


def test_c1_a_declaration_against_what_the_weights_say_is_refused(folders):
    with pytest.raises(InputError, match="not the one that these weights were trained with"):
        from_open_clip(str(folders / "quick"), activation="gelu")
    assert from_open_clip(str(folders / "quick"), activation="quickgelu").signature["activation"] == "quickgelu"


def test_c1_the_loaded_module_is_looked_at_not_only_the_configuration(folders, monkeypatch):
    scorer = from_open_clip(str(folders / "quick"), device="cpu")
    true = open_clip.create_model

    def plain(*args, **options):
        return true(*args, **{**options, "quick_gelu": False, "force_quick_gelu": False})

    monkeypatch.setattr(open_clip, "create_model", plain)
    with pytest.raises(InputError, match="another activation than the one declared") as caught:
        scorer.encoder._model  # noqa: B018 - loads
    assert caught.value.got == "GELU"


# --- C2


class Noisy(torch.nn.Module):
    """A tower with dropout of one half, switched by the mode or always on."""

    def __init__(self, *, always):
        super().__init__()
        self.always = always

    def forward(self, x):
        return torch.nn.functional.dropout(x, 0.5, training=self.training or self.always)


def test_c2_model_not_in_evaluation_mode(folders, work, monkeypatch):
    """Dropout that is on in training mode only does no harm: every module is put into evaluation mode."""
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    true = open_clip.create_model

    def training(*args, **options):
        model = true(*args, **options).train()
        model.visual.ln_post = torch.nn.Sequential(model.visual.ln_post, Noisy(always=False))
        return model

    plain = scorer.score([Candidates("a", (picture(),), ("a cup", "a dog"))], work)
    monkeypatch.setattr(open_clip, "create_model", training)
    monkeypatch.setattr("audits.models.dual_encoder.checkpoints.load", lambda model, *_, **__: copied(model, scorer))
    other = from_open_clip(str(folders / "vit"), device="cpu")
    assert not any(module.training for module in other.encoder._model.modules())
    with Engine(work.cache.path.parent / "other.sqlite") as engine:
        again = other.score([Candidates("a", (picture(),), ("a cup", "a dog"))], engine)
    assert again[0].columns[""] == pytest.approx(plain[0].columns[""], abs=1e-6)


def copied(model, scorer):
    state = scorer.encoder._model.state_dict()
    wanted = {key.replace("ln_post.", "ln_post.0."): value for key, value in state.items()}
    model.load_state_dict(wanted)
    return "copied"


def test_c2_dropout_that_stays_on_in_evaluation_mode_stops_the_run(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    model = scorer.encoder._model
    model.visual.ln_post = torch.nn.Sequential(model.visual.ln_post, Noisy(always=True))
    with pytest.raises(InputError, match="something in it is drawn at random") as caught:
        scorer.score([Candidates("a", (picture(),), ("a cup", "a dog"))], work)
    assert "images" in caught.value.where
    with closing(sqlite3.connect(work.cache.path)) as stored:
        assert stored.execute("SELECT count(*) FROM scores").fetchone() == (0,), "nothing of it is kept"


def test_c2_random_captions_stop_the_run_as_well(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    scorer.encoder._model.ln_final = torch.nn.Sequential(scorer.encoder._model.ln_final, Noisy(always=True))
    with pytest.raises(InputError, match="captions"):
        scorer.score([Candidates("a", (picture(),), ("a cup", "a dog"))], work)


def test_c2_a_module_that_refuses_evaluation_mode_is_named():
    class Stubborn(torch.nn.Module):
        def train(self, mode=True):
            return super().train(True)

    model = torch.nn.Sequential(torch.nn.Linear(2, 2), Stubborn())
    with pytest.raises(InputError, match="training mode") as caught:
        checks.evaluation_mode(model, "a model")
    assert "e.g. 1" in caught.value.got
    checks.evaluation_mode(torch.nn.Sequential(torch.nn.Dropout(0.5)), "a model")


def test_c2_equal_passes_are_let_through_and_unequal_ones_are_not():
    assert checks.repeatable(lambda items: np.ones((len(items), 3), np.float32), [1, 2, 3], "x") == 0.0
    drawn = np.random.default_rng(0)
    with pytest.raises(InputError):
        checks.repeatable(lambda items: drawn.normal(size=(len(items), 3)).astype(np.float32), [1], "x")


# --- C3


def test_c3_embeddings_not_normalised(work):
    scorer = DualEncoder(Fixed([1.0, 0.0], positive=[0.9, 0.1], negative=[3.0, 3.0]))
    [scored] = scorer.score([Candidates("a", (picture(),), ("positive", "negative"))], work)
    # 0.9 / sqrt(0.81 + 0.01) = 0.9939, 3 / sqrt(18) = 0.7071; the dot products 0.9 and 3 would pick the negative.
    assert scored.columns[""].round(4).tolist() == [[0.9939, 0.7071]]
    assert outcomes([scored.columns[""]], [FIRST_RIGHT], sees=scorer.sees)["accuracy"].credit.tolist() == [1.0]


def test_c3_an_adapter_that_returns_other_lengths_is_caught(work):
    encoder = Fixed([1.0, 0.0], a=[0.9, 0.1], b=[3.0, 3.0])
    encoder.encode_texts = lambda texts: np.array([[0.9, 0.1], [3.0, 3.0]], np.float32)[: len(texts)]
    with pytest.raises(RuntimeError, match="unit vectors, this one has length"):
        DualEncoder(encoder).score([Candidates("a", (picture(),), ("a", "b"))], work)


def test_c3_a_length_within_a_thousandth_passes_and_beyond_it_does_not():
    checks.check_unit(np.array([[1.0009, 0.0], [np.nan, np.nan]]), "x")
    with pytest.raises(RuntimeError):
        checks.check_unit(np.array([[1.0011, 0.0]]), "x")


# --- C4


def saved(folder, state, name="model.pt"):
    torch.save(state, folder / name)
    return str(folder / name)


@pytest.fixture
def weights(folders):
    return open_clip.factory.load_state_dict(str(folders / "vit" / "open_clip_model.safetensors"))


def wrapped(state, prefix):
    return {f"{prefix}{key}": value for key, value in state.items()}


NESTINGS = {
    "bare": lambda state: state,
    "state_dict": lambda state: {"state_dict": state, "epoch": 3, "name": "x"},
    "model": lambda state: {"model": state},
    "state_dict and module.": lambda state: {"state_dict": wrapped(state, "module."), "optimizer": {"lr": 0.1}},
    "model and model.": lambda state: {"model": wrapped(state, "model.")},
    "nested one level": lambda state: {"model": {"state_dict": wrapped(state, "module.model.")}},
    "compiled": lambda state: wrapped(state, "_orig_mod.module."),
}


@pytest.mark.parametrize("nesting", NESTINGS)
def test_c4_checkpoint_keys_do_not_match_nothing_is_loaded(tmp_path, folders, tiny_arch, weights, nesting, work):
    path = saved(tmp_path, NESTINGS[nesting](dict(weights)))
    scorer = from_open_clip(tiny_arch, checkpoint=path, activation="gelu", device="cpu")
    items = [Candidates("a", (picture(),), ("a cup", "a dog"))]
    [scored] = scorer.score(items, work)
    loaded = scorer.encoder._model.state_dict()
    assert all(torch.equal(loaded[key], value) for key, value in weights.items())
    assert scorer.facts["weights"] == f"{len(weights)} matched, 0 missing, 0 unexpected"
    assert np.isfinite(scored.columns[""]).all()


def test_c4_a_file_that_shares_no_key_is_an_error(tmp_path, tiny_arch):
    path = saved(tmp_path, {"resnet.conv1.weight": torch.ones(3)})
    scorer = from_open_clip(tiny_arch, checkpoint=path, activation="gelu", device="cpu")
    with pytest.raises(InputError, match="does not fit the model") as caught:
        scorer.encoder._model  # noqa: B018 - loads
    assert "0 matched" in caught.value.got
    assert "resnet.conv1.weight" in caught.value.got


@pytest.mark.parametrize("change", ["one missing", "one more", "another shape", "a prefix on half of them"])
def test_c4_every_key_must_match(tmp_path, tiny_arch, weights, change):
    state = dict(weights)
    if change == "one missing":
        del state["visual.conv1.weight"]
    elif change == "one more":
        state["head.weight"] = torch.ones(3)
    elif change == "another shape":
        state["positional_embedding"] = torch.ones(248, 32)  # a longer context: never stretched behind one's back
    else:
        state = {(f"module.{key}" if number % 2 else key): value for number, (key, value) in enumerate(state.items())}
    scorer = from_open_clip(tiny_arch, checkpoint=saved(tmp_path, state), activation="gelu", device="cpu")
    with pytest.raises(InputError, match="does not fit the model") as caught:
        scorer.encoder._model  # noqa: B018 - loads
    assert "missing" in caught.value.got


def test_c4_a_prefix_that_is_asked_for_selects_the_model_among_others(tmp_path, tiny_arch, weights):
    mixed = {**wrapped(weights, "student.clip."), **wrapped(weights, "teacher.")}
    path = saved(tmp_path, {"state_dict": mixed})
    plain = from_open_clip(tiny_arch, checkpoint=path, activation="gelu", device="cpu")
    with pytest.raises(InputError, match="name the prefix"):
        plain.encoder._model  # noqa: B018 - loads
    scorer = from_open_clip(tiny_arch, checkpoint=path, activation="gelu", prefix="student.clip.", device="cpu")
    loaded = scorer.encoder._model.state_dict()
    assert all(torch.equal(loaded[key], value) for key, value in weights.items())
    wrong = from_open_clip(tiny_arch, checkpoint=path, activation="gelu", prefix="pupil.", device="cpu")
    with pytest.raises(InputError, match="holds no tensors"):
        wrong.encoder._model  # noqa: B018 - loads


def test_c4_known_buffers_and_the_temperature_may_be_there_or_not(tmp_path, tiny_arch, weights):
    state = {key: value for key, value in weights.items() if key != "logit_scale"}
    state |= {"attn_mask": torch.zeros(77, 77), "context_length": torch.tensor(77), "logit_bias": torch.zeros(1)}
    del state["logit_bias"]
    scorer = from_open_clip(tiny_arch, checkpoint=saved(tmp_path, state), activation="gelu", device="cpu")
    scorer.encoder._model  # noqa: B018 - loads
    assert scorer.facts.get("weights", scorer.encoder.facts["weights"]).endswith("0 missing, 0 unexpected")


def test_c4_a_checkpoint_with_code_in_it_is_not_run(tmp_path, tiny_arch):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    path = saved(tmp_path, {"state_dict": Trap()})
    scorer = from_open_clip(tiny_arch, checkpoint=path, activation="gelu", device="cpu")
    with pytest.raises(InputError, match="cannot be read as tensors") as caught:
        scorer.encoder._model  # noqa: B018 - loads
    assert not (tmp_path / "sprung").exists()
    assert "never run" in caught.value.step


@pytest.mark.parametrize("name", ["model.pt", "model.safetensors"])
def test_c4_a_file_that_is_no_checkpoint_is_named(tmp_path, tiny_arch, name):
    (tmp_path / name).write_bytes(b"<html>404: not found</html>")
    scorer = from_open_clip(tiny_arch, checkpoint=str(tmp_path / name), activation="gelu", device="cpu")
    with pytest.raises(InputError, match="cannot be read as tensors"):
        scorer.encoder._model  # noqa: B018 - loads


def test_c4_what_was_matched_is_logged(folders, caplog):
    with caplog.at_level(logging.INFO):
        from_open_clip(str(folders / "vit"), device="cpu").encoder._model  # noqa: B018 - loads
    assert any("62 matched, 0 missing, 0 unexpected" in record.getMessage() for record in caplog.records)
    assert not any("No pretrained weights" in record.getMessage() for record in caplog.records)


# --- C5


def test_c5_long_captions_the_end_is_cut_or_the_end_mark_is(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    captions = (f"{LONG} red", f"{LONG} blue")
    ends = [text.ids[-1] for text in scorer.encoder.read(captions)]
    assert ends == [open_clip.get_tokenizer("ViT-B-32").eot_token_id] * 2
    [scored] = scorer.score([Candidates("a", (picture(),), captions)], work)
    assert scored.truncated.tolist() == [[True, True]]
    assert scored.tokens.tolist() == [[77, 77]]
    assert scored.columns[""][0, 0] == scored.columns[""][0, 1]
    # 90 times `very`, one colour, start and end are 93 ids, of which 77 are kept.
    assert set(scored.notes.values()) == {"cut to 77 of 93 tokens; identical_after_truncation"}
    assert scorer.facts["captions cut"] == 2
    found = outcomes([scored.columns[""]], [FIRST_RIGHT], sees=scorer.sees)["accuracy"]
    assert (found.credit.tolist(), found.tie.tolist()) == ([0.5], [True])


def test_c5_a_caption_that_just_fits_is_not_cut(folders):
    fits, cut = from_open_clip(str(folders / "vit")).encoder.read([" ".join(["very"] * n) for n in (75, 76)])
    assert (fits.tokens, fits.total, fits.truncated) == (77, 77, False)
    assert (cut.tokens, cut.total, cut.truncated) == (77, 78, True)


def test_c5_captions_that_differ_before_the_cut_are_truncated_but_not_identical(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    [scored] = scorer.score([Candidates("a", (picture(),), (f"red {LONG}", f"blue {LONG}"))], work)
    assert scored.truncated.all()
    assert set(scored.notes.values()) == {"cut to 77 of 93 tokens"}
    assert scored.columns[""][0, 0] != scored.columns[""][0, 1]


def test_c5_the_same_caption_twice_is_no_fault_of_the_cut(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu")
    [scored] = scorer.score([Candidates("a", (picture(),), (f"{LONG} red", f"{LONG} red"))], work)
    assert set(scored.notes.values()) == {"cut to 77 of 93 tokens"}


def test_c5_a_configuration_with_a_wrong_end_mark_is_refused_not_read_at_the_start(tmp_path):
    config = deepcopy(SIGLIP)
    config["text_cfg"] |= {"no_causal_mask": False, "pool_type": "eos", "eos_id": 299}
    save_open_clip(tmp_path / "wrong", config, tokenizer=save_t5_tokenizer)
    encoder = from_open_clip(str(tmp_path / "wrong")).encoder
    with pytest.raises(InputError, match="it would read the start instead"):
        encoder.read(["a red cup"])
    config["text_cfg"]["eos_id"] = 1
    save_open_clip(tmp_path / "right", config, tokenizer=save_t5_tokenizer)
    [text] = from_open_clip(str(tmp_path / "right")).encoder.read(["a red cup"])
    assert (text.width, text.ids[text.width - 1]) == (4, 1)


def test_c5_a_tokenizer_of_another_library_keeps_its_end_mark_too(folders):
    encoder = from_open_clip(str(folders / "siglip")).encoder
    one, other = encoder.read([f"{LONG} red", f"{LONG} blue"])
    assert (one.ids[-1], other.ids[-1]) == (1, 1)
    assert (one.truncated, one.total, one.key == other.key) == (True, 92, True)


# --- C6


def test_c6_siglip_text_padded_like_clip(folders, tmp_path):
    scorer = from_open_clip(str(folders / "siglip"), device="cpu")
    long = " ".join(["red", "cup", "table", "dog"] * 10)
    alone, beside = Candidates("a", (picture(),), ("a cup",)), Candidates("b", (picture(),), ("a cup", long))
    widths = []
    true = scorer.encoder._model.encode_text
    scorer.encoder._model.encode_text = lambda ids, **options: (widths.append(ids.shape[1]), true(ids, **options))[1]
    found = []
    for number, item in enumerate((alone, beside)):
        with Engine(tmp_path / f"{number}.sqlite") as engine:
            found.append(scorer.score([item], engine)[0].columns[""][0, 0])
    assert set(widths) == {64}
    assert found[0] == pytest.approx(found[1], abs=1e-5)


def test_c6_padding_to_the_longest_of_the_batch_would_have_changed_the_score(folders):
    """The property is not empty: this tower does read its padding."""
    encoder = from_open_clip(str(folders / "siglip"), device="cpu").encoder
    [text] = encoder.read(["a cup"])
    model = encoder._model
    row = torch.from_numpy(text.ids.astype(np.int64))[None]
    with torch.inference_mode():
        whole = checks.unit(model.encode_text(row))
        short = checks.unit(model.text(row[:, :10]))
    assert float((whole * short).sum()) < 0.999


# --- C7


def test_c7_siglip_2_text_not_lower_cased_or_cleaned(folders, work, caplog):
    scorer = from_open_clip(str(folders / "siglip"), device="cpu")
    one, other = scorer.encoder.read(["A Red Cup.", "a red cup"])
    assert one.ids.tolist() == other.ids.tolist()
    assert (one.encoded, other.encoded) == ("a red cup", "a red cup")
    with caplog.at_level(logging.DEBUG):
        [scored] = scorer.score([Candidates("a", (picture(),), ("A Red Cup.", "a red cup"))], work)
    assert scored.columns[""][0, 0] == scored.columns[""][0, 1]
    assert set(scored.notes.values()) == {"identical_after_cleaning"}
    assert scorer.signature["text"] == "cleaned once: canonical, the model's own way"
    assert scorer.facts["encoded, for example"] == "'A Red Cup.' as 'a red cup'"
    assert any("'A Red Cup.' is encoded as 'a red cup'" in record.getMessage() for record in caplog.records)


def test_c7_an_option_turns_the_cleaning_off(folders, work):
    scorer = from_open_clip(str(folders / "siglip"), cleaning="off", device="cpu")
    one, other = scorer.encoder.read(["A Red Cup.", "a red cup"])
    assert one.ids.tolist() != other.ids.tolist()
    assert one.encoded == "A Red Cup."
    assert scorer.signature["text"] == "as released"
    [scored] = scorer.score([Candidates("a", (picture(),), ("A Red Cup.", "a red cup"))], work)
    assert scored.columns[""][0, 0] != scored.columns[""][0, 1]
    assert scored.notes == {}


def test_c7_cleaning_is_applied_once(folders):
    """One cleaning of open_clip's unescapes twice, where a `<` keeps ftfy from doing it: a second would go on."""
    encoder = from_open_clip(str(folders / "vit")).encoder
    [text] = encoder.read(["a &amp;amp;lt; b <p>"])
    assert text.encoded == "a &lt; b <p>"
    assert text.ids.tolist() == open_clip.get_tokenizer("ViT-B-32")(["a &amp;amp;lt; b <p>"])[0].tolist()


@pytest.mark.parametrize(
    ("cleaning", "encoded"),
    [("off", " A  Red_Cup. "), ("whitespace", "A Red_Cup."), ("lower", "a red_cup."), ("canonical", "a red cup")],
)
def test_c7_each_cleaning_does_what_it_says(folders, cleaning, encoded):
    [text] = from_open_clip(str(folders / "vit"), cleaning=cleaning).encoder.read([" A  Red_Cup. "])
    assert text.encoded == encoded


# --- C10


def test_c10_score_scale_and_clamping(work):
    def at(cosine):
        return [cosine, float(np.sqrt(1 - cosine**2))]

    scorer = DualEncoder(Fixed([1.0, 0.0], positive=at(-0.02), negative=at(-0.05)))
    [scored] = scorer.score([Candidates("a", (picture(),), ("positive", "negative"))], work)
    assert scored.columns[""].round(4).tolist() == [[-0.02, -0.05]]
    found = outcomes([scored.columns[""]], [FIRST_RIGHT], sees=scorer.sees)["accuracy"]
    # Clamped at 0 it would be a tie.
    assert (found.credit.tolist(), found.tie.tolist()) == ([1.0], [False])
    assert "not scaled, not clamped" in scorer.signature["cosine"]


def test_c10_the_temperature_of_the_model_is_not_in_the_score(tmp_path, folders, work):
    """A model with another logit_scale and logit_bias gives the same numbers."""
    from safetensors.torch import load_file, save_file

    state = load_file(folders / "siglip" / "open_clip_model.safetensors")
    other = tmp_path / "other"
    other.mkdir()
    for path in (folders / "siglip").iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    save_file(
        {**state, "logit_scale": torch.tensor(9.0), "logit_bias": torch.tensor(-3.0)},
        other / "open_clip_model.safetensors",
    )
    item = Candidates("a", (picture(), picture(1)), ("a cup", "a dog"))
    one, two = (from_open_clip(str(folder), device="cpu") for folder in (folders / "siglip", other))
    assert one.signature["weights_sha256"] != two.signature["weights_sha256"]
    assert one.score([item], work)[0].columns[""].tolist() == two.score([item], work)[0].columns[""].tolist()


# --- C11


def test_c11_half_precision_makes_ties(work):
    def at(cosine):
        return [cosine, float(np.sqrt(1 - cosine**2))]

    assert np.float16(0.2832) == np.float16(0.2831), "in 16 bits it is a tie"
    scorer = DualEncoder(Fixed([1.0, 0.0], first=at(0.2832), second=at(0.2831)))
    [scored] = scorer.score([Candidates("a", (picture(),), ("first", "second"))], work)
    found = outcomes([scored.columns[""]], [FIRST_RIGHT], sees=scorer.sees)["accuracy"]
    assert (found.credit.tolist(), found.tie.tolist()) == ([1.0], [False])


def test_c11_the_norm_of_16_bit_features_is_taken_in_32_bits():
    # In float16 the squares of 300 overflow: the row would become 0.
    rows = checks.unit(torch.tensor([[300.0, 400.0]], dtype=torch.float16))
    assert rows.dtype == np.float32
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]


def test_c11_a_model_in_half_precision_makes_no_ties(folders, work):
    scorer = from_open_clip(str(folders / "vit"), device="cpu", dtype="bfloat16")
    captions = tuple(f"a cup with {number} marks" for number in range(40))
    [scored] = scorer.score([Candidates("a", (picture(),), captions)], work)
    values = scored.columns[""][0]
    assert len(np.unique(values)) == 40
    assert len(np.unique(values.astype(np.float16))) < 40 or np.unique(np.round(values * 256)).size < 40


def test_c_what_was_decided_stands_in_the_record(folders):
    signature = from_open_clip(str(folders / "vit")).signature
    assert json.dumps(dict(signature))
    assert all(isinstance(value, str) for value in signature.values())


# --- C5 and C7 in a run: the tie in the headline with its count, and the headline without such pairs beside it


def test_c5_the_headline_counts_the_tie_and_stands_beside_the_one_without_it(folders, tmp_path):
    from audits.dataset import open_dataset
    from audits.load import Contestant
    from audits.measured import from_cells
    from audits.scoring import score

    (tmp_path / "a.png").write_bytes(picture().data)
    rows = [
        {"id": "cut", "image": "a.png", "caption": f"{LONG} red", "foil": f"{LONG} blue"},
        {"id": "same", "image": "a.png", "caption": "A cup.", "foil": "a cup."},
        *({"id": f"n{n}", "image": "a.png", "caption": f"a cup {n}", "foil": f"a dog {n}"} for n in range(4)),
    ]
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    dataset, _ = open_dataset(table(path, tmp_path), limit=None, missing="error", images=True)
    _, roster = dataset.survey("mine")
    scorer = from_open_clip(str(folders / "vit"), device="cpu", name="m")
    with Engine(tmp_path / "scores.sqlite") as engine:
        cells = score(scorer, dataset, engine, seed=1, chunk=3)
    measured = from_cells(Contestant("model", scorer), cells, roster, tolerance=0.0)
    found = measured.outcomes["m"]
    whole, without = found["accuracy"], found["accuracy_distinct"]
    assert whole.tie.tolist() == [True, True, False, False, False, False]
    assert whole.credit[:2].tolist() == [0.5, 0.5]
    # Without the two that can only tie: the mean over the other four.
    assert np.isnan(without.credit[:2]).all()
    assert without.credit[2:].tolist() == whole.credit[2:].tolist()
    [noticed] = [one for one in measured.findings if one.kind == "identical_as_read"]
    assert noticed.values["instances"] == 2
    assert noticed.instances == ("cut", "same")
    assert noticed.values["accuracy_distinct"] == pytest.approx(float(np.mean(whole.credit[2:])))


def table(path, root):
    from hydra import compose, initialize_config_module
    from omegaconf import OmegaConf

    from audits.load import benchmark

    with initialize_config_module("conf", version_base=None):
        composed = compose("run", ["benchmark=table", f"benchmark.path='{path}'", f"benchmark.images='{root}'"])
    return benchmark({"benchmark": OmegaConf.to_container(composed.benchmark, resolve=True)})


def test_c5_two_positives_that_read_the_same_are_no_tie():
    from audits.alike import alike
    from audits.scoring import Cells

    def cells(notes):
        return Cells(
            np.zeros(3, np.int32), np.zeros(3, np.int16), np.arange(3, dtype=np.int16), {"": np.zeros(3)},
            np.zeros(3, np.int32), np.zeros(3, bool), notes, frozenset({"text", "image"}), 0.0,
        )  # fmt: skip

    gold = [np.array([[True, True, False]])]
    marked = "identical_after_truncation"
    assert alike(cells({0: marked, 1: marked}), gold).tolist() == [False]
    assert alike(cells({0: marked, 2: f"cut to 77 of 80 tokens; {marked}"}), gold).tolist() == [True]
    assert alike(cells({0: "cut to 77 of 80 tokens"}), gold).tolist() == [False]
