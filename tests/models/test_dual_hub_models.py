"""Dual encoders of transformers and sentence-transformers against plain calls of the libraries, one at a time."""

import io
import json
import shutil

import numpy as np
import pytest
import torch
import transformers
from open_clip.tokenizer import canonicalize_text
from PIL import Image

from audits.models.dual_encoder.hub_models import from_transformers
from audits.models.dual_encoder.sentence import from_sentence_transformers
from baselines.engine import Engine
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.images import ImageRef, decode
from benchmarks.schema import Candidates
from tests.small_encoders import save_bert_tokenizer, save_sentence, save_t5_tokenizer, save_transformers

CLOSE = 1e-4
KINDS = ["clip", "siglip", "siglip2_naflex", "blip"]
LONG = " ".join(["very"] * 90)
CAPTIONS = ["a red cup", "A Blue Cup.", "a cup left of the table", f"{LONG} red", "a dog and a cat"]


def picture(number):
    values = np.random.default_rng(number).integers(0, 255, (40 + number, 50, 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(values).save(stream, "PNG")
    return ImageRef(f"{number}.png", data=stream.getvalue())


PICTURES = [picture(number) for number in range(4)]
BATCH = [Candidates(str(n), (PICTURES[n], PICTURES[n + 1]), (CAPTIONS[n], CAPTIONS[n + 1])) for n in range(3)]
BATCH.append(Candidates("many", (PICTURES[0],), tuple(CAPTIONS)))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    top = tmp_path_factory.mktemp("hub")
    for kind in KINDS:
        save_transformers(top / kind, kind)
    save_sentence(top / "sentence", top / "clip")
    return top


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "scores.sqlite") as engine:
        yield engine


def embedded(output):
    return output if isinstance(output, torch.Tensor) else output.pooler_output


class Plain:
    """The library as its own documentation uses it, one image and one caption at a time."""

    def __init__(self, folder, kind):
        self.kind = kind
        names = {"clip": "CLIPModel", "siglip": "SiglipModel", "siglip2_naflex": "Siglip2Model"}
        self.model = getattr(transformers, names.get(kind, "BlipForImageTextRetrieval")).from_pretrained(folder).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.processor = transformers.AutoImageProcessor.from_pretrained(folder)

    @torch.inference_mode()
    def cosine(self, image, text):
        pixels = self.processor(images=image, return_tensors="pt")
        if self.kind.startswith("siglip"):
            ids = self.tokenizer(
                [canonicalize_text(text)], padding="max_length", truncation=True, max_length=64, return_tensors="pt"
            )
            one, other = self.model.get_image_features(**pixels), self.model.get_text_features(ids["input_ids"])
        else:
            inputs = self.tokenizer([text], padding=True, truncation=True, return_tensors="pt")
            if self.kind == "blip":
                return float(self.model(**inputs, **pixels, use_itm_head=False).itm_score)
            one, other = self.model.get_image_features(**pixels), self.model.get_text_features(**inputs)
        return float(torch.nn.functional.cosine_similarity(embedded(one), embedded(other)))


@pytest.mark.parametrize("kind", KINDS)
def test_scores_equal_one_image_and_one_caption_at_a_time(folders, kind, work):
    scorer = from_transformers(str(folders / kind), device="cpu", images_per_batch=3, tokens_per_batch=150)
    scored, plain = scorer.score(BATCH, work), Plain(folders / kind, kind)
    for item, one in zip(BATCH, scored, strict=True):
        wanted = [[plain.cosine(decode(ref).image, text) for text in item.captions] for ref in item.images]
        assert one.columns[""] == pytest.approx(np.array(wanted), abs=CLOSE)
    assert np.concatenate([one.columns[""].ravel() for one in scored]).std() > 0.05, "the comparison can fail"
    assert scorer.facts["weights"].endswith("0 missing, 0 unexpected")


@pytest.mark.parametrize("kind", [*KINDS, "sentence"])
def test_batch_size_changes_nothing_beyond_rounding_and_no_decision(folders, kind, tmp_path):
    make = from_sentence_transformers if kind == "sentence" else from_transformers
    found = []
    for number, (images, tokens) in enumerate([(64, 4096), (1, 1)]):
        with Engine(tmp_path / f"{number}.sqlite") as engine:
            scorer = make(str(folders / kind), device="cpu", images_per_batch=images, tokens_per_batch=tokens)
            found.append([one.columns[""] for one in scorer.score(BATCH, engine)])
    flips = 0
    for one, other in zip(*found, strict=True):
        assert other == pytest.approx(one, abs=1e-5)
        flips += int((np.sign(one[:, :1] - one) != np.sign(other[:, :1] - other)).sum())
    assert flips == 0


def test_a_model_of_sentence_transformers_equals_its_own_encode(folders, work):
    from sentence_transformers import SentenceTransformer

    scorer = from_sentence_transformers(str(folders / "sentence"), device="cpu")
    assert scorer.encoder.dimension == 24
    assert "_model" not in vars(scorer.encoder)
    scored = scorer.score(BATCH, work)
    library = SentenceTransformer(str(folders / "sentence"), device="cpu")
    for item, one in zip(BATCH, scored, strict=True):
        images = [library.encode([decode(ref).image], show_progress_bar=False)[0] for ref in item.images]
        texts = [library.encode([text], show_progress_bar=False)[0] for text in item.captions]
        wanted = [[float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for b in texts] for a in images]
        assert one.columns[""] == pytest.approx(np.array(wanted), abs=CLOSE)


def test_the_two_libraries_agree_on_one_model(folders, work):
    [one] = from_transformers(str(folders / "clip"), device="cpu").score(BATCH[-1:], work)
    [other] = from_sentence_transformers(str(folders / "sentence"), device="cpu").score(BATCH[-1:], work)
    assert other.columns[""] == pytest.approx(one.columns[""], abs=1e-6)
    assert (other.tokens == one.tokens).all()
    assert (other.truncated == one.truncated).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_finds_all_in_the_cache_loads_no_weights(folders, kind, work):
    first = from_transformers(str(folders / kind), device="cpu").score(BATCH, work)
    again = from_transformers(str(folders / kind), device="cpu")
    assert [one.columns[""].tolist() for one in again.score(BATCH, work)] == [one.columns[""].tolist() for one in first]
    assert "_model" not in vars(again.encoder)


@pytest.mark.parametrize("kind", ["clip", "blip"])
def test_c5_long_captions_keep_their_end_mark_and_are_counted(folders, kind, work):
    scorer = from_transformers(str(folders / kind), device="cpu")
    captions = (f"{LONG} red", f"{LONG} blue", "a cup")
    context = {"clip": 77, "blip": 40}[kind]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders / kind)
    end = tokenizer.eos_token_id if kind == "clip" else tokenizer.sep_token_id
    assert [text.ids[-1] for text in scorer.encoder.read(captions[:2])] == [end, end]
    [scored] = scorer.score([Candidates("a", PICTURES[:1], captions)], work)
    assert scored.truncated.tolist() == [[True, True, False]]
    assert scored.columns[""][0, 0] == scored.columns[""][0, 1]
    # 90 times `very`, one colour, start and end: 93.
    assert scored.notes[0, 0] == f"cut to {context} of 93 tokens; identical_after_truncation"
    assert scored.tokens.tolist() == [[context, context, 4]]


