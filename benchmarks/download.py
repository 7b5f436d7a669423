"""Fetch files over https: resumable, checked, limited in size, and polite where there are many.

Nothing here runs unless the user asks for it. Messages show addresses without query and credentials.
"""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import httpx

from benchmarks.errors import InputError, NotAvailableError
from benchmarks.files import digest
from benchmarks.hub import public
from benchmarks.schema import Card
from benchmarks.stores import inside

log = logging.getLogger(__name__)
AGENT = "blind-audits (benchmark audit; one request at a time)"
ATTEMPTS = 4
LONGEST_WAIT = 120.0  # seconds; a server that asks for more is given up
REDIRECTS = 5
BUSY = (429, 503)
UNSATISFIABLE = 416
IMAGE_LIMIT = 64 << 20


@dataclass(frozen=True, slots=True)
class Rules:
    """Say what a download may do.

    Attributes:
        limit: Largest size in bytes.
        hosts: Further hosts that redirects may lead to, and private ones that may be asked at all.
        plain: Whether http is allowed (pictures whose address is part of a benchmark).
        timeout: Seconds to wait for the next bytes.
        attempts: How often a broken transfer is taken up again.
    """

    limit: int = 8 << 30
    hosts: tuple[str, ...] = ()
    plain: bool = False
    timeout: float = 30.0
    attempts: int = ATTEMPTS


class _TryAgainError(Exception):
    """A transfer that may succeed later, after a number of seconds."""

    def __init__(self, why: str, wait: float) -> None:
        self.wait = wait
        super().__init__(why)


