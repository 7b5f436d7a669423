"""A recorded file that stands alone: ids, subsets, shapes and tags of the instances that it makes."""

import json

import pytest

from audits.models.recorded import recorded
from benchmarks.errors import InputError
from benchmarks.preflight import preflight
from benchmarks.recorded import Recorded

CARD = {"title": "t", "paper": "", "homepage": "", "licence": "unknown", "shape": "1x2", "primary": "accuracy"}


def alone(folder, content, name="a.json", **options):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return Recorded({**CARD, "how_to_get": "Give a file."}, options.pop("path", str(path)), **options)


def test_ids_and_subsets_are_the_files_own(tmp_path):
    rows = {"swap": {"0": {"correct": 1}, "10": {"correct": 0}}, "add": {"0": {"correct": 1}}, "mean": 0.66}
    made = alone(tmp_path, rows)
    assert [(one.id, one.subset) for one in made] == [("swap:0", "swap"), ("swap:10", "swap"), ("add:0", "add")]
    assert [one.id for one in made] == [one.id for one in made]
    assert made.provenance.files["a.json"]
    assert preflight(made).n == 3


def test_instances_have_neither_text_nor_images_and_cluster_by_image(tmp_path):
    rows = "filename,caption,negative_caption,type,subtype,correct\n1.jpg,a,b,add,obj,1\n1.jpg,c,d,add,obj,0\n"
    first, second = alone(tmp_path, rows, "a.csv")
    assert first.captions == (None, None)
    assert all(image.is_absent for image in first.images)
    assert first.subset == "add_obj"
    assert first.cluster == second.cluster == "1.jpg"
    assert first.id != second.id  # made of the content, where there is no id
    assert [one.id for one in alone(tmp_path, rows, "renamed.csv")] == [first.id, second.id]


@pytest.mark.parametrize(
    ("row", "gold"),
    [
        ({"correct": 1}, [[1, 0]]),
        ({"c0_i0": 1, "c0_i1": 0, "c1_i0": 0, "c1_i1": 1}, [[1, 0], [0, 1]]),
        ({"i2t_score": 1, "t2i_score": 0, "group_score": 0}, [[1, 0], [0, 1]]),
        ({"positive_score": 1, "negative_scores": [1, 2, 3]}, [[1, 0, 0, 0]]),
        ({"sim_pos1": 1, "sim_pos2": 1, "sim_neg": 0}, [[1, 1, 0]]),
    ],
)
def test_the_shape_follows_from_what_is_recorded(row, gold, tmp_path):
    [one] = alone(tmp_path, [{"id": "x", **row}])
    assert one.gold.astype(int).tolist() == gold


def test_lists_in_csv_cells(tmp_path):
    [one] = alone(tmp_path, 'id,positive_scores,negative_scores\nx,[1],"[0.5, 0.2]"\n', "a.csv")
    assert one.gold.astype(int).tolist() == [[1, 0, 0]]
    [run] = recorded({"a": {"path": str(tmp_path / "a.csv")}})
    assert run.recall([one]).cells.columns[""].tolist() == [1.0, 0.5, 0.2]


def test_both_orders_of_one_question_are_one_instance(tmp_path):
    rows = [{"id": 1, "response": "A", "order": order} for order in ("ab", "ba")]
    assert [one.id for one in alone(tmp_path, rows)] == ["1"]


def test_labels_become_tags_and_texts_do_not(tmp_path):
    rows = [{"id": key, "correct": 1, "tag": "xy"[key % 2], "note": f"a note {key}", "same": "s"} for key in range(30)]
    made = list(alone(tmp_path, rows))
    assert dict(made[1].tags) == {"tag": "y"}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"id": 1, "correct": 1}, {"id": 1, "correct": 0}], "the id stands twice"),
        ([{"id": 1, "scores": [0.1, 0.2]}], "does not say which option is right"),
        ([{"id": "x" * 600, "correct": 1}], "not a valid instance"),
        ([{"id": 1, "correct": 1}, {"name": "x"}], "nothing recorded was found in a row"),
        ([1, 2], "wrong type"),
        ([], "nothing recorded"),
    ],
)
def test_what_cannot_stand_alone_is_refused_with_its_place(rows, told, tmp_path):
    with pytest.raises(InputError, match=told) as caught:
        list(alone(tmp_path, rows))
    assert "a.json" in str(caught.value)


def test_no_file(tmp_path):
    with pytest.raises(InputError, match="needs a file"):
        Recorded({**CARD, "how_to_get": "Give a file."})
    with pytest.raises(InputError, match="did you mean") as caught:
        alone(tmp_path, [{"id": 1, "correct": 1}], path=str(tmp_path / "b.json"))
    assert "a.json" in caught.value.step
