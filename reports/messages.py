"""Render what a command says beside a report: one error, the lists of what there is, and one benchmark's card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.errors import InputError
from benchmarks.schema import Card
from reports.scrub import scrub_text
from reports.terminal import safe
from reports.text import count, visible

_PARTS = (("where", "where"), ("got", "got"), ("expected", "expected"), ("step", "next step"))
_LABELS = {
    "how_to_get": "how to get it",
    "how_to_get_images": "how to get images",
    "needs_images": "models need images",
}


@dataclass(frozen=True, slots=True)
class Listing:
    """Hold one line of `audits list`.

    Attributes:
        name: As it is selected (`benchmark=NAME`).
        kind: `benchmark`, `baseline`, `model` or `probe`.
        about: Title or first sentence.
        shape: Shape of a benchmark (`1x2`), else empty.
        n: Expected instances, None where it is not known.
        needs_images: Whether image files are needed, None where the question makes no sense.
        licence: As its authors state it, else empty.
        sort: Kind of a model (`dual encoder`), else empty.
        millions: Parameters of a model in millions, None where it is not known.
        source: Where a model comes from, else empty.
        here: Whether it can be used on this machine now (`yes`, `sample`, `absent`), empty where nobody looked.
    """

    name: str
    kind: str
    about: str = ""
    shape: str = ""
    n: int | None = None
    needs_images: bool | None = None
    licence: str = ""
    sort: str = ""
    millions: float | None = None
    source: str = ""
    here: str = ""


def error_text(error: InputError) -> str:
    """Return an input error as plain text, one part a line, without characters that steer a terminal."""
    lines = [f"error: {_multiline(scrub_text(error.what))}"]
    lines += [f"  {label}: {_multiline(text)}" for label, text in _parts(error)]
    return "\n".join(lines)


def print_error(error: InputError, console: Console) -> None:
    """Print an input error; the console is one on standard error."""
    text = Text()
    text.append("error: ", "bold red").append(safe(_multiline(scrub_text(error.what)), console), "bold")
    for label, part in _parts(error):
        text.append(f"\n  {label}: ", "bold").append(safe(_multiline(part), console))
    # Never with `overflow`, which cuts what is wider than the terminal: the terminal itself breaks long lines.
    console.print(text, soft_wrap=True)


def _parts(error: InputError) -> list[tuple[str, str]]:
    found = [(label, str(getattr(error, name))) for name, label in _PARTS]
    return [(label, scrub_text(text)) for label, text in found if text]


def _multiline(text: str) -> str:
    """Return text in which line breaks stay, indented below their label, and other controls show."""
    return "\n    ".join(visible(part) for part in text.splitlines())


def print_listing(rows: Sequence[Listing], console: Console) -> None:
    """Print what there is, one table for each kind, leaving out columns that no row fills."""
    for kind in dict.fromkeys(row.kind for row in rows):
        _print_kind([row for row in rows if row.kind == kind], console, title=kind)


def _print_kind(rows: Sequence[Listing], console: Console, *, title: str) -> None:
    columns = {
        title: [row.name for row in rows],
        "what": [row.about for row in rows],
        "kind": [row.sort for row in rows],
        "size": ["" if row.millions is None else f"{row.millions:,.0f} M" for row in rows],
        "source": [row.source for row in rows],
        "shape": [row.shape for row in rows],
        "n": ["" if row.n is None else count(row.n) for row in rows],
        "needs images": [_yes_no(row.needs_images) for row in rows],
        "licence": [row.licence for row in rows],
        "here": [row.here for row in rows],
    }
    shown = {label: cells for label, cells in columns.items() if any(cells)}
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for label in shown:
        justify: Literal["left", "right"] = "right" if label in ("n", "size") else "left"
        # The name is what gets typed: it stands whole, and the other columns give way.
        table.add_column(_plain(label, console), justify=justify, overflow="fold", no_wrap=label == title)
    for row in zip(*shown.values(), strict=True):
        table.add_row(*(_plain(cell, console) for cell in row))
    console.print(table)
    console.print(Text())


def _plain(text: str, console: Console) -> Text:
    return Text(safe(visible(text), console))


def _yes_no(answer: bool | None) -> str:
    return "" if answer is None else "yes" if answer else "no"


def print_card(name: str, card: Card, console: Console, *, extra: Mapping[str, str] | None = None) -> None:
    """Print a benchmark's card: what it is, where it comes from, on what terms, and how to get it.

    Args:
        name: Registry name.
        card: Its card.
        console: Where.
        extra: Anything else worth a line, by label (chance, whether it is here).
    """
    print_facts([("name", name), *_card_facts(card), *(extra or {}).items()], console)


def print_facts(facts: Sequence[tuple[str, str]], console: Console) -> None:
    """Print facts, one a line with its label; those without a text are left out."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in facts:
        if text:
            grid.add_row(Text(safe(visible(label), console), "bold"), Text(safe("\n".join(_lines(text)), console)))
    console.print(grid)


def _lines(text: str) -> list[str]:
    return [visible(part) for part in text.splitlines()]


def _card_facts(card: Card) -> list[tuple[str, str]]:
    """Return every field of a card with its label, in the order of the record."""
    facts = []
    for field in fields(card):
        value = getattr(card, field.name)
        facts.append((_LABELS.get(field.name, field.name), _card_value(field.name, value)))
    return facts


def _card_value(field: str, value: object) -> str:
    if field == "expected" and isinstance(value, Mapping):
        parts = [f"{subset} {count(number)}" for subset, number in value.items()]
        return ", ".join([*parts, f"in all {count(sum(value.values()))}"]) if parts else ""
    if isinstance(value, Mapping):
        return "\n".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, bool):
        return _yes_no(value)
    return "\n".join(str(item) for item in value) if isinstance(value, tuple) else str(value)


def print_option(kind: str, name: str, about: str, options: Mapping[str, str], console: Console) -> None:
    """Print what can be set on one benchmark, baseline, model or probe, with its defaults.

    Args:
        kind: Group of the configuration.
        name: As it is selected.
        about: What it is, in a sentence.
        options: Default by option.
        console: Where.
    """
    console.print(_plain(f"{kind}={name}  {about}", console))
    for key, value in options.items():
        console.print(_plain(f"  {kind}.{'' if kind == 'benchmark' else name + '.'}{key} = {value}", console))
