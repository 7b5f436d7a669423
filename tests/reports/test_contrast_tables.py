"""Tables and charts that set models against baselines: blocks apart, marks after correction, nothing leaks."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from reports.charts import ALL
from reports.figures import WIDE, lay_out
from reports.html import render_html
from reports.index import Index
from reports.markdown import render_markdown
from reports.tabular import behind, opened
from reports.versus import versus_charts
from reports.view import build_view


def grid_of(view, start):
    (found,) = [grid for grid in view.grids if grid.title.startswith(start)]
    return found


def cell(grid, row, column):
    return grid.cells[[head.full for head in grid.rows].index(row)][[head.label for head in grid.columns].index(column)]


def test_three_blocks_models_first(make):
    grid = grid_of(build_view(*make.contrasts()), "By subset: accuracy")
    sections = list(dict.fromkeys(head.section for head in grid.rows if not head.foot))
    assert sections == ["models under audit", "zero-shot blind baselines", "baselines trained on the benchmark"]
    assert grid.rows[0].full == "recorded:clip"
    assert [head.label for head in grid.columns] == [*make.SUBSETS, "macro", "all"]
    # p = .001 where a value is 10 points from chance or more, as .69 of add_att is; macro is in no family
    assert cell(grid, "recorded:clip", "add_att").endswith("] *")
    assert cell(grid, "recorded:clip", "macro").endswith("]")
    assert cell(grid, "length:words:fewer", "swap_obj").endswith("]")
    assert cell(grid, "chance", "add_att") == "50"


def test_one_kind_of_contestant_has_no_block_headings(make):
    grid = grid_of(build_view(make.record(), make.estimates()), "By subset: accuracy")
    assert {head.section for head in grid.rows} == {""}


def test_excess_by_hand_zero_shot_and_trained_apart(make):
    grid = grid_of(build_view(*make.contrasts()), "Excess of recorded:clip")
    # .69 - .962 = -.272, .69 - .93 = -.24 in add_att; interval 2 points to each side; p = .001 beyond 10 points
    assert cell(grid, "likelihood:SmolLM2-135M-Instruct:unnorm", "add_att") == "-27.2 [-29.2, -25.2] *"
    assert cell(grid, "ngram:raw", "add_att") == "-24.0 [-26.0, -22.0] *"
    # .80 - .78 = .02 in replace_att
    assert cell(grid, "ngram:raw", "replace_att") == "+2.0 [0.0, +4.0]"
    assert {head.full: head.section for head in grid.rows}["ngram:raw"] == "baselines trained on the benchmark"
    assert "recorded:clip" not in [head.full for head in grid.rows]
    assert any("differs from 0 after correction" in note for note in grid.notes)
    assert any("not thereby blind" in note for note in grid.notes)


def test_the_split_says_associated_and_no_more(make):
    view = build_view(*make.contrasts())
    grid = grid_of(view, "recorded:clip where each baseline")
    assert [head.label for head in grid.columns] == [
        *("where it is right %", "where it ties %", "where it is wrong %", "gap right - wrong points"),
        "n (right, tied, wrong)",
    ]
    # .77 + .05, .77, .77 - .1 and .15
    row = grid.cells[[head.full for head in grid.rows].index("ngram:raw")]
    assert [text.split(" ")[0] for text in row[:4]] == ["82.0", "77.0", "67.0", "+15.0"]
    assert "associated with" in grid.notes[0]
    assert "shortcut" not in " ".join(grid.notes)


def test_tables_of_comparisons_say_how_many_instances_each_rests_on(make):
    # The model left 209 of 7,511 open; a trained baseline ties on 700, is right on 4,972 and wrong on 1,630.
    record, rows = make.contrasts()
    sizes = {"accuracy_easy": 4972, "accuracy_tie": 700, "accuracy_hard": 1630}
    fewer = [
        replace(row, n=7302) if row.metric == "excess" and row.subset == "all"
        else replace(row, n=sizes[row.metric]) if row.metric in sizes and row.against == "ngram:raw"
        else row
        for row in rows
    ]  # fmt: skip
    view = build_view(record, fewer)
    grid = grid_of(view, "Excess of recorded:clip")
    assert (grid.rows[-1].label, grid.rows[-1].foot) == ("n", True)
    assert cell(grid, "n", "all") == "7,302"
    assert cell(grid, "n", "add_att") == "692"
    assert any("both sides have a value for: 7,302 of 7,511 in all instances." in note for note in grid.notes)
    split = grid_of(view, "recorded:clip where each baseline")
    assert cell(split, "ngram:raw", "n (right, tied, wrong)") == "4,972 / 700 / 1,630"


def test_a5_compares_on_the_common_ids_and_says_so(make):
    # Case A5: model X has 7 of the 10 rows, Y all of them; the difference is over 7.
    record = make.record(contestants={"x": make.contestant("model"), "y": make.contestant("blind")})
    rows = [
        make.estimate(scorer="x", value=0.6, n=7),
        make.estimate(scorer="y", value=0.5, n=10),
        make.estimate(scorer="x", against="y", metric="excess", value=0.1, low=0.0, high=0.2, n=7),
    ]
    grid = grid_of(build_view(record, rows), "Excess of x")
    assert cell(grid, "n", "all") == "7"
    assert "Compared only on the instances that both sides have a value for: 7 of 10 in all instances." in grid.notes


def test_a_table_says_whose_n_is_which(make):
    record, rows = make.contrasts()
    fewer = [replace(r, n=669) if r.scorer == "recorded:clip" and r.subset == "add_att" else r for r in rows]
    grid = grid_of(build_view(record, fewer), "By subset: accuracy")
    assert cell(grid, "n", "add_att") == "669 to 692"
    assert any("add_att: 669 for recorded:clip, 692 for all others." in note for note in grid.notes)
    assert not any("n is not the same" in note for note in grid_of(build_view(record, rows), "By subset").notes)


def test_a_table_says_where_everything_is_a_tie(make):
    facts = {"x": make.contestant("model"), "y": make.contestant("model")}
    rows = [
        make.estimate(scorer=name, metric="group", value=0, n=50, ties=ties) for name, ties in (("x", 50), ("y", 49))
    ]
    grid = grid_of(build_view(make.record(contestants=facts), rows), "All instances")
    [note] = [note for note in grid.notes if "Every comparison is a tie" in note]
    assert "for x:" in note


def test_comparisons_do_not_leak_into_tables_of_single_contestants(make):
    record, rows = make.contrasts()
    index = Index(record, rows)
    assert not {"excess", "accuracy_easy", "easy_hard_gap"} & set(index.metrics)
    alone = build_view(record, [row for row in rows if not row.against])
    kept = {grid.title: grid for grid in build_view(record, rows).grids}
    for grid in alone.grids:
        assert kept[grid.title] == grid


def test_accuracy_of_another_kind_is_not_the_headline(make):
    record = make.record(contestants={"recorded:x": make.contestant("model")})
    rows = [make.estimate(scorer="recorded:x", metric=m) for m in ("accuracy_if_wrong", "accuracy_consistent", "group")]
    index = Index(record, rows)
    assert index.headline(index.contestants[0]) == "group"


def test_answers_in_both_orders_have_a_table_by_subset(make):
    record = make.record(contestants={"recorded:gpt": make.contestant("model")})
    values = {"accuracy": 0.9, "accuracy_consistent": 0.85, "flip_rate": 0.1, "first_option_share": 0.45}
    rows = [
        make.estimate(scorer="recorded:gpt", metric=metric, value=value, subset=subset, n=400)
        for subset in ("a", "all")
        for metric, value in values.items()
    ]
    view = build_view(record, rows)
    grid = grid_of(view, "Both option orders: recorded:gpt")
    assert [head.label for head in grid.rows] == ["a", "all"]
    assert [head.label for head in grid.columns] == [
        *("accuracy %, both orders", "right in both orders %", "answer flips %", "first option chosen %"),
    ]
    # .45 +- 1.96 sqrt(.45 x .55 / 400) = .45 +- .0488
    assert grid.cells[1] == ("90.0 [87.1, 92.9]", "85.0 [81.5, 88.5]", "10.0 [7.1, 12.9]", "45.0 [40.1, 49.9]")
    assert [one.title for one in view.grids if "flip" in one.title] == []
    assert [head.label for head in grid_of(view, "All instances").columns] == ["accuracy %", "ties"]


@pytest.mark.parametrize("width", [80, 100])
def test_many_columns_fold_and_none_is_lost(make, show, width):
    view = build_view(*make.contrasts(n_more=6))
    grid = grid_of(view, "By subset: accuracy")
    # 1 model, length 2 (two are repetitions), likelihood 2, 6 x 3 cues, ngram 1: 24 rows; of the 8 zero-shot
    # contestants one column each stays open, so 22 - 8 = 14 are folded
    assert len([head for head in grid.rows if not head.foot]) == 24
    assert len(grid.folded) == 14
    shown, hidden = opened(grid), behind(grid)
    names = [head.full for head in (*shown.rows, *hidden.rows) if not head.foot]
    assert sorted(names) == sorted(head.full for head in grid.rows if not head.foot)
    assert "length:characters:fewer" in [head.full for head in shown.rows]  # 71.2 is farther than 67.4
    assert "cue0:c2" in [head.full for head in shown.rows]  # 52 is farther than 50 and 51
    assert any("chosen on these data" in note and "14 rows" in note for note in grid.notes)
    text = show(view, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    page, markdown = render_html(view), render_markdown(view)
    for part in (*shown.cells, *hidden.cells):
        assert all(value in markdown for value in part)
    assert page.count("The other columns of the baselines") == len([one for one in view.grids if one.folded])
    assert "the other columns" in markdown


def test_few_columns_are_not_folded(make):
    assert not any(grid.folded for grid in build_view(*make.contrasts()).grids)


def test_the_best_baseline_is_picked_by_row_and_named_as_a_description(make):
    record, rows = make.contrasts()
    against, split = versus_charts(record, Index(record, rows))
    assert [series.label for series in against.series] == [
        "recorded:clip",
        "Best zero-shot blind baseline of each row",
        "Best baseline trained on the benchmark, of each row",
    ]
    by_label = {row.label: row for row in against.rows}
    # add_att: fewer words .9913; replace_obj: the other direction, more words, 1 - .4437 = .5563; swap_obj: norm .588
    # and unnorm .600
    best = {name: by_label[name].points[1] for name in ("add_att", "replace_obj", "swap_obj", ALL)}
    assert {name: point.scorer for name, point in best.items()} == {
        "add_att": "length:words:fewer",
        "replace_obj": "length:words:more",
        "swap_obj": "likelihood:SmolLM2-135M-Instruct:unnorm",
        ALL: "length:characters:fewer",
    }
    assert by_label["add_att"].details == ("length:words:fewer", "ngram:raw")
    assert "a description" in " ".join(against.notes)
    assert [row.points[0].value for row in split.rows] == pytest.approx([0.82] * 3)
    assert all(row.details == ("gap +15.0 [+13.0, +17.0]",) for row in split.rows)
    assert [row.label for row in split.rows] == ["length:characters:fewer", f"{make.MODEL}:unnorm", "ngram:raw"]


def test_marks_of_the_model_chart_stand_where_their_numbers_say(make):
    chart = build_view(*make.contrasts()).charts[0]
    assert chart.key == "models-1"
    layout = lay_out(chart, WIDE)
    drawn = [mark for mark in layout.marks if mark.estimate]
    assert len(drawn) == 3 * 8
    for mark in drawn:
        share = (mark.estimate.value - chart.low) / (chart.high - chart.low)
        assert mark.x == pytest.approx(WIDE.left + share * (WIDE.right - WIDE.left))
        assert mark.filled == (mark.estimate.p <= 0.05)
    # A baseline keeps colour and shape however many models stand beside it.
    assert {mark.series for mark in drawn} == {0, 2, 3}
    tops = [label.y for label in layout.labels if label.anchor == "end" and label.x < WIDE.left]
    assert tops == sorted(tops)


def test_no_model_or_no_baseline_no_chart_of_both(make):
    record, rows = make.contrasts()
    index = Index(record, [row for row in rows if not row.scorer.startswith("recorded")])
    assert versus_charts(record, index) == ()
    index = Index(record, [row for row in rows if row.scorer.startswith("recorded")])
    assert versus_charts(record, index) == ()


def test_strict_combinations_do_not_stand_beside_single_decisions(make):
    view = build_view(*make.pairs())
    assert not [chart for chart in view.charts if chart.key.startswith("models")]
    facts, rows = make.pairs(3)
    rows += [
        make.estimate(scorer="clip-b32", metric="i2t_base", value=0.8, subset=place)
        for place in ("add_person", "modify_cardinality", "swap_relation", "all")
    ]
    view = build_view(facts, rows)
    assert view.charts[0].axis == "I2T at the base image % or caption preference %"
    assert grid_of(view, "By subset: I2T at the base image % or caption preference %").rows[0].full == "clip-b32"


def test_every_table_of_the_page_has_its_cells(make):
    view = build_view(*make.contrasts(n_more=6))
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", render_html(view)))
    for grid in view.grids:
        for row in grid.cells:
            assert all(part in text for part in row)


def test_a_split_by_baselines_that_see_images_alone_names_the_decision_that_was_split(make):
    seen = {"clip": make.contestant("model"), "length": make.contestant(), "cue": make.contestant()}
    seen["cue"]["sees"] = ["image"]
    record = make.record(contestants=seen)
    record["benchmark"]["shapes"] = {"2x2": 16}
    own = [make.estimate(scorer="clip", metric=metric, value=0.5) for metric in ("group", "i2t_base", "t2i_base")]
    theirs = [
        make.estimate(scorer="length", metric="caption_preference", value=0.5),
        make.estimate(scorer="cue", metric="image_preference", value=0.5),
    ]
    split = {
        other: make.estimate(scorer="clip", against=other, metric="accuracy_easy", value=0.6)
        for other in ("length", "cue")
    }

    def drawn(*pairs):
        [chart] = [one for one in versus_charts(record, Index(record, [*own, *theirs, *pairs])) if "split" in one.key]
        return chart

    both = drawn(*split.values())
    assert both.axis == "I2T at the base image % or T2I at the base caption %"
    assert any("see images alone stands T2I at the base caption" in note for note in both.notes)
    assert drawn(split["length"]).axis == "I2T at the base image %"
    assert drawn(split["cue"]).axis == "T2I at the base caption %"
