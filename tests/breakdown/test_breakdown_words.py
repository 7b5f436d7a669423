"""Which word of direction two captions differ by, and what a card may ask."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from audits.breakdown.spec import Directions, read_breakdown
from audits.breakdown.words import Named, directions, named
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from benchmarks.tableaux import specification

WORDS = {
    "on": ("on", "on top of"),
    "under": ("under", "beneath"),
    "left of": ("left of", "to the left of"),
    "right of": ("to the right of",),
    "in front of": ("in front of",),
    "behind": ("behind",),
}


@pytest.mark.parametrize(
    ("base", "foil", "expected"),
    [
        ("A mug on a table", "A mug under a table", ("on", "under")),
        ("A mug to the left of a dog.", "A mug to the right of a dog.", ("left of", "right of")),
        ("a mug on the table", "a mug to the left of the table", ("on", "left of")),
        ("a mug on top of the table", "a mug beneath the table", ("on", "under")),
        ("A dog in front of a chair", "A dog behind a chair", ("in front of", "behind")),
        # The edited phrase counts, not the one that both captions share.
        ("a mug under the table, a lamp on the desk", "a mug on the table, a lamp on the desk", ("under", "on")),
        # Things that trade places: the direction between them is the same.
        ("a mug to the left of a vase on a cart", "a vase to the left of a mug on a cart", ("left of", "left of")),
        # Two directions within what differs, or none, or on one side only: nothing is said.
        ("a mug on a box under a bed", "a mug under a box on a bed", ("", "")),
        ("a red mug", "a blue mug", ("", "")),
        ("a mug on a table", "a mug near a table", ("", "")),
        ("a mug", "a mug", ("", "")),
        # A direction is a word, not a part of one.
        ("a wooden button", "a wooden onion", ("", "")),
    ],
)
def test_directions_of_two_captions(base: str, foil: str, expected: tuple[str, str]) -> None:
    assert directions(base, foil, WORDS) == Named(*expected)
    assert directions(foil, base, WORDS) == Named(*expected[::-1])


def pair(base: str, foil: str, gold: np.ndarray, subset: str = "modify_spatial") -> Instance:
    images = (ImageRef("a.png", data=b"a"), ImageRef("b.png", data=b"b"))
    return Instance(f"{base}|{foil}|{gold[0, 0]}", images, (base, foil), gold, subset=subset)


def test_the_base_side_is_the_caption_that_fits_the_first_image() -> None:
    square = np.eye(2, dtype=bool)
    found = named([pair("on it", "under it", square), pair("on it", "under it", ~square)], Directions(WORDS))
    assert found.base.tolist() == ["on", "under"]
    assert found.foil.tolist() == ["under", "on"]


def test_only_the_subsets_and_pairs_that_a_card_names() -> None:
    square = np.eye(2, dtype=bool)
    rows = [pair("on it", "under it", square), pair("on it", "behind it", square), pair("on", "under", square, "other")]
    asked = read_breakdown(
        {
            "directions": {
                "subsets": ["modify_spatial"],
                "words": {k: list(v) for k, v in WORDS.items()},
                "pairs": [["under", "on"]],
            }
        }
    ).directions
    assert asked is not None
    assert named(rows, asked).base.tolist() == ["on", "", ""]


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({"tag": ["tier"]}, "tag"),
        ({"tags": "tier"}, "'tier'"),
        ({"gaps": [["modify_"]]}, "['modify_']"),
        ({"gaps": ["modify_"]}, "'modify_'"),
        ({"directions": {"word": {}}}, "word"),
        ({"directions": {"words": {}}}, "{}"),
        ({"directions": ["on"]}, "['on']"),
        ({"directions": {"words": {"on": "on"}}}, "'on'"),
        ({"directions": {"words": {"on": ["on"]}, "pairs": [["on", "undr"]]}}, "undr"),
    ],
)
def test_a_misspelt_card_is_refused(asked: dict, wrong: str) -> None:
    with pytest.raises(InputError) as caught:
        read_breakdown(asked)
    assert wrong in str(caught.value)


def test_every_spatial_edit_of_the_sample_has_its_direction() -> None:
    """The scenes' own places are the truth: the captions' words must name them, in all tiers."""
    words = {"on": ("on",), "under": ("under",), "left of": ("to the left of",), "right of": ("to the right of",)}
    spoken = {"on_anchor": "on", "under_anchor": "under", "left_of_anchor": "left of", "right_of_anchor": "right of"}
    seen = 0
    for variation in specification(16, 5).variations():
        if variation.edit.type not in ("modify_spatial", "swap_spatial"):
            continue
        for base, foil in variation.captions.values():
            found = directions(base, foil, words)
            seen += 1
            if variation.edit.type == "modify_spatial":
                [change] = variation.edit.changes
                assert found == Named(spoken[change.base], spoken[change.foil])
            else:
                assert found.base == found.foil in ("left of", "right of")
    assert seen > 100


def test_the_cards_of_the_repository_can_be_read() -> None:
    """What'sUp's own wordings: opposites on an axis make pairs, two photos of different axes none."""
    conf = Path(__file__).resolve().parents[2] / "conf" / "benchmark"
    cards = {
        path.stem: yaml.safe_load(path.read_text(encoding="utf-8")).get("card", {}) for path in conf.glob("*.yaml")
    }
    asked = {name: read_breakdown(card["breakdown"]) for name, card in cards.items() if "breakdown" in card}
    assert set(asked) == {"compset", "whatsup_pairs"}
    square, wanted = np.eye(2, dtype=bool), asked["whatsup_pairs"].directions
    assert wanted is not None
    rows = [
        pair("A bowl on a table", "A bowl under a table", square, "A"),
        pair("A bowl to the left of a table", "A bowl to the right of a table", square, "A"),
        pair("A cap behind a knife", "A cap in front of a knife", square, "B"),
        pair("A bowl on a table", "A bowl to the right of a table", square, "A"),
    ]
    found = named(rows, wanted)
    assert found.base.tolist() == ["on", "left of", "behind", ""]
    assert found.foil.tolist() == ["under", "right of", "in front of", ""]
