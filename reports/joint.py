"""The report over the benchmarks of an experiment: one view, from which its pages and the terminal's are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from reports.answer import Answer, Candidate, candidates, cannot_differ, said
from reports.audited import Audited
from reports.index import SANITY, Index
from reports.joint_charts import joint_charts
from reports.joint_tables import joint_grids
from reports.measures import distance
from reports.members import Experiment, Member, read_experiment
from reports.metrics import write_metrics
from reports.notes import Fact, build_limits
from reports.pages import write_pages
from reports.record import METRICS, read
from reports.schema import Level
from reports.text import Line, Span, count, foreign, joined, line, name, plural, visible
from reports.verdict import LEVELS, Verdict, grouped
from reports.view import View

_FARTHEST = 3
_IN_WORDS: Mapping[Level, str] = {
    "compromised": "compromised",
    "weakened": "weakened",
    "trained-text warning": "with a trained-text warning",
    "undecided": "undecided",
    "none larger found": "without a shortcut larger than the stated size",
}
_BROKEN = ("failed", "fault")


def render_joint(folder: Path) -> View:
    """Write the joint metrics and pages of an experiment, and return what a terminal shows of it.

    Raises:
        InputError: If `experiment.json` or a run of it cannot be read.
    """
    experiment = read_experiment(folder)
    runs = [read(folder / member.name) for member in experiment.members if member.is_done]
    write_metrics(folder / METRICS, [estimate for run in runs for estimate in run.estimates])
    audited = [Audited(run.path.name, run.record, Index(run.record, run.estimates)) for run in runs]
    view = build_joint(experiment, audited)
    write_pages(folder, view)
    return view


def build_joint(experiment: Experiment, runs: Sequence[Audited]) -> View:
    """Return the view of an experiment."""
    missing = [member for member in experiment.members if not member.is_done]
    samples = [run.name for run in runs if run.record["sample"]]
    return View(
        title=line("Do these benchmarks need the image? ", foreign(experiment.title)),
        banner=_banner(samples),
        verdict=_verdict(runs, len(experiment.members)),
        answer=_answer(runs),
        notices=_notices(runs),
        charts=joint_charts(runs),
        grids=joint_grids(runs),
        findings=(),
        source=tuple(_source(run) for run in runs),
        contestants=tuple(_contestants(runs)),
        setup=_setup(experiment, runs),
        not_run=tuple(_not_run(member) for member in missing),
        is_joint=True,
    )


def _banner(samples: Sequence[str]) -> str:
    if not samples:
        return ""
    shown = ", ".join(name(sample).text for sample in samples)
    return f"SAMPLE, not the released data: the row of {shown} describes the bundled sample, not that benchmark."


def _verdict(runs: Sequence[Audited], asked: int) -> Verdict | None:
    """Return the verdicts of the runs by level; nothing is concluded here that a run does not conclude."""
    found = [run.verdict for run in runs if run.verdict is not None]
    if not found:
        return None
    levels = Counter(item["level"] for item in found)
    gravest = min(levels, key=LEVELS.index)
    title = f"{count(levels[gravest])} of {plural(len(found), 'benchmark')} {_IN_WORDS[gravest]}"
    audited = f"{count(len(runs))} of {plural(asked, 'benchmark')} of this experiment could be audited"
    rest = "; the others are listed under Not run, and nothing is known of them from here" if len(runs) < asked else ""
    sentence = line(f"{audited}{rest}. The verdicts are those of each run on all of its instances.")
    sentences = tuple(line(name(item["subset"]), ": ", foreign(item["sentence"])) for item in found)
    rule = line(
        "p-values are corrected within each benchmark's own report, not across benchmarks; thresholds and tests are in "
        "its record.json."
    )
    return Verdict(gravest, title, sentence, grouped(found), sentences, (rule,))


def _answer(runs: Sequence[Audited]) -> Answer:
    """Return what the zero-shot baselines get that lie farthest from chance, one of a benchmark."""
    found = [(run, item) for run in runs if (item := _farthest(run)) is not None]
    found.sort(key=lambda pair: distance(pair[1].pooled), reverse=True)
    points = tuple(line(name(run.name), ": ", *said(item)) for run, item in found[:_FARTHEST])
    if not points:
        return Answer(line("No blind baseline's value over all instances may be said to differ from chance."), (), ())
    limit = (
        "These are the zero-shot baselines farthest from chance, one a benchmark, on "
        f"{plural(len(points), 'benchmark')}: picked on these data. The tables show all of them."
    )
    return Answer((), points, (line(limit),))


def _farthest(run: Audited) -> Candidate | None:
    able = [item for item in candidates(run.index) if item.pooled.n and not cannot_differ(item, run.record)]
    return max((item for item in able if item.departs), key=lambda item: distance(item.pooled), default=None)


def _notices(runs: Sequence[Audited]) -> tuple[Line, ...]:
    """Return what limits the numbers of each benchmark: samples, gaps, counts that are not the expected ones."""
    return tuple(line(name(run.name), ": ", *notice) for run in runs for notice in build_limits(run.record, run.index))


def _not_run(member: Member) -> Fact:
    """Return why a benchmark was not audited, and what to do about it."""
    parts = [line(f"{visible(member.status)}: ", foreign(_stopped(member.what)))]
    if member.status in _BROKEN:
        where = [text for text in (member.where, member.got) if text]
        parts += [line(" ", foreign(f"({'; '.join(where)})."))] if where else []
    parts += [line(" Next step: ", foreign(member.step))] if member.step else []
    return visible(member.name), tuple(span for part in parts for span in part)


def _stopped(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _source(run: Audited) -> Fact:
    facts = run.record["benchmark"]
    revision = str(run.fact("revision"))
    told = line(f"{visible(str(run.fact('origin', 'unknown')))}: ", foreign(str(run.fact("location"))))
    told += line("; revision ", name(revision)) if revision else ()
    told += line(f"; {plural(facts['n'], 'instance')}, content digest ", name(facts["digest"][:12]))
    told += line("; report in ", name(f"{run.name}/report.html"))
    return run.label, told


def _contestants(runs: Sequence[Audited]) -> list[Fact]:
    """Return who took part: what it sees, on how many benchmarks, for how long."""
    seen: dict[str, list[tuple[str, Sequence[str], float]]] = {}
    for run in runs:
        for owner, facts in run.record["contestants"].items():
            seen.setdefault(owner, []).append((facts["kind"], facts["sees"], facts["seconds"]))
    kinds = {"blind": "zero-shot blind baseline", "trained": "trained on the benchmark's own folds"}
    rows = []
    for owner, found in sorted(seen.items(), key=lambda item: (item[0] != SANITY, item[0])):
        kind, sees, _ = found[0]
        text = f"{kinds.get(kind, 'model under audit')}; sees {' and '.join(sees) or 'nothing'}; on "
        text += f"{plural(len(found), 'benchmark')}; {sum(seconds for *_, seconds in found):.1f} s"
        rows.append((visible(owner), line(text)))
    return rows


def _setup(experiment: Experiment, runs: Sequence[Audited]) -> tuple[Fact, ...]:
    spans = [(run.record["started"], run.record["finished"]) for run in runs]
    versions = {key: value for run in runs for key, value in run.record["versions"].items()}
    differ = [key for key in versions if len({run.record["versions"].get(key) for run in runs}) > 1]
    rows: list[Fact] = [
        ("repeat it with", (Span(visible(experiment.command), "name"),)),
        ("experiment", line(name(experiment.name))),
        ("runs", line(f"{visible(min(item[0] for item in spans))} to {visible(max(item[1] for item in spans))}")),
        ("folders", line("one run folder for each benchmark, by its name, with a report and tables of its own")),
        ("versions", line(foreign(", ".join(f"{key} {value}" for key, value in sorted(versions.items()))))),
    ]
    if differ:
        rows.append(("not the same in all runs", joined([line(name(key)) for key in sorted(differ)])))
    return tuple(rows)
