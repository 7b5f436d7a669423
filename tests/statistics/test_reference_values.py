"""Recorded scores of public models reach the values published for them."""

from __future__ import annotations

import csv
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audits.statistics.estimates import estimates
from audits.statistics.layout import Layout
from audits.statistics.outcomes import Outcome, outcomes
from tests.oracles import jackknife_se, macro_bootstrap_by_loop

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
PAIR = np.eye(2, dtype=bool)
pytestmark = pytest.mark.real_data


def needed(relative: str) -> Path:
    path = DATA / relative
    if not path.exists():
        pytest.skip(f"{relative} is not in the shared data folder")
    return path


@pytest.mark.parametrize(
    ("relative", "i2t", "t2i", "group"),
    [
        ("clip_baseline/winoground_clip_scores.json", 0.3075, 0.1025, 0.0825),
        ("flava_text_graph/flava_vanilla_contrastive_scores.json", 0.2125, 0.0525, 0.0200),
        ("flava_text_graph/flava_vanilla_itm_scores.json", 0.0, 0.1700, 0.0),
    ],
)
def test_winoground_as_recorded(relative: str, i2t: float, t2i: float, group: float) -> None:
    rows = json.loads(needed(f"11777-project/{relative}").read_text(encoding="utf-8"))
    scores = [np.array([[row["c0_i0"], row["c1_i0"]], [row["c0_i1"], row["c1_i1"]]]) for row in rows]
    found = outcomes(scores, [PAIR] * len(rows), sees={"text", "image"})
    means = [round(float(found[metric].credit.mean()), 4) for metric in ("i2t", "t2i", "group")]
    assert means == [i2t, t2i, group]
    assert not found["group"].tie.any()


def test_clip_on_sugarcrepe_as_recorded() -> None:
    path = needed("BiVLC/results/SUGARCREPE_CORRECT_ViT-B-32.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    credit = np.array([float(row["correct"]) for row in rows])
    none = np.zeros(len(rows), dtype=bool)
    subsets = [f"{row['type']}_{row['subtype']}" for row in rows]
    where = Layout("sugarcrepe", subsets, [row["filename"] for row in rows])
    flags = {"clip": {"accuracy": Outcome("accuracy", credit, none, none, np.full(len(rows), 0.5))}}
    found = {row.subset: row for row in estimates(flags, where, signatures={}).rows if row.primary}
    expected = {
        "add_obj": 0.7721, "add_att": 0.6879, "replace_obj": 0.9092, "replace_att": 0.8008, "replace_rel": 0.6920,
        "swap_obj": 0.6138, "swap_att": 0.6396,
    }  # fmt: skip
    assert {name: round(found[name].value, 4) for name in expected} == expected
    assert found["macro"].value == pytest.approx(np.mean(list(expected.values())), abs=1e-4)
    # Images repeat within and across subsets: the cluster bootstrap is primary.
    assert {row.method for row in found.values()} == {"cluster bootstrap (B=10000)"}
    assert found["all"].n_clusters == len(set(where.clusters)) < len(rows)


def fewer_words() -> tuple[dict[str, Outcome], list[str], list[str]]:
    """Return the outcomes, subsets and image files of the preference for fewer words on SugarCrepe."""
    scores, subsets, clusters = [], [], []
    for subset in ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj"):
        rows = json.loads(needed(f"sugar-crepe/data/{subset}.json").read_text(encoding="utf-8"))
        for row in rows.values():
            scores.append(-np.array([[len(row[key].split()) for key in ("caption", "negative_caption")]], dtype=float))
            subsets.append(subset)
            clusters.append(row["filename"])
    return outcomes(scores, [np.array([[True, False]])] * len(scores), sees={"text"}), subsets, clusters


def test_fewer_words_on_sugarcrepe() -> None:
    found, subsets, clusters = fewer_words()
    rows_found = estimates({"words": found}, Layout("sugarcrepe", subsets, clusters), signatures={}).rows
    values = {row.subset: round(row.value, 4) for row in rows_found if row.primary}
    assert (values["add_att"], values["add_obj"], values["all"]) == (0.9913, 0.9867, 0.6736)
    assert min(values.values()) == 0.4437
    assert sum(row.n for row in rows_found if row.primary and row.subset not in ("all", "macro")) == 7511


def test_macro_of_fewer_words_is_as_wide_as_a_plain_bootstrap_by_image() -> None:
    # One subset is near 1 (its failures sit in few images), and half credits abound.
    found, subsets, clusters = fewer_words()
    rows = estimates({"words": found}, Layout("sugarcrepe", subsets, clusters), signatures={}).rows
    widths = {row.subset: row.high - row.low for row in rows if row.primary}
    names, places = np.array(subsets), np.unique(clusters, return_inverse=True)[1]
    credit = found["accuracy"].credit
    parts = {name: (credit[names == name], places[names == name]) for name in sorted(set(subsets))}
    low, high = np.quantile(macro_bootstrap_by_loop(list(parts.values()), draws=400, seed=3), [0.025, 0.975])
    # 400 draws place each bound within a tenth of the width; the jackknife says it without draws.
    assert widths["macro"] == pytest.approx(high - low, rel=0.15)
    assert widths["macro"] == pytest.approx(2 * 1.96 * jackknife_se(list(parts.values())), rel=0.1)
    for name, part in parts.items():
        assert widths[name] == pytest.approx(2 * 1.96 * jackknife_se([part]), rel=0.25 if name == "add_att" else 0.1)


def test_intervals_of_a_dozen_scorers_on_sugarcrepe_take_seconds() -> None:
    found, subsets, clusters = fewer_words()
    rng = np.random.default_rng(0)
    several = {}
    for number in range(12):
        credit = rng.choice([0.0, 0.5, 1.0], size=len(subsets), p=[0.1, 0.1, 0.8] if number % 2 else [0.01, 0.98, 0.01])
        several[str(number)] = {"accuracy": replace(found["accuracy"], credit=credit)}
    start = time.perf_counter()
    rows = estimates(several, Layout("sugarcrepe", subsets, clusters), signatures={}).rows
    assert time.perf_counter() - start < 30
    assert len([row for row in rows if row.primary]) == 12 * 9
