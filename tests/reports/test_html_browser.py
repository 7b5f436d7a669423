"""A real browser loads the report: it asks for nothing, complains of nothing and runs nothing."""

import re
import struct
import zlib

import pytest

from reports.cases import read_cases
from reports.examples import Example
from reports.html import render_html
from reports.index import Index
from reports.record import RunFolder
from reports.schema import Finding
from reports.view import build_view
from tests.reports import browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not browser.CHROMIUM, reason="no chromium is installed (apt-get install chromium)"),
]

RAN = "document.title='RAN'"
HOSTILE = [
    f"<script>{RAN}</script>",
    f"</title></style></svg><script>{RAN}</script>",
    f'<img src=x onerror="{RAN}">',
    f'" onload="{RAN}" x=\'',
    f"' autofocus onfocus='{RAN}",
    f"javascript:{RAN}",
    '<img src="http://evil.example/i.png"><link rel=stylesheet href="http://evil.example/s.css">',
    '<iframe src="http://evil.example/f.html"></iframe><svg><image href="http://evil.example/v.png"/></svg>',
    '<meta http-equiv="refresh" content="0;url=http://evil.example/">',
    f"<svg><animate onbegin={RAN} attributeName=x></svg>",
    "</text><foreignObject><body xmlns='http://www.w3.org/1999/xhtml' onload=\"" + RAN + '"></foreignObject>',
    f"{{{{ 7*7 }}}} {{% raw %}} <!-- {RAN} --> ]]> <![CDATA[",
    "rtl \u202e override \u2066isolate",
]


def png():
    """Return a picture of one red pixel."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0\xff\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def hostile_page(make):
    """Return a report in which every hostile text stands wherever a user's text can stand."""
    contestants = {text: make.contestant(columns=[text], short=text) for text in HOSTILE[:3]}
    record = make.record(contestants=contestants, notices=HOSTILE, command=" ".join(HOSTILE), sample=True)
    record["benchmark"]["card"] = {"title": " ".join(HOSTILE[:3]), "licence": HOSTILE[0], "homepage": HOSTILE[5]}
    record["benchmark"]["provenance"] |= {"location": HOSTILE[2], "absent": HOSTILE}
    rows = [
        make.estimate(scorer=f"{owner}:{owner}", subset=subset, method=HOSTILE[1], value=0.9)
        for owner in contestants
        for subset in (*HOSTILE, "all")
    ]
    rows += [make.estimate(scorer=f"{HOSTILE[0]}:{HOSTILE[0]}", tag=f"{text}={text}", value=0.9) for text in HOSTILE]
    findings = [Finding("kind", "warning", text, text, (text,)) for text in HOSTILE]
    examples = [Example(text, (png(), png()), (text, text)) for text in HOSTILE]
    return render_html(build_view(record, rows, findings, examples=examples))


def test_the_browser_would_run_and_fetch_what_a_page_lets_it(tmp_path):
    page = tmp_path / "control.html"
    page.write_text(
        f"<img src=http://evil.example/x.png><script>{RAN};console.error('said')</script>", encoding="utf-8"
    )
    seen = browser.visit(page, tmp_path / "profile")
    assert "<title>RAN</title>" in seen.dom
    assert any(b"evil.example" in line for line in seen.requests)
    assert any("said" in line for line in seen.console)


def test_a_hostile_report_runs_nothing_asks_for_nothing_and_is_shown_whole(make, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(hostile_page(make), encoding="utf-8")
    seen = browser.visit(page, tmp_path / "profile")
    assert seen.requests == []
    assert seen.console == []
    title = re.search(r"<title>(.*?)</title>", seen.dom, re.DOTALL)[1]
    assert title.startswith("Does ")
    assert "<script" not in seen.dom
    assert seen.dom.count("<img") == 2 * len(HOSTILE)  # the example pictures and no other
    assert "49" not in re.findall(r"\{\{ ?(\S+) ?\}\}", seen.dom)
    assert seen.dom.rstrip().endswith("</html>")
    assert "SAMPLE" in seen.dom.split("<footer>")[1]


FRAME = """<!DOCTYPE html><meta name="color-scheme" content="light dark"><body style="margin:0">
<script>addEventListener('message', event => { document.title = event.data })</script>
<iframe src="page.html" style="border:0;width:WIDTHpx;height:900px"></iframe>"""
PROBE = """<script>addEventListener('load', () => {
  const page = document.documentElement, ground = getComputedStyle(document.body).backgroundColor
  const charts = [...document.querySelectorAll('#answer svg')].filter(one => one.getClientRects().length)
  const shown = charts.map(one => one.getAttribute('class') + Math.round(one.getBoundingClientRect().width))
  parent.postMessage(['PROBE', page.scrollWidth, page.clientWidth, ground, shown].join('|'), '*')
})</script>"""


@pytest.mark.parametrize(("width", "chart"), [(390, "narrow"), (1440, "wide")])
@pytest.mark.parametrize(("scheme", "ground"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(19, 22, 26)")])
def test_no_page_is_wider_than_its_screen(make, tmp_path, width, chart, scheme, ground):
    """Measure a page in a frame as wide as the screen, by a script that only this test puts into it."""
    preferred = f"--blink-settings=preferredColorScheme={1 if scheme == 'light' else 0}"
    long = make.tables([("a word " * 40, "x" * 300), ("a dog", "a cat")], ["y" * 90, "z"])
    with RunFolder.open(tmp_path / "run", "one") as opened:
        opened.begin(make.record())
        for name, table in long.items():
            opened.table(name, table)
        opened.finish(make.record(), make.estimates(), [])
    cases = read_cases(tmp_path / "run", make.record(), Index(make.record(), make.estimates()), [])
    views = {"many": make.pairs(16), "few": (make.record(), make.estimates()), "contrasts": make.contrasts(6)}
    for name, facts in views.items():
        folder = tmp_path / name
        folder.mkdir()
        page = render_html(build_view(*facts, cases=cases)).replace("default-src 'none'", "script-src 'unsafe-inline'")
        (folder / "page.html").write_text(page.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
        (folder / "frame.html").write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
        seen = browser.visit(folder / "frame.html", folder / "profile", "--window-size=1500,950", preferred)
        _, needed, there, colour, shown = re.search(r"<title>(PROBE.*?)</title>", seen.dom)[1].split("|")
        assert int(needed) <= int(there) == width
        assert colour == ground
        assert re.fullmatch(r"(wide|narrow)\d+", shown), "one drawing of the chart is shown, and only one"
        assert shown.startswith(chart)


@pytest.mark.parametrize("width", [390, 1440])
def test_a_picture_of_the_page_is_not_blank(make, tmp_path, width):
    image = pytest.importorskip("PIL.Image")
    page, shot = tmp_path / "report.html", tmp_path / "shot.png"
    page.write_text(render_html(build_view(make.record(), make.estimates())), encoding="utf-8")
    browser.visit(page, tmp_path / "profile", f"--window-size={width},900", f"--screenshot={shot}")
    with image.open(shot) as picture:
        colours = {colour: number for number, colour in picture.convert("RGB").getcolors(1 << 20)}
    assert colours.get((0, 114, 178), 0) > 20  # the first series: #0072b2
