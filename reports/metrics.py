r"""Read and write `metrics.csv`, one row per estimate.

Columns of text may hold what a user or a release called something, and a spreadsheet runs a cell that starts with
`=`, `+`, `-` or `@`. Such a cell (and one that already starts with an apostrophe) is written with one apostrophe in
front; the reader takes it off again, so every name comes back as it was.

A character that steers a terminal or hides (an escape, a bidi mark) is written as `\xHH`, `\uHHHH` or `\UHHHHHHHH`, and
the reader puts it back; a backslash that would read as the start of such an escape is written as `\x5c`. Tabs and line
breaks stay, inside quotes.
"""

from __future__ import annotations

import csv
import io
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.errors import InputError
from reports.files import write_text
from reports.schema import Estimate
from reports.text import escaped, is_hidden

COLUMNS = (
    *("benchmark", "subset", "tag", "scorer", "against", "metric", "value", "low", "high", "n", "n_clusters", "ties"),
    *("unscored", "chance", "method", "seed", "primary", "signature", "p"),
)
_KINDS = {field.name: str(field.type) for field in fields(Estimate)}
_ACTIVE = re.compile(r"[\s\x00]*[=+\-@'＝＋－＠]|[\t\r\n]")
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_QUOTED = re.compile(r'[",\r\n]|^\s|\s$')


def write_metrics(path: Path, estimates: Sequence[Estimate]) -> None:
    """Write estimates in the order given, floats in full precision, an undefined one as an empty cell."""
    lines = [",".join(COLUMNS)]
    lines.extend(",".join(_cell(estimate, column) for column in COLUMNS) for estimate in estimates)
    write_text(path, "\n".join(lines) + "\n")


def _cell(estimate: Estimate, column: str) -> str:
    value = getattr(estimate, column)
    kind = _KINDS[column]
    if kind == "float":
        return "" if math.isnan(value) else repr(float(value))
    return _text(str(value)) if kind == "str" else str(int(value))


def _text(text: str) -> str:
    text = _ESCAPE.sub(lambda hit: rf"\x5c{hit[0][1:]}", text)
    if not text.isprintable():
        text = "".join(escaped(letter) if is_hidden(letter) and letter not in "\t\r\n" else letter for letter in text)
    if _ACTIVE.match(text):
        text = f"'{text}"
    # The csv module leaves a lone carriage return unquoted in Python 3.11, and then cannot read it back.
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def read_metrics(path: Path) -> list[Estimate]:
    """Return the estimates of a metrics file, in its order.

    Raises:
        InputError: If a column is missing or a cell is not of its column's kind; the message names the line.
    """
    # Read as bytes: text mode would turn a carriage return inside a name into a line feed.
    reader = csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""), strict=True)
    missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
    if missing:
        raise InputError("columns are missing", where=str(path), got=", ".join(missing), expected=", ".join(COLUMNS))
    found = []
    try:
        for row in reader:
            if None in row or None in row.values():
                raise ValueError(f"the row has not {len(reader.fieldnames or ())} cells")
            values: dict[str, Any] = {column: _value(row[column], _KINDS[column]) for column in COLUMNS}
            found.append(Estimate(**values))
    except (ValueError, csv.Error) as error:
        raise InputError("a row cannot be read", where=f"{path}, line {reader.line_num}", got=str(error)) from error
    return found


def _unescaped(hit: re.Match[str]) -> str:
    code = int(hit[1] or hit[2] or hit[3], 16)
    return chr(code) if code <= sys.maxunicode else hit[0]


def _value(cell: str, kind: str) -> str | float | int | bool:
    if kind == "float":
        return float(cell) if cell else math.nan
    if kind == "str":
        return _ESCAPE.sub(_unescaped, cell.removeprefix("'"))
    return cell == "1" if kind == "bool" else int(cell)
