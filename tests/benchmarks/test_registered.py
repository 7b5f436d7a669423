"""What a row of each release becomes: sides, gold, groups, clusters, images; and what its parser does not assume."""

import importlib.util
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hydra import compose, initialize_config_module
from hydra.utils import get_class
from omegaconf import OmegaConf

from benchmarks import download, files, json_lists
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.images import decode, exists
from benchmarks.preflight import missing_images, preflight

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"
EYE = [[True, False], [False, True]]


def build(name, *overrides):
    with initialize_config_module("conf", version_base=None):
        conf = compose("run", [f"benchmark={name}", *overrides])
    given = OmegaConf.to_container(conf.benchmark, resolve=True)
    options = {
        key: value for key, value in given.items() if key not in ("name", "missing", "limit", "fetch", "_target_")
    }
    return get_class(given["_target_"])(**options)


def released(name, folder):
    path = ROOT / "tests" / "contracts" / "releases" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"release_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.write(folder)


def rows(name, folder, *overrides):
    return list(build(name, *released(name, folder), *overrides))


def refused(make):
    with pytest.raises(InputError) as caught:
        list(make())
    return str(caught.value)


def test_winoground(tmp_path):
    first, second, third = rows("winoground", tmp_path)
    assert (first.id, first.subset, first.captions) == ("0", "Object", ("a cup holds shelf 0", "a shelf holds cup 0"))
    assert first.gold.tolist() == EYE
    assert dict(first.tags) == {"tag": "Noun", "num_main_preds": "1"}  # an empty secondary tag is no label
    assert [image.key for image in second.images] == ["ex_1_img_0.png", "ex_1_img_1.png"]
    assert decode(second.images[1]).image.getpixel((0, 0)) == (1, 1, 9)  # out of images.zip
    assert third.cluster == "ex_2_img_0.png"
    assert [one.id for one in build("winoground", f"benchmark.root={tmp_path}", "benchmark.subsets=[Both]")] == ["2"]


def test_winoground_as_pictures_of_the_hub(tmp_path):
    """The same fields in a parquet file: pictures are cells, the bytes of which no text baseline reads."""
    (tmp_path / "data").mkdir()
    table = {
        "id": [7],
        "caption_0": [" a b "],
        "caption_1": ["b a"],
        "image_0": [{"bytes": b"x" * 10, "path": None}],
        "image_1": [{"bytes": b"y" * 10, "path": "e.png"}],
        "tag": ["T"],
        "secondary_tag": [""],
        "num_main_preds": [1],
        "collapsed_tag": ["Both"],
    }
    pq.write_table(pa.table(table), tmp_path / "data" / "test-00000-of-00001.parquet")
    (one,) = build("winoground", f"benchmark.root={tmp_path}")
    assert one.captions == (" a b ", "b a")  # byte for byte
    assert all(exists(image) for image in one.images)
    assert [image.key for image in one.images] == ["test-00000-of-00001.parquet/0/image_0", "e.png"]


def test_an_unknown_subset_is_refused_by_place(tmp_path):
    overrides = released("winoground", tmp_path)
    path = tmp_path / "data" / "examples.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"Both"', '"Bothh"'), encoding="utf-8")
    told = refused(lambda: build("winoground", *overrides))
    for part in ("examples.jsonl", "line 3", "collapsed_tag", "did you mean Both"):
        assert part in told


def test_colorswap_counts_its_sides_from_one(tmp_path):
    first, second, _ = rows("colorswap", tmp_path)
    assert (first.id, second.id) == ("0", "7")
    assert first.captions == ("a red cup on white shelf 0", "a white cup on red shelf 0")
    assert [decode(image).image.getpixel((0, 0))[1] for image in first.images] == [0, 1]


def test_coco_counterfactuals_of_one_caption_share_a_cluster(tmp_path):
    found = rows("coco_counterfactuals", tmp_path)
    assert [one.cluster for one in found] == ["900001", "900001", "900002"]
    assert missing_images(found).share == 1.0


