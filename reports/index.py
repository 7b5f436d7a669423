"""Find estimates by what they are about, and know what each measure is called and counted in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from reports.schema import ContestantFacts, Estimate, Kind, Record
from reports.text import bounds, decimal, percent

Unit = Literal["%", "points", ""]
POOLED, MACRO = "all", "macro"
KINDS: tuple[Kind, ...] = ("blind", "trained", "model")
SANITY = "constant"
# Both directions of one cue: the second name of each pair is the first one turned round.
OPPOSITE = {
    **{"more": "fewer", "fewer": "more", "longer": "shorter", "shorter": "longer", "larger": "smaller"},
    **{"smaller": "larger", "higher": "lower", "lower": "higher", "first": "last", "last": "first"},
}


class Measure(NamedTuple):
    """Say what a metric is called, what it is counted in, and whether seeing one side alone fixes its value."""

    title: str
    unit: Unit = "%"
    fixed: float | None = None


MEASURES = {
    "accuracy": Measure("accuracy"),
    "caption_preference": Measure("caption preference"),
    "image_preference": Measure("image preference"),
    "i2t": Measure("I2T", fixed=0.0),
    "t2i": Measure("T2I", fixed=0.0),
    "group": Measure("Group", fixed=0.0),
    "group_match": Measure("GroupMatch", fixed=0.5),
    "i2t_consistent": Measure("I2T consistent", fixed=0.0),
    "t2i_consistent": Measure("T2I consistent", fixed=0.0),
    "group_consistent": Measure("Group consistent", fixed=0.0),
    "excess": Measure("excess", "points"),
    "lik_diff": Measure("Lik-Diff (nats)", ""),
    "sensitivity": Measure("sensitivity (d)", ""),
    # Upstream's own: a scorer that sees one side gives both questions of such a pair the same answer.
    "pair_accuracy": Measure("pair accuracy", fixed=0.0),
    "set_accuracy": Measure("set accuracy", fixed=0.0),
    "mmvp_pair": Measure("MMVP pair", fixed=0.0),
    "Q_Acc": Measure("Q_Acc", fixed=0.0),
    "G_Acc": Measure("G_Acc", fixed=0.0),
    "mean_rank": Measure("mean rank", ""),
    "median_rank": Measure("median rank", ""),
}


def measure(metric: str) -> Measure:
    """Return what is known of a metric; an unknown one is a proportion, as the contract of `Estimate` says."""
    if metric in MEASURES:
        return MEASURES[metric]
    return Measure(metric.replace("_", " "))


def value_text(estimate: Estimate) -> str:
    """Return an estimate's value in its unit, without the unit's sign."""
    shown = percent if measure(estimate.metric).unit else decimal
    return shown(estimate.value)


def interval_text(estimate: Estimate) -> str:
    """Return an estimate's interval in its unit."""
    shown = percent if measure(estimate.metric).unit else decimal
    return bounds(shown(estimate.low), shown(estimate.high))


def excludes_chance(estimate: Estimate) -> bool:
    """Return whether the interval lies on one side of chance; an undefined one never does."""
    return estimate.low > estimate.chance or estimate.high < estimate.chance


def distance(estimate: Estimate) -> float:
    """Return how far the value lies from chance, 0 where either is undefined."""
    gap = abs(estimate.value - estimate.chance)
    return 0.0 if math.isnan(gap) else gap


class Contestant(NamedTuple):
    """Hold one column of one contestant, as tables name it."""

    scorer: str
    owner: str
    column: str
    kind: Kind
    sees: frozenset[str]

    @property
    def one_sided(self) -> bool:
        """Whether it was shown only one side."""
        return len(self.sees) == 1


