"""One attempt at one request, through the `openai` client; every way to fail is sorted by what to do about it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Final, Literal, cast

import openai

from audits.models.choice.options import Options
from audits.models.choice.reply import NoReplyError, Reply, read
from audits.models.choice.waiting import asked_for
from benchmarks.errors import InputError
from reports.scrub import REMOVED, scrub_text

Kind = Literal["passing", "lasting", "unwelcome", "broke"]
PASSING: Final = (408, 409, 425, 429)
UNWELCOME: Final = (401, 403, 404)
BROKE: Final = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "credit_balance_too_low")
FILTERED: Final = ("content_filter", "content_policy_violation", "responsibleaipolicyviolation")
NO_KEY: Final = "none-needed"
"""Sent where no key is configured: the client would take the user's OpenAI key from the environment instead."""
SHOWN: Final = 300


class TroubleError(Exception):
    """Say why an attempt gave no reply.

    Args:
        kind: `passing` (worth another attempt), `lasting` (this request fails), `unwelcome` (wrong key, model or
            address, if nothing was ever answered), or `broke` (no request will be answered).
        said: What happened, without secrets.
        wait: Seconds that the endpoint asks to wait, or None.
    """

    def __init__(self, kind: Kind, said: str, wait: float | None = None) -> None:
        super().__init__(said)
        self.kind: Kind = kind
        self.said, self.wait = said, wait


def key_of(options: Options, where: str, environment: Mapping[str, str] | None = None) -> str | None:
    """Return the key, or None where none is needed.

    Raises:
        InputError: If the environment does not hold it.
    """
    if options.key_env is None:
        return None
    found = (os.environ if environment is None else environment).get(options.key_env, "").strip()
    if not found:
        raise InputError(
            "the key of the endpoint is not set",
            where=f"environment variable {options.key_env}",
            got="nothing",
            expected=f"the key for {options.host}",
            step=f"export {options.key_env}=...; where another variable holds it, {where}.key_env=NAME; "
            f"where none is needed, {where}.key_env=null",
        )
    if not found.isascii() or not found.isprintable() or " " in found:
        raise InputError(
            "the key of the endpoint cannot be sent as it is",
            where=f"environment variable {options.key_env}",
            got="characters that no key has (a line break, a blank or another script); it is not shown here",
            expected="the key alone, on one line",
            step="copy it again",
        )
    return found


class Endpoint:
    """Send requests to one endpoint. Use it as an asynchronous context manager.

    Args:
        options: Whom to ask.
        key: The key, or None.
    """

    def __init__(self, options: Options, key: str | None) -> None:
        self._options, self._key = options, key
        # What the environment says of the user's OpenAI account is for OpenAI alone.
        ours = {} if options.host.startswith("api.openai.com") else _AMBIENT
        self._client = openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=options.base_url,
            max_retries=0,  # the waiting is ours: theirs gives up on longer pauses
            timeout=options.timeout,
            default_headers=cast("Mapping[str, str]", ours),
        )

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def ask(self, body: Mapping[str, Any], now: float) -> Reply:
        """Return the reply to a request.

        Args:
            body: As sent.
            now: Seconds since the epoch.

        Raises:
            TroubleError: If there is none.
        """
        try:
            # The client's own limit holds for each piece of a response: one that drips would never end.
            async with asyncio.timeout(self._options.timeout):
                data = await self._sent(body)
        except (TimeoutError, openai.APITimeoutError):
            raise TroubleError("passing", f"no answer within {self._options.timeout:g} s") from None
        except openai.APIStatusError as error:
            return self._sorted(error, now)
        except openai.APIConnectionError as error:
            raise TroubleError("passing", self.clean(f"no connection: {error.__cause__ or error}")) from None
        except openai.APIError as error:
            raise TroubleError("passing", self.clean(f"{type(error).__name__}: {error}")) from None
        try:
            reply = read(data)
        except NoReplyError as error:
            raise TroubleError("passing", self.clean(str(error))) from None
        return replace(reply, text=self._without_key(reply.text), refusal=self._without_key(reply.refusal))

    async def _sent(self, body: Mapping[str, Any]) -> bytes:
        """Send a request and return the body of the response."""
        own = {name: body[name] for name in ("model", "messages")}
        rest = {name: value for name, value in body.items() if name not in own}
        # The endpoint's own fields need not be those that the client knows: they go as they are.
        raw = await self._client.chat.completions.with_raw_response.create(**own, extra_body=rest)
        return bytes(raw.http_response.content)

    def _sorted(self, error: openai.APIStatusError, now: float) -> Reply:
        """Return the refusal that a status stands for, or raise what it means.

        Never chained to the error itself, which repeats what the server said, and servers repeat keys.

        Raises:
            TroubleError: If it stands for no reply.
        """
        status, said = error.status_code, self.clean(f"status {error.status_code}: {_told(error)}")
        names = {str(name).lower() for name in (error.code, error.type, _inner(error.body)) if name}
        if names & set(FILTERED):
            return Reply("", "content_filter", said)
        if status == 402 or names & set(BROKE):
            raise TroubleError("broke", said) from None
        if status in PASSING or status >= 500:
            raise TroubleError("passing", said, asked_for(error.response.headers, now)) from None
        raise TroubleError("unwelcome" if status in UNWELCOME else "lasting", said) from None

    def clean(self, text: str) -> str:
        """Return what a server or a library said, shortened, on one line and without secrets."""
        return scrub_text(self._without_key(" ".join(text.split())))[:SHOWN]

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, REMOVED) if self._key else text


def _told(error: openai.APIStatusError) -> str:
    """Return what the server said, without the words that the client puts around it."""
    told = error.body.get("message") if isinstance(error.body, Mapping) else None
    return told if isinstance(told, str) else error.message


def _inner(body: object) -> str:
    """Return the code inside an error's inner error, where some endpoints have it."""
    inner = body.get("innererror") if isinstance(body, Mapping) else None
    return str(inner.get("code") or "") if isinstance(inner, Mapping) else ""


_AMBIENT: Final[Mapping[str, object]] = {
    "OpenAI-Organization": openai.Omit(),
    "OpenAI-Project": openai.Omit(),
}
