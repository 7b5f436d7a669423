"""Recorded scores: read in whatever form they come, joined to the right instance, missing ones counted."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.models.recorded import recorded
from audits.models.schema import Recorded
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from tests.models.recorded_cases import csv, means, pair, recall, results, square, tall

ROWS = [{"id": f"s:{key}", "positive_score": score, "negative_score": 0.5} for key, score in enumerate((0.9, 0.5, 0.1))]
PAIRS = [pair(key) for key in range(3)]


def test_a_run_is_a_contestant_with_the_digest_of_its_file_in_its_signature(write):
    [run] = recorded({"clip": write("a.json", ROWS)})
    assert isinstance(run, Recorded)
    assert run.name == "recorded:clip"
    assert run.sees == {"text", "image"}
    assert len(run.signature["files"].partition("=")[2]) == 64
    assert "positive = positive_score" in run.signature["read as"]


def test_several_runs_at_once(write):
    path = write("a.json", ROWS)
    assert [one.name for one in recorded({"a": path, "b": {"path": path}})] == ["recorded:a", "recorded:b"]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "parquet", "keyed", "nested"])
def test_every_format_gives_the_same_scores(suffix, write, tmp_path):
    keyed = {row["id"]: {"positive_score": row["positive_score"], "negative_score": 0.5} for row in ROWS}
    texts = {
        "csv": csv("id,positive_score,negative_score", *(row.values() for row in ROWS)),
        "tsv": csv("id,positive_score,negative_score", *(row.values() for row in ROWS)).replace(",", "\t"),
        "jsonl": "\n".join(json.dumps(row) for row in ROWS),
        "json": ROWS,
        "keyed": {"accuracy": 0.5, **keyed},
        "nested": {"model": "m", "subsets": {"s": {key[2:]: cells for key, cells in keyed.items()}}},
    }
    if suffix == "parquet":
        path = str(tmp_path / "a.parquet")
        pd.DataFrame(ROWS).to_parquet(path)
    else:
        path = write(f"a.{suffix if suffix not in ('keyed', 'nested') else 'json'}", texts[suffix])
    found = recall(PAIRS, path)
    # 0.9 > 0.5 wins, 0.5 = 0.5 is half, 0.1 < 0.5 loses.
    assert results(PAIRS, found)["accuracy"].credit.tolist() == [1.0, 0.5, 0.0]
    assert found.cells.columns[""].tolist() == [0.9, 0.5, 0.5, 0.5, 0.1, 0.5]


ONE_OF_EACH = [pair("a"), pair("b", foils=4), square("c"), square("d", turned=True), tall("e")]


def full(value):
    """Recorded rows of ONE_OF_EACH, by file, from a function (is a match) -> score."""
    right, wrong = value(True), value(False)
    line = [
        {"id": "s:a", "positive_score": [right], "negative_score": [wrong]},
        {"id": "s:b", "positive_score": [right], "negative_score": [wrong] * 4},
        {"id": "t:e", "positive_score": [right], "negative_score": [wrong]},
    ]
    four = [{"id": key, "c0_i0": right, "c1_i1": right, "c0_i1": wrong, "c1_i0": wrong} for key in ("q:c", "q:d")]
    return line, four


def test_a_constant_model_gets_chance_and_ties_fail_on_strict_2x2(write):
    line, four = full(lambda match: 0.0)
    shown = recall(ONE_OF_EACH, write("line.json", line))
    found = results(ONE_OF_EACH, shown)
    # 1x2: 1/2, 1x5: 1/5, 2x1: 1/2; the 2x2 have no row in this file.
    assert [found["accuracy"].credit[place] for place in (0, 1, 4)] == [0.5, 0.2, 0.5]
    squares = results(ONE_OF_EACH, recall(ONE_OF_EACH, write("four.json", four)))
    for metric in ("i2t", "t2i", "group"):
        assert squares[metric].credit[[2, 3]].tolist() == [0.0, 0.0]
        assert squares[metric].tie[[2, 3]].all()
    assert squares["group_match"].credit[[2, 3]].tolist() == [0.5, 0.5]


def test_a_perfect_model_gets_one_everywhere_in_whatever_order_gold_stands(write):
    line, four = full(float)
    for metric, outcome in results(ONE_OF_EACH, recall(ONE_OF_EACH, write("line.json", line))).items():
        assert np.nanmin(outcome.credit, initial=1) == 1, metric
    for metric, outcome in results(ONE_OF_EACH, recall(ONE_OF_EACH, write("four.json", four))).items():
        assert np.nanmin(outcome.credit, initial=1) == 1, metric


@pytest.mark.parametrize(
    "names",
    [
        ("c0_i0", "c1_i0", "c0_i1", "c1_i1"),
        ("i0_c0", "i0_c1", "i1_c0", "i1_c1"),
        ("sim_00", "sim_01", "sim_10", "sim_11"),
        ("sim_aa", "sim_ab", "sim_ba", "sim_bb"),
        ("sim_base_cb", "sim_base_cv", "sim_var_cb", "sim_var_cv"),
    ],
)
def test_the_first_index_is_told_apart_from_the_second(names, write):
    # Image 0 prefers its caption (.4 > .3), image 1 does not (.1 < .2): I2T fails at the foil image.
    # Caption 0 prefers its image (.4 > .2), caption 1 the wrong one (.1 < .3).
    path = write("a.csv", csv(f"id,{','.join(names)}", ("q:a", 0.4, 0.3, 0.2, 0.1)))
    only = [square("a")]
    found = means(only, recall(only, path))
    assert {name: found[name] for name in ("i2t_base", "i2t_foil", "t2i_base", "t2i_foil")} == {
        "i2t_base": 1.0,
        "i2t_foil": 0.0,
        "t2i_base": 1.0,
        "t2i_foil": 0.0,
    }
    assert recall(only, path).cells.columns[""].tolist() == [0.4, 0.3, 0.2, 0.1]


def test_columns_that_fit_the_files_own_flags_only_when_turned_round_are_refused(write):
    # As read (image first) I2T is .5 > .1 and .4 > .2: right. The file says I2T wrong and T2I right, as if turned.
    header = "id,sim_00,sim_01,sim_10,sim_11,i2t_score,t2i_score,group_score"
    path = write("a.csv", csv(header, ("q:a", 0.5, 0.1, 0.45, 0.4, 1, 0, 0), ("q:b", 0.5, 0.45, 0.1, 0.4, 0, 1, 0)))
    both = [square("a"), square("b")]
    # a, image first: i2t .5>.1 yes, .4<.45 no -> 0; the file says 1. Turned: .5>.45, .4>.1 -> 1.
    with pytest.raises(InputError, match="change places"):
        recall(both, path)


def test_flags_beside_the_scores_are_compared_and_differences_found(write):
    rows = [{**row, "correct": flag} for row, flag in zip(ROWS, (1, 0, 1), strict=True)]
    found = recall(PAIRS, write("a.json", rows))
    # A tie is not right, so row 1 fits; row 2 loses and its flag says right.
    assert found.facts["flags of its own that fit the scores"] == "2 of 3"
    [finding] = [one for one in found.findings if one.kind == "recorded_flags_differ"]
    assert finding.instances == ("s:2",)


def test_two_positives(write):
    gold = np.array([[True, True, False]])
    one = pair("a", foils=2)
    both = type(one)("s:a", one.images, one.captions, gold, subset="s")
    path = write("a.csv", csv("id,sim_pos1,sim_pos2,sim_neg", ("s:a", 0.3, 0.2, 0.25)))
    assert means([both], recall([both], path)) == {"accuracy_all": 0.0, "accuracy_any": 1.0, "accuracy_mean": 0.5}


def test_the_image_that_hardly_moves_the_score_is_found(write):
    # Both images prefer caption 0; images move scores by .01, captions by .5.
    rows = [("q:a", 0.6, 0.1, 0.61, 0.11), ("q:b", 0.7, 0.2, 0.71, 0.21)]
    both = [square("a"), square("b")]
    [found] = recall(both, write("a.csv", csv("id,c0_i0,c1_i0,c0_i1,c1_i1", *rows))).findings
    assert found.kind == "image_insensitive"
    assert found.severity == "warning"
    assert found.values["share"] == 1.0
    assert found.values["median_change_by_image"] == pytest.approx(0.01)
    assert found.values["median_change_by_caption"] == pytest.approx(0.5)
    assert "2 of 2" in found.sentence


def test_scores_that_nothing_moves_are_a_warning(write):
    # All four equal: no caption is ahead anywhere, so "the same caption for both images" is 0 of 50 and says nothing.
    rows = [(f"q:{key}", 0.5, 0.5, 0.5, 0.5) for key in range(50)]
    path = write("a.csv", csv("id,c0_i0,c1_i0,c0_i1,c1_i1", *rows))
    [found] = recall([square(key) for key in range(50)], path).findings
    assert (found.kind, found.severity) == ("image_insensitive", "warning")
    assert (found.values["same_caption"], found.values["unmoved_by_image"], found.values["all_four_equal"]) == (
        *(0, 50, 50),
    )
    assert "all four scores are equal" in found.sentence
    assert "higher score" not in found.sentence


def test_a_blind_model_whose_captions_tie_in_places_is_a_warning(write):
    # Of ten, five prefer caption 0 whatever the image and five tie: none is moved by the image.
    rows = [(f"q:{key}", 0.5, 0.5 - 0.1 * (key % 2), 0.5, 0.5 - 0.1 * (key % 2)) for key in range(10)]
    path = write("a.csv", csv("id,c0_i0,c1_i0,c0_i1,c1_i1", *rows))
    [found] = recall([square(key) for key in range(10)], path).findings
    assert (found.severity, found.values["same_caption"], found.values["all_four_equal"]) == ("warning", 5, 5)
    assert "another image moves no score" in found.sentence


def test_an_encoder_that_sees_both_is_no_warning(write):
    only = [square("a")]
    [found] = recall(only, write("a.csv", csv("id,c0_i0,c1_i0,c0_i1,c1_i1", ("q:a", 0.9, 0.1, 0.1, 0.9)))).findings
    assert found.severity == "info"
    assert found.values["share"] == 0.0


def test_unmatched_rows_and_instances_are_counted_and_listed(write):
    rows = [*ROWS[:2], {"id": "s:77", "positive_score": 1, "negative_score": 0}]
    found = recall(PAIRS, write("a.json", rows))
    [note] = found.findings
    assert note.values["rows_without_instance"] == 1
    assert note.values["first_rows_without_instance"] == "row 3"
    assert note.instances == ("s:2",)
    assert results(PAIRS, found)["accuracy"].unscored.tolist() == [False, False, True]
    assert set(found.cells.notes.values()) == {"no row is recorded"}


@pytest.mark.parametrize(
    "write_id", [str, lambda key: f"{key}.0", lambda key: f" {key:03d} ", lambda key: f"{key:05d}"]
)
def test_ids_in_another_writing_are_not_joined_and_a_warning_shows_one(write, write_id):
    # Ids of the benchmark are 000 to 119: of the ints only 100 to 119 are the same text.
    gold = np.array([[True, False]])
    images = (ImageRef.absent(),)
    known = [Instance(f"{key:03d}", images, (f"a {key}", f"b {key}"), gold) for key in range(120)]
    rows = [{"id": write_id(key), "positive_score": 1, "negative_score": 0} for key in range(119)]
    rows.append({"id": "119", "positive_score": 1, "negative_score": 0})
    found = recall(known, write("a.json", rows))
    exact = [row["id"] for row in rows if row["id"] in {one.id for one in known}]
    assert int((~results(known, found)["accuracy"].unscored).sum()) == len(exact)
    [note] = found.findings
    assert note.severity == "warning"
    assert note.values["rows_with_an_id_in_another_writing"] == 120 - len(exact)
    assert f"recorded {rows[0]['id']!r} may be benchmark '000'" in note.sentence


def test_no_row_joins_and_the_message_shows_ids_that_are_written_alike(write):
    rows = [{"id": "s:00", "positive_score": 1, "negative_score": 0}]
    with pytest.raises(InputError, match="recorded 's:00' may be benchmark 's:0'"):
        recall(PAIRS, write("a.json", rows))


def test_ids_of_another_benchmark_give_no_hint(write):
    rows = [*ROWS[:2], {"id": "s:77", "positive_score": 1, "negative_score": 0}]
    [note] = recall(PAIRS, write("a.json", rows)).findings
    assert (note.severity, note.values["rows_with_an_id_in_another_writing"]) == ("notice", 0)
    assert "may be" not in note.sentence


def test_rows_that_differ_are_unscored_and_rows_that_agree_count_once(write):
    rows = [ROWS[0], ROWS[0], ROWS[1], {**ROWS[1], "positive_score": 0.7}, ROWS[2]]
    found = recall(PAIRS, write("a.json", rows))
    assert results(PAIRS, found)["accuracy"].unscored.tolist() == [False, True, False]
    assert found.facts["rows that repeat another"] == 1
    assert found.facts["instances with conflicting rows"] == 1
    [note] = [one for one in found.findings if one.kind == "recorded_conflicts"]
    assert note.instances == ("s:1",)


def test_content_joins_before_ids_and_position_only_if_asked(write):
    rows = [
        {
            "id": "s:0",
            "filename": "x/2.jpg",
            "caption": "caption 2",
            "foil": "foil 0 of 2",
            "pos_score": 1,
            "neg_score": 0,
        }
    ]
    path = write("a.json", rows)
    assert recall(PAIRS, path).facts["joined"] == "by content (image, captions)"
    assert results(PAIRS, recall(PAIRS, path))["accuracy"].unscored.tolist() == [True, True, False]
    assert results(PAIRS, recall(PAIRS, path, join="id"))["accuracy"].unscored.tolist() == [False, True, True]
    assert results(PAIRS[:1], recall(PAIRS[:1], path, join="position"))["accuracy"].credit.tolist() == [1.0]
    with pytest.raises(InputError, match="as many as instances"):
        recall(PAIRS, path, join="position")


def test_an_id_that_belongs_to_other_captions_is_not_joined(write):
    rows = [{"id": "s:0", "caption": "another", "foil": "text", "pos_score": 1, "neg_score": 0}]
    with pytest.raises(InputError, match="no recorded row is about any instance"):
        recall(PAIRS, write("a.json", rows))


def test_captions_are_normalised_only_if_asked(write):
    rows = [{"caption": "Caption  0. ", "foil": "FOIL 0 of 0", "pos_score": 1, "neg_score": 0}]
    path = write("a.json", rows)
    with pytest.raises(InputError):
        recall(PAIRS, path)
    assert recall(PAIRS, path, normalise=True).facts["joined"] == "by content (captions, normalised)"


def test_content_that_fits_two_instances_is_not_guessed(write):
    twins = [pair(0), type(PAIRS[0])("s:twin", PAIRS[0].images, PAIRS[0].captions, PAIRS[0].gold, subset="s"), pair(1)]
    rows = [{"caption": f"caption {key}", "foil": f"foil 0 of {key}", "pos_score": 1, "neg_score": 0} for key in (0, 1)]
    found = recall(twins, write("a.json", rows))
    assert results(twins, found)["accuracy"].unscored.tolist() == [True, True, False]
    assert "it fits several instances" in found.findings[0].sentence


def test_the_subset_comes_from_the_files_name(write):
    mixed = [pair(0, subset="add_att"), pair(0, subset="add_obj")]
    write("log/logits_add_att_log.csv", csv("id,sim_pos,sim_neg", (0, 1, 0)))
    folder = Path(write("log/logits_add_obj_log.csv", csv("id,sim_pos,sim_neg", (0, 0, 1)))).parent
    assert results(mixed, recall(mixed, str(folder)))["accuracy"].credit.tolist() == [1.0, 0.0]


def test_composet_result_rows_join_by_variation_and_tier(write):
    made = [square("s001_v01")]
    one = type(made[0])("s001_v01:short", made[0].images, made[0].captions, made[0].gold, subset="modify_color")
    header = (
        "scene_id,variation_id,tier,edit_type,cap_base,cap_var,sim_base_cb,sim_base_cv,sim_var_cb,sim_var_cv,"
        "i2t_score,t2i_score,group_score"
    )
    row = ("s001", "s001_v01", "short", "modify_color", *made[0].captions, 0.4, 0.15, 0.1, 0.2, 1, 1, 1)
    other = ("s001", "s001_v01", "long", "modify_color", "x", "y", 0.4, 0.15, 0.1, 0.2, 1, 1, 1)
    path = write("clip.csv", csv(header, row, other))
    assert means([one], recall([one], path))["group"] == 1.0
    assert means([one], recall([one], path, join="id"))["group"] == 1.0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("id,positive_score,negative_score\ns:0,high,0.1\n", ["line 2", "positive_score", "not a score", "'high'"]),
        ("id,positive_score\ns:0,0.1\n", ["positive_score", "no column looks like"]),
        ("", ["empty"]),
        ("id,positive_score,negative_score\n", ["nothing recorded"]),
        ("id,positive_score,negative_score\ns:0,0.1\n", ["line 2", "cells"]),
        ("id,correct\ns:0,maybe\n", ["line 2", "correct", "not a flag"]),
    ],
)
def test_a_hostile_csv_is_one_clear_error(content, told, write):
    path = write("a.csv", content)
    with pytest.raises(InputError) as caught:
        recall(PAIRS, path)
    assert "a.csv" in str(caught.value)
    assert all(part in str(caught.value) for part in told), str(caught.value)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"positive_score": True, "negative_score": 0}, "not a score"),
        ({"positive_score": {"deep": {"er": 1}}, "negative_score": 0}, "nothing recorded"),
        ({"positive_score": 10**400, "negative_score": 0}, "not a score"),
        ({"positive_score": [1, 2], "negative_score": 0}, "another number of scores"),
    ],
)
def test_a_hostile_json_is_one_clear_error(row, told, write):
    with pytest.raises(InputError, match=told) as caught:
        recall(PAIRS, write("a.json", [{"id": "s:0", **row}]))
    assert "row 1" in str(caught.value)


def test_not_finite_and_missing_values_are_unscored_with_a_reason(write):
    path = write("a.csv", "\ufeffid,positive_score,negative_score\ns:0,inf,0\ns:1,nan,0\ns:2,,0\n")
    found = recall(PAIRS, path)
    assert results(PAIRS, found)["accuracy"].unscored.all()
    assert set(found.cells.notes.values()) == {"the recorded value is not finite", "no value is recorded"}


def test_nested_too_deeply_and_huge_ids(write):
    deep = {"positive": 1}
    for _ in range(40):
        deep = {"a": deep}
    with pytest.raises(InputError):
        recall(PAIRS, write("deep.json", deep))
    rows = [ROWS[0], {"id": "9" * 5000, "positive_score": 1, "negative_score": 0}]
    assert recall(PAIRS, write("huge.json", rows)).facts["rows without an instance"] == 1


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ({}, "no recorded run was given"),
        ({"a": {"layout": "pairs"}}, "needs a path"),
        ({"a": {"path": "x.csv", "colums": {}}}, "columns"),
        ({"a": "gone.csv"}, "not there"),
        ({"a": 3}, "needs a path"),
    ],
)
def test_wrong_options_are_refused(runs, told):
    with pytest.raises(InputError, match=told):
        recorded(runs)


def test_misspelt_layouts_roles_and_columns_get_near_matches(write):
    path = write("a.json", ROWS)
    for options, hint in (
        ({"layout": "pair"}, "pairs"),
        ({"columns": {"positve": "positive_score"}}, "positive"),
        ({"columns": {"positive": "positive_scor"}}, "positive_score"),
        ({"join": "contend"}, "content"),
    ):
        with pytest.raises(InputError, match=f"did you mean.*{hint}"):
            recall(PAIRS, path, **options)


def test_two_kinds_of_score_must_be_told_apart(write):
    header = "id,c0_i0,c1_i0,c0_i1,c1_i1,positive_score,negative_score"
    with pytest.raises(InputError, match="layout=pairs"):
        recall([square("a")], write("a.csv", csv(header, ("q:a", 1, 0, 0, 1, 1, 0))))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "correct", "positive_score", "negative_score", "answer", "=1+1"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_json_it_is_it_is_read_or_refused(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("fuzz") / "a.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    with contextlib.suppress(InputError):
        assert recall(PAIRS, str(path)).facts["rows"] > 0
