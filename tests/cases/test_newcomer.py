"""What somebody new gets wrong: an empty variable, a folder called 2024, a column named oddly, an archive cut off."""

import io
import sys
import tarfile

import pytest
from PIL import Image

from audits import cli
from audits.dataset import open_dataset
from audits.overrides import translate
from benchmarks import columns, sources
from benchmarks.archives import has
from benchmarks.errors import InputError
from benchmarks.files import Spot, parse_json
from benchmarks.images import ImageRef, decode
from benchmarks.schema import Card, Instance, Provenance

CARD = Card("Demo", "", "", "MIT", "1x2", "accuracy", "Fetch it by hand.")
FIELDS = {"title": "Demo", "paper": "", "homepage": "", "licence": "MIT", "shape": "1x2", "how_to_get": "By hand."}


def refusal(call):
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


def test_an_empty_root_is_not_the_current_folder(tmp_path, monkeypatch):
    """`benchmark.root=$UNSET` is typed soon; the release that happens to lie here is not what was meant."""
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = refusal(lambda: sources.locate(CARD, "", sources.Wanted(("a.json",))))
    assert (found.where, found.got) == ("benchmark.root", "''")
    assert "benchmark.root=PATH" in found.step
    assert refusal(lambda: sources.images_folder("", tmp_path)).where == "benchmark.images"
    assert sources.locate(CARD, ".", sources.Wanted(("a.json",))).folder.name == ""


@pytest.mark.parametrize("name", ["2024", "007", "1e3", "1_000", "-1", ".5"])
def test_a_folder_named_like_a_number_stays_a_path(name):
    assert translate([f"benchmark.root={name}"]) == [f"benchmark.root='{name}'"]
    assert translate([f"seed={name}"]) == [f"seed={name}"]


def test_no_option_of_a_path_is_a_word_of_its_own():
    assert translate(["benchmark.root=null", "benchmark.images=2024/img"]) == [
        "benchmark.root=null",
        "benchmark.images=2024/img",
    ]


def test_the_column_that_is_offered_is_written_as_it_stands():
    found = refusal(lambda: columns.assign(("The Caption, True", "foil"), {}, where="t.csv"))
    assert found.step == "name it: benchmark.caption=COLUMN (did you mean The Caption, True?)"


def test_a_primary_metric_that_is_none_is_refused():
    found = refusal(lambda: sources.card({**FIELDS, "primary": "acuracy"}))
    assert found.where == "card of Demo, primary"
    assert found.step.startswith("did you mean accuracy")
    assert "below `card:`" in refusal(lambda: sources.card(FIELDS)).step


def test_json_that_is_cut_off_says_what_to_do():
    assert "again" in refusal(lambda: parse_json('{"0": {"caption": "a c', Spot(CARD.title))).step


def tar_of(path, *names):
    with tarfile.open(path, "w") as packed:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 600  # a header and two blocks, 1536 bytes
            packed.addfile(info, io.BytesIO(b"x" * 600))
    return path


def test_a_tar_that_ends_between_two_members_is_cut_off(tmp_path):
    """The library reads it as if the others had never been there."""
    whole = tar_of(tmp_path / "whole.tar", "a.jpg", "b.jpg", "c.jpg")
    assert has(whole, "c.jpg")
    cut = tmp_path / "cut.tar"
    cut.write_bytes(whole.read_bytes()[: 2 * 1536])
    found = refusal(lambda: has(cut, "a.jpg"))
    assert found.what == "a tar file is cut off"
    assert found.step == "fetch the archive again"


def test_a_link_in_an_archive_says_what_to_do(tmp_path):
    place = tmp_path / "link.tar"
    with tarfile.open(place, "w") as packed:
        info = tarfile.TarInfo("a.jpg")
        info.type, info.linkname = tarfile.SYMTYPE, "b.jpg"
        packed.addfile(info)
    assert "unpack it by hand" in refusal(lambda: has(place, "a.jpg")).step


def test_a_message_on_a_broken_image_is_the_same_each_time():
    found = refusal(lambda: decode(ImageRef("a.jpg", data=b"not an image")))
    assert "0x" not in found.got
    assert "cannot identify image file" in found.got


class Pictured:
    """Two questions; the picture of the second is not there."""

    card = CARD
    provenance = Provenance("root", "the annotations")

    def __init__(self, folder):
        self.folder = folder

    def __iter__(self):
        for name in ("there", "gone"):
            image = ImageRef(f"{name}.png", self.folder / f"{name}.png")
            yield Instance(name, (image,), ("a", "b"), [[True, False]])


def test_a_missing_image_is_named_and_so_is_where_it_was_looked_for(tmp_path):
    Image.new("RGB", (2, 2)).save(tmp_path / "there.png")
    found = refusal(lambda: open_dataset(Pictured(tmp_path), limit=None, missing="error", images=True))
    assert found.where == str(tmp_path / "gone.png")
    assert found.got == "instances gone; the first images: gone.png"


@pytest.fixture
def command(monkeypatch):
    """Return the command line, in this process; what it leaves in the environment is taken back."""
    monkeypatch.setenv("HYDRA_FULL_ERROR", "0")
    monkeypatch.setattr(sys, "argv", ["audits"])
    return cli.main


def test_a_verb_without_its_word_says_how_to_give_it(capsys, command):
    assert command(["show"]) == 3
    assert "`audits show NAME`; `audits list`" in capsys.readouterr().err


def test_an_option_of_another_benchmark_names_those_of_this_one(capsys, command):
    assert command(["run", "benchmark=table", "benchmark.fetch=true"]) == 3
    told = capsys.readouterr().err
    expected = next(line for line in told.splitlines() if "expected:" in line)
    assert "benchmark.path" in expected
    assert "statistics" not in expected
