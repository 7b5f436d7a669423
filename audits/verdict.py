"""The default verdict: what is concluded of each subset and of all instances, from rows and thresholds alone.

| level | rule, the first that holds |
|---|---|
| compromised | a zero-shot blind baseline lies at least `compromised` from chance, or an able model is below one |
| weakened | a zero-shot blind baseline lies at least `weakened` from chance |
| trained-text warning | of what ran, a baseline trained on the benchmark's own folds alone is shown to lie so far |
| undecided | a shortcut of size `compromised` would not have been seen, or no zero-shot baseline could differ |
| none larger found | otherwise: no shortcut larger than a stated size was found |

A baseline *lies at least x from chance* if the whole of its primary interval does and its p-value, adjusted over the
family, is at most alpha: with many baselines some unadjusted interval always does. Below chance counts as above: the
opposite choice exploits it. A model is *below* a baseline if the paired difference is negative, its interval excludes 0
and its adjusted p-value is at most alpha. The baseline must be above chance itself, and so must the model, on at least
half of the instances: a model that fails says nothing of its benchmark. The stated size of the last level is never less
than the distance from which each baseline would have been seen, nor than the far end of any of their intervals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan
from typing import Any, NamedTuple

from audits.compared import repeated
from audits.evidence import below, cue, cues, differs, farthest, lies_away, one_of_each
from audits.statistics.layout import Layout, slices
from audits.wording import apart, points, reached
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
        models: Models, on the metrics by which baselines face them.
        excess: Models against zero-shot baselines.
        visible: Smallest visible distance of each zero-shot baseline, NaN where none can be seen.
        bounds: Equivalence bound of each zero-shot baseline.
        idle: Rows of zero-shot baselines that are in no test.
    """

    blind: list[Estimate]
    trained: list[Estimate]
    models: list[Estimate]
    excess: list[Estimate]
    visible: list[Estimate]
    bounds: list[Estimate]
    idle: list[Estimate]

    @property
    def number(self) -> int:
        """Return how many zero-shot baselines were tested, a cue in both directions counted once."""
        return cues(row.scorer for row in self.blind)


def verdicts(
    rows: Sequence[Estimate],
    kinds: Mapping[str, Kind],
    where: Layout,
    thresholds: Thresholds,
    *,
    texts: Sequence[int] = (),
) -> list[VerdictFacts]:
    """Conclude on every subset and on all instances.

    Args:
        rows: Headline rows with their adjusted p-values, and the rows of `contrast`.
        kinds: Kind of each contestant column.
        where: Labels of the instances.
        thresholds: What to go by.
        texts: Code of each instance's captions, or none.

    Returns:
        One verdict for each subset in order, then one for `all`.

    Source: ours.
    """
    cut = slices(where)
    found = []
    for part in [*cut.subsets, *cut.rest, cut.pooled]:
        evidence = gather(rows, kinds, part.subset)
        level, sentence, by = _decide(evidence, thresholds)
        clusters = {where.clusters[row] for row in part.rows.tolist()}
        largest, bound = _largest(evidence.visible), _bound(evidence)
        verdict: VerdictFacts = {
            "subset": part.subset,
            "level": level,
            "sentence": sentence + _repeated([texts[row] for row in part.rows.tolist()] if texts else []),
            "by": by,
            "smallest_visible": largest if isfinite(largest) else None,
            "not_larger_than": bound if level == "none larger found" else None,
            "n": len(part.rows),
            "n_clusters": len(clusters),
        }
        found.append(verdict)
    return found


def gather(rows: Iterable[Estimate], kinds: Mapping[str, Kind], subset: str) -> Evidence:
    """Return the rows of one subset by what they are evidence of."""
    found = Evidence([], [], [], [], [], [], [])
    own: dict[Kind, list[Estimate]] = {"blind": found.blind, "trained": found.trained, "model": found.models}
    by_metric = {"excess": found.excess, "smallest_visible": found.visible, "equivalence_bound": found.bounds}
    for row in rows:
        if row.subset != subset or row.tag or not row.primary:
            continue
        kind = kinds.get(row.scorer)
        zero_shot = (kind if not row.against else kinds.get(row.against)) == "blind"
        if row.metric in by_metric and zero_shot:
            by_metric[row.metric].append(row)
        elif not row.against and isfinite(row.p) and kind is not None:
            own[kind].append(row)
        elif not row.against and kind == "blind":
            found.idle.append(row)
    tested = {row.scorer for row in found.blind}
    return found._replace(idle=[row for row in found.idle if row.scorer not in tested])


def _largest(rows: Sequence[Estimate]) -> float:
    """Return the largest value, NaN if there is none or one is not known."""
    values = [row.value for row in rows]
    return max(values) if values and all(isfinite(value) for value in values) else nan


def _repeated(texts: Sequence[int]) -> str:
    """Say how few captions the instances have, where they are often the same."""
    if not repeated(texts):
        return ""
    number = len(set(texts))
    return (
        f" The {len(texts):,} instances have only {number:,} distinct set{'' if number == 1 else 's'} of captions: "
        f"to a scorer that sees only text, instances with the same captions are one piece of evidence."
    )


def _bound(evidence: Evidence) -> float:
    """Return the size that no shortcut is said to exceed: what each test would have seen, and no interval reaches."""
    ends = [max(abs(row.low - row.chance), abs(row.high - row.chance)) for row in evidence.blind]
    return max(_largest(evidence.visible), *ends) if evidence.blind else nan


