"""Turn what people type after a verb into Hydra overrides: positional paths, and paths with blanks or commas."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.errors import InputError, near

# Values under these keys are paths; what follows `=` is taken as one path even where Hydra's grammar would split it.
PATH_KEYS = (
    *("out", "dir", "benchmark.root", "benchmark.path", "benchmark.path.*", "benchmark.images", "benchmark.images.*"),
    *("benchmark.flickr", "benchmark.index", "paths.*"),
    *(f"experiment.benchmarks.*.{option}" for option in ("root", "path", "path.*", "images", "images.*")),
    *(f"experiment.benchmarks.*.{option}" for option in ("flickr", "index")),
    *("model.*.runs.*", "model.*.runs.*.path", "model.*.runs.*.path.*", "model.*.own.path", "model.*.own.path.*"),
    *("model.*.runs.*.ab", "model.*.runs.*.ba", "model.*.checkpoint"),
)
# Options of the benchmarks of an experiment stand below it by name.
MEMBERS = "experiment.benchmarks"
# Hydra's own options that are followed by a value of theirs.
_VALUED = {"--cfg", "-c", "--package", "-p", "--config-name", "-cn", "--config-dir", "-cd", "--config-path", "-cp"}
_FLAGS = (
    *sorted(_VALUED), "--help", "-h", "--hydra-help", "--resolve", "--run", "-r", "--multirun", "-m",
    "--shell-completion", "-sc", "--info", "-i", "--experimental-rerun",
)  # fmt: skip
_PLAIN = re.compile(r"[\w./:@%+-]*")
_NUMBER = re.compile(r"[+-]?[\d_.]+(e[+-]?\d+)?", re.IGNORECASE)


def quote(value: str) -> str:
    r"""Return a value quoted so that Hydra and OmegaConf read back exactly these characters.

    >>> quote("my data, v=2")
    "'my data, v=2'"
    >>> print(quote("it's ${HOME}"))
    'it\'s \${HOME}'
    """
    # OmegaConf would resolve `${`; Hydra unescapes a quote, and backslashes only where they stand before a quote.
    text = re.sub(r"(\\*)\$\{", lambda hit: hit[1] * 2 + r"\${", value)
    text = re.sub(r"(\\*)'", lambda hit: hit[1] * 2 + r"\'", text)
    tail = len(text) - len(text.rstrip("\\"))
    return f"'{text}{chr(92) * tail}'"


def is_path_key(key: str) -> bool:
    """Return whether the value under a configuration key is a path.

    >>> is_path_key("benchmark.root"), is_path_key("+paths.coco"), is_path_key("seed")
    (True, True, False)
    >>> is_path_key("+model.recorded.runs.clip"), is_path_key("model.recorded.runs.clip.layout")
    (True, False)
    """
    parts = key.lstrip("+").split(".")
    return any(
        len(parts) == pattern.count(".") + 1 and all(map(fnmatch.fnmatchcase, parts, pattern.split(".")))
        for pattern in PATH_KEYS
    )


def translate(arguments: Sequence[str], *, positional: str = "", verb: str = "") -> list[str]:
    """Return Hydra's arguments for what was typed after a verb.

    Args:
        arguments: What was typed.
        positional: Key that takes a bare word (`dir` for `report DIR`), or empty if the verb takes none.
        verb: For the message.

    Raises:
        InputError: If there is a bare word and the verb takes none, or a second one.
    """
    sweep = any(word in {"-m", "--multirun"} for word in arguments)
    flags: list[str] = []
    words: list[str] = []
    bare: list[str] = []
    valued = False
    for word in arguments:
        if valued or word.startswith("-"):
            flags.append(word if valued else _known_flag(word))
        elif _is_bare(word, positional):
            bare.append(word)
        else:
            words.append(_member_option(_quoted_path(word, sweep=sweep)))
        valued = word in _VALUED
    if len(bare) > (1 if positional else 0):
        raise _too_many(verb, bare, positional)
    # Hydra's parser gives up on overrides that stand on both sides of a flag.
    return [*flags, *words, *(f"{positional}={quote(word)}" for word in bare)]


def _member_option(word: str) -> str:
    """Let an option of an experiment's benchmark be set although the experiment's file does not list it."""
    return f"++{word}" if word.startswith(f"{MEMBERS}.") else word


def _known_flag(word: str) -> str:
    """Return a flag that Hydra knows.

    Raises:
        InputError: If it is none; near matches are named.
    """
    name = word.partition("=")[0]
    if name in _FLAGS:
        return word
    step = near(name, [flag for flag in _FLAGS if flag.startswith("--")]) or "see `audits run --hydra-help`"
    raise InputError(
        "no such flag", where="the command line", got=word, expected="key=value, or a flag of Hydra's", step=step
    )


def _is_bare(word: str, positional: str) -> bool:
    """Return whether a word is a positional argument; a path that exists is one even if it holds `=`."""
    return "=" not in word and not word.startswith("~") if not positional else "=" not in word or Path(word).exists()


def _too_many(verb: str, bare: list[str], positional: str) -> InputError:
    takes = f"one {positional.upper()} and key=value" if positional else "key=value"
    again = f"one at a time: `audits {verb} {bare[0]}`, then `audits {verb} {bare[1]}`" if positional else ""
    return InputError(
        f"`{verb}` takes {takes} only",
        got=" ".join(bare),
        expected=f"for example `audits {verb} {positional.upper() or 'benchmark=compset'}`",
        step=again or f"write `{bare[-1]}` as key=value, or see `audits --help`",
    )


def _as_it_is(value: str) -> bool:
    """Return whether Hydra reads a path as the text that it is; a folder may be called 2024 or 007."""
    return bool(_PLAIN.fullmatch(value)) and not _NUMBER.fullmatch(value)


def _quoted_path(word: str, *, sweep: bool) -> str:
    """Quote the value of a path override where Hydra would read more than one path into it."""
    key, sign, value = word.partition("=")
    if sign and is_path_key(key) and value.startswith("~"):
        value = str(Path(value).expanduser())  # no shell expands it after `key=`
        word = f"{key}={value}"
    if not sign or not is_path_key(key) or _as_it_is(value) or value[:1] in {"'", '"'} or value == "":
        return word
    # A list or a mapping of paths, unless the text as it stands is a path that exists.
    if value[0] in "[{" and key.lstrip("+").startswith("model.") and not Path(value).exists():
        return word
    # In a sweep a comma separates jobs, unless the text as it stands is a path that exists.
    if sweep and "," in value and not Path(value).exists():
        return word
    return f"{key}={quote(value)}"
