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
        (0.519, 0.60, 0.001, "none larger found"),
        (0.60, 0.70, 0.051, "none larger found"),  # clear alone, not after the correction
        (0.70, 0.70, 0.001, "compromised"),
    ],
)
def test_levels_and_their_borders(low: float, high: float, p: float, level: str) -> None:
    found = pooled(row("accuracy", (low + high) / 2, low, high, p), visible(0.09))
    assert found["level"] == level


def test_one_verdict_for_each_subset_and_one_for_all() -> None:
    found = verdicts([replace(NULL, subset="x"), replace(visible(0.08), subset="x")], KINDS, WHERE, Thresholds())
    assert [(one["subset"], one["level"], one["n"], one["n_clusters"]) for one in found] == [
        ("x", "none larger found", 60, 30),
        ("y", "undecided", 40, 20),
        ("all", "undecided", 100, 50),
    ]


def test_too_small_is_undecided_and_says_from_where_on_it_would_have_seen() -> None:
    found = pooled(NULL, visible(0.131))
    assert (found["level"], found["smallest_visible"]) == ("undecided", 0.131)
    assert "13.1 points" in found["sentence"]
    assert pooled(NULL, visible(0.10))["level"] == "none larger found"


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
HIGH = row("accuracy", 0.58, 0.515, 0.645, 0.01)  # off chance, its nearer end less than 2 points from it
MODEL = row("accuracy", 0.53, 0.51, 0.55, 0.01, scorer="clip")  # .53 - .58 is the difference of UNDER
UNDER = row("excess", -0.05, -0.08, -0.02, 0.01, scorer="clip", against="length")


def test_a_model_below_a_baseline_that_is_above_chance_compromises() -> None:
    found = pooled(HIGH, MODEL, UNDER, visible(0.04))
    assert (found["level"], found["by"]) == ("compromised", ["clip"])
    assert "clip minus length is -5.0 points [-8.0, -2.0]" in found["sentence"]


@pytest.mark.parametrize(
    "rows",
    [
        (NULL, MODEL, UNDER),  # a model below a baseline at chance says nothing of the benchmark
        (HIGH, MODEL, replace(UNDER, p=0.2)),
        (HIGH, MODEL, replace(UNDER, value=0.05, low=0.02, high=0.08)),
        (HIGH, MODEL, replace(UNDER, high=0.001)),  # the printed interval includes 0, whatever p says
        (HIGH, UNDER),  # nothing is known of the model alone
        (HIGH, replace(MODEL, p=0.3), UNDER),  # a useless model
        (HIGH, replace(MODEL, low=0.499), UNDER),
        (HIGH, replace(MODEL, value=0.47, low=0.45, high=0.49), UNDER),
        (HIGH, replace(MODEL, unscored=101), UNDER),  # could not answer most of the 201 instances
        (NULL, replace(UNDER, against="ngram")),  # trained: a diagnostic
    ],
)
def test_other_models_below_do_not(rows: tuple[Estimate, ...]) -> None:
    assert pooled(*rows, visible(0.04))["level"] == "none larger found"


def test_a_second_interval_or_a_tag_decides_nothing() -> None:
    strong = row("accuracy", 0.9, 0.85, 0.95, 0.001)
    found = pooled(NULL, visible(0.05), replace(strong, primary=False), replace(strong, tag="tier=short"))
    assert found["level"] == "none larger found"


def test_equivalence_is_said_only_within_the_margin() -> None:
    bound = row("equivalence_bound", 0.019, nan, nan)
    assert "within 2.0 points" in pooled(NULL, visible(0.05), bound)["sentence"]
    assert "within" not in pooled(NULL, visible(0.05), replace(bound, value=0.021))["sentence"]


def test_thresholds_are_what_they_are_set_to() -> None:
    at = Thresholds(compromised=0.3, weakened=0.25)
    assert pooled(row("accuracy", 0.78, 0.74, 0.82, 0.001), visible(0.2), at=at)["level"] == "none larger found"


def test_a_silent_verdict_never_says_that_there_is_no_shortcut() -> None:
    # The interval [.46, .56] reaches 6 points from chance, farther than the 5 that would have been seen.
    found = pooled(NULL, visible(0.05))
    text = found["sentence"]
    assert "No shortcut larger than 6.0 points was found" in text
    assert "from 5.0 points on each would have been seen" in text
    assert found["not_larger_than"] == pytest.approx(0.06)
    assert pooled(NULL, visible(0.07))["not_larger_than"] == 0.07
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


def test_a_small_shortcut_that_was_found_is_said_beside_what_was_not() -> None:
    # .52 [.505, .535]: off chance, not shown to be 2 points away, and none of it may be called "none larger than .5".
    slight = row("accuracy", 0.52, 0.505, 0.535, 0.001)
    found = pooled(slight, visible(0.005))
    assert found["level"] == "none larger found"
    assert found["not_larger_than"] == pytest.approx(0.035)
    assert "No shortcut larger than 3.5 points was found" in found["sentence"]
    assert "1 of 1 zero-shot blind baseline is off chance" in found["sentence"]
    assert "length reaches 52.0 % [50.5, 53.5] where chance is 50.0 % (n = 100, 50 clusters)" in found["sentence"]
    assert "off chance" in pooled(slight, visible(0.2))["sentence"]


