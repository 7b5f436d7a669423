"""The verdict opens every page, in the words of its record, and nothing beside it says otherwise."""

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from reports.html import render_html
from reports.index import Index
from reports.markdown import render_markdown
from reports.text import plain
from reports.verdict import build_verdict
from reports.view import build_view


def of(make, *verdicts, **changes):
    record = make.record(verdicts=list(verdicts), **changes)
    return build_verdict(record, Index(record, make.estimates()))


def test_an_older_record_has_no_verdict_and_is_shown_as_before(make, show):
    view = build_view(make.record(), make.estimates())
    assert view.verdict is None
    assert plain(view.answer.lead).startswith("Without the image")
    assert "erdict" not in show(view)
    assert 'class="verdict' not in render_html(view)


def test_level_and_sentence_open_every_page_before_any_number_of_ours(make, show):
    view = build_view(*make.contrasts())
    text = re.sub(r"<[^>]+>", "", render_html(view).split("<main>")[1])
    for page in (show(view, 80), render_markdown(view).replace("*", "").replace("\\", ""), text):
        squeezed = " ".join(page.split())
        assert squeezed.find("What was measured on all.") < squeezed.find("Intervals are 95 % intervals")
        assert squeezed.find("Compromised") < squeezed.find("What was measured on all.")
        assert "no shortcut larger than the stated size found" in squeezed
    assert 'class="verdict level-compromised"' in render_html(view)


def test_no_shortcut_is_never_said_without_its_size(make):
    assert of(make, make.verdict(level="none larger found")).title == "No shortcut larger than 3.1 points found"
    unknown = of(make, make.verdict(level="none larger found", smallest_visible=None))
    assert unknown.title == "No shortcut larger than an unknown size found"
    (group,) = of(make, make.verdict(), make.verdict("swap_obj", "none larger found")).groups
    assert [plain(one) for one in group.subsets] == ["swap_obj (3.1 points)"]


def test_subsets_stand_by_level_the_gravest_first_and_in_their_order(make):
    levels = {"swap_att": "weakened", "add_obj": "weakened", "replace_att": "compromised", "swap_obj": "undecided"}
    found = of(make, *(make.verdict(subset, level) for subset, level in levels.items()), make.verdict(level="weakened"))
    assert [(group.level, [plain(one) for one in group.subsets]) for group in found.groups] == [
        ("compromised", ["replace_att"]),
        ("weakened", ["add_obj", "swap_att"]),
        ("undecided", ["swap_obj (3.1 points)"]),
    ]
    assert found.title == "Weakened"


def test_a_trained_warning_does_not_read_like_a_zero_shot_verdict(make):
    found = of(make, make.verdict(level="trained-text warning"), make.verdict("add_att", "trained-text warning"))
    assert found.title == "Trained-text warning"
    assert "no zero-shot baseline is shown to get there" in found.groups[0].about
    record = make.record(verdicts=[make.verdict(level="trained-text warning")])
    assert "level-compromised" not in render_html(build_view(record, make.estimates())).split("<main>")[1]


def test_without_a_verdict_on_all_instances_the_gravest_subset_speaks_with_its_name(make):
    found = of(make, make.verdict("add_obj", "weakened"), make.verdict("add_att", "compromised"))
    assert found.title == "Compromised"
    assert plain(found.sentence) == "add_att: What was measured on add_att."


def test_the_rule_names_family_and_thresholds(make):
    record, estimates = make.contrasts()
    rule = " ".join(plain(one) for one in build_view(record, estimates).verdict.rule)
    assert "corrected over 312 tests (step-down max-t, alpha 0.05)" in rule
    assert "compromised 0.1" in rule


def test_the_answer_does_not_repeat_the_baseline_that_the_verdict_names(make):
    record, estimates = make.contrasts()
    view = build_view(record, estimates)
    assert view.answer.lead == ()
    assert not plain(view.answer.points[0]).startswith("Without the image, unnormalised")
    record["verdicts"] = [make.verdict(by=["ngram:raw"])]
    first = plain(build_view(record, estimates).answer.points[0])
    assert first.startswith("Without the image, taking the caption with fewer characters")


