"""One look at every instance: ids, counts, content digest, identical texts, images."""

import dataclasses
import math

import numpy as np
import pytest

from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.preflight import missing_images, preflight
from benchmarks.schema import Instance


def make(name="a", captions=("x", "y"), gold=((True, False),), images=None, **fields):
    refs = images or tuple(ImageRef(f"{name}{i}.png") for i in range(len(gold)))
    return Instance(name, refs, tuple(captions), np.array(gold), **fields)


def test_counts():
    found = preflight(
        [
            make("a", subset="s", cluster="k"),
            make("b", subset="t", cluster="k"),
            make("c", ("x", "y", "z"), ((1, 0, 0),)),
        ]
    )
    assert (found.n, found.n_clusters) == (3, 2)
    assert found.subsets == {"s": 1, "t": 1, "": 1}
    assert found.shapes == {"1x2": 2, "1x3": 1}
    assert found.notices == ()


def test_counts_against_the_card():
    found = preflight([make("a", subset="s"), make("b", subset="new")], {"s": 2, "gone": 1})
    assert found.notices == ("The card does not know the subset 'new' (1 instance).",)


def test_an_id_that_stands_twice_names_both():
    with pytest.raises(InputError) as caught:
        preflight([make("a"), make("b"), make("a")])
    assert "instances number 1 and 3" in str(caught.value)


@pytest.mark.parametrize("subset", ["all", "macro"])
def test_reserved_subset_names(subset):
    with pytest.raises(InputError, match=subset):
        preflight([make("a", subset=subset)])


def test_no_instances():
    with pytest.raises(InputError, match="no instances"):
        preflight([])


BASE = make("a", query="q", images=(ImageRef("k", box=(0, 0, 1, 1)),))
CHANGES = [
    {"id": "b"},
    {"captions": ("x", "z")},
    {"captions": ("xy", "")},
    {"gold": np.array([[False, True]])},
    {"query": ""},
    {"images": (ImageRef("l", box=(0, 0, 1, 1)),)},
    {"images": (ImageRef("k", box=(0, 0, 1, 2)),)},
    {"images": (ImageRef("k"),)},
]


@pytest.mark.parametrize("change", CHANGES)
def test_the_digest_sees_every_part_of_the_content(change):
    assert preflight([dataclasses.replace(BASE, **change)]).digest != preflight([BASE]).digest


def test_the_digest_sees_the_order_and_only_the_content():
    a, b = make("a"), make("b")
    assert preflight([a, b]).digest != preflight([b, a]).digest
    assert preflight([dataclasses.replace(a, tags={"t": "v"}, subset="s")]).digest == preflight([a]).digest


def test_identical_texts():
    same = make("a", ("x", "x"))
    square = make("b", ("x", "x"), ((True, False), (False, True)))
    positives = make("c", ("x", "x", "y"), ((True, True, False),))
    recorded = make("d", (None, None))
    found = preflight([same, square, positives, recorded])
    assert found.identical == ("a", "b")
    assert found.n_identical == 2
    assert found.notices == ("2 instances have a foil identical to the caption: they can only tie (a, b).",)
    (told,) = preflight([same, positives]).notices
    assert told == "1 instance has a foil identical to the caption: it can only tie (a)."


def test_missing_images(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    there, gone = ImageRef("a.png", tmp_path / "a.png"), ImageRef("b.png", tmp_path / "b.png")
    rows = [
        make("1", images=(there,)),
        make("2", images=(gone,)),
        make("3", gold=((True, False), (False, True)), images=(there, gone)),
        make("4", images=(ImageRef.absent(),)),
        make("5", images=(ImageRef("c", data=b"x"),)),
    ]
    found = missing_images(rows)
    assert (found.present, found.expected, found.missing) == (2, 5, ("2", "3", "4"))
    assert found.keys == ("b.png", "")
    assert found.share == 0.4
    assert math.isnan(missing_images([]).share)


def test_a_quarter_million_pairs_need_little_memory():
    import tracemalloc

    rows = (make(f"subset:{number}", cluster=str(number // 3)) for number in range(4_000))
    tracemalloc.start()
    preflight(rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 4,000 ids and 1,334 clusters of 16 bytes with their dictionary: about 200 bytes each at most.
    assert peak < 4_000 * 300
