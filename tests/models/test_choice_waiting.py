"""How long is waited: what the endpoint asks for in any form, else longer each time, and never in step."""

import asyncio
import doctest

import pytest

from audits.models.choice import reply, tokens, waiting
from audits.models.choice.waiting import FIRST, JITTER, LONGEST, Pace, asked_for

EPOCH_2026 = 1_767_225_600.0  # Thu, 01 Jan 2026 00:00:00 GMT


@pytest.mark.parametrize("module", [waiting, tokens, reply])
def test_doctests(module):
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": " 3 "}, 3.0),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:20 GMT"}, 20.0),
        ({"retry-after": "Wed, 31 Dec 2025 23:00:00 GMT"}, 0.0),  # in the past: at once
        # Their clock is an hour behind ours: the span between their two dates counts.
        ({"retry-after": "Wed, 31 Dec 2025 23:00:09 GMT", "date": "Wed, 31 Dec 2025 23:00:00 GMT"}, 9.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "Thu, 99 Foo 2026"}, None),
        ({}, None),
    ],
)
def test_retry_after_in_every_form(headers, seconds):
    assert asked_for(headers, EPOCH_2026) == seconds


def test_back_off_doubles_with_jitter_and_has_a_ceiling():
    pace = Pace(3)
    for attempt in range(1, 12):
        plain = min(LONGEST, FIRST * 2 ** (attempt - 1))
        assert plain <= pace.back_off(attempt) <= plain * (1 + JITTER)
    assert len({pace.back_off(4) for _ in range(20)}) == 20
    assert [Pace(5).back_off(2) for _ in range(2)] == [Pace(5).back_off(2)] * 2  # the same seed, the same jitter


def test_a_pause_holds_every_request_and_the_longest_counts():
    now, slept = [0.0], []

    async def sleep(seconds):
        slept.append(seconds)
        now[0] += seconds

    pace = Pace(0, clock=lambda: now[0], sleep=sleep)
    pace.pause(10)
    pace.pause(2)
    asyncio.run(pace.passage())
    assert 10 <= sum(slept) <= 10 * (1 + JITTER)
    asyncio.run(pace.passage())
    assert len(slept) == 1
    assert pace.waited == sum(slept)
