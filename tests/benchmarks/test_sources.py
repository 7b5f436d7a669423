"""Finding a release in a folder, checking it, and the card."""

import hashlib

import pytest

from benchmarks import hub, sources
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.schema import Card
from benchmarks.sources import Wanted

CARD = Card("Demo", "", "", "MIT", "1x2", "accuracy", "Fetch it by hand.")
WANTED = Wanted(("a.json", "b.json"), "data")


def put(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text("{}")
    return folder


def test_the_folder_itself_or_its_parent(tmp_path):
    data = put(tmp_path / "rel" / "data", "a.json", "b.json")
    put(tmp_path / "rel" / "data_old", "a.json")
    for root in (data, tmp_path / "rel", str(data)):
        assert sources.locate(CARD, root, WANTED).folder == data
    with pytest.raises(InputError, match="data, data_old"):
        sources.locate(CARD, tmp_path / "rel", Wanted(("a.json",)))
    other = put(tmp_path / "x" / "anything", "b.json")
    assert sources.locate(CARD, tmp_path / "x", WANTED).folder == other


def test_a_folder_without_the_files_says_where_and_how(tmp_path):
    for root, got in ((tmp_path / "gone", "no such folder"), (put(tmp_path / "e"), "empty folder")):
        with pytest.raises(NotAvailableError) as caught:
            sources.locate(CARD, root, WANTED)
        assert caught.value.status == "absent"
        told = str(caught.value)
        assert str(root) in told
        assert "a.json" in told
        assert got in told
        assert "Fetch it by hand." in told
    put(tmp_path, "f.json")
    with pytest.raises(NotAvailableError, match="not a folder"):
        sources.locate(CARD, tmp_path / "f.json", WANTED)


def test_no_root_and_no_hub(tmp_path):
    with pytest.raises(NotAvailableError, match=r"benchmark\.root=FOLDER"):
        sources.locate(CARD, None, WANTED)


def test_a_root_never_asks_the_hub(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "fetch", lambda *_: pytest.fail("the hub was asked"))
    card = Card("Demo", "", "", "MIT", "1x2", "a", "h", hub="org/demo", revision="main")
    with pytest.raises(NotAvailableError):
        sources.locate(card, tmp_path, WANTED)


def test_the_hub_is_asked_without_a_root(tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "fetch", lambda _, patterns, __: hub.Fetched(tmp_path / patterns[0], "abc"))
    card = Card("Demo", "", "", "MIT", "1x2", "a", "h", hub="org/demo", revision="main")
    place = sources.locate(card, None, Wanted(("a.json",), patterns=("p",)))
    assert (place.folder, place.origin, place.location, place.revision) == (tmp_path / "p", "hub", "org/demo", "abc")
    assert sources.locate(card, None, Wanted(("a.json",))).folder == tmp_path / "a.json"


def test_another_checksum_is_told_for_a_folder_and_refused_from_the_hub(tmp_path):
    put(tmp_path, "a.json", "b.json")
    right = hashlib.sha256(b"{}").hexdigest()
    card = Card("Demo", "", "", "MIT", "1x2", "a", "h", files={"a.json": "0" * 64, "b.json": right})
    place = sources.Place(tmp_path, "root", "x")
    checked = sources.check(card, place, ("a.json", "b.json", "c.json"))
    assert checked.files == {"a.json": right, "b.json": right}
    assert checked.absent == ("c.json",)
    (notice,) = checked.notices
    assert right in notice
    assert "0" * 64 in notice
    with pytest.raises(NotAvailableError, match=r"c\.json"):
        sources.require(card, place, checked)
    with pytest.raises(InputError, match="not the pinned one"):
        sources.check(card, sources.Place(tmp_path, "hub", "x"), ("a.json",))


GOOD = {
    "title": "T", "paper": "p", "homepage": "h", "licence": "MIT", "shape": "1x2", "primary": "accuracy",
    "how_to_get": "x", "issues": ["one"], "expected": {"a": 1},
}  # fmt: skip


def test_a_card_is_made_of_its_yaml():
    made = sources.card(GOOD)
    assert made.issues == ("one",)
    assert made.expected == {"a": 1}
    assert sources.card(made) is made


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"licnece": "x"}, "did you mean licence"),
        ({"title": None}, "title"),
        ({"revision": 123}, "revision"),
        ({"gated": "yes"}, "gated"),
        ({"issues": "one"}, "issues"),
        ({"expected": 3}, "expected"),
    ],
)
def test_a_card_with_a_wrong_field_is_refused(change, said):
    with pytest.raises(InputError, match=said):
        sources.card(GOOD | change)


def test_a_card_that_lacks_a_field_is_refused():
    with pytest.raises(InputError, match="no licence, how_to_get"):
        sources.card({name: value for name, value in GOOD.items() if name not in ("licence", "how_to_get")})


def test_choosing_names():
    known = ("swap_obj", "swap_att", "add_obj")
    assert sources.choose(None, known, option="o") == known
    assert sources.choose("swap_att", known, option="o") == ("swap_att",)
    assert sources.choose(["add_obj", "swap_obj"], known, option="o") == ("swap_obj", "add_obj")
    with pytest.raises(InputError, match="did you mean swap_obj"):
        sources.choose(["swap_ojb"], known, option="o")
    with pytest.raises(InputError, match="selects nothing"):
        sources.choose([], known, option="o")