def test_a_trained_warning_says_what_the_zero_shot_part_could_have_seen() -> None:
    trained = row("accuracy", 0.8, 0.75, 0.85, 0.001, scorer="ngram")
    seen = pooled(NULL, visible(0.06), trained)["sentence"]
    assert "none of 1 zero-shot blind baseline is shown to lie so far" in seen
    assert "from 6.0 points on" in seen
    assert "the zero-shot part is undecided" in pooled(NULL, visible(0.3), trained)["sentence"]
    assert "Only" not in seen


def test_a_trained_interval_is_widened_before_it_counts() -> None:
    # .56 [.53, .59]: 3 points away as printed; widened by sqrt(2) its end is .56 - .0424 = .5176, less than 2 away.
    trained = row("accuracy", 0.56, 0.53, 0.59, 0.001, scorer="ngram")
    assert pooled(NULL, visible(0.05), trained)["level"] == "none larger found"
    assert pooled(NULL, visible(0.05), replace(trained, low=0.54, high=0.58))["level"] == "trained-text warning"


def test_baselines_that_ran_and_only_tied_are_not_called_absent() -> None:
    tied = replace(row("accuracy", 0.5, 0.4, 0.6), ties=100)
    assert "1 zero-shot blind baseline ran, and could only tie on these data" in pooled(tied)["sentence"]
    silent = replace(row("accuracy", nan, nan, nan), n=0, unscored=100)
    assert "scored none of the instances" in pooled(silent)["sentence"]
    assert pooled()["sentence"] == "No zero-shot blind baseline was run."


CUES: dict[str, Kind] = {"length:words:fewer": "blind", "length:words:more": "blind", "clip": "model"}


def mirrored() -> list[Estimate]:
    """Return one cue in both directions; 1 - .3 and .7 differ in the last bits."""
    fewer = row("accuracy", 1 - 0.7, 0.25, 0.35, 0.001, scorer="length:words:fewer")
    return [fewer, row("accuracy", 0.7, 0.65, 0.75, 0.001, scorer="length:words:more")]


def test_two_directions_of_a_cue_are_one_baseline_named_by_the_one_above_chance() -> None:
    found = verdicts(mirrored(), CUES, WHERE, Thresholds())[-1]
    assert found["by"] == ["length:words:more"]
    assert "1 of 1 zero-shot blind baseline lies at least" in found["sentence"]
    [off] = [one for one in claims(mirrored(), CUES, Thresholds()) if one.kind.startswith("some_")]
    assert off.values == {"above": 1, "below": 0, "baselines": 1}
    assert "length:words:more reaches 70.0 %" in off.sentence


def test_an_association_counts_cues_and_names_the_direction_above_chance() -> None:
    gaps = [
        row("easy_hard_gap", value, *ends, scorer="clip", against=f"length:words:{way}")
        for way, value, ends in (("fewer", -0.2, (-0.3, -0.1)), ("more", 0.2, (0.1, 0.3)))
    ]
    [found] = [one for one in claims([*mirrored(), *gaps], CUES, Thresholds()) if one.kind.startswith("assoc")]
    assert "for 1 of 1 of them" in found.sentence
    assert found.values["baseline"] == "length:words:more"


def test_a_claim_never_stands_beside_an_interval_that_contradicts_it() -> None:
    assert "below_some_zero_shot_baseline" not in found_of(replace(UNDER, high=0.001))
    assert "some_zero_shot_baseline_off_chance" not in found_of(replace(ABOVE, low=0.499))


def test_a_model_that_fails_is_a_finding_of_its_own() -> None:
    failing = replace(MODEL, value=0.48, low=0.45, high=0.52, p=0.8, unscored=300)
    sentence = found_of(HIGH, failing, UNDER)["below_some_zero_shot_baseline"].sentence
    assert "not shown to be above chance: clip reaches 48.0 %" in sentence
    assert "300 instances unscored" in sentence
    assert "not shown to be above" not in found_of(HIGH, MODEL, UNDER)["below_some_zero_shot_baseline"].sentence


def test_nothing_is_said_of_blindness_that_nobody_measured() -> None:
    sentence = found_of(replace(UNDER, against="ngram"))["below_some_trained_baseline"].sentence
    assert "not thereby blind" in sentence


def test_rows_without_a_subset_beside_named_ones_have_a_verdict() -> None:
    where = Layout("demo", ["x"] * 60 + [""] * 40, [str(k // 2) for k in range(100)])
    found = verdicts([replace(NULL, subset="(no subset)")], KINDS, where, Thresholds())
    assert [(one["subset"], one["n"]) for one in found] == [("x", 60), ("(no subset)", 40), ("all", 100)]


def test_captions_that_repeat_are_counted() -> None:
    found = verdicts([NULL, visible(0.05)], KINDS, WHERE, Thresholds(), texts=[0] * 60 + [1] * 40)[-1]
    assert "The 100 instances have only 2 distinct sets of captions" in found["sentence"]
    assert "distinct" not in verdicts([NULL], KINDS, WHERE, Thresholds(), texts=list(range(100)))[-1]["sentence"]
