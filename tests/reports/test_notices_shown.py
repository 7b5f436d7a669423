import pytest

from reports.html import render_html
from reports.markdown import render_markdown
from reports.notes import BANNER
from reports.noticed import finding_lines
from reports.record import RunFolder, read, render_again, view_of
from reports.schema import Finding
from reports.text import plain
from reports.view import build_view


def notices(record, estimates=()):
    return [plain(notice) for notice in build_view(record, estimates).notices]


def test_the_sample_is_named_at_the_top_and_the_end_of_every_page(make, show):
    view = build_view(make.record(sample=True), make.estimates())
    for page in (show(view, 60), show(view, 160), render_markdown(view)):
        squeezed = " ".join(page.split())
        assert squeezed.count(BANNER) == 2
        assert squeezed.find(BANNER) < squeezed.find("Without the image")
        assert squeezed.rfind(BANNER) > squeezed.find("This run")
    assert "sample, not the released data" in BANNER.lower()


def test_no_other_run_is_called_a_sample(make, show):
    view = build_view(make.record(), make.estimates())
    assert "SAMPLE" not in show(view) + render_markdown(view)


def test_the_sample_is_still_named_after_reading_back(tmp_path, make):
    with RunFolder.open(tmp_path, "one") as folder:
        folder.begin(make.record(sample=True))
        folder.finish(make.record(sample=True), make.estimates(), [])
    assert (tmp_path / "report.md").read_text(encoding="utf-8").count(BANNER) == 2
    assert read(tmp_path).record["sample"] is True


def test_a_page_is_the_same_before_and_after_reading_back(tmp_path, make):
    with RunFolder.open(tmp_path, make.record()["config_digest"]) as folder:
        folder.begin(make.record())
        for name, table in make.tables().items():
            folder.table(name, table)
        folder.finish(make.record(), make.estimates(), [])
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == render_markdown(
        build_view(make.record(), make.estimates())
    )


def test_a_complete_run_has_no_notices(make):
    assert notices(make.record(), make.estimates()) == []


def test_coverage_is_a_share_with_the_ids(make):
    record = make.record()
    record["benchmark"]["coverage"] = {"needed": True, "expected": 10, "present": 7, "missing": ["a", "b", "c"]}
    assert notices(record, make.estimates()) == [
        "Coverage 0.70: 7 of 10 instances have all their images: without are a, b, c."
    ]
    record["benchmark"]["coverage"] |= {"missing": [f"i{n}" for n in range(1003)], "needed": False}
    (found,) = notices(record, make.estimates())
    assert "no contestant here needs them" in found
    assert "i4 and 998 more" in found  # five are named


def test_absent_parts_and_wrong_counts_are_told_apart(make):
    record = make.record()
    record["benchmark"]["n_by_subset"] |= {"swap_obj": 246}
    del record["benchmark"]["n_by_subset"]["swap_att"]
    del record["benchmark"]["n_by_subset"]["add_att"]
    record["benchmark"]["provenance"]["absent"] = ["swap_att"]
    assert notices(record, make.estimates()) == [
        "Parts of the release that are not here and were not evaluated: swap_att.",
        "The number of instances is not the expected one: add_att 0 (expected 692), swap_obj 246 (expected 245).",
    ]


def test_a_limit_is_said_instead_of_wrong_counts(make):
    record = make.record()
    record["config"]["benchmark"]["limit"] = 10
    record["benchmark"]["n_by_subset"] = {"add_att": 10}
    assert notices(record, make.estimates()) == [
        "Only the first 10 instances (benchmark.limit=10), not the whole benchmark."
    ]


@pytest.mark.parametrize(("key", "words"), [("truncated", "did not fit"), ("unscored", "could not be scored")])
def test_what_was_cut_or_not_scored_is_counted(make, key, words):
    record = make.record()
    record["contestants"]["length"][key] = 1
    (found,) = notices(record, make.estimates())
    assert found.startswith("length: 1 ")
    assert words in found


def test_a_contestant_without_estimates_is_named(make):
    record = make.record()
    record["contestants"]["likelihood:other"] = make.contestant()
    assert notices(record, make.estimates()) == ["likelihood:other ran and has no estimate."]


