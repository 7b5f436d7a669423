"""The decode rule: what every kind of file becomes, and what is refused."""

import io
import random
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from benchmarks import images
from benchmarks.errors import InputError
from benchmarks.images import ImageRef, content_digest, decode, exists
from benchmarks.stores import inside


def encode(image, kind="PNG", **options):
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def pixels(data, **fields):
    return np.asarray(decode(ImageRef("x", data=data, **fields)).image).tolist()


def grid(width=4, height=2):
    return Image.fromarray(np.arange(width * height * 3, dtype=np.uint8).reshape(height, width, 3) * 9)


def noise(width, height):
    return Image.fromarray(np.random.default_rng(7).integers(0, 256, (height, width, 3), dtype=np.uint8))


@pytest.mark.parametrize("turn", range(1, 9))
def test_every_orientation_puts_the_same_picture_upright(turn):
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    upright = grid()
    stored = upright.transpose(undo[turn]) if turn > 1 else upright
    exif = Image.Exif()
    exif[0x0112] = turn
    got = decode(ImageRef("x", data=encode(stored, exif=exif)))
    assert np.array_equal(np.asarray(got.image), np.asarray(upright))
    assert got.original_size == (4, 2)
    assert got.image.info == {}
    assert dict(got.image.getexif()) == {}


@pytest.mark.parametrize("turn", [0, 9, 77])
def test_an_unknown_orientation_turns_nothing(turn):
    exif = Image.Exif()
    exif[0x0112] = turn
    got = decode(ImageRef("x", data=encode(grid(), exif=exif)))
    assert got.image.size == (4, 2)
    assert bool(got.notes) == (turn != 0)


def test_palette_with_transparency_is_white_where_it_is_clear():
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 0, 0, 0])
    image.putdata([0, 1])
    data = encode(image, transparency=bytes([255, 0]))
    assert pixels(data) == [[[10, 20, 30], [255, 255, 255]]]
    assert decode(ImageRef("x", data=data)).had_alpha


def test_half_transparent_grey_is_mixed_with_white():
    # 0 x 128/255 + 255 x 127/255 = 127
    data = encode(Image.merge("LA", [Image.new("L", (1, 1), 0), Image.new("L", (1, 1), 128)]))
    assert pixels(data) == [[[127, 127, 127]]]


def test_opaque_alpha_is_recorded_and_changes_nothing():
    got = decode(ImageRef("x", data=encode(Image.new("RGBA", (1, 1), (1, 2, 3, 255)))))
    assert got.had_alpha
    assert got.image.getpixel((0, 0)) == (1, 2, 3)


@pytest.mark.parametrize("mode", ["RGB", "L", "1"])
def test_a_transparent_colour_is_alpha(mode):
    image = Image.new(mode, (1, 1), 0)
    got = decode(ImageRef("x", data=encode(image, transparency=(0, 0, 0) if mode == "RGB" else 0)))
    assert got.had_alpha
    assert got.image.getpixel((0, 0)) == (255, 255, 255)


def test_grey_one_bit_and_cmyk():
    assert pixels(encode(Image.new("L", (1, 1), 77))) == [[[77, 77, 77]]]
    assert pixels(encode(Image.new("1", (1, 1), 1))) == [[[255, 255, 255]]]
    # CMYK (0, 255, 255, 0) has no cyan, so only red light comes back.
    assert pixels(encode(Image.new("CMYK", (1, 1), (0, 255, 255, 0)), "TIFF")) == [[[255, 0, 0]]]
    assert decode(ImageRef("x", data=encode(Image.new("CMYK", (8, 8)), "JPEG"))).image.mode == "RGB"


def test_sixteen_bit_grey_is_scaled_not_clipped():
    # 65535 / 257 = 255; 32896 / 257 = 128; 256 / 257 = 0.996, which rounds to 1. Clipping would give 255, 255, 255.
    values = np.array([[0, 256, 32896, 65535]], dtype=np.uint16)
    expected = [[[v, v, v] for v in (0, 1, 128, 255)]]
    assert pixels(encode(Image.fromarray(values))) == expected
    assert pixels(encode(Image.fromarray(values), "TIFF")) == expected
    assert pixels(encode(Image.fromarray(values.astype(np.int32)), "TIFF")) == expected


def test_sixteen_bit_grey_with_a_transparent_value():
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 16, 0, 0, 0, 0))
    row = chunk(b"IDAT", zlib.compress(b"\0" + struct.pack(">HH", 0, 65535)))
    data = b"\x89PNG\r\n\x1a\n" + head + chunk(b"tRNS", struct.pack(">H", 0)) + row + chunk(b"IEND", b"")
    got = decode(ImageRef("x", data=data))
    assert got.had_alpha
    assert np.asarray(got.image).tolist() == [[[255, 255, 255], [255, 255, 255]]]


@pytest.mark.parametrize("array", [np.array([[70000]], dtype=np.int32), np.array([[0.5]], dtype=np.float32)])
def test_grey_of_unknown_range_is_refused(array):
    with pytest.raises(InputError, match="grey values"):
        decode(ImageRef("x", data=encode(Image.fromarray(array), "TIFF")))


def test_the_first_of_several_frames_is_taken_and_said():
    frames = [Image.new("RGB", (2, 2), colour) for colour in ((255, 0, 0), (0, 0, 255))]
    data = encode(frames[0], "GIF", save_all=True, append_images=frames[1:])
    got = decode(ImageRef("x", data=data))
    assert got.image.getpixel((0, 0)) == (255, 0, 0)
    assert got.notes == ("first of 2 frames",)


