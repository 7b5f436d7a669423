import csv
import math
from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.errors import InputError
from reports.metrics import COLUMNS, read_metrics, write_metrics
from reports.schema import Estimate

HEADER = (
    "benchmark,subset,tag,scorer,against,metric,value,low,high,n,n_clusters,ties,unscored,chance,method,seed,"
    "primary,signature,p"
)


def same(left, right):
    """Compare two estimates field by field, NaN being equal to NaN."""
    pairs = [(getattr(left, field.name), getattr(right, field.name)) for field in fields(Estimate)]
    return all(a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b)) for a, b in pairs)


def test_header_is_the_contract_and_covers_the_record(tmp_path, make):
    write_metrics(tmp_path / "metrics.csv", [make.estimate()])
    assert (tmp_path / "metrics.csv").read_text(encoding="utf-8").splitlines()[0] == HEADER
    assert list(COLUMNS) == [field.name for field in fields(Estimate)]


def test_row_by_hand(tmp_path, make):
    item = make.estimate(value=0.1 + 0.2, low=math.nan, high=1.0, n=3, n_clusters=2, ties=1, chance=math.nan, seed=-1)
    write_metrics(tmp_path / "m.csv", [replace(item, primary=False)])
    # 0.1 + 0.2 is 0.30000000000000004 in full precision; undefined bounds are empty; a false flag is 0.
    expected = (
        "sugarcrepe,all,,constant,,accuracy,0.30000000000000004,,1.0,3,2,1,0,,cluster bootstrap (B=10000),-1,0,sig,"
    )
    assert (tmp_path / "m.csv").read_text(encoding="utf-8").splitlines()[1] == expected


def test_round_trip_keeps_order_and_every_field(tmp_path, make):
    wanted = [*make.estimates(), make.estimate(value=math.nan, n=0), make.estimate(value=math.inf, low=-math.inf)]
    write_metrics(tmp_path / "m.csv", wanted)
    found = read_metrics(tmp_path / "m.csv")
    assert len(found) == len(wanted)
    assert all(same(a, b) for a, b in zip(found, wanted, strict=True))


def test_numpy_values_are_written_as_plain_numbers(tmp_path, make):
    np = pytest.importorskip("numpy")
    item = make.estimate(value=np.float64(0.25), n=np.int64(7), primary=np.bool_(True))
    write_metrics(tmp_path / "m.csv", [item])
    assert ",0.25," in (tmp_path / "m.csv").read_text(encoding="utf-8")
    assert read_metrics(tmp_path / "m.csv")[0].n == 7


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+x",
        "-2",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        "'quoted",
        "''",
        " =1",
        "＝1",
        '"',
        "a,b",
        'say "x"',
        " x ",
        "é\r",
    ],
)
def test_no_cell_of_text_is_run_by_a_spreadsheet_and_all_come_back(tmp_path, make, text):
    item = make.estimate(subset=text, tag=f"{text}=v", scorer=text, against=text, method=text, signature=text)
    write_metrics(tmp_path / "m.csv", [item])
    assert same(read_metrics(tmp_path / "m.csv")[0], item)
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.reader(file))[1]
    texts = [cells[COLUMNS.index(column)] for column in ("subset", "tag", "scorer", "against", "method", "signature")]
    assert not [cell for cell in texts if cell.lstrip()[:1] in tuple("=+-@＝") or cell[:1] in ("\t", "\r", "\n")]


HIDDEN = ["\x1b[31mred", "a\u202eb", "\ufeffx", "\x00", "\ud800", "\U000e0001", "\x85", "\u2028", "\x7f"]
TRICKS = ["\\x1b", "\\", "\\\\x41", "C:\\users", "\\u202e\u202e", "\\\x1b", "\\x4\x1b", "\\x5cx41", "\\Uffffffff"]


@pytest.mark.parametrize("text", HIDDEN + TRICKS)
def test_characters_that_steer_or_hide_are_seen_and_come_back(tmp_path, make, text):
    item = make.estimate(subset=text, tag=f"{text}={text}", scorer=text, signature=text)
    write_metrics(tmp_path / "m.csv", [item])
    assert same(read_metrics(tmp_path / "m.csv")[0], item)
    written = (tmp_path / "m.csv").read_bytes().decode("utf-8")
    assert not [letter for letter in written if letter != "\n" and not letter.isprintable()]


def test_how_a_hidden_character_is_written(tmp_path, make):
    write_metrics(tmp_path / "m.csv", [make.estimate(subset="\x1b[0m\u202e", scorer="C:\\data\\x1b")])
    row = (tmp_path / "m.csv").read_text(encoding="utf-8").splitlines()[1]
    assert row.startswith(r"sugarcrepe,\x1b[0m\u202e,,C:\data\x5cx1b,")  # a plain backslash stays as it is


@settings(deadline=None, derandomize=True, max_examples=200)
@given(text=st.text(st.characters() | st.sampled_from("\\xuU05c1b\x1b\u202e'\""), max_size=12))
def test_any_text_comes_back(tmp_path_factory, make, text):
    path = tmp_path_factory.mktemp("any") / "m.csv"
    item = make.estimate(subset=text, signature=text)
    write_metrics(path, [item])
    assert same(read_metrics(path)[0], item)


def test_missing_column_and_broken_cell_name_the_place(tmp_path, make):
    path = tmp_path / "m.csv"
    write_metrics(path, [make.estimate()])
    good = path.read_text(encoding="utf-8")
    path.write_text(good.replace("chance", "luck"), encoding="utf-8")
    with pytest.raises(InputError, match="chance"):
        read_metrics(path)
    path.write_text(good.replace(",42,", ",many,"), encoding="utf-8")
    with pytest.raises(InputError, match=r"line 2[\s\S]*many"):
        read_metrics(path)
    path.write_text("\n".join([HEADER, "only,three,cells"]), encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_metrics(path)
