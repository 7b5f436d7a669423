"""Tables that a card asks for: subsets below each other, by tag, gaps, directions; else nothing."""

from dataclasses import replace

import pytest

from reports.html import render_html
from reports.markdown import render_markdown
from reports.text import signed
from reports.view import build_view

TIERS = ("short", "medium", "long")


def asked(make, **breakdown):
    facts, rows = make.pairs(4)
    facts["benchmark"]["card"]["breakdown"] = breakdown
    return facts, rows


def grids(view, start):
    return [grid for grid in view.grids if grid.title.startswith(start)]


def cells(grid):
    heads = [head.full for head in grid.rows]
    return {
        (row, column.full): grid.cells[at][place]
        for at, row in enumerate(heads)
        for place, column in enumerate(grid.columns)
    }


def test_without_a_wish_nothing_changes(make) -> None:
    view = build_view(*make.pairs(4))
    assert not grids(view, "Gaps") + grids(view, "By direction") + grids(view, "By subset and")
    [strict] = grids(view, "By subset: Group ")
    assert [head.full for head in strict.rows if not head.foot] == ["clip-b32"]


def test_subsets_stand_below_each_other_with_n_and_chance(make) -> None:
    facts, rows = asked(make, tags=["tier"])
    rows = [replace(row, n=7) if row.subset == "modify_cardinality" else row for row in rows]
    [grid] = grids(build_view(facts, rows), "By subset: Group ")
    told = cells(grid)
    assert told["modify_cardinality", "n"] == "7"
    assert told["modify_cardinality", "chance"] == "16.7"
    assert told["modify_cardinality", "clip-b32"].startswith("10.0 [")
    assert [head.full for head in grid.rows] == [
        "add_person", "modify_cardinality", "swap_relation", "remove_object", "macro", "all",
    ]  # fmt: skip


def test_subset_by_tier_has_a_column_per_model_and_value(make) -> None:
    facts, rows = asked(make, tags=["tier"])
    for place, tier in enumerate(TIERS):
        rows.append(
            make.estimate(
                benchmark="compset", scorer="clip-b32", subset="add_person", metric="group", tag=f"tier={tier}",
                value=0.2 + 0.1 * place, n=13, chance=1 / 6,
            )
        )  # fmt: skip
    [grid] = grids(build_view(facts, rows), "By subset and tier: Group ")
    told = cells(grid)
    assert [told["add_person", f"clip-b32:{tier}"][:4] for tier in TIERS] == ["20.0", "30.0", "40.0"]
    assert told["add_person", "n"] == "13"
    # All instances of a tier have rows of their own, which stand here too; other subsets have none.
    assert [head.full for head in grid.rows] == ["add_person", "all"]


def test_gaps_are_points_with_their_sign(make) -> None:
    facts, rows = asked(make, gaps=[["modify_", "swap_"]])
    for name, value in (("modify_* - swap_*", 0.31), ("modify_color - swap_color", -0.05), ("matched", 0.0)):
        rows.append(
            make.estimate(
                benchmark="compset", scorer="clip-b32", metric="group_gap", tag=f"gap={name}", value=value,
                low=value - 0.1, high=value + 0.1, chance=0.0,
            )
        )  # fmt: skip
    view = build_view(facts, rows)
    told = cells(grids(view, "Gaps between kinds of subsets: Group")[0])
    assert told["modify_* - swap_*", "clip-b32"] == "+31.0 [+21.0, +41.0]"
    assert told["modify_color - swap_color", "clip-b32"] == f"{signed(-0.05)} [{signed(-0.15)}, {signed(0.05)}]"
    assert told["matched", "chance"] == "0"


def directions(make, facts, rows, subset):
    numbers = {
        ("i2t_direction", "direction=on / under: on"): (0.9, 0.5),
        ("i2t_direction", "direction=on / under: under"): (0.2, 0.5),
        ("t2i_direction", "direction=on / under: on"): (0.7, 0.5),
        ("t2i_direction", "direction=on / under: under"): (0.4, 0.5),
        ("i2t_directions", "directions=on / under"): (0.15, 0.25),
        ("t2i_directions", "directions=on / under"): (0.14, 0.25),
        ("group_directions", "directions=on / under"): (0.04, 1 / 6),
    }
    made = [
        make.estimate(
            benchmark="compset", scorer="clip-b32", subset=subset, metric=metric, tag=tag, value=value, n=103,
            chance=chance,
        )
        for (metric, tag), (value, chance) in numbers.items()
    ]  # fmt: skip
    return facts, [*rows, *made]


@pytest.mark.parametrize(
    ("subsets", "group"), [([], "on / under"), (["modify_cardinality"], "modify_cardinality, on / under")]
)
def test_directions_as_the_paper_lays_them_out(make, subsets, group) -> None:
    wish = {"words": {"on": ["on"], "under": ["under"]}, **({"subsets": subsets} if subsets else {})}
    view = build_view(*directions(make, *asked(make, directions=wish), subsets[0] if subsets else "all"))
    [grid] = grids(view, "By direction: clip-b32")
    told = cells(grid)
    assert told[f"{group}:on", "I2T %"].startswith("90.0 [")
    assert told[f"{group}:under", "T2I %"].startswith("40.0 [")
    assert told[f"{group}:on", "Group %"] == ""
    assert [told[f"{group}:both sides", f"{name} %"][:4] for name in ("I2T", "T2I", "Group")] == [
        "15.0",
        "14.0",
        "4.0 ",
    ]
    assert told[f"{group}:both sides", "chance"] == "16.7 or 25"


def test_parts_stand_in_no_other_table_and_on_every_page(make) -> None:
    wish = {"directions": {"words": {"on": ["on"], "under": ["under"]}}}
    view = build_view(*directions(make, *asked(make, **wish), "all"))
    others = [grid for grid in view.grids if not grid.title.startswith("By direction")]
    assert not [head for grid in others for head in (*grid.rows, *grid.columns) if "direction" in head.full]
    assert not [grid for grid in others if "direction" in grid.title]
    for page in (render_html(view), render_markdown(view)):
        assert "By direction: clip-b32" in page


def test_a_record_of_before_is_still_shown(make) -> None:
    facts, rows = make.pairs(4)
    facts["benchmark"]["card"]["breakdown"] = None
    assert grids(build_view(facts, rows), "By subset: Group ")


def test_of_a_model_with_several_columns_the_first_stands_in_the_wide_tables(make) -> None:
    facts, rows = asked(make, tags=["tier"])
    facts["contestants"]["git"] = make.contestant("model", columns=["norm", "unnorm"])
    rows += [
        replace(row, scorer=f"git:{name}") for row in rows if row.scorer == "clip-b32" for name in ("norm", "unnorm")
    ]
    view = build_view(facts, rows)
    [stacked], [by_tier] = grids(view, "By subset: Group "), grids(view, "By subset and tier: Group ")
    assert {"clip-b32", "git:norm", "git:unnorm"} < {head.full for head in stacked.columns}
    assert [head.group for head in by_tier.columns if head.group] == ["clip-b32"] * 3 + ["git:norm"] * 3
    assert "git:unnorm: in metrics.csv." in by_tier.notes
