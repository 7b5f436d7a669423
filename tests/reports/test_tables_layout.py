import math
import re

import pytest
from rich.cells import cell_len

from reports.layout import fit, turned
from reports.view import build_view


def cell(grid, row, column):
    rows, columns = [head.full for head in grid.rows], [head.label for head in grid.columns]
    return grid.cells[rows.index(row)][columns.index(column)]


def grid_of(view, start):
    (found,) = [grid for grid in view.grids if grid.title.startswith(start)]
    return found


def test_cells_by_hand(make):
    grid = grid_of(build_view(make.record(), make.estimates()), "All instances")
    # .6736 +- 1.96 sqrt(.6736 x .3264 / 7511) = .6736 +- .0106; macro (.9913 + .9867 + .5448 + .4437 + .4934 +
    # .5008 + .5041) / 7 = .6378 +- .0109
    assert cell(grid, "length:words:fewer", "accuracy %") == "67.4 [66.3, 68.4]"
    assert cell(grid, "length:words:fewer", "accuracy macro %") == "63.8 [62.7, 64.9]"
    assert cell(grid, "length:words:more", "accuracy %") == "32.6 [31.6, 33.7]"
    assert cell(grid, "constant", "ties") == "7,511"
    assert cell(grid, "chance", "accuracy %") == "50"
    assert "The same in every row: n 7,511, clusters 3,000, unscored 0." in grid.notes
    assert any("cluster bootstrap (B=10000)" in note and "wilson" in note for note in grid.notes)


def test_subsets_keep_their_order_and_carry_n_clusters_and_chance(make):
    grid = grid_of(build_view(make.record(), make.estimates()), "By subset")
    assert [head.label for head in grid.columns] == [*make.SUBSETS, "macro", "all"]
    assert cell(grid, "n", "swap_obj") == "245"
    assert cell(grid, "clusters", "swap_obj") == "122"
    assert cell(grid, "chance", "swap_obj") == "50"


def test_what_is_left_out_is_said_and_only_what_follows_from_the_rest(make):
    grid = grid_of(build_view(make.record(), make.estimates()), "By subset")
    names = [head.full for head in grid.rows]
    assert "length:words:more" not in names
    assert "constant" not in names
    assert any("length:words:more" in note and "constant is exactly at chance" in note for note in grid.notes)
    # With three options the two directions do not add up to 1: both are shown.
    rows = [item for item in make.estimates() if item.scorer != "length:words:more"]
    rows += [make.estimate(scorer="length:words:more", subset=name, value=0.2) for name in [*make.SUBSETS, "all"]]
    names = [head.full for head in grid_of(build_view(make.record(), rows), "By subset").rows]
    assert "length:words:more" in names


def test_a_constant_off_chance_is_shown_and_shouted(make):
    rows = make.estimates()
    rows[0] = make.estimate(subset="add_att", value=1.0, n=692)
    view = build_view(make.record(), rows)
    assert "constant" in [head.full for head in grid_of(view, "By subset").rows]
    assert "constant scorer must get exactly chance" in "".join(span.text for span in view.notices[0])


def test_strict_metrics_of_a_blind_scorer_are_marked_as_fixed(make):
    grid = grid_of(build_view(*make.pairs()), "All instances")
    assert cell(grid, "length:words:fewer", "Group %") == "0.0 †"
    assert cell(grid, "length:words:fewer", "GroupMatch %") == "50.0 †"
    assert cell(grid, "clip-b32", "Group %") == "10.0 [7.7, 12.3]"
    assert cell(grid, "chance", "Group %") == "16.7"
    assert cell(grid, "insensitive null", "Group %") == "0"
    assert cell(grid, "insensitive null", "GroupMatch %") == ""
    assert any(note.startswith("†") for note in grid.notes)


def test_undefined_values_are_a_dash_never_a_zero(make):
    rows = [make.estimate(scorer="length:words:fewer", value=math.nan, low=math.nan, high=math.nan, n=0, unscored=9)]
    rows.append(make.estimate(scorer="length:words:fewer", value=0.5, low=math.nan, high=math.nan, subset="x", n=1))
    view = build_view(make.record(), rows)
    assert cell(grid_of(view, "All"), "length:words:fewer", "accuracy %") == "–"
    assert cell(grid_of(view, "By subset"), "length:words:fewer", "x") == "50.0 [undefined]"


def test_a_measure_that_is_no_proportion_is_no_percentage(make):
    rows = [make.estimate(scorer="length:words:fewer", metric="lik_diff", value=-12.345, low=-13.0, high=-11.0)]
    rows += [make.estimate(scorer="length:words:fewer", value=0.9)]
    grid = grid_of(build_view(make.record(), rows), "Further measures")
    assert cell(grid, "length:words:fewer", "Lik-Diff (nats)") == "-12.35 [-13.00, -11.00]"  # stored as -12.34500...06


def test_tags_get_their_own_table(make):
    view = build_view(*make.pairs())
    grid = grid_of(view, "By tier: caption preference")
    assert [head.label for head in grid.columns] == ["short", "medium", "long"]
    assert grid_of(view, "By tier: Group").rows[0].full == "clip-b32"


def test_few_clusters_are_said(make):
    record = make.record(contestants={"length": make.contestant(columns=["words:fewer"])})
    rows = [
        make.estimate(scorer="length:words:fewer", n_clusters=29),
        make.estimate(scorer="length:words:fewer", subset="a"),
    ]
    notes = " ".join(grid_of(build_view(record, rows), "All").notes)
    assert "Fewer than 30 clusters" in notes
    assert "all 29" in notes


@pytest.mark.parametrize("width", [60, 80, 100, 160])
@pytest.mark.parametrize("wide", [False, True])
def test_no_line_is_wider_than_the_page_and_no_cell_is_lost(make, show, width, wide):
    view = build_view(*make.pairs()) if wide else build_view(make.record(), make.estimates())
    text = show(view, width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    for grid in view.grids:
        for row in grid.cells:
            for part in row:
                assert part in text, part  # an interval is never broken over two lines


def test_a_table_that_fits_is_left_as_it_is(make):
    for grid in build_view(make.record(), make.estimates()).grids:
        assert fit(grid, 1000) == [grid]


def test_many_subsets_become_rows_on_a_narrow_page(make):
    grid = grid_of(build_view(*make.pairs()), "By subset: caption preference")
    (block,) = fit(grid, 80)
    assert [head.label for head in block.rows] == [head.label for head in grid.columns]


def test_blocks_hold_every_column_once(make):
    for grid in build_view(*make.pairs()).grids:
        for width in (40, 80, 200):
            blocks = fit(grid, width)
            heads = [head for block in blocks for head in block.columns]
            assert sorted(head.full for head in heads) in (
                sorted(head.full for head in grid.columns),
                sorted(head.full for head in grid.rows),
            )
            assert blocks[-1].notes == grid.notes


def test_turning_moves_every_cell_with_its_heads(make):
    grid = grid_of(build_view(make.record(), make.estimates()), "By subset")
    other = turned(grid)
    for r, row in enumerate(grid.rows):
        for c, column in enumerate(grid.columns):
            assert other.cells[other.rows.index(column)][other.columns.index(row)] == grid.cells[r][c]
    assert [head.label for head in other.columns[:3]] == ["chance", "n", "clusters"]


def test_numbers_have_one_decimal_everywhere(make, show):
    text = show(build_view(make.record(), make.estimates()), 160)
    assert not re.search(r"\d+\.\d{2,}\s*[\[%]", text)
