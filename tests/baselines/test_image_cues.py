"""Cues of image files: by hand on drawn files, each distinct image once, none demanded."""

import io

import numpy as np
import pytest
from PIL import Image

from baselines.engine import Engine
from baselines.image_cues import CUES, ImageCues, sharpness
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "cache") as engine:
        yield engine


def encoded(image, kind):
    stream = io.BytesIO()
    image.save(stream, kind)
    return stream.getvalue()


def reference(name, image, kind="PNG", box=None):
    return ImageRef(name, data=encoded(image, kind), box=box)


def values(scorer, work, *refs):
    [scored] = scorer.score([Candidates("a", refs, ("a cup",))], work)
    assert tuple(scored.columns) == scorer.columns
    assert all(column.shape == (len(refs), 1) for column in scored.columns.values())
    return {name: column[:, 0].tolist() for name, column in scored.columns.items()}, scored.notes


def test_cues_by_hand(work):
    plain, clear = Image.new("RGB", (8, 4), "red"), Image.new("RGBA", (5, 10), (0, 0, 0, 0))
    jpeg, png = reference("a", plain, "JPEG"), reference("b", clear)
    found, notes = values(ImageCues(), work, jpeg, png)
    assert found["width:larger"] == [8, 5]
    assert found["height:smaller"] == [-4, -10]
    assert found["aspect:larger"] == [2, 0.5]
    assert found["bytes_per_pixel:larger"] == [len(jpeg.data) / 32, len(png.data) / 50]
    assert found["alpha:more"] == [0, 1]
    # JPEG comes before PNG in the alphabet.
    assert found["format:last"][0] < found["format:last"][1]
    assert found["format:first"][0] > found["format:first"][1]
    assert found["sharpness:higher"] == [0, 0]
    assert notes == {}


def test_sharpness_against_the_slow_definition():
    grey = np.random.default_rng(0).integers(0, 256, (6, 7)).astype(float)
    slow = [
        grey[y - 1, x] + grey[y + 1, x] + grey[y, x - 1] + grey[y, x + 1] - 4 * grey[y, x]
        for y in range(1, 5)
        for x in range(1, 6)
    ]
    mean = sum(slow) / len(slow)
    assert sharpness(grey) == pytest.approx(sum((one - mean) ** 2 for one in slow) / len(slow))
    assert sharpness(grey[:2]) == 0


def test_a_crop_has_its_own_size_and_the_bytes_of_the_whole_file(work):
    image = Image.new("RGB", (10, 10), "blue")
    whole, part = reference("a", image), reference("a", image, box=(0, 0, 4, 5))
    found, _ = values(ImageCues(), work, whole, part)
    assert found["width:larger"] == [10, 4]
    assert found["bytes_per_pixel:larger"][0] == found["bytes_per_pixel:larger"][1] == len(whole.data) / 100


def test_every_direction_is_the_other_turned_round(work):
    found, _ = values(ImageCues(), work, reference("a", Image.effect_noise((9, 9), 40).convert("RGB")))
    assert all(found[f"{cue}:{up}"][0] == -found[f"{cue}:{down}"][0] for cue, (up, down) in CUES.items())
    assert found["sharpness:higher"][0] > 0


def test_each_distinct_content_is_opened_once(work, tmp_path):
    data = encoded(Image.new("RGB", (3, 3)), "PNG")
    refs = []
    for name in ("one", "two"):
        (tmp_path / name).write_bytes(data)
        refs.append(ImageRef(name, tmp_path / name))
    ImageCues().score([Candidates(str(n), tuple(refs), ("a",)) for n in range(3)], work)
    assert work.counts["image_cues"].computed == 1


def test_images_that_are_not_there_have_no_score_and_a_reason(work, tmp_path):
    there = reference("b", Image.new("RGB", (3, 3)))
    found, notes = values(ImageCues(["width"]), work, ImageRef.absent(), there, ImageRef("c", tmp_path / "gone.png"))
    assert np.isnan(found["width:larger"]).tolist() == [True, False, True]
    assert notes == {(0, 0): "this row has no image", (2, 0): "the image file is not there"}


def test_a_broken_image_stops_the_run_and_is_named(work, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no image")
    with pytest.raises(InputError, match=r"broken\.png"):
        values(ImageCues(), work, ImageRef("b", tmp_path / "broken.png"))


def test_cues_can_be_chosen_and_wrong_ones_are_named():
    assert ImageCues(["alpha"]).columns == ("alpha:more", "alpha:fewer")
    with pytest.raises(InputError, match="did you mean sharpness"):
        ImageCues(["sharpnes"])
