"""How long to wait before a request is sent again: as long as the endpoint asks, else longer each time."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Final

FIRST: Final = 0.5
"""Seconds of the first wait that nobody asked for."""
LONGEST: Final = 60.0
JITTER: Final = 0.25
"""Share by which a wait is lengthened at most, so that many requests do not come back at once."""


def asked_for(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds that a response asks to wait, or None if it does not say.

    `Retry-After` is a number of seconds or a date; a date is taken against the response's own `Date`, so that two
    clocks that differ do no harm. `Retry-After-Ms`, where there is one, is more exact.

    Args:
        headers: Of the response; names in lower case, or in any where the mapping does not care.
        now: Seconds since the epoch.

    Source: RFC 9110, section 10.2.3.

    >>> asked_for({"retry-after": "7"}, 0), asked_for({}, 0), asked_for({"retry-after": "soon"}, 0)
    (7.0, None, None)
    >>> date = {"date": "Fri, 31 Dec 1999 23:59:29 GMT", "retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}
    >>> asked_for(date, 0)
    30.0
    """
    exact = _seconds(headers.get("retry-after-ms"))
    if exact is not None:
        return exact / 1000
    value = headers.get("retry-after")
    plain = _seconds(value)
    if plain is not None:
        return plain
    at = _moment(value)
    if at is None:
        return None
    theirs = _moment(headers.get("date"))
    return max(0.0, at - (now if theirs is None else theirs))


def _seconds(value: str | None) -> float | None:
    try:
        found = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return found if math.isfinite(found) and found >= 0 else None


def _moment(value: str | None) -> float | None:
    try:
        return None if value is None else parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


class Pace:
    """Keep waiting in one place: an endpoint that asks for a pause gets it from every request.

    Args:
        seed: Of the jitter.
        clock: Seconds from a monotonic clock.
        sleep: Waits so many seconds.
        wall: Seconds since the epoch.

    Attributes:
        waited: Seconds waited in all, over all requests.
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._random = random.Random(seed)
        self._clock, self._sleep, self.wall = clock, sleep, wall
        self._open_at = -math.inf
        self.waited = 0.0

    def back_off(self, attempt: int) -> float:
        """Return the seconds before a further attempt that nobody asked to wait for.

        Args:
            attempt: How many attempts have failed, from 1.
        """
        return self._lengthened(min(LONGEST, FIRST * 2.0 ** (attempt - 1)))

    def pause(self, seconds: float) -> None:
        """Let no request go out for so long; of several pauses the longest counts."""
        self._open_at = max(self._open_at, self._clock() + self._lengthened(seconds))

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        self.waited += seconds
        await self._sleep(seconds)

    async def passage(self) -> None:
        """Wait until the endpoint may be asked."""
        while (left := self._open_at - self._clock()) > 0:
            await self.sleep(left)

    def _lengthened(self, seconds: float) -> float:
        return seconds * (1 + JITTER * self._random.random())
