"""What reports are made of: `Estimate`, `Finding`, and the typed content of `record.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any, Literal, NotRequired, TypedDict

Severity = Literal["info", "notice", "warning"]
Kind = Literal["blind", "trained", "model"]
Level = Literal["compromised", "weakened", "trained-text warning", "no shortcut found", "undecided"]


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
        p: Two-sided p-value adjusted over the family that the report declares, NaN where the estimate is in none.
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
    p: float = nan


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


class Coverage(TypedDict):
    """Count the instances whose images are there.

    Keys: `needed` whether a selected contestant or probe needs images; `expected` instances before any was left out;
    `present` instances with every image; `missing` ids of the others.
    """

    needed: bool
    expected: int
    present: int
    missing: list[str]


class BenchmarkFacts(TypedDict):
    """Say what was evaluated.

    Keys: `name` registry name; `card` and `provenance` as plain dictionaries; `digest` of the instances' content; `n`
    instances; `n_by_subset`; `expected` by subset, from the card; `coverage`; `shapes` instances by shape (`1x2`).
    """

    name: str
    card: dict[str, Any]
    provenance: dict[str, Any]
    digest: str
    n: int
    n_by_subset: dict[str, int]
    expected: dict[str, int]
    coverage: Coverage
    shapes: dict[str, int]


class CacheCounts(TypedDict):
    """Count measurements: found in the cache, computed anew, and how often a batch was halved for memory."""

    hits: int
    computed: int
    reductions: int


class ContestantFacts(TypedDict):
    """Say who scored, from what, and at what cost.

    Keys: `kind`: `blind` (a zero-shot baseline), `trained` (on the benchmark's own folds) or `model`; `sees` a list of
    `text`, `image`; `columns` as the scorer declares them; `signature` the long form; `short` the short form;
    `seconds`; `cache`; `truncated` captions that were cut; `unscored` instances; `facts` that the scorer gave of how it
    went, by name; `reasons` the commonest reasons for what is unscored, each with the number of instances that have it
    (older records lack both).
    """

    kind: Kind
    sees: list[str]
    columns: list[str]
    signature: dict[str, str]
    short: str
    seconds: float
    cache: CacheCounts
    truncated: int
    unscored: int
    facts: NotRequired[dict[str, str | int]]
    reasons: NotRequired[dict[str, int]]


class StatisticsFacts(TypedDict):
    """Say how intervals were made: bootstrap draws, seed, level as a proportion."""

    bootstrap: int
    seed: int
    level: float


class VerdictFacts(TypedDict):
    """Say what is concluded of one subset, or of all instances (`all`), under the thresholds of `conf/verdict`.

    Keys: `subset`; `level`; `sentence`, which claims what was measured and no more; `by` the contestants that decide;
    `smallest_visible` distance from chance, as a proportion, that a shortcut needs to be seen with power .8 at the
    family's alpha; `n` and `n_clusters` of the subset.
    """

    subset: str
    level: Level
    sentence: str
    by: list[str]
    smallest_visible: float | None
    n: int
    n_clusters: int


class FamilyFacts(TypedDict):
    """Say over what p-values are adjusted.

    Keys: `size` tests in the family; `method`; `alpha`; `what` it holds, in words.
    """

    size: int
    method: str
    alpha: float
    what: str


class Record(TypedDict):
    """Hold the content of `record.json`.

    `format`, `status` and `config_digest` are set by the run folder whatever the caller gives. `command` repeats the
    run when it is pasted into a shell. `verdicts`, `family` and `thresholds` say what is concluded and by which rule.
    """

    format: int
    status: str
    started: str
    finished: str
    config: dict[str, Any]
    config_digest: str
    versions: dict[str, str]
    git: dict[str, Any] | None
    benchmark: BenchmarkFacts
    contestants: dict[str, ContestantFacts]
    statistics: StatisticsFacts
    timings: dict[str, float]
    notices: list[str]
    sample: bool
    command: NotRequired[str]
    verdicts: NotRequired[list[VerdictFacts]]
    family: NotRequired[FamilyFacts]
    thresholds: NotRequired[dict[str, Any]]
