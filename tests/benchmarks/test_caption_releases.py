"""The benchmarks that choose a caption: each row as documented, each oddity as stated, each refusal by file and row."""

import json
import random
from collections import Counter

import numpy as np
import pytest
import torch

from benchmarks import shuffles
from benchmarks.aro import AroVisualGenome
from benchmarks.bla import Bla
from benchmarks.cc_neg import CcNeg
from benchmarks.colorfoil import COMMON, ColorFoil, foiled
from benchmarks.crepe import Crepe
from benchmarks.cs_clip import CsClip, Slot, substitute
from benchmarks.errors import InputError
from benchmarks.gqa_two_choice import GqaTwoChoice
from benchmarks.images import Box
from benchmarks.order import AroOrder
from benchmarks.sugarcrepe_pp import SugarCrepePlus
from benchmarks.vl_checklist import VlChecklist
from benchmarks.whatsup import WhatsUp, WhatsUpPairs, WhatsUpQa

CARD = {
    **{
        "title": "x",
        "paper": "",
        "homepage": "",
        "licence": "",
        "shape": "",
        "primary": "accuracy",
        "how_to_get": "Get it.",
    },
    "expected": {},
}


def card(**expected):
    return CARD | {"expected": expected}


def put(folder, name, value):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text(text, encoding="utf-8")
    return folder


def refused(make):
    with pytest.raises(InputError) as caught:
        list(make())
    return str(caught.value)


RELATION = {
    **{"image_path": "9.jpg", "bbox_x": 12, "bbox_y": 40.4, "bbox_w": 210, "bbox_h": 160.2, "relation_name": "on"},
    **{"true_caption": "the cup is on the shelf", "false_caption": "the shelf is on the cup"},
}
ATTRIBUTION = {
    **{"image_path": "9.jpg", "bbox_x": 0, "bbox_y": 5, "bbox_w": 300, "bbox_h": 200, "attributes": ["red", "old"]},
    **{"true_caption": "the red door and the old bench", "false_caption": "the old door and the red bench"},
}


def aro(folder, *, label="relation_name", **options):
    return AroVisualGenome(card(), folder, annotations="r.json", label=label, subset="relation", **options)


def test_aro_is_cut_to_its_box_rounded_as_a_crop_is(tmp_path):
    put(tmp_path, "r.json", [RELATION, RELATION])
    first, second = aro(tmp_path)
    # 40.4 is cut at 40, and 40.4 + 160.2 = 200.6 at 201.
    assert first.images[0].box == Box(12, 40, 222, 201)
    assert first.captions == ("the cup is on the shelf", "the shelf is on the cup")
    assert (first.id, second.id, first.cluster, dict(first.tags)) == ("0", "1", "9.jpg", {"relation": "on"})
    assert aro(tmp_path, crop=False).__iter__().__next__().images[0].box is None


def test_aro_joins_the_two_attributes_as_upstream_does(tmp_path):
    put(tmp_path, "r.json", [ATTRIBUTION])
    (one,) = aro(tmp_path, label="attributes")
    assert dict(one.tags) == {"attributes": "red_old"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"bbox_w": 0}, "bbox_w"),
        ({"bbox_x": "a"}, "bbox_x"),
        ({"bbox_y": None}, "bbox_y"),
        ({"bbox_h": True}, "bbox_h"),
        ({"relation_name": ""}, "relation_name"),
        ({"image_path": "../9.jpg"}, "image_path"),
        ({"false_caption": 3}, "false_caption"),
    ],
)
def test_a_broken_row_of_aro(tmp_path, change, field):
    put(tmp_path, "r.json", [RELATION, RELATION | change])
    told = refused(lambda: aro(tmp_path))
    assert "r.json" in told
    assert "row 2" in told
    assert field in told


def test_an_unknown_label_of_aro():
    with pytest.raises(InputError, match="relation_name, attributes"):
        aro(".", label="relation")


