"""Two contestants on the same instances: paired differences, and one split by the outcome of the other.

Both are brought to the scale 0 to 1, where every interval was calibrated (`primary`), and mapped back: a difference d
as (1 + d) / 2; the gap between two groups of rows as the mean of the first group's credit and the second group's lack
of it, which is (1 + gap) / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from audits.statistics.families import McNemar, mcnemar
from audits.statistics.intervals import Interval, critical_z
from audits.statistics.outcomes import Outcome
from audits.statistics.primary import Sample, macro, pooled
from audits.statistics.sums import Floats, Ints

Part = Literal["easy", "tie", "hard"]
PARTS: tuple[Part, ...] = ("easy", "tie", "hard")


def difference(first: Outcome, second: Outcome) -> Floats:
    """Return credit minus credit, float64 [n]; NaN where either has none.

    >>> yes, no = np.array([1.0, 1.0]), np.array([False, False])
    >>> one = Outcome("accuracy", yes, no, no, yes / 2)
    >>> difference(one, Outcome("accuracy", np.array([0.0, float("nan")]), no, no, yes / 2))
    array([ 1., nan])
    """
    found: Floats = first.credit - second.credit
    return found


def difference_sample(values: Floats, clusters: Ints, subsets: Sequence[Ints] = ()) -> Sample:
    """Return the sample of a mean of differences of -1 to 1, on the scale 0 to 1.

    Args:
        values: Float64 [n], NaN where a row does not enter.
        clusters: Code of each row's cluster, int64 [n].
        subsets: Rows of each subset for the mean of the subset values; none for the pooled mean.

    >>> difference_sample(np.array([1.0, -1.0, 0.0]), np.arange(3)).whole.value
    0.5
    """
    shifted = (1 + values) / 2
    return macro(shifted, clusters, subsets) if subsets else pooled(shifted, clusters)


def gap_sample(credit: Floats, clusters: Ints, easy: Ints, hard: Ints) -> Sample:
    """Return the sample of a mean over easy rows minus a mean over hard rows, on the scale 0 to 1.

    Args:
        credit: Float64 [n].
        clusters: Code of each row's cluster, int64 [n].
        easy: Rows of the first group, at least one with a credit.
        hard: Rows of the second group, at least one with a credit; no row is in both.

    The gap of the example is 1 - 1/2:

    >>> gap_sample(np.array([1.0, 1.0, 0.0, 1.0]), np.arange(4), np.array([0, 1]), np.array([2, 3])).whole.value
    0.75
    """
    turned = credit.copy()
    turned[hard] = 1 - credit[hard]
    return macro(turned, clusters, [easy, hard])


def unshifted(interval: Interval, sample: Sample, *, confidence: float = 0.95) -> Interval:
    """Return an interval on the scale 0 to 1 as one of differences.

    Where no instance differs there is no variance to go by; what is known is that the share that does is at most
    z^2 / (c + z^2), the upper end of Wilson's interval for 0 of c clusters, and the difference is no larger.

    Args:
        interval: Of the sample.
        sample: Of `difference_sample` or `gap_sample`.
        confidence: Nominal coverage.

    >>> same = difference_sample(np.zeros(30), np.arange(30))
    >>> round(unshifted(Interval(0.3, 0.7, "x"), same).high, 4)
    0.1135
    """
    whole = sample.whole
    if sample.n >= 2 and len(sample.parts) == 1 and bool(np.all(whole.sums == whole.counts / 2)):
        share = critical_z(confidence) ** 2 / (whole.n_clusters + critical_z(confidence) ** 2)
        if all(side.column.sums.max(initial=0.0) == 0 for side in sample.split[0]):
            return Interval(-share, share, "wilson at n = clusters, of the share that differs (none does)")
    return Interval(2 * interval.low - 1, 2 * interval.high - 1, interval.method, interval.seed)


def split(judge: Outcome, rows: NDArray[np.int64]) -> dict[Part, NDArray[np.int64]]:
    """Return the rows where the judge is right, tied or wrong; a credit between 0 and 1 without a tie counts as tied.

    Args:
        judge: Outcome of a blind baseline.
        rows: The instances to split.

    >>> credit, tie = np.array([1.0, 0.5, 0.0, float("nan")]), np.array([False, True, False, False])
    >>> found = split(Outcome("accuracy", credit, tie, np.isnan(credit), np.full(4, 0.5)), np.arange(4))
    >>> {name: rows.tolist() for name, rows in found.items()}
    {'easy': [0], 'tie': [1], 'hard': [2]}
    """
    credit, tie = judge.credit[rows], judge.tie[rows]
    easy, hard = (credit == 1) & ~tie, (credit == 0) & ~tie
    return {"easy": rows[easy], "tie": rows[~easy & ~hard & ~np.isnan(credit)], "hard": rows[hard]}


class Exact(NamedTuple):
    """Hold McNemar's test beside its interval: that of the difference given how many instances differ."""

    test: McNemar
    interval: Interval


def exact(values: Floats, clusters: Ints, *, confidence: float = 0.95) -> Exact | None:
    """Return McNemar's exact test where every cluster is a single instance and nothing is half right, else None.

    With b and c the instances that only one side has right, the interval is that of Clopper and Pearson for
    b / (b + c), turned into (b - c) / n: it takes b + c as given.

    Args:
        values: Differences, float64 [n], NaN where a row does not enter.
        clusters: Code of each row's cluster, int64 [n].
        confidence: Nominal coverage.

    Source: mcnemar1947; clopper1934.

    >>> found = exact(np.array([1.0, 1, 1, 0, -1]), np.arange(5))
    >>> found.test.p, [round(bound, 3) for bound in found.interval[:2]]
    (0.625, [-0.489, 0.79])
    """
    kept = ~np.isnan(values)
    n = int(kept.sum())
    if n < 2 or len(np.unique(clusters[kept])) < n or not np.isin(values[kept], (-1.0, 0.0, 1.0)).all():
        return None
    test, tail = mcnemar(values), (1 - confidence) / 2
    b, c = test.first, test.second
    low = float(beta.ppf(tail, b, c + 1)) if b else 0.0
    high = float(beta.ppf(1 - tail, b + 1, c)) if c else 1.0
    scale = (b + c) / n
    return Exact(test, Interval((2 * low - 1) * scale, (2 * high - 1) * scale, "mcnemar exact"))
