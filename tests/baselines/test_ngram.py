"""The n-gram recipe against its slow, literal form, and what it may depend on."""

import dataclasses
import random
import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from baselines.ngram import Features, Ngram, Table, terms
from baselines.trained import documents, learnable
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates, Instance

NOWHERE = (ImageRef.absent(),)
WORDS = ["a", "red", "cup", "on", "the", "table", "dog", "two", "small", "left", "of", "Big", "cat"]


def made(count, *, seed, options=2):
    """Invented questions whose foils are a little longer and lack the final stop."""
    rng = random.Random(seed)

    def text(extra):
        words = rng.choices(WORDS, k=rng.randint(3, 7) + extra)
        return " ".join(words)

    found = []
    for k in range(count):
        captions = [text(0) + ("." if rng.random() < 0.8 else ", "), *(text(1) for _ in range(options - 1))]
        found.append(
            Instance(f"q{k}", (ImageRef(f"i{k}"),), tuple(captions), np.array([[True] + [False] * (options - 1)]))
        )
    return found


def marked(text):
    """The raw form, as one string for a vectoriser of the plain kind; marks spelled with signs no caption has."""
    marks = ["<start>"]
    if text != text.strip():
        marks.append("<outer>")
    if text.strip()[:1].isupper():
        marks.append("<capital>")
    return " ".join(marks) + " " + re.sub(r"([.,])", r" \1 ", text)


def by_the_book(training, texts, *, c=4.0):
    """The recipe word for word: dense, one vectoriser per fit, rows and negated rows."""
    positive = [t for one in training for t, fits in zip(one.captions, one.gold[0], strict=True) for _ in [0] if fits]
    foil = [t for one in training for t, fits in zip(one.captions, one.gold[0], strict=True) if not fits]
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", sublinear_tf=True, min_df=2)
    vectorizer.fit([marked(text) for text in positive + foil])

    def phi(text):
        row = vectorizer.transform([marked(text)]).toarray()[0]
        return np.append(row, [len(text.split()) / 10, len(text) / 10])

    rows = np.array([phi(one) - phi(other) for one, other in zip(positive, foil, strict=True)])
    model = LogisticRegression(C=c, fit_intercept=False, tol=1e-10, max_iter=10_000)
    model.fit(np.vstack([rows, -rows]), np.r_[np.ones(len(rows)), np.zeros(len(rows))])
    return np.array([phi(text) @ model.coef_[0] for text in texts])


def scores(fitted, texts):
    [one] = fitted.score([Candidates("x", NOWHERE, tuple(texts))])
    return one.columns[""][0]


def test_terms_by_hand():
    # start mark, outer blank, capital; "Two cups." with its stop split off; then the pairs of neighbours
    assert terms(" Two cups.") == [
        *(" start", " outer blank", " capital", "two", "cups", "."),
        *(" start  outer blank", " outer blank  capital", " capital two", "two cups", "cups ."),
    ]
    assert terms("two cups") == [" start", "two", "cups", " start two", "two cups"]


def test_no_caption_can_spell_a_mark():
    assert set(terms("start outer blank capital")) & set(terms(" X")) == {" start"}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_the_recipe_word_for_word(seed):
    training, held = made(60, seed=seed), made(20, seed=seed + 100)
    texts = [text for one in held for text in one.captions]
    found = scores(Ngram().fit(training, seed=0), texts)
    expected = by_the_book(training, texts)
    assert np.allclose(found, expected, atol=2e-3)
    assert np.corrcoef(found, expected)[0, 1] > 0.99999
    assert ((found[::2] > found[1::2]) == (expected[::2] > expected[1::2])).all()


def test_weights_are_those_of_the_training_captions_only():
    training = made(30, seed=4)
    seen = documents(training)
    book = TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", sublinear_tf=True, min_df=2)
    expected = book.fit_transform([marked(text) for text in seen]).toarray()
    # a table that has counted other captions as well must give the same rows
    features = Features(Table([*seen, "an unheard of zebra", "two cups two cups"]), seen, min_count=2)
    rows = features(seen).toarray()
    assert rows.shape[1] == expected.shape[1] + 2
    assert np.allclose(np.sort(rows[:, :-2], axis=1), np.sort(expected, axis=1))
    assert np.allclose(features(["dog zebra " * 3]).toarray()[0, -2:], [0.6, 3.0])


def test_permuted_options_and_instances_give_the_same_bits():
    training, texts = made(40, seed=5, options=3), [text for one in made(9, seed=6) for text in one.captions]
    turned = [
        dataclasses.replace(one, captions=one.captions[::-1], gold=one.gold[:, ::-1]) for one in reversed(training)
    ]
    first, second = Ngram().fit(training, seed=0), Ngram().fit(turned, seed=0)
    assert scores(first, texts).tobytes() == scores(second, texts[::-1])[::-1].tobytes()


def test_what_else_was_prepared_changes_nothing():
    training, texts = made(40, seed=5), ["a red cup.", "a cup red"]
    other = Ngram()
    other.prepare(
        [Candidates("x", NOWHERE, ("an emu", "zebras, all of them")), *(one.candidates() for one in training)], None
    )
    assert (
        scores(other.fit(training, seed=0), texts).tobytes() == scores(Ngram().fit(training, seed=0), texts).tobytes()
    )


def test_several_positives_and_foils_make_every_pair():
    instance = Instance("a", NOWHERE, ("p", "f", "q", "g"), np.array([[True, False, True, False]]))
    assert learnable([instance]) == [("p", "f"), ("p", "g"), ("q", "f"), ("q", "g")]


def test_with_two_images_the_base_caption_is_to_be_preferred():
    images = (ImageRef("0"), ImageRef("1"))
    straight = Instance("a", images, ("base", "foil"), np.eye(2, dtype=bool))
    crossed = Instance("b", images, ("foil", "base"), np.eye(2, dtype=bool)[::-1])
    assert learnable([straight]) == learnable([crossed]) == [("base", "foil")]


def test_nothing_to_choose_from_is_said():
    one_caption = Instance("a", (ImageRef("0"), ImageRef("1")), ("only",), np.array([[True], [False]]))
    with pytest.raises(InputError, match="no instance has two captions"):
        Ngram().fit([one_caption], seed=0)


def test_one_pair_is_enough_and_equal_captions_tie_exactly():
    fitted = Ngram().fit([Instance("a", NOWHERE, ("a dog", "a cat there"), np.array([[True, False]]))], seed=0)
    found = scores(fitted, ["a dog", "a cat there", "a dog"])
    assert found[0] > found[1]
    assert found[0] == found[2]


def test_a_caption_without_text_is_missing_with_a_reason():
    [one] = Ngram().fit(made(9, seed=1), seed=0).score([Candidates("x", NOWHERE, ("a dog", None, ""))])
    assert np.isnan(one.columns[""]).tolist() == [[False, True, False]]
    assert one.notes == {(0, 1): "no text"}


@pytest.mark.parametrize("options", [{"c": 0}, {"c": float("nan")}, {"min_count": 0}])
def test_wrong_options_are_named(options):
    with pytest.raises(InputError, match=next(iter(options))):
        Ngram(**options)