def crepe(folder, **options):
    return Crepe(card(), folder, files_by_subset={"a": "a.csv:foils", "b": "b.csv:foils"}, folder="x", **options)


def test_crepe_has_as_many_options_as_the_row(tmp_path):
    rows = 'image_id,x,y,width,height,caption,foils\n7,1,2,3,4,cup on shelf,"[\'cup on table\', ""cup\'s shelf""]"\n'
    put(tmp_path, "a.csv", rows + "8,1,2,3,4,5,\"['six']\"\n")
    mine = crepe(tmp_path, tags={"a": {"negatives": "atom"}})
    first, second = mine
    assert first.captions == ("cup on shelf", "cup on table", "cup's shelf")
    assert second.captions == ("5", "six")
    assert first.images[0].box == Box(1, 2, 4, 6)
    assert (first.cluster, dict(first.tags), mine.provenance.absent) == ("7.jpg", {"negatives": "atom"}, ("b.csv",))


@pytest.mark.parametrize("cell", ["[]", "cup", "['a', 3]", "[''", "__import__('os')"])
def test_a_cell_that_is_no_list_of_texts_is_refused(tmp_path, cell):
    put(tmp_path, "a.csv", f'image_id,x,y,width,height,caption,foils\n7,1,2,3,4,cup,"{cell}"\n')
    assert "field 'foils'" in refused(lambda: crepe(tmp_path))


def test_both_readings_of_sugarcrepe_pp(tmp_path):
    texts = {"caption": "a", "caption2": "b ", "negative_caption": "c"}
    put(tmp_path, "s.json", [{"id": 4, "filename": "1.jpg"} | texts])
    (itt,) = SugarCrepePlus(card(s=1), tmp_path)
    assert itt.captions == ("a", "b ", "c")
    assert itt.gold.tolist() == [[True, True, False]]
    first, second = SugarCrepePlus(card(s=2), tmp_path, reading="tot")
    assert (first.query, first.captions, second.query, second.captions) == ("a", ("b ", "c"), "b ", ("a", "c"))
    assert first.group == second.group == "s:4"
    assert first.images[0].is_absent
    assert first.gold.tolist() == [[True, False]]


def test_vl_checklist_takes_the_first_of_each_and_its_sources_images(tmp_path):
    row = ["VG_100K/1.jpg", {"POS": ["red cup", "scarlet cup"], "NEG": ["green cup"]}]
    put(tmp_path, "data/Attribute/vaw/color.json", [row])
    put(tmp_path, "data/Object/swig_size/x.json", [])
    (tmp_path / "pictures").mkdir()
    sets = {"Attribute": ["vaw/color"], "Object": ["swig_size/x", "vg/y"]}
    mine = VlChecklist(card(), tmp_path, sets=sets, images={"vaw": tmp_path / "pictures"})
    (one,) = mine
    assert one.captions == ("red cup", "green cup")
    assert one.images[0].path == tmp_path / "pictures"
    assert dict(one.tags) == {"aspect": "Attribute", "source": "vaw"}
    assert mine.provenance.absent == ("Object/vg/y.json",)


@pytest.mark.parametrize("row", [["1.jpg"], ["1.jpg", {"POS": [], "NEG": ["a"]}], ["1.jpg", {"POS": "a"}], [3, {}]])
def test_a_broken_row_of_vl_checklist(tmp_path, row):
    put(tmp_path, "data/Attribute/vg/a.json", [row])
    told = refused(lambda: VlChecklist(card(), tmp_path, sets={"Attribute": ["vg/a"]}))
    assert "a.json, row 1" in told


def test_a_colour_is_replaced_wherever_it_stands():
    # One colour becomes one other of the ten, in every place, inside words too.
    made = {foiled("a red cup covered in red", ["red", "red"], str(seed)) for seed in range(40)}
    assert "a red cup covered in red" not in made
    assert len(made) == 9
    assert all("cove" in one and "covered" not in one for one in made)
    assert foiled("tan", ["tan"], "1") == foiled("tan", ["tan"], "1")