def test_c5_an_old_configuration_with_a_wrong_end_mark(folders, tmp_path):
    """Early configurations say 2, which the library reads as `the largest id`; another wrong id pools the start."""
    for end in (2, 5):
        folder = tmp_path / str(end)
        shutil.copytree(folders / "clip", folder)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        config["text_config"]["eos_token_id"] = end
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    one, other = (from_transformers(str(folder), device="cpu").encoder for folder in (folders / "clip", tmp_path / "2"))
    texts = one.read(["a red cup"])
    assert other.encode_texts(other.read(["a red cup"])) == pytest.approx(one.encode_texts(texts), abs=1e-6)
    with pytest.raises(InputError, match="another position than that of the end mark"):
        from_transformers(str(tmp_path / "5"), device="cpu").encoder.read(["a red cup"])


@pytest.mark.parametrize("kind", ["siglip", "siglip2_naflex"])
def test_c6_siglip_reads_rows_of_its_own_length_whatever_stands_beside(folders, kind, tmp_path):
    found, widths = [], []
    for number, captions in enumerate([("a cup",), ("a cup", " ".join(["red", "cup", "dog", "on"] * 10))]):
        scorer = from_transformers(str(folders / kind), device="cpu")
        true = scorer.encoder._model.get_text_features

        def seen(input_ids, true=true, **more):
            assert not more, "no mask: it was trained without"
            widths.append(input_ids.shape[1])
            return true(input_ids=input_ids)

        scorer.encoder._model.get_text_features = seen
        with Engine(tmp_path / f"{number}.sqlite") as engine:
            found.append(scorer.score([Candidates("a", PICTURES[:1], captions)], engine)[0].columns[""][0, 0])
    assert set(widths) == {64}
    assert found[0] == pytest.approx(found[1], abs=1e-5)


@pytest.mark.parametrize("kind", ["siglip", "siglip2_naflex"])
def test_c7_siglip_text_is_lower_cased_and_without_punctuation(folders, kind, work):
    scorer = from_transformers(str(folders / kind), device="cpu")
    one, other = scorer.encoder.read(["A Red Cup.", "a red cup"])
    assert one.ids.tolist() == other.ids.tolist()
    [scored] = scorer.score([Candidates("a", PICTURES[:1], ("A Red Cup.", "a red cup"))], work)
    assert scored.columns[""][0, 0] == scored.columns[""][0, 1]
    assert set(scored.notes.values()) == {"identical_after_cleaning"}
    assert scorer.signature["text"] == "cleaned once: canonical, the model's own way"


