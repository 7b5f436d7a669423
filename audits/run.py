"""The main job: load, preflight, score, outcomes, estimates, contrast, record, report. Nothing flows back."""

from __future__ import annotations

import logging
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from audits import __version__, load, recording, rerender, tables
from audits.announcing import announcement
from audits.breakdown.collect import breakdown
from audits.checks import checked, refuse_changed_data, refuse_changed_images, refuse_changed_recordings
from audits.choosing import plans, refuse_above_ceiling
from audits.conclude import conclude
from audits.config import identity, output_folder, plain
from audits.contest import measure
from audits.crew import ALONE, Crew, join
from audits.dataset import Dataset, Roster, open_dataset
from audits.findings.collect import Captions, dataset_findings
from audits.findings.schema import Thresholds
from audits.jobs import LOG_FILE, log_to
from audits.load import Contestant
from audits.measured import Measured
from audits.models.home import fitting, shipped_notices
from audits.places import with_root
from audits.prior import less_prior
from audits.statistics.estimates import Estimates, estimates
from audits.status import Exit
from audits.upstream.collect import upstream
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.preflight import Coverage, Preflight
from benchmarks.schema import Benchmark, ShowsExamples
from reports import endings
from reports.announced import Announcement, show
from reports.examples import Example
from reports.record import Run, RunFolder, read
from reports.schema import Record

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
    coverage: Coverage | None
    panel: list[Contestant]
    said: list[str]
    checked: Preflight
    roster: Roster


def job(cfg: DictConfig) -> Exit:
    """Audit one benchmark and show the run, or say what it would take (`dry_run=true`).

    As one of several processes, help the one that does.
    """
    crew = join()
    if not crew.leads:
        return _help(cfg, crew)
    if cfg.get("dry_run") is True:
        crew.told(work=False)
        show(_announced(cfg))
        return Exit.DONE
    full = rerender.is_full(plain(cfg))
    return rerender.show(audit(cfg, crew), full=full)


def _help(cfg: DictConfig, crew: Crew) -> Exit:
    """Compute this process's share of what the leader measures; write nothing but the cache."""
    values = checked(_configured(cfg), [str(word) for word in HydraConfig.get().overrides.task])
    if crew.told(work=False):  # the leader has made or found everything that `_inputs` makes
        with redirect_stdout(sys.stderr):
            inputs = _inputs(values)
            for one in measure(inputs.panel, inputs.dataset, inputs.roster, values, crew):
                _log.info("process %d took part in %s", crew.rank, one.contestant.scorer.name)
    with suppress(OSError):
        output_folder().rmdir()  # Hydra makes it; a name with a time in it may be another one than the leader's
    return Exit.DONE


def _announced(cfg: DictConfig) -> Announcement:
    """Return what a run would compute, ask and pay; no contestant is run, nothing is sent."""
    values = checked(_configured(cfg), [str(word) for word in HydraConfig.get().overrides.task])
    with redirect_stdout(sys.stderr):
        inputs = _inputs(values)
        asked = plans([one.scorer for one in inputs.panel], inputs.dataset, seed=values["seed"])
    return announcement(inputs.name, inputs.checked, (inputs.panel, inputs.said), asked)


def audit(cfg: DictConfig, crew: Crew = ALONE) -> Run:
    """Audit one benchmark into its run folder, or render the run again if the folder holds it finished."""
    values = checked(_configured(cfg), [str(word) for word in HydraConfig.get().overrides.task])
    with RunFolder.open(output_folder(), identity(values, __version__), config=values) as folder:
        if folder.state == "finished":
            crew.told(work=False)
            record = read(folder.path).record
            benchmark = load.benchmark(values)
            refuse_changed_data(benchmark, record)
            read_then = islice(iter(benchmark), values["benchmark"]["limit"])
            refuse_changed_images(read_then, record, made_in=Path(values["paths"]["cache"]))
            refuse_changed_recordings(load.recordings(values), record)
            endings.shown_again(folder.path, record["finished"])
        else:
            # Standard output is for results: what a scorer prints goes where messages go.
            with log_to(folder.path), redirect_stdout(sys.stderr):
                _guarded(values, folder, crew)
        return folder.render()


def _configured(cfg: DictConfig) -> dict[str, Any]:
    """Return the configuration of one run: which experiment it belongs to, and what is printed, are no part of it."""
    values = plain(cfg)
    values.pop("experiment", None)
    values.pop("terminal", None)
    return with_root(values)


def _guarded(values: Mapping[str, Any], folder: RunFolder, crew: Crew) -> None:
    """Run the audit; a mistake in the input leaves nothing behind in a folder that was new."""
    try:
        _audit(values, folder, crew)
    except (InputError, OSError):
        (folder.path / LOG_FILE).unlink(missing_ok=True)
        folder.abandon()
        raise


