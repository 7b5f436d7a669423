"""What an endpoint replied, read strictly: nothing is guessed, and every way of not answering has its own name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from audits.models.answers import State, letter

# As providers name them; the compatible interfaces of some pass on the reason of their own one.
CUT: Final = ("length", "max_tokens", "max_output_tokens", "model_length")
REFUSED: Final = ("content_filter", "safety", "refusal", "recitation", "prohibited_content", "blocklist", "spii")


@dataclass(frozen=True, slots=True)
class Reply:
    """Hold one complete reply.

    Attributes:
        text: What the model said; empty where it said nothing.
        finish: Why it stopped, as the endpoint has it.
        refusal: What it said instead, where it refused in a field of its own.
        model: The model that replied, as the endpoint has it.
        tokens_in: As the endpoint counted them, -1 where it did not say.
        tokens_out: Likewise.
    """

    text: str
    finish: str = ""
    refusal: str = ""
    model: str = ""
    tokens_in: int = -1
    tokens_out: int = -1

    def packed(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def unpacked(cls, line: str) -> Reply:
        """Return the reply that a line holds."""
        return cls(**json.loads(line))


class NoReplyError(ValueError):
    """Say that a body is no reply: not JSON, or JSON of another form. The message repeats none of it but its start."""


def read(data: bytes) -> Reply:
    """Return the reply that the body of a response holds.

    Raises:
        NoReplyError: If it holds none.
    """
    try:
        parsed = json.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, ValueError) as error:
        raise NoReplyError(f"the body is no JSON: {data[:80]!r}") from error
    choices = parsed.get("choices") if isinstance(parsed, Mapping) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, Mapping) else None
    if not isinstance(first, Mapping) or not isinstance(message, Mapping):
        raise NoReplyError(f"the body has no message: {data[:200]!r}")
    if first.get("finish_reason") == "error":
        raise NoReplyError(f"the endpoint says that it failed: {data[:200]!r}")
    usage = parsed.get("usage")
    counts = usage if isinstance(usage, Mapping) else {}
    return Reply(
        _content(message.get("content")),
        _word(first.get("finish_reason")),
        _word(message.get("refusal")),
        _word(parsed.get("model")),
        _count(counts.get("prompt_tokens")),
        _count(counts.get("completion_tokens")),
    )


def _content(content: Any) -> str:
    """Return what was said: a text, or a list of parts of which some are text."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int:
    return value if type(value) is int and value >= 0 else -1


def judged(reply: Reply, options: int) -> tuple[State, int | None]:
    """Return what became of a question, and the place of the option that was chosen.

    A reply that was cut is never read, even if a choice stands in what is left: another could have followed.

    >>> judged(Reply("CHOICE: B", "stop"), 2), judged(Reply("CHOICE: B", "length"), 2)
    (('answered', 1), ('truncated', None))
    >>> judged(Reply("", "stop", refusal="I cannot."), 2), judged(Reply("", "stop"), 2)
    (('refused', None), ('empty', None))
    """
    finish = reply.finish.lower()
    if reply.refusal or any(finish.startswith(word) for word in REFUSED):
        return "refused", None
    if finish in CUT:
        return "truncated", None
    found = letter(reply.text, options)
    return found.state, found.choice
