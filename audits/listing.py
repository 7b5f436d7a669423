"""`audits list` and `audits show NAME`: what there is, where it comes from, and what of it is present here."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from huggingface_hub import constants
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from audits import load
from audits.config import CONF, GROUPS, options, plain
from audits.models.card import ModelCard, model_card
from audits.status import Exit
from benchmarks import sources
from benchmarks.errors import InputError, NotAvailableError, near
from benchmarks.schema import Card
from reports.messages import Listing, print_card, print_facts, print_listing, print_option
from reports.terminal import console_for


class Option(NamedTuple):
    """Hold one option of a group: what its YAML says, and whether it can be used here."""

    group: str
    name: str
    about: str
    leaf: dict[str, Any]
    card: Card | None
    here: str
    model: ModelCard | None = None


def list_job(cfg: DictConfig) -> Exit:
    """Print one table per kind that was asked for.

    Raises:
        InputError: If the kind is unknown.
    """
    kind = str(plain(cfg)["kind"])
    if kind not in (*GROUPS, "all"):
        known = ", ".join(GROUPS)
        raise InputError("no such kind", where="audits list", got=kind, expected=known, step=near(kind, GROUPS))
    groups = GROUPS if kind == "all" else (kind,)
    with _away_from_the_hub():
        found = [_option(group, name) for group in groups for name in options(group)]
    print_listing([_listing(option) for option in found], console_for(sys.stdout))
    return Exit.DONE


def show_job(cfg: DictConfig) -> Exit:
    """Print the card of one benchmark, or the options of one baseline, model or probe.

    Raises:
        InputError: If nothing is called so; near matches are named.
    """
    name = str(plain(cfg)["name"])
    groups = [group for group in GROUPS if name in options(group)]
    if not groups:
        known = sorted({option for group in GROUPS for option in options(group)})
        step = near(name, known) or "see `audits list`"
        raise InputError("nothing is called so", where="audits show", got=name, step=step)
    console = console_for(sys.stdout)
    with _away_from_the_hub():
        for option in [_option(group, name) for group in groups]:
            if option.card is not None:
                print_card(name, option.card, console, extra={"here": option.here})
            if option.model is not None:
                print_facts([("name", name), *option.model.facts(), ("here", option.here)], console)
            print_option(option.group, name, option.about, _shown(option.leaf), console)
    return Exit.DONE


def _listing(option: Option) -> Listing:
    card, model = option.card, option.model
    if model is not None:
        return Listing(
            option.name,
            option.group,
            about=model.title,
            sort=model.kind,
            millions=model.parameters,
            source=model.source,
            licence=model.licence,
            here=option.here,
        )
    if card is None:
        return Listing(option.name, option.group, about=option.about)
    return Listing(
        option.name,
        option.group,
        about=card.title,
        shape=card.shape,
        n=sum(card.expected.values()) or None,
        needs_images=card.needs_images,
        licence=card.licence,
        here=option.here,
    )


def _shown(leaf: dict[str, Any]) -> dict[str, str]:
    """Return the options a user may set, as text."""
    return {
        key: "null" if value is None else str(value) for key, value in leaf.items() if key not in ("card", "_target_")
    }


def _option(group: str, name: str) -> Option:
    """Return what there is to say of one option of a group."""
    GlobalHydra.instance().clear()
    others = [f"{other}=none" for other in GROUPS[1:] if other != group]
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed = compose("run", overrides=[*others, f"{group}={name}"])
    if group != "benchmark":
        leaves = OmegaConf.to_container(composed[group], resolve=False)
        found = leaves if isinstance(leaves, dict) else {}
        leaf = found.get(name, {"selects": ", ".join(str(key) for key in found) or "nothing"})
        model = model_card(leaf["card"], name) if group == "model" and "card" in leaf else None
        here = "" if model is None else _model_present(composed, name)
        return Option(group, name, _about(group, name), leaf, None, here, model)
    values = OmegaConf.to_container(composed.benchmark, resolve=True)
    leaf = {str(key): value for key, value in values.items()} if isinstance(values, dict) else {}
    return Option(group, name, _about(group, name), leaf, sources.card(leaf["card"]), _present(leaf))


def _about(group: str, name: str) -> str:
    """Return the first comment of the option's YAML: what it is, in a sentence."""
    lines = (CONF / group / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    comments = (line.lstrip("# ").strip() for line in lines if line.startswith("#") and "@package" not in line)
    return next(comments, "")


def _present(leaf: dict[str, Any]) -> str:
    """Say in a word whether a benchmark's annotations can be read here, as it is configured."""
    try:
        benchmark = load.benchmark({"benchmark": leaf})
    except NotAvailableError as error:
        return error.status
    except InputError:
        return "needs a path"
    return "sample" if benchmark.provenance.origin == "sample" else "yes"


def _model_present(composed: DictConfig, name: str) -> str:
    """Say in a word whether a model can be run here, as it is configured; no weights are loaded."""
    if OmegaConf.missing_keys(composed.model[name]):
        return "needs options"
    try:
        load.panel({"model": {name: OmegaConf.to_container(composed.model[name], resolve=True)}})
    except NotAvailableError as error:
        return "needs code" if error.status == "script-only" else error.status.replace("unreachable", "no")
    except InputError:
        return "needs options"
    return "yes"


@contextlib.contextmanager
def _away_from_the_hub() -> Iterator[None]:
    """Look only at what is here: listing must not download anything."""
    before, asked = os.environ.get("HF_HUB_OFFLINE"), constants.HF_HUB_OFFLINE
    os.environ["HF_HUB_OFFLINE"] = "1"
    constants.HF_HUB_OFFLINE = True  # read once from the environment, when the library was imported
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = asked
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = before
