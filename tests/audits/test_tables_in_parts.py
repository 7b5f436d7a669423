"""Tables that are written in parts hold what the whole ones would: 2,000 pairs against the plain construction."""

import io

import numpy as np
import pandas as pd
import pytest

from audits import tables
from audits.dataset import Dataset
from audits.load import Contestant
from audits.measured import from_cells
from audits.scoring import score
from audits.statistics.bootstrap import replicates
from audits.statistics.comparisons import comparisons
from audits.statistics.sums import cluster_sums
from baselines.engine import Engine
from baselines.length import Length
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from reports import stored

WORDS = ("a", "red", "cup", "stands", "near", "the", "old", "door")


def caption(draw):
    return " ".join(draw.choice(WORDS, size=draw.integers(2, 7)))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    draw = np.random.default_rng(0)
    rows = [
        Instance(f"s:{key}", (ImageRef(f"{key}a"), ImageRef(f"{key}b")), (caption(draw), caption(draw)), np.eye(2))
        for key in range(2000)
    ]
    dataset = Dataset(rows)
    roster, scorer = dataset.roster("demo"), Length()
    with Engine(tmp_path_factory.mktemp("cache") / "scores.sqlite") as engine:
        cells = score(scorer, dataset, engine, seed=42, chunk=512)
    return rows, roster, from_cells(Contestant("blind", scorer), cells, roster, tolerance=0.0)


def read_back(parts):
    file = io.BytesIO()
    stored.write_parts(file, parts)
    return pd.read_parquet(io.BytesIO(file.getvalue()))


def test_outcomes_in_parts_are_those_of_the_whole(run, monkeypatch):
    rows, roster, measured = run
    monkeypatch.setattr(tables, "PART", 700)
    monkeypatch.setattr(stored, "GROUP", 2000)
    found = read_back(tables.outcomes([measured], roster))
    whole = []
    for column in measured.contestant.scorer.columns:
        grids = [np.array(grid) for grid in measured.cells.grids(column, roster.shapes)]  # one after the other
        table = comparisons(grids, [one.gold for one in rows], sees={"text"})
        table.insert(1, "scorer", f"length:{column}")
        whole.append(table)
    wanted = pd.concat(whole, ignore_index=True)
    wanted["instance"] = np.asarray(roster.ids, dtype=object)[wanted["instance"]]
    wanted = wanted.astype({"scorer": "category", "instance": "str"})
    pd.testing.assert_frame_equal(found, wanted)


def test_scores_in_parts_are_those_of_the_whole(run, monkeypatch):
    rows, roster, measured = run
    monkeypatch.setattr(tables, "PART", 700)
    found = read_back(tables.scores([measured], roster))
    assert list(found.columns) == ["instance", "image", "caption", "scorer", "score", "tokens", "truncated", "note"]
    words = found[found["scorer"] == "length:words:fewer"]
    assert words["instance"].tolist() == [one.id for one in rows for _ in one.captions]
    assert words["score"].tolist() == [-len(text.split()) for one in rows for text in one.captions]
    assert words["caption"].tolist() == [0, 1] * 2000
    assert found["scorer"].cat.categories.tolist() == sorted(measured.outcomes)


def test_means_that_are_kept_are_those_that_would_be_drawn():
    values, clusters = np.random.default_rng(1).random(60), np.arange(60) // 2
    column, other = cluster_sums(values, clusters), cluster_sums(values[::-1].copy(), clusters)
    first = replicates([column], 30, draws=50, seed=123)
    again = replicates([other, column], 30, draws=50, seed=123)  # one fresh, one kept
    fresh = replicates([other], 30, draws=50, seed=124)
    assert np.array_equal(again[:, 1], first[:, 0])
    assert not np.array_equal(again[:, 0], fresh[:, 0])
