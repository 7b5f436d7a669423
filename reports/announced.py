"""Say what a run would compute, ask and pay, where nothing of it has been done (`dry_run=true`)."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from reports.scrub import scrub_text
from reports.terminal import console_for, safe
from reports.text import count, visible


@dataclass(frozen=True, slots=True)
class Asks:
    """Hold what asking one prompted model would take; see `audits.models.schema.Plan`."""

    questions: int
    requests: int
    cached: int
    images: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    purse: str = ""
    max_calls: int | None = None
    max_cost: float | None = None
    needs: str = ""

    @property
    def calls(self) -> int:
        """Return the number of requests that would be sent."""
        return self.requests - self.cached


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one contestant, what asking it would take if it is asked and can say so, and how it takes part."""

    name: str
    kind: str
    sees: Sequence[str]
    asks: Asks | None
    how: str


@dataclass(frozen=True, slots=True)
class Announcement:
    """Hold what a run would do."""

    benchmark: str
    n: int
    shapes: Mapping[str, int]
    lines: Sequence[Line]
    absent: Sequence[str] = ()


def show(what: Announcement) -> None:
    """Print an announcement on standard output."""
    console = console_for(sys.stdout)
    shapes = ", ".join(f"{count(number)} of {shape}" for shape, number in what.shapes.items())
    _say(console, "Dry run: no contestant was run, nothing was sent, no run folder was written.")
    _say(console, f"{what.benchmark}: {count(what.n)} instances ({shapes}).")
    console.print(_contestants(what.lines, console))
    for text in what.absent:
        _say(console, text)
    asked = [line for line in what.lines if line.asks is not None]
    if asked:
        console.print(_asked(asked, console))
        for text in _sums(asked):
            _say(console, text)


def _contestants(lines: Sequence[Line], console: Console) -> Table:
    table = _table(console, ("contestant", "kind", "sees", "how"))
    for line in lines:
        cells = (line.name, line.kind, " and ".join(line.sees), line.how)
        table.add_row(*(_cell(text, console) for text in cells))
    return table


def _asked(lines: Sequence[Line], console: Console) -> Table:
    heads = ("asked", "questions", "requests", "cached", "to send", "images", "tokens in", "tokens out", "cost")
    table = _table(console, heads)
    for line in lines:
        asks = line.asks
        if asks is not None:
            numbers = (asks.questions, asks.requests, asks.cached, asks.calls, asks.images)
            tokens = (f"about {count(asks.tokens_in)}", f"at most {count(asks.tokens_out)}")
            cells = (line.name, *(count(number) for number in numbers), *tokens, _cost(asks))
            table.add_row(*(_cell(text, console) for text in cells))
    return table


def _cost(asks: Asks) -> str:
    if not asks.calls:
        return "nothing"
    return "unknown" if asks.cost is None else f"at most {asks.cost:,.2f}"


def _sums(lines: Sequence[Line]) -> list[str]:
    """Return what each purse pays, what its ceilings say, and what is missing."""
    found = [
        "Questions are counted in every order of their options; equal requests are sent once, and repeated attempts "
        "are not foreseen. Tokens are estimated; the endpoint counts its own."
    ]
    asked = [line.asks for line in lines if line.asks is not None]
    for purse in dict.fromkeys(asks.purse for asks in asked):
        own = [asks for asks in asked if asks.purse == purse]
        calls, first = sum(asks.calls for asks in own), own[0]
        costs = [asks.cost for asks in own if asks.calls]
        known = [cost for cost in costs if cost is not None]
        paid = f"at most {sum(known):,.2f} in all" if len(known) == len(costs) else "cost unknown (price_in, price_out)"
        found.append(
            f"{purse}: {count(calls)} requests to send, {paid}. "
            f"{_ceiling('max_calls', calls, first.max_calls)} {_ceiling('max_cost', sum(known), first.max_cost)}"
        )
        found += [f"{purse}: {needs}." for needs in dict.fromkeys(asks.needs for asks in own) if needs]
    return found


def _ceiling(name: str, planned: float, most: float | None) -> str:
    if most is None:
        return f"No ceiling {name}."
    return f"{name} {most:,}: {'above it, the run would be refused' if planned > most else 'kept'}."


def _table(console: Console, heads: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for number, head in enumerate(heads):
        right = number > 0 and heads[0] == "asked"
        # A name stands whole, the other columns give way.
        table.add_column(
            _cell(head, console), justify="right" if right else "left", overflow="fold", no_wrap=number == 0
        )
    return table


def _cell(text: str, console: Console) -> Text:
    return Text(safe(visible(scrub_text(text)), console))


def _say(console: Console, text: str) -> None:
    console.print(_cell(text, console), soft_wrap=True)