@pytest.mark.parametrize("cut", [10, 40, -12])
def test_a_truncated_file_is_refused_by_name(tmp_path, cut):
    path = tmp_path / "cut.jpg"
    path.write_bytes(encode(noise(64, 64), "JPEG")[:cut])
    with pytest.raises(InputError, match=r"cut\.jpg"):
        decode(ImageRef("x", path))


@pytest.mark.parametrize("data", [b"<svg/>", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"hello"])
def test_what_is_no_image_is_refused(data):
    with pytest.raises(InputError, match="no image"):
        decode(ImageRef("key.png", data=data))


def test_empty_bytes_absent_and_missing_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="no image"):
        decode(ImageRef("x", data=b""))
    with pytest.raises(InputError, match="no image"):
        decode(ImageRef.absent())
    with pytest.raises(InputError, match=r"gone\.png"):
        decode(ImageRef("x", tmp_path / "gone.png"))
    with pytest.raises(InputError, match="cannot be read"):
        decode(ImageRef("x", tmp_path))


def test_a_decompression_bomb_is_refused(monkeypatch):
    data = encode(Image.new("1", (40_000, 5_000)))
    with pytest.raises(InputError, match="too large"):
        decode(ImageRef("x", data=data))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)  # as some libraries do
    with pytest.raises(InputError, match="40000 x 5000"):
        decode(ImageRef("x", data=data))


def test_a_large_picture_below_the_limit_warns_nobody(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 6)
    assert decode(ImageRef("x", data=encode(grid()))).image.size == (4, 2)


def test_the_crop_comes_after_the_rotation():
    exif = Image.Exif()
    exif[0x0112] = 6
    stored = grid()  # 4 x 2, shown as 2 x 4
    data = encode(stored, exif=exif)
    whole = pixels(data)
    got = decode(ImageRef("x", data=data, box=(0, 2, 2, 4)))
    assert got.original_size == (2, 4)
    assert np.asarray(got.image).tolist() == whole[2:]


@pytest.mark.parametrize("box", [(4, 0, 6, 2), (-2, 0, 0, 2), (0, 0, 0, 2), (3, 0, 2, 2), (0, 2, 4, 3)])
def test_a_crop_that_holds_nothing_of_the_image_is_refused(box):
    with pytest.raises(InputError, match="4 x 2"):
        decode(ImageRef("k", data=encode(grid()), box=box))


def test_a_crop_without_bounds_is_refused():
    with pytest.raises(InputError, match="100000 x 100000 pixels"):
        decode(ImageRef("k", data=encode(grid()), box=(0, 0, 100_000, 100_000)))


def test_a_crop_that_leaves_the_image_is_black_there_and_noted():
    got = decode(ImageRef("k", data=encode(grid()), box=(3, 1, 5, 3)))  # of 4 x 2 only the pixel (3, 1) is inside
    corner = np.asarray(grid())[1, 3].tolist()
    assert np.asarray(got.image).tolist() == [[corner, [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]]
    assert any("beyond its image" in note for note in got.notes)
    assert decode(ImageRef("k", data=encode(grid()), box=(0, 0, 4, 2))).notes == ()


def test_exists_and_digest(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(encode(grid()))
    ref, same = ImageRef("a", path), ImageRef("b", data=path.read_bytes())
    assert exists(ref)
    assert exists(same)
    assert not exists(ImageRef("c", tmp_path / "c.png"))
    assert not exists(ImageRef("c", tmp_path))
    assert not exists(ImageRef.absent())
    assert content_digest(ref) == content_digest(same)
    assert content_digest(ref) != content_digest(ImageRef("a", path, box=(0, 0, 1, 1)))
    assert content_digest(ImageRef("a", path, box=(0, 0, 1, 1))) != content_digest(
        ImageRef("a", path, box=(0, 0, 1, 2))
    )


@pytest.mark.parametrize("name", ["../x.png", "a/../../x.png", "/etc/x.png", "C:\\x.png", "..\\x.png", "", " ", "a\0b"])
def test_a_name_that_leaves_its_folder_is_refused(tmp_path, name):
    with pytest.raises(ValueError, match="file name"):
        inside(tmp_path, name)


def test_ordinary_names_stay_inside(tmp_path):
    assert inside(tmp_path, "images/s001_base.png") == tmp_path / "images" / "s001_base.png"
    assert inside(tmp_path, "a..b.png") == tmp_path / "a..b.png"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM"])
def test_damaged_files_decode_or_are_refused_never_else(kind):
    draw = random.Random(f"damage {kind}")
    exif = Image.Exif()
    exif[0x0112] = 6
    options = {"exif": exif} if kind in ("PNG", "JPEG", "WEBP", "TIFF") else {}
    whole = bytearray(encode(noise(24, 16), kind, **options))
    outcomes = set()
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        if draw.random() < 0.3:
            data = data[: draw.randrange(len(data))]
        try:
            got = decode(ImageRef("x", data=bytes(data)))
            assert got.image.mode == "RGB"
            outcomes.add("decoded")
        except InputError:
            outcomes.add("refused")
    assert outcomes == {"decoded", "refused"}


def test_formats_are_read_by_pillow_alone():
    assert "EPS" not in images._formats()
    assert {"PNG", "JPEG", "WEBP"} <= set(images._formats())
