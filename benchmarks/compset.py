"""Parse CompoSET's release layout: one instance per variation and verbosity tier."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import files, sheets, sources
from benchmarks.errors import InputError, NotAvailableError, near
from benchmarks.schema import Card, Instance, Provenance
from benchmarks.tableaux import drawing
from benchmarks.tableaux.bundle import Bundle, bundle

log = logging.getLogger(__name__)
SOURCES = ("auto", "release", "sample")
TIERS = ("short", "medium", "long")
SIDES = ("base", "var")
ALIASES = {"modify_count": "modify_cardinality"}
CATEGORIES = {
    "identity": ("color", "pattern", "material", "shape", "transparency", "object"),
    "quantity": ("cardinality", "presence"),
    "spatial": ("spatial",),
    "activity": ("action", "pose", "state", "role"),
}
CATEGORY = {aspect: name for name, aspects in CATEGORIES.items() for aspect in aspects}
TABLE, SCENES, CAPTIONS = "variations.parquet", "scenes.parquet", "scene_captions.parquet"
SCENE_TAGS = {"setting_category": "setting", "framing": "framing"}
SAID = "This is the bundled sample drawn by our own generator, not the released CompoSET data"
GOLD = np.eye(2, dtype=bool)


class Found(NamedTuple):
    """Where the tables are, the notices that belong to it, and the sample if it is one."""

    place: sources.Place
    notices: tuple[str, ...] = ()
    bundle: Bundle | None = None


class CompoSET:
    """Yield CompoSET, 2x2: base and varied image, base and varied caption, gold on the diagonal. Source: composet.

    Args:
        card: The `card:` mapping of the YAML; its `expected` counts variations x three tiers by edit type.
        root: Folder that holds `variations.parquet`, or its parent. If given, nothing else is tried.
        source: `auto` falls back on the bundled sample where root is not given and the hub cannot be had;
            `release` never does; `sample` uses nothing else.
        tiers: Some of `short`, `medium`, `long`; None reads all.
        subsets: Some of the 16 edit types; None reads all.
        images: Folder that holds the release's `images/`; beside the tables by default.
        fetch_images: Whether to fetch the images from the hub too.
        cache: Folder for drawn samples; the user's cache folder by default.
        sample: Number of scenes, seed, planted shortcut and size of the pictures of the sample.
    """

    def __init__(  # noqa: PLR0913 - one argument per option of the YAML
        self,
        card: Card | Mapping[str, Any],
        root: str | Path | None = None,
        *,
        source: str = "auto",
        tiers: str | Sequence[str] | None = None,
        subsets: str | Sequence[str] | None = None,
        images: str | Path | None = None,
        fetch_images: bool = False,
        cache: str | Path | None = None,
        sample: Mapping[str, Any] | None = None,
    ) -> None:
        full = sources.card(card)
        self._tiers = sources.choose(tiers, TIERS, option="benchmark.tiers")
        self._known = tuple(full.expected)
        self._subsets = _edit_types(subsets, self._known)
        wanted = sources.Wanted(
            (TABLE, SCENES, CAPTIONS), patterns=_patterns(fetch_images=fetch_images), required=(TABLE,)
        )
        if _source(source, root) == "sample":
            found = _sample(sample or {}, cache, "benchmark.source=sample asks for it")
        elif source == "release" or root is not None:
            found = _release(full, root, wanted)
        else:
            found = _release_or_sample(full, wanted, sample or {}, cache)
        self._folder = found.place.folder
        checked = _check(full, found.place)
        # Pictures of the user's own are never drawn over.
        self._bundle = found.bundle if images is None else None
        beside = self._bundle.pictures if self._bundle else self._folder
        self._images = sources.images_folder(images, beside)
        self.card = dataclasses.replace(full, expected=self._expected(full, found.place))
        where = found.place
        notices = (*found.notices, *checked.notices)
        self.provenance = Provenance(
            where.origin, where.location, where.revision, checked.files, checked.absent, notices
        )

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in the order of the file, the tiers of a variation one after the other."""
        path = self._folder / TABLE
        if files.digest(path) != self.provenance.files[TABLE]:
            files.Spot(path).refuse("the file changed while it was in use", step="run again")
        scenes = self._scenes()
        for row in sheets.open_sheet(path).rows():
            spot = files.Spot(path, row.place)
            edit_type = _edit_type(row.cells, self._known, spot)
            if edit_type in self._subsets:
                for tier in self._tiers:
                    yield self._instance(row.cells, (edit_type, tier), scenes, spot)

    def prepare_images(self) -> None:
        """Draw the bundled sample's pictures, where it is what is read and they are not there yet."""
        if self._bundle is not None:
            self._bundle.draw()

    def examples(self, count: int = 6, *, size: int = 320) -> list[drawing.Example]:
        """Draw a few pairs of the bundled sample in memory; none where it is not what is read.

        Args:
            count: Number of pairs, each of another edit type as long as there is one.
            size: Side of a picture in pixels.
        """
        return drawing.examples(self._bundle.spec, count, size=size) if self._bundle is not None else []

    def _instance(
        self,
        cells: Mapping[str, Any],
        kind: tuple[str, str],
        scenes: Mapping[str, Mapping[str, str]],
        spot: files.Spot,
    ) -> Instance:
        edit_type, tier = kind
        name, scene = files.need_text(cells, "id", spot), files.need_text(cells, "scene_id", spot)
        captions = _captions(cells, tier, spot)
        images = tuple(
            files.image_in(self._images, files.need_text(cells, field, spot), spot.at(field))
            for field in ("image_base", "image_var")
        )
        category = CATEGORY.get(edit_type.split("_", 1)[1], "other")
        tags = {"tier": tier, "edit_type": edit_type, "category": category, **scenes.get(scene, {})}
        return files.build(
            spot, lambda: Instance(f"{name}:{tier}", images, captions, GOLD, subset=edit_type, cluster=scene, tags=tags)
        )

    def _scenes(self) -> dict[str, dict[str, str]]:
        """Return the tags of every scene; empty where `scenes.parquet` is absent."""
        path = self._folder / SCENES
        if SCENES not in self.provenance.files:
            return {}
        tags = {}
        for row in sheets.open_sheet(path).rows():
            spot = files.Spot(path, row.place)
            scene = files.need_text(row.cells, "scene_id", spot)
            tags[scene] = {
                tag: files.is_text(row.cells[column], spot.at(column))
                for column, tag in SCENE_TAGS.items()
                if row.cells.get(column) is not None
            }
        return tags

    def _expected(self, full: Card, place: sources.Place) -> dict[str, int]:
        """Return the counts that this selection of the release should have; the sample promises none."""
        if place.origin == "sample":
            return {}
        return {name: full.expected[name] * len(self._tiers) // len(TIERS) for name in self._subsets}


def _release(card: Card, root: str | Path | None, wanted: sources.Wanted) -> Found:
    """Find the release, or raise."""
    place = sources.locate(card, root, wanted)
    if place.origin == "hub" and place.revision and place.revision != card.revision:
        return Found(place, (f"The hub's branch {card.revision} stood for commit {place.revision}; it is not pinned.",))
    return Found(place)


def _release_or_sample(
    card: Card, wanted: sources.Wanted, sample: Mapping[str, Any], cache: str | Path | None
) -> Found:
    """Find the release on the hub; only if it cannot be had, draw the sample."""
    try:
        return _release(card, None, wanted)
    except NotAvailableError as error:
        why = f"{error.what} ({error.got})" if error.got else error.what
    log.info("%s: %s", SAID, why)
    return _sample(sample, cache, why)


def _sample(options: Mapping[str, Any], cache: str | Path | None, why: str) -> Found:
    """Return the place of the bundled sample in the cache."""
    found = bundle(options, cache)
    place = sources.Place(found.folder, "sample", f"bundled sample ({found.told})", found.spec.digest)
    return Found(place, (f"{SAID}: {why}.",), found)


def _check(card: Card, place: sources.Place) -> sources.Checked:
    """Digest the tables; only the variations are indispensable."""
    checked = sources.check(card, place, (TABLE, SCENES, CAPTIONS))
    if TABLE in checked.absent:
        sources.require(card, place, checked)
    return checked


def _patterns(*, fetch_images: bool) -> tuple[str, ...]:
    return (TABLE, SCENES, CAPTIONS, *(("images/*",) if fetch_images else ()))


def _source(source: str, root: str | Path | None) -> str:
    if source not in SOURCES:
        step = near(str(source), SOURCES)
        raise InputError(
            "unknown source", where="benchmark.source", got=str(source), expected=", ".join(SOURCES), step=step
        )
    if source == "sample" and root is not None:
        raise InputError(
            "benchmark.source=sample and benchmark.root exclude each other",
            where="benchmark",
            got=f"root={root}",
            step="leave one of them out",
        )
    return source


def _edit_types(subsets: str | Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the selected edit types under the release's names; the paper's alias is accepted."""
    if subsets is None:
        return known
    names = [subsets] if isinstance(subsets, str) else list(subsets)
    return sources.choose([ALIASES.get(name, name) for name in names], known, option="benchmark.subsets")


def _edit_type(cells: Mapping[str, Any], known: Sequence[str], spot: files.Spot) -> str:
    name = files.need_text(cells, "edit_type", spot)
    name = ALIASES.get(name, name)
    if name not in known:
        step = near(name, known)
        spot.at("edit_type").refuse("unknown edit type", got=name, expected=", ".join(known), step=step)
    return name


def _captions(cells: Mapping[str, Any], tier: str, spot: files.Spot) -> tuple[str, ...]:
    """Return the base and the varied caption of a tier."""
    field = "captions"
    tiers = files.need_object(cells.get(field), spot.at(field), what="captions by tier")
    sides = files.need_object(tiers.get(tier), spot.at(f"{field}.{tier}"), what="captions of the two sides")
    return tuple(files.is_text(sides.get(side), spot.at(f"{field}.{tier}.{side}")) for side in SIDES)
