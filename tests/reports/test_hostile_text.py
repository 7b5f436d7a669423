"""Whatever a subset, an id, a scorer or a notice says, pages show it and do nothing that it asks for."""

import html
import io
import re

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from reports.markdown import code, escape, render_markdown
from reports.schema import Finding
from reports.terminal import console_for, render_terminal
from reports.text import visible
from reports.view import build_view

H4 = "3 mugs < 5 & <i>tea</i> </script> [red]cup[/red]"
HOSTILE = [
    H4,
    "a | b | c",
    "`code` ``more``",
    "`",
    "**bold** _em_ ~~no~~",
    "[click](https://evil.example)",
    "![img](https://evil.example/x.png)",
    "<https://evil.example> https://evil.example www.evil.example",
    "<script>alert(1)</script>",
    "&lt;b&gt; &amp; &#60;",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "---",
    "| --- |",
    "\\| \\` \\",
    "[ref]: https://evil.example",
    "$x$ :smile: @user #1",
    "line\n\n# broken",
    "tab\tand\rreturn",
    "\x1b[31mred\x1b[0m \x1b]8;;https://evil.example\x07link",
    "rtl \u202e override \u2066isolate",
    "zero\u200bwidth \ufeff mark",
    "nul \x00 bell \x07 c1 \x9b31m",
    "lone \udc80 surrogate",
    "[bold red]markup[/] [link=https://evil.example]x[/link] \\[/]",
    "x" * 400,
    "",
    " ",
]


def view_of(make, text):
    """Put a text everywhere that a user's text can get to."""
    record = make.record(
        contestants={
            text or "?": make.contestant(columns=[text], short=text),
            "length": make.contestant(columns=["w"]),
        },
        notices=[text],
        versions={text: text},
        git={"commit": text, "dirty": True},
        command=text,
    )
    record["benchmark"]["name"] = text
    record["benchmark"]["card"] = {"title": text, "licence": text, "homepage": text}
    record["benchmark"]["provenance"] = {"origin": "root", "location": text, "absent": [text], "notices": [text]}
    record["benchmark"]["expected"] = {text: 5}
    record["benchmark"]["coverage"] = {"needed": True, "expected": 3, "present": 2, "missing": [text]}
    scorer = f"{text or '?'}:{text}" if text else "?"
    rows = [
        make.estimate(scorer=name, subset=subset, tag=tag, method=text, value=value)
        for name, value in ((scorer, 0.9), ("length:w", 0.2))
        for subset, tag in ((text, ""), ("b", ""), ("all", ""), ("all", f"{text}={text}"))
    ]
    finding = Finding("kind", "warning", text, text, (text,), {})
    return build_view(record, rows, [finding])


def tokens_of(page):
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    found = []
    for token in parser.parse(page):
        found.append(token)
        found.extend(token.children or [])
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_makes_nothing_of_it(make, text):
    page = render_markdown(view_of(make, text))
    plain = render_markdown(view_of(make, "harmless"))
    kinds = {token.type for token in tokens_of(page)}
    assert not kinds & {"link_open", "image", "html_inline", "html_block", "em_open", "s_open", "fence", "code_block"}

    def structure(document):
        return [token.type for token in tokens_of(document) if token.type.startswith(("heading", "tr", "td", "bullet"))]

    if text.strip():  # an empty tag or name leaves its own table out
        assert structure(page) == structure(plain)


@pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip() and len(text) < 60])
def test_markdown_shows_it_letter_by_letter(make, text):
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(render_markdown(view_of(make, text)))
    shown = html.unescape(re.sub(r"<[^<>]+>", "", page))
    # Once at least in a code span (subset) and once as prose (notice).
    assert shown.count(visible(text)) >= 2


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_pieces_come_back_exactly(text):
    parser = MarkdownIt("commonmark").enable("table")
    seen = visible(text)
    prose = parser.render(escape(seen))
    assert html.unescape(re.sub(r"</?p>", "", prose)).strip() == seen.strip()
    if seen.strip():
        (span,) = [token for token in tokens_of(f"x {code(seen)} y") if token.type == "code_inline"]
        assert span.content == seen
        table = f"| a | b |\n| --- | --- |\n| {code(seen, in_table=True)} | end |"
        spans = [token for token in tokens_of(table) if token.type == "code_inline"]
        assert [token.content.replace("\\|", "|") for token in spans] == [seen.replace("\\|", "|")]
        assert sum(token.type == "td_open" for token in tokens_of(table)) == 2


@pytest.mark.parametrize(("width", "full"), [(60, True), (100, True), (100, False), (160, True)])
@pytest.mark.parametrize("text", HOSTILE)
def test_terminal_prints_no_control_and_obeys_no_markup(make, text, width, full):
    stream = io.StringIO()
    console = Console(file=stream, width=width, force_terminal=False)
    render_terminal(view_of(make, text), console, where=text, full=full)
    printed = stream.getvalue()
    assert not [c for c in printed if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u2066\u200b"]
    if text.strip() and len(text) < 60:
        squeezed = re.sub(r"\s+", "", printed)
        assert re.sub(r"\s+", "", visible(text)) in squeezed


def test_addresses_are_not_turned_into_links_by_sites_that_guess():
    shown = escape("see https://evil.example, HTTP://evil.example, www.evil.example or mailto:a@b.example")
    assert not re.search(r"(?i)https?:|www\.|mailto:", shown)
    assert html.unescape(MarkdownIt("commonmark").render(shown)) == (
        "<p>see https://evil.example, HTTP://evil.example, www.evil.example or mailto:a@b.example</p>\n"
    )


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_terminal_of_any_encoding_shows_what_it_can(make, encoding):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    render_terminal(view_of(make, "猫 café – “open”"), console_for(stream, {}))
    stream.flush()
    printed = raw.getvalue().decode(encoding)
    assert {"ascii": "\\u732b caf\\xe9", "cp1252": "\\u732b café – “open”", "utf-8": "猫 café"}[encoding] in printed


def test_a_name_that_is_too_long_keeps_both_ends(make):
    text = "start" + "x" * 300 + "end"
    page = render_markdown(view_of(make, text))
    assert re.search(r"`startx+…x+end`", page)


def test_colour_only_for_terminals_that_want_it(make):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    def printed(stream, environment):
        render_terminal(view_of(make, "subset"), console_for(stream, environment))
        return stream.getvalue()

    assert "\x1b[" not in printed(io.StringIO(), {})
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", printed(Terminal(), {"NO_COLOR": "1"}))
