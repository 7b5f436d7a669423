"""Area B of the public fault reports as far as decoding goes. One test per entry, and its siblings."""

import io

import numpy as np
import pytest
from PIL import Image

from benchmarks.images import ImageRef, decode


def jpeg(**options):
    stream = io.BytesIO()
    values = np.zeros((2, 4, 3), dtype=np.uint8)
    values[0, 0] = 255
    Image.fromarray(values).save(stream, "JPEG", quality=95, **options)
    return stream.getvalue()


def test_b1_camera_rotation_tag_is_obeyed_by_file_and_bytes_alike(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    data = jpeg(exif=exif)
    (tmp_path / "a.jpg").write_bytes(data)
    by_path, by_bytes = decode(ImageRef("a", tmp_path / "a.jpg")), decode(ImageRef("a", data=data))
    assert by_path.image.size == by_bytes.image.size == (2, 4)
    assert by_path.image.tobytes() == by_bytes.image.tobytes()
    assert 0x0112 not in by_path.image.getexif()
    assert by_path.notes == ()


@pytest.mark.parametrize(
    "block",
    [
        b"Exif\x00\x00garbage",
        b"Exif\x00\x00II*\x00\xff\xff\xff\xff",
        b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\xff\xff" + b"\x00" * 8,
        b"Exif\x00\x00",
    ],
)
def test_b1_a_broken_exif_block_loads_unrotated_and_is_listed(tmp_path, block):
    data = jpeg(exif=block)
    (tmp_path / "a.jpg").write_bytes(data)
    for ref in (ImageRef("a", tmp_path / "a.jpg"), ImageRef("a", data=data)):
        got = decode(ref)
        assert got.image.size == (4, 2)
        assert bool(got.notes) == (block != b"Exif\x00\x00")


def test_b2_transparent_pixels_turn_white_whatever_hides_behind_them():
    found = []
    for hidden in ((0, 0, 0, 0), (9, 9, 9, 0)):
        stream, image = io.BytesIO(), Image.new("RGBA", (2, 1))
        image.putdata([(255, 0, 0, 255), hidden])
        image.save(stream, "PNG")
        got = decode(ImageRef("a", data=stream.getvalue()))
        assert got.had_alpha
        found.append(np.asarray(got.image))
    assert found[0].tolist() == [[[255, 0, 0], [255, 255, 255]]]
    assert (found[0] != found[1]).mean() == 0.0
