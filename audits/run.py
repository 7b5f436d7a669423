"""The main job: load, preflight, score, outcomes, estimates, record, report. Nothing flows back."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.preflight import Survey
from omegaconf import DictConfig
from reports.progress import ConsoleProgress
from reports.record import RunFolder

from audits import load, recording, rerender, tables
from audits.config import identity, output_folder, plain
from audits.dataset import Coverage, Dataset, Roster, open_dataset
from audits.jobs import log_to
from audits.load import Contestant
from audits.scoring import Cells, score
from audits.statistics.estimates import Estimates, estimates
from audits.statistics.outcomes import Outcome, outcomes
from audits.status import Exit
from baselines.engine import Engine

_log = logging.getLogger(__name__)


class Clock:
    """Keep the seconds of each step of a run, for the record."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time one step."""
        started = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - started, 3)
        _log.info("%s: %.3f s", name, self.seconds[name])


class Inputs(NamedTuple):
    """Hold what a run works on."""

    name: str
    dataset: Dataset
    coverage: Coverage
    panel: list[Contestant]
    roster: Roster
    survey: Survey


def job(cfg: DictConfig) -> Exit:
    """Audit one benchmark into its run folder, or render the run again if the folder holds it finished."""
    values = plain(cfg)
    folder = RunFolder.open(output_folder(), identity(values, recording.version()))
    with folder:
        if folder.state != "finished":
            handler = log_to(folder.path)
            try:
                _audit(values, folder)
            finally:
                logging.getLogger().removeHandler(handler)
                handler.close()
    return rerender.show(folder.path)


def _audit(values: Mapping[str, Any], folder: RunFolder) -> None:
    clock = Clock()
    with clock.step("load"):
        inputs = _inputs(values)
    record = _opening(values, inputs)
    folder.begin(record)
    with clock.step("instances"):
        folder.table("instances", tables.instances(inputs.dataset))
    with clock.step("score"):
        scored, counts = _score(values, inputs)
        folder.table("scores", tables.scores(scored, inputs.roster))
    with clock.step("outcomes"):
        results = _outcomes(values, inputs, scored)
        tolerance = values["statistics"]["tie_tolerance"]
        folder.table("outcomes", tables.outcomes(scored, inputs.roster, tolerance=tolerance))
    with clock.step("estimates"):
        found = _estimates(values, inputs, results, scored)
    record["contestants"] = recording.contestant_entries(scored, counts)
    record["notices"] += [f"tag {tag!r} has too many values for a table of its own" for tag in found.skipped_tags]
    record["timings"] = clock.seconds
    record["finished"] = recording.now()
    folder.finish(record, found.rows, [])


def _inputs(values: Mapping[str, Any]) -> Inputs:
    """Load the benchmark and the contestants, and check that what they need is there."""
    benchmark = load.benchmark(values)
    panel = load.contestants(values)
    options = values["benchmark"]
    dataset, coverage = open_dataset(
        benchmark,
        limit=options["limit"],
        missing=options["missing"],
        images=any("image" in one.scorer.sees for one in panel),
    )
    roster = dataset.roster(options["name"])
    return Inputs(options["name"], dataset, coverage, panel, roster, dataset.survey())


def _opening(values: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Return the record as it stands before anything is scored."""
    provenance = inputs.dataset.benchmark.provenance
    return {
        "started": recording.now(),
        "config": dict(values),
        "versions": recording.versions(),
        "git": recording.git_state(),
        "benchmark": recording.benchmark_entry(inputs.name, inputs.dataset.benchmark, inputs.survey, inputs.coverage),
        "statistics": dict(values["statistics"]),
        "notices": [*provenance.notices, *inputs.survey.notices],
        "sample": provenance.origin == "sample",
    }


def _score(values: Mapping[str, Any], inputs: Inputs) -> tuple[dict[str, tuple[Contestant, Cells]], dict[str, Any]]:
    """Run every contestant over the same instances; return cells and cache counts by scorer name."""
    scored: dict[str, tuple[Contestant, Cells]] = {}
    counts: dict[str, Any] = {}
    cache = Path(values["paths"]["cache"]) / "scores.sqlite"
    for one in inputs.panel:
        with Engine(cache, ConsoleProgress()) as engine:
            cells = score(one.scorer, inputs.dataset, engine, seed=values["seed"], chunk=values["engine"]["chunk"])
            counts[one.scorer.name] = engine.totals()
        scored[one.scorer.name] = (one, cells)
    return scored, counts


def _outcomes(
    values: Mapping[str, Any], inputs: Inputs, scored: Mapping[str, tuple[Contestant, Cells]]
) -> dict[str, dict[str, Outcome]]:
    """Return the outcomes of every scorer column by metric."""
    tolerance = values["statistics"]["tie_tolerance"]
    return {
        one.full_name(column): outcomes(
            cells.grids(column, inputs.roster.shapes), inputs.roster.golds, sees=one.scorer.sees, tolerance=tolerance
        )
        for one, cells in scored.values()
        for column in one.scorer.columns
    }


def _estimates(
    values: Mapping[str, Any],
    inputs: Inputs,
    results: Mapping[str, Mapping[str, Outcome]],
    scored: Mapping[str, tuple[Contestant, Cells]],
) -> Estimates:
    """Return the estimates of every column and metric, each with the short form of its signature."""
    options = values["statistics"]
    data = f"{inputs.name}@{inputs.survey.digest[:8]}"
    signatures = {
        one.full_name(column): recording.short_signature(one.scorer.signature, data)
        for one, _ in scored.values()
        for column in one.scorer.columns
    }
    return estimates(
        results,
        inputs.roster.labels,
        signatures=signatures,
        draws=options["bootstrap"],
        seed=options["seed"],
        confidence=options["level"],
    )
