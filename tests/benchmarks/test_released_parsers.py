"""SugarCrepe and VALSE: what a row becomes, and that a broken one is refused by file, row and field."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.errors import InputError, NotAvailableError
from benchmarks.preflight import preflight
from benchmarks.schema import Card
from benchmarks.sugarcrepe import SugarCrepe
from benchmarks.valse import Valse

CRATE = Card("SugarCrepe", "sugarcrepe", "", "MIT", "1x2", "accuracy", "Fetch it.", expected={"one": 1, "two": 2})
VALSE = Card("VALSE", "valse", "", "MIT", "1x2", "accuracy", "Fetch it.", expected={"one": 1, "two": 2, "three": 3})
ROW = {"filename": "1.jpg", "caption": "a", "negative_caption": "b"}
ITEM = {
    "image_file": "v.jpg",
    "caption": "a",
    "foil": "b",
    "mturk": {"caption": 2, "foil": 1, "other": 0},
    "extra": [1],
}


def put(folder, **tables):
    for name, value in tables.items():
        text = value if isinstance(value, str) else json.dumps(value)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def refused(make):
    with pytest.raises(InputError) as caught:
        list(make())
    return str(caught.value)


def test_sugarcrepe_rows_become_instances(tmp_path):
    put(tmp_path, one={"0": ROW | {"caption": " a. "}}, two={"3": ROW})
    mine = SugarCrepe(CRATE, tmp_path)
    first, second = mine
    assert (first.id, second.id) == ("one:0", "two:3")
    assert first.captions == (" a. ", "b")
    assert first.gold.tolist() == [[True, False]]
    assert (first.subset, first.cluster, dict(first.tags)) == ("one", "1.jpg", {})
    assert first.images[0].path == tmp_path / "images" / "1.jpg"
    assert set(mine.provenance.files) == {"one.json", "two.json"}
    assert [one.id for one in SugarCrepe(CRATE, tmp_path, subsets="two")] == ["two:3"]
    assert SugarCrepe(CRATE, tmp_path, subsets=["two"]).card.expected == {"two": 2}


def test_a_missing_subset_is_refused_unless_it_was_not_asked_for(tmp_path):
    put(tmp_path, two={"3": ROW})
    with pytest.raises(NotAvailableError, match=r"one\.json"):
        SugarCrepe(CRATE, tmp_path)
    assert len(list(SugarCrepe(CRATE, tmp_path, subsets=["two"]))) == 1
    with pytest.raises(InputError, match="did you mean two"):
        SugarCrepe(CRATE, tmp_path, subsets=["twoo"])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"filename": "1.jpg", "caption": "a"}, "field 'negative_caption'"),
        (ROW | {"caption": 3}, "3 (int)"),
        (ROW | {"caption": None}, "null"),
        (ROW | {"caption": ""}, "field 'caption'"),
        (ROW | {"negative_caption": ["b"]}, "list"),
        (ROW | {"filename": "../1.jpg"}, "field 'filename'"),
        (ROW | {"filename": ""}, "field 'filename'"),
        (ROW | {"negativ_caption": "b"}, "did you mean negative_caption"),
        (["a", "b"], "list"),
        ("a", "'a'"),
    ],
)
def test_a_broken_sugarcrepe_row(tmp_path, value, said):
    put(tmp_path, one={"0": ROW, "7": value}, two={})
    told = refused(lambda: SugarCrepe(CRATE, tmp_path))
    for part in ("one.json", "key '7'", said):
        assert part in told


@pytest.mark.parametrize("key", ["accuracy", "-1", "1.0", " 1", "", "٣", "1" * 600, "9" * 6000])
def test_a_key_that_is_no_number(tmp_path, key):
    put(tmp_path, one={"0": ROW, key: ROW}, two={})
    assert "one.json" in refused(lambda: SugarCrepe(CRATE, tmp_path))


@pytest.mark.parametrize("text", ["[]", "3", "null", '{"0": ', "", '{"0": {}, "0": {}}'])
def test_a_broken_sugarcrepe_file(tmp_path, text):
    put(tmp_path, one=text, two={})
    assert "one.json" in refused(lambda: SugarCrepe(CRATE, tmp_path))


def test_valse_keeps_what_annotators_accepted_and_counts_the_rest(tmp_path):
    few = ITEM | {"mturk": {"caption": 1}}
    put(tmp_path, one={"x": ITEM, "y": few}, two={"z": ITEM | {"foil": "a"}})
    mine = Valse(VALSE, tmp_path, released={"one": 2})
    assert [one.id for one in mine] == ["one:x", "two:z"]
    assert mine.provenance.absent == ("three",)
    assert mine.provenance.notices[0].startswith("1 item is left out")
    (told,) = [*mine.provenance.notices[1:], *preflight(mine).notices]  # said once, not by both
    assert told == "1 instance has a foil identical to the caption: it can only tie (two:z)."
    assert mine.card.expected == {"one": 1, "two": 2}
    every = Valse(VALSE, tmp_path, valid_only=False, released={"one": 2})
    assert [one.id for one in every] == ["one:x", "one:y", "two:z"]
    assert every.card.expected == {"one": 2}
    assert all("left out" not in notice for notice in every.provenance.notices)
    with pytest.raises(NotAvailableError):
        Valse(VALSE, tmp_path, subsets="three")


def test_valse_is_read_defensively(tmp_path):
    several = {name: value for name, value in ITEM.items() if name != "foil"} | {"foils": ["b", "c"], "mturk": 3}
    put(tmp_path, one={"x": several})
    (one,) = Valse(VALSE, tmp_path)
    assert one.captions == ("a", "b", "c")
    bare = {name: value for name, value in ITEM.items() if name != "mturk"}
    put(tmp_path, one={"x": bare})
    assert "valid_only=false" in refused(lambda: Valse(VALSE, tmp_path))
    assert len(list(Valse(VALSE, tmp_path, valid_only=False))) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mturk": {"caption": "3"}}, "field 'mturk.caption'"),
        ({"mturk": {"caption": True}}, "field 'mturk.caption'"),
        ({"mturk": []}, "field 'mturk.caption'"),
        ({"caption": ""}, "field 'caption'"),
        ({"foil": 3}, "field 'foil'"),
        ({"foil": None}, "null"),
        ({"image_file": "/v.jpg"}, "field 'image_file'"),
        ({"image_file": 3}, "field 'image_file'"),
    ],
)
def test_a_broken_valse_item(tmp_path, change, said):
    put(tmp_path, one={"x": ITEM, "y": ITEM | change})
    told = refused(lambda: Valse(VALSE, tmp_path))
    for part in ("one.json", "key 'y'", said):
        assert part in told


def test_wrong_options_of_valse(tmp_path):
    put(tmp_path, one={"x": ITEM})
    with pytest.raises(InputError, match="true or false"):
        Valse(VALSE, tmp_path, valid_only="yes")
    with pytest.raises(NotAvailableError, match=r"one\.json"):
        Valse(VALSE, tmp_path / "gone") if (tmp_path / "gone").mkdir() is None else None


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=6), inner, max_size=2),
    max_leaves=4,
)
NAMES = st.sampled_from(["filename", "image_file", "caption", "negative_caption", "foil", "foils", "mturk", "x"])
TABLE = st.dictionaries(
    st.text("0123456789ab", max_size=4), st.dictionaries(NAMES, VALUE, max_size=5) | VALUE, max_size=3
)


@settings(derandomize=True, deadline=None)
@given(TABLE | VALUE)
def test_any_json_is_read_or_refused_by_file(tmp_path_factory, value):
    folder = put(tmp_path_factory.mktemp("any"), one=value)
    for make in (SugarCrepe, Valse):
        try:
            found = list(make(VALSE, folder, subsets="one"))
        except InputError as error:
            assert "one.json" in str(error)  # noqa: PT017
        else:
            assert isinstance(value, dict)
            assert len(found) <= len(value)
