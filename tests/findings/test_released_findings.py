"""What the released files are known to hold, counted independently of the code here."""

import ast
import csv
import json
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from benchmarks.sources import card
from benchmarks.sugarcrepe import SugarCrepe

TOP = Path(__file__).resolve().parents[2]
DATA = TOP.parent / "shared" / "data"
pytestmark = [
    pytest.mark.real_data,
    pytest.mark.skipif(not DATA.is_dir(), reason="the released files are not beside the project"),
]


@pytest.fixture(scope="module")
def sugarcrepe(look):
    conf = OmegaConf.load(TOP / "conf" / "benchmark" / "sugarcrepe.yaml")
    root = DATA / "sugar-crepe" / "data"
    return look(SugarCrepe(card=card(OmegaConf.to_container(conf.card)), root=root), shown=10_000)


def both(finding):
    return finding.values["positives"], finding.values["foils"]


def test_format_of_sugarcrepe(sugarcrepe):
    [blanks], [stop] = sugarcrepe["outer_white_space"], sugarcrepe["final_stop"]
    assert both(blanks) == (1074, 0)
    assert len(blanks.instances) == 1074
    assert both(stop) == (6105, 7489)
    assert stop.sentence.startswith("In 6,105 of 7,511 positives and 7,489 of 7,511 foils ")
    # 96 + 410 + 132 + 369 + 266 + 80 + 31: whether the sides of a pair end with a stop differs (raw or stripped)
    raw = json.loads((DATA / "sugar-crepe" / "data" / "add_att.json").read_text(encoding="utf-8"))
    differ = sum(
        row["caption"].rstrip().endswith(".") != row["negative_caption"].rstrip().endswith(".") for row in raw.values()
    )
    assert sum(name.startswith("add_att:") for name in stop.instances) == differ


def test_length_of_sugarcrepe(sugarcrepe):
    by_subset = {one.subset: one.values for one in sugarcrepe["length_difference"]}
    fewer = {name: values["positive_has_fewer_words"] for name, values in by_subset.items()}
    assert (round(fewer["add_att"], 4), round(fewer["add_obj"], 4)) == (0.9913, 0.9867)
    rest = [value for name, value in fewer.items() if not name.startswith("add")]
    assert (round(min(rest), 4), round(max(rest), 4)) == (0.4437, 0.5448)
    size = {name: values["instances"] for name, values in by_subset.items()}
    micro = [
        sum(values[key] * size[name] for name, values in by_subset.items()) / 7511
        for key in ("positive_has_fewer_words", "positive_has_fewer_characters")
    ]
    assert [round(value, 4) for value in micro] == [0.6736, 0.7123]


def test_no_copies_and_no_long_captions_in_sugarcrepe(sugarcrepe):
    absent = {"identical_captions", "repeated_options", "contradictory_captions", "cut_at_77_tokens", "empty_captions"}
    assert not absent & set(sugarcrepe)
    [captions] = sugarcrepe["repeated_captions"]
    assert captions.values["distinct"] == 11_844
    # Within one subset nothing repeats; the same triple stands in two subsets six times.
    seen = {}
    for path in sorted((DATA / "sugar-crepe" / "data").glob("*.json")):
        rows = json.loads(path.read_text(encoding="utf-8")).values()
        triples = [(row["filename"], row["caption"], row["negative_caption"]) for row in rows]
        assert len(set(triples)) == len(triples)
        for triple in triples:
            seen[triple] = seen.get(triple, 0) + 1
    assert sugarcrepe["repeated_instances"][0].values["repeats"] == sum(seen.values()) - len(seen)


def scpp(name):
    rows = json.loads((DATA / "scpp" / "data" / f"{name}.json").read_text(encoding="utf-8"))
    for row in rows:
        captions = (row["caption"], row["caption2"], row["negative_caption"])
        gold = np.array([[True, True, False]])
        yield Instance(f"{name}:{row['id']}", (ImageRef(row["filename"]),), captions, gold, subset=name)


def test_a12_oddities_of_sugarcrepe_pp(look):
    swap = look(scpp("swap_obj"))
    assert swap["identical_captions"][0].instances == ("swap_obj:2", "swap_obj:8")
    [repeated] = look(scpp("replace_att"))["repeated_options"]
    assert "replace_att:14" in repeated.instances
    assert repeated.values["exact"] == 1
    [nearly] = look(scpp("replace_rel"))["repeated_options"]
    assert "replace_rel:369" in nearly.instances
    assert nearly.values["exact"] == 0
    [twice] = look(scpp("swap_att"))["repeated_instances"]
    assert twice.values["repeats"] == 1
    assert len(twice.instances) == 2


def test_negatives_that_equal_the_caption_up_to_case(look):
    path = DATA / "vision-language-models-are-bows" / "temp_data" / "valid_neg_clip.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    instances = []
    for place, row in enumerate(rows):
        captions = (row["title"], *ast.literal_eval(row["neg_caption"]))
        gold = np.array([[True] + [False] * (len(captions) - 1)])
        instances.append(Instance(str(place), (ImageRef(row["filepath"]),), captions, gold))
    found = look(instances, shown=10_000)
    # The foils are tokenised ("tree ."), the captions are not.
    positives, foils = both(found["blank_before_stop"][0])
    assert foils > 10 * positives
    same = {one.id for one in instances if any(one.captions[0].lower() == foil.lower() for foil in one.captions[1:])}
    listed = {
        name
        for kind in ("same_words_in_order", "identical_captions")
        for one in found.get(kind, ())
        for name in one.instances
    }
    assert same
    assert same <= listed
