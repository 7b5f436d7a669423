"""The instance browser: which instances it holds, that they are inert, and that its filters do what they say."""

import html
import json
import re
from urllib.parse import quote

import pandas as pd
import pytest

from reports import cases as cases_module
from reports.cases import pick, read_cases
from reports.index import Index
from reports.record import RunFolder, render_again
from reports.schema import Finding
from tests.reports import browser

FEWER = "length:words:fewer"


in_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(not browser.CHROMIUM, reason="no chromium is installed (apt-get install chromium)"),
]


def run_of(folder, make, tables, findings=()):
    with RunFolder.open(folder, "one") as opened:
        opened.begin(make.record())
        for name, table in tables.items():
            opened.table(name, table)
        return opened.finish(make.record(), make.estimates(), list(findings))


def cases_of(folder, make, tables, findings=()):
    run = run_of(folder, make, tables, findings)
    return read_cases(run.path, run.record, Index(run.record, run.estimates), run.findings)


def many(make, number, subsets=("x", "y")):
    pairs = [(f"base {at}", f"the foil {at}") for at in range(number)]
    return make.tables(pairs, [subsets[at % len(subsets)] for at in range(number)])


def test_every_caption_key_score_and_outcome_of_an_instance(tmp_path, make):
    # "a cup" has 5 letters, "two cups" 8: fewer letters is right. "a dog" and "a cat" tie with 5 each.
    data = json.loads(cases_of(tmp_path / "out", make, make.tables()).data)
    at = [one["name"] for one in data["contestants"]].index(FEWER)
    first, second = data["items"]
    assert (first["i"], first["c"], first["m"], first["g"]) == ("x:0", ["a cup", "two cups"], ["x:0.jpg"], [[1, 0]])
    assert first["v"][at] == [[-5.0, -8.0]]
    assert [data["states"][int(item["o"][at])] for item in (first, second)] == ["right", "tied"]
    assert data["subsets"] == ["x", "y"]
    assert first["v"].count(None) == len(data["contestants"]) - 1


def test_two_images_are_judged_by_the_base_image_and_both_orders_together(tmp_path, make):
    tables = make.tables()
    scorer = FEWER
    rows = [("x:0", "i2t", "", "image0", "loss"), ("x:0", "i2t", "", "image1", "win"), ("x:0", "", "", "group", "win")]
    rows += [("y:1", "i2t", "first", "image0", "win"), ("y:1", "i2t", "second", "image0", "loss")]
    columns = ["instance", "direction", "order", "comparison", "outcome"]
    tables["outcomes"] = pd.DataFrame(rows, columns=columns).assign(scorer=scorer)
    data = json.loads(cases_of(tmp_path / "out", make, tables).data)
    at = [one["name"] for one in data["contestants"]].index(scorer)
    assert [data["states"][int(item["o"][at])] for item in data["items"]] == ["wrong", "differs by order"]


@pytest.mark.parametrize("kind", ["empty", "unparsed", "failed"])
def test_an_answer_that_could_not_be_read_is_unscored_whatever_the_other_order_says(tmp_path, make, kind):
    tables = make.tables()
    rows = [("x:0", "first", kind), ("x:0", "second", "win"), ("y:1", "first", "win"), ("y:1", "second", "win")]
    tables["outcomes"] = pd.DataFrame(rows, columns=["instance", "order", "outcome"]).assign(
        scorer=FEWER, direction="i2t", comparison="image0"
    )
    data = json.loads(cases_of(tmp_path / "out", make, tables).data)
    at = [one["name"] for one in data["contestants"]].index(FEWER)
    assert [data["states"][int(item["o"][at])] for item in data["items"]] == ["unscored", "right"]


