"""What occurs in several instances: whole instances, captions, and captions that fit an image here and not there."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from audits.findings.schema import Reading, Thresholds, plural
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from reports.schema import Finding


class _Groups(NamedTuple):
    """Hold entries sorted by digest, G distinct ones.

    Attributes:
        order: Entry at each sorted place, int64 [N].
        starts: First sorted place of each digest, int64 [G].
        sizes: Entries of each digest, int64 [G].
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]


class _Ledger:
    """Remember things by a 64-bit digest: 13 bytes each, whatever the length of the text."""

    def __init__(self) -> None:
        self._digests, self._positions, self._sides = array("Q"), array("i"), array("b")

    def add(self, parts: list[str], position: int, *, fits: bool) -> None:
        """Take one thing, the instance where it stands, and whether it fits there."""
        # Lengths before the parts, so that no two lists read the same.
        text = "".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass")
        self._digests.append(int.from_bytes(blake2b(text, digest_size=8).digest(), "big"))
        self._positions.append(position)
        self._sides.append(fits)

    @property
    def positions(self) -> NDArray[np.int64]:
        """Return the instance of each entry, int64 [N]."""
        return np.array(self._positions, dtype=np.int64)

    @property
    def fits(self) -> NDArray[np.bool_]:
        """Return whether each entry fits, boolean [N]."""
        return np.array(self._sides, dtype=bool)

    def groups(self) -> _Groups:
        """Return the entries by digest, each digest's in the order in which they came."""
        digests = np.array(self._digests, dtype=np.uint64)
        order = np.argsort(digests, kind="stable")
        _, starts, sizes = np.unique(digests[order], return_index=True, return_counts=True)
        return _Groups(order, starts.astype(np.int64), sizes.astype(np.int64))


class Repeats:
    """Look for repetition across instances, over the whole benchmark.

    `repeated_instances`: the same image names, captions and gold, in whatever order, and the same query.
    `contradictory_captions`: a caption fits an image in one instance and does not fit it in another.
    `repeated_captions`: the same text in several instances. Instances on one image share their positives in many
    benchmarks, so this is no fault; it is what makes folds that are drawn at random leak.
    """

    def __init__(self, thresholds: Thresholds) -> None:
        self._thresholds = thresholds
        self._ids: list[str] = []
        self._instances, self._cells, self._captions = _Ledger(), _Ledger(), _Ledger()

    def add(self, reading: Reading) -> None:
        """Take one instance into account."""
        instance, position = reading.instance, len(self._ids)
        self._ids.append(instance.id)
        cells = list(_cells(instance))
        self._instances.add([instance.query, *(part for cell in sorted(cells) for part in cell)], position, fits=True)
        for image, caption, fits in cells:
            if image:
                self._cells.add([instance.query, image, caption], position, fits=fits == "1")
        positives = {text.raw for text in reading.positives}
        for raw in positives | {text.raw for text in reading.foils}:
            self._captions.add([raw], position, fits=raw in positives)

    def findings(self) -> list[Finding]:
        """Return what was found, of the three kinds."""
        return [*self._repeated_instances(), *self._contradictory(), *self._repeated_captions()]

    def _repeated_instances(self) -> Iterator[Finding]:
        groups = self._instances.groups()
        more = int((groups.sizes - 1).sum())
        if more:
            yield Finding(
                kind="repeated_instances",
                severity=self._thresholds.fault(more, len(self._ids)),
                sentence=(
                    f"{plural(more, 'instance')} of {len(self._ids):,} {'repeats' if more == 1 else 'repeat'} an "
                    "earlier one: the same image names, captions and gold."
                ),
                instances=self._members(self._instances, groups, groups.sizes > 1),
                values={"repeats": more, "of_instances": len(self._ids), "most_often": int(groups.sizes.max())},
            )

    def _contradictory(self) -> Iterator[Finding]:
        groups, positions, fits = self._cells.groups(), self._cells.positions, self._cells.fits
        if not len(groups.order):
            return
        placed, right = positions[groups.order], fits[groups.order].astype(np.int64)
        agreeing = np.add.reduceat(right, groups.starts)
        apart = np.maximum.reduceat(placed, groups.starts) > np.minimum.reduceat(placed, groups.starts)
        wrong = (agreeing > 0) & (agreeing < groups.sizes) & apart
        count = int(wrong.sum())
        if count:
            touched = len(np.unique(placed[np.repeat(wrong, groups.sizes)]))
            yield Finding(
                kind="contradictory_captions",
                severity=self._thresholds.fault(touched, len(self._ids)),
                sentence=(
                    f"{plural(count, 'caption fits its image', 'captions fit their image')} in one instance and "
                    f"{'is' if count == 1 else 'are'} marked as not fitting the same image in another "
                    f"({touched:,} of {plural(len(self._ids), 'instance')})."
                ),
                instances=self._members(self._cells, groups, wrong),
                values={"captions": count, "instances": touched, "of_instances": len(self._ids)},
            )

    def _repeated_captions(self) -> Iterator[Finding]:
        groups, fits = self._captions.groups(), self._captions.fits
        several = groups.sizes > 1
        if not several.any():
            return
        right = np.add.reduceat(fits[groups.order].astype(np.int64), groups.starts)
        both = int(((right > 0) & (right < groups.sizes)).sum())
        yield Finding(
            kind="repeated_captions",
            severity="info",
            sentence=(
                f"{int(several.sum()):,} of {len(groups.sizes):,} distinct captions stand in more than one instance, "
                f"the commonest in {int(groups.sizes.max()):,}; {both:,} stand on one side here and on the other there."
            ),
            instances=self._members(self._captions, groups, several),
            values={
                "repeated": int(several.sum()),
                "distinct": len(groups.sizes),
                "most_often": int(groups.sizes.max()),
                "on_both_sides": both,
            },
        )

    def _members(self, ledger: _Ledger, groups: _Groups, chosen: NDArray[np.bool_]) -> tuple[str, ...]:
        """Return the ids of the chosen digests' instances: the most repeated first, else in the benchmark's order."""
        first = ledger.positions[groups.order[groups.starts]] if len(groups.starts) else np.array([], dtype=np.int64)
        ranked = sorted(np.flatnonzero(chosen).tolist(), key=lambda place: (-groups.sizes[place], first[place]))
        ids: dict[str, None] = {}
        for place in ranked[: self._thresholds.shown]:
            start = groups.starts[place]
            for entry in groups.order[start : start + min(groups.sizes[place], self._thresholds.shown)]:
                ids[self._ids[int(ledger.positions[entry])]] = None
        return tuple(ids)[: self._thresholds.shown]


def _cells(instance: Instance) -> Iterator[tuple[str, str, str]]:
    """Yield image name, caption and gold of every cell."""
    for image, row in zip(instance.images, instance.gold.tolist(), strict=True):
        for caption, fits in zip(instance.captions, row, strict=True):
            yield _image(image), caption or "", "1" if fits else "0"


def _image(image: ImageRef) -> str:
    return f"{image.key}\0{image.box}" if image.box else image.key
