"""The answer in words, made of estimates alone: it claims no more than they measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from reports.index import MACRO, OPPOSITE, POOLED, SANITY, Contestant, Index
from reports.measures import distance, excludes_chance, interval_text, measure, value_text
from reports.phrases import words
from reports.schema import Estimate, Record
from reports.text import Line, count, joined, line, name, plural, short_percent

_STRONGEST = 3
_MOST_COLUMNS = 6
_MOST_POINTS = 4
_MOST_BESIDE = 2  # where a verdict has said the most of it


class Answer(NamedTuple):
    """Hold the answer: one leading sentence, points, and what limits them."""

    lead: Line
    points: tuple[Line, ...]
    limits: tuple[Line, ...]


class Candidate(NamedTuple):
    """Hold a blind column with what was measured of it."""

    contestant: Contestant
    metric: str
    pooled: Estimate
    subsets: list[Estimate]
    chosen: bool

    departing: Callable[[Estimate], bool] = excludes_chance

    @property
    def departs(self) -> bool:
        """Whether it may be said to differ from chance over all instances."""
        return self.departing(self.pooled)

    @property
    def strong_subsets(self) -> list[Estimate]:
        """Return the subsets on which it may be said to differ from chance, the farthest from chance first."""
        return sorted(filter(self.departing, self.subsets), key=distance, reverse=True)


def build_answer(record: Record, index: Index) -> Answer:
    """Return the answer in words."""
    found = candidates(index)
    blind = [item for item in found if item.pooled.n and not cannot_differ(item, record)]
    without = _without_a_result(record, found)
    if not blind:
        return Answer(without[0] if without else _nothing_run(index), (*without[1:], *_model_points(record, index)), ())
    ranked = sorted(blind, key=lambda item: distance(item.pooled), reverse=True)
    pooled = [item for item in ranked if item.departs]
    partly = [item for item in ranked if not item.departs and item.strong_subsets]
    neither = [item for item in ranked if not item.departs and not item.strong_subsets]
    lead = _lead(pooled, partly, ranked[0].pooled)
    decided = _decided(record)
    repeated = decided is not None and (not pooled or pooled[0].contestant.scorer in decided)
    points = [lead] if decided is not None and not repeated else []
    points += [_strongest(item) for item in pooled[:1] if item.strong_subsets]
    most = _MOST_POINTS if decided is None else _MOST_BESIDE
    points += _shortened([_point(item) for item in _leading(pooled, blind)[1:]], most)
    points += _shortened([_partly(item) for item in _leading(partly, blind)], most)
    points += [_neither(neither)] if neither and (pooled or partly) else []
    points += [*without, *_model_points(record, index)]
    return Answer(
        lead if decided is None else (), tuple(points), _limits(record, [] if repeated else pooled + partly, blind)
    )


def _decided(record: Record) -> list[str] | None:
    """Return which contestants the verdict on all instances names, or None where a record has no verdicts."""
    if not record.get("verdicts"):
        return None
    return [scorer for item in record["verdicts"] if item["subset"] == POOLED for scorer in item["by"]]


def _leading(items: list[Candidate], blind: list[Candidate]) -> list[Candidate]:
    """Return the columns to speak of: where many ran, the farthest from chance of every contestant."""
    if len(blind) <= _MOST_COLUMNS:
        return items
    found: dict[str, Candidate] = {}
    for item in items:
        found.setdefault(item.contestant.owner, item)
    return list(found.values())


def _shortened(points: list[Line], most: int) -> list[Line]:
    more = len(points) - most
    return points if more <= 0 else [*points[:most], line(f"{plural(more, 'more baseline')}: see the tables.")]


def candidates(index: Index) -> list[Candidate]:
    """Return the blind columns; of the two directions of one cue, only the one that does better when pooled."""
    found: dict[str, Candidate] = {}
    for contestant in index.contestants:
        metric = index.headline(contestant)
        pooled = index.find(contestant.scorer, metric)
        if contestant.kind != "blind" or contestant.owner == SANITY or pooled is None:
            continue
        stem, _, direction = contestant.scorer.rpartition(":")
        key = stem if direction in OPPOSITE else contestant.scorer
        twin = found.get(key)
        subsets = index.by_subset(contestant.scorer, metric)
        item = Candidate(contestant, metric, pooled, subsets, twin is not None, index.departs)
        if twin is not None and twin.pooled.value >= pooled.value:
            item = twin._replace(chosen=True)
        found[key] = item
    return list(found.values())


def cannot_differ(item: Candidate, record: Record) -> bool:
    """Return whether a baseline saw only the side of which every instance has a single item: it can only tie."""
    shapes = [shape.split("x") for shape in record["benchmark"]["shapes"]]
    place = {frozenset({"image"}): 0, frozenset({"text"}): 1}.get(item.contestant.sees)
    tied = item.pooled.n > 0 and item.pooled.ties == item.pooled.n
    return tied and place is not None and all(shape[place] == "1" for shape in shapes)


def _without_a_result(record: Record, found: list[Candidate]) -> list[Line]:
    """Say of which blind baselines nothing is known, and of which the outcome is fixed by what they see."""
    silent = [item for item in found if not item.pooled.n]
    lines = [_silent([item.contestant for item in silent], silent[0].pooled, record)] if silent else []
    fixed = [item.contestant for item in found if cannot_differ(item, record)]
    for seen, shown, other in (("text", "text", "images"), ("image", "images", "captions")):
        if tied := [item for item in fixed if item.sees == {seen}]:
            text = f"A scorer that sees only {shown} cannot tell the {other} apart here: by construction, all that it "
            lines.append(
                line(text, "has are ties (", *_owners(tied), "); whether there is a shortcut is not known from that.")
            )
    return lines


def _silent(contestants: list[Contestant], estimate: Estimate, record: Record) -> Line:
    total = plural(estimate.unscored or record["benchmark"]["n"], "instance")
    them = "it" if len({item.owner for item in contestants}) == 1 else "them"
    told = f" could not score any of the {total}: nothing is known of {them} from this run."
    return (*_owners(contestants), *line(told))


def _owners(contestants: list[Contestant]) -> Line:
    return joined([line(name(owner)) for owner in dict.fromkeys(item.owner for item in contestants)], " and ")


def _nothing_run(index: Index) -> Line:
    if any(contestant.owner == SANITY for contestant in index.contestants):
        return line(
            "Only the constant baseline ran, a check of the tie rule: whether there is a shortcut is not known."
        )
    return line("No blind baseline ran: whether this benchmark needs the image is not known from this run.")


def _lead(pooled: list[Candidate], partly: list[Candidate], any_estimate: Estimate) -> Line:
    if pooled:
        return _capital(said(pooled[0]))
    n = f"n = {count(any_estimate.n)}, {plural(any_estimate.n_clusters, 'cluster')}"
    if partly:
        where = {estimate.subset for item in partly for estimate in item.strong_subsets}
        text = f"Over all instances no blind baseline's interval excludes chance ({n}), but in "
        return line(text, f"{plural(len(where), 'subset')} at least one does.")
    text = f"No blind baseline's interval excludes chance here ({n}); that is not a proof that there is no shortcut."
    return line(text)


def said(item: Candidate) -> Line:
    """Return what a baseline gets over all instances without the side that it does not see."""
    without = "text" if item.contestant.sees == {"image"} else "image"
    return line(f"without the {without}, ", *phrase(item), " ", *_verb(item), *_share(item.pooled), ".")


def phrase(item: Candidate) -> Line:
    """Return what a baseline does, in words where they are known, else its name, and whether it was chosen."""
    chosen = " (direction chosen on these data)" if item.chosen else ""
    return (*words(item.contestant.scorer), *line(chosen)) if chosen else words(item.contestant.scorer)


def _verb(item: Candidate) -> Line:
    side = "image" if item.contestant.sees == {"image"} else "caption"
    if item.metric.startswith("accuracy"):
        rule = "" if item.metric == "accuracy" else f" ({item.metric.removeprefix('accuracy_')} of several)"
        return line(f"picks the matching {side}{rule} in ")
    return line(f"prefers the base {side} in ")


def _share(estimate: Estimate) -> Line:
    below = ", below it" if estimate.high < estimate.chance else ""
    if below and measure(estimate.metric).fixed == 0.0:
        below += "; a scorer that does not see the edit gets 0"
    text = f"{value_text(estimate)} % {interval_text(estimate)} of {count(estimate.n)}"
    return line(f"{text} (chance {short_percent(estimate.chance)} %{below})")


def _value(estimate: Estimate) -> Line:
    return line(f"{value_text(estimate)} % {interval_text(estimate)}")


def _capital(sentence: Line) -> Line:
    first = sentence[0]
    if first.kind != "ours":
        return sentence
    return (first._replace(text=first.text[:1].upper() + first.text[1:]), *sentence[1:])


def _subset_values(item: Candidate) -> Line:
    strong = item.strong_subsets
    shown = [line(name(estimate.subset), " ", *_value(estimate)) for estimate in strong[:_STRONGEST]]
    more = len(strong) - len(shown)
    return (*joined(shown), *line(f" and {more} more" if more else ""))


def _strongest(item: Candidate) -> Line:
    return line(*_capital(phrase(item)), " lies farthest from chance on ", *_subset_values(item), ".")


def _point(item: Candidate) -> Line:
    below = ", below chance" if item.pooled.high < item.pooled.chance else ""
    head = (*_capital(phrase(item)), *line(": "), *_value(item.pooled), *line(below))
    tail = line("; by subset ", *_subset_values(item)) if item.strong_subsets else ()
    return (*head, *tail, *line("."))


def _partly(item: Candidate) -> Line:
    head = (*_capital(phrase(item)), *line(": "), *_value(item.pooled), *line(", which includes chance; but "))
    return (*head, *_subset_values(item), *line("."))


def _neither(items: list[Candidate]) -> Line:
    shown = [line(*phrase(item), " ", *_value(item.pooled)) for item in items[:_MOST_POINTS]]
    more = f" and {count(len(items) - _MOST_POINTS)} more" if len(items) > _MOST_POINTS else ""
    return line("Not told apart from chance, pooled or in any subset: ", *joined(shown), f"{more}.")


def _limits(record: Record, claimed: list[Candidate], blind: list[Candidate]) -> tuple[Line, ...]:
    level = short_percent(record["statistics"]["level"])
    limits = [line(f"Intervals are {level} % intervals, each on its own, not corrected for their number.")]
    if claimed and len(blind) > 1:
        limits.append(
            line(
                f"The baseline named first is the farthest from chance of {count(len(blind))} that ran: ",
                "a description, since its interval does not allow for having been picked.",
            )
        )
    if any(item.pooled.high < item.pooled.chance and item.departs for item in blind):
        limits.append(line("Below chance is a regularity too: turned round, the rule would pick the other side."))
    if any(item.metric.endswith("_preference") for item in blind):
        limits.append(
            line(
                "A scorer that sees one side alone gets 0 on strict I2T, T2I and Group and ties GroupMatch, by ",
                "construction; which side it prefers (chance 50 %) is what counts for it.",
            )
        )
    return tuple(limits)


def _without_whole(record: Record, index: Index, contestant: Contestant, pooled: Estimate) -> Line:
    """Say of a model without its headline what is known of it: single decisions may be scored where no whole one is."""
    metric = index.compared(contestant)
    single = index.find(contestant.scorer, metric)
    if single is None or not single.n:
        return _silent([contestant], pooled, record)
    total = plural(pooled.unscored or record["benchmark"]["n"], "instance")
    told = f" could not score any of the {total} whole, so {measure(pooled.metric).title} is not known; "
    return (name(contestant.scorer), *line(f"{told}{measure(metric).title} "), *_share(single), *line("."))


def _model_points(record: Record, index: Index) -> tuple[Line, ...]:
    points = []
    for contestant in index.contestants:
        metric = index.headline(contestant)
        pooled = index.find(contestant.scorer, metric)
        if contestant.kind == "model" and pooled is not None and not pooled.n:
            points.append(line("Model under audit ", *_without_whole(record, index, contestant, pooled)))
        elif contestant.kind == "model" and pooled is not None:
            title = measure(metric).title
            tied = f"; all {count(pooled.n)} are ties" if pooled.ties == pooled.n else ""
            shown = (*_share(pooled), *line(f"{tied}."))
            points.append(line("Model under audit ", name(contestant.scorer), f": {title} ", *shown))
        if contestant.kind == "model":
            points += _outdone(index, contestant)
    return tuple(points)


def _outdone(index: Index, model: Contestant) -> list[Line]:
    """Say on which subsets a model is below a zero-shot blind baseline, the largest difference first."""
    blind = {item.scorer for item in index.contestants if item.kind == "blind"}
    worst: dict[str, Estimate] = {}
    for (scorer, against, metric, subset), found in index.pairs.items():
        wanted = (scorer, metric) == (model.scorer, "excess") and against in blind and subset != MACRO
        if wanted and index.departs(found) and found.value < _lowest(worst.get(subset)):
            worst[subset] = found
    ranked = sorted((one for one in worst.values() if one.subset != POOLED), key=lambda one: one.value)
    ranked = ranked or list(worst.values())
    if not ranked:
        return []
    shown = [_difference(one) for one in ranked[:_STRONGEST]]
    more = f" and on {plural(len(ranked) - len(shown), 'more subset')}" if len(ranked) > len(shown) else ""
    told = " is below a zero-shot blind baseline, corrected over the family, by the points given: "
    return [line(name(model.scorer), told, *joined(shown), f"{more}.")]


def _lowest(found: Estimate | None) -> float:
    return 0.0 if found is None else found.value


def _difference(found: Estimate) -> Line:
    where = line("on all instances") if found.subset == POOLED else line("in ", name(found.subset))
    return (*where, *line(f" {value_text(found)} {interval_text(found)} against "), *words(found.against))