def fetch(
    address: str,
    target: Path,
    *,
    sha256: str = "",
    rules: Rules | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Path:
    """Fetch one file unless it is there; a broken transfer is taken up where it stopped.

    The size is logged before the first byte is read; the file appears under its name only once it is complete.

    Args:
        address: Where it is.
        target: Where it goes; `<target>.part` holds what has come so far.
        sha256: What its SHA-256 must be, or empty.
        rules: What is allowed.
        sleep: Waits for a number of seconds.

    Raises:
        InputError: If the address is not allowed, or the file is too large or not the one that is expected.
        NotAvailableError: If it cannot be had.
    """
    allowed = rules or Rules()
    if target.is_file() and (not sha256 or digest(target) == sha256):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    why = ""
    with httpx.Client(timeout=allowed.timeout, follow_redirects=False, headers={"User-Agent": AGENT}) as client:
        for attempt in range(allowed.attempts):
            try:
                _transfer(client, address, target, allowed)
            except _TryAgainError as error:
                why = str(error)
                log.info("%s: %s; waiting %g s", public(address), why, error.wait)
                if attempt + 1 < allowed.attempts:
                    sleep(error.wait)
            else:
                return _finished(address, target, sha256)
    raise _gone(address, "unreachable", f"{why}, {allowed.attempts} times")


def release(
    card: Card, folder: Path, *, rules: Rules | None = None, sleep: Callable[[float], None] = time.sleep
) -> Path:
    """Fetch the annotation files of a release from its card's addresses, each checked by the card's checksum.

    Args:
        card: Its `addresses` say where the files are, its `files` what they must be.
        folder: Folder that they go to.
        rules: What is allowed.
        sleep: Waits for a number of seconds.

    Raises:
        InputError: If an address has no checksum, or a file is not the expected one.
        NotAvailableError: If the card has no address, or a file cannot be had.
    """
    if not card.addresses:
        raise NotAvailableError(
            f"{card.title} has no address to fetch from", status="absent", where="benchmark.fetch", step=card.how_to_get
        )
    for name, address in card.addresses.items():
        if name not in card.files:
            raise InputError("an address without a checksum", where=f"card of {card.title}, addresses", got=name)
        fetch(address, inside(folder, name), sha256=card.files[name], rules=rules, sleep=sleep)
    return folder


def images(
    wanted: Mapping[str, Path],
    *,
    delay: float = 1.0,
    rules: Rules | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[str, ...]:
    """Fetch pictures one at a time, with a pause between requests; what cannot be had is logged and left out.

    Args:
        wanted: Target by address.
        delay: Seconds between two requests.
        rules: What is allowed.
        sleep: Waits for a number of seconds.

    Returns:
        The addresses that could not be had; the preflight reports their instances.
    """
    allowed = rules or Rules(limit=IMAGE_LIMIT, plain=True)
    missing = [address for address, target in wanted.items() if not target.is_file()]
    log.info("%d of %d images are to be fetched, one every %g s at most", len(missing), len(wanted), delay)
    lost = []
    for number, address in enumerate(missing):
        if number:
            sleep(delay)
        try:
            fetch(address, wanted[address], rules=allowed, sleep=sleep)
        except InputError as error:
            log.warning("%s: %s (%s)", public(address), error.what, error.got)
            lost.append(address)
    return tuple(lost)


def _transfer(client: httpx.Client, address: str, target: Path, rules: Rules) -> None:
    """Bring the part file to its end, from where it stands."""
    part, tag = target.with_name(f"{target.name}.part"), target.with_name(f"{target.name}.part.tag")
    start = part.stat().st_size if part.is_file() else 0
    known = tag.read_text(encoding="utf-8") if tag.is_file() else ""
    start = start if known else 0  # without a validator nobody knows whether the rest belongs to the same file
    headers = {"Range": f"bytes={start}-", "If-Range": known} if start else {}
    try:
        with closing(_open(client, address, headers, rules)) as answer:
            if answer.status_code == UNSATISFIABLE:
                part.unlink(missing_ok=True)
                raise _TryAgainError("the part that is here is no part of the file", 0.0)
            resumed = start > 0 and answer.status_code == 206
            if resumed and not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                part.unlink()
                raise _TryAgainError("the server sent another part than asked for", 1.0)
            begin = start if resumed else 0
            _announce(address, answer, begin, rules)
            tag.write_text(_validator(answer), encoding="utf-8")
            _write(answer, part, begin, rules, address)
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise _TryAgainError(f"the connection broke ({type(error).__name__})", 1.0) from error
    tag.unlink(missing_ok=True)


def _open(client: httpx.Client, address: str, headers: Mapping[str, str], rules: Rules) -> httpx.Response:
    """Return an open answer, following redirects that stay on the host or a listed one."""
    here = address
    for _ in range(REDIRECTS + 1):
        _check_address(here, rules)
        # What is compressed on the way has another length than the file.
        request = client.build_request("GET", here, headers={**headers, "Accept-Encoding": "identity"})
        answer = client.send(request, stream=True)
        if not answer.is_redirect:
            return _accepted(address, answer)
        answer.close()
        there = urljoin(here, answer.headers.get("Location", ""))
        if urlsplit(there).hostname not in (urlsplit(address).hostname, *rules.hosts):
            got = f"a redirect to {urlsplit(there).hostname}"
            raise InputError("a download is led to another host", where=public(address), got=got)
        here = there
    raise InputError("a download is led around", where=public(address), got=f"more than {REDIRECTS} redirects")


def _accepted(address: str, answer: httpx.Response) -> httpx.Response:
    """Return an answer that brings the file; close any other one and say what it means."""
    code = answer.status_code
    if code in (200, 206, UNSATISFIABLE):
        return answer
    answer.close()
    if code in BUSY:
        wait = _retry_after(answer.headers.get("Retry-After", ""))
        if wait > LONGEST_WAIT:
            raise _gone(address, "unreachable", f"status {code}, to be asked again in {wait:g} s")
        raise _TryAgainError(f"status {code}", wait)
    if code >= 500:
        raise _TryAgainError(f"status {code}", 2.0)
    raise _gone(address, "gated" if code in (401, 403) else "absent", f"status {code}")


def _announce(address: str, answer: httpx.Response, begin: int, rules: Rules) -> None:
    length = answer.headers.get("Content-Length", "")
    total = begin + int(length) if length.isdigit() else None
    log.info("fetching %s: %s", public(address), "size not told" if total is None else f"{total:,} bytes")
    if total is not None and total > rules.limit:
        raise _too_large(address, total, rules)


def _write(answer: httpx.Response, part: Path, begin: int, rules: Rules, address: str) -> None:
    """Append what comes; stop at the limit, whatever was announced."""
    size = begin
    with part.open("ab" if begin else "wb") as stream:
        for chunk in answer.iter_raw():  # as it comes: what a broken transfer brought is kept
            size += len(chunk)
            if size > rules.limit:
                stream.close()
                part.unlink()
                raise _too_large(address, size, rules)
            stream.write(chunk)


def _finished(address: str, target: Path, sha256: str) -> Path:
    part = target.with_name(f"{target.name}.part")
    found = digest(part) if sha256 else ""
    if found != sha256:
        part.unlink()
        raise InputError(
            "a downloaded file is not the expected one",
            where=public(address),
            got=f"SHA-256 {found}",
            expected=f"SHA-256 {sha256}",
            step="nothing was kept; try again, or get the file by hand",
        )
    return part.replace(target)


def _check_address(address: str, rules: Rules) -> None:
    """Refuse an address that is no web address, not encrypted, or leads into a private network."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    schemes: Sequence[str] = ("https", "http") if rules.plain else ("https",)
    listed = host in rules.hosts
    wrong = ""
    if not host or parts.username is not None:
        wrong = "no web address, or one with a user name"
    elif parts.scheme not in schemes and not (listed and parts.scheme == "http"):
        wrong = f"the scheme {parts.scheme or '(none)'}"
    elif not listed and _private(host):
        wrong = f"the private host {host}"
    if wrong:
        raise InputError(
            "an address is not allowed", where=public(address), got=wrong, expected=f"{' or '.join(schemes)}://..."
        )


def _private(host: str) -> bool:
    """Tell whether a host is this machine or an address of a private network."""
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


def _retry_after(text: str) -> float:
    """Return the seconds that a server asks to wait: a number or a date; 5 where it says nothing."""
    if text.strip().isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return 5.0


def _validator(answer: httpx.Response) -> str:
    """Return what names this version of the file; a weak tag cannot."""
    tag = str(answer.headers.get("ETag", ""))
    return str(answer.headers.get("Last-Modified", "")) if not tag or tag.startswith("W/") else tag


def _too_large(address: str, size: int, rules: Rules) -> InputError:
    return InputError(
        "a download is too large", where=public(address), got=f"{size:,} bytes", expected=f"at most {rules.limit:,}"
    )


def _gone(address: str, status: str, got: str) -> NotAvailableError:
    return NotAvailableError(
        "a file cannot be fetched",
        status=status,
        where=public(address),
        got=got,
        step="get it by hand and give benchmark.root=FOLDER",
    )
