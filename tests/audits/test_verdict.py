"""What is concluded, from rows made by hand: every level, its borders, and sentences that claim no more than that."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import pytest

from audits.claims import claims
from audits.statistics.layout import Layout
from audits.verdict import Thresholds, verdicts
from reports.schema import Estimate, Finding, Kind, VerdictFacts

WHERE = Layout("demo", ["x"] * 60 + ["y"] * 40, [str(k // 2) for k in range(100)])
KINDS: dict[str, Kind] = {"length": "blind", "ngram": "trained", "clip": "model"}


def row(metric: str, value: float, low: float, high: float, p: float = nan, **more: str) -> Estimate:
    return Estimate(
        benchmark="demo",
        subset=more.get("subset", "all"),
        tag="",
        scorer=more.get("scorer", "length"),
        against=more.get("against", ""),
        metric=metric,
        value=value,
        low=low,
        high=high,
        n=100,
        n_clusters=50,
        ties=0,
        unscored=0,
        chance=nan if "against" in more else 0.5,
        method="cluster bootstrap (B=10000)",
        seed=42,
        primary=True,
        signature="",
        p=p,
    )


def visible(value: float, scorer: str = "length") -> Estimate:
    return row("smallest_visible", value, nan, nan, scorer=scorer)


def pooled(*rows: Estimate, at: Thresholds | None = None) -> VerdictFacts:
    return verdicts(rows, KINDS, WHERE, at or Thresholds())[-1]


NULL = row("accuracy", 0.51, 0.46, 0.56, 0.9)


@pytest.mark.parametrize(
    ("low", "high", "p", "level"),
    [
        (0.60, 0.70, 0.001, "compromised"),  # the nearer end is exactly 10 points away
        (0.599, 0.70, 0.001, "weakened"),
        (0.30, 0.40, 0.001, "compromised"),  # below chance: the opposite choice exploits it
        (0.52, 0.60, 0.05, "weakened"),  # exactly 2 points, p exactly alpha
        (0.519, 0.60, 0.001, "no shortcut found"),
        (0.60, 0.70, 0.051, "no shortcut found"),  # clear alone, not after the correction
        (0.70, 0.70, 0.001, "compromised"),
    ],
)
def test_levels_and_their_borders(low: float, high: float, p: float, level: str) -> None:
    found = pooled(row("accuracy", (low + high) / 2, low, high, p), visible(0.09))
    assert found["level"] == level


def test_one_verdict_for_each_subset_and_one_for_all() -> None:
    found = verdicts([replace(NULL, subset="x"), replace(visible(0.08), subset="x")], KINDS, WHERE, Thresholds())
    assert [(one["subset"], one["level"], one["n"], one["n_clusters"]) for one in found] == [
        ("x", "no shortcut found", 60, 30),
        ("y", "undecided", 40, 20),
        ("all", "undecided", 100, 50),
    ]


def test_too_small_is_undecided_and_says_from_where_on_it_would_have_seen() -> None:
    found = pooled(NULL, visible(0.131))
    assert (found["level"], found["smallest_visible"]) == ("undecided", 0.131)
    assert "13.1 points" in found["sentence"]
    assert pooled(NULL, visible(0.10))["level"] == "no shortcut found"


def test_clusters_too_few_for_any_test_are_undecided() -> None:
    found = pooled(NULL, visible(nan))
    assert (found["level"], found["smallest_visible"]) == ("undecided", None)
    assert "too small" in found["sentence"].lower()


def test_the_least_sensitive_baseline_decides_what_could_be_seen() -> None:
    kinds: dict[str, Kind] = {**KINDS, "other": "blind"}
    found = verdicts(
        [NULL, visible(0.05), replace(NULL, scorer="other"), visible(0.2, "other")], kinds, WHERE, Thresholds()
    )
    assert found[-1]["level"] == "undecided"


def test_without_a_blind_baseline_nothing_is_concluded() -> None:
    assert pooled()["level"] == "undecided"
    assert pooled(row("accuracy", 0.9, 0.85, 0.95, 0.001, scorer="clip"))["level"] == "undecided"


def test_a_trained_baseline_alone_is_a_warning_of_its_own() -> None:
    trained = row("accuracy", 0.8, 0.75, 0.85, 0.001, scorer="ngram")
    found = pooled(NULL, visible(0.3), trained)
    assert (found["level"], found["by"]) == ("trained-text warning", ["ngram"])
    assert "not that a model" in found["sentence"]
    # A zero-shot baseline off chance outranks it.
    assert pooled(row("accuracy", 0.58, 0.55, 0.61, 0.001), visible(0.05), trained)["level"] == "weakened"


ABOVE = row("accuracy", 0.53, 0.51, 0.55, 0.01)
UNDER = row("excess", -0.05, -0.08, -0.02, 0.01, scorer="clip", against="length")


def test_a_model_below_a_baseline_that_is_above_chance_compromises() -> None:
    found = pooled(ABOVE, UNDER, visible(0.04))
    assert (found["level"], found["by"]) == ("compromised", ["clip"])
    assert "clip minus length is -5.0 points [-8.0, -2.0]" in found["sentence"]


@pytest.mark.parametrize(
    "rows",
    [
        (NULL, UNDER),  # a failing model below a baseline at chance says nothing of the benchmark
        (ABOVE, replace(UNDER, p=0.2)),
        (ABOVE, replace(UNDER, value=0.05)),
        (NULL, replace(UNDER, against="ngram")),  # trained: a diagnostic
    ],
)
def test_other_models_below_do_not(rows: tuple[Estimate, ...]) -> None:
    assert pooled(*rows, visible(0.04))["level"] == "no shortcut found"


def test_a_second_interval_or_a_tag_decides_nothing() -> None:
    strong = row("accuracy", 0.9, 0.85, 0.95, 0.001)
    found = pooled(NULL, visible(0.05), replace(strong, primary=False), replace(strong, tag="tier=short"))
    assert found["level"] == "no shortcut found"


def test_equivalence_is_said_only_within_the_margin() -> None:
    bound = row("equivalence_bound", 0.019, nan, nan)
    assert "within 2.0 points" in pooled(NULL, visible(0.05), bound)["sentence"]
    assert "within" not in pooled(NULL, visible(0.05), replace(bound, value=0.021))["sentence"]


def test_thresholds_are_what_they_are_set_to() -> None:
    at = Thresholds(compromised=0.3, weakened=0.25)
    assert pooled(row("accuracy", 0.78, 0.74, 0.82, 0.001), visible(0.2), at=at)["level"] == "no shortcut found"


def test_a_silent_verdict_never_says_that_there_is_no_shortcut() -> None:
    text = pooled(NULL, visible(0.05))["sentence"]
    assert "No shortcut larger than 5.0 points was found" in text
    assert "not excluded" in text


def found_of(*rows: Estimate) -> dict[str, Finding]:
    return {one.kind: one for one in claims(rows, KINDS, Thresholds())}


def test_above_every_baseline_needs_every_lower_bound() -> None:
    clear = row("excess", 0.1, 0.05, 0.15, 0.01, scorer="clip", against="length")
    assert "above_every_zero_shot_baseline" in found_of(clear)
    found = found_of(replace(clear, low=0.0))
    assert "above_every_zero_shot_baseline" not in found
    assert found["not_above_every_zero_shot_baseline"].severity == "notice"


def test_zero_shot_and_trained_baselines_are_different_claims() -> None:
    under = replace(UNDER, against="ngram")
    found = found_of(under, replace(UNDER, value=0.1, low=0.05, high=0.15))
    assert found["above_every_zero_shot_baseline"].values["baselines"] == 1
    assert found["below_some_trained_baseline"].severity == "info"
    assert "diagnostic" in found["below_some_trained_baseline"].sentence
    assert "below_some_zero_shot_baseline" not in found


def test_below_and_off_chance_need_the_corrected_p() -> None:
    assert "below_some_zero_shot_baseline" in found_of(UNDER)
    assert "below_some_zero_shot_baseline" not in found_of(replace(UNDER, p=0.06))
    assert "some_zero_shot_baseline_off_chance" in found_of(ABOVE)
    quiet = found_of(NULL)
    assert "does not show that there is no shortcut" in quiet["no_zero_shot_baseline_off_chance"].sentence


def test_a_gap_is_called_an_association() -> None:
    gap = row("easy_hard_gap", 0.2, 0.1, 0.3, scorer="clip", against="length")
    sentence = found_of(gap)["associated_with_baseline"].sentence
    assert "is associated with" in sentence
    assert "+20.0 points [10.0, 30.0]" in sentence
    assert "associated_with_baseline" not in found_of(replace(gap, low=-0.01))


@pytest.mark.parametrize(("low", "shown"), [(0.55, True), (0.49, False)])
def test_a_share_of_the_score_above_chance_needs_a_denominator_above_0(low: float, shown: bool) -> None:
    gap = row("easy_hard_gap", 0.2, 0.1, 0.3, scorer="clip", against="length")
    share = row("share_of_above_chance", 0.3, 0.12, 0.71, scorer="clip", against="length")
    model = row("accuracy", 0.6, low, 0.65, 0.01, scorer="clip")
    words = "30 % [12, 71] of the model's score above chance"
    assert (words in found_of(gap, model, ABOVE, share)["associated_with_baseline"].sentence) is shown
    # Without a row there was no interval that could be bounded.
    assert "above chance" not in found_of(gap, model, ABOVE)["associated_with_baseline"].sentence


def beaten(subset: str, model: float, blind: float, p: float = 0.001) -> list[Estimate]:
    """Return what one subset shows: the baseline, the model, and the model minus the baseline."""
    gap = model - blind
    return [
        row("accuracy", blind, blind - 0.01, blind + 0.01, 0.001, subset=subset),
        row("accuracy", model, model - 0.02, model + 0.02, 0.001, subset=subset, scorer="clip"),
        row("excess", gap, gap - 0.03, gap + 0.03, p, subset=subset, scorer="clip", against="length"),
    ]


def test_a_model_and_what_beats_it_stand_side_by_side_worst_subset_first() -> None:
    rows = [*beaten("x", 0.77, 0.95), *beaten("y", 0.688, 0.962), *beaten("z", 0.6, 0.7, p=0.2)]
    found = found_of(*rows)["outdone_by_zero_shot_baseline"]
    assert found.severity == "warning"
    assert found.sentence == (
        "On 2 of 3 subsets a zero-shot blind baseline beats clip at a family-wise level of 0.05, the largest "
        "difference first: length alone picks the right side in 96.2 % [95.2, 97.2] of y, clip in 68.8 % [66.8, 70.8] "
        "(n = 100, 50 clusters); length alone picks the right side in 95.0 % [94.0, 96.0] of x, clip in 77.0 % "
        "[75.0, 79.0] (n = 100, 50 clusters)."
    )


def test_a_baseline_at_chance_beats_nobody() -> None:
    assert "outdone_by_zero_shot_baseline" not in found_of(*beaten("x", 0.3, 0.49))


def test_without_subsets_all_instances_are_set_side_by_side() -> None:
    sentence = found_of(*beaten("all", 0.6, 0.8))["outdone_by_zero_shot_baseline"].sentence
    assert "On all instances a zero-shot blind baseline beats clip" in sentence
    assert "80.0 % [79.0, 81.0] of all instances" in sentence


@pytest.mark.parametrize(("foil", "words"), [(-1, "prior for one caption"), (1, "provenance")])
def test_the_two_image_signature(foil: int, words: str) -> None:
    base = row("easy_hard_gap_base", 0.3, 0.2, 0.4, scorer="clip", against="length")
    other = row("easy_hard_gap_foil", 0.3 * foil, *sorted((0.2 * foil, 0.4 * foil)), scorer="clip", against="length")
    assert words in found_of(base, other)["two_image_signature"].sentence
    assert "two_image_signature" not in found_of(base, replace(other, low=-0.1, high=0.1))
