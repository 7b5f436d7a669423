"""What makes two runs the same: the digest of a configuration, and what two configurations differ in."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from reports.files import strict
from reports.scrub import scrub_config

# Where a run is written says nothing about what it is.
_NOT_IDENTITY = ("out",)


def config_digest(config: Mapping[str, Any]) -> str:
    """Return the identity of a configuration: a digest that secrets and the run folder's own place do not enter."""
    kept = {key: value for key, value in scrubbed(config, {}).items() if key not in _NOT_IDENTITY}
    text = json.dumps(strict(kept), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def scrubbed(config: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a configuration without its secrets."""
    return cast("dict[str, Any]", scrub_config(config, environment))


def differences(there: Mapping[str, Any], asked: Mapping[str, Any] | None) -> str:
    """Name the keys in which two configurations differ, at most five."""
    if asked is None:
        return ""
    old, new = dict(_flat(there)), dict(_flat(cast("dict[str, Any]", strict(scrubbed(asked)))))
    changed = sorted(key for key in old.keys() | new.keys() if old.get(key) != new.get(key))
    changed = [key for key in changed if key.partition(".")[0] not in _NOT_IDENTITY]
    shown = [f"{key}: {old.get(key, 'not set')} there, {new.get(key, 'not set')} asked" for key in changed[:5]]
    more = [f"and {len(changed) - 5} more"] if len(changed) > 5 else []
    return f" ({'; '.join(shown + more)})" if shown else ""


def _flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
