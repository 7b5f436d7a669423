"""`DualEncoder`: score images against captions by the cosine of their embeddings."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from audits.models.dual_encoder.ahead import Ahead
from audits.models.dual_encoder.checks import check_unit, repeatable
from audits.models.dual_encoder.notes import notes, unreadable, with_query
from audits.models.dual_encoder.schema import Encoder, Text
from baselines.engine.plan import by_size
from baselines.language.options import positive
from baselines.schema import BOTH, Scored, Side, Task, Work
from benchmarks.images import ImageRef, content_digest
from benchmarks.schema import Candidates

log = logging.getLogger(__name__)
ItemT = TypeVar("ItemT")
Encode = Callable[[Sequence[Any]], NDArray[np.float32]]
PAIRS = 4096  # cosines taken at once
SHOWN = 60  # characters of a caption in a fact
NORMALISED = "float32, to unit length; the raw cosine, not scaled, not clamped"


class Picture(NamedTuple):
    """Hold an image and the digest of its content."""

    key: str
    ref: ImageRef


class Sides(NamedTuple):
    """Hold what was made of the two sides of some candidates.

    Attributes:
        pictures: By image.
        texts: By caption with its query; those that cannot be read are left out.
    """

    pictures: Mapping[ImageRef, Picture]
    texts: Mapping[str, Text]


class DualEncoder:
    """Score by the cosine between the embedding of an image and that of a caption.

    Every distinct image (by content) and every distinct caption (by the ids that the text tower reads) is encoded once.

    Args:
        encoder: Adapter of the model.
        name: Name in every table; null takes the encoder's.
        images_per_batch: Images encoded at once. Changes speed and memory, not what is measured.
        tokens_per_batch: Positions of captions encoded at once.

    Attributes:
        facts: What a reader should know of the runs so far.

    Raises:
        InputError: If a batch would be empty.

    Source: composet, sec. 3 (scoring of dual encoders).
    """

    sees: frozenset[Side] = BOTH
    columns = ("",)

    def __init__(
        self, encoder: Encoder, *, name: str | None = None, images_per_batch: int = 64, tokens_per_batch: int = 4096
    ) -> None:
        self.encoder = encoder
        self.name = name or encoder.name
        self._images, self._tokens = positive(images_per_batch, "images_per_batch"), positive(tokens_per_batch)
        self.facts: dict[str, str | int] = {}

    @property
    def signature(self) -> Mapping[str, str]:
        """Return everything that could change a number."""
        return {
            "scorer": "dual encoder",
            **self.encoder.signature,
            "cosine": NORMALISED,
            "query": "put before the caption",
        }

    def score(self, batch: Sequence[Candidates], work: Work) -> list[Scored]:
        """Return one `Scored` per candidate, one column of cosines [I, T].

        A cell is NaN, with a note, if it lacks its image or its text, or if an embedding is not finite.

        Raises:
            InputError: If an image cannot be decoded, or the model is not fit to be measured.
        """
        sides = Sides(_pictures(batch), self._texts(batch))
        images = self._image_rows(list({one.key: one for one in sides.pictures.values()}.values()), work)
        captions = self._text_rows(list({one.key: one for one in sides.texts.values()}.values()), work)
        self._note(sides)
        cosines = _cosines(batch, sides, images, captions)
        return [_scored(item, sides, values) for item, values in zip(batch, cosines, strict=True)]

    def _texts(self, batch: Sequence[Candidates]) -> dict[str, Text]:
        """Tokenise each distinct caption, its query in front."""
        whole = (with_query(item.query, text) for item in batch for text in item.captions if text is not None)
        distinct = [text for text in dict.fromkeys(whole) if not unreadable(text)]
        return dict(zip(distinct, self.encoder.read(distinct), strict=True))

    def _image_rows(self, pictures: Sequence[Picture], work: Work) -> dict[str, NDArray[np.float32]]:
        """Return the embedding of each image by its key; the next batch is decoded while one is encoded."""
        encode = self._checked(self.encoder.encode_images, "images")
        with Ahead(self.encoder.prepare) as ahead:
            task = self._task(
                "images",
                compute=lambda part: encode([ahead.take(*one) for one in part]),
                key=_key,
                cost=lambda one: 1,
                budget=self._images,
                ahead=ahead.announce,
            )
            vectors = work.measure(pictures, task)
        return dict(zip((one.key for one in pictures), vectors, strict=True))

    def _text_rows(self, texts: Sequence[Text], work: Work) -> dict[str, NDArray[np.float32]]:
        """Return the embedding of each caption by its key."""
        encode = self._checked(self.encoder.encode_texts, "captions")
        tried: list[bool] = []

        def compute(part: Sequence[Text]) -> NDArray[np.float32]:
            if not tried:
                self.encoder.check(texts)
                tried.append(True)
            return encode(part)

        task = self._task(
            "captions",
            compute=compute,
            key=lambda text: text.key,
            cost=lambda text: text.width,
            budget=self._tokens,
            plan=self._plan,
        )
        vectors = work.measure(texts, task)
        return dict(zip((one.key for one in texts), vectors, strict=True))

    def _plan(self, texts: Sequence[Text]) -> Sequence[Sequence[int]]:
        """Return batches of captions, the most costly first."""
        made = self.encoder.plan(texts, self._tokens)
        return by_size([text.width for text in texts], self._tokens) if made is None else made

    def _checked(self, encode: Encode, what: str) -> Encode:
        """Return a way to encode that holds the adapter to its contract, and the first batch to its own repetition."""
        where = f"{self.name}, {what}"
        passed: list[float] = []

        def checked(items: Sequence[Any]) -> NDArray[np.float32]:
            if not passed:
                passed.append(repeatable(encode, items, where))
                self.facts[f"{what} encoded twice differ by"] = f"{passed[0]:.2g}"
            rows = encode(items)
            check_unit(rows, where)
            return rows

        return checked

    def _task(  # noqa: PLR0913 - what differs between the two sides
        self,
        what: str,
        *,
        compute: Callable[[Sequence[ItemT]], NDArray[np.float32]],
        key: Callable[[ItemT], str],
        cost: Callable[[ItemT], int],
        budget: int,
        ahead: Callable[[Sequence[ItemT]], None] | None = None,
        plan: Callable[[Sequence[ItemT]], Sequence[Sequence[int]]] | None = None,
    ) -> Task[ItemT]:
        signature = "\n".join(f"{name}={value}" for name, value in sorted(self.encoder.signature.items()))
        return Task(
            label=f"{self.name} {what}",
            signature=f"embedding of {what}\n{signature}",
            key=key,
            cost=cost,
            budget=budget,
            width=self.encoder.dimension,
            compute=compute,
            unit="images" if what == "images" else "tokens",
            stored="float32",
            ahead=ahead,
            plan=plan,
        )

    def _note(self, sides: Sides) -> None:
        """Keep what a reader should know: what was cut, and what a caption turned into before it was encoded."""
        changed = [(text, one.encoded) for text, one in sides.texts.items() if text != one.encoded]
        for text, encoded in changed:
            log.debug("%s: %r is encoded as %r", self.name, text, encoded)
        added = {
            "captions": len(sides.texts),
            "captions cut": sum(one.truncated for one in sides.texts.values()),
            "captions changed by cleaning": len(changed),
        }
        for name, count in added.items():
            self.facts[name] = int(self.facts.get(name, 0)) + count  # several calls add up
        if changed:
            self.facts.setdefault("encoded, for example", f"{_short(changed[0][0])} as {_short(changed[0][1])}")
        self.facts.update(self.encoder.facts)


def _short(text: str) -> str:
    """Return the beginning of a text, quoted."""
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")


def _key(picture: Picture) -> str:
    return picture.key


def _pictures(batch: Sequence[Candidates]) -> dict[ImageRef, Picture]:
    refs = dict.fromkeys(ref for item in batch for ref in item.images if not ref.is_absent)
    return {ref: Picture(content_digest(ref), ref) for ref in refs}


def _cosines(
    batch: Sequence[Candidates],
    sides: Sides,
    images: Mapping[str, NDArray[np.float32]],
    captions: Mapping[str, NDArray[np.float32]],
) -> list[NDArray[np.float64]]:
    """Return the cosines of each candidate, [I, T]; NaN where a side is missing.

    Each cell is a sum of its own over D products, always in the same order: equal vectors give equal cosines, wherever
    they stand.
    """
    pairs: dict[tuple[str, str], float] = {}
    keys = [_keys(item, sides) for item in batch]
    for cells in keys:
        pairs.update(dict.fromkeys((pair for row in cells for pair in row if pair is not None), np.nan))
    todo = list(pairs)
    for start in range(0, len(todo), PAIRS):
        part = todo[start : start + PAIRS]
        left = np.stack([images[image] for image, _ in part])
        right = np.stack([captions[text] for _, text in part])
        values = (left.astype(np.float64) * right).sum(axis=1)
        pairs.update(zip(part, values.tolist(), strict=True))
    return [
        np.array([[np.nan if pair is None else pairs[pair] for pair in row] for row in cells], np.float64)
        for cells in keys
    ]


def _keys(item: Candidates, sides: Sides) -> list[list[tuple[str, str] | None]]:
    """Return the keys of image and caption of each cell [I, T]; None where one of them is missing."""
    pictures = [sides.pictures.get(ref) for ref in item.images]
    texts = [_text(item, caption, sides) for caption in item.captions]
    return [
        [None if picture is None or text is None else (picture.key, text.key) for text in texts] for picture in pictures
    ]


def _text(item: Candidates, caption: str | None, sides: Sides) -> Text | None:
    return None if caption is None else sides.texts.get(with_query(item.query, caption))


def _scored(item: Candidates, sides: Sides, values: NDArray[np.float64]) -> Scored:
    """Return the column of one candidate, with the tokens of its captions and what happened to them."""
    texts = [_text(item, caption, sides) for caption in item.captions]
    tokens = np.array([0 if text is None else text.tokens for text in texts], np.int64)
    truncated = np.array([text is not None and text.truncated for text in texts])
    shape = values.shape
    return Scored(
        {"": values},
        np.broadcast_to(tokens, shape).copy(),
        np.broadcast_to(truncated, shape).copy(),
        notes(item, texts, values),
    )
