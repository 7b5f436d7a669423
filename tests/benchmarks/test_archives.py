"""Images in zips, tars, shards, folders and parquet cells: found by their released names, hostile places refused."""

import contextlib
import hashlib
import io
import multiprocessing
import os
import pickle
import struct
import tarfile
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from benchmarks import archives, cell_files, files, sources, stores
from benchmarks.errors import InputError
from benchmarks.images import ImageRef, content_digest, decode, encoded, exists
from benchmarks.preflight import missing_images
from benchmarks.schema import Instance


def png(number=0):
    stream = io.BytesIO()
    Image.new("RGB", (3, 2), (number % 256, number // 256, 7)).save(stream, "PNG")
    return stream.getvalue()


def zipped(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarred(path, members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def place_of(kind, folder, members):
    """Write members as one kind of place."""
    if kind == "zip":
        return zipped(folder / "images.zip", members, compression=zipfile.ZIP_DEFLATED)
    if kind == "tar":
        return tarred(folder / "images.tar", members)
    root = folder / "images"
    root.mkdir()
    if kind == "shards":
        names = sorted(members)
        for number, part in enumerate((names[::2], names[1::2])):
            tarred(root / f"{number:05d}.tar", {name: members[name] for name in part})
        return root
    for name, data in members.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


MEMBERS = {"val2017/1.png": png(1), "val2017/2.png": png(2), "deep/er/3.png": png(3)}


@pytest.mark.parametrize("kind", ["zip", "tar", "shards", "folder"])
def test_members_are_found_by_whole_name_or_by_its_end(tmp_path, kind):
    place = place_of(kind, tmp_path, MEMBERS)
    for name, whole in (("1.png", "val2017/1.png"), ("val2017/2.png",) * 2, ("er/3.png", "deep/er/3.png")):
        ref = ImageRef(name, place, member=name)
        assert exists(ref)
        assert encoded(ref) == MEMBERS[whole]
        assert content_digest(ref) == content_digest(ImageRef("x", data=MEMBERS[whole]))
        assert np.asarray(decode(ref).image)[0, 0].tolist() == [int(whole[-5]), 0, 7]
    lost = ImageRef("4.png", place, member="4.png")
    assert not exists(lost)
    with pytest.raises(InputError, match=r"4\.png") as caught:
        encoded(lost)
    assert str(place) in str(caught.value)
    # The end of a name counts from a slash on: `017/1.png` is no member.
    assert not exists(ImageRef("x", place, member="017/1.png"))


@pytest.mark.parametrize("kind", ["zip", "tar", "folder", "shards"])
def test_a_name_that_two_members_end_with_is_no_answer(tmp_path, kind):
    place = place_of(kind, tmp_path, {"a/1.png": png(1), "b/1.png": png(2)})
    ref = ImageRef("1.png", place, member="1.png")
    assert not exists(ref)
    with pytest.raises(InputError, match="several files have this name"):
        encoded(ref)
    assert encoded(ImageRef("x", place, member="b/1.png")) == png(2)


def test_a_crop_of_a_member_is_another_image(tmp_path):
    place = place_of("zip", tmp_path, MEMBERS)
    whole, part = (ImageRef("1.png", place, box=box, member="1.png") for box in (None, (0, 0, 1, 1)))
    assert decode(part).image.size == (1, 1)
    assert content_digest(whole) != content_digest(part)


def test_names_are_listed_once_however_many_are_asked_for(tmp_path, monkeypatch):
    place = place_of("zip", tmp_path, {f"val/{number}.png": b"x" for number in range(3000)})
    opened = []
    real = stores.zipfile.ZipFile
    monkeypatch.setattr(stores.zipfile, "ZipFile", lambda *given: (opened.append(given), real(*given))[1])
    gold = np.array([[True, False]])
    instances = [
        Instance(str(number), (ImageRef(f"{number}.png", place, member=f"{number}.png"),), ("a", "b"), gold)
        for number in range(3001)
    ]
    found = missing_images(instances)
    assert (found.present, found.missing) == (3000, ("3000",))
    assert len(opened) == 1


def test_a_changed_archive_is_listed_again(tmp_path):
    place = place_of("zip", tmp_path, {"1.png": png(1)})
    assert not exists(ImageRef("x", place, member="2.png"))
    zipped(place, {"1.png": png(1), "2.png": png(2)})
    os.utime(place, (1, 1))
    assert exists(ImageRef("x", place, member="2.png"))


def test_handles_are_bounded(tmp_path):
    archives._opened.cache_clear()
    for number in range(archives.KEPT + 5):
        place = zipped(tmp_path / f"{number}.zip", {"1.png": png(number)})
        assert encoded(ImageRef("x", place, member="1.png")) == png(number)
    assert archives._opened.cache_info().currsize == archives.KEPT
    assert sum(name.endswith(".zip") for name in open_files()) <= archives.KEPT


def open_files():
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            yield str(link.readlink())


@pytest.mark.parametrize("kind", ["zip", "tar", "shards"])
def test_threads_read_what_they_asked_for(tmp_path, kind):
    members = {f"{number}.png": png(number) * 50 for number in range(40)}
    place = place_of(kind, tmp_path, members)
    barrier = threading.Barrier(8)

    def read(worker):
        barrier.wait()
        names = [f"{(worker * 7 + step) % 40}.png" for step in range(120)]
        return all(encoded(ImageRef(name, place, member=name)) == members[name] for name in names)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(8)))


def _digests(job):
    place, names = job
    return [hashlib.sha256(encoded(ImageRef(name, place, member=name))).hexdigest() for name in names]


def test_processes_and_pickles_read_what_they_asked_for(tmp_path):
    members = {f"{number}.png": png(number) * 50 for number in range(20)}
    place = place_of("zip", tmp_path, members)
    names = list(members)
    expected = _digests((place, names))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_digests, [(place, names)] * 4) == [expected] * 4
    ref = ImageRef("a", place, member=names[3])
    assert encoded(pickle.loads(pickle.dumps(ref))) == members[names[3]]


HOSTILE = ["../1.png", "a/../../1.png", "/etc/1.png", "C:\\1.png", "..\\1.png"]


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_path_outside_refuses_the_whole_archive(tmp_path, kind, name):
    place = place_of(kind, tmp_path, {"1.png": png(1), name: png(2)})
    with pytest.raises(InputError, match="hostile archive"):
        encoded(ImageRef("x", place, member="1.png"))
    with pytest.raises(InputError, match="hostile archive"):
        exists(ImageRef("x", place, member="1.png"))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_refuse_a_tar(tmp_path, kind):
    place = tarred(tmp_path / "images.tar", {"1.png": png(1)})
    with tarfile.open(place, "a") as archive:
        info = tarfile.TarInfo("2.png")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(InputError, match=r"link or device") as caught:
        encoded(ImageRef("x", place, member="1.png"))
    assert "2.png" in str(caught.value)


def test_a_link_refuses_a_zip(tmp_path):
    place = tmp_path / "images.zip"
    info = zipfile.ZipInfo("2.png")
    info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("1.png", png(1))
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(InputError, match="link or device"):
        encoded(ImageRef("x", place, member="1.png"))


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_refuse_an_archive(tmp_path, kind):
    place = place_of(kind, tmp_path, {"1.png": png(1)})
    if kind == "zip":
        with zipfile.ZipFile(place, "a") as archive:
            archive.writestr("1.png", png(2))
    else:
        tarred(place, {"1.png": png(2)}, mode="a")
    with pytest.raises(InputError, match="two members have one name"):
        encoded(ImageRef("x", place, member="1.png"))


def test_a_bomb_is_refused_by_what_it_declares(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "MAX_MEMBER", 1000)
    members = {"bomb.png": b"\0" * 5000, "fine.png": b"\0" * 1000}
    place = zipped(tmp_path / "images.zip", members, compression=zipfile.ZIP_DEFLATED)
    assert place.stat().st_size < 1000
    for folder, kind in ((tmp_path / "t", "tar"), (tmp_path / "f", "folder")):
        folder.mkdir()
        with pytest.raises(InputError, match="too large"):
            encoded(ImageRef("x", place_of(kind, folder, members), member="bomb.png"))
    with pytest.raises(InputError, match="too large"):
        encoded(ImageRef("x", place, member="bomb.png"))
    assert len(encoded(ImageRef("x", place, member="fine.png"))) == 1000


def test_a_bomb_that_declares_little_is_refused_too(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "MAX_MEMBER", 10_000)
    place = zipped(tmp_path / "images.zip", {"bomb.png": b"\0" * 3_000_000}, compression=zipfile.ZIP_DEFLATED)
    data = bytearray(place.read_bytes())
    # The uncompressed size stands at byte 24 of the central directory's entry and at 22 of the local header.
    entry = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, entry + 24, 100)
    struct.pack_into("<I", data, 22, 100)
    place.write_bytes(data)
    with pytest.raises(InputError, match="cannot be read"):
        encoded(ImageRef("x", place, member="bomb.png"))


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_damaged_archives_are_refused_never_else(tmp_path, kind):
    whole = place_of(kind, tmp_path, {f"{number}.png": png(number) * 20 for number in range(5)}).read_bytes()
    draw = np.random.default_rng(4)
    outcomes = set()
    for number in range(120):
        data = bytearray(whole)
        for place in draw.integers(0, len(data), 6):
            data[place] = draw.integers(0, 256)
        path = tmp_path / f"{number}.{kind}"
        path.write_bytes(data[: int(draw.integers(1, len(data)))] if number % 3 == 0 else data)
        try:
            encoded(ImageRef("x", path, member="3.png"))
            outcomes.add("read")
        except InputError as error:
            assert path.name in str(error)  # noqa: PT017
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("name", ["train.tar.gz", "train.tgz", "train.7z"])
def test_a_compressed_archive_has_a_next_step(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"x")
    with pytest.raises(InputError, match="random access") as caught:
        sources.images_folder(path, tmp_path)
    assert "gunzip" in str(caught.value)


