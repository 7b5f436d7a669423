import math
from dataclasses import replace

import pytest

from reports.phrases import words
from reports.text import plain
from reports.view import build_view

MODEL = "likelihood:SmolLM2-135M-Instruct"


def answer(record, estimates):
    return build_view(record, estimates).answer


def lead(record, estimates):
    return plain(answer(record, estimates).lead)


def points(record, estimates):
    return [plain(point) for point in answer(record, estimates).points]


def likelihood(make, **changes):
    return make.record(contestants={MODEL: make.contestant(columns=["unnorm"])}), [
        make.estimate(scorer=f"{MODEL}:unnorm", **changes)
    ]


def test_sentence_by_hand(make):
    # 5,476 of 7,511 = .72906..., Wald half width 1.96 sqrt(.72906 x .27094 / 7511) = .010051: [.71901, .73911].
    record, estimates = likelihood(make, value=5476 / 7511, n=7511)
    assert lead(record, estimates) == (
        "Without the image, unnormalised likelihood (SmolLM2-135M-Instruct) picks the matching caption in "
        "72.9 % [71.9, 73.9] of 7,511 (chance 50 %)."
    )


def test_the_level_is_the_one_of_the_run(make):
    record, estimates = likelihood(make, value=0.8)
    record["statistics"]["level"] = 0.9
    assert "90 % intervals, each on its own, not corrected for their number" in plain(
        answer(record, estimates).limits[0]
    )


def test_below_chance_is_named_as_such(make):
    record, estimates = likelihood(make, value=0.2, n=100)
    # .2 +- 1.96 x .04 = [.1216, .2784]
    assert lead(record, estimates).endswith("in 20.0 % [12.2, 27.8] of 100 (chance 50 %, below it).")
    assert any("Below chance" in plain(limit) for limit in answer(record, estimates).limits)


def test_an_interval_that_includes_chance_claims_nothing(make):
    record, estimates = likelihood(make, value=0.55, n=100, n_clusters=40)
    assert lead(record, estimates) == (
        "No blind baseline's interval excludes chance here (n = 100, 40 clusters); that is not a proof that there is "
        "no shortcut."
    )
    assert points(record, estimates) == []


def test_a_bound_that_touches_chance_does_not_exclude_it(make):
    record, estimates = likelihood(make, value=0.6, low=0.5, high=0.7)
    assert lead(record, estimates).startswith("No blind baseline's interval excludes chance")


def test_an_undefined_interval_claims_nothing(make):
    record, estimates = likelihood(make, value=1.0, low=math.nan, high=math.nan, n=1, n_clusters=1)
    assert lead(record, estimates).startswith("No blind baseline's interval excludes chance here (n = 1, 1 cluster)")


def test_the_primary_interval_decides_not_the_other(make):
    record, (primary,) = likelihood(make, value=0.6, low=0.45, high=0.7)
    other = replace(primary, low=0.55, high=0.65, method="wilson", primary=False)
    for estimates in ([primary, other], [other, primary]):
        assert lead(record, estimates).startswith("No blind baseline's interval excludes chance")


def test_a_subset_alone_is_said_to_be_a_subset(make):
    record, estimates = likelihood(make, value=0.5, n=200)
    scorer = estimates[0].scorer
    estimates = [make.estimate(scorer=scorer, subset="swap", value=0.9, n=100), *estimates]
    assert lead(record, estimates) == (
        "Over all instances no blind baseline's interval excludes chance (n = 200, 200 clusters), but in 1 subset at "
        "least one does."
    )
    # .9 +- 1.96 x .03 = [.8412, .9588]
    assert "which includes chance; but swap 90.0 % [84.1, 95.9]" in points(record, estimates)[0]


def test_only_one_direction_is_named_and_it_is_said_to_be_chosen_on_the_data(make):
    record, estimates = make.record(), make.estimates()
    text = " ".join([lead(record, estimates), *points(record, estimates)])
    assert "fewer words (direction chosen on these data)" in text
    assert "fewer characters (direction chosen on these data)" in text
    assert "with more" not in text
    turned = [replace(item, value=1 - item.value, low=1 - item.high, high=1 - item.low) for item in estimates]
    text = " ".join([lead(record, turned), *points(record, turned)])
    assert "more words (direction chosen on these data)" in text
    assert "with fewer" not in text


