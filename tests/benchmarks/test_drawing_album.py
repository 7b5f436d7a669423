"""Drawing a whole sample into a folder: layout, parallel processes, a killed drawing, two at once."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from audits.dataset import open_dataset
from benchmarks.compset import CompoSET
from benchmarks.errors import InputError
from benchmarks.images import exists
from benchmarks.tableaux import release, specification
from benchmarks.tableaux.drawing import album, draw, drawn, examples
from benchmarks.tableaux.drawing.compose import Canvas
from benchmarks.tableaux.vocabulary import EDIT_TYPES

ROOT = Path(__file__).resolve().parents[2]
SPEC = specification(2, seed=4)
EXPECTED = {f"images/{t.id}_base.png" for t in SPEC} | {
    name for v in SPEC.variations() for name in (f"images/{v.id}.png", f"masks/{v.id}.png")
}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    out = tmp_path_factory.mktemp("album") / "a b=c" / "drawn"
    draw(SPEC, out, size=64, workers=1)
    return out


def test_layout_is_that_of_the_release_with_masks_beside_it(once):
    assert set(files(once)) == EXPECTED
    assert [path.name for path in once.parent.iterdir()] == ["drawn"]
    for name, data in files(once).items():
        with Image.open(io.BytesIO(data)) as opened:
            assert opened.format == "PNG"
            assert opened.size == (64, 64)
            assert opened.mode == ("RGB" if name.startswith("images/") else "1")


def test_pictures_are_those_of_the_canvas(once):
    tableau = next(iter(SPEC))
    canvas = Canvas(tableau.scene, 64)
    variation = tableau.variations[5]
    with Image.open(once / release.image(f"{tableau.id}_base")) as opened:
        assert opened.tobytes() == canvas.base.tobytes()
    with Image.open(once / release.mask(variation.id)) as opened:
        assert opened.tobytes() == canvas.foil(variation.edit).mask.tobytes()


def test_several_processes_draw_the_same(once, tmp_path):
    seen = []
    draw(SPEC, tmp_path / "out", size=64, workers=2, progress=lambda done, total: seen.append((done, total)))
    assert files(tmp_path / "out") == files(once)
    assert seen == [(1, 2), (2, 2)]


def test_what_is_drawn_is_not_drawn_again(once, monkeypatch):
    monkeypatch.setattr(album, "Canvas", None)
    before = {path: path.stat().st_mtime_ns for path in once.rglob("*")}
    draw(SPEC, once, size=64, workers=1)
    assert {path: path.stat().st_mtime_ns for path in once.rglob("*")} == before


def test_pictures_join_the_tables_of_a_release(once, tmp_path):
    release.write(SPEC, tmp_path / "sample", also=lambda folder: draw(SPEC, folder, size=64, workers=1))
    tables = {"variations.parquet", "scenes.parquet", "scene_captions.parquet", "specification.json"}
    assert set(files(tmp_path / "sample")) == EXPECTED | tables
    assert [path.name for path in tmp_path.iterdir()] == ["sample"]


def test_nothing_is_left_of_a_drawing_that_fails(tmp_path, monkeypatch):
    real, calls = album._png, []

    def full(picture):
        calls.append(picture)
        if len(calls) > 9:
            raise OSError(28, "No space left on device")
        return real(picture)

    monkeypatch.setattr(album, "_png", full)
    with pytest.raises(InputError, match="No space left"):
        draw(SPEC, tmp_path / "out", size=64, workers=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this platform")
def test_a_killed_drawing_does_not_look_complete_and_the_next_one_is(once, tmp_path):
    code = (
        "import sys, pathlib; from benchmarks.tableaux import specification; "
        "from benchmarks.tableaux.drawing import draw; "
        "draw(specification(200, seed=4), pathlib.Path(sys.argv[1]), size=64, workers=1)"
    )
    out = tmp_path / "out"
    running = subprocess.Popen([sys.executable, "-c", code, str(out)], env={**os.environ, "PYTHONPATH": str(ROOT)})
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".out.*.partial/images/s001_v05.png")):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.kill()
    running.wait()
    assert not out.exists()
    assert not drawn(out)
    draw(SPEC, out, size=64, workers=1)
    assert files(out) == files(once)


def test_two_at_once_end_with_one_whole_album(once, tmp_path):
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(draw, SPEC, tmp_path / "out", size=64, workers=1) for _ in range(2)]:
            done.result()
    assert files(tmp_path / "out") == files(once)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_in_the_way_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="cannot write the pictures"):
            draw(SPEC, out, size=64, workers=1)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("size", [0, 31, 2049, -1, 64.0, "64", None, True])
def test_sizes_out_of_range_are_refused(tmp_path, size):
    with pytest.raises(InputError, match="size of a picture"):
        draw(SPEC, tmp_path / "out", size=size)
    with pytest.raises(InputError, match="size of a picture"):
        examples(SPEC, 1, size=size)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("workers", [0, -2, 1.5, "2", True])
def test_a_number_of_processes_is_checked(tmp_path, workers):
    with pytest.raises(InputError, match="number of processes"):
        draw(SPEC, tmp_path / "out", workers=workers)


def test_examples_are_drawn_in_memory_each_of_another_type():
    shown = examples(specification(), 6, size=64)
    assert len({one.edit_type for one in shown}) == 6
    assert len({one.scene_id for one in shown}) == 6
    known = {v.id: v for v in specification(6).variations()}
    for one in shown:
        assert one.edit_type in EDIT_TYPES
        assert one.captions == known[one.variation_id].captions["short"]
        with Image.open(io.BytesIO(one.base)) as base, Image.open(io.BytesIO(one.foil)) as foil:
            assert base.size == foil.size == (64, 64)
            assert base.tobytes() != foil.tobytes()


def test_fewer_examples_where_the_sample_is_small():
    assert len(examples(SPEC, 9, size=32)) == 2
    assert examples(SPEC, 0) == []


# --- the bundled sample -----------------------------------------------------------------------------------------------


def sample(cache: Path, **options: object) -> CompoSET:
    types = sorted(EDIT_TYPES)
    card = {
        "title": "CompoSET", "paper": "composet", "homepage": "", "licence": "", "shape": "2x2", "primary": "group",
        "how_to_get": "", "expected": dict.fromkeys(types, 1),
    }  # fmt: skip
    return CompoSET(card, source="sample", cache=cache, sample={"scenes": 2, "seed": 4, **options})


def test_text_alone_draws_nothing(tmp_path):
    dataset, coverage = open_dataset(sample(tmp_path, size=64), limit=None, missing="error", images=False)
    assert len(list(dataset)) > 30
    assert coverage is None
    assert not list(tmp_path.rglob("*.png"))


def test_a_contestant_that_sees_images_finds_them_all(tmp_path, once):
    dataset, coverage = open_dataset(sample(tmp_path, size=64), limit=None, missing="error", images=True)
    assert coverage is not None
    assert not coverage.missing
    references = [ref for instance in dataset for ref in instance.images]
    assert all(exists(ref) for ref in references)
    assert references[0].key == "images/s001_base.png"
    assert references[0].path.read_bytes() == (once / "images" / "s001_base.png").read_bytes()


def test_another_size_is_another_album_of_the_same_sample(tmp_path):
    small, large = (sample(tmp_path, size=size) for size in (32, 48))
    assert small.provenance == large.provenance
    for one, side in ((small, 32), (large, 48)):
        one.prepare_images()
        with Image.open(next(iter(one)).images[0].path) as opened:
            assert opened.size == (side, side)


def test_a_size_of_the_sample_that_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(InputError, match="size of a picture"):
        sample(tmp_path, size=5)
    with pytest.raises(InputError, match="did you mean size"):
        sample(tmp_path, sise=64)


def test_the_sample_shows_examples_and_leaves_no_file(tmp_path):
    shown = sample(tmp_path).examples(2, size=64)
    assert shown == examples(SPEC, 2, size=64)
    assert not list(tmp_path.rglob("*.png"))


def test_a_folder_of_the_users_own_is_never_drawn_over(tmp_path):
    release.write(SPEC, tmp_path / "mine")
    card = sample(tmp_path / "cache").card
    mine = CompoSET(card, tmp_path / "mine")
    mine.prepare_images()
    assert mine.examples() == []
    assert not list((tmp_path / "mine").rglob("*.png"))
