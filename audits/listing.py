"""`audits list` and `audits show NAME`: what there is, where it comes from, and what of it is present here."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from audits import load
from audits.config import CONF, GROUPS, options, plain
from audits.jobs import as_input_error
from audits.status import Exit
from benchmarks import sources
from benchmarks.errors import InputError, near
from benchmarks.schema import Card
from reports import messages, terminal


def list_job(cfg: DictConfig) -> Exit:
    """Print one table per kind that was asked for.

    Raises:
        InputError: If the kind is unknown.
    """
    kind = str(plain(cfg)["kind"])
    if kind not in (*GROUPS, "all"):
        raise InputError("no such kind", where="audits list", got=kind, expected=", ".join(GROUPS), step=near(kind, GROUPS))
    console = terminal.console(sys.stdout)
    GlobalHydra.instance().clear()
    with _away_from_the_hub():
        for group in GROUPS if kind == "all" else (kind,):
            messages.listing(console, group, [_row(group, name) for name in options(group)])
    return Exit.DONE


def show_job(cfg: DictConfig) -> Exit:
    """Print the card of one benchmark, baseline, model or probe.

    Raises:
        InputError: If nothing is called so; near matches are named.
    """
    name = str(plain(cfg)["name"])
    groups = [group for group in GROUPS if name in options(group)]
    if not groups:
        known = sorted({option for group in GROUPS for option in options(group)})
        raise InputError("nothing is called so", where="audits show", got=name, step=near(name, known) or "see `audits list`")
    console = terminal.console(sys.stdout)
    GlobalHydra.instance().clear()
    with _away_from_the_hub():
        for group in groups:
            messages.card(console, _row(group, name))
    return Exit.DONE


def _row(group: str, name: str) -> dict[str, Any]:
    """Return what there is to say of one option of a group."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed = compose("run", overrides=[f"{other}=none" for other in GROUPS[1:] if other != group] + [f"{group}={name}"])
    node = OmegaConf.to_container(composed[group], resolve=False)
    leaf = node if group == "benchmark" else (node or {}).get(name) if isinstance(node, dict) else None
    row: dict[str, Any] = {"group": group, "name": name, "about": _about(group, name), "options": {}, "card": None}
    if isinstance(leaf, dict):
        row["options"] = {key: value for key, value in leaf.items() if key not in ("card", "_target_")}
        row["card"] = sources.card(leaf["card"]) if "card" in leaf else None
    else:
        row["options"] = {"selects": sorted(node) if isinstance(node, dict) else []}
    if group == "benchmark":
        row["present"] = _present(composed, row["card"])
    return row


def _about(group: str, name: str) -> str:
    """Return the first comment of the option's YAML: what it is, in a sentence."""
    lines = (CONF / group / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    comments = (line.lstrip("# ").strip() for line in lines if line.startswith("#") and "@package" not in line)
    return next(comments, "")


def _present(composed: DictConfig, card: Card | None) -> str:
    """Say in a word whether a benchmark's annotations can be read here: `yes`, `sample`, or why not."""
    del card
    try:
        benchmark = load.benchmark({"benchmark": OmegaConf.to_container(composed.benchmark, resolve=True)})
    except (InputError, HydraException, OmegaConfBaseException) as error:
        known = as_input_error(error, "list")
        return str(getattr(known, "status", "no"))
    return "sample" if benchmark.provenance.origin == "sample" else "yes"


@contextlib.contextmanager
def _away_from_the_hub() -> Iterator[None]:
    """Look only at what is here: listing must not download anything."""
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = before