def coco(folder, captions):
    """COCO's captions of images 0, 1, ...; a list of texts for each."""
    images = [{"id": key, "file_name": f"{key}.jpg"} for key in range(len(captions))]
    notes = [{"image_id": key, "caption": text} for key, texts in enumerate(captions) for text in texts]
    return put(folder, "captions_val2017.json", {"images": images, "annotations": notes})


def test_colorfoil_takes_the_first_caption_with_an_exact_colour_word(tmp_path):
    coco(tmp_path, [["Red cup", "a red, cup", "a linen shelf", "a red cup"], ["no colour"], []])
    mine = ColorFoil(card(), tmp_path)
    (one,) = mine
    assert one.captions[0] == "a linen shelf"
    assert one.captions[1].split()[1] in COMMON
    assert "seed 0: 1 captions" in mine.provenance.notices[0]
    assert [item.captions for item in mine] == [one.captions]
    assert {next(iter(ColorFoil(card(), tmp_path, seed=seed))).captions[1] for seed in range(30)} > {one.captions[1]}


def test_colorfoil_leaves_out_the_notebooks_greyscale_positions(tmp_path):
    coco(tmp_path, [[f"a red cup {key}"] for key in range(1200)])
    mine = ColorFoil(card(), tmp_path)
    ids = [int(one.id) for one in mine]
    assert sorted(set(range(1200)) - set(ids)) == [550, 1164]
    assert "2 of their images are left out" in mine.provenance.notices[0]


def test_colorfoil_rows_from_a_table(tmp_path):
    put(tmp_path, "colorfoil.csv", "image,caption,foil\nhttp://x/1.jpg,a red cup,a blue cup\n")
    (one,) = ColorFoil(card(), tmp_path)
    assert (one.captions, one.cluster) == (("a red cup", "a blue cup"), "1.jpg")


FOUR = {"True1": "a", "True2": "b", "False1": "c", "False2": "d"}


def test_both_layouts_of_bla_and_ids_of_both_types(tmp_path):
    put(tmp_path, "annotations/x_captions.json", [{"image_id": 7, "caption_group": [FOUR, FOUR]}])
    put(tmp_path, "annotations/y_captions.json", {"8": ["a", "b", "c", "d"]})
    first, second, third = Bla(card(x=2, y=1), tmp_path)
    assert (first.id, second.id, third.id) == ("x:0.0", "x:0.1", "y:8")
    assert (first.cluster, third.cluster) == ("7.jpg", "8.jpg")
    assert third.gold.tolist() == [[True, True, False, False]]
    assert third.images[0].path.name == "images"


@pytest.mark.parametrize(
    "rows", [[{"image_id": "a", "caption_group": [FOUR]}], [{"image_id": 1}], {"7": ["a", "b", "c"]}, [{}], [3], 3]
)
def test_broken_rows_of_bla(tmp_path, rows):
    put(tmp_path, "x_captions.json", rows)
    assert "x_captions.json" in refused(lambda: Bla(card(x=1), tmp_path))


def photos(*names):
    texts = {"on": "A cup on a chair", "under": "A cup under a chair", "left": "left", "right": "right"}
    return [
        {
            "image_path": f"d/{name}",
            "caption_options": [texts[relation], *(v for k, v in texts.items() if k != relation)],
        }
        for name, relation in ((name, name.split("_")[1]) for name in names)
    ]


AXES = {"left": "left_right", "right": "left_right", "on": "on_under", "under": "on_under"}
NAMES = ("cup_on_chair.jpeg", "cup_under_chair.jpeg", "cup_left_of_chair.jpeg", "cup_right_of_chair.jpeg")


def whatsup(folder, **options):
    return WhatsUp(card(A=4), folder, annotations=["p.json", "q.jsonl"], subset="A", axes=AXES, **options)


