"""Corrections of gold: keyed by content, refused where the release disagrees."""

import json

import numpy as np
import pytest

from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.overlay import Corrected, Correction, content_key, read_corrections
from benchmarks.schema import Card, Instance, Provenance


class Rows(list):
    card = Card("Rows", "", "", "MIT", "1x2", "accuracy", "")
    provenance = Provenance("root", "x", notices=("first",))


def row(query, right, image=b"i"):
    gold = np.array([[text == right for text in ("(a)", "(b)")]])
    return Instance(query, (ImageRef(f"{query}.png", data=image),), ("(a)", "(b)"), gold, query=query)


def test_a_correction_changes_one_row_and_says_so():
    rows = Rows([row("q1", "(a)"), row("q2", "(b)")])
    fixed = Corrected(rows, [Correction(content_key(rows[0]), ("(a)",), ("(b)",), 0)])
    assert [one.gold.tolist() for one in fixed] == [[[False, True]], [[False, True]]]
    assert [one.gold.tolist() for one in rows] == [[[True, False]], [[False, True]]]
    assert fixed.provenance.notices == ("first", "1 gold labels are corrected by an overlay.")
    assert fixed.card is Rows.card


def test_the_key_is_the_content_not_the_place():
    assert content_key(row("q1", "(a)")) == content_key(row("q1", "(b)"))
    assert content_key(row("q1", "(a)")) != content_key(row("q2", "(a)"))
    assert content_key(row("q1", "(a)")) != content_key(row("q1", "(a)", b"other"))


def test_a_correction_without_its_content_is_refused():
    with pytest.raises(InputError, match="fits no instance"):
        list(Corrected(Rows([row("q1", "(a)")]), [Correction("0" * 64, ("(a)",), ("(b)",))]))


def test_several_images_are_not_corrected():
    square = Instance("s", (ImageRef("a"), ImageRef("b")), ("x", "y"), np.eye(2, dtype=bool))
    with pytest.raises(InputError, match="several images"):
        list(Corrected(Rows([square]), [Correction(content_key(square), ("x", "y"), ("x",))]))


def test_corrections_are_read_strictly(tmp_path):
    good = {"content": "c", "old": ["(a)"], "new": ["(b)"], "row": 3, "reason": "issue 14"}
    path = tmp_path / "fix.json"
    path.write_text(json.dumps([good]))
    assert read_corrections(path) == (Correction("c", ("(a)",), ("(b)",), 3, "issue 14"),)
    for change in (
        {"old": []},
        {"new": "(b)"},
        {"row": "3"},
        {"row": True},
        {"reason": ""},
        {"content": 3},
        {"odd": 1},
    ):
        path.write_text(json.dumps([good, good | change]))
        with pytest.raises(InputError, match=f"row 2, field '{next(iter(change))}'"):
            read_corrections(path)