def test_a_single_direction_was_not_chosen(make):
    record = make.record(contestants={"length": make.contestant(columns=["words:fewer"])})
    text = lead(record, [make.estimate(scorer="length:words:fewer", value=0.9)])
    assert "taking the caption with fewer words picks" in text
    assert "chosen" not in text


def test_the_farthest_comes_first_and_only_as_a_description(make):
    record, estimates = make.record(), make.estimates()
    assert "fewer characters" in lead(record, estimates)  # 71.2, 70.7, 67.4 and 45.5 are 21.2, 20.7, 17.4, 4.5 away
    limits = " ".join(plain(limit) for limit in answer(record, estimates).limits)
    assert "farthest from chance of 4 that ran: a description" in limits


def test_the_sanity_check_is_no_candidate(make):
    record = make.record(contestants={"constant": make.contestant()})
    assert lead(record, [make.estimate()]).startswith("Only the constant baseline ran")
    assert lead(make.record(contestants={}), []).startswith("No blind baseline ran")


def test_a_scorer_that_is_not_in_the_record_is_never_called_blind(make):
    text = lead(make.record(contestants={}), [make.estimate(scorer="mystery", value=0.99)])
    assert text.startswith("No blind baseline ran")


def test_pairs_are_judged_by_the_preference_and_say_why(make):
    record, estimates = make.pairs()
    found = answer(record, estimates)
    assert plain(found.lead).endswith("prefers the base caption in 62.0 % [58.2, 65.8] of 640 (chance 50 %).")
    assert any("0 on strict I2T, T2I and Group" in plain(limit) for limit in found.limits)
    # A model below exchangeable chance may simply not see the edit.
    assert any("below it; a scorer that does not see the edit gets 0" in plain(point) for point in found.points)


def test_an_image_only_scorer_goes_without_the_text(make):
    record = make.record(contestants={"image_cues": make.contestant(columns=["width"], sees=["image"])})
    text = lead(record, [make.estimate(scorer="image_cues:width", value=0.9)])
    assert text.startswith("Without the text, image_cues:width picks the matching image in 90.0 %")


def test_the_rule_for_several_positives_is_named(make):
    record, estimates = likelihood(make, value=0.9, metric="accuracy_any", chance=0.75)
    assert "picks the matching caption (any of several) in 90.0 %" in lead(record, estimates)
    assert "(chance 75 %)" in lead(record, estimates)


def test_a_mean_of_subsets_is_not_taken_for_the_pooled_value(make):
    record, estimates = likelihood(make, value=0.95, subset="macro")
    assert lead(record, estimates).startswith("No blind baseline ran")


def unscored(make, scorer, n=40, **changes):
    nan = {"value": math.nan, "low": math.nan, "high": math.nan, "n": 0, "n_clusters": 0, "unscored": n}
    return make.estimate(scorer=scorer, **{**nan, **changes})


def test_a_baseline_that_scored_nothing_is_not_said_to_have_found_nothing(make):
    record = make.record(contestants={"length": make.contestant(columns=["words:fewer", "words:more"], unscored=40)})
    rows = [unscored(make, f"length:words:{way}") for way in ("fewer", "more")]
    assert lead(record, rows) == "length could not score any of the 40 instances: nothing is known of it from this run."
    assert "excludes chance" not in lead(record, rows)
    assert points(record, rows) == []


def test_a_baseline_that_scored_nothing_stands_beside_one_that_did(make):
    contestants = {"length": make.contestant(columns=["words:fewer"]), "other": make.contestant(unscored=40)}
    contestants |= {"third": make.contestant(unscored=40), "clip": make.contestant("model", unscored=40)}
    record = make.record(contestants=contestants)
    rows = [
        make.estimate(scorer="length:words:fewer", value=0.9),
        *(unscored(make, each) for each in ("other", "third")),
    ]
    assert "Without the image, taking the caption with fewer words" in lead(record, rows)
    told = points(record, [*rows, unscored(make, "clip")])
    assert told == [
        "other and third could not score any of the 40 instances: nothing is known of them from this run.",
        "Model under audit clip could not score any of the 40 instances: nothing is known of it from this run.",
    ]