def test_a_set_of_whatsup_is_four_photos_of_two_objects(tmp_path):
    put(tmp_path, "p.json", photos(*NAMES))
    mine = list(whatsup(tmp_path))
    assert {one.group for one in mine} == {one.cluster for one in mine} == {"cup | chair"}
    assert [dict(one.tags)["axis"] for one in mine] == ["on_under", "on_under", "left_right", "left_right"]
    assert mine[0].captions[0] == "A cup on a chair"
    assert mine[0].images[0].key == "cup_on_chair.jpeg"


@pytest.mark.parametrize("name", ["cup.jpeg", "cup_on.jpeg", "cup_beside_chair.jpeg"])
def test_a_file_name_that_tells_no_set_is_refused(tmp_path, name):
    rows = photos("cup_on_chair.jpeg")
    put(tmp_path, "p.json", [rows[0] | {"image_path": name}])
    assert "p.json, row 1, field 'image_path'" in refused(lambda: whatsup(tmp_path))


ASK = "<image>\nUSER: Where are the cups in relation to the chair? Answer with left, right, on{} or under.\nASSISTANT:"


@pytest.mark.parametrize("comma", ["", ","])
def test_whatsup_as_questions(tmp_path, comma):
    put(tmp_path, "q.jsonl", json.dumps({"id": 3, "question": ASK.format(comma), "answer": ["On"]}))
    mine = whatsup(tmp_path)
    (one,) = mine
    assert one.captions == ("left", "right", "on", "under")
    assert one.gold.tolist() == [[False, False, True, False]]
    assert (one.query, one.group, one.images[0].is_absent) == (ASK.format(comma), "cups | chair", True)
    assert "do not name their image" in mine.provenance.notices[0]


@pytest.mark.parametrize("change", [{"answer": ["Above"]}, {"answer": "On"}, {"question": "Where?"}, {"id": "3"}])
def test_a_broken_question_of_whatsup(tmp_path, change):
    put(tmp_path, "q.jsonl", json.dumps({"id": 3, "question": ASK.format(""), "answer": ["On"]} | change))
    told = refused(lambda: whatsup(tmp_path))
    assert "q.jsonl" in told
    assert f"'{next(iter(change))}'" in told


def test_pairs_of_a_set_are_six(tmp_path):
    put(tmp_path, "a.json", photos(*NAMES))
    mine = list(WhatsUpPairs(card(A=6), tmp_path, files_by_subset={"A": "a.json"}, pictures={"A": "p"}))
    assert [one.id for one in mine] == ["A:0_1", "A:0_2", "A:0_3", "A:1_2", "A:1_3", "A:2_3"]
    assert mine[0].captions == ("A cup on a chair", "A cup under a chair")
    assert np.array_equal(mine[0].gold, np.eye(2, dtype=bool))
    assert {one.cluster for one in mine} == {"A:cup | chair"}
    assert mine[0].images[1].member == "p/cup_under_chair.jpeg"


def qa(folder, **options):
    named = {"one": "one.json", "two": "two.json"}
    return WhatsUpQa(card(), folder, files_by_subset=named, prompts={"two": ["q.jsonl"]}, **options)


def test_question_sets_pad_coco_ids_and_prefer_the_official_file(tmp_path):
    put(tmp_path, "one.json", [[139, "a cup on the left", "a cup on the right"]])
    put(tmp_path, "q.jsonl", json.dumps({"id": 3, "question": ASK.format(""), "answer": ["On"]}))
    mine = qa(tmp_path, padding=12)
    (one,) = mine
    assert one.images[0].key == "000000000139.jpg"
    assert mine.provenance.absent == ("two.json",)
    assert list(mine.provenance.files) == ["one.json"]
    (tmp_path / "one.json").unlink()
    (asked,) = qa(tmp_path)
    assert (asked.subset, asked.group) == ("two", "")


