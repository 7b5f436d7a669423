"""What is said of a cross-fitted baseline beside its scores: folds, the spread over fold seeds, shuffled gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from audits.crossfit.fits import Fits, Subset
from audits.dataset import Roster
from audits.scoring import Cells
from audits.statistics.outcomes import Outcome, outcomes
from baselines.schema import CrossFitted
from reports.schema import Finding

# One right or wrong per instance, by shape: what "accuracy" means for a contestant that sees one side.
DECISIONS = ("accuracy", "accuracy_mean", "caption_preference", "image_preference", "i2t_mean", "t2i_mean")
LARGE = 0.5
CONFIDENCE = 0.999
"""Of the shuffle check. A warning there means a fault in the folds and no property of the data: it must be rare."""


class Centre(NamedTuple):
    """Hold a mean over fits with its interval, and how many fits there are."""

    value: float
    low: float
    high: float
    fits: int


def credits(cells: Cells, column: str, scorer: CrossFitted, roster: Roster, *, tolerance: float) -> NDArray[np.float64]:
    """Return one right or wrong per instance, float64 [n], NaN where unscored or undefined."""
    found = outcomes(cells.grids(column, roster.shapes), roster.golds, sees=scorer.sees, tolerance=tolerance)
    return _first(found, len(roster.ids))


def _first(found: Mapping[str, Outcome], size: int) -> NDArray[np.float64]:
    credit = np.full(size, np.nan)
    for metric in DECISIONS:
        if metric in found:
            credit = np.where(np.isnan(credit), found[metric].credit, credit)
    return credit


def by_subset(credit: NDArray[np.float64], parts: Sequence[Subset]) -> dict[str, float]:
    """Return the mean of each subset that has a credit, and `macro`, the mean of these, where there are several."""
    inside = {part.name or "all": credit[part.places] for part in parts}
    found = {name: float(np.nanmean(rows)) for name, rows in inside.items() if not np.isnan(rows).all()}
    if len(found) > 1:
        found["macro"] = float(np.mean(list(found.values())))
    return found


def spread(name: str, rounds: Sequence[Mapping[str, float]], *, first: int) -> Finding:
    """Return the finding on how far a baseline moves with the fold seed.

    Args:
        name: Full column name.
        rounds: Accuracy by subset, one mapping per fold seed.
        first: The first fold seed.
    """
    values: dict[str, float | int | str] = {"fold seeds": len(rounds), "first fold seed": first}
    known = [subset for subset in rounds[0] if all(subset in one for one in rounds)]
    for subset in known:
        over = [one[subset] for one in rounds]
        values |= {f"{subset} min": min(over), f"{subset} mean": float(np.mean(over)), f"{subset} max": max(over)}
    widest = max(known, key=lambda one: float(values[f"{one} max"]) - float(values[f"{one} min"]))
    shown = "macro" if "macro" in known else widest
    moved = f"; {widest} moves most, from {_percent(values, widest)}" if widest != shown else ""
    sentence = f"{name}: over {len(rounds)} fold seeds {shown} accuracy goes from {_percent(values, shown)}{moved}."
    return Finding("crossfit_spread", "info", sentence, values=values)


def _percent(values: Mapping[str, float | int | str], subset: str) -> str:
    return f"{float(values[f'{subset} min']):.3f} to {float(values[f'{subset} max']):.3f}"


def pairwise(
    cells: Cells, column: str, scorer: CrossFitted, roster: Roster, *, tolerance: float
) -> NDArray[np.float64]:
    """Return the share of pairs of a fitting and a misfitting option that each instance's scores put right, [n].

    For two options this is the accuracy. For more, a scorer that learned nothing still reaches 1/2 here, whereas its
    accuracy need not be 1/T: if the gold option is always the longest, it is often picked, and as often put last.
    """
    grids = cells.grids(column, roster.shapes)
    found = np.full(len(roster.ids), np.nan)
    for place, gold in enumerate(roster.golds):
        line, fits = (grids[place][0], gold[0]) if "text" in scorer.sees else (grids[place][:, 0], gold[:, 0])
        apart = line[fits][:, None] - line[~fits]
        if apart.size and not np.isnan(apart).any():
            found[place] = float(np.mean((apart > tolerance) + 0.5 * (np.abs(apart) <= tolerance)))
    return found


def centre(credit: NDArray[np.float64], fold: NDArray[np.int64]) -> Centre:
    """Return the mean over fits of each fit's mean credit, with an interval whose unit is the fit.

    All decisions of one fit share its weights: where foils are always longer, a fit to shuffled gold that happens to
    like long captions is wrong nearly everywhere. Instances, and clusters of them, are not independent here; fits,
    each with a shuffle of its own, are. The standard error is at least that of independent coin flips.

    Args:
        credit: Pairwise credit of each instance, float64 [n].
        fold: Number of the fit that scored it, int64 [n]; -1 where none did.
    """
    scored = (fold >= 0) & ~np.isnan(credit)
    fits = np.unique(fold[scored])
    means = np.array([credit[scored & (fold == one)].mean() for one in fits])
    if len(means) < 2:
        return Centre(float("nan"), float("nan"), float("nan"), len(means))
    error = max(float(means.std(ddof=1)) / len(means) ** 0.5, 0.5 / float(scored.sum()) ** 0.5)
    reach = float(student.ppf(0.5 + CONFIDENCE / 2, len(means) - 1)) * error
    value = float(means.mean())
    return Centre(value, max(0.0, value - reach), min(1.0, value + reach), len(means))


def shuffled(name: str, found: Centre) -> Finding:
    """Return the finding on what a baseline reaches when the gold that it learns from is shuffled."""
    outside = not found.low <= 0.5 <= found.high
    ending = "which excludes chance, 0.5: the folds leak, or something else tells the answer" if outside else (
        "which holds chance, 0.5, as it must"
    )  # fmt: skip
    return Finding(
        "crossfit_shuffled",
        "warning" if outside else "info",
        f"{name}: fitted to shuffled gold it puts {found.value:.3f} of the pairs right; {CONFIDENCE:.1%} interval over "
        f"{found.fits} fits {found.low:.3f} to {found.high:.3f}, {ending}.",
        values={"value": found.value, "low": found.low, "high": found.high, "fits": found.fits, "chance": 0.5},
    )


def on_folds(name: str, parts: Sequence[Subset], fits: Fits, *, k: int) -> Iterator[Finding]:
    """Yield a notice for each subset that could not be split as asked for."""
    for part in parts:
        where = f"subset {part.name}" if part.name else "the benchmark"
        largest = max(map(len, part.groups))
        values: dict[str, float | int | str] = {
            "groups": len(part.groups), "folds": fits.counts[part.name], "largest group": largest, "n": len(part.places)
        }  # fmt: skip
        if part.name in fits.problems:
            said = f"{name}: {where} is unscored; it {fits.problems[part.name]}."
        elif fits.counts[part.name] < k:
            said = f"{name}: {where} has {len(part.groups)} connected groups, so {len(part.groups)} folds, not {k}."
        elif largest > LARGE * len(part.places):
            said = (
                f"{name}: in {where} {largest} of {len(part.places)} instances are connected through images or "
                "captions and lie in one fold, so what is said of them was learned from few."
            )
        else:
            continue
        yield Finding("crossfit_folds", "notice", said, subset=part.name, values=values)