def test_bivlc_is_read_without_its_pictures(tmp_path):
    found = rows("bivlc", tmp_path)
    assert [one.id for one in found] == ["0", "1", "2", "3"]
    assert [one.subset for one in found] == ["replace", "add", "swap", "replace"]
    assert [one.cluster for one in found] == [f"{number:012d}.jpg" for number in (0, 0, 1, 1)]
    assert [decode(image).image.getpixel((0, 0)) for image in found[3].images] == [(3, 0, 9), (3, 1, 9)]
    assert dict(found[1].tags) == {"subtype": "att"}


def test_naturalbench_questions(tmp_path):
    first, second, third, fourth = rows("naturalbench", tmp_path)
    assert (first.query, first.captions) == ("Is cup 0 on the shelf?", ("Yes", "No"))
    assert first.gold.tolist() == EYE
    assert second.gold.tolist() == EYE[::-1]  # No for image 0, Yes for image 1: read, not assumed
    assert third.captions == fourth.captions == ("A", "B")
    assert [one.group for one in (first, second, third, fourth)] == ["0", "0", "1", "1"]
    assert decode(fourth.images[1]).image.getpixel((0, 0)) == (1, 1, 9)


def test_colorbench_as_questions(tmp_path):
    found = rows("colorbench", tmp_path)
    assert len(found) == 6  # the row of another task is none
    assert found[0].gold.tolist() == [[False, True, False]]
    assert [one.group for one in found] == ["How many cups are in picture 0?"] * 3 + [
        "How many cups are in picture 1?"
    ] * 3
    assert "(C)" not in refused(lambda: build("colorbench", f"benchmark.root={tmp_path}", "benchmark.task=Colour"))


def test_colorbench_as_images(tmp_path):
    found = rows("colorbench_t2i", tmp_path)
    assert [one.id for one in found] == ["1", "2", "4", "5"]
    assert found[1].gold.tolist() == [[True], [False]]
    assert [image.key for image in found[1].images] == ["0", "2"]
    assert [one.group for one in found] == ["0", "0", "3", "3"]


def test_spec_in_both_directions(tmp_path):
    forward = rows("spec_i2t", tmp_path)
    assert [one.shape for one in forward[:6]] == [(1, 2), (1, 2), (1, 3), (1, 3), (1, 3), (1, 4)]
    assert forward[3].gold.tolist() == [[False, True, False]]
    assert forward[3].images[0].path == tmp_path / "relative_size" / "images" / "1.jpg"
    backward = list(build("spec_t2i", f"benchmark.root={tmp_path}"))
    assert backward[3].gold.tolist() == [[False], [True], [False]]
    assert backward[3].captions == ("cup number 1 (relative_size)",)
    assert {one.subset for one in build("spec_t2i", f"benchmark.root={tmp_path}", "benchmark.subsets=count")} == {
        "count"
    }
    (tmp_path / "count" / "text2image.json").unlink()
    with pytest.raises(NotAvailableError):
        build("spec_t2i", f"benchmark.root={tmp_path}")


def test_svo_probes_leave_out_and_count_ambiguous_rows(tmp_path):
    mine = build("svo_probes", *released("svo_probes", tmp_path))
    found = list(mine)
    assert [(one.id, one.subset) for one in found] == [("0", "subj_neg"), ("1", "verb_neg"), ("2", "obj_neg")]
    assert found[1].gold.tolist() == [[True], [False]]
    assert [image.key for image in found[1].images] == ["1.jpg", "101.jpg"]
    assert found[0].captions == ("A cup, number 0, stands.",)
    assert mine.provenance.notices == (
        "1 row is left out, whose flags name no role or several, as in the official notebook.",
    )
    assert missing_images(found).present == 0


