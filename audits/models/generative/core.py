"""One loaded model, shared by a contestant and its blind twins: measures items through the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from audits.models import weights
from audits.models.generative import loading
from audits.models.generative.items import Ids, Item
from audits.models.generative.prompts import Prompter, marks_of
from audits.models.generative.reading import Reader
from baselines.language.model import choose_device, choose_dtype, context_length
from baselines.language.options import positive
from baselines.schema import Task, Work
from benchmarks.errors import InputError, near

PARTS = 8  # of captions behind one image in a batch
DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True, slots=True)
class Settings:
    """Say which model is read, and how.

    Attributes:
        model: `shipped:NAME`, a local folder or a hub id.
        revision: Pinned commit of a hub id, or empty.
        dtype: float32, bfloat16 or float16; the softmax is in float32.
        device: auto, cpu or cuda.
        template: Whether a chat template is used where the model has one.
        captions_at_once: Most captions in a batch.
        images_at_once: Most images of one size in a batch.

    Raises:
        InputError: If one of them is none of what it may be.
    """

    model: str
    revision: str = ""
    dtype: str = "float32"
    device: str = "auto"
    template: bool = True
    captions_at_once: int = 64
    images_at_once: int = 8

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            expected, step = ", ".join(DTYPES), near(self.dtype, DTYPES)
            raise InputError("unknown dtype", where="dtype", got=self.dtype, expected=expected, step=step)
        for name in ("captions_at_once", "images_at_once"):
            positive(getattr(self, name), name)


class Core:
    """Measure how likely texts are beside images, under one model that is loaded when the first must be computed.

    Attributes:
        name: Short name of the model.
        prompter: How its prompts are written.
        facts: What a reader should know of how it went.

    Raises:
        InputError: If the model cannot be had or used; `NotAvailableError` if a hub id cannot be had here.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._dtype, self._device = choose_dtype(settings.dtype), choose_device(settings.device)
        self._found = loading.found(weights.find(settings.model, revision=settings.revision))
        config, processor = loading.configuration(self._found), loading.processor(self._found)
        self.name = self._found.name
        marks = marks_of(config, processor.tokenizer)
        self.prompter = Prompter(processor, marks, template=settings.template, name=self.name)
        self._context = context_length(self._found.folder)
        self._vocabulary = int(getattr(config.get_text_config(), "vocab_size", None) or np.iinfo(np.int32).max)
        self.facts: dict[str, str | int] = {}

    @cached_property
    def _reader(self) -> Reader:
        place = loading.Place(self._dtype, self._device, self._settings.captions_at_once)
        read = loading.adapter(self._found, place, image_id=self.prompter.image_id)
        return Reader(
            read,
            self.prompter,
            dtype=self._dtype,
            images_at_once=self._settings.images_at_once,
            context=self._context,
        )

    @property
    def end(self) -> int:
        """Return the id that ends a caption.

        Raises:
            InputError: If the model has none.
        """
        found = self.prompter.end
        if found is None:
            raise InputError("the model has no end token to score", where="end_token=true", got=f"model {self.name}")
        return found

    @cached_property
    def identity(self) -> Mapping[str, str]:
        """Return everything of the model that could change a number, but for what is asked."""
        return {
            **self._found.identity,
            "processor_sha256": loading.processor_digest(self._found.folder),
            "dtype": self._settings.dtype,
            "softmax": "float32",
            "device": self._device.type,
            "start": self.prompter.start_mark,
            "template": "the processor's" if self.prompter.chat else "none",
            "context": str(self._context or "unlimited"),
            **loading.versions(),
        }

    def measure(self, items: Sequence[Item], work: Work, label: str) -> dict[str, float]:
        """Return the log-probability of each item by its key, in nats (see `Reader.read`)."""
        values = work.measure(items, self._task(label))
        return {item.key: float(value[0]) for item, value in zip(items, values, strict=True)}

    def _task(self, label: str) -> Task[Item]:
        most = self._settings.images_at_once, self._settings.captions_at_once
        return Task(
            label=label,
            signature="\n".join(f"{key}={value}" for key, value in sorted(self.identity.items())),
            key=lambda item: item.key,
            cost=lambda item: item.cost,
            budget=1,  # the plan says what a batch is
            width=1,
            compute=self._compute,
            unit="tokens",
            plan=lambda ordered: plan(ordered, *most),
        )

    def _compute(self, items: Sequence[Item]) -> NDArray[np.float64]:
        values = self._reader.read(items)[:, None]
        self.facts["batches"] = self._reader.checked.said
        return values

    def encode(self, texts: Sequence[str]) -> dict[str, Ids]:
        """Return the ids of texts, by text.

        Raises:
            InputError: If the model has no embedding for one of them.
        """
        distinct = list(dict.fromkeys(texts))
        found = dict(zip(distinct, self.prompter.encode(distinct), strict=True))
        for text, ids in found.items():
            if max(ids, default=0) >= self._vocabulary:
                raise InputError(
                    "the tokenizer gives ids that the model does not know",
                    where=f"model {self.name}, vocab_size={self._vocabulary} of the text configuration",
                    got=f"id {max(ids)} for {text[:80]!r}",
                    expected=f"ids below {self._vocabulary}",
                    step="use the tokenizer that the model was trained with",
                )
        return found


def plan(ordered: Sequence[Item], images: int, captions: int) -> list[list[int]]:
    """Form batches of whole images with all their captions, of at most so many of each.

    An image with more captions makes a batch of its own: it is read once, and its captions behind it in parts. What
    goes beyond `PARTS` parts (an image that holds nothing has all captions of a benchmark), and what has no image, is
    cut: a batch is what a run that is killed has to do again.

    Args:
        ordered: Distinct items, the largest first.
        images: Most images in a batch.
        captions: Most items in a batch.
    """
    by_sight: dict[str, list[int]] = {}
    for place, item in enumerate(ordered):
        by_sight.setdefault(item.sight.key, []).append(place)
    batches: list[list[int]] = []
    room = (0, 0)
    for places in by_sight.values():
        whole = PARTS * captions if ordered[places[0]].sight.shows else captions
        for first in range(0, len(places), whole):
            part = places[first : first + whole]
            if room[0] < 1 or room[1] < len(part):
                batches.append([])
                room = (images, captions)
            batches[-1] += part
            room = (room[0] - 1, room[1] - len(part))
    return batches