def test_a_model_without_one_whole_instance_is_said_with_what_is_known_of_its_single_decisions(make):
    record = make.record(contestants={"tiny": make.contestant("model", unscored=40)})
    record["benchmark"]["shapes"] = {"2x2": 40}
    rows = [
        unscored(make, "tiny", metric="group", chance=1 / 6),
        make.estimate(scorer="tiny", metric="i2t_base", value=0.5, low=0.25, high=0.75, n=10, n_clusters=10),
    ]
    [told] = [point for point in points(record, rows) if "tiny" in point]
    assert "nothing is known" not in told
    assert "could not score any of the 40 instances whole, so Group is not known" in told
    assert "50.0 % [25.0, 75.0] of 10" in told


def test_text_cannot_tell_images_apart_where_there_is_one_caption(make):
    record = make.record(contestants={"length": make.contestant(columns=["words:fewer"])})
    record["benchmark"]["shapes"] = {"2x1": 90, "3x1": 10}
    tied = make.estimate(scorer="length:words:fewer", value=0.5, low=0.5, high=0.5, ties=100)
    assert lead(record, [tied]) == (
        "A scorer that sees only text cannot tell the images apart here: by construction, all that it has are ties "
        "(length); whether there is a shortcut is not known from that."
    )
    record["contestants"]["cues"] = make.contestant(sees=["image"])
    seen = make.estimate(scorer="cues", value=0.9)
    assert lead(record, [tied, seen]).startswith("Without the text, cues picks the matching image in 90.0 %")
    assert points(record, [tied, seen])[0].startswith("A scorer that sees only text cannot tell the images apart")
    record["benchmark"]["shapes"] = {"1x2": 100}
    blind = replace(seen, value=0.5, ties=100)
    assert lead(record, [blind]).startswith("A scorer that sees only images cannot tell the captions apart here")
    record["benchmark"]["shapes"] = {"2x1": 90, "2x2": 10}  # the rest can still be told apart
    assert lead(record, [tied]).startswith("No blind baseline's interval excludes chance")


@pytest.mark.parametrize(
    ("scorer", "said"),
    [
        ("frequency:mean:higher", "taking the caption with more frequent words"),
        ("frequency:mean:lower", "taking the caption with rarer words"),
        ("format_cues:final_stop:fewer", "taking the caption with fewer final full stops"),
        ("format_cues:mine:fewer", "format_cues:mine:fewer"),
        ("image_cues:bytes_per_pixel:larger", "taking the image with the larger bytes per pixel"),
        ("image_cues:alpha:more", "taking the image with more transparent parts"),
        ("ngram:raw", "a trained n-gram classifier (raw text)"),
        ("ngram", "a trained n-gram classifier"),
        ("embedding:offline:raw", "a trained sentence embedding classifier (offline:raw)"),
        ("something:else", "something:else"),
    ],
)
def test_columns_read_like_words(scorer, said):
    assert plain(words(scorer)) == said


def test_a_model_that_ties_throughout_is_said_to(make):
    record, rows = make.pairs(1)
    rows = [replace(row, ties=row.n) if row.scorer == "clip-b32" else row for row in rows]
    [said] = [point for point in points(record, rows) if point.startswith("Model under audit")]
    assert said.endswith("; all 40 are ties.")
    record, rows = make.pairs(1)
    assert not any("are ties" in point for point in points(record, rows) if point.startswith("Model"))


def test_the_opening_says_where_the_headline_lies_and_where_the_model_is_below_it(make):
    record, rows = make.contrasts()
    said = points(record, rows)
    assert any("lies farthest from chance on " in point and point.count("[") >= 2 for point in said)
    [below] = [point for point in said if point.startswith("recorded:clip is below a zero-shot blind baseline")]
    assert "more subsets" in below or below.count(" in ") >= 1
    # No sentence without the corrected p-value, nor beside an interval that includes 0.
    for changed in ({"p": 0.6}, {"high": 0.01}):
        other = [replace(row, **changed) if row.metric == "excess" and row.value < 0 else row for row in rows]
        assert not any(point.startswith("recorded:clip is below") for point in points(record, other))