def test_mmvp_pairs(tmp_path):
    first, second, third = rows("mmvp_vlm", tmp_path)
    assert (first.id, first.group, first.captions) == ("1", "1", ("a cup facing left", "a cup facing right"))
    assert second.captions == ("a sign that says one, two", "a sign that says two, one")
    assert third.subset == "Structural Characteristics"
    assert third.images[0].key == "Structural and Physical Characteristics/5.jpg"  # folders are named as in the file


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("1,Texts,a",), "the end"),
        (("2,Texts,a", "3,Texts,b"), "2 and 3"),
        (("1,Texts,a", "3,Texts,b"), "1 and 3"),
        (("1,Texts,a", "2,Quantity and Count,b"), "two patterns"),
        (("1,Text,a", "2,Text,b"), "did you mean Texts"),
        (("one,Texts,a",), "question id"),
    ],
)
def test_what_is_no_pair_of_mmvp(tmp_path, lines, said):
    text = "\n".join(["Question ID,Type,Statement", *lines])
    (tmp_path / "Questions.csv").write_text(text, encoding="utf-8")
    told = refused(lambda: build("mmvp_vlm", f"benchmark.root={tmp_path}"))
    assert said in told
    assert "Questions.csv, line" in told


def test_eqben(tmp_path):
    first, second, third = rows("eqben", tmp_path)
    assert (first.id, first.cluster, second.cluster, third.cluster) == (
        "eqbenag:0", "eqbenag/video0", "eqbenag/video0", "eqbensd/video1",
    )  # fmt: skip
    assert first.gold.tolist() == EYE
    jpg = list(build("eqben", f"benchmark.root={tmp_path}", "benchmark.suffix=.jpg"))
    assert jpg[0].images[0].path == tmp_path / "eqbenag" / "video0" / "0_0.jpg"


def test_eqben_nested_videos(tmp_path):
    pair = {"image0": "eqbenag/v/0.png", "image1": "eqbenag/v/1.png", "caption0": ["a", "z"], "caption1": ["b"]}
    path = tmp_path / "eqben_subset_10percent_final.json"
    path.write_text(json.dumps({"v": {"man": [pair, pair], "cup": [pair]}}), encoding="utf-8")
    found = list(build("eqben", f"benchmark.root={tmp_path}"))
    assert [one.id for one in found] == ["eqbenag:v/man/0", "eqbenag:v/man/1", "eqbenag:v/cup/0"]
    assert found[0].captions == ("a", "b")
    path.write_text(json.dumps({"v": {"man": [pair, pair | {"caption1": []}]}}), encoding="utf-8")
    told = refused(lambda: build("eqben", f"benchmark.root={tmp_path}"))
    assert "'v/man'" in told
    assert "item 2" in told
    assert "caption1" in told


def test_eqben_flat_annotation_is_resolved_by_its_index_and_checked(tmp_path):
    overrides = released("eqben_flat", tmp_path)
    found = list(build("eqben_flat", *overrides))
    assert [one.id for one in found] == ["eqbensd:0", "eqbensd:1", "eqbensd:2"]
    assert found[2].captions == ("cup 2 stands", "cup 2 falls")
    assert [image.key for image in found[2].images] == ["eqbensd/2_0.png", "eqbensd/2_1.png"]
    index = json.loads((tmp_path / "index.json").read_text(encoding="utf-8"))
    index[1] = [index[1][0], index[2][1], *index[1][2:]]
    (tmp_path / "index.json").write_text(json.dumps(index), encoding="utf-8")
    assert "index.json, row 2" in refused(lambda: build("eqben_flat", *overrides))
    without = [text for text in overrides if "index" not in text]
    assert "benchmark.index" in refused(lambda: build("eqben_flat", *without))


def test_countercurate_position_takes_the_authors_folders_off(tmp_path):
    found = rows("countercurate_position", tmp_path)
    assert [one.id for one in found] == ["left_right:0", "left_right:1", "up_down:0", "up_down:1"]
    assert [image.key for image in found[0].images] == [
        "train_data/left_right/pos/1001.jpg",
        "train_data/left_right/neg/1001.jpg",
    ]
    assert found[0].cluster == found[2].cluster == "1001"