def test_nothing_is_claimed_that_the_correction_does_not_bear_out(make, show):
    """Every interval of length excludes chance in add_att; with p = .6 neither words nor marks may say so."""
    record, estimates = make.contrasts()
    estimates = [replace(row, p=0.6) if row.p < 0.05 else row for row in estimates]
    record["verdicts"] = [make.verdict(level="none larger found")]
    view = build_view(record, estimates)
    said = " ".join(plain(point) for point in view.answer.points)
    assert "Without the image" not in said
    assert "exclude" not in said
    assert not any(" *" in cell for grid in view.grids for row in grid.cells for cell in row)
    assert not any(chart.departs(point) for chart in view.charts if chart.alpha for point in chart.estimates)


@pytest.mark.parametrize(("p", "marked"), [(0.05, True), (0.0501, False), (float("nan"), False)])
def test_a_mark_means_the_corrected_p_value_and_the_legend_says_so(make, p, marked):
    record = make.record(family=make.FAMILY, contestants={"length": make.contestant(columns=["w"])})
    rows = [make.estimate(scorer="length:w", subset=subset, value=0.9, p=p) for subset in ("a", "all")]
    (grid,) = [grid for grid in build_view(record, rows).grids if grid.title.startswith("By subset")]
    # .9 +- 1.96 x .03 = [.8412, .9588]
    assert grid.cells[0][0] == "90.0 [84.1, 95.9]" + (" *" if marked else "")
    assert any("312 tests" in note for note in grid.notes) == marked


HOSTILE = "<script>x</script> [red]a[/red] | **b** \u202e `c` https://evil.example"


def test_hostile_sentences_stay_text(make, show):
    record = make.record(verdicts=[make.verdict(sentence=HOSTILE, by=[HOSTILE]), make.verdict(HOSTILE, by=[HOSTILE])])
    record |= {"family": {**make.FAMILY, "what": HOSTILE, "method": HOSTILE}, "thresholds": {HOSTILE: HOSTILE}}
    view = build_view(record, make.estimates())
    page = render_html(view)
    assert "<script" not in page
    assert "&lt;script&gt;x&lt;/script&gt; [red]a[/red] | **b** \\u202e" in page
    assert "[red]a[/red]" in " ".join(show(view, 160).split())
    shown = render_markdown(view)
    assert "\u202e" not in shown + page + show(view)
    tokens = MarkdownIt().enable("table").parse(shown)
    kinds = {token.type for block in tokens for token in (block, *(block.children or []))}
    assert not kinds & {"html_inline", "html_block", "link_open", "em_open", "image"}
    assert "<strong>b" not in MarkdownIt().enable("table").render(shown)


def test_the_size_that_is_named_is_what_no_shortcut_exceeds(make):
    found = of(make, make.verdict(level="none larger found", smallest_visible=0.005, not_larger_than=0.035))
    assert found.title == "No shortcut larger than 3.5 points found"
    [group] = of(make, make.verdict(), make.verdict("swap_obj", "undecided", smallest_visible=None)).groups
    assert "nothing could have been seen" in plain(group.subsets[0])


def test_no_table_reads_no_shortcut_found(make):
    record, estimates = make.contrasts()
    [grid] = [grid for grid in build_view(record, estimates).grids if grid.title == "Verdict by subset"]
    said = [row[0] for row in grid.cells]
    assert "no shortcut larger than 3.1 points found" in said
    assert "no shortcut found" not in said


@pytest.mark.parametrize(("low", "marked"), [(0.501, True), (0.5, False)])
def test_a_mark_needs_the_printed_interval_as_well(make, low, marked):
    record = make.record(family=make.FAMILY, contestants={"length": make.contestant(columns=["w"])})
    rows = [make.estimate(scorer="length:w", subset=subset, value=0.6, low=low, p=0.01) for subset in ("a", "all")]
    (grid,) = [grid for grid in build_view(record, rows).grids if grid.title.startswith("By subset")]
    assert grid.cells[0][0].endswith(" *") == marked
