"""Say Hydra's and OmegaConf's complaints in the toolkit's own form: what, where, got, expected, next step."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from audits.config import CONF, GROUPS, flat_keys, options
from benchmarks.errors import InputError, near
from reports.scrub import scrub_echo, scrub_override

_OPTION = re.compile(r"Could not (?:find|load) '(\w+)/([^']*)'")
_GROUP = re.compile(r"Could not override '([\w/]+)'\.\s*No match in the defaults list")
_KEY = re.compile(r"Could not override '([^']+)'")
_RUN = re.compile(r"model\.(\w+)\.runs\.")
_EXISTING = re.compile(r"Could not append to config\. An item is already at '([^']+)'")


def explain(error: Exception, words: Sequence[str]) -> InputError:
    """Return the error as an `InputError`, with near matches for a misspelt group, option or key.

    Args:
        error: What Hydra or OmegaConf raised.
        words: What was typed, the verb first.
    """
    text = scrub_echo(str(error), words)
    shown = [scrub_override(word) for word in words]
    if hit := _OPTION.search(text):
        return _unknown_option(hit[1], hit[2])
    if hit := _GROUP.search(text):
        return _unknown_key(hit[1], words)
    if hit := _KEY.search(text):
        return _unknown_key(hit[1], words)
    if hit := _EXISTING.search(text):
        return InputError(
            f"{hit[1]} exists already", where="the command line", step=f"write {hit[1]}=... without the +"
        )
    first, *rest = [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]
    return InputError(
        "the command line cannot be read as overrides" if "mismatched" in text or "token" in text else first,
        where="the command line",
        got=" ".join(shown),
        expected=" ".join([first, *rest])[:400] if "mismatched" in text or "token" in text else " ".join(rest)[:400],
        step="put a value with blanks, commas or brackets into quotes: 'key=\"a, b\"'; see `audits --help`",
    )


def _unknown_option(group: str, name: str) -> InputError:
    known = options(group)
    return InputError(
        f"no {group} is called {name!r}",
        where=f"{group}={name}",
        got=name,
        expected=", ".join(known) or "nothing: this group is empty",
        step=near(name, known) or (f"see `audits list {group}`" if group in GROUPS else "choose one of these"),
    )


def _unknown_key(key: str, words: Sequence[str]) -> InputError:
    known = _known_keys(words, key)
    phrase = _new_run(key, words) or _lacks(key, known) or near(key, known)
    group = key.rpartition(".")[0]
    beside = [name for name in known if group and name.startswith(f"{group}.") and name.count(".") == key.count(".")]
    return InputError(
        f"no option is called {key!r}",
        where="the command line",
        got=scrub_override(next((word for word in words if key in word), key)),
        expected=", ".join(sorted(beside or (name for name in known if "." not in name))),
        step=phrase or f"see `audits {words[0]} --cfg job`; a new key of your own is added with +{key}=...",
    )


def _lacks(key: str, known: Sequence[str]) -> str:
    """Return why an option that others of its group have is not one of this leaf's."""
    base = "; one that begins with `defaults: [_base, _self_]` has root, missing and limit"
    return f"the YAML that was chosen does not have it{base if key.startswith('benchmark.') else ''}" * (key in known)


def _new_run(key: str, words: Sequence[str]) -> str:
    """Return how a recorded run is named: it is a new key, so it takes a `+`."""
    hit = _RUN.match(key)
    if hit is None:
        return ""
    word = scrub_override(next((word for word in words if word.startswith(key)), f"{key}=FILE"))
    asked = any(re.match(rf"\+?model=.*\b{re.escape(hit[1])}\b", word) for word in words)
    return f"write +{word}" + ("" if asked else f", beside model={hit[1]}")


def _known_keys(words: Sequence[str], wrong: str) -> list[str]:
    """Return the keys of the verb's configuration composed without the override that failed."""
    kept = [word for word in words[1:] if "=" in word and wrong not in word and not word.startswith("-")]
    GlobalHydra.instance().clear()
    for overrides in (kept, []):
        try:
            with initialize_config_dir(str(CONF), version_base="1.3"):
                cfg = compose(words[0], overrides=list(overrides))
        except (HydraException, OmegaConfBaseException):
            continue  # another override is wrong too; the bare verb still has names to offer
        return list(flat_keys(OmegaConf.to_container(cfg, resolve=False)))
    return []
