"""The released files that lie beside the repository: counts as their authors publish them."""

from collections import Counter
from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from benchmarks.preflight import preflight
from benchmarks.sugarcrepe import SugarCrepe
from benchmarks.table import Table
from benchmarks.valse import Valse

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
pytestmark = pytest.mark.real_data


def released(name):
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not beside the repository")
    return DATA / name


def card(name):
    with initialize_config_module("conf", version_base=None):
        conf = compose("run", [f"benchmark={name}"])
    return OmegaConf.to_container(conf.benchmark.card, resolve=True)


SUBSETS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")


@pytest.mark.parametrize(
    ("name", "folder", "counts", "total"),
    [
        ("sugarcrepe", "data", (692, 2062, 788, 1652, 1406, 666, 245), 7511),
        ("sugarcrepe_unrefined", "data_unrefined", (1789, 3967, 1703, 3124, 3177, 2305, 1413), 17478),
    ],
)
def test_sugarcrepe(name, folder, counts, total):
    root = released("sugar-crepe")
    mine = SugarCrepe(card(name), root, folder=folder)
    found = preflight(mine, mine.card.expected)
    assert dict(found.subsets) == dict(zip(SUBSETS, counts, strict=True))
    assert found.n == total
    assert found.shapes == {"1x2": total}
    assert mine.provenance.notices == found.notices == ()


def test_sugarcrepe_has_a_hole_and_shares_images():
    mine = list(SugarCrepe(card("sugarcrepe"), released("sugar-crepe/data"), subsets=["swap_obj"]))
    ids = [one.id for one in mine]
    assert "swap_obj:108" not in ids
    assert (ids[0], ids[107], ids[108], ids[-1]) == ("swap_obj:0", "swap_obj:107", "swap_obj:109", "swap_obj:245")
    assert len({one.cluster for one in mine}) == 224


def test_sugarcrepe_white_space_survives():
    mine = SugarCrepe(card("sugarcrepe"), released("sugar-crepe/data"))
    outer = Counter(text != text.strip() and t for one in mine for t, text in enumerate(one.captions))
    assert sum(one.captions[0] != one.captions[0].strip() for one in mine) == 1074
    assert outer[1] == 0


def test_the_unrefined_files_given_for_the_refined_ones_are_noticed():
    mine = SugarCrepe(card("sugarcrepe"), released("sugar-crepe/data_unrefined"))
    assert len(mine.provenance.notices) == 7
    found = preflight(mine, mine.card.expected).subsets
    assert all(found[subset] != count for subset, count in mine.card.expected.items())


def test_compset_expects_the_papers_counts():
    # Table 2 of the paper: 16 edit types, 1,776 variations; three tiers each: 5,328.
    expected = card("compset")["expected"]
    assert len(expected) == 16
    assert sum(expected.values()) == 3 * 1776
    assert expected["swap_role"] == 3 * 45


VALSE = {"existence": 505, "plurals": 851, "counting-hard": 868, "actant-swap": 949, "foil-it": 943}


def test_valse_valid_items():
    mine = Valse(card("valse"), released("VALSE"))
    found = preflight(mine, mine.card.expected)
    assert dict(found.subsets) == VALSE
    assert found.notices == ()
    assert found.n_identical == 0
    # 534 + 1,000 + 1,000 + 1,042 + 1,000 = 4,576 released, 4,116 valid
    assert mine.provenance.notices[0].startswith("460 items are left out")
    assert mine.provenance.absent == (
        "counting-small-quant",
        "counting-adversarial",
        "relations",
        "action-replacement",
        "coreference-standard",
        "coreference-hard",
    )


def test_valse_with_all_items_has_foils_that_equal_their_caption():
    with initialize_config_module("conf", version_base=None):
        sizes = OmegaConf.to_container(compose("run", ["benchmark=valse"]).benchmark.released)
    mine = Valse(card("valse"), released("VALSE/data"), valid_only=False, released=sizes)
    found = preflight(mine, mine.card.expected)
    assert found.n == 4576
    assert found.n_identical == 14 + 9 + 1
    assert len(found.notices) == 1


def test_a_published_tab_separated_csv_reads_as_a_table():
    root = released("improving-compositionality-in-multimodal-models")
    (path,) = root.glob("*.csv")
    with pytest.raises(Exception, match=r"line \d+, field 'shuffle_noun_and_adjectives'") as caught:
        Table(card("table"), path, caption="original_caption", foil="shuffle_noun_and_adjectives")
    assert "empty text" in str(caught.value)
    # 38 of its 5,000 word shuffles equal the caption; 5 cells are empty, so the file is refused until they are mended.


def test_curated_pairs_read_as_a_square():
    root = released("MCC225-Winoground-v3/data/curated")
    mine = Table(
        card("table"),
        root / "examples.jsonl",
        caption="caption_0",
        foil="caption_1",
        image="image_0",
        image_foil="image_1",
        subset="tag",
    )
    found = preflight(mine)
    assert (found.n, found.shapes, dict(found.subsets)) == (16, {"2x2": 16}, {"relation": 8, "object": 8})
