"""Read items: every image prepared once, its prompts once, its captions in batches; checked before it is trusted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from audits.models.generative.items import Item, Row, Scene
from audits.models.generative.loading import Adapter
from audits.models.generative.prompts import Prompter
from baselines.engine.memory import is_memory_error
from benchmarks.errors import InputError

# Largest difference, per scored id and in nats, between a batch and one row at a time: rounding, and no more. A logit
# near 20 is known to 1/8 in bfloat16 and to 1/64 in float16; a few such steps apart is no fault of a batch.
TOLERANCES = {torch.float32: 1e-3, torch.bfloat16: 0.5, torch.float16: 0.0625}
PROBES = ((48, 32), (32, 64), (48, 32))  # width and height in pixels; two of one size make a batch of two
# What an architecture raises that takes other inputs, or keeps what it has read in another way.
MISFITS = (TypeError, ValueError, AttributeError, LookupError, NotImplementedError, RuntimeError)
LONGER, SHORTER = "a red cup left of a small plate", "a cup"


class Checked(NamedTuple):
    """Hold what became of the check that a batch gives what single rows give.

    Attributes:
        in_batches: Whether batches may be used.
        difference: Largest difference found, in nats per scored id.
        failure: Why no batch could be read, or empty.
    """

    in_batches: bool
    difference: float
    failure: str = ""

    @property
    def said(self) -> str:
        """Return in words what became of it."""
        if self.failure:
            return f"one by one: this architecture cannot be read in batches ({self.failure})"
        how = "as one by one" if self.in_batches else "one by one: batches differ"
        return f"{how} (largest difference {self.difference:.1g} nats per token)"


class Reader:
    """Say how likely the scored ids of items are.

    Args:
        adapter: How the model is read.
        prompter: How its prompts are written.
        dtype: Of the model; says how much rounding is to be expected.
        images_at_once: Most images of one size in a batch.
        context: Most ids in front of the last one, or None if the model has no limit.
    """

    def __init__(
        self,
        adapter: Adapter,
        prompter: Prompter,
        *,
        dtype: torch.dtype,
        images_at_once: int,
        context: int | None,
    ) -> None:
        self._adapter, self._prompter, self._dtype = adapter, prompter, dtype
        self._images_at_once, self._context = images_at_once, context
        self._checked: Checked | None = None

    @property
    def checked(self) -> Checked:
        """Compare, once, images of two sizes and captions of two lengths in batches with the same one by one."""
        if self._checked is None:
            self._checked = self._check()
        return self._checked

    @torch.inference_mode()
    def read(self, items: Sequence[Item]) -> NDArray[np.float64]:
        """Return the log-probability of each item's target, float64 [n], in nats.

        NaN says that prompt and caption do not fit the context, infinity that the result is no number.

        Raises:
            InputError: If an image cannot be decoded, or the model's prompts cannot be used.
        """
        in_batches = self.checked.in_batches
        sums = np.full(len(items), np.nan)
        for places, scenes in self._lots(items):
            flat = [place for part in places for place in part]
            if in_batches:
                values = self._adapter.batch(scenes)
            else:
                values = [self._adapter.single(scene, row) for scene in scenes for row in scene.rows]
            for place, value in zip(flat, values, strict=True):
                if len(value) != len(items[place].target):
                    raise ValueError(f"{len(value)} log-probabilities for {len(items[place].target)} scored ids")
                total = float(value.double().sum())
                sums[place] = total if np.isfinite(total) else np.inf
        return sums

    def _lots(self, items: Sequence[Item]) -> Iterator[tuple[list[list[int]], list[Scene]]]:
        """Yield scenes that can be read together, with the places of their rows in the items."""
        waiting: dict[tuple[object, ...], tuple[list[list[int]], list[Scene]]] = {}
        by_sight: dict[str, list[int]] = {}
        for place, item in enumerate(items):
            by_sight.setdefault(item.sight.key, []).append(place)
        for places in by_sight.values():
            kept, scene = self._scene([items[place] for place in places])
            if not scene.rows:
                continue
            lot = waiting.setdefault(_likeness(scene), ([], []))
            lot[0].append([places[one] for one in kept])
            lot[1].append(scene)
            if len(lot[1]) == self._images_at_once:
                yield waiting.pop(_likeness(scene))
        yield from waiting.values()

    def _scene(self, items: Sequence[Item]) -> tuple[list[int], Scene]:
        """Return one image with the rows behind it, and which of the items they are: those that fit the context."""
        image, prompts = items[0].sight.image, list(dict.fromkeys(item.prompt for item in items))
        if image is None:
            ids = {prompt: self._prompter.read(prompt) for prompt in prompts}
            rows = [Row(ids[item.prompt], item.target) for item in items]
            return self._fitting(rows, Scene({}, rows))
        return self._shown(image, items, prompts)

    def _shown(self, image: Image.Image, items: Sequence[Item], prompts: Sequence[str]) -> tuple[list[int], Scene]:
        shown = self._prompter.show(image, prompts[0])
        ids = {}
        for prompt in prompts:
            again = self._prompter.again(shown, prompts[0], prompt)
            ids[prompt] = self._prompter.show(image, prompt).ids if again is None else again
        rows = [Row(ids[item.prompt], item.target) for item in items]
        return self._fitting(rows, Scene(shown.features, rows, shown.marked))

    def _fitting(self, rows: Sequence[Row], scene: Scene) -> tuple[list[int], Scene]:
        limit = self._context
        kept = [place for place, row in enumerate(rows) if limit is None or len(row.ids) - 1 <= limit]
        return kept, Scene(scene.features, [rows[place] for place in kept], scene.marked)

    @torch.inference_mode()
    def _check(self) -> Checked:
        """Read probes in a batch and one by one."""
        lots = self._probes()
        if not lots:
            return Checked(in_batches=False, difference=np.inf, failure="its context is too short for a probe")
        worst = 0.0
        for lot in lots:
            plain = self._plain(lot)
            try:
                batched = self._adapter.batch(lot)
            except MISFITS as error:
                if is_memory_error(error):
                    raise
                return Checked(in_batches=False, difference=np.inf, failure=_short(error))
            same = len(batched) == len(plain)
            worst = max(worst, *map(_apart, batched, plain)) if same else np.inf
        return Checked(worst <= TOLERANCES[self._dtype], worst)

    def _probes(self) -> list[list[Scene]]:
        """Return images of two sizes with captions of two lengths, those of one size together."""
        targets = self._prompter.encode([SHORTER, LONGER])
        prompt = self._prompter.render("", has_image=True)
        alike: dict[tuple[object, ...], list[Scene]] = {}
        for number, size in enumerate(PROBES):
            shown = self._prompter.show(_probe(number, size), prompt)
            rows = [Row(shown.ids, target) for target in targets if target]
            _, scene = self._fitting(rows, Scene(shown.features, rows, shown.marked))
            if scene.rows:
                alike.setdefault(_likeness(scene), []).append(scene)
        return list(alike.values())

    def _plain(self, lot: Sequence[Scene]) -> list[torch.Tensor]:
        """Read probes one by one.

        Raises:
            InputError: If the architecture cannot be read at all.
        """
        try:
            return [self._adapter.single(scene, row) for scene in lot for row in scene.rows]
        except MISFITS as error:
            if is_memory_error(error):
                raise
            raise InputError(
                "this architecture cannot be asked how likely a text is",
                where=f"model {self._prompter.name}",
                got=_short(error),
                expected="a model that reads image, prompt and caption from left to right, or one like BLIP or BLIP-2",
                step="use another model",
            ) from error


def _apart(left: torch.Tensor, right: torch.Tensor) -> float:
    """Return the largest difference of two rows, infinite where they cannot be compared."""
    apart = float((left - right).abs().max()) if left.shape == right.shape else np.inf
    return apart if np.isfinite(apart) else np.inf


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


def _likeness(scene: Scene) -> tuple[object, ...]:
    """Return what scenes must have in common to be read together: sizes of all tensors, what they say of sizes."""
    said: list[object] = [scene.shared, scene.marked]
    for name, value in sorted(scene.features.items()):
        tensor = torch.as_tensor(value)
        whole = () if tensor.is_floating_point() else tuple(tensor.flatten().tolist())
        said.append((name, tuple(tensor.shape), whole))
    return tuple(said)


def _probe(number: int, size: tuple[int, int]) -> Image.Image:
    """Return a picture of colours that change across it, no two alike."""
    width, height = size
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    levels = np.stack([across * 5 + 40 * number, down * 3 + 20 * number, (across + down) * 2], axis=2) % 256
    return Image.fromarray(levels.astype(np.uint8))
