"""Send many requests: one first, then several at a time; try again what may pass, and stop where nothing will."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from audits.models.choice.client import Endpoint, TroubleError
from audits.models.choice.options import Options
from audits.models.choice.purse import Purse
from audits.models.choice.reply import Reply
from audits.models.choice.request import Request, body
from audits.models.choice.waiting import Pace
from baselines.schema import Progress
from benchmarks.errors import InputError

log = logging.getLogger(__name__)


class Asked(NamedTuple):
    """Hold what became of requests, by digest: a reply, or why there is none."""

    replies: Mapping[bytes, Reply]
    failures: Mapping[bytes, str]
    attempts: int


class Asking:
    """Send requests to one endpoint until each has a reply or has failed for good.

    Args:
        options: Whom to ask, and how often.
        purse: What it may cost.
        keep: Called with every reply the moment it is there; returns the one that counts.
        progress: Where to report.
        pace: Where waiting is kept.
    """

    def __init__(
        self,
        options: Options,
        purse: Purse,
        keep: Callable[[Request, Reply], Reply],
        progress: Progress,
        pace: Pace | None = None,
    ) -> None:
        self._options, self._purse, self._keep, self._progress = options, purse, keep, progress
        self._pace = pace or Pace()
        self._replies: dict[bytes, Reply] = {}
        self._failures: dict[bytes, str] = {}
        self._attempts = 0
        self._in_a_row = 0
        self._stop: InputError | None = None
        self._waiting: deque[Request] = deque()

    async def run(self, requests: Sequence[Request], endpoint: Endpoint) -> Asked:
        """Send requests, each distinct one.

        Raises:
            InputError: If the endpoint refuses the key, the model or the address, too many questions in a row fail,
                or a ceiling is reached. What was answered by then is kept.
        """
        self._waiting = deque(requests)
        # One at a time until the first is answered: a wrong key is told once, not once for each of many.
        while self._waiting and not self._replies and self._stop is None:
            await self._one(self._waiting.popleft(), endpoint)
        await asyncio.gather(*(self._worker(endpoint) for _ in range(self._options.concurrency)))
        if self._stop is not None:
            raise self._stop
        return Asked(self._replies, self._failures, self._attempts)

    async def _worker(self, endpoint: Endpoint) -> None:
        while self._waiting and self._stop is None:
            await self._one(self._waiting.popleft(), endpoint)

    async def _one(self, request: Request, endpoint: Endpoint) -> None:
        """Ask until there is a reply, nothing more is to be tried, or the run stops."""
        sent = body(request, self._options)
        for attempt in range(1, self._options.retries + 2):
            await self._pace.passage()
            self._stop = self._stop or self._purse.refusal(request)
            if self._stop is not None:
                return
            try:
                reply = await self._attempt(request, sent, endpoint)
            except TroubleError as trouble:
                if not await self._again(trouble, attempt):
                    self._failed(request, trouble, attempt)
                    return
            else:
                self._answered(request, reply)
                return

    async def _attempt(self, request: Request, sent: Mapping[str, object], endpoint: Endpoint) -> Reply:
        self._attempts += 1
        self._purse.takes(request)
        reply: Reply | None = None
        try:
            reply = await endpoint.ask(sent, self._pace.wall())
            return self._keep(request, reply)
        finally:
            self._purse.returns(request, reply)

    async def _again(self, trouble: TroubleError, attempt: int) -> bool:
        """Wait as long as it takes and return True, or return False where no further attempt is made."""
        too_long = trouble.wait is not None and trouble.wait > self._options.max_wait
        if trouble.kind != "passing" or attempt > self._options.retries or too_long or self._stop is not None:
            return False
        log.info("attempt %d failed: %s", attempt, trouble.said)
        if trouble.wait is not None:
            self._pace.pause(trouble.wait)
        else:
            await self._pace.sleep(self._pace.back_off(attempt))
        return True

    def _answered(self, request: Request, reply: Reply) -> None:
        self._replies[request.digest] = reply
        self._in_a_row = 0
        self._progress.advance(1)

    def _failed(self, request: Request, trouble: TroubleError, attempts: int) -> None:
        said = trouble.said
        if trouble.wait is not None and trouble.wait > self._options.max_wait:
            said = f"{said}; asks to wait {trouble.wait:g} s, which is more than max_wait"
        if attempts > 1:
            said = f"{said}; {attempts} attempts"
        log.warning("no reply: %s", said)
        self._failures[request.digest] = said
        self._in_a_row += 1
        self._progress.advance(1)
        if self._stop is None:
            self._stop = self._why_stop(trouble, said)

    def _why_stop(self, trouble: TroubleError, said: str) -> InputError | None:
        """Return what to raise where asking further is of no use."""
        where, own = self._purse.where, self._options
        if trouble.kind == "unwelcome" and not self._replies:
            key = (
                f"the key in the environment variable {own.key_env}"
                if own.key_env
                else f"{where}.key_env (no key is sent)"
            )
            return InputError(
                "the endpoint refuses the first request; nothing more was sent",
                where=f"{own.host}, model {own.model}",
                got=said,
                expected="a key that is valid here, and a model and an address that exist",
                step=f"check {key}, {where}.model={own.model} and {where}.base_url={own.base_url}",
            )
        if trouble.kind == "broke":
            return InputError(
                "the account of the endpoint has nothing left; every answer so far is kept",
                where=f"{own.host}, environment variable {own.key_env}",
                got=said,
                step="fill it up; the same command goes on where this one stopped",
            )
        if self._in_a_row < own.max_failures:
            return None
        return InputError(
            f"{self._in_a_row} questions in a row have no reply; every answer so far is kept",
            where=f"{own.host}, model {own.model}",
            got=f"last: {said}",
            expected="an endpoint that answers",
            step="the same command goes on where this one stopped, once it does; "
            f"{where}.max_failures says how many in a row are too many",
        )
