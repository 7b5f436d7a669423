"""What can be set of an endpoint, a prompt and the ceilings, checked before anything is asked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from string import Formatter
from typing import Any, Final
from urllib.parse import urlsplit

from audits.models.choice.tokens import RULES as IMAGE_TOKENS
from benchmarks.errors import InputError, near
from reports.scrub import is_secret_key

DETAILS = ("auto", "low", "high")
CONDITIONS = ("image", "no_image")
LIMIT_FIELDS = ("max_tokens", "max_completion_tokens")
# What a prompt may hold; the options of T2I are images, which stand before the prompt.
FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "i2t": frozenset({"query", "options", "letters"}),
    "t2i": frozenset({"caption", "letters"}),
    "no_image": frozenset({"query", "options", "letters"}),
    "option": frozenset({"letter", "caption"}),
    "image": frozenset({"letter"}),
    "query": frozenset({"query"}),
}
_NEEDED: Final[Mapping[str, str]] = {"i2t": "options", "t2i": "caption", "no_image": "options", "option": "caption"}
_RESERVED = ("model", "messages", "temperature", "seed", "n", "stream", *LIMIT_FIELDS)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Options:
    """Say whom to ask, how, and how much it may cost; one field per line of the YAML.

    Attributes:
        base_url: Address of an OpenAI-compatible endpoint, without a key in it.
        model: Name of the model as the endpoint knows it.
        key_env: Environment variable that holds the key, or None where none is needed.
        name: In tables; None for `choice:` and the model's name.
        conditions: `image` (the model), `no_image` (its blind twin), or both.
        prompt: Templates: `i2t`, `t2i`, `no_image` (None: the words of `i2t`), `option`, `image`, `query`, `system`.
        temperature: None leaves the field out.
        max_tokens: Of a reply.
        max_tokens_field: How the endpoint calls this limit.
        seed: None leaves the field out.
        detail: Of images; None leaves the field out.
        extra: Further fields of every request.
        image_tokens: How tokens of an image are estimated: a number, or the name of a rule.
        timeout: Seconds that one attempt may take.
        concurrency: Requests at the same time.
        retries: Further attempts after a failure that may pass.
        max_wait: Longest wait, in seconds, that the endpoint may ask for.
        max_failures: Questions in a row that fail for good before the run stops.
        max_calls: Most requests that one run may send, attempts included; None for no ceiling.
        max_cost: Most that one run may cost; None for no ceiling.
        price_in: Price of a million tokens that are sent; None where it is not known.
        price_out: Price of a million tokens that are received.
        cache: Folder of the answers.
    """

    base_url: str
    model: str
    cache: str
    prompt: Mapping[str, str | None]
    key_env: str | None = None
    name: str | None = None
    conditions: tuple[str, ...] = CONDITIONS
    temperature: float | None = 0.0
    max_tokens: int = 64
    max_tokens_field: str = "max_tokens"
    seed: int | None = None
    detail: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    image_tokens: int | str = "tiles"
    timeout: float = 60.0
    concurrency: int = 4
    retries: int = 5
    max_wait: float = 120.0
    max_failures: int = 5
    max_calls: int | None = None
    max_cost: float | None = None
    price_in: float | None = None
    price_out: float | None = None

    @property
    def title(self) -> str:
        """Return the name in tables."""
        return self.name or f"choice:{self.model.rstrip('/').rpartition('/')[2]}"

    @property
    def host(self) -> str:
        """Return the address without scheme: host, port and path, as far as there are any."""
        parts = urlsplit(self.base_url)
        return f"{parts.netloc}{parts.path}".rstrip("/")

    def cost(self, tokens_in: int, tokens_out: int) -> float | None:
        """Return what so many tokens cost, or None where a price is not known."""
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens_in * self.price_in + tokens_out * self.price_out) / 1e6


def _number(low: float, *, none: bool = False, whole: bool = False) -> Callable[[Any], bool]:
    def test(value: Any) -> bool:
        if value is None:
            return none
        kinds = (int,) if whole else (int, float)
        return type(value) in kinds and math.isfinite(value) and value >= low

    return test


def _text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


_RULES: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "model": (_text, "the model's name as the endpoint knows it"),
    "cache": (_text, "a folder"),
    "key_env": (
        lambda value: value is None or (isinstance(value, str) and _VARIABLE.fullmatch(value) is not None),
        "the NAME of an environment variable that holds the key (never the key itself), or null",
    ),
    "name": (lambda value: value is None or _text(value), "a name, or null"),
    "temperature": (_number(0, none=True), "a number, 0 or more, or null to leave the field out"),
    "max_tokens": (_number(1, whole=True), "a whole number of tokens, 1 or more"),
    "max_tokens_field": (lambda value: value in LIMIT_FIELDS, " or ".join(LIMIT_FIELDS)),
    "seed": (_number(0, none=True, whole=True), "a whole number, or null to leave the field out"),
    "detail": (lambda value: value is None or value in DETAILS, f"{', '.join(DETAILS)} or null"),
    "image_tokens": (
        lambda value: value in IMAGE_TOKENS or _number(0, whole=True)(value),
        f"a number of tokens per image, or {', '.join(IMAGE_TOKENS)}",
    ),
    "timeout": (_number(0.001), "seconds, above 0"),
    "concurrency": (_number(1, whole=True), "a whole number of requests, 1 or more"),
    "retries": (_number(0, whole=True), "a whole number of attempts, 0 or more"),
    "max_wait": (_number(0), "seconds, 0 or more"),
    "max_failures": (_number(1, whole=True), "a whole number of questions, 1 or more"),
    "max_calls": (_number(0, none=True, whole=True), "a whole number of requests, or null for no ceiling"),
    "max_cost": (_number(0, none=True), "an amount, or null for no ceiling"),
    "price_in": (_number(0, none=True), "a price per million tokens, or null where it is not known"),
    "price_out": (_number(0, none=True), "a price per million tokens, or null where it is not known"),
}


def checked(given: Mapping[str, Any], where: str) -> Options:
    """Return the options if every one of them can be used.

    Args:
        given: As configured.
        where: The leaf of the configuration, for messages.

    Raises:
        InputError: At the first that cannot.
    """
    known = [one.name for one in fields(Options)]
    wrong = [name for name in given if name not in known]
    if wrong:
        expected = ", ".join(known)
        raise InputError("unknown option", where=where, got=wrong[0], expected=expected, step=near(wrong[0], known))
    for name, (allowed, expected) in _RULES.items():
        if name in given and not allowed(given[name]):
            got = "a value that is no name of a variable" if name == "key_env" else repr(given[name])
            raise _refused(f"{where}.{name}", got, expected)
    _check_address(given.get("base_url"), f"{where}.base_url")
    _check_prompt(given.get("prompt"), f"{where}.prompt")
    conditions = _conditions(given.get("conditions", CONDITIONS), f"{where}.conditions")
    _check_extra(given.get("extra") or {}, f"{where}.extra")
    made = Options(**{**given, "conditions": conditions, "extra": dict(given.get("extra") or {})})
    if made.max_cost is not None and made.cost(0, 0) is None:
        raise InputError(
            "a ceiling of cost needs prices",
            where=f"{where}.max_cost",
            got=f"price_in {made.price_in}, price_out {made.price_out}",
            expected="prices per million tokens",
            step=f"set {where}.price_in and {where}.price_out, or use {where}.max_calls",
        )
    return made


def _refused(where: str, got: str, expected: str) -> InputError:
    return InputError("this value cannot be used", where=where, got=got, expected=expected, step=f"write {where}=VALUE")


def _check_address(value: Any, where: str) -> None:
    """Refuse what is no address, or one that carries a secret: it would stand in every record."""
    expected = "the address of an OpenAI-compatible endpoint, such as http://localhost:8000/v1"
    try:
        parts = urlsplit(value) if isinstance(value, str) else urlsplit("")
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine:
        raise _refused(where, "no address" if not isinstance(value, str) else "not an http(s) address", expected)
    if parts.username is not None or parts.query or parts.fragment:
        raise InputError(
            "an endpoint's address must not carry a user, a key or a query",
            where=where,
            got=f"{parts.scheme}://{parts.hostname}... with more than host and path",
            expected=expected,
            step="put the key into an environment variable and name that with key_env",
        )


def _check_prompt(value: Any, where: str) -> None:
    if not isinstance(value, Mapping):
        raise _refused(where, type(value).__name__, f"templates by name: {', '.join(FIELDS)}, system")
    unknown = [name for name in value if name not in (*FIELDS, "system")]
    if unknown:
        raise InputError("no such template", where=where, got=unknown[0], step=near(unknown[0], FIELDS))
    for name, allowed in FIELDS.items():
        text = value.get(name)
        if text is None and name == "no_image":
            continue
        if not isinstance(text, str):
            raise _refused(f"{where}.{name}", repr(text), "a text")
        try:
            used = {found for _, found, _, _ in Formatter().parse(text) if found is not None}
        except ValueError as error:
            raise _refused(f"{where}.{name}", str(error), "braces around names only, doubled elsewhere") from error
        needed = {_NEEDED[name]} if name in _NEEDED else set()
        if not needed <= used <= allowed:
            told = ", ".join(f"{{{one}}}" for one in sorted(allowed))
            must = f", and {{{_NEEDED[name]}}} among them" if needed else ""
            raise _refused(f"{where}.{name}", ", ".join(sorted(used)) or "no field", f"only {told}{must}")


def _conditions(value: Any, where: str) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else ()
    if not names or any(name not in CONDITIONS for name in names) or len(set(names)) < len(names):
        raise _refused(where, repr(value), f"one or both of {', '.join(CONDITIONS)}")
    return names


def _check_extra(value: Any, where: str) -> None:
    taken = [name for name in value if name in _RESERVED] if isinstance(value, Mapping) else ["not a mapping"]
    if taken:
        raise _refused(where, str(taken[0]), "further fields of a request; the others have options of their own")
    secret = [name for name in _names(value) if is_secret_key(name)]
    if secret:
        raise InputError(
            "a field of a request must not carry a secret: requests are kept, and stand in every record",
            where=where,
            got=f"{secret[0]}; its value is not shown here",
            expected="fields that say how the reply is made",
            step="put the key into an environment variable and name that with key_env",
        )


def _names(value: Any) -> list[str]:
    """Return the names in a mapping, at any depth."""
    if isinstance(value, Mapping):
        return [*map(str, value), *(name for item in value.values() for name in _names(item))]
    return [name for item in value for name in _names(item)] if isinstance(value, list | tuple) else []
