"""Audit several benchmarks with one command: a run folder for each, and what they say together.

What an experiment audits, and with which options of each benchmark, is data (`conf/experiment`). A member is run as
`audits run benchmark=NAME` would run it, so its folder is a run folder like any other: it is resumed and shown alike.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from audits import crew, jobs, rerender, run
from audits.config import CONF, options, output_folder, plain
from audits.overrides import quote
from audits.places import place
from audits.status import Exit
from benchmarks.errors import InputError, NotAvailableError, near
from reports import endings
from reports.members import Experiment, ExperimentFolder, Member

# Options of a benchmark that every benchmark takes, and that may be given once for all members.
_FOR_ALL = ("benchmark.limit", "benchmark.missing")
# Where an experiment's file says how the folder of a member may be called below `paths.benchmarks`.
PLACES = "places"


class Plan(NamedTuple):
    """Hold what an experiment audits: its name, its title, and the options of each benchmark by registry name."""

    name: str
    title: str
    members: Mapping[str, Mapping[str, Any]]


def job(cfg: DictConfig) -> Exit:
    """Audit the benchmarks of an experiment, or the one benchmark where none is selected."""
    if not cfg.get("experiment"):
        return run.job(cfg)
    if crew.several():
        raise InputError(
            "an experiment runs in one process",
            where="experiment",
            got="several processes, started together",
            expected="one benchmark where several processes share the work",
            step="start audits run benchmark=NAME for each benchmark",
        )
    values = plain(cfg)
    if values.get("dry_run") is True:
        raise InputError(
            "an experiment cannot be announced as a whole",
            where="dry_run",
            got=f"dry_run=true with experiment={cfg.experiment.get('name')}",
            step="announce its benchmarks one by one: audits run benchmark=NAME dry_run=true",
        )
    plan, shared = _plan(values["experiment"]), _shared()
    command = shlex.join(["audits", "run", *(str(word) for word in HydraConfig.get().overrides.task)])
    with ExperimentFolder(output_folder(), plan.name, list(plan.members)) as folder:
        done = []
        for number, (name, given) in enumerate(plan.members.items(), start=1):
            endings.member_begins(name, number, len(plan.members))
            done.append(_member(name, [*shared, *_own(name, given, values["paths"])], folder.path / name))
        if any(member.is_done for member in done):
            folder.write(Experiment(plan.name, plan.title, command, tuple(done)))
            rerender.show_joint(folder.path)
        elif not any(member.status == "fault" for member in done):
            raise _nothing(plan, done)
    return _ended(done)


def _ended(done: list[Member]) -> Exit:
    """Return how the experiment ends: what is not here stops nothing, what is broken shows in the status."""
    statuses = {member.status for member in done}
    return Exit.FAULT if "fault" in statuses else Exit.INPUT if "failed" in statuses else Exit.DONE


def _plan(values: Any) -> Plan:
    """Return what an experiment's configuration asks for.

    Raises:
        InputError: If it names no benchmarks, or one that there is not.
    """
    values = values if isinstance(values, Mapping) else {}
    asked = values.get("benchmarks") or {}
    members = {str(name): {} for name in asked} if isinstance(asked, list) else asked
    wrong = [name for name, given in members.items() if not isinstance(given or {}, Mapping)]
    if not values.get("name") or not members or wrong:
        raise InputError(
            "an experiment has a name and benchmarks, each with its options",
            where=f"experiment.benchmarks.{wrong[0]}" if wrong else "experiment",
            got=repr(members[wrong[0]])[:80] if wrong else ", ".join(values) or "nothing",
            expected="name: NAME, benchmarks: {BENCHMARK: {}} or {BENCHMARK: {root: FOLDER}}",
            step=f"select one, for example experiment={(options('experiment') or ['NAME'])[0]}",
        )
    known = options("benchmark")
    for name in members:
        if name not in known:
            raise InputError(
                f"no benchmark is called {name!r}",
                where=f"experiment.benchmarks.{name}",
                got=name,
                expected=", ".join(known),
                step=near(name, [other for other in members if other in known])
                or near(name, known)
                or "see `audits list benchmark`",
            )
    name = str(values["name"])
    given = {member: dict(options or {}) for member, options in members.items()}
    return Plan(name, str(values.get("title") or name), given)


def _shared() -> list[str]:
    """Return the overrides of the command that go to every member.

    Raises:
        InputError: If one chooses a benchmark, or sets an option that not every benchmark has.
    """
    words = [str(word) for word in HydraConfig.get().overrides.task]
    kept = []
    for word in words:
        key = word.partition("=")[0].lstrip("+~")
        if key.split(".")[0] == "benchmark" and key not in _FOR_ALL:
            option = key.partition(".")[2] or "root"
            raise InputError(
                "an experiment chooses its benchmarks itself",
                where=word,
                expected=f"for all of them: {', '.join(f'{name}=...' for name in _FOR_ALL)}",
                step=f"set an option of one with experiment.benchmarks.NAME.{option}=..., or leave out experiment=",
            )
        if key.split(".")[0] not in ("experiment", "out"):
            kept.append(word)
    return kept


def _own(name: str, given: Mapping[str, Any], paths: Mapping[str, Any]) -> list[str]:
    """Return the overrides that make a run one of this benchmark, with the options that the experiment gives it."""
    own = {key: value for key, value in given.items() if key != PLACES}
    if own.get("root") is None and paths.get("benchmarks") is not None:
        names = given.get(PLACES) or []
        found = place(Path(paths["benchmarks"]), [name, *([names] if isinstance(names, str) else names)])
        own |= {"root": str(found)} if found is not None else {}
    return [f"benchmark={name}", *_options("benchmark", own)]


def _options(prefix: str, given: Mapping[str, Any]) -> Iterator[str]:
    for key, value in given.items():
        if isinstance(value, Mapping) and value:
            yield from _options(f"{prefix}.{key}", value)
        else:
            yield f"{prefix}.{key}={_literal(value)}"


def _literal(value: Any) -> str:
    """Return a value as Hydra's grammar writes it.

    >>> _literal(None), _literal(True), _literal([1, "a, b"])
    ('null', 'true', "[1,'a, b']")
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{','.join(_literal(item) for item in value)}]"
    return str(value) if isinstance(value, int | float | Mapping) else quote(str(value))