def test_named_instances_come_first_then_every_subset_has_its_share():
    subsets = {f"a{at}": "a" for at in range(50)} | {f"b{at}": "b" for at in range(5)}
    chosen, named = pick(subsets, ["a7", "gone", "a7", "a9"], seed=1, most=20)
    assert chosen[:2] == ["a7", "a9"]
    assert named == 2
    assert len(set(chosen)) == len(chosen) == 20
    assert sum(one.startswith("b") for one in chosen) == 5  # 18 places in turns of two: all five of the small subset
    assert pick(dict(reversed(subsets.items())), ["a7", "a9"], seed=1, most=20)[0] == chosen  # order says nothing
    assert pick(subsets, [], seed=1, most=20)[0] != pick(subsets, [], seed=2, most=20)[0]
    assert sorted(pick(subsets, [], seed=1, most=100)[0]) == sorted(subsets)
    crowd = [f"a{at}" for at in range(50)]
    assert pick(subsets, crowd, seed=1, most=20)[1] == 10  # at most half are named ones


def test_the_cap_is_kept_and_said_by_number_and_by_size(tmp_path, make, monkeypatch):
    tables = many(make, 40)
    whole = cases_of(tmp_path / "whole", make, tables)
    assert whole.note == "All 40 instances are in this page, in the order of the benchmark."
    monkeypatch.setattr(cases_module, "MOST_INSTANCES", 10)
    found = cases_of(tmp_path / "few", make, tables, [Finding("k", "info", "s", "", ("y:39",))])
    items = json.loads(found.data)["items"]
    assert found.note.startswith("10 of 40 instances are in this page: the 1 that findings name, and a fixed")
    assert items[-1]["i"] == "y:39"  # the last of the file, and chosen for being named
    order = [int(item["i"].partition(":")[2]) for item in items]
    assert order == sorted(order)
    monkeypatch.setattr(cases_module, "MOST_BYTES", 1000)
    small = cases_of(tmp_path / "small", make, tables)
    assert 1 <= len(json.loads(small.data)["items"]) < 10
    assert "of 40 instances" in small.note


@pytest.mark.parametrize("spoil", ["columns", "json", "number"])
def test_tables_of_another_form_are_named_and_stop_nothing(tmp_path, make, spoil):
    tables = make.tables()
    if spoil == "columns":
        tables["instances"] = tables["instances"][["instance", "subset"]]
    elif spoil == "json":
        tables["instances"]["captions"] = "{"
    else:
        tables["scores"] = tables["scores"].astype({"score": str}).assign(score="high")
    found = cases_of(tmp_path / "out", make, tables)
    assert found.data == ""
    assert len(found.problems) == 1
    assert "No instances can be shown." in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_pages_with_a_browser_are_the_same_when_rendered_again(tmp_path, make):
    run_of(tmp_path / "out", make, many(make, 30), [Finding("k", "info", "s", "", ("x:2",))])
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    render_again(tmp_path / "out")
    assert {path: path.read_bytes() for path in before} == before


H4 = "3 mugs < 5 & <i>tea</i> </script> [red]cup[/red]"
RAN = "document.title='RAN'"
HOSTILE = [
    *(H4, f"<script>{RAN}</script>", f"</script><script>{RAN}</script>", f'<img src=x onerror="{RAN}">'),
    *(
        "<!-- <script>",
        "]]> <![CDATA[",
        "rtl \u202e override \u2066isolate",
        "\u2028 line \x1b[31m",
        "{{ 7*7 }}",
        " a  b ",
    ),
    *('"}],"items":[', "\\u003cscript\\u003e", "http://evil.example/x.png"),
]


def hostile_run(folder, make):
    pairs = [(text, f"foil {text}") for text in HOSTILE]
    tables = make.tables(pairs, HOSTILE)
    tables["instances"]["images"] = [json.dumps([text]) for text in HOSTILE]
    tables["instances"]["query"] = HOSTILE
    run_of(folder, make, tables)
    return folder / "report.html"


def test_data_cannot_end_its_script_or_steer_the_page(tmp_path, make):
    page = hostile_run(tmp_path / "out", make).read_text(encoding="utf-8")
    assert page.count("<script") == page.count("</script>") == 2
    data = re.search(r'<script type="application/json" id="browser-data">(.*?)</script>', page, re.DOTALL)[1]
    assert data.isascii()
    assert not set("<>&") & set(data)
    captions = [item["c"][0] for item in json.loads(data)["items"]]
    assert H4 in captions
    assert "rtl \\u202e override \\u2066isolate" in captions
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+';", policy)
    assert "unsafe" not in policy


