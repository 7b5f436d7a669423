"""What may be said of each model and of the baselines as a whole: findings, each with its interval and its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from audits.beaten import beaten
from audits.evidence import Rows
from audits.statistics.layout import POOLED
from audits.verdict import Thresholds, apart, differs, farthest, percent, reached
from reports.schema import Estimate, Finding, Kind

WORDS: Mapping[Kind, str] = {
    "blind": "zero-shot blind baselines",
    "trained": "baselines trained on the benchmark's own folds",
}
NAMES: Mapping[Kind, str] = {"blind": "zero_shot_baseline", "trained": "trained_baseline"}
_DIAGNOSTIC = " Training on the benchmark is a diagnostic of what it gives away: below such a baseline is not blind."


def claims(rows: Sequence[Estimate], kinds: Mapping[str, Kind], thresholds: Thresholds) -> list[Finding]:
    """Return the findings of a contrast, zero-shot and trained baselines apart.

    Args:
        rows: Headline rows with adjusted p-values, and the rows of `contrast`.
        kinds: Kind of each contestant column.
        thresholds: What to go by.

    Source: ours.
    """
    of = Rows([row for row in rows if row.primary and not row.tag], kinds)
    found: list[Finding] = []
    models = [name for name, kind in kinds.items() if kind == "model"]
    kinds_of_baseline: tuple[Kind, ...] = ("blind", "trained")
    for kind in kinds_of_baseline:
        found += _against_chance(of, kind, thresholds)
        for model in models:
            found += _above_every(of, kind, model)
            found += _below_some(of, kind, model, thresholds)
    for model in models:
        found += beaten(of, model, thresholds.alpha)
        found += _associated(of, model)
        found += _two_images(of, model)
    return found


def _against_chance(of: Rows, kind: Kind, at: Thresholds) -> Iterator[Finding]:
    """Yield, where some baseline is above (or below) chance, which; and once if none is."""
    hits = {subset: [row for row in of.chance(kind, subset) if differs(row, at.alpha)] for subset in of.subsets}
    pooled = of.chance(kind, POOLED)
    if pooled and not any(hits.values()):
        yield Finding(
            f"no_{NAMES[kind]}_off_chance",
            "info",
            f"None of {len(pooled)} {WORDS[kind]} differs from chance on any subset or on all instances at a "
            f"family-wise level of {at.alpha:g}. That does not show that there is no shortcut.",
            values={"baselines": len(pooled)},
        )
    for subset, rows in hits.items():
        if rows:
            above = sum(row.value > row.chance for row in rows)
            yield Finding(
                f"some_{NAMES[kind]}_off_chance",
                "notice" if kind == "blind" else "info",
                f"{above} of {len(of.chance(kind, subset))} {WORDS[kind]} {'is' if above == 1 else 'are'} above chance "
                f"and {len(rows) - above} below it at a family-wise level of {at.alpha:g}. Named as a description, the "
                f"farthest: {reached(farthest(rows))}.",
                subset="" if subset == POOLED else subset,
                values={"above": above, "below": len(rows) - above, "baselines": len(of.chance(kind, subset))},
            )


def _above_every(of: Rows, kind: Kind, model: str) -> Iterator[Finding]:
    """Yield whether every paired lower bound of a model is above 0 on all instances, and on which subsets it is."""
    rows = of.paired("excess", kind, model, POOLED)
    if not rows:
        return
    lowest = min(rows, key=lambda row: row.low)
    short = [row for row in rows if not row.low > 0]
    clear = [
        subset
        for subset in of.subsets[:-1]
        if all(row.low > 0 for row in of.paired("excess", kind, model, subset))
        and of.paired("excess", kind, model, subset)
    ]
    number = len(rows)
    where = f" It holds by subset on {', '.join(clear) if clear else 'none'}." if len(of.subsets) > 1 else ""
    if short:
        text = (
            f"{model} is not shown to be above every one of {number} {WORDS[kind]}: {len(short)} paired "
            f"{'interval does' if len(short) == 1 else 'intervals do'} not lie above 0. The lowest: {apart(lowest)}."
        )
    else:
        text = (
            f"{model} is above every one of {number} {WORDS[kind]} that were run: every paired interval lies above 0. "
            f"The lowest: {apart(lowest)}."
        )
    yield Finding(
        f"above_every_{NAMES[kind]}" if not short else f"not_above_every_{NAMES[kind]}",
        "notice" if short and kind == "blind" else "info",
        text + where,
        values={"model": model, "baselines": number, "not_above": len(short), "lowest_bound": lowest.low},
    )


def _below_some(of: Rows, kind: Kind, model: str, at: Thresholds) -> Iterator[Finding]:
    """Yield where a model is below some baseline, corrected over the family."""
    for subset in of.subsets:
        under = [row for row in of.paired("excess", kind, model, subset) if row.value < 0 and differs(row, at.alpha)]
        if under:
            lowest = min(under, key=lambda row: (row.value, row.against))
            yield Finding(
                f"below_some_{NAMES[kind]}",
                "warning" if kind == "blind" else "info",
                f"{model} is below {len(under)} of the {WORDS[kind]} at a family-wise level of {at.alpha:g}. Named as "
                f"a description, the largest difference: {apart(lowest)}." + (_DIAGNOSTIC if kind == "trained" else ""),
                subset="" if subset == POOLED else subset,
                values={"model": model, "below": len(under), "difference": lowest.value},
            )


def _associated(of: Rows, model: str) -> Iterator[Finding]:
    """Yield with which baselines' successes a model's accuracy is associated, on all instances."""
    gaps = of.paired("easy_hard_gap", "blind", model, POOLED)
    apart_from_0 = [row for row in gaps if row.low > 0 or row.high < 0]
    if not apart_from_0:
        return
    row = max(apart_from_0, key=lambda one: (abs(one.value), one.against))
    easy, hard = (
        next((one for one in of.paired(metric, "blind", model, POOLED) if one.against == row.against), None)
        for metric in ("accuracy_easy", "accuracy_hard")
    )
    both = (
        f": {percent(easy.value)} where it is right, {percent(hard.value)} where it is wrong" if easy and hard else ""
    )
    yield Finding(
        "associated_with_baseline",
        "info",
        f"The accuracy of {model} is associated with whether a zero-shot blind baseline is right, for "
        f"{len(apart_from_0)} of {len(gaps)} of them (unadjusted intervals of the gap exclude 0). Named as a "
        f"description, the largest: {row.against}{both}, a gap of {100 * row.value:+.1f} points "
        f"[{100 * row.low:.1f}, {100 * row.high:.1f}] (n = {row.n:,}, {row.n_clusters:,} clusters). Instances that are "
        f"hard for both make such gaps too." + _share(of, model, row.against),
        values={"model": model, "baseline": row.against, "gap": row.value, "baselines": len(apart_from_0)},
    )


def _share(of: Rows, model: str, baseline: str) -> str:
    """Return how much of the model's score above chance a baseline reaches, where that score is clearly above 0."""
    ours = [row for row in of.chance("model", POOLED) if row.scorer == model and row.low > row.chance]
    theirs = [row for row in of.chance("blind", POOLED) if row.scorer == baseline]
    shares = [row for row in of.paired("share_of_above_chance", "blind", model, POOLED) if row.against == baseline]
    if len(ours) != 1 or not theirs or not shares or theirs[0].value <= theirs[0].chance:
        return ""
    [part] = shares
    return (
        f" It reaches {percent(theirs[0].value)} and {model} {percent(ours[0].value)}: {100 * part.value:.0f} % "
        f"[{100 * part.low:.0f}, {100 * part.high:.0f}] of the model's score above chance, on the same instances."
    )


