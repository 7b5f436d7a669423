"""One question as a request: the messages in words, the images they carry, and the digest its answer is kept by."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from audits.models.choice.options import Options
from audits.models.choice.pictures import RULE, Pictures, data_url
from audits.models.choice.tokens import OVERHEAD, image_tokens, text_tokens
from audits.models.schema import Question
from benchmarks.errors import InputError
from benchmarks.images import ImageRef

ADAPTER: Final = "1"
"""Version of what turns a question into a request: a change of it asks anew."""
LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Part = str | ImageRef


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Hold one request.

    Attributes:
        digest: Of all that could change the reply.
        text: The request as JSON, with the digest of each image in the image's place.
        parts: What the user's message consists of, in order.
        options: Number of options.
        tokens_in: Estimated.
        images: Images that it carries.
    """

    digest: bytes
    text: str
    parts: tuple[Part, ...]
    options: int
    tokens_in: int
    images: int


class Writer:
    """Write requests under one set of options.

    Args:
        options: Whom to ask and how.
        pictures: What is known of images.
        is_blind: Whether the image is left out.
    """

    def __init__(self, options: Options, pictures: Pictures, *, is_blind: bool) -> None:
        self.options, self.pictures, self.is_blind = options, pictures, is_blind

    @property
    def signature(self) -> dict[str, str]:
        """Return everything that could change an answer, flat; no key is known here."""
        own, words = self.options, self.words()
        return {
            "model": own.model,
            "endpoint": own.host,
            "prompt": json.dumps(words, sort_keys=True, ensure_ascii=False),
            "decoding": json.dumps(_decoding(own), sort_keys=True, ensure_ascii=False),
            "images": "left out" if self.is_blind else f"{RULE}; detail {own.detail or 'not given'}",
            "answer": "CHOICE: X or a bare letter; anything else is unparsed",
            "orders": "both orders of two options, all rotations of more",
            "adapter": ADAPTER,
        }

    def words(self) -> dict[str, str]:
        """Return the templates that are used."""
        prompt = self.options.prompt
        names = ["system", "option", "query", *(["i2t"] if self.is_blind else ["i2t", "t2i", "image"])]
        found = {name: text for name in names if (text := prompt.get(name))}
        own = prompt.get("no_image") if self.is_blind else None
        return {**found, "i2t": own} if own else found

    def request(self, question: Question) -> Request:
        """Return the request that asks a question.

        Raises:
            InputError: If it has more options than there are letters, or an image cannot be read.
        """
        if len(question.options) > len(LETTERS):
            raise InputError(
                "a question has more options than there are letters",
                where=self.options.title,
                got=f"{len(question.options)} options",
                expected=f"at most {len(LETTERS)}",
                step="audit this benchmark with models that give scores",
            )
        parts = self._parts(question)
        seen = {part: self.pictures.seen(part) for part in parts if isinstance(part, ImageRef)}
        shown = [f"image sha256 {seen[part].digest}" if isinstance(part, ImageRef) else part for part in parts]
        own = self.options
        text = json.dumps(
            {
                "adapter": ADAPTER,
                "endpoint": own.host,
                "model": own.model,
                "system": own.prompt.get("system"),
                # Which parts are images: a caption may spell out a digest.
                "parts": [[isinstance(part, ImageRef), told] for part, told in zip(parts, shown, strict=True)],
                "decoding": _decoding(own),
                "detail": own.detail if seen else None,
            },
            sort_keys=True,
            ensure_ascii=False,
        )
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        said = sum(text_tokens(part) for part in (*parts, own.prompt.get("system") or "") if isinstance(part, str))
        pixels = sum(image_tokens(own.image_tokens, seen[part].size, own.detail) for part in parts if part in seen)
        return Request(digest, text, parts, len(question.options), OVERHEAD + said + pixels, _images(parts))

    def _parts(self, question: Question) -> tuple[Part, ...]:
        words = self.words()
        letters = LETTERS[: len(question.options)]
        named = ", ".join(letters[:-1]) + f" or {letters[-1]}"
        if isinstance(question.given, str):
            return self._pick_image(question, named)
        query = words["query"].format(query=question.query) if question.query else ""
        pairs = zip(letters, question.options, strict=True)
        options = "\n".join(words["option"].format(letter=letter, caption=caption) for letter, caption in pairs)
        text = words["i2t"].format(query=query, options=options, letters=named)
        return (text,) if self.is_blind else (question.given, text)

    def _pick_image(self, question: Question, named: str) -> tuple[Part, ...]:
        words = self.words()
        shown: list[Part] = []
        images: tuple[Part, ...] = question.options
        for letter, image in zip(LETTERS, images, strict=False):
            shown += [words["image"].format(letter=letter), image]
        return (*shown, words["t2i"].format(caption=f"{question.query}{question.given}", letters=named))


def body(request: Request, options: Options) -> dict[str, Any]:
    """Return a request as it is sent, images included.

    Raises:
        InputError: If an image cannot be read.
    """
    content = [_part(part, options) for part in request.parts]
    # A text by itself goes as plain text: servers of language models know no parts.
    user: Any = content[0]["text"] if len(content) == 1 else content
    system = options.prompt.get("system")
    messages = [*([{"role": "system", "content": system}] if system else []), {"role": "user", "content": user}]
    return {"model": options.model, "messages": messages, **_decoding(options)}


def _part(part: Part, options: Options) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": _sendable(part)}
    detail = {"detail": options.detail} if options.detail else {}
    return {"type": "image_url", "image_url": {"url": data_url(part), **detail}}


def _sendable(text: str) -> str:
    """Return a text that UTF-8 can hold: some releases hold halves of characters."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _decoding(options: Options) -> dict[str, Any]:
    """Return the fields that say how the reply is made, without those that are left out."""
    own: Mapping[str, Any] = {
        "temperature": options.temperature,
        options.max_tokens_field: options.max_tokens,
        "seed": options.seed,
        **options.extra,
    }
    return {name: value for name, value in own.items() if value is not None}


def _images(parts: tuple[Part, ...]) -> int:
    return sum(isinstance(part, ImageRef) for part in parts)