def test_countercurate_attributes_without_what_does_not_exist(tmp_path):
    found = rows("countercurate_attributes", tmp_path, f"paths.flickr30k={tmp_path}")
    assert [one.id for one in found] == ["noun:0", "noun:1", "adj:0", "rev:0", "rev:1"]
    assert [image.key for image in found[0].images] == ["1.jpg", "train_data/dalle_gen_counterfactuals/1_noun.jpg"]


def test_countercurate_counting(tmp_path):
    first, second, third = rows("countercurate_counting", tmp_path)
    assert first.captions == ("there are 3 cups in the image.", "there are 4 cups in the image.")
    assert second.captions == ("there are 2 plates in the image.", "there are 3 plates in the image.")
    assert (first.cluster, second.cluster, third.cluster) == ("2400001", "2400001", "2400002")
    assert third.gold.tolist() == [[True, False]]


def test_cola_pairs_that_share_an_image_are_one_cluster(tmp_path):
    first, second, third = rows("cola", tmp_path)
    # Pairs (1, 2), (3, 4), (2, 5): the first and the third share image 2.
    assert first.cluster == third.cluster != second.cluster
    assert first.captions == ("red cup 0 on white shelf", "white cup 0 on red shelf")
    assert len({image.path for one in (first, second, third) for image in one.images}) == 5
    assert first.images[0].path.parent == tmp_path / "images" / "cola"


@pytest.mark.parametrize(("name", "count"), [("cola", 5), ("svo_probes", 8)])
def test_images_are_fetched_on_request_only_and_never_over_the_users_own(tmp_path, monkeypatch, name, count):
    overrides, asked = released(name, tmp_path), []
    monkeypatch.setattr(download, "images", lambda wanted: asked.append(dict(wanted)) or ())
    build(name, *overrides).prepare_images()
    own = f"benchmark.images={tmp_path}"
    build(name, *overrides, "benchmark.fetch_images=true", own).prepare_images()
    assert asked == []
    mine = build(name, *overrides, "benchmark.fetch_images=true")
    assert asked == []
    mine.prepare_images()
    (wanted,) = asked
    assert len(wanted) == count
    # What is fetched is what the instances refer to.
    assert {image.path for one in mine for image in one.images} <= set(wanted.values())


def test_cola_images_of_the_users_own(tmp_path):
    own = tmp_path / "own" / "VG_100K"
    own.mkdir(parents=True)
    (own / "3.jpg").write_bytes(b"x")
    found = rows("cola", tmp_path, f"paths.visual_genome={tmp_path / 'own'}")
    assert [exists(image) for image in found[1].images] == [True, False]


def test_cola_single_objects_by_class(tmp_path):
    found = rows("cola_single", tmp_path)
    # Class 0: all three images are hard, the first holds it. Class 1: two are hard, the second holds it. Class 2: none.
    assert [(one.id, one.shape) for one in found] == [
        ("GQA:0", (3, 1)), ("GQA:1", (2, 1)), ("PACO:0", (3, 1)), ("PACO:1", (2, 1)),
    ]  # fmt: skip
    assert found[0].gold.tolist() == [[True], [False], [False]]
    assert found[1].gold.tolist() == [[False], [True]]
    assert found[1].captions == ("white shelf",)
    assert build("cola_single", f"benchmark.root={tmp_path}").provenance.absent == (
        "COLA_singleobjects_benchmark_CLEVR.json",
    )


