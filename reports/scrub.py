"""Keep secrets out of everything that is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

REMOVED = "[removed]"
_SECRET_WORDS = {
    *("password", "passwords", "passwd", "passphrase", "pwd", "secret", "secrets", "credential", "credentials"),
    *("authorization", "authorisation", "bearer", "cookie", "apikey", "apikeys"),
}
_KEY_OWNERS = {"api", "access", "private", "secret", "openai", "anthropic", "gemini", "google", "account", "encryption"}
# What a language model calls a token; any other `..._token` is taken for a credential.
_LANGUAGE_TOKENS = {
    *("start", "end", "begin", "bos", "eos", "pad", "unk", "mask", "sep", "cls", "image", "text", "special", "stop"),
    *("first", "last", "max", "min", "per", "new", "caption", "prompt", "answer", "prefix", "suffix", "separator"),
}
_VALUES = re.compile(
    r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bhf_[A-Za-z0-9]{16,}|\bgh[opsur]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|(?<=[Bb]earer )\S+|(?<=[Bb]asic )[A-Za-z0-9+/=]{12,}"
)
_USER_IN_URL = re.compile(r"(?<=://)[^/\s:@]*:?[^/\s@]*@")
_ASSIGNMENT = re.compile(r"([\w.\-/@]+)([\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|[^\s,}\]]+)")


def is_secret_key(key: str) -> bool:
    """Return whether a key's name says that its value is a credential.

    >>> [is_secret_key(key) for key in ("API_KEY", "hf_token", "start_token", "tokens_per_batch", "tokenizer")]
    [True, True, False, False, False]
    """
    words = [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", key)]
    if _SECRET_WORDS & set(words):
        return True
    pairs = list(zip(["", *words], words, strict=False))
    if any(word in ("key", "keys") and owner in _KEY_OWNERS for owner, word in pairs):
        return True
    if any(word == "auth" and (len(words) == 1 or "token" in words) for word in words):
        return True
    owner, last = pairs[-1] if pairs else ("", "")
    return last.endswith("token") and owner not in _LANGUAGE_TOKENS and last[:-5] not in _LANGUAGE_TOKENS


def scrub_config(value: object, environment: Mapping[str, str] | None = None) -> object:
    """Return a copy without the keys that name credentials, at any depth, and with secret values blotted out.

    Args:
        value: Plain configuration (dictionaries, lists, scalars).
        environment: Where values may have come from; the process's own by default.
    """
    environment = os.environ if environment is None else environment
    if isinstance(value, Mapping):
        kept = {key: item for key, item in value.items() if not _dropped(str(key), item)}
        return {key: scrub_config(item, environment) for key, item in kept.items()}
    if isinstance(value, list | tuple):
        return [scrub_config(item, environment) for item in value]
    return scrub_values(value, environment)


def _dropped(key: str, value: object) -> bool:
    """Return whether a key goes; a number or a switch called `token` is not a credential, but a numeric password is."""
    if not is_secret_key(key):
        return False
    harmless = value is None or isinstance(value, bool) or (isinstance(value, int | float) and "token" in key.lower())
    return not harmless


def scrub_values(value: object, environment: Mapping[str, str] | None = None) -> object:
    """Return a copy in which secret values inside strings are blotted out; every key is kept.

    A value is secret if it stands in an environment variable whose name says so, has the form of a known provider's
    key, is the user part of an address, or is assigned to a secret name (`model.api_key=...`).
    """
    environment = os.environ if environment is None else environment
    if isinstance(value, Mapping):
        return {key: scrub_values(item, environment) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrub_values(item, environment) for item in value]
    return _scrub_text(value, environment) if isinstance(value, str) else value


def _scrub_text(text: str, environment: Mapping[str, str]) -> str:
    for key, secret in environment.items():
        if len(secret) >= 6 and is_secret_key(key):
            text = text.replace(secret, REMOVED)
    text = _VALUES.sub(REMOVED, _USER_IN_URL.sub(f"{REMOVED}@", text))
    return _ASSIGNMENT.sub(_scrub_assignment, text)


def _scrub_assignment(match: re.Match[str]) -> str:
    key = re.split(r"[./@]", match[1])[-1]
    # In prose a colon after "token" introduces a language token more often than a credential.
    prose = key.lower() == "token" and "=" not in match[2]
    return f"{match[1]}{match[2]}{REMOVED}" if is_secret_key(key) and not prose else match[0]