def test_c2_dropout_that_stays_on_stops_the_run(folders, work):
    scorer = from_transformers(str(folders / "clip"), device="cpu")
    layer = scorer.encoder._model.vision_model.post_layernorm

    class Noisy(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.dropout(layer(x), 0.5, training=True)

    scorer.encoder._model.vision_model.post_layernorm = Noisy()
    with pytest.raises(InputError, match="drawn at random"):
        scorer.score(BATCH, work)


@pytest.mark.parametrize("change", ["one missing", "one more", "another shape"])
def test_c4_weights_that_do_not_match_are_refused(folders, tmp_path, change):
    from safetensors.torch import load_file, save_file

    shutil.copytree(folders / "clip", tmp_path / "m")
    state = load_file(tmp_path / "m" / "model.safetensors")
    if change == "one missing":
        del state["visual_projection.weight"]
    elif change == "one more":
        state["classifier.weight"] = torch.ones(2, 2)
    else:
        state["text_projection.weight"] = torch.ones(12, 32)
    save_file(state, tmp_path / "m" / "model.safetensors", metadata={"format": "pt"})
    scorer = from_transformers(str(tmp_path / "m"), device="cpu")
    with pytest.raises(InputError, match="do not fit the model") as caught:
        scorer.encoder._model  # noqa: B018 - loads
    assert "matched" in caught.value.got


def test_a_tower_that_reads_its_padding_is_given_whole_rows(folders, work, monkeypatch):
    scorer = from_transformers(str(folders / "clip"), device="cpu")
    true = scorer.encoder._text

    def other(texts, *, whole):
        return true(texts, whole=whole) + (0.0 if whole else 0.01)

    monkeypatch.setattr(scorer.encoder, "_text", other)
    scored = scorer.score(BATCH[:1], work)
    assert str(scorer.facts["text tower"]).startswith("not cut")
    wanted = Plain(folders / "clip", "clip").cosine(decode(PICTURES[0]).image, CAPTIONS[0])
    assert scored[0].columns[""][0, 0] == pytest.approx(wanted, abs=CLOSE)


def test_models_without_a_common_space_are_refused(tmp_path, tiny_llama):
    with pytest.raises(InputError, match="no embeddings of images and captions"):
        from_transformers(str(tiny_llama))
    tower = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=100, **tower)
    transformers.BertModel(config).save_pretrained(tmp_path / "bert")
    save_bert_tokenizer(tmp_path / "bert")
    with pytest.raises(InputError, match="no embeddings of images and captions"):
        from_transformers(str(tmp_path / "bert"))


def test_a_sentence_model_of_text_alone_is_refused(tmp_path, work):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    tower = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2}
    save_bert_tokenizer(tmp_path / "bert")
    size = len(transformers.AutoTokenizer.from_pretrained(tmp_path / "bert"))
    transformers.BertModel(transformers.BertConfig(vocab_size=size, **tower)).save_pretrained(tmp_path / "bert")
    modules = [Transformer(str(tmp_path / "bert")), Pooling(32)]
    SentenceTransformer(modules=modules).save_pretrained(str(tmp_path / "text"))
    scorer = from_sentence_transformers(str(tmp_path / "text"), device="cpu")
    with pytest.raises(InputError, match="does not embed both sides") as caught:
        scorer.score(BATCH, work)
    assert caught.value.got == "no embedding of image"


@pytest.mark.parametrize("make", [from_transformers, from_sentence_transformers])
def test_mistakes_are_named(make, monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="which model is meant"):
        make()
    with pytest.raises(NotAvailableError, match="cannot be had from the hub"):
        make("nobody/no-such-model")
    with pytest.raises(InputError, match="does not exist"):
        make(str(tmp_path / "nowhere"))


def test_code_in_a_models_folder_is_never_run(folders, tmp_path):
    shutil.copytree(folders / "clip", tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text(encoding="utf-8"))
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own", "AutoModel": "own.Own"}}
    (tmp_path / "m" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (tmp_path / "m" / "own.py").write_text("raise SystemExit('run')\n", encoding="utf-8")
    with pytest.raises(InputError, match="cannot load the configuration"):
        from_transformers(str(tmp_path / "m"))


def test_the_tokenizers_of_these_tests_are_the_real_ones_in_what_matters(tmp_path, folders):
    for kind in ("clip", "blip", "siglip"):
        words = transformers.AutoTokenizer.from_pretrained(folders / kind)(["red", "blue"])["input_ids"]
        assert words[0] != words[1], "words are told apart, and not by their number"
        assert len(words[0]) == len(words[1])
    save_t5_tokenizer(tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    ids = tokenizer(["a cup"], padding="max_length", max_length=8)["input_ids"][0]
    assert ids[-1] == ids[2] == tokenizer.eos_token_id == tokenizer.pad_token_id == 1