def test_places_of_images(tmp_path):
    place = place_of("zip", tmp_path, MEMBERS)
    assert sources.images_folder(None, tmp_path / "images") == place  # images.zip beside the annotations
    assert sources.images_folder(place, tmp_path) == place
    assert sources.images_folder(tmp_path, tmp_path / "images") == tmp_path
    assert sources.images_folder(None, tmp_path / "other") == tmp_path / "other"
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    for wrong in (tmp_path / "gone", tmp_path / "notes.txt"):
        with pytest.raises(InputError, match="place of images is not there"):
            sources.images_folder(wrong, tmp_path)
    spot = files.Spot(tmp_path / "a.json", "row 1")
    assert files.image_in(place, "1.png", spot) == ImageRef("1.png", place, member="1.png")
    assert files.image_in(tmp_path, "1.png", spot) == ImageRef("1.png", tmp_path / "1.png")
    with pytest.raises(InputError, match="row 1"):
        files.image_in(place, "../1.png", spot)


def cell_table(path, values, **options):
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    pq.write_table(pa.table({"image": pa.array(values, kind), "text": ["a"] * len(values)}), path, **options)
    return path


def test_cells_of_a_parquet_file(tmp_path):
    values = [{"bytes": png(number), "path": f"{number}.png"} for number in range(10)]
    path = cell_table(tmp_path / "test.parquet", values, row_group_size=3)
    for row in (9, 0, 5, 5, 2, 3):
        ref = files.cell_image(path, row, "image")
        assert exists(ref)
        assert encoded(ref) == values[row]["bytes"]
    assert files.cell_image(path, 3, "image").key == "test.parquet/3/image"
    assert not exists(files.cell_image(path, 10, "image"))
    assert not exists(files.cell_image(path, 1, "picture"))
    with pytest.raises(InputError, match=r"test\.parquet"):
        encoded(files.cell_image(path, 10, "image"))
    with pytest.raises(InputError, match="no encoded image"):
        encoded(files.cell_image(path, 1, "text"))


def test_empty_cells_and_too_large_groups_are_refused(tmp_path, monkeypatch):
    values = [{"bytes": None, "path": "1.png"}, None, {"bytes": b"", "path": None}]
    path = cell_table(tmp_path / "test.parquet", values)
    for row in range(3):
        with pytest.raises(InputError, match=f"row {row + 1}"):
            encoded(files.cell_image(path, row, "image"))
    monkeypatch.setattr(cell_files, "MAX_CHUNK", 3)
    with pytest.raises(InputError, match="too large"):
        encoded(files.cell_image(cell_table(tmp_path / "b.parquet", [{"bytes": png(), "path": ""}]), 0, "image"))
    (tmp_path / "c.parquet").write_bytes(b"PAR1xx")
    with pytest.raises(InputError, match="cannot be read"):
        exists(files.cell_image(tmp_path / "c.parquet", 0, "image"))


def test_few_decoded_chunks_are_kept(tmp_path):
    values = [{"bytes": png(number), "path": ""} for number in range(30)]
    store = cell_files.CellFile(cell_table(tmp_path / "test.parquet", values, row_group_size=2))
    assert [store.image(row, "image") for row in range(30)] == [value["bytes"] for value in values]
    assert len(store._chunks) == cell_files.CHUNKS
