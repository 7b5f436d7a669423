"""Fetch the files of a hub data set at a pinned revision: cache first, no waiting for a hub that does not answer.

Only names of exceptions and status codes reach a message: addresses may carry credentials.
"""

from __future__ import annotations

import http.client
import logging
import re
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import huggingface_hub
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, LocalEntryNotFoundError
from huggingface_hub.utils.tqdm import disable_progress_bars

from benchmarks.errors import NotAvailableError
from benchmarks.schema import Card

log = logging.getLogger(__name__)
DEADLINE = 4.0  # seconds to wait for any answer of the hub, name look-up included
COMMIT = re.compile(r"[0-9a-f]{40}")
_silent: dict[str, str] = {}  # why, by address
REFUSED = (401, 403, 404)


@dataclass(frozen=True, slots=True)
class Fetched:
    """Hold what came from the hub: a local folder, and the commit it stands for."""

    folder: Path
    revision: str


def fetch(card: Card, patterns: Sequence[str], required: Sequence[str] = (), *, deadline: float = DEADLINE) -> Fetched:
    """Return a local folder that holds the files of a hub data set that match the patterns.

    Args:
        card: Its `hub`, `revision` and `gated` say what is fetched.
        patterns: Patterns of the files that are fetched.
        required: Patterns without which the data set is of no use; all of them if empty.
        deadline: Seconds until a hub that says nothing counts as unreachable.

    Raises:
        NotAvailableError: If it cannot be had: `unreachable`, `gated`, `script-only` or `absent`.
    """
    needed = required or patterns
    cached = _cached(card, patterns)
    if cached is not None and not _unmatched(cached.folder, patterns):
        return cached
    silence = "HF_HUB_OFFLINE is set and the files are not in the local hub cache"
    if not constants.HF_HUB_OFFLINE:
        silence = probe(constants.ENDPOINT, deadline=deadline)
    if not silence:
        return _checked(card, needed, _download(card, patterns))
    if cached is not None and not _unmatched(cached.folder, needed):
        return cached
    raise _failure(card, "unreachable", silence)


def probe(endpoint: str, *, deadline: float = DEADLINE) -> str:
    """Ask for any answer at an address, and return why there is none, or an empty string.

    The question is asked in a thread of its own: a hanging name look-up obeys no timeout of the socket's.
    """
    said: list[str] = []
    asker = threading.Thread(target=lambda: said.append(_ask(endpoint, deadline)), daemon=True, name="hub-probe")
    asker.start()
    asker.join(deadline)
    return said[0] if said else f"no answer within {deadline:g} s"


def silence() -> str:
    """Return why the hub says nothing here, or an empty string; one that said nothing is not asked again.

    A process asks for several models: the wait for a hub that does not answer is spent once.
    """
    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    if constants.ENDPOINT not in _silent:
        found = probe(constants.ENDPOINT)
        if not found:
            return ""
        _silent[constants.ENDPOINT] = found
    return _silent[constants.ENDPOINT]


def hush() -> None:
    """Keep the client's bars and its log of retries off: what went wrong is said once, in our own words."""
    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)


def public(address: str) -> str:
    """Return an address without user, password, query and fragment."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(not an address)"
    return urlunsplit((parts.scheme, f"{parts.hostname or ''}{port}", parts.path, "", ""))


def _ask(endpoint: str, timeout: float) -> str:
    """Send one HEAD request; any answer counts, a refusal included."""
    try:
        request = urllib.request.Request(endpoint, method="HEAD")
        with urllib.request.urlopen(request, timeout=timeout):
            return ""
    except urllib.error.HTTPError as answer:
        answer.close()
        return ""
    except urllib.error.URLError as error:
        # A certificate that we do not trust is an answer; the real client may know better.
        return "" if isinstance(error.reason, ssl.SSLError) else f"no connection ({type(error.reason).__name__})"
    except (OSError, ValueError, http.client.HTTPException) as error:
        return f"no connection ({type(error).__name__})"


def _cached(card: Card, patterns: Sequence[str]) -> Fetched | None:
    """Return the local hub cache's copy, complete or not."""
    try:
        folder = huggingface_hub.snapshot_download(
            card.hub,
            repo_type="dataset",
            revision=card.revision or None,
            allow_patterns=list(patterns),
            local_files_only=True,
        )
    except (LocalEntryNotFoundError, OSError, ValueError) as error:
        partial = getattr(error, "snapshot_path", None)
        return _fetched(partial) if isinstance(partial, str) else None
    return _fetched(folder)