def _decide(evidence: Evidence, at: Thresholds) -> tuple[Level, str, list[str]]:
    for level, least in (("compromised", at.compromised), ("weakened", at.weakened)):
        away = one_of_each([row for row in evidence.blind if lies_away(row, least, at.alpha)])
        under: list[Estimate] = []
        if level == "compromised":
            under = below(evidence.excess, evidence.blind, evidence.models, at.alpha)
        if away or under:
            chosen: Level = "compromised" if level == "compromised" else "weakened"
            names = [*(row.scorer for row in away), *(row.scorer for row in under)]
            return chosen, _harmed(away, under, least, evidence.number), list(dict.fromkeys(names))
    trained = [row for row in evidence.trained if lies_away(row, at.weakened, at.alpha, trained=True)]
    if trained:
        return "trained-text warning", _trained(trained, evidence, at), [row.scorer for row in trained]
    if not evidence.blind:
        return "undecided", _none_tested(evidence), []
    by = [row.scorer for row in one_of_each(evidence.blind)]
    if not _largest(evidence.visible) <= at.compromised:
        return "undecided", _too_small(evidence, at) + _slight(evidence, at), by
    return "none larger found", _nothing(evidence, at) + _slight(evidence, at), by


def _harmed(away: Sequence[Estimate], under: Sequence[Estimate], least: float, number: int) -> str:
    """Say which baselines lie away from chance and which models are below one."""
    said = []
    if away:
        named = "" if len(away) == 1 else "; named as a description is the farthest"
        said.append(
            f"{len(away)} of {plural(number)} {'lies' if len(away) == 1 else 'lie'} at least {points(least)} from "
            f"chance, after correction over the family{named}: {reached(away[0])}."
        )
    if under:
        pairs = len({(row.scorer, cue(row.against)) for row in under})
        named = "" if pairs == 1 else f" ({pairs} such pairs; the largest difference is named)"
        said.append(
            f"A model under audit, above chance itself, is below a zero-shot blind baseline that is above chance"
            f"{named}: {apart(under[0])}."
        )
    return " ".join(said)


def plural(number: int) -> str:
    """Return a number of baselines in words.

    >>> plural(1), plural(3)
    ('1 zero-shot blind baseline', '3 zero-shot blind baselines')
    """
    return f"{number} zero-shot blind baseline{'' if number == 1 else 's'}"


def _none_tested(evidence: Evidence) -> str:
    """Say why nothing zero-shot could be tested: nothing ran, nothing was scored, or everything tied."""
    number = cues(row.scorer for row in evidence.idle)
    if not number:
        return "No zero-shot blind baseline was run."
    told = "could only tie on these data" if any(row.n for row in evidence.idle) else "scored none of the instances"
    return f"{plural(number)} ran, and {told}: whether there is a shortcut is not known from that."


def _trained(trained: Sequence[Estimate], evidence: Evidence, at: Thresholds) -> str:
    named = "" if len(trained) == 1 else ", as a description the farthest of them"
    largest = _largest(evidence.visible)
    if not evidence.blind:
        nothing = f"nothing zero-shot was tested: {_none_tested(evidence)}"
    elif largest <= at.compromised:
        nothing = (
            f"none of {plural(evidence.number)} is shown to lie so far; each would have been seen, with power "
            f"{at.power:g}, from {points(largest)} on, and less is not excluded."
        )
    else:
        nothing = f"the zero-shot part is undecided. {_too_small(evidence, at)}"
    return (
        f"A baseline trained on this benchmark's own folds lies at least {points(at.weakened)} from chance{named}: "
        f"{reached(farthest(trained))}; {nothing}{_slight(evidence, at)} Training shows what the captions or images "
        f"give away to a learner, not that a model which was not trained on them uses it."
    )


def _too_small(evidence: Evidence, at: Thresholds) -> str:
    largest = _largest(evidence.visible)
    seen = (
        f"only from {points(largest)} on would the least sensitive test have seen a shortcut"
        if isfinite(largest)
        else "nothing at all could have been seen in the least sensitive test, so few clusters are there or decided"
    )
    return f"Too small to see {points(at.compromised)} with power {at.power:g}: {seen} ({plural(evidence.number)})."


def _slight(evidence: Evidence, at: Thresholds) -> str:
    """Say which baselines are off chance without being shown to lie as far from it as any level asks."""
    off = one_of_each([row for row in evidence.blind if differs(row, at.alpha)])
    if not off:
        return ""
    named = "" if len(off) == 1 else "; named as a description is the farthest"
    return (
        f" {len(off)} of {plural(evidence.number)} {'is' if len(off) == 1 else 'are'} off chance after correction over "
        f"the family, but not shown to lie {points(at.weakened)} from it{named}: {reached(off[0])}."
    )


def _nothing(evidence: Evidence, at: Thresholds) -> str:
    largest, bound = _largest(evidence.visible), _bound(evidence)
    ends = "" if bound <= largest else f", and the farthest end of their intervals lies {points(bound)} from chance"
    words = (
        f"No shortcut larger than {points(bound)} was found with {plural(evidence.number)}: from {points(largest)} on "
        f"each would have been seen with power {at.power:g} at the family's alpha of {at.alpha:g}{ends}. Smaller ones "
        f"are not excluded, nor what these baselines do not look for."
    )
    within = _largest(evidence.bounds)
    if within <= at.margin:
        words += f" Each lies within {points(at.margin)} of chance (two one-sided tests at {at.alpha:g} each)."
    return words
