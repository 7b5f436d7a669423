"""A linear model over sentence embeddings: what is embedded, how often, and what a score depends on."""

import json
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from baselines.embedding import OFFLINE_PACKAGE, Embedding
from baselines.engine import Engine
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance


@pytest.fixture(scope="module")
def tiny_sentences(tmp_path_factory):
    """A two-layer BERT with mean pooling, saved as sentence-transformers saves models; reads 16 tokens."""
    from transformers import BertConfig, BertModel, BertTokenizerFast, set_seed

    folder = tmp_path_factory.mktemp("models") / "tiny-sentences"
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "cat", "red", "not", "on", "the", "mat", "."]
    set_seed(0)
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=32, initializer_range=0.5,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    BertTokenizerFast.from_pretrained(folder).save_pretrained(folder)
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    modules = [
        {"idx": k, "name": str(k), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for k, (path, kind) in enumerate(kinds)
    ]
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    for name, content in (
        ("modules.json", modules),
        ("1_Pooling/config.json", pooling),
        ("sentence_bert_config.json", {"max_seq_length": 16, "do_lower_case": False}),
    ):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def question(name, caption, foil):
    return Instance(name, (ImageRef.absent(),), (caption, foil), np.array([[True, False]]))


def questions(count):
    """Dogs or cats on a mat that is red up to three times; `not` is in every foil."""
    animals = [("dog", "cat")[k % 2] for k in range(count)]
    return [
        question(f"q{k}", f"a {animal} on the {'red ' * (k % 4)}mat", f"a {animal} not on the mat")
        for k, animal in enumerate(animals)
    ]


def fitted(scorer, work, rows):
    scorer.prepare([one.candidates() for one in rows], work)
    return scorer.fit(rows, seed=0)


def margins(found, rows):
    return [one.columns[""][0, 0] - one.columns[""][0, 1] for one in found.score([one.candidates() for one in rows])]


def test_each_distinct_caption_is_embedded_once_and_found_again(tmp_path, tiny_sentences):
    rows = questions(8)  # dogs read 0 or 2 times red, cats 1 or 3: four captions and two foils
    distinct = {text for one in rows for text in one.captions}
    with Engine(tmp_path / "cache") as work:
        scorer = Embedding(str(tiny_sentences))
        first = margins(fitted(scorer, work, rows), rows)
        assert work.counts["embedding"].computed == len(distinct) == 6
    with Engine(tmp_path / "cache") as work:
        again = margins(fitted(Embedding(str(tiny_sentences)), work, rows), rows)
        assert (work.counts["embedding"].computed, work.counts["embedding"].hits) == (0, 6)
    assert first == again
    assert min(first) > 0


def test_embeddings_are_those_of_the_library_at_unit_length(tmp_path, tiny_sentences):
    from sentence_transformers import SentenceTransformer

    rows = questions(4)
    with Engine(tmp_path / "cache") as work:
        scorer = Embedding(str(tiny_sentences))
        found = fitted(scorer, work, rows)
    model = SentenceTransformer(str(tiny_sentences), device="cpu")
    text = rows[1].captions[0]
    expected = model.encode([text])[0]
    assert np.allclose(found._vectors[text], expected / np.linalg.norm(expected), atol=1e-5)


def test_captions_that_are_cut_are_counted(tmp_path, tiny_sentences):
    rows = [question("a", "a dog " * 20, "a cat")]
    with Engine(tmp_path / "cache") as work:
        scorer = Embedding(str(tiny_sentences))
        fitted(scorer, work, rows)
    assert scorer.facts["captions cut"] == 1


def test_permuted_options_get_permuted_scores(tmp_path, tiny_sentences):
    rows = questions(8)
    with Engine(tmp_path / "cache") as work:
        found = fitted(Embedding(str(tiny_sentences)), work, rows)
    given = [one.candidates() for one in rows]
    alone = [found.score([one])[0].columns[""].tobytes() for one in given]
    assert [one.columns[""].tobytes() for one in found.score(given)] == alone


def test_a_wrong_penalty_is_named(tiny_sentences):
    with pytest.raises(InputError, match="c must be above 0"):
        Embedding(str(tiny_sentences), c=-1.0)


def test_a_folder_that_is_not_there_is_named():
    with pytest.raises(InputError, match="does not exist"):
        Embedding("./nowhere/at/all")


@pytest.mark.offline_pack
def test_the_installed_model_is_found_without_importing_its_package(tmp_path):
    if find_spec(OFFLINE_PACKAGE) is None:
        pytest.skip("requirements/offline-models.txt is not installed")
    with Engine(tmp_path / "cache") as work:
        scorer = Embedding()
        found = fitted(scorer, work, questions(4))
    assert OFFLINE_PACKAGE not in sys.modules
    assert scorer.signature["embedding"] == "all-MiniLM-L6-v2"
    assert next(iter(found._vectors.values())).shape == (384,)
    # a sentence is nearer to its like than to another thing
    with Engine(tmp_path / "cache") as work:
        more = [questions(1)[0], question("x", "stock prices fell", "a dog on a mat")]
        scorer.prepare([one.candidates() for one in more], work)
    near, like, far = (scorer._vectors[text] for text in ("a dog on the mat", "a dog on a mat", "stock prices fell"))
    assert near @ like > 0.9
    assert near @ far < 0.5
