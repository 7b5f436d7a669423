"""Find a release, check what was found, and say how to get what was not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import archives, hub
from benchmarks.errors import InputError, NotAvailableError, near
from benchmarks.files import known_digest
from benchmarks.schema import Card, Origin

DATA_SUFFIXES = frozenset({".json", ".jsonl", ".csv", ".tsv", ".parquet"})
_ROOT = "benchmark.root=FOLDER"
# What a card may call its primary metric.
METRICS = (
    *("accuracy", "accuracy_all", "accuracy_any", "accuracy_mean", "i2t", "t2i", "group", "group_match"),
    *("i2t_mean", "t2i_mean"),
)
KINDS: Mapping[str, tuple[type, ...]] = {
    "gated": (bool,),
    "needs_images": (bool,),
    "expected": (Mapping,),
    "files": (Mapping,),
    "addresses": (Mapping,),
    "issues": (list, tuple),
    "upstream": (list, tuple),
    "breakdown": (Mapping,),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Say which files make up a release.

    Attributes:
        names: Annotation files by relative path; a name with `*` stands for all files that match.
        folder: The release's own name of the folder that holds them, or empty.
        patterns: What is fetched from the hub; the names if empty.
        required: Files without which a hub copy is of no use; all of them if empty.
    """

    names: tuple[str, ...]
    folder: str = ""
    patterns: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Say where a release was found.

    Attributes:
        folder: Local folder that holds the annotation files.
        origin: `root` or `hub`.
        location: What the user may be shown.
        revision: Hub commit, or empty.
    """

    folder: Path
    origin: Origin
    location: str
    revision: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """Hold what the check of a place found: SHA-256 by file, absent files, and sentences for the report."""

    files: Mapping[str, str] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def card(mapping: Card | Mapping[str, Any]) -> Card:
    """Make a card of the `card:` mapping of a YAML.

    Raises:
        InputError: If a field is unknown, missing or of the wrong type.
    """
    if isinstance(mapping, Card):
        return mapping
    where = f"card of {mapping.get('title', 'a benchmark')}"
    known = {item.name: item for item in dataclasses.fields(Card)}
    unknown = [str(key) for key in mapping if key not in known]
    if unknown:
        step = near(unknown[0], known)
        raise InputError("unknown field of a card", where=where, got=unknown[0], expected=", ".join(known), step=step)
    needed = [name for name, item in known.items() if _required(item) and name not in mapping]
    if needed:
        step = f"add `{needed[0]}: ...` below `card:` in the benchmark's YAML"
        raise InputError("a card lacks a field", where=where, got=f"no {', '.join(needed)}", step=step)
    for name, value in mapping.items():
        if not isinstance(value, KINDS.get(name, (str,))):
            raise InputError("wrong type in a card", where=f"{where}, {name}", got=f"{value!r}"[:80])
    if mapping["primary"] not in METRICS:
        raise InputError(
            "unknown primary metric",
            where=f"{where}, primary",
            got=str(mapping["primary"]),
            expected=", ".join(METRICS),
            step=near(str(mapping["primary"]), METRICS),
        )
    tidy: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in mapping.items()}
    return Card(**tidy)


def titled(card: Card, name: str, *, instead: str) -> Card:
    """Return a card under the name of the user's own file, unless the user gave it a title.

    Args:
        card: The card.
        name: Name of the file.
        instead: The title that stands for a file that is not known yet.
    """
    return dataclasses.replace(card, title=name) if card.title == instead else card


def locate(card: Card, root: str | Path | None, wanted: Wanted) -> Place:
    """Find a release: in the user's folder if one is given, else on the hub.

    Args:
        card: Says how to get it.
        root: The folder that holds the files, or its parent; None looks on the hub.
        wanted: The files.

    Raises:
        InputError: If the folder is ambiguous.
        NotAvailableError: If it is not there; the message says how to get it and where was looked.
    """
    if root is not None:
        folder = _in_root(card, _given(root, _ROOT.partition("=")[0]).expanduser(), wanted)
        return Place(folder, "root", str(folder))
    if not card.hub:
        raise NotAvailableError(
            f"{card.title} is not here, and no hub holds it in this form",
            status="absent",
            got="benchmark.root is not set",
            expected=f"a folder that holds {', '.join(wanted.names)}",
            step=card.how_to_get if "benchmark.root=" in card.how_to_get else f"{card.how_to_get} Then give {_ROOT}",
        )
    found = hub.fetch(card, wanted.patterns or wanted.names, wanted.required)
    return Place(found.folder, "hub", card.hub, found.revision)


def check(card: Card, place: Place, names: Iterable[str]) -> Checked:
    """Digest every annotation file that is there, and compare it with the card.

    Several releases of a benchmark are in use side by side, so another checksum in the user's own folder is a
    notice, and the report shows it; from the hub, where the revision is pinned, it is an error.

    Raises:
        InputError: If a file from the hub is not the pinned one.
    """
    files, absent, notices = {}, [], []
    for name in expand(place.folder, names):
        path = place.folder / name
        if not path.is_file():
            absent.append(name)
            continue
        files[name] = known_digest(path)
        pinned = card.files.get(name, files[name])
        if pinned != files[name]:
            _mismatch(card, place, name, (files[name], pinned))
            notices.append(
                f"{name} is not the release that this benchmark's card pins: its SHA-256 is {files[name]}, "
                f"the card's is {pinned}; numbers may differ from published ones."
            )
    return Checked(files, tuple(absent), tuple(notices))


def expand(folder: Path, names: Iterable[str]) -> tuple[str, ...]:
    """Return names of files, in order; one with `*` becomes all that match, or stays as it is where none does."""
    found: dict[str, None] = {}
    for name in names:
        hits = sorted(path.relative_to(folder).as_posix() for path in folder.glob(name)) if "*" in name else []
        found.update(dict.fromkeys(hits or [name]))
    return tuple(found)


def require(card: Card, place: Place, checked: Checked) -> None:
    """Refuse a release in which files are missing.

    Raises:
        NotAvailableError: If any is.
    """
    if checked.absent:
        raise NotAvailableError(
            f"{card.title}: a file of the release is missing",
            status="absent",
            where=str((place.folder / checked.absent[0]).absolute()),
            got=f"no {', '.join(checked.absent)}",
            step=card.how_to_get,
        )


def choose(picked: str | Sequence[str] | None, known: Sequence[str], *, option: str) -> tuple[str, ...]:
    """Return the names that an option selects, in the order of `known`; None selects all.

    Raises:
        InputError: If a name is unknown or the selection is empty.
    """
    if picked is None:
        return tuple(known)
    names = [picked] if isinstance(picked, str) else [str(name) for name in picked]
    for name in names:
        if name not in known:
            raise InputError(
                f"unknown name in {option}", where=option, got=name, expected=", ".join(known), step=near(name, known)
            )
    if not names:
        raise InputError(f"{option} selects nothing", where=option, got="[]", expected=", ".join(known))
    return tuple(name for name in known if name in names)


def images_folder(images: str | Path | None, default: Path) -> Path:
    """Return the place of images: the option if given, else the default, or a zip or tar of its name beside it.

    Args:
        images: A folder, a zip or an uncompressed tar; None takes the default.
        default: Folder that the release puts its images into; it need not exist for blind runs.

    Raises:
        InputError: If a place was given and is not there.
    """
    if images is None:
        beside = (default, default.with_name(f"{default.name}.zip"), default.with_name(f"{default.name}.tar"))
        return next((place for place in beside if place.exists()), default)
    place = _given(images, "benchmark.images").expanduser()
    if place.is_dir() or (place.is_file() and archives.is_packed(place)):
        return place
    raise InputError(
        "the place of images is not there",
        where="benchmark.images, or the key of paths that it refers to",
        got=str(place.absolute()) + (" (no archive)" if place.is_file() else ""),
        expected="a folder, a zip or an uncompressed tar",
    )


def _given(path: str | Path, option: str) -> Path:
    """Return a path that was given; an empty one would silently stand for the current folder.

    Raises:
        InputError: If it is empty.
    """
    if path == "":
        raise InputError(
            "an empty path",
            where=option,
            got="''",
            expected="a path, or null",
            step=f"give {option}=PATH or leave it out; a variable of the shell that it was taken from may not be set",
        )
    return Path(path)


def _required(item: dataclasses.Field[Any]) -> bool:
    return item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING


def _in_root(card: Card, root: Path, wanted: Wanted) -> Path:
    """Return the folder at or just below root that holds any of the files."""
    if root.is_dir():
        if _holds(root, wanted):
            return root
        if wanted.folder and _holds(root / wanted.folder, wanted):
            return root / wanted.folder
        below = [path for path in sorted(root.iterdir()) if path.is_dir() and _holds(path, wanted)]
        if len(below) == 1:
            return below[0]
        if below:
            raise InputError(
                f"{card.title}: several folders hold such files",
                where=str(root.absolute()),
                got=", ".join(path.name for path in below),
                step=f"give the one that is meant: benchmark.root={below[0]}",
            )
    raise _not_here(card, root, wanted)


def _not_here(card: Card, root: Path, wanted: Wanted) -> NotAvailableError:
    where = str((root / wanted.names[0]).absolute())
    if root.is_file():
        return _absence(card, wanted, where=str(root.absolute()), got="a file, not a folder")
    if not root.is_dir():
        return _absence(card, wanted, where=str(root.absolute()), got="no such folder")
    held = sorted(path.name for path in root.iterdir())
    suffixes = {Path(name).suffix for name in held}
    if ".py" in suffixes and not suffixes & DATA_SUFFIXES:
        return NotAvailableError(
            f"{card.title}: script-only source, and loading scripts are never run",
            status="script-only",
            where=where,
            got=f"only {', '.join(held)}"[:200],
            expected=", ".join(wanted.names),
            step=f"fetch {', '.join(wanted.names)} and put it into {root.absolute()}. {card.how_to_get}",
        )
    return _absence(card, wanted, where=where, got=f"{', '.join(held) or 'an empty folder'}"[:200])


def _absence(card: Card, wanted: Wanted, *, where: str, got: str) -> NotAvailableError:
    return NotAvailableError(
        f"{card.title} is not there",
        status="absent",
        where=where,
        got=got,
        expected=f"a folder that holds {', '.join(wanted.names)}",
        step=card.how_to_get,
    )


def _holds(folder: Path, wanted: Wanted) -> bool:
    return any((folder / name).is_file() for name in expand(folder, wanted.names))


def _mismatch(card: Card, place: Place, name: str, digests: tuple[str, str]) -> None:
    if place.origin == "hub":
        raise InputError(
            f"{card.title}: a downloaded file is not the pinned one",
            where=str(place.folder / name),
            got=f"SHA-256 {digests[0]}",
            expected=f"SHA-256 {digests[1]}",
            step="remove the file from the hub cache and run again",
        )
