"""The two records that reports are made of: `Estimate` and `Finding`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["info", "notice", "warning"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Hold one number with everything that it needs to travel: one row of `metrics.csv`.

    Attributes:
        benchmark: Registry name.
        subset: A subset's name, `all` (pooled = micro) or `macro` (mean of the subsets).
        tag: Empty or `name=value`.
        scorer: Contestant and column (`likelihood:SmolLM2-135M-Instruct:norm`).
        against: The other contestant of a comparison, or empty.
        metric: `accuracy`, `i2t`, `group`, `caption_preference`, ...
        value: Proportion 0 to 1 unless the metric says otherwise; NaN if undefined.
        low: Lower bound of the interval, NaN if undefined.
        high: Upper bound.
        n: Instances that entered.
        n_clusters: Clusters that they form.
        ties: Instances decided by a tie.
        unscored: Instances left out because a score was missing.
        chance: Value of an exchangeable scorer under the tie rule, NaN where there is none.
        method: Of the interval (`wilson`, `cluster bootstrap (B=10000)`, `sign-flip by cluster`, ...).
        seed: Of the resampling, or -1 where nothing was drawn.
        primary: Whether this interval drives statements; two intervals of one estimate are two rows.
        signature: Short form.
    """

    benchmark: str
    subset: str
    tag: str
    scorer: str
    against: str
    metric: str
    value: float
    low: float
    high: float
    n: int
    n_clusters: int
    ties: int
    unscored: int
    chance: float
    method: str
    seed: int
    primary: bool
    signature: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold one thing that was looked for, what was measured, and where to look.

    Attributes:
        kind: What was looked for, as an identifier (`missing_images`, `duplicate_captions`).
        severity: `info`, `notice` or `warning`, under the thresholds of `conf/`.
        sentence: What was measured, and no more.
        subset: Where, or empty for the whole benchmark.
        instances: Ids to look at, the worst first.
        values: Numbers by name.
    """

    kind: str
    severity: Severity
    sentence: str
    subset: str = ""
    instances: tuple[str, ...] = ()
    values: Mapping[str, float | int | str] = field(default_factory=dict)