def test_cc_neg_from_the_pickled_file(tmp_path):
    notes = [{"json": {"caption": f"a, {key}"}, "sop_data": {"negative-prompt": f"not a, {key}"}} for key in range(3)]
    content = {"image_paths": [f"/home/x/{key}.jpg" for key in range(3)], "annotations": notes}
    torch.save(content, tmp_path / "ccneg_preprocessed.pt")
    first, second = CcNeg(card(test=2), tmp_path, last=2)
    assert (first.id, second.id) == ("1", "2")
    assert (first.captions, first.cluster) == (("a, 1", "not a, 1"), "1.jpg")
    assert next(iter(CcNeg(card(test=3), tmp_path, last=None, strip_commas=True))).captions == ("a, 0", "not a 0")


class Command:
    """What a hostile file would run."""

    def __reduce__(self):
        return (exec, ("raise SystemExit('ran')",))


def test_a_pickle_that_would_run_code_is_refused(tmp_path):
    torch.save({"image_paths": [Command()], "annotations": []}, tmp_path / "ccneg_preprocessed.pt")
    assert "give the same rows as a JSON or csv file" in refused(lambda: CcNeg(card(test=1), tmp_path))


@pytest.mark.parametrize(
    "content",
    [
        [],
        {"image_paths": ["a"]},
        {"image_paths": ["a"], "annotations": [{}]},
        {"image_paths": ["a"], "annotations": []},
    ],
)
def test_a_broken_pickle_of_cc_neg(tmp_path, content):
    torch.save(content, tmp_path / "ccneg_preprocessed.pt")
    assert "ccneg_preprocessed.pt" in refused(lambda: CcNeg(card(test=1), tmp_path))


@pytest.mark.parametrize("last", [0, True, "all"])
def test_a_wrong_size_of_the_evaluation_split(tmp_path, last):
    with pytest.raises(InputError, match=r"benchmark\.last"):
        CcNeg(card(test=1), tmp_path, last=last)


def controlled(folder, **options):
    rows = [
        RELATION | {"true_caption": f"the {first} is {relation} the {second}", "relation_name": relation}
        for first, relation, second in (
            ("cup", "on", "shelf"),
            ("cups", "under", "table"),
            ("door", "on top of", "car"),
        )
    ]
    rows.append(RELATION | {"true_caption": "a cup on a shelf"})
    pairs = [("red", "old"), ("wet", "new"), ("old", "small")]
    notes = [
        ATTRIBUTION | {"attributes": [one, two], "true_caption": f"the {one} door and the {two} bench"}
        for one, two in pairs
    ]
    put(folder, "visual_genome_relation.json", rows)
    put(folder, "visual_genome_attribution.json", notes)
    return CsClip(card(object=3, relation=3, attribute=3), folder, **options)


def test_one_part_of_a_controlled_case_is_another_word_of_the_vocabulary(tmp_path):
    mine = controlled(tmp_path)
    found = {one.id: one.captions for one in mine}
    assert len(found) == 9
    words = {"object": {"cup", "cups", "shelf", "table", "door", "car"}, "relation": {"on", "under", "on top of"}}
    true, false = found["object:0"]
    assert true == "the cup is on the shelf"
    # Not the shelf itself, nor the cup of the same caption, nor its plural.
    assert false.removeprefix("the cup is on the ") in words["object"] - {"shelf", "cup", "cups"}
    true, false = found["relation:2"]
    assert true == "the door is on top of the car"
    assert false in {"the door is on the car", "the door is under the car"}
    true, false = found["attribute:0"]
    assert true == "the red door and the old bench"
    assert false in {f"the {word} door and the old bench" for word in ("wet", "new", "small")}


def test_rows_off_the_template_are_counted_not_hidden(tmp_path):
    notices = controlled(tmp_path).provenance.notices
    assert "3 cases of object, drawn from 6 words; 1 rows do not follow" in notices[0]
    assert "3 cases of relation, drawn from 3 words; 1 rows" in notices[1]
    assert "3 cases of attribute, drawn from 5 words; 0 rows" in notices[2]


