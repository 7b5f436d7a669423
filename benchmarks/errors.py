"""The one exception for mistakes in what the user gave: data, configuration, command line.

Everything that ends in exit status 3 is an `InputError`; anything else that escapes is a fault of ours (status 4).
"""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz import fuzz, process


class InputError(Exception):
    """Report a mistake in the input in one message: what, where, got, expected, next step.

    Args:
        what: The mistake, as a short sentence without a final stop.
        where: File, row, field or override in which it stands.
        got: The value found.
        expected: The values allowed or the value wanted.
        step: What to do next.
    """

    def __init__(self, what: str, *, where: str = "", got: str = "", expected: str = "", step: str = "") -> None:
        self.what, self.where, self.got, self.expected, self.step = what, where, got, expected, step
        super().__init__(self.render())

    def render(self) -> str:
        """Return the message as lines of plain text, without the parts that are empty."""
        parts = [("where", self.where), ("got", self.got), ("expected", self.expected), ("next step", self.step)]
        return "\n".join([self.what, *(f"  {label}: {text}" for label, text in parts if text)])

    def __reduce__(self) -> tuple[object, ...]:
        # The default pickling would pass the rendered text as `what`; sweeps send exceptions between processes.
        return (_rebuild, (self.what, self.where, self.got, self.expected, self.step))


def _rebuild(what: str, where: str, got: str, expected: str, step: str) -> InputError:
    return InputError(what, where=where, got=got, expected=expected, step=step)


class NotAvailableError(InputError):
    """Say that a source cannot be had here (absent, gated, script-only), as distinct from a source that is wrong.

    Args:
        status: Why, in one word: `absent`, `gated`, `script-only` or `unreachable`.
    """

    def __init__(
        self, what: str, *, status: str, where: str = "", got: str = "", expected: str = "", step: str = ""
    ) -> None:
        self.status = status
        super().__init__(what, where=where, got=got, expected=expected, step=step)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_absent, (self.what, self.status, self.where, self.got, self.expected, self.step))


def _rebuild_absent(what: str, status: str, where: str, got: str, expected: str, step: str) -> NotAvailableError:
    return NotAvailableError(what, status=status, where=where, got=got, expected=expected, step=step)


def near(name: str, known: Iterable[str], *, limit: int = 3) -> str:
    """Return a phrase that lists the known names closest to a misspelt one, or an empty string.

    >>> near("sugarcrep", ["sugarcrepe", "valse"])
    'did you mean sugarcrepe?'
    """
    found = process.extract(name, list(known), scorer=fuzz.WRatio, processor=str.lower, score_cutoff=65, limit=limit)
    return f"did you mean {', '.join(hit[0] for hit in found)}?" if found else ""
