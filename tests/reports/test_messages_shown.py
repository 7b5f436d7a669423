import io
import os
import pty
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.errors import InputError
from benchmarks.schema import Card
from reports import endings
from reports.messages import Listing, error_text, print_card, print_error, print_listing

ERROR = InputError(
    "no such benchmark", where="benchmark=[red]x[/]", got="x\x1b[2J", expected="a\nb", step="did you mean valse?"
)
CARD = Card(
    title="SugarCrepe [1]",
    paper="hsieh2023",
    homepage="https://example.org",
    licence="MIT",
    shape="1x2",
    primary="accuracy",
    how_to_get="Clone it.\nThen give benchmark.root.",
    expected={"add_att": 692, "add_obj": 2062},
    issues=("first", "second"),
)


def printed(act, width=100, **options):
    stream = io.StringIO()
    act(Console(file=stream, width=width, **options))
    return stream.getvalue()


def test_an_error_shows_every_part_and_steers_nothing():
    wanted = (
        "error: no such benchmark\n  where: benchmark=[red]x[/]\n  got: x\\x1b[2J\n  expected: a\n    b\n"
        "  next step: did you mean valse?"
    )
    assert error_text(ERROR) == wanted
    assert printed(lambda console: print_error(ERROR, console)) == wanted + "\n"
    coloured = printed(lambda console: print_error(ERROR, console), force_terminal=True)
    assert "\x1b[2J" not in coloured


def test_an_error_without_parts_is_one_line():
    assert error_text(InputError("wrong")) == "error: wrong"


def test_a_list_shows_what_is_known_and_leaves_out_what_is_not():
    rows = [
        Listing("sugarcrepe", "benchmark", "SugarCrepe", "1x2", 7511, needs_images=True, licence="MIT", here="absent"),
        Listing("table", "benchmark", "your own [b]table[/b]", "any", here="yes"),
        Listing("length", "baseline", "Compares lengths"),
    ]
    text = printed(lambda console: print_listing(rows, console))
    first, second = text.split("\n\n")[:2]
    assert "7,511" in first
    assert "your own [b]table[/b]" in first
    row = next(line for line in first.splitlines() if line.startswith("sugarcrepe"))
    assert row.split() == ["sugarcrepe", "SugarCrepe", "1x2", "7,511", "yes", "MIT", "absent"]
    assert "length" in second
    assert "licence" not in second
    assert "shape" not in second


def test_a_card_shows_counts_issues_and_how_to_get_it():
    text = printed(lambda console: print_card("sugarcrepe", CARD, console, extra={"chance": "50 %"}))
    for words in ("add_att 692, add_obj 2,062, in all 2,754", "Clone it.", "first", "second", "50 %", "SugarCrepe [1]"):
        assert words in text
    assert "gated" in text
    assert "revision" not in text  # empty


def test_messages_fit_an_ascii_terminal():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    print_error(InputError("café"), Console(file=stream))
    stream.flush()
    assert raw.getvalue() == b"error: caf\\xe9\n"


def test_a_name_in_a_list_is_never_folded():
    long = "a_benchmark_whose_name_takes_forty_columns"
    rows = [Listing(long, "benchmark", "many words to fold " * 6, "1x2", 7511, licence="CC BY 4.0 " * 5)]
    text = printed(lambda console: print_listing(rows, console))
    assert long in text


LONG = InputError(
    "w" * 300 + " and words of every length " * 9,
    where="/" + "/".join(f"folder{k}" for k in range(60)),
    got="é" * 170,
    expected="a, b, c, " * 40,
    step="nothing\n" + "x" * 500,
)


def solid(text):
    return "".join(text.split())


def on_terminal(act, monkeypatch, width):
    """Return what reaches a real terminal of that width."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setenv("TERM", "dumb")
        act()
        text = b""
        stream.flush()
        os.set_blocking(ours, False)
        try:
            while part := os.read(ours, 65536):
                text += part
        except BlockingIOError:
            pass
    os.close(ours)
    return text.decode("utf-8")


def in_a_pipe(act, monkeypatch, width):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("COLUMNS", str(width))
    act()
    return stream.getvalue()


@pytest.mark.parametrize("way", [on_terminal, in_a_pipe])
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_message_is_cut(monkeypatch, way, width):
    found = way(lambda: endings.error(LONG), monkeypatch, width)
    assert solid(found) == solid(error_text(LONG))
    log = Path("/" + "folder/" * 60 + "audits.log")
    found = way(lambda: endings.fault(RuntimeError("y" * 280), log), monkeypatch, width)
    assert "y" * 280 in found
    assert str(log) in found
    found = way(lambda: endings.shown_again(log, "2025-01-02T03:04:05+00:00"), monkeypatch, width)
    assert found.splitlines() == [f"finished run of 2025-01-02T03:04:05+00:00 shown again from {log}"]


def test_a_reason_that_is_shortened_says_so(monkeypatch):
    found = in_a_pipe(lambda: endings.fault(RuntimeError("y" * 400), Path("/x.log")), monkeypatch, 80)
    assert "y… (in full with the traceback)" in found