def test_controlled_cases_depend_on_the_seed_alone(tmp_path):
    once = [one.captions for one in controlled(tmp_path)]
    assert once == [one.captions for one in controlled(tmp_path)]
    assert any(once != [one.captions for one in controlled(tmp_path, seed=seed)] for seed in range(1, 6))
    alone = [one.captions for one in controlled(tmp_path, subsets=["relation"])]
    assert alone == once[3:6]


def test_a_vocabulary_without_another_word_is_refused():
    with pytest.raises(InputError, match="no other word"):
        substitute(["cup", "cups"], Slot("", "cup", "", ()), "0")


def test_every_other_word_is_drawn_about_as_often():
    words = ["cup", "vase", "door", "shelf"]
    drawn = Counter(substitute(words, Slot("", "cup", "", ()), str(key)) for key in range(3000))
    assert set(drawn) == {"vase", "door", "shelf"}
    # 1,000 each; the standard deviation is sqrt(3000 x 1/3 x 2/3) = 26.
    assert all(abs(count - 1000) < 4 * 26 for count in drawn.values())


def gqa(folder, *, answer="cup", full="The cup is on it.", others=("vase",), sample=10000, seed=0, count=1):
    objects = {"1": {"name": "cup", "attributes": ["red"]}, "2": {"name": "shelf"}}
    objects |= {str(key): {"name": name, "attributes": ["red"]} for key, name in enumerate(others, 3)}
    question = {
        **{"imageId": "9", "question": "What is on it?", "answer": answer, "fullAnswer": full},
        "annotations": {"question": {"3": "2"}, "answer": {"0": "1"}, "fullAnswer": {"1": "1"}},
    }
    put(folder, "val_balanced_questions.json", {f"{key:02d}": question for key in range(count)})
    put(folder, "val_sceneGraphs.json", {"9": {"objects": objects}})
    return GqaTwoChoice(card(val_balanced=1), folder, sample=sample, seed=seed)


def test_the_answer_becomes_an_entity_that_nobody_speaks_of(tmp_path):
    mine = gqa(tmp_path)
    (one,) = mine
    # Not shelf (in the question), not red (the cup is red too): only the vase is left.
    assert (one.query, one.captions) == ("What is on it? ", ("The cup is on it.", "The vase is on it."))
    assert (one.cluster, one.id) == ("9.jpg", "00")
    assert "1 cases drawn of 1" in mine.provenance.notices[0]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"answer": "yes", "full": "Yes, it is."}, "1 (yes or no)"),
        ({"answer": "mug"}, "1 (the full answer does not hold the answer)"),
        # A plural; nothing at all; and a sentence of which too little changes: 2 of 60 characters.
        ({"others": ("cups",)}, "1 (no entity"),
        ({"others": ()}, "1 (no entity"),
        ({"full": f"The cup {'x' * 60}."}, "1 (no entity"),
    ],
)
def test_what_the_filters_leave_out_is_counted(tmp_path, options, reason):
    mine = gqa(tmp_path, **options)
    assert list(mine) == []
    assert reason in mine.provenance.notices[0]


def test_the_sample_is_the_same_whatever_the_order_and_nested(tmp_path):
    few = [one.id for one in gqa(tmp_path, count=30, sample=5)]
    more = [one.id for one in gqa(tmp_path, count=30, sample=9)]
    assert len(few) == 5
    assert set(few) < set(more)
    assert more == sorted(more)
    assert few != [one.id for one in gqa(tmp_path, count=30, sample=5, seed=1)]


def test_an_image_without_scene_graph_is_refused(tmp_path):
    mine = gqa(tmp_path)
    put(tmp_path, "val_sceneGraphs.json", {"8": {"objects": {}}})
    del mine
    told = refused(lambda: GqaTwoChoice(card(val_balanced=1), tmp_path))
    assert "val_balanced_questions.json, key '00', field 'imageId'" in told