def _download(card: Card, patterns: Sequence[str]) -> Fetched:
    """Download, and say in one word why it failed if it did."""
    hush()
    try:
        folder = huggingface_hub.snapshot_download(
            card.hub, repo_type="dataset", revision=card.revision or None, allow_patterns=list(patterns), etag_timeout=5
        )
    except GatedRepoError as error:
        failure = _failure(card, "gated", f"status {_code(error)}")
    except LocalEntryNotFoundError as error:
        failure = _failure(card, "unreachable", f"the connection broke ({type(error).__name__})")
    except HfHubHTTPError as error:
        failure = _refusal(card, _code(error))
    except (OSError, ValueError) as error:
        failure = _failure(card, "unreachable", f"the download failed ({type(error).__name__})")
    else:
        return _fetched(folder)
    # Raised outside of the handler: the library's message, which may hold addresses, is no context of ours.
    raise failure


def _fetched(folder: str | Path) -> Fetched:
    name = Path(folder).name
    return Fetched(Path(folder), name if COMMIT.fullmatch(name) else "")


def _checked(card: Card, patterns: Sequence[str], found: Fetched) -> Fetched:
    """Refuse a download in which files are missing."""
    missing = _unmatched(found.folder, patterns)
    if not missing:
        return found
    names = [path.name for path in found.folder.rglob("*") if path.is_file()] if found.folder.is_dir() else []
    listing = names or _listing(card)
    if card.gated and not listing:
        raise _failure(card, "gated", "an empty listing")
    if any(name.endswith(".py") for name in listing):
        raise _failure(card, "script-only", f"a loading script, but no {', '.join(missing)}")
    raise _failure(card, "absent", f"no {', '.join(missing)} in it")


def _listing(card: Card) -> list[str]:
    """Return the names of the files on the hub; empty where it does not tell."""
    try:
        return huggingface_hub.HfApi().list_repo_files(card.hub, repo_type="dataset", revision=card.revision or None)
    except (OSError, ValueError):
        log.debug("the hub did not list %s", card.hub)
        return []


def _unmatched(folder: Path, patterns: Sequence[str]) -> list[str]:
    """Return the patterns for which a folder holds no file."""
    held = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    return [pattern for pattern in patterns if not any(fnmatch(name, pattern) for name in held)]


def _code(error: HfHubHTTPError) -> int:
    return int(getattr(error.response, "status_code", 0) or 0)


def _refusal(card: Card, code: int) -> NotAvailableError:
    """Return the failure for an HTTP status; a gated source hides behind "not found"."""
    if code in REFUSED:
        return _failure(card, "gated" if card.gated else "absent", f"status {code}")
    return _failure(card, "unreachable", f"status {code}")


def _failure(card: Card, status: str, got: str) -> NotAvailableError:
    """Return the one exception for all reasons, each with its own next step."""
    page = f"{public(constants.ENDPOINT)}/datasets/{card.hub}"
    what = {
        "gated": f"{card.title} is gated: its terms must be accepted first",
        "script-only": f"{card.title} is script-only on the hub, and no remote code is run",
        "absent": f"the hub does not show {card.title}",
        "unreachable": f"the hub cannot be reached for {card.title}",
    }
    step = f"accept the terms at {page}, then log in with `hf auth login`. " if status == "gated" else ""
    return NotAvailableError(
        what[status],
        status=status,
        where=f"data set {card.hub} at revision {card.revision or 'main'}, {public(constants.ENDPOINT)}",
        got=got,
        step=step + card.how_to_get,
    )
