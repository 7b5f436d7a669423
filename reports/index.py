"""Find estimates by what they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reports.measures import ACCURACIES, MEASURES, distance, excludes_chance, measure
from reports.schema import ContestantFacts, Estimate, Kind, Record

POOLED, MACRO = "all", "macro"
KINDS: tuple[Kind, ...] = ("model", "blind", "trained")
SANITY = "constant"
WEIGHT = "alpha="
# Both directions of one cue: the second name of each pair is the first one turned round.
OPPOSITE = {
    **{"more": "fewer", "fewer": "more", "longer": "shorter", "shorter": "longer", "larger": "smaller"},
    **{"smaller": "larger", "higher": "lower", "lower": "higher", "first": "last", "last": "first"},
}


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
        alpha: Of the family of tests that the run declares, or None where it declares none.
        pairs: What compares two contestants: primary estimates by scorer, other contestant, metric and subset.
        weighted: What is made of two contestants' scores with a weight: primary estimates over all instances by scorer,
            other contestant, metric and tag (`alpha=0.3`).
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
        self.alpha = record["family"]["alpha"] if "family" in record else None
        self.pairs: dict[tuple[str, str, str, str], Estimate] = {}
        self.weighted: dict[tuple[str, str, str, str], Estimate] = {}
        for item in sorted(estimates, key=lambda item: not item.primary):
            if item.against and not item.tag:
                self.pairs.setdefault((item.scorer, item.against, item.metric, item.subset), item)
            elif item.against and item.tag.startswith(WEIGHT) and item.subset == POOLED:
                self.weighted.setdefault((item.scorer, item.against, item.metric, item.tag), item)
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
        accuracy = [item for item in own if item in ACCURACIES]
        if contestant.one_sided:
            wanted = [*accuracy[:1], "caption_preference" if "text" in contestant.sees else "image_preference"]
        else:
            wanted = [*accuracy[:1], "group", "i2t", "t2i"]
        return next((item for item in wanted if item in own), "")

    def compared(self, contestant: Contestant) -> str:
        """Return the metric by which a contestant is set against others: one decision at chance 1/2 on 2x2."""
        headline = self.headline(contestant)
        if contestant.one_sided or headline in ACCURACIES:
            return headline
        return next((item for item in ("i2t_base", "t2i_base") if self.find(contestant.scorer, item)), headline)

    def departs(self, estimate: Estimate) -> bool:
        """Return whether an estimate may be said to differ from chance (a difference: from 0).

        The printed interval must exclude it; where the run declares a family of tests, its corrected p-value must say
        so as well.
        """
        return excludes_chance(estimate) and (self.alpha is None or estimate.p <= self.alpha)

    def by_owner(self, kind: Kind) -> dict[str, list[Contestant]]:
        """Return the columns of every contestant of a kind, the farthest from chance on these data first."""
        found: dict[str, list[Contestant]] = {}
        for item in self.contestants:
            if item.kind == kind and item.owner != SANITY and not self.is_repetition(item):
                found.setdefault(item.owner, []).append(item)
        for columns in found.values():
            columns.sort(key=self._pooled_distance, reverse=True)
        return found

    def _pooled_distance(self, contestant: Contestant) -> float:
        pooled = self.find(contestant.scorer, self.headline(contestant))
        return -1.0 if pooled is None else distance(pooled)

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