def test_each_shuffle_moves_what_it_says():
    words = ["two", "small", "cups", "stand", "on", "the", "old", "wooden", "shelf", "near", "a", "big", "window"]
    kinds = shuffles.nominal(words)
    for key in range(30):
        nouns, others, within, whole = (text.split() for text in shuffles.shuffles(" ".join(words), str(key)))
        assert all(sorted(made) == sorted(words) for made in (nouns, others, within, whole))
        assert [word for word, kind in zip(nouns, kinds, strict=True) if not kind] == [
            word for word, kind in zip(words, kinds, strict=True) if not kind
        ]
        for kind in ("noun", "adjective"):
            assert sorted(w for w, k in zip(nouns, kinds, strict=True) if k == kind) == sorted(
                w for w, k in zip(words, kinds, strict=True) if k == kind
            )
        assert [word for word, kind in zip(others, kinds, strict=True) if kind] == [
            word for word, kind in zip(words, kinds, strict=True) if kind
        ]
        parts = [words[start : start + 3] for start in range(0, len(words), 3)]
        assert [sorted(within[start : start + 3]) for start in range(0, len(words), 3)] == [sorted(p) for p in parts]
        assert all(" ".join(part) in " ".join(whole) for part in parts)


def test_words_are_told_apart_by_kind():
    words = ["a", "man", "in", "an", "orange", "hat", "starring", "at", "two", "wooden", "chairs"]
    told = dict(zip(words, shuffles.nominal(words), strict=True))
    assert [word for word, kind in told.items() if kind == "noun"] == ["man", "hat", "chairs"]
    assert [word for word, kind in told.items() if kind == "adjective"] == ["orange", "wooden"]


def test_clean_is_upstreams_rule():
    # Marks become blanks and blanks collapse; commas, question marks and hyphens stay; thirty words at most.
    assert shuffles.clean('A "red" cup, (old); half-full?  \n') == "a red cup, old half-full?"
    assert shuffles.clean(" ".join("w" * 40)) == " ".join("w" * 30)


def order(folder, *names, **options):
    return AroOrder(card(test=1), folder, annotations=names, **options)


def test_coco_order_is_built_with_a_seed(tmp_path):
    text = "A red cup stands on the old shelf near a window. "
    put(tmp_path, "k.json", [{"image": "val2014/1.jpg", "caption": [text, "Two cups."]}])
    mine = order(tmp_path, "k.json")
    first, second = mine
    assert first.captions[0] == "a red cup stands on the old shelf near a window"
    assert len(first.captions) == len(second.captions) == 5
    assert (first.id, first.cluster, first.images[0].key) == ("1.jpg:0", "1.jpg", "1.jpg")
    assert [one.captions for one in mine] == [first.captions, second.captions]
    assert next(iter(order(tmp_path, "k.json", seed=1))).captions[1:] != first.captions[1:]
    assert "seed 0" in mine.provenance.notices[0]


def test_empty_cells_of_an_order_set_are_no_options_and_counted(tmp_path):
    rows = (
        "image\toriginal_caption\tshuffle_a\tshuffle_b\nt/1.jpg\ta b \tb a\t\nt/1.jpg\tc\t\t \nt/2.jpg\td e\te d\td e\n"
    )
    put(tmp_path, "f.csv", rows)
    mine = order(tmp_path, "f.csv")
    first, third = mine
    assert (first.captions, third.captions) == (("a b ", "b a"), ("d e", "e d", "d e"))
    assert (first.id, third.id, first.cluster) == ("0", "2", "1.jpg")
    assert mine.provenance.notices == (
        "3 shuffles are empty cells and no options; 1 rows have no other and are left out.",
    )


def test_a_caption_of_marks_alone_is_refused(tmp_path):
    put(tmp_path, "k.json", [{"image": "1.jpg", "caption": ["..."]}])
    assert "k.json, row 1, field 'caption'" in refused(lambda: order(tmp_path, "k.json"))


def test_shuffles_never_touch_the_global_state():
    random.seed(5)
    state = random.getstate()
    shuffles.shuffles("a red cup on the shelf", "0")
    assert random.getstate() == state