_SIGNS: Mapping[tuple[bool, bool], str] = {
    (True, False): "the pattern of a prior for one caption, whichever image is shown",
    (True, True): "the pattern of matching by provenance: base with base, foil with foil",
}


def _two_images(of: Rows, model: str) -> Iterator[Finding]:
    """Yield the two-image signature: gaps at the base and at the foil side that both exclude 0."""
    at_foil = {row.against: row for row in of.paired("easy_hard_gap_foil", "blind", model, POOLED)}
    signs: dict[tuple[bool, bool], list[tuple[Estimate, Estimate]]] = {}
    for base in of.paired("easy_hard_gap_base", "blind", model, POOLED):
        foil = at_foil.get(base.against)
        if foil is not None and base.low > 0 and (foil.low > 0 or foil.high < 0):
            signs.setdefault((True, foil.low > 0), []).append((base, foil))
    for sign, pairs in signs.items():
        base, foil = max(pairs, key=lambda pair: (pair[0].value, pair[0].against))
        yield Finding(
            "two_image_signature",
            "info",
            f"Where zero-shot blind baselines are right, {model} is right more often at the base side and "
            f"{'more' if sign[1] else 'less'} often at the foil side ({len(pairs)} of {len(at_foil)} baselines, "
            f"unadjusted intervals exclude 0), {_SIGNS[sign]}. Named as a description, {base.against}: gaps of "
            f"{100 * base.value:+.1f} [{100 * base.low:.1f}, {100 * base.high:.1f}] and {100 * foil.value:+.1f} "
            f"[{100 * foil.low:.1f}, {100 * foil.high:.1f}] points (n = {base.n:,}, {base.n_clusters:,} clusters).",
            values={"model": model, "baseline": base.against, "base": base.value, "foil": foil.value},
        )
