"""A prompted model behind an endpoint, and its blind twin: the same questions with the image left out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from audits.models.choice.asking import Asked, Asking
from audits.models.choice.client import Endpoint, key_of
from audits.models.choice.options import Options
from audits.models.choice.pictures import Pictures
from audits.models.choice.purse import Purse
from audits.models.choice.reply import Reply, judged
from audits.models.choice.request import Request, Writer
from audits.models.choice.store import Answers, peek
from audits.models.schema import Chosen, Plan, Question
from baselines.schema import BOTH, TEXT, Progress, Side
from benchmarks.errors import InputError

NOT_ASKED = Chosen("failed", note="not asked")


class Prompted:
    """Ask an endpoint to pick one of the options.

    Args:
        options: Whom to ask and how.
        purse: What it may cost, together with whoever shares the purse.
        pictures: What is known of images, likewise.
        is_blind: Whether the image is left out; only `i2t` questions can then be asked.
    """

    columns: tuple[str, ...] = ("",)

    def __init__(self, options: Options, purse: Purse, pictures: Pictures, *, is_blind: bool) -> None:
        self._options, self._purse = options, purse
        self._writer = Writer(options, pictures, is_blind=is_blind)
        self.name = f"{options.title}:no_image" if is_blind else options.title
        self.sees: frozenset[Side] = TEXT if is_blind else BOTH
        self.blind = is_blind  # a twin stands among the baselines
        self.facts: dict[str, str | int] = {}

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change an answer; no key is part of it."""
        return self._writer.signature

    def plan(self, questions: Sequence[Question]) -> Plan:
        """Return what asking these questions would take; nothing is sent.

        Raises:
            InputError: If an image cannot be read, or the cache of answers is not one of ours.
        """
        requests = [self._writer.request(question) for question in questions]
        distinct = {request.digest: request for request in requests}
        known = peek(Path(self._options.cache), list(distinct))
        new = [request for digest, request in distinct.items() if digest not in known]
        tokens_in, tokens_out = sum(one.tokens_in for one in new), len(new) * self._options.max_tokens
        return Plan(
            self.name,
            len(questions),
            len(distinct),
            len(known),
            sum(request.images for request in new),
            tokens_in,
            tokens_out,
            self._options.cost(tokens_in, tokens_out),
            purse=self._purse.where,
            where=self._purse.where,
            max_calls=self._options.max_calls,
            max_cost=self._options.max_cost,
            needs=self._lacks() if new else "",
        )

    def _lacks(self) -> str:
        """Return what asking needs and is not there."""
        try:
            key_of(self._options, self._purse.where)
        except InputError as error:
            return f"{error.where} is not set"
        return ""

    def choose(self, questions: Sequence[Question], progress: Progress) -> list[Chosen]:
        """Return one `Chosen` for each question, in order; what was asked before is taken from the cache.

        Raises:
            InputError: If the key is missing, the endpoint refuses it, too many questions in a row fail, or a ceiling
                is reached. Every answer until then is kept.
        """
        requests = [self._writer.request(question) for question in questions]
        distinct = {request.digest: request for request in requests}
        with Answers(Path(self._options.cache)) as answers:
            known = answers.known(list(distinct))
            new = [request for digest, request in distinct.items() if digest not in known]
            asked = Asked({}, {}, 0)
            if new:
                key = key_of(self._options, self._purse.where)
                asking = Asking(self._options, self._purse, answers.keep, progress)
                progress.begin(self.name, len(new), "questions")
                try:
                    asked = asyncio.run(_session(asking, new, self._options, key))
                finally:
                    progress.end()
        self._note(distinct, known, asked)
        return [self._chosen(request, known, asked) for request in requests]

    def _chosen(self, request: Request, known: Mapping[bytes, Reply], asked: Asked) -> Chosen:
        digest = request.digest.hex()
        reply = known.get(request.digest) or asked.replies.get(request.digest)
        if reply is None:
            return Chosen("failed", note=asked.failures.get(request.digest, NOT_ASKED.note), request=digest)
        state, choice = judged(reply, request.options)
        note = reply.refusal if state == "refused" else f"stopped by {reply.finish}" if state == "truncated" else ""
        cached = request.digest in known
        return Chosen(state, choice, reply.text, note, cached, reply.tokens_in, reply.tokens_out, digest)

    def _note(self, distinct: Mapping[bytes, Request], known: Mapping[bytes, Reply], asked: Asked) -> None:
        """Note what a reader should know of how it went."""
        replies = list(asked.replies.values())
        models = sorted({reply.model for reply in (*known.values(), *replies) if reply.model})
        self.facts = {
            "distinct requests": len(distinct),
            "replies from the cache": len(known),
            "requests sent": asked.attempts,
            "replies received": len(replies),
            "requests without a reply": len(asked.failures),
            "tokens sent": sum(max(reply.tokens_in, 0) for reply in replies),
            "tokens received": sum(max(reply.tokens_out, 0) for reply in replies),
            **({"replied as": ", ".join(models)[:200]} if models else {}),
        }
        tokens = (int(self.facts["tokens sent"]), int(self.facts["tokens received"]))
        if (cost := self._options.cost(*tokens)) is not None and replies:
            self.facts["cost of this run"] = f"{cost:.4f}"


async def _session(asking: Asking, requests: Sequence[Request], options: Options, key: str | None) -> Asked:
    async with Endpoint(options, key) as endpoint:
        return await asking.run(requests, endpoint)