def _audit(values: Mapping[str, Any], folder: RunFolder, crew: Crew) -> None:
    clock = Clock()
    with clock.step("load"):
        inputs = _inputs(values)
    with clock.step("plan"):
        refuse_above_ceiling(plans([one.scorer for one in inputs.panel], inputs.dataset, seed=values["seed"]))
    crew.told(work=True)
    record = _opening(values, inputs)
    folder.begin(record)
    captions = Captions(Thresholds.read(values["verdict"]["findings"]))
    with clock.step("instances"):  # and what their captions show: one reading serves both
        folder.table("instances", tables.instances(map(captions.take, inputs.dataset)))
    with clock.step("score"):
        measured = list(measure(inputs.panel, inputs.dataset, inputs.roster, values, crew))
        folder.table("scores", tables.scores(measured, inputs.roster))
        folder.table("outcomes", tables.outcomes(measured, inputs.roster))
        if (answers := tables.answers(measured)) is not None:
            folder.table("answers", answers)
    with clock.step("estimates"):
        found = _estimates(values, inputs, measured)
    with clock.step("contrast"):
        short = {one.contestant.scorer.name: _short(inputs, one.contestant) for one in measured}
        primary = inputs.dataset.benchmark.card.primary
        concluded = conclude(found.rows, measured, inputs.roster, values, primary=primary, signatures=short)
    record["verdicts"], record["thresholds"] = concluded.verdicts, concluded.thresholds
    if concluded.family is not None:
        record["family"] = concluded.family
    signatures = {name: _short(inputs, one.contestant) for one in measured for name in one.outcomes}
    with clock.step("upstream"):
        asked = inputs.dataset.benchmark.card.upstream
        theirs = upstream(asked, measured, inputs.roster, values, signatures)
        curves = less_prior(measured, inputs.roster, values, signatures)
    with clock.step("breakdown"):
        parts = breakdown(inputs.dataset, measured, inputs.roster, values, signatures)
    with clock.step("findings"):
        noticed = dataset_findings(captions.findings(), measured, inputs.roster, values, signatures)
    record["contestants"] = {
        one.contestant.scorer.name: recording.contestant_facts(one, _short(inputs, one.contestant)) for one in measured
    }
    record["notices"] += [f"The tag {tag} has too many values for a table of its own." for tag in found.skipped_tags]
    record["timings"] = clock.seconds
    record["finished"] = recording.now()
    folder.examples(_examples(inputs.dataset.benchmark))
    notes = [note for one in measured for note in one.findings]
    rows = [*concluded.rows, *theirs.rows, *curves, *parts, *noticed.rows]
    folder.finish(record, rows, [*concluded.findings, *noticed.findings, *theirs.findings, *notes])


def _inputs(values: Mapping[str, Any]) -> Inputs:
    """Load the benchmark and the contestants, and check that what they need is there."""
    options = values["benchmark"]
    benchmark = load.benchmark(values)
    is_sample = benchmark.provenance.origin == "sample"
    fit = fitting(values.get("model") or {}, is_sample=is_sample)  # model=[] leaves no such key
    panel, absent = _panel({**values, "model": fit.models})
    sample = values["benchmark"].get("sample") or {}
    said = shipped_notices(fit.models, is_sample=is_sample, seed=sample.get("seed") if is_sample else None)
    dataset, coverage = open_dataset(
        benchmark,
        limit=options["limit"],
        missing=options["missing"],
        images=any(one.needs_images for one in panel),
    )
    checked, roster = dataset.survey(options["name"])
    return Inputs(options["name"], dataset, coverage, panel, [*absent, *fit.notices, *said], checked, roster)


def _panel(values: Mapping[str, Any]) -> load.Panel:
    """Build the contestants; one that cannot be had is no sign that the benchmark cannot, which an experiment skips."""
    try:
        return load.panel(values)
    except NotAvailableError as error:
        found = InputError(error.what, where=error.where, got=error.got, expected=error.expected, step=error.step)
        raise found from error


def _opening(values: Mapping[str, Any], inputs: Inputs) -> Record:
    """Return the record as it stands before anything is scored."""
    provenance = inputs.dataset.benchmark.provenance
    options = values["statistics"]
    words = [str(word) for word in HydraConfig.get().overrides.task]
    return {
        "format": 0,
        "status": "",
        "config_digest": "",
        "command": shlex.join(["audits", "run", *words]),
        "started": recording.now(),
        "finished": "",
        "config": dict(values),
        "versions": recording.versions(),
        "git": recording.git_state(),
        "benchmark": recording.benchmark_facts(inputs.name, inputs.dataset.benchmark, inputs.checked, inputs.coverage),
        "contestants": {},
        "statistics": {"bootstrap": options["bootstrap"], "seed": options["seed"], "level": options["level"]},
        "timings": {},
        "notices": [*provenance.notices, *inputs.checked.notices, *inputs.said],
        "sample": provenance.origin == "sample",
    }


def _examples(benchmark: Benchmark) -> list[Example]:
    """Return a few pairs to look at, where the benchmark can show some."""
    shown = benchmark.examples() if isinstance(benchmark, ShowsExamples) else []
    return [Example(pair.edit_type, (pair.base, pair.foil), pair.captions) for pair in shown]


def _short(inputs: Inputs, contestant: Contestant) -> str:
    """Return the short form of a contestant's signature on these data."""
    data = f"{inputs.name}@{inputs.checked.digest[:8]}"
    return recording.short_signature(contestant.scorer.signature, data)


def _estimates(values: Mapping[str, Any], inputs: Inputs, measured: Sequence[Measured]) -> Estimates:
    """Return the estimates of every column and metric, each with the short form of its signature."""
    options = values["statistics"]
    return estimates(
        {name: by_metric for one in measured for name, by_metric in one.outcomes.items()},
        inputs.roster.labels,
        signatures={name: _short(inputs, one.contestant) for one in measured for name in one.outcomes},
        draws=options["bootstrap"],
        seed=options["seed"],
        confidence=options["level"],
    )
