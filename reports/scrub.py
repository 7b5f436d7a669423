"""Keep secrets out of everything that is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

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
_ASSIGNED = re.compile(r"([\w.\-/@]+)([\"']?\s*[=:]\s*)")
_PAIRS = {"[": "]", "{": "}", "(": ")"}
# The shell's folders: their names end like a password's.
_FOLDERS = ("PWD", "OLDPWD")
_NOTHING = ("", "null", "none", "true", "false")


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
    return _config(value, _secrets(environment))


def _config(value: object, secrets: Sequence[str]) -> object:
    if isinstance(value, Mapping):
        kept = {key: item for key, item in value.items() if not _dropped(str(key), item)}
        return {key: _config(item, secrets) for key, item in kept.items()}
    if isinstance(value, list | tuple):
        return [_config(item, secrets) for item in value]
    return _values(value, secrets)


def _dropped(key: str, value: object) -> bool:
    """Return whether a key goes; a number or a switch called `token` is not a credential, but a numeric password is."""
    if not is_secret_key(key):
        return False
    harmless = value is None or isinstance(value, bool) or (isinstance(value, int | float) and "token" in key.lower())
    return not harmless


def scrub_values(value: object, environment: Mapping[str, str] | None = None) -> object:
    """Return a copy in which secret values inside strings are blotted out; every key is kept.

    A value is secret if it is a string, or a string in a list, under a key that names a credential, if it stands in
    an environment variable whose name says so, has the form of a known provider's key, is the user part of an address,
    or is assigned to a secret name (`model.api_key=...`).
    """
    return _values(value, _secrets(environment))


def scrub_text(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Return text in which secret values are blotted out, by the rules of `scrub_values`."""
    return _text(text, _secrets(environment))


def scrub_override(word: str, environment: Mapping[str, str] | None = None) -> str:
    """Return one word of a command line (`key=value`) without secrets; all that a secret key is given goes.

    >>> scrub_override("+model.gpt.api_key=[a b,c]", {}), scrub_override("x={token: a b,n:1}", {})
    ('+model.gpt.api_key=[removed]', 'x={token: [removed],n:1}')
    """
    key, _, value = word.partition("=")
    if value.lower() not in _NOTHING and any(is_secret_key(part) for part in re.split(r"[./@:]", key)):
        return f"{key}={REMOVED}"
    return _text(word, _secrets(environment), override=True)


def scrub_echo(text: str, words: Sequence[str]) -> str:
    """Return a message that may repeat parts of a command line without the secrets of its words."""
    for word in words:
        clean = scrub_override(word, {})
        if clean != word:
            value = word.partition("=")[2]
            text = text.replace(word, clean)
            for part in sorted({value, value.strip("\"'[]{} ")}, key=len, reverse=True):
                text = text.replace(part, REMOVED) if len(part) >= 4 else text
    return scrub_text(text)


def _secrets(environment: Mapping[str, str] | None) -> list[str]:
    """Return the secret values of an environment, the longest first; a folder that exists is no secret."""
    found = [
        value
        for key, value in (os.environ if environment is None else environment).items()
        if len(value) >= 6 and key not in _FOLDERS and is_secret_key(key) and not _is_folder(value)
    ]
    return sorted(found, key=len, reverse=True)


def _is_folder(value: str) -> bool:
    try:
        return Path(value).is_absolute() and Path(value).is_dir()
    except (OSError, ValueError):
        return False  # too long for a path, or no path at all


def _values(value: object, secrets: Sequence[str], *, named: bool = False) -> object:
    if isinstance(value, Mapping):
        return {key: _values(item, secrets, named=is_secret_key(str(key))) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_values(item, secrets, named=named) for item in value]
    if not isinstance(value, str):
        return value
    return REMOVED if named and value.lower() not in _NOTHING else _text(value, secrets)


def _text(text: str, secrets: Sequence[str], *, override: bool = False) -> str:
    for secret in secrets:
        text = text.replace(secret, REMOVED)
    text = _VALUES.sub(REMOVED, _USER_IN_URL.sub(f"{REMOVED}@", text))
    parts, position = [], 0
    while hit := _ASSIGNED.search(text, position):
        parts.append(text[position : hit.end()])
        position = hit.end()
        if not _is_assignment(hit, override=override):
            continue
        end = _value_end(text, hit, blanks=override)
        if text[position:end].lower() not in _NOTHING:
            parts.append(REMOVED)
            position = end
    return "".join([*parts, text[position:]])


def _is_assignment(hit: re.Match[str], *, override: bool) -> bool:
    key = re.split(r"[./@]", hit[1])[-1]
    # In prose a colon after "token" introduces a language token more often than a credential.
    prose = key.lower() == "token" and hit[2].strip() == ":" and not override
    return is_secret_key(key) and not prose


def _value_end(text: str, hit: re.Match[str], *, blanks: bool) -> int:
    """Return where an assigned value ends: its closing quote or bracket, else a blank or what closes around it.

    Args:
        text: The whole text.
        hit: The key and its sign.
        blanks: Whether a value may hold blanks, as inside one word of a command line.
    """
    start = hit.end()
    before = re.search(r"([\"'])[+~]*$", text[: hit.start()])
    if before and "=" in hit[2] and hit[2][0] not in "\"'":
        return _closing_quote(text, start, before[1])  # 'key=a b', quoted as one word
    if text[start : start + 1] in ('"', "'"):
        return min(_closing_quote(text, start + 1, text[start]) + 1, len(text))
    stops, open_brackets = "," if ":" in hit[2] else "", []
    for place in range(start, len(text)):
        letter = text[place]
        if letter in _PAIRS:
            open_brackets.append(_PAIRS[letter])
        elif open_brackets and letter == open_brackets[-1]:
            open_brackets.pop()
        elif not open_brackets and (letter in stops or letter in "]})" or (letter.isspace() and not blanks)):
            return place
    return len(text)


def _closing_quote(text: str, start: int, quote: str) -> int:
    """Return the place of the quote that closes; a shell's way of writing a quote inside quotes does not."""
    place = start
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text.startswith("'\"'\"'", place) and quote == "'":
            place += 4
        elif text[place] == quote:
            return place
        place += 1
    return len(text)