def seen(page, folder, fragment=""):
    """Return the page after its script ran, as if it had been opened with this fragment."""

    class Place:
        def as_uri(self):
            return page.as_uri() + fragment

    return browser.visit(Place(), folder)


def shown(dom):
    """Return the ids, the captions and the count that the browser shows."""
    listed = dom.split('<ol id="browser-list">')[1].split('<p class="buttons"><button type="button" id="browser-more"')[
        0
    ]
    ids = re.findall(r'<p class="case-head"><code>(.*?)</code>', listed, re.DOTALL)
    texts = re.findall(r"<bdi>(.*?)</bdi>", listed, re.DOTALL)
    count = re.search(r'id="browser-count" role="status">(.*?)</p>', dom)[1]
    return [html.unescape(one) for one in ids], [html.unescape(one) for one in texts], count


class TestInABrowser:
    pytestmark = in_browser

    def test_hostile_captions_are_shown_letter_by_letter_and_do_nothing(self, tmp_path, make):
        visit = seen(hostile_run(tmp_path / "out", make), tmp_path / "profile")
        assert visit.requests == []
        assert visit.console == []
        assert "<title>RAN</title>" not in visit.dom
        assert "<img" not in visit.dom.split("</script>")[0]
        assert 'id="browser-off"' not in visit.dom
        _, texts, count = shown(visit.dom)
        assert H4 in texts
        assert " a  b " in texts
        assert "rtl \\u202e override \\u2066isolate" in texts
        assert count == f"{len(HOSTILE)} of {len(HOSTILE)} match."

    def test_filters_by_subset_text_and_who_was_right(self, tmp_path, make):
        # Letters: 5 < 8 right, 5 = 5 tied, 9 > 5 wrong, 5 < 7 right.
        pairs = [("a cup", "two cups"), ("a dog", "a cat"), ("three men", "a man"), ("a hat", "two hat")]
        run_of(tmp_path / "out", make, make.tables(pairs, ["x", "x", "y", "y"]))
        page = tmp_path / "out" / "report.html"
        asked = {
            "": ["x:0", "x:1", "y:2", "y:3"],
            "#instances?subset=y": ["y:2", "y:3"],
            "#instances?text=HAT": ["y:3"],
            "#instances?text=y%3A2.jpg": ["y:2"],
            f"#instances?who={FEWER}~right": ["x:0", "y:3"],
            f"#instances?who={FEWER}~tied": ["x:1"],
            f"#instances?subset=y&who={FEWER}~wrong": ["y:2"],
            f"#instances?who={FEWER}~right&who={FEWER}~wrong": [],
            f"#instances?subset={quote('no such')}&who=nobody~right": ["x:0", "x:1", "y:2", "y:3"],
        }
        for number, (fragment, expected) in enumerate(asked.items()):
            visit = seen(page, tmp_path / f"profile{number}", fragment)
            ids, _, count = shown(visit.dom)
            assert ids == expected, fragment
            assert visit.console == visit.requests == []
            assert count == (f"{len(expected)} of 4 match." if expected else "No instance in this page matches.")

    def test_a_long_list_comes_in_steps(self, tmp_path, make):
        run_of(tmp_path / "out", make, many(make, 50))
        ids, _, count = shown(seen(tmp_path / "out" / "report.html", tmp_path / "profile").dom)
        assert len(ids) == 20
        assert count == "50 of 50 match; the first 20 are shown."

    def test_without_its_script_the_page_says_so(self, tmp_path, make):
        run_of(tmp_path / "out", make, make.tables())
        page = tmp_path / "out" / "report.html"
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"script-src 'sha256-[^']*'; ", "", text), encoding="utf-8")
        visit = seen(page, tmp_path / "profile")
        assert "The instance browser needs a script of this page" in visit.dom
        assert '<form id="browser" aria-label="Filter instances" hidden' in visit.dom