def _member(name: str, words: list[str], folder: Path) -> Member:
    """Run one benchmark and say how it ended; one that cannot be had, or is broken, does not stop the others."""
    try:
        with _composed([*words, f"out={quote(str(folder))}"], folder) as cfg:
            run.audit(cfg)
    except NotAvailableError as error:
        return _told(name, error.status, error)
    except (InputError, HydraException, OmegaConfBaseException, OSError) as error:
        known = jobs.as_input_error(error, "run")
        if known is None:
            return _fault(name, error, folder)
        jobs.show_traceback(error)
        endings.error(known)
        return _told(name, "failed", known)
    except Exception as error:
        return _fault(name, error, folder)
    return Member(name, "done")


def _told(name: str, status: str, error: InputError) -> Member:
    """Return how a member ended, with the next step as it reads in an experiment."""
    endings.member_ends(name, status)
    step = re.sub(r"(?<![\w.])benchmark\.(?=\w+=)", f"experiment.benchmarks.{name}.", error.step)
    return Member(name, status, error.what, error.where, error.got, step)


def _fault(name: str, error: Exception, folder: Path) -> Member:
    jobs.tell_fault(error, folder)
    return Member(name, "fault", f"{type(error).__name__}: {error}")


@contextmanager
def _composed(words: list[str], folder: Path) -> Iterator[DictConfig]:
    """Compose a member's configuration, and let Hydra's own settings be the member's meanwhile."""
    before = HydraConfig.instance().cfg
    with _search_path():
        cfg = compose("run", overrides=words, return_hydra_config=True)
    with open_dict(cfg.hydra):
        cfg.hydra.runtime.cwd = HydraConfig.get().runtime.cwd
        cfg.hydra.runtime.output_dir = str(folder)
        cfg.hydra.mode = RunMode.RUN
        cfg.hydra.job.num = 0
        cfg.hydra.overrides.task = words
    HydraConfig.instance().set_config(cfg)
    try:
        yield OmegaConf.masked_copy(cfg, [str(key) for key in cfg if key != "hydra"])
    finally:
        HydraConfig.instance().cfg = before


@contextmanager
def _search_path() -> Iterator[None]:
    """Let Hydra find its files: where a launcher runs jobs in processes of their own, nobody has told it yet."""
    if GlobalHydra.instance().is_initialized():
        yield
    else:
        with initialize_config_dir(str(CONF), version_base="1.3"):
            yield


def _nothing(plan: Plan, done: list[Member]) -> InputError:
    return InputError(
        "none of the experiment's benchmarks could be audited here",
        where=f"experiment {plan.name}",
        got="; ".join(f"{member.name}: {member.status}" for member in done),
        step="`audits show NAME` says how to get one; then give paths.benchmarks=FOLDER (the folder that holds them, "
        "by name) or experiment.benchmarks.NAME.root=FOLDER",
    )
