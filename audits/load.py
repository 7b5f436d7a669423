"""Turn the composed configuration into objects: a benchmark and the contestants."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from audits.models.schema import Chooser, Recorded
from baselines.schema import CrossFitted, Scorer
from baselines.text_form import forms, in_form
from benchmarks import download, sources
from benchmarks.errors import InputError, NotAvailableError, near
from benchmarks.schema import Benchmark
from reports.schema import Kind

AnyContestant = Scorer | CrossFitted | Recorded | Chooser
# Options of a benchmark that the runner, not the parser, acts on.
_RUNNERS = ("name", "missing", "limit", "fetch")


class Panel(NamedTuple):
    """Hold the contestants of a run, and a sentence on each one that was selected and cannot be had here."""

    contestants: list[Contestant]
    absent: list[str]


class Contestant(NamedTuple):
    """Name a contestant and say whether it is a zero-shot blind baseline, one trained on the benchmark, or a model."""

    kind: Kind
    scorer: AnyContestant

    @property
    def needs_images(self) -> bool:
        """Return whether it opens images in this run; what somebody else recorded has already seen them."""
        opens = "image" in self.scorer.sees or bool(getattr(self.scorer, "needs_images", False))
        return opens and not isinstance(self.scorer, Recorded)

    def full_name(self, column: str) -> str:
        """Return the name of one of its columns in every table."""
        return f"{self.scorer.name}:{column}" if column else self.scorer.name


def benchmark(values: Mapping[str, Any]) -> Benchmark:
    """Build the benchmark that the configuration names; fetch its annotations first where `fetch` asks for it.

    Raises:
        InputError: If it cannot be built, or a fetched file is not the expected one.
        NotAvailableError: If it cannot be had.
    """
    options = {key: value for key, value in values["benchmark"].items() if key not in _RUNNERS}
    if values["benchmark"].get("fetch") is True and options.get("root") is None:
        folder = Path(values["paths"]["cache"]) / "releases" / str(values["benchmark"]["name"])
        options["root"] = str(download.release(sources.card(options["card"]), folder))
    built: Benchmark = _build(options, "benchmark", str(values["benchmark"].get("name", "")))
    return built


def panel(values: Mapping[str, Any]) -> Panel:
    """Build the blind baselines and models under audit, in the order of the configuration.

    Raises:
        InputError: If there are none, one is not a scorer, two would share a name in the tables, or one cannot be had
            here and `missing_contestants` is not `skip`.
    """
    groups: tuple[tuple[str, Kind], ...] = (("baseline", "blind"), ("model", "model"))
    found: list[Contestant] = []
    absent: list[str] = []
    leaves = [(pair, *leaf) for pair in groups for leaf in (values.get(pair[0]) or {}).items()]
    for (group, kind), name, options in leaves:
        try:
            found += [Contestant(_kind(kind, scorer), scorer) for scorer in _scorers(options, group, name)]
        except NotAvailableError as error:
            if values.get("missing_contestants") != "skip":
                raise
            absent.append(f"{group} {name} was selected and not run: {error.what} ({error.where}; {error.status}).")
    _check_names(found, absent)
    return Panel(found, absent)


def _check_names(found: Sequence[Contestant], absent: Sequence[str]) -> None:
    """Refuse a panel that is empty, says one name twice, or calls blind what sees both sides."""
    names = [one.full_name(column) for one in found for column in one.scorer.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError("two contestants have the same name", got=", ".join(twice), step="give one another `name`")
    if not found:
        raise InputError(
            "nothing to run",
            where="baseline, model",
            got=" ".join(absent) or "none",
            step="select one, for example baseline=length",
        )
    for one in found:
        if one.kind != "model" and one.scorer.sees == frozenset({"text", "image"}):
            raise InputError(
                "a baseline must be denied one side",
                where=f"baseline {one.scorer.name}",
                got="it declares that it sees text and image",
                step="select it under `model` instead",
            )


def _scorers(options: Any, group: str, name: str) -> list[AnyContestant]:
    """Build what one leaf asks for: contestants, or one per text form, all of them around the same loaded model."""
    where = f"{group}.{name}"
    if group != "baseline" or not isinstance(options, Mapping):
        return [_scorer(built, where) for built in _several(_build(_without_card(options), where))]
    asked = forms(options.get("text_form"), where)
    own = {key: value for key, value in options.items() if key != "text_form"}
    made = [_scorer(built, where) for built in _several(_build(own, where))]
    if not asked:
        return made
    return [
        _scorer(in_form(one, form, where), where)
        for one in made
        for form in asked
        if isinstance(one, Scorer | CrossFitted)
    ]


def _without_card(options: Any) -> Any:
    """Return what a model is built with: its card is for people, and where it runs is for the runner."""
    if not isinstance(options, Mapping):
        return options
    return {key: value for key, value in options.items() if key not in ("card", "only")}


def recordings(values: Mapping[str, Any]) -> list[Recorded]:
    """Build only those models that somebody else recorded, whose files can change under a finished run."""
    leaves = {name: _without_card(options) for name, options in (values.get("model") or {}).items()}
    theirs = {name: options for name, options in leaves.items() if "runs" in (options or {})}
    built = [one for name, options in theirs.items() for one in _several(_build(options, f"model.{name}"))]
    return [one for one in built if isinstance(one, Recorded)]


def _build(options: Mapping[str, Any], where: str, name: str = "") -> Any:
    """Call what `_target_` names with the other options, taken as they are.

    Hydra's own `instantiate` would read `${` in a value, already resolved, a second time: a path may hold it.

    Raises:
        InputError: If the target cannot be imported or does not take one of the options.
    """
    if not isinstance(options, Mapping) or "_target_" not in options:
        raise InputError("not a leaf of the configuration", where=where, expected="a mapping with _target_")
    given = {key: value for key, value in options.items() if key != "_target_"}
    target = _target(str(options["_target_"]), where)
    known = inspect.signature(target).parameters
    wrong = sorted(set(given) - set(known))
    if wrong and not any(one.kind is one.VAR_KEYWORD for one in known.values()):
        raise InputError(
            f"{where} does not take every option that it was given",
            where=where,
            got=", ".join(wrong),
            expected=", ".join(known),
            step=near(wrong[0], known) or "see `audits run --cfg job`",
        )
    try:
        return target(**given)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{where} cannot be built with these options",
            where=where,
            got=f"{type(error).__name__}: {error}",
            expected=", ".join(known),
            step=f"see `audits show {name or where.rpartition('.')[2]}`",
        ) from error


def _target(name: str, where: str) -> Callable[..., Any]:
    """Import the class that a leaf's `_target_` names."""
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            "what _target_ names cannot be imported",
            where=f"{where}._target_",
            got=f"{name} ({error})",
            expected="package.module.Class",
            step="check the name, and that the packages it needs are installed",
        ) from error
    if not callable(found):
        raise InputError("what _target_ names is no class", where=f"{where}._target_", got=name)
    called: Callable[..., Any] = found
    return called


def _several(built: Any) -> list[Any]:
    """Return the contestants of a leaf: what its target names may return a list of them."""
    return built if isinstance(built, list) else [built]


def _kind(group: Kind, scorer: AnyContestant) -> Kind:
    """Return the kind of a contestant: what is trained on the benchmark's own folds is no zero-shot baseline.

    A model's blind twin is built with the model, and is a baseline nevertheless.
    """
    if isinstance(scorer, CrossFitted):
        return "trained"
    return "blind" if getattr(scorer, "blind", False) else group


def _scorer(built: Any, where: str) -> AnyContestant:
    if not isinstance(built, AnyContestant):
        raise InputError(
            "not a contestant",
            where=where,
            got=type(built).__name__,
            expected="name, sees, columns, signature and score(batch, work), choose, or prepare and fit; see "
            "CONTRIBUTING.md",
        )
    if not isinstance(built.name, str) or not built.name.strip() or not built.columns:
        raise InputError(
            "a contestant needs a name and a column", where=where, got=f"{built.name!r}, {built.columns!r}"
        )
    declared = built.signature
    if not isinstance(declared, Mapping) or not all(isinstance(text, str) for text in declared.values()):
        raise InputError("a signature is flat text by name", where=where, got=repr(declared)[:200])
    return built
