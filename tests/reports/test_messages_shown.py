import io

from rich.console import Console

from benchmarks.errors import InputError
from benchmarks.schema import Card
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
