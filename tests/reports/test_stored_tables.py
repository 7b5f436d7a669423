"""Tables of a run folder as they are read back: all of them, some columns, or the rows of some instances."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmarks.errors import InputError
from reports import stored
from reports.stored import read_table


@pytest.fixture
def folder(tmp_path):
    frame = pd.DataFrame({"instance": list("abcab"), "subset": list("vwxyz"), "score": [1.0, 2.0, 3.0, 4.0, 5.0]})
    frame.to_parquet(tmp_path / "scores.parquet")
    return tmp_path


@pytest.mark.parametrize("batch", [1, 2, 100])
def test_rows_of_some_instances_come_in_the_order_of_the_file(folder, monkeypatch, batch):
    monkeypatch.setattr(stored, "BATCH", batch)
    found = read_table(folder, "scores", ids=["b", "gone", "b"], columns=("instance", "score"))
    assert found.to_dict("list") == {"instance": ["b", "b"], "score": [2.0, 5.0]}
    assert read_table(folder, "scores", ids=["c"]).to_dict("list") == {"instance": ["c"], "subset": ["x"], "score": [3]}


def test_no_instance_gives_no_row_but_the_columns(folder):
    none = read_table(folder, "scores", ids=[], columns=("instance", "score"))
    assert list(none.columns) == ["instance", "score"]
    assert len(none) == 0


def test_a_cut_table_is_named(folder):
    path = folder / "scores.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cannot be read"):
        read_table(folder, "scores", ids=["a"])
