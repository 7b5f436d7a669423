"""The main job: load, preflight, score, outcomes, estimates, record, report. Nothing flows back."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from omegaconf import DictConfig
from reports.progress import ConsoleProgress
from reports.record import RunFolder

from audits import load, recording, rerender, tables
from audits.config import identity, output_folder, plain
from audits.dataset import Coverage, Dataset, Layout, open_dataset
from audits.jobs import log_to
from audits.load import Contestant
from audits.scoring import Cells, score
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
    layout: Layout


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
        folder.table("scores", tables.scores(scored, inputs.layout))
    with clock.step("outcomes"):
        results = _outcomes(values, inputs, scored)
        folder.table("outcomes", tables.outcomes(scored, inputs.layout, values["statistics"]["tie_tolerance"]))
    with clock.step("estimates"):
        estimates, skipped = _estimates(values, inputs, results, scored)
    record["contestants"] = recording.contestant_entries(scored, counts)
    record["notices"] += skipped
    record["timings"] = clock.seconds
    record["finished"] = recording.now()
    folder.finish(record, estimates, [])


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
    return Inputs(options["name"], dataset, coverage, panel, dataset.layout())


def _opening(values: Mapping[str, Any], inputs: Inputs) -> dict[str, Any]:
    """Return the record as it stands before anything is scored."""
    survey = inputs.dataset.survey()
    provenance = inputs.dataset.benchmark.provenance
    return {
        "started": recording.now(),
        "config": dict(values),
        "versions": recording.versions(),
        "git": recording.git_state(),
        "benchmark": recording.benchmark_entry(inputs.name, inputs.dataset.benchmark, survey, inputs.coverage),
        "statistics": dict(values["statistics"]),
        "notices": [*provenance.notices, *survey.notices],
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
            cells.grids(column, inputs.layout.shapes), inputs.layout.golds, sees=one.scorer.sees, tolerance=tolerance
        )
        for one, cells in scored.values()
        for column in one.scorer.columns
    }