def test_wrong_options_are_refused(tmp_path):
    overrides = released("winoground", tmp_path)
    assert "did you mean caption_0" in refused(lambda: build("winoground", *overrides, "+benchmark.fields.captin_0=x"))
    assert "true or false" in refused(lambda: build("winoground", *overrides, "benchmark.fetch_images=yes please"))
    (tmp_path / "s").mkdir()
    released("spec_i2t", tmp_path / "s")
    assert "direction" in refused(
        lambda: build("spec_i2t", f"benchmark.root={tmp_path / 's'}", "benchmark.direction=up")
    )


def big(path, pairs):
    with path.open("w", encoding="utf-8") as stream:
        stream.write("[")
        for number in range(pairs):
            row = {
                "image0": f"eqbenag/video{number // 50}/{number}_0.png",
                "image1": f"eqbenag/video{number // 50}/{number}_1.png",
                "caption0": f"the person stands by table number {number}",
                "caption1": f"the person sits by table number {number}",
            }
            stream.write(("," if number else "") + json.dumps(row))
        stream.write("]")


@pytest.mark.slow
def test_a_large_release_is_read_as_a_stream(tmp_path):
    big(tmp_path / "eqben_subset_10percent_final.json", 20_000)  # 4 MB of text
    mine = build("eqben", f"benchmark.root={tmp_path}")
    next(iter(mine))
    tracemalloc.start()
    assert sum(1 for _ in mine) == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A chunk of text and its copies, not 20,000 rows (about 20 MB as objects).
    assert peak < 12e6


JSON = [
    "[]",
    '[1, 2.5, "x", null, true, {"a": [1]}]',
    ' [ {"a": "]"} , [[]] ] ',
    '["\\u00e9\\ud83d\\ude00", "é😀"]',
    "[12345]",
]


@pytest.mark.parametrize("text", JSON)
@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
def test_a_streamed_list_is_what_the_whole_file_says(tmp_path, text, chunk, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", chunk)
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    assert [value for _, value in json_lists.stream_list(path)] == json.loads(text)
    path.write_text("\ufeff" + text, encoding="utf-8")
    assert [value for _, value in json_lists.stream_list(path)] == json.loads(text)


@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[1 2]",
        "[1]x",
        "{}",
        "3",
        '["a]',
        "[NaN]",
        "[1e999]",
        '[{"a":1,"a":2}]',
        "[tru]",
        "]",
    ],
)
def test_a_broken_list_is_refused_by_name(tmp_path, text, chunk, monkeypatch):
    monkeypatch.setattr(files, "CHUNK", chunk)
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    assert "a.json" in refused(lambda: json_lists.stream_list(path))


@pytest.mark.real_data
def test_cola_as_released():
    if not (DATA / "COLA").is_dir():
        pytest.skip("COLA is not beside the repository")
    mine = build("cola", f"benchmark.root={DATA / 'COLA'}")
    found = preflight(mine, mine.card.expected)
    assert (found.n, found.shapes) == (210, {"2x2": 210})
    keys = [image.key for one in mine for image in one.images]
    assert len(set(keys)) == 218
    # Linked pairs share a cluster: an image never lies in two.
    by_image = {}
    for one in mine:
        for image in one.images:
            assert by_image.setdefault(image.key, one.cluster) == one.cluster
    same = sum(sorted(one.captions[0].lower().split()) == sorted(one.captions[1].lower().split()) for one in mine)
    assert same == 10


@pytest.mark.real_data
def test_curated_pairs_with_their_images():
    if not (DATA / "MCC225-Winoground-v3").is_dir():
        pytest.skip("MCC225-Winoground-v3 is not beside the repository")
    mine = build("winoground_style", f"benchmark.root={DATA / 'MCC225-Winoground-v3/data/curated'}")
    assert missing_images(mine).share == 1.0
    pictures = {(one.id, side): decode(image).image for one in mine for side, image in enumerate(one.images)}
    assert {image.size for image in pictures.values()} == {(224, 224)}
    assert np.array_equal(pictures["lr_circle_square", 0], pictures["bind_circle_square_red_blue", 0])
    assert mine.provenance.notices == ()
