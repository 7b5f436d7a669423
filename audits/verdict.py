"""The default verdict: what is concluded of each subset and of all instances, from rows and thresholds alone.

| level | rule, the first that holds |
|---|---|
| compromised | a zero-shot blind baseline lies at least `compromised` from chance, or a model is below one |
| weakened | a zero-shot blind baseline lies at least `weakened` from chance |
| trained-text warning | only a baseline trained on the benchmark's own folds lies at least `weakened` from chance |
| undecided | a shortcut of size `compromised` would not have been seen, or no zero-shot baseline could differ |
| no shortcut found | otherwise, with the size from which one would have been seen |

A baseline *lies at least x from chance* if the whole of its primary interval does and its p-value, adjusted over the
family, is at most alpha: with many baselines some unadjusted interval always does. Below chance counts as above: the
opposite choice exploits it. A model is *below* a baseline if the paired difference is negative and its adjusted p-value
is at most alpha; the baseline must be above chance itself, or a model that fails would condemn its benchmark.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan
from typing import Any, NamedTuple

from audits.statistics.layout import Layout, slices
from reports.schema import Estimate, Kind, Level, VerdictFacts


@dataclasses.dataclass(frozen=True, slots=True)
class Thresholds:
    """Hold what verdicts go by; lives in `conf/verdict`.

    Attributes:
        compromised: Distance from chance, proportion.
        weakened: Distance from chance, proportion.
        margin: Of equivalence to chance, proportion.
        alpha: Level of the family, and of each one-sided test of equivalence.
        power: At which `smallest_visible` is given.
    """

    compromised: float = 0.10
    weakened: float = 0.02
    margin: float = 0.02
    alpha: float = 0.05
    power: float = 0.8

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Thresholds:
        """Read them from the group `verdict` of a configuration; other keys there are for others."""
        return cls(**{field.name: values[field.name] for field in dataclasses.fields(cls)})


class Evidence(NamedTuple):
    """Hold the rows of one subset that a verdict rests on, primary ones only.

    Attributes:
        blind: Zero-shot baselines that can differ from chance, on their own metric.
        trained: The same for baselines trained on the benchmark.
        excess: Models against zero-shot baselines.
        visible: Smallest visible distance of each zero-shot baseline, NaN where none can be seen.
        bounds: Equivalence bound of each zero-shot baseline.
    """

    blind: list[Estimate]
    trained: list[Estimate]
    excess: list[Estimate]
    visible: list[Estimate]
    bounds: list[Estimate]


def verdicts(
    rows: Sequence[Estimate], kinds: Mapping[str, Kind], where: Layout, thresholds: Thresholds
) -> list[VerdictFacts]:
    """Conclude on every subset and on all instances.

    Args:
        rows: Headline rows with their adjusted p-values, and the rows of `contrast`.
        kinds: Kind of each contestant column.
        where: Labels of the instances.
        thresholds: What to go by.

    Returns:
        One verdict for each subset in order, then one for `all`.

    Source: ours.
    """
    cut = slices(where)
    found = []
    for part in [*cut.subsets, cut.pooled]:
        evidence = gather(rows, kinds, part.subset)
        level, sentence, by = _decide(evidence, thresholds)
        clusters = {where.clusters[row] for row in part.rows.tolist()}
        largest = _largest(evidence.visible)
        verdict: VerdictFacts = {
            "subset": part.subset,
            "level": level,
            "sentence": sentence,
            "by": by,
            "smallest_visible": largest if isfinite(largest) else None,
            "n": len(part.rows),
            "n_clusters": len(clusters),
        }
        found.append(verdict)
    return found


def gather(rows: Iterable[Estimate], kinds: Mapping[str, Kind], subset: str) -> Evidence:
    """Return the rows of one subset by what they are evidence of."""
    found = Evidence([], [], [], [], [])
    for row in rows:
        if row.subset != subset or row.tag or not row.primary:
            continue
        kind = kinds.get(row.scorer)
        zero_shot = (kind if not row.against else kinds.get(row.against)) == "blind"
        if row.metric == "excess" and zero_shot:
            found.excess.append(row)
        elif row.metric == "smallest_visible" and zero_shot:
            found.visible.append(row)
        elif row.metric == "equivalence_bound" and zero_shot:
            found.bounds.append(row)
        elif not row.against and isfinite(row.p) and kind in ("blind", "trained"):
            (found.blind if kind == "blind" else found.trained).append(row)
    return found


def differs(row: Estimate, alpha: float) -> bool:
    """Say whether a row differs from its null at the family's level."""
    return row.p <= alpha


def distance(row: Estimate) -> float:
    """Return how far the nearer end of the interval lies from chance, negative if chance is inside."""
    return max(row.low - row.chance, row.chance - row.high)


def lies_away(row: Estimate, least: float, alpha: float) -> bool:
    """Say whether a baseline lies at least so far from chance: interval and adjusted p-value both say so."""
    return differs(row, alpha) and distance(row) >= least - 1e-12


def percent(value: float) -> str:
    """Return a proportion in per cent.

    >>> percent(0.962)
    '96.2 %'
    """
    return f"{100 * value:.1f} %"


def points(value: float) -> str:
    """Return a difference of proportions in points, or that there is none to give.

    >>> points(0.02), points(float("nan"))
    ('2.0 points', 'no distance')
    """
    return f"{100 * value:.1f} points" if isfinite(value) else "no distance"