def test_everyones_notices_are_shown_once(make):
    record = make.record(notices=["one", "two"])
    record["benchmark"]["provenance"]["notices"] = ["two", "three"]
    assert notices(record, make.estimates()) == ["two", "three", "one"]


def test_findings_come_with_the_worst_first_and_where_to_look(make, show):
    findings = [
        Finding("k", "info", "Small."),
        Finding("k", "warning", "Large.", "swap", tuple(f"i{n}" for n in range(9))),
    ]
    view = build_view(make.record(), make.estimates(), findings)
    assert [plain(item) for item in finding_lines(view.findings, 3)] == [
        "warning swap: Large. Look at i0, i1, i2, i3, i4 and 4 more.",
        "info Small.",
    ]
    assert "Findings" in show(view)
    assert "## Findings" in render_markdown(view)


def test_many_findings_of_one_kind_are_counted_on_text_pages_and_folded_in_the_page(make, show):
    findings = [Finding("token", "notice", f"Word {at}.", "", (f"i{at}",), {"z": 2.5, "n": at}) for at in range(13)]
    view = build_view(make.record(), make.estimates(), findings)
    assert [plain(item) for item in finding_lines(view.findings, 2)] == [
        "notice Word 0. Look at i0.",
        "notice Word 1. Look at i1.",
        "notice token: 11 more of this kind: see report.html and findings.json.",
    ]
    assert "Word 2." in show(view)
    assert "Word 3." not in show(view)
    page = render_html(view)
    assert all(f"Word {at}." in page for at in range(13))
    assert "<summary>10 more</summary>" in page
    assert "<dt>z</dt><dd>2.5</dd>" in page


@pytest.mark.parametrize("name", ["instances", "scores", "outcomes"])
def test_a_missing_or_cut_table_is_said_on_every_page_and_is_no_fault(tmp_path, make, name, show):
    with RunFolder.open(tmp_path / "out", "one") as folder:
        folder.begin(make.record())
        for one, table in make.tables().items():
            folder.table(one, table)
        folder.finish(make.record(), make.estimates(), [])
    path = tmp_path / "out" / f"{name}.parquet"
    whole = path.read_bytes()
    for damage, said in ((whole[: len(whole) // 2], "cannot be read"), (b"", "cannot be read"), (None, "is missing")):
        path.unlink(missing_ok=True)
        if damage is not None:
            path.write_bytes(damage)
        run = render_again(tmp_path / "out")
        assert any(f"{name}.parquet {said}" in plain(notice) for notice in view_of(run).notices)
        assert f"{name}.parquet {said}" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8").replace(
            "\\", ""
        )
        page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
        assert "No instances can be shown." in page
        assert "<script" not in page
        assert f"{name}.parquet" in show(view_of(run))
    path.write_bytes(whole)
    assert view_of(render_again(tmp_path / "out")).notices == ()


def test_source_cost_and_set_up_are_shown_on_every_page(make, show):
    view = build_view(make.record(), make.estimates())
    for page in (show(view, 160), render_markdown(view).replace("`", "")):
        for words in (
            *("data/sugar-crepe", "feedfacecafe", "MIT", "11,000 of 11,844 measurements from the cache"),
            *("python -m audits run benchmark=sugarcrepe", "10,000 bootstrap draws, seed 42", "torch 2.4.0"),
            *("4d39598, with changes that are not committed", "in full in record.json", "float32"),
        ):
            assert words in page


def test_what_could_not_be_scored_is_counted_with_the_reasons(make):
    facts = make.contestant(unscored=40, reasons={"not finite": 3, "no words": 37})
    record = make.record(contestants={"length": facts})
    record["benchmark"]["n"] = 80
    assert notices(record, [make.estimate(scorer="length")]) == [
        "length: 40 of 80 instances could not be scored and are left out, not counted as wrong; commonest reasons, "
        "with their instances: no words (37), not finite (3)."
    ]
    record["contestants"]["length"] = make.contestant(unscored=1)
    (told,) = notices(record, [make.estimate(scorer="length")])
    assert told == "length: 1 of 80 instances could not be scored and is left out, not counted as wrong."
