"""Read a JSON list value by value, strictly, in bounded memory: releases of 250,000 pairs are one such list."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks import files

MAX_VALUE = 64 << 20  # characters of one value
NUMERIC = ("", *"0123456789.eE+-")


def stream_list(path: Path) -> Iterator[tuple[int, files.Json]]:
    """Yield (number counted from 1, value) of a JSON list, strictly, with one value and one chunk in memory.

    Raises:
        InputError: If the file is no JSON list, or at the first value that is none.
    """
    reader = _Stream(path)
    if reader.sign() != "[":
        value = files.read_json(path)
        files.Spot(path).refuse("wrong type", got=value, expected="a JSON list")
    reader.skip()
    number = 0
    while (sign := reader.sign()) != "]":
        if number and sign != ",":
            files.Spot(path, f"row {number + 1}").refuse(
                "not valid JSON: a comma or the end of the list is missing", got=sign
            )
        if number:
            reader.skip()
        number += 1
        yield number, reader.value(files.Spot(path, f"row {number}"))
    reader.skip()
    if extra := reader.sign():
        files.Spot(path).refuse("not valid JSON: something stands after the list", got=extra)


class _Stream:
    """Read JSON values one after the other from a file."""

    def __init__(self, path: Path) -> None:
        self._path, self._chunks = path, files.text_chunks(path)
        self._text, self._at, self._ended = "", 0, False
        self._decoder = files.strict()

    def sign(self) -> str:
        """Return the next character that is no white space, without taking it; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in " \t\r\n":
                self._at += 1
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def skip(self) -> None:
        """Take one character."""
        self._at += 1

    def value(self, spot: files.Spot) -> files.Json:
        """Take one value."""
        self.sign()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
                # A number may go on in the next chunk: `2`, `2.` and `2.5` all begin with one.
                if self._text[end : end + 1] not in NUMERIC or len(self._text) - end > 8 or not self._more():
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                if len(self._text) - self._at > MAX_VALUE or not self._more():
                    spot.refuse(
                        f"not valid JSON: {error.msg}",
                        told="the file ends there" if self._ended else "",
                        step=files.AGAIN,
                    )
            except RecursionError:
                spot.refuse("not valid JSON: nested too deeply")
            except ValueError as error:
                spot.refuse(f"not valid JSON: {error}")

    def _more(self) -> bool:
        """Read on, and forget what was taken; doubles what is held, so that a long value is not parsed too often."""
        parts = [self._text[self._at :]]
        wanted = max(len(parts[0]), 1)
        while wanted > 0 and (chunk := next(self._chunks, "")):
            parts.append(chunk)
            wanted -= len(chunk)
        self._text, self._at = "".join(parts), 0
        self._ended = len(parts) == 1
        return not self._ended
