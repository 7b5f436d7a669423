"""The HTML report: foreign text stays text, nothing is loaded, and its numbers are those of the estimates."""

import base64
import hashlib
import itertools
import math
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from reports.charts import build_charts
from reports.drawing import PALETTE, png, svg
from reports.examples import Example, png_size, read_examples, write_examples
from reports.figures import NARROW, WIDE, fitted, lay_out
from reports.html import render_html
from reports.index import Index
from reports.markup import read_template
from reports.notes import BANNER
from reports.record import RunFolder, render_again
from reports.text import plain, visible
from reports.view import build_view

# Smallest PNG there is, one transparent pixel.
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
VOID = {"meta", "link", "img", "input"}
ADDRESSES = {"src", "href", "srcset", "action", "data", "poster", "xlink:href", "formaction", "background", "ping"}
ALLOWED = {
    *("html", "head", "meta", "link", "title", "style", "body", "a", "header", "h1", "h2", "h3", "main", "section"),
    *("p", "div", "ul", "li", "nav", "figure", "figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("code", "bdi", "strong", "b", "span", "dl", "dt", "dd", "footer", "article", "img"),
    *("svg", "rect", "line", "text", "g", "path", "details", "summary"),
    *("form", "label", "select", "input", "button", "ol", "script"),  # of the instance browser
}


class Page(HTMLParser):
    """Collect elements, refuse what is not nested well, and keep the text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.text = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert len({key for key, _ in attrs}) == len(attrs), "an attribute twice"
        self.elements.append((tag, dict(attrs), len(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), len(self.open)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    def all(self, *tags):
        return [attributes for tag, attributes, _ in self.elements if tag in tags]


@pytest.fixture
def hostile():
    """Return the hostile texts and the view that holds one of them everywhere."""
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location("hostile", Path(__file__).with_name("test_hostile_text.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sugarcrepe(make):
    return build_view(make.record(), make.estimates())


def shapes(page):
    """Return what a page is built of, without the charts' coordinates."""
    return [(tag, sorted(attributes)) for tag, attributes, _ in page.elements]


def test_hostile_text_is_shown_and_never_becomes_markup(make, hostile):
    # An empty or blank tag leaves its table out, as in every page; all the others must give one and the same page.
    plain_page = shapes(Page(render_html(hostile.view_of(make, "harmless"))))
    for text in hostile.HOSTILE:
        document = render_html(hostile.view_of(make, text))
        page = Page(document)
        if text.strip():
            assert shapes(page) == plain_page, text
        if text.strip() and len(text) < 60:
            assert "".join(page.text).count(visible(text)) >= 4
        found = [
            c for c in document if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066\u200b"
        ]
        assert not found


def test_hostile_text_leaves_a_figure_well_formed(make, hostile):
    for text in [*hostile.HOSTILE, "no\ufffe \uffff \U0001fffe \ufdd0 characters"]:
        view = hostile.view_of(make, text)
        for chart in view.charts:
            drawn = svg(lay_out(chart, WIDE, headings=[plain(view.title)]))
            root = ElementTree.fromstring(drawn.encode("utf-8"))
            kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
            assert kinds <= {"svg", "title", "rect", "line", "text", "g", "path"}
        assert png(lay_out(view.charts[0], WIDE)).startswith(b"\x89PNG")


def test_nothing_is_loaded_and_nothing_can_run(make, hostile):
    examples = [Example("swap", (PNG, PNG), ("a", "b"))]
    for view in (
        build_view(make.record(), make.estimates(), examples=examples),
        build_view(*make.pairs(16)),
        hostile.view_of(make, hostile.H4),
    ):
        document = render_html(view)
        page = Page(document)
        assert {tag for tag, _, _ in page.elements} <= ALLOWED - {"script"}
        for _, attributes, _ in page.elements:
            for key, value in attributes.items():
                assert not key.startswith("on")
                assert key != "style"
                if key in ADDRESSES:
                    assert value.startswith(("data:image/png;base64,", "#")) or value == "data:,"
        style = re.search(r"<style>(.*?)</style>", document, re.DOTALL)[1]
        assert not re.search(r"url\(|@import|@font-face|expression|</", style)
        assert style == read_template("report.css")


def test_the_policy_names_the_one_style_sheet(make):
    document = render_html(sugarcrepe(make))
    (policy,) = [item["content"] for item in Page(document).all("meta") if "http-equiv" in item]
    style = re.search(r"<style>(.*?)</style>", document, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy.split("; ") == [
        *("default-src 'none'", f"style-src 'sha256-{digest}'", "img-src data:", "base-uri 'none'"),
        "form-action 'none'",
    ]
    assert document.index("Content-Security-Policy") < document.index("<title>")


def test_headings_ids_and_anchors(make):
    for view in (sugarcrepe(make), build_view(*make.pairs(16)), build_view(*make.contrasts(6))):
        page = Page(render_html(view))
        levels = [int(tag[1]) for tag, _, _ in page.elements if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
        ids = [attributes["id"] for _, attributes, _ in page.elements if "id" in attributes]
        assert len(set(ids)) == len(ids)
        assert {item["href"][1:] for item in page.all("a")} <= set(ids)
        assert page.all("html") == [{"lang": "en"}]
        assert all(item.get("role") == "img" and item["aria-label"] for item in page.all("svg"))


def rows_of(document):
    """Return every table as rows of (tag, attributes), with a caption each."""
    tables = re.findall(r"<table>.*?</table>", document, re.DOTALL)
    return [[Page(row).elements for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)] for table in tables]


def widths_of(rows):
    """Return how many columns each row fills, with those that cells of rows above reach down into."""
    widths, reaching = [], []
    for cells in rows:
        own = [attributes for tag, attributes, depth in cells if tag in ("th", "td") and depth == 1]
        reaching = [(left - 1, width) for left, width in reaching if left > 1]
        widths.append(sum(int(one.get("colspan", 1)) for one in own) + sum(width for _, width in reaching))
        reaching += [(int(one.get("rowspan", 1)), int(one.get("colspan", 1))) for one in own]
    return widths


def test_every_cell_of_every_table_has_headings(make):
    several = build_view(*make.contrasts(6)), build_view(*make.contrasts())
    for view in (sugarcrepe(make), build_view(*make.pairs(16)), build_view(*make.pairs(3)), *several):
        document = render_html(view)
        tables = rows_of(document)
        folded = [grid for grid in view.grids if grid.folded]
        assert len(tables) == len(view.grids) + len(folded) == document.count("<caption>")
        for rows in tables:
            for cells in rows:
                kinds = [(tag, attributes) for tag, attributes, depth in cells if tag in ("th", "td") and depth == 1]
                assert all(attributes.get("scope") for tag, attributes in kinds if tag == "th")
                assert any(tag == "th" for tag, _ in kinds)
            widths = widths_of(rows)
            assert set(widths) == {widths[0]}


def test_tables_hold_what_the_other_pages_hold(make):
    view = build_view(*make.pairs(16))
    text = re.sub(r"\s+", " ", " ".join(Page(render_html(view)).text))
    for grid in view.grids:
        for cells in grid.cells:
            for cell in cells:
                assert cell in re.sub(r" +", " ", text)
        assert all(note in text for note in grid.notes)


def marks_of(document):
    return [item for item in Page(document).all("g") if "data-scorer" in item]


def test_the_numbers_of_the_chart_are_the_estimates(make):
    rows = make.estimates()
    by_key = {(item.scorer, item.subset, item.metric): item for item in rows if item.primary}
    view = build_view(make.record(), rows)
    marks = marks_of(render_html(view))
    for mark in marks:
        estimate = by_key[mark["data-scorer"], mark["data-subset"], mark["data-metric"]]
        for name in ("value", "low", "high", "chance"):
            assert float(mark[f"data-{name}"]) == getattr(estimate, name)
    # Two forms of: the first chart (2 contestants) and one for each of 4 columns, each 7 subsets and all together.
    assert len(marks) == 2 * (2 + 4) * 8
    first = view.charts[0]
    # characters:fewer is the farther from chance of the two lengths; of the likelihoods, the unnormalised.
    assert [series.scorer for series in first.series] == [
        "length:characters:fewer",
        "likelihood:SmolLM2-135M-Instruct:unnorm",
    ]


@pytest.mark.parametrize("form", [WIDE, NARROW])
def test_marks_stand_where_their_numbers_say(make, form):
    chart = build_charts(make.record(), Index(make.record(), make.estimates()))[0]
    layout = lay_out(chart, form)
    assert (chart.low, chart.high) == (0.4, 1.0)  # values .44 to .99, chance .5
    for mark in layout.marks:
        if mark.estimate is None:
            continue  # of the legend
        # Plot from left (40 %) to right (100 %): x = left + (value - .4) / .6 * (right - left).
        for x, value in ((mark.x, mark.estimate.value), (mark.low, mark.estimate.low), (mark.high, mark.estimate.high)):
            assert x == pytest.approx(form.left + (value - 0.4) / 0.6 * (form.right - form.left))
        assert mark.filled == (mark.estimate.low > 0.5 or mark.estimate.high < 0.5)
    chance = {rule.x1 for rule in layout.rules if rule.kind == "chance" and rule.y1 != rule.y2}
    assert list(chance) == [pytest.approx(form.left + (form.right - form.left) / 6)]
    everything = [value for band in layout.bands for value in (band.x, band.x + band.width)]
    everything += [label.x for label in layout.labels]
    assert min(everything) >= 0
    assert max(everything) <= form.width


def test_chance_moves_with_the_row_where_it_differs(make):
    rows = [
        make.estimate(scorer="length:w", subset=subset, value=0.6, chance=chance)
        for subset, chance in (("pairs", 0.5), ("fives", 0.2), ("all", 0.35))
    ]
    record = make.record(contestants={"length": make.contestant(columns=["w"])})
    (chart,) = build_view(record, rows).charts
    layout = lay_out(chart, WIDE)
    lines = [rule.x1 for rule in layout.rules if rule.kind == "chance" and rule.y1 != rule.y2]
    share = [(chance - chart.low) / (chart.high - chart.low) for chance in (0.35, 0.5, 0.2)]
    assert lines == pytest.approx([WIDE.left + one * (WIDE.right - WIDE.left) for one in share])
    assert any(label.text == "Chance (differs by row)" for label in layout.labels)


def test_what_is_undefined_is_said_and_not_drawn(make):
    record = make.record(contestants={"length": make.contestant(columns=["w"])})
    rows = [
        make.estimate(scorer="length:w", value=0.6),
        make.estimate(scorer="length:w", subset="none", value=math.nan, low=math.nan, high=math.nan, n=0),
        make.estimate(scorer="length:w", subset="one", value=1.0, low=math.nan, high=math.nan, n=1),
    ]
    (chart,) = build_view(record, rows).charts
    layout = lay_out(chart, WIDE)
    drawn = {mark.estimate.subset: mark for mark in layout.marks if mark.estimate}
    assert set(drawn) == {"all", "one"}
    assert drawn["one"].low is None
    assert not drawn["one"].filled
    texts = [label.text for label in layout.labels]
    assert "–" in texts
    assert "100.0 [undefined]" in texts
    assert 'class="bar"' in render_html(build_view(record, rows))


def test_a_run_without_blind_baselines_has_no_chart_and_one_with_the_check_alone_has(make):
    models = make.record(contestants={"clip": make.contestant("model")})
    view = build_view(models, [make.estimate(scorer="clip", value=0.7)])
    assert view.charts == ()
    assert not Page(render_html(view)).all("svg")
    check = make.record(contestants={"constant": make.contestant()})
    (chart,) = build_view(check, [make.estimate()]).charts
    assert [series.scorer for series in chart.series] == ["constant"]


def test_of_very_many_subsets_those_farthest_from_chance_are_drawn_in_order(make):
    record = make.record(contestants={"length": make.contestant(columns=["w"])})
    rows = [make.estimate(scorer="length:w", subset=f"s{at}", value=0.5 + at / 200) for at in range(60)]
    rows.append(make.estimate(scorer="length:w", value=0.6))
    (chart,) = build_view(record, rows).charts
    assert [row.label for row in chart.rows] == ["all instances", *(f"s{at}" for at in range(20, 60))]
    assert "Drawn are the 40 of 60 subsets farthest from chance." in chart.notes


def test_the_sample_says_so_on_page_and_figure(make):
    view = build_view(make.record(sample=True), make.estimates())
    page = Page(render_html(view))
    assert "".join(page.text).count(BANNER) == 2
    assert [item["class"] for item in page.all("p") if item.get("role") == "note"] == ["banner", "banner"]
    other = "".join(Page(render_html(sugarcrepe(make))).text)
    assert "SAMPLE" not in other


def test_examples_are_shown_from_the_run_folder_and_again(make, tmp_path):
    given = [Example("swap <b>", (PNG, PNG), ("a <i>cat</i>", "a \u202edog")), Example("x", (PNG, PNG), ("c", "d"))]
    with RunFolder.open(tmp_path / "out", "one") as folder:
        folder.begin(make.record(sample=True))
        folder.examples([Example("old", (PNG, PNG), ("old", "old"))] * 3)
        folder.examples(given)
        folder.finish(make.record(sample=True), make.estimates(), [])
    assert read_examples(tmp_path / "out") == tuple(given)
    names = sorted(path.name for path in (tmp_path / "out" / "figures" / "examples").iterdir())
    assert names == ["01-base.png", "01-foil.png", "02-base.png", "02-foil.png", "examples.json"]
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    render_again(tmp_path / "out")
    assert {path: path.read_bytes() for path in before} == before
    document = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page = Page(document)
    pictures = page.all("img")
    assert [item["src"] for item in pictures] == [f"data:image/png;base64,{base64.b64encode(PNG).decode()}"] * 4
    assert [item["alt"] for item in pictures] == ["base image", "foil image"] * 2
    assert "a <i>cat</i>" in "".join(page.text)
    assert "a \\u202edog" in "".join(page.text)
    assert "SAMPLE, not the released data" in (tmp_path / "out" / "figures" / "blind.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "data", [b"", b"<svg onload=alert(1)>", b"\xff\xd8\xff\xe0 a JPEG", PNG[:20], PNG[:8] + b"0" * 30]
)
def test_what_is_no_png_is_refused_before_anything_is_written(tmp_path, data):
    with pytest.raises(ValueError, match="PNG"):
        write_examples(tmp_path, [Example("x", (PNG, data), ("a", "b"))])
    assert list(tmp_path.iterdir()) == []
    assert png_size(PNG) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "{}x",
        "3",
        '[{"label": "x"}]',
        '[{"label": "x", "base": {"file": "../../record.json", "caption": ""}, "foil": {"file": "a", "caption": ""}}]',
        '[{"label": "x", "base": {"file": "gone.png", "caption": ""}, "foil": {"file": "a", "caption": ""}}]',
    ],
)
def test_a_list_of_examples_that_cannot_be_read_is_named(tmp_path, text):
    from benchmarks.errors import InputError

    folder = tmp_path / "figures" / "examples"
    folder.mkdir(parents=True)
    (folder / "examples.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"examples\.json"):
        read_examples(tmp_path)


def luminance(colour):
    """Return the relative luminance that WCAG 2 defines."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_contrast_is_enough_in_both_schemes(scheme):
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    blocks = re.findall(r":root \{(.*?)\}", read_template("report.css"), re.DOTALL)
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", blocks[scheme]))
    for ground in ("ground", "band", "code"):
        for text in ("ink", "quiet", "link"):
            assert contrast(colours[text], colours[ground]) >= 4.5
        for level in ("grave", "weak", "diagnostic", "fine", "open"):
            assert contrast(colours[level], colours[ground]) >= 4.5
        for mark in ("s0", "s1", "s2", "s3", "chance"):
            assert contrast(colours[mark], colours[ground]) >= 3
    assert contrast(colours["warn-ink"], colours["warn-ground"]) >= 4.5
    if scheme == 0:
        assert [colours[f"s{at}"] for at in range(4)] == list(PALETTE["series"])


def test_figures_have_no_date_and_the_same_bytes_every_time(make):
    chart = sugarcrepe(make).charts[0]
    first, second = (lay_out(chart, WIDE, headings=["t"]) for _ in range(2))
    assert png(first) == png(second)
    assert svg(first) == svg(second)
    assert b"Software" not in png(first)
    assert b"tIME" not in png(first)


def test_a_name_in_any_script_does_not_stop_a_picture(make):
    record = make.record(contestants={"length": make.contestant(columns=["w"])})
    rows = [make.estimate(scorer="length:w", subset=subset, value=0.9) for subset in ("猫 $x$ \\frac", "कुत्ता", "all")]
    (chart,) = build_view(record, rows).charts
    assert png(lay_out(chart, WIDE)).startswith(b"\x89PNG")
    assert "猫 $x$ \\frac" in svg(lay_out(chart, WIDE))


def test_a_label_keeps_both_ends_and_its_room():
    assert fitted("short", 100, 12) == "short"
    shown = fitted("start" + "猫" * 100 + "end", 120, 12)  # 120 / (12 * .57) = 17 characters
    assert shown.startswith("start")
    assert shown.endswith("end")
    from rich.cells import cell_len

    assert cell_len(shown) <= 17
