"""Where the configuration lives, what its groups hold, and how a composed one becomes plain values."""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, OmegaConf

import conf
from audits.overrides import is_path_key
from benchmarks.errors import InputError

CONF = Path(str(conf.__file__)).parent
GROUPS = ("benchmark", "baseline", "model", "probe")
# What a verb takes as a bare word.
_BARE = {
    "name": "give one: `audits show NAME`; `audits list` says what there is",
    "dir": "give one: `audits report DIR`",
}
# A name or a path: taken for a path only where one of that name exists.
_NAME_OR_PATH = ("baseline.*.model", "model.*.model", "model.*.arch")
# Changing these changes where results go or how they look, never a number.
_NOT_IDENTITY = ("out", "paths", "engine", "dry_run")
# And these options of contestants: a run that met its limits goes on with others.
_LEAVES_NOT_IDENTITY = frozenset(
    {"cache", "tokens_per_batch", "images_per_batch", "captions_at_once", "images_at_once", "concurrency", "timeout"}
    | {"retries", "max_wait", "max_failures", "max_calls", "max_cost", "price_in", "price_out", "image_tokens"}
)


def options(group: str) -> list[str]:
    """Return the names that a group offers, in alphabetical order, without helpers (`_base`)."""
    return sorted(path.stem for path in (CONF / group).glob("*.yaml") if not path.stem.startswith("_"))


def launch_folder() -> Path:
    """Return the folder that the command was started in, whatever `hydra.job.chdir` says."""
    return Path(str(HydraConfig.get().runtime.cwd))


def output_folder() -> Path:
    """Return the absolute folder of this job (`out`, or `out/<job number>` in a sweep)."""
    # Read without resolving: a folder's name may hold `${`.
    runtime = OmegaConf.to_container(HydraConfig.get().runtime, resolve=False)
    if not isinstance(runtime, dict):
        raise TypeError(f"hydra.runtime is a mapping, got {type(runtime).__name__}")
    return Path(str(runtime["output_dir"])).absolute()


def plain(cfg: DictConfig) -> dict[str, Any]:
    """Return the resolved configuration as plain values, with every path absolute.

    Raises:
        InputError: If a mandatory value is missing.
    """
    missing = sorted(OmegaConf.missing_keys(cfg))
    if missing:
        raise InputError(
            "a value is needed that was not given",
            where="the command line",
            expected=", ".join(f"{key}=..." for key in missing),
            step=_BARE.get(missing[0], f"add {missing[0]}=VALUE to the command"),
        )
    values = OmegaConf.to_container(cfg, resolve=True)
    if not isinstance(values, dict):
        raise TypeError(f"a configuration is a mapping, got {type(values).__name__}")
    base = launch_folder()
    return {str(key): _absolute(value, base, str(key)) for key, value in values.items()}


def _absolute(node: Any, base: Path, key: str = "") -> Any:
    """Return a copy of the configuration in which path values are absolute."""
    if isinstance(node, Mapping):
        # An endpoint's model is a name there, whatever is called so here.
        kept = {"model": node["model"]} if "base_url" in node and "model" in node else {}
        own = {name: _absolute(value, base, f"{key}.{name}" if key else str(name)) for name, value in node.items()}
        return {**own, **kept}
    if isinstance(node, list):
        return [_absolute(value, base, key) for value in node]
    if not isinstance(node, str) or not node:
        return node
    path = base / Path(node).expanduser()
    named = any(fnmatch.fnmatchcase(key, pattern) for pattern in _NAME_OR_PATH) and path.exists()
    return str(path) if named or is_path_key(key) else node


def identity(values: Mapping[str, Any], version: str) -> str:
    """Return the digest under which two runs count as the same configuration."""
    kept = {key: value for key, value in values.items() if key not in _NOT_IDENTITY}
    text = json.dumps(_told(kept), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(f"{version}\n{text}".encode()).hexdigest()


def _told(node: Any) -> Any:
    """Leave out what says where or how fast numbers are made: it changes none of them."""
    if isinstance(node, Mapping):
        return {key: _told(value) for key, value in node.items() if key not in _LEAVES_NOT_IDENTITY}
    return node


def flat_keys(node: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys of a configuration, branches and leaves."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            name = f"{prefix}.{key}" if prefix else str(key)
            yield name
            yield from flat_keys(value, name)
