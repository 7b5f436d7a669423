"""The released files of the caption benchmarks that lie beside the repository: counts and oddities as known."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from hydra.utils import instantiate
from omegaconf import OmegaConf

from benchmarks import shuffles
from benchmarks.preflight import preflight

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FLICKR = "improving-compositionality-in-multimodal-models"
KARPATHY = "Enhance-FineGrained/vision-language-models-are-bows"
RUNNER = ("name", "missing", "limit")
pytestmark = pytest.mark.real_data


def build(name, root, *overrides):
    if not (DATA / root).exists():
        pytest.skip(f"{root} is not beside the repository")
    with initialize_config_module("conf", version_base=None):
        conf = compose("run", [f"benchmark={name}", f"benchmark.root={DATA / root}", *overrides])
    given = OmegaConf.to_container(conf.benchmark, resolve=True)
    return instantiate({key: value for key, value in given.items() if key not in RUNNER}, _convert_="all")


@pytest.mark.parametrize(
    ("name", "root", "shapes", "clusters", "identical"),
    [
        ("sugarcrepe_pp", "scpp", {"1x3": 4757}, 1542, 2),
        ("sugarcrepe_pp_tot", "scpp", {"1x2": 9514}, 1542, 2),
        ("whatsup_a", "AdaptVis", {"1x4": 412}, 103, 0),
        ("aro_flickr30k_order", FLICKR, {"1x2": 28, "1x3": 58, "1x4": 4914}, 1000, 0),
    ],
)
def test_counts(name, root, shapes, clusters, identical):
    mine = build(name, root)
    found = preflight(mine, mine.card.expected)
    assert dict(found.subsets) == dict(mine.card.expected)
    assert dict(found.shapes) == shapes
    assert (found.n_clusters, found.n_identical) == (clusters, identical)
    assert not any("SHA-256" in notice for notice in mine.provenance.notices)


def test_vl_checklist():
    mine = build("vl_checklist", "VL-CheckList")
    found = preflight(mine)
    known = {"Attribute/vg/action": 1892, "Attribute/vg/material": 2470, "Attribute/vg/size": 2695}
    known |= {"Attribute/vg/state": 941, "Object/Location/swig_location/swig_destination/swig_destination_margin": 45}
    size = "Object/Size/swig_size/swig_destination/swig_destination"
    assert dict(found.subsets) == known | {f"{size}_medium": 109, f"{size}_small": 9}
    # 3, 0, 7 and 4 items of the four Attribute files have one text on both sides.
    assert (found.n, found.n_identical) == (8161, 14)
    assert len(mine.provenance.files) == 10


def test_whatsup_as_questions_has_whole_sets():
    mine = list(build("whatsup_a", "AdaptVis"))
    relations = {}
    for one in mine:
        relations.setdefault(one.group, []).append(one.tags["relation"])
    assert len(relations) == 103
    assert all(sorted(found) == ["left", "on", "right", "under"] for found in relations.values())


def test_whatsup_coco_qa_as_questions():
    mine = build("whatsup_coco_qa", "AdaptVis")
    rows = list(mine)
    right = Counter(one.captions[int(one.gold.argmax())] for one in rows)
    assert right == {"left": 150, "right": 129, "above": 86, "below": 75}
    assert mine.provenance.absent == ("coco_qa_one_obj.json", "coco_qa_two_obj.json")


def test_the_stored_flickr_build():
    mine = build("aro_flickr30k_order", FLICKR)
    rows = list(mine)
    assert mine.provenance.notices == (
        "114 shuffles are empty cells and no options; 0 rows have no other and are left out.",
    )
    # White space kept as released: the right caption often ends in a blank, a shuffle never does.
    assert sum(one.captions[0].endswith(" ") for one in rows) == 4733
    assert not any(text.endswith(" ") for one in rows for text in one.captions[1:])
    same = [sum(text == one.captions[0].strip() for text in one.captions[1:]) for one in rows]
    assert sum(same) == 639 + 405 + 38


def test_coco_order_from_the_karpathy_file():
    mine = build("aro_coco_order", KARPATHY)
    found = preflight(mine, mine.card.expected)
    assert (found.n, dict(found.shapes), found.n_clusters) == (25010, {"1x5": 25010}, 5000)
    same = [0] * 4
    for one in mine:
        for place, text in enumerate(one.captions[1:]):
            same[place] += text == one.captions[0]
    assert same == [2874, 247, 114, 2103]


def test_the_words_that_a_released_build_moved_are_nouns_and_adjectives_by_our_rule():
    path = DATA / FLICKR / "flickr_order_neg.csv"
    if not path.exists():
        pytest.skip(f"{FLICKR} is not beside the repository")
    moved = named = 0
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            before, after = row["original_caption"].split(), row["shuffle_noun_and_adjectives"].split()
            if len(before) != len(after):
                continue
            for first, second, kind in zip(before, after, shuffles.nominal(before), strict=True):
                moved += first != second
                named += first != second and bool(kind)
    assert moved == 15473
    assert named / moved == pytest.approx(0.963, abs=0.001)