class Index:
    """Look up the estimates that drive statements.

    Attributes:
        contestants: Columns in the order in which estimates name them, blind baselines before models.
        subsets: In the order in which estimates name them, without `all` and `macro`.
        metrics: In the order of `MEASURES`, unknown ones after them.
        tags: Values by tag name, in order.
    """

    def __init__(self, record: Record, estimates: Sequence[Estimate]) -> None:
        owners = _owners(record["contestants"])
        single = [estimate for estimate in estimates if not estimate.against]
        found = [_contestant(scorer, owners) for scorer in _distinct(estimate.scorer for estimate in single)]
        self.contestants = sorted(found, key=lambda item: KINDS.index(item.kind))
        self.subsets = [name for name in _distinct(item.subset for item in single) if name not in (POOLED, MACRO)]
        order = list(MEASURES)
        metrics = _distinct(item.metric for item in single)
        self.metrics = sorted(metrics, key=lambda item: order.index(item) if item in order else len(order))
        self.tags: dict[str, list[str]] = {}
        for tag in _distinct(item.tag for item in single if item.tag):
            label, _, tag_value = tag.partition("=")
            self.tags.setdefault(label, []).append(tag_value)
        self._by_key: dict[tuple[str, str, str, str], Estimate] = {}
        for item in sorted(single, key=lambda item: not item.primary):
            self._by_key.setdefault((item.scorer, item.metric, item.subset, item.tag), item)
        self.secondary = _distinct(item.method for item in single if not item.primary)

    @property
    def owners(self) -> list[str]:
        """Return the contestants' names in order, each once."""
        return _distinct(item.owner for item in self.contestants)

    def find(self, scorer: str, metric: str, subset: str = POOLED, tag: str = "") -> Estimate | None:
        """Return the primary estimate, or None where the metric is not defined."""
        return self._by_key.get((scorer, metric, subset, tag))

    def by_subset(self, scorer: str, metric: str) -> list[Estimate]:
        """Return the primary estimates of the subsets, in order."""
        found = (self.find(scorer, metric, subset) for subset in self.subsets)
        return [estimate for estimate in found if estimate is not None]

    def headline(self, contestant: Contestant) -> str:
        """Return the metric that a contestant is judged by, or an empty string if it has none.

        On 2x2 the strict metrics of a contestant that sees one side are fixed by construction, so its preference
        between the two captions (or images) takes their place.
        """
        own = [item for item in self.metrics if self.find(contestant.scorer, item) is not None]
        accuracy = [item for item in own if item == "accuracy" or item.startswith("accuracy_")]
        if contestant.one_sided:
            wanted = [*accuracy[:1], "caption_preference" if "text" in contestant.sees else "image_preference"]
        else:
            wanted = [*accuracy[:1], "group", "i2t", "t2i"]
        return next((item for item in wanted if item in own), "")

    def is_repetition(self, contestant: Contestant) -> bool:
        """Return whether a column only turns its other direction round: the two values add up to 1 everywhere.

        Of such two, the one that does better when pooled is not the repetition.
        """
        stem, _, direction = contestant.scorer.rpartition(":")
        other, metric = f"{stem}:{OPPOSITE.get(direction, '')}", self.headline(contestant)
        pooled, twin = self.find(contestant.scorer, metric), self.find(other, metric)
        if pooled is None or twin is None:
            return False
        better = twin.value > pooled.value or (twin.value == pooled.value and other < contestant.scorer)
        return better and all(
            abs(item.value + self._by_key[other, *key[1:]].value - 1) < 1e-9
            for key, item in self._by_key.items()
            if key[:2] == (contestant.scorer, metric) and (other, *key[1:]) in self._by_key
        )

    def is_at_chance(self, contestant: Contestant) -> bool:
        """Return whether a column is the sanity check and gets exactly chance, wherever it must."""
        if contestant.owner != SANITY:
            return False
        own = [item for key, item in self._by_key.items() if key[:2] == (contestant.scorer, self.headline(contestant))]
        return all(abs(item.value - item.chance) < 1e-9 for item in own if item.n)

    def is_fixed(self, contestant: Contestant, metric: str, estimate: Estimate) -> bool:
        """Return whether a value follows from seeing one side alone."""
        return contestant.one_sided and measure(metric).fixed == estimate.value


def arranged(names: Iterable[str], order: Sequence[str]) -> list[str]:
    """Return names in a given order, the others after them by name; JSON keeps no order of its own.

    >>> arranged(["a", "b", "c"], ["c"])
    ['c', 'a', 'b']
    """
    rank = {name: place for place, name in enumerate(order)}
    return sorted(names, key=lambda name: (rank.get(name, len(rank)), name))


def _distinct(items: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(items))


def _owners(contestants: Mapping[str, ContestantFacts]) -> dict[str, tuple[str, str, ContestantFacts]]:
    owners = {}
    for owner, facts in contestants.items():
        for column in facts["columns"] or [""]:
            owners[f"{owner}:{column}" if column else owner] = (owner, column, facts)
    return owners


def _contestant(scorer: str, owners: Mapping[str, tuple[str, str, ContestantFacts]]) -> Contestant:
    if scorer in owners:
        owner, column, facts = owners[scorer]
        return Contestant(scorer, owner, column, facts["kind"], frozenset(facts["sees"]))
    # An estimate whose contestant is not in the record is shown, and never called blind.
    return Contestant(scorer, scorer, "", "model", frozenset({"text", "image"}))