def reached(row: Estimate) -> str:
    """Return what a contestant reached, with interval and numbers.

    >>> row = Estimate("d", "all", "", "s", "", "accuracy", 0.9, 0.85, 0.94, 200, 80, 0, 0, 0.5, "x", 1, True, "")
    >>> reached(row)
    's reaches 90.0 % [85.0, 94.0] where chance is 50.0 % (n = 200, 80 clusters)'
    """
    return (
        f"{row.scorer} reaches {percent(row.value)} [{100 * row.low:.1f}, {100 * row.high:.1f}] where chance is "
        f"{percent(row.chance)} (n = {row.n:,}, {row.n_clusters:,} clusters)"
    )


def apart(row: Estimate) -> str:
    """Return a paired difference, with interval and numbers.

    >>> row = Estimate("d", "all", "", "s", "b", "excess", -0.1, -0.15, -0.05, 200, 80, 0, 0, 0.5, "x", 1, True, "")
    >>> apart(row)
    's minus b is -10.0 points [-15.0, -5.0] on the same instances (n = 200, 80 clusters)'
    """
    return (
        f"{row.scorer} minus {row.against} is {100 * row.value:+.1f} points [{100 * row.low:.1f}, "
        f"{100 * row.high:.1f}] on the same instances (n = {row.n:,}, {row.n_clusters:,} clusters)"
    )


def farthest(rows: Sequence[Estimate]) -> Estimate:
    """Return the row farthest from chance; for a description only, since its interval does not know of the choice."""
    return max(rows, key=lambda row: (abs(row.value - row.chance), row.scorer))


def below(evidence: Evidence, alpha: float) -> list[Estimate]:
    """Return the models that are below a zero-shot baseline which is itself above chance, lowest first."""
    above = {row.scorer for row in evidence.blind if differs(row, alpha) and row.value > row.chance}
    found = [row for row in evidence.excess if row.value < 0 and differs(row, alpha) and row.against in above]
    return sorted(found, key=lambda row: row.value)


def _largest(rows: Sequence[Estimate]) -> float:
    """Return the largest value, NaN if there is none or one is not known."""
    values = [row.value for row in rows]
    return max(values) if values and all(isfinite(value) for value in values) else nan


def _decide(evidence: Evidence, at: Thresholds) -> tuple[Level, str, list[str]]:
    for level, least in (("compromised", at.compromised), ("weakened", at.weakened)):
        away = [row for row in evidence.blind if lies_away(row, least, at.alpha)]
        under = below(evidence, at.alpha) if level == "compromised" else []
        if away or under:
            chosen: Level = "compromised" if level == "compromised" else "weakened"
            names = [*(row.scorer for row in away), *(row.scorer for row in under)]
            return chosen, _harmed(away, under, least, len(evidence.blind)), list(dict.fromkeys(names))
    trained = [row for row in evidence.trained if lies_away(row, at.weakened, at.alpha)]
    if trained:
        return "trained-text warning", _trained(trained, evidence, at), [row.scorer for row in trained]
    if not evidence.blind:
        return "undecided", "No zero-shot blind baseline that can differ from chance was run.", []
    largest = _largest(evidence.visible)
    if not largest <= at.compromised:
        return "undecided", _too_small(largest, evidence, at), [row.scorer for row in evidence.blind]
    return "no shortcut found", _nothing(largest, evidence, at), [row.scorer for row in evidence.blind]


def _harmed(away: Sequence[Estimate], under: Sequence[Estimate], least: float, number: int) -> str:
    """Say which baselines lie away from chance and which models are below one."""
    said = []
    if away:
        named = "" if len(away) == 1 else "; named as a description is the farthest"
        said.append(
            f"{len(away)} of {number} zero-shot blind baselines {'lies' if len(away) == 1 else 'lie'} at least "
            f"{points(least)} from chance, after correction over the family{named}: {reached(farthest(away))}."
        )
    if under:
        named = "" if len(under) == 1 else f" ({len(under)} such pairs; the largest difference is named)"
        said.append(
            f"A model under audit is below a zero-shot blind baseline that is above chance{named}: {apart(under[0])}."
        )
    return " ".join(said)


def _trained(trained: Sequence[Estimate], evidence: Evidence, at: Thresholds) -> str:
    named = "" if len(trained) == 1 else ", as a description the farthest of them"
    nothing = (
        f"none of {len(evidence.blind)} zero-shot blind baselines lies so far"
        if evidence.blind
        else "no zero-shot blind baseline that can differ from chance was run"
    )
    return (
        f"Only what was trained on this benchmark's own folds lies at least {points(at.weakened)} from chance{named}: "
        f"{reached(farthest(trained))}; {nothing}. It shows what the captions or images give away to a learner, not "
        f"that a model which was not trained on them uses it."
    )


def _too_small(largest: float, evidence: Evidence, at: Thresholds) -> str:
    seen = (
        f"only from {points(largest)} on would the least sensitive test have seen a shortcut"
        if isfinite(largest)
        else "with so few clusters the family's tests cannot reject anything"
    )
    return (
        f"Too small to see {points(at.compromised)} with power {at.power:g}: {seen} "
        f"({len(evidence.blind)} zero-shot blind baselines)."
    )


def _nothing(largest: float, evidence: Evidence, at: Thresholds) -> str:
    number = len(evidence.blind)
    words = (
        f"No shortcut larger than {points(largest)} was found with {number} zero-shot blind "
        f"baseline{'s' if number > 1 else ''}: from there on each would have been seen with power {at.power:g} at the "
        f"family's alpha of {at.alpha:g}. Smaller ones are not excluded, nor what these baselines do not look for."
    )
    bound = _largest(evidence.bounds)
    if bound <= at.margin:
        words += f" Each lies within {points(at.margin)} of chance (two one-sided tests at {at.alpha:g} each)."
    return words
