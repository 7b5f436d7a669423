"""What asking may cost: one purse for a model and its blind twin, which one leaf of the configuration pays for."""

from __future__ import annotations

from audits.models.choice.options import Options
from audits.models.choice.reply import Reply
from audits.models.choice.request import Request
from benchmarks.errors import InputError


class Purse:
    """Count requests and tokens, and stop before a ceiling is crossed.

    Args:
        options: The ceilings and prices.
        where: The leaf of the configuration, for messages.

    Attributes:
        sent: Attempts sent in this run.
        tokens_in: Tokens paid for in this run, as the endpoint counted them, else as estimated.
        tokens_out: Likewise.
    """

    def __init__(self, options: Options, where: str) -> None:
        self.options, self.where = options, where
        self.sent = self.tokens_in = self.tokens_out = 0
        self._reserved = 0.0

    @property
    def spent(self) -> float | None:
        """Return what was spent in this run, or None where a price is not known."""
        return self.options.cost(self.tokens_in, self.tokens_out)

    def most(self, request: Request) -> float:
        """Return what a request may cost at most, 0 where prices are not known."""
        return self.options.cost(request.tokens_in, self.options.max_tokens) or 0.0

    def refusal(self, request: Request) -> InputError | None:
        """Return what to raise instead of sending a request, or None if it may be sent."""
        calls, cost = self.options.max_calls, self.options.max_cost
        if calls is not None and self.sent >= calls:
            return self._reached("max_calls", f"{self.sent:,} requests sent, repeated attempts included", f"{calls:,}")
        if cost is not None and (self.spent or 0.0) + self._reserved + self.most(request) > cost:
            return self._reached(
                "max_cost", f"{self.spent or 0.0:.4f} spent, and the next request may cross it", f"{cost:g}"
            )
        return None

    def takes(self, request: Request) -> None:
        """Note that an attempt is sent."""
        self.sent += 1
        self._reserved += self.most(request)

    def returns(self, request: Request, reply: Reply | None) -> None:
        """Note that an attempt has ended; one without a reply is taken to cost nothing."""
        self._reserved -= self.most(request)
        if reply is not None:
            self.tokens_in += reply.tokens_in if reply.tokens_in >= 0 else request.tokens_in
            self.tokens_out += reply.tokens_out if reply.tokens_out >= 0 else self.options.max_tokens

    def _reached(self, name: str, got: str, most: str) -> InputError:
        return InputError(
            f"the ceiling {name} is reached; every answer so far is kept",
            where=f"{self.where}.{name}",
            got=got,
            expected=f"at most {most}",
            step=f"the same command goes on where this one stopped; raise {self.where}.{name} to finish in one run",
        )
