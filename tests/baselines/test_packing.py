"""Prefix trees: what is laid out, by hand and against the slow, obvious definition; and how rows are cut into packs."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baselines.engine.plan import check_partition
from baselines.language.packing import plan, tree
from baselines.language.rows import Row

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "sugar-crepe" / "data"


def row(*ids, scored=None):
    count = len(ids) - 1 if scored is None else scored
    return Row(tuple(ids), count, count, count)


def reads(rows):
    """Return every distinct beginning that is read: the last id of a row is only predicted."""
    return {one.ids[:end] for one in rows for end in range(1, len(one.ids))}


def test_a_shared_beginning_is_laid_out_once():
    # Rows 0 1 2 3, 0 1 2 4, 0 1 5: read are 0, 0 1 and 0 1 2 (3 nodes for 3 + 3 + 2 = 8 tokens);
    # predicted are 1 (thrice the same step), 2 (twice the same), 3, 4, 5: 5 steps for 8 scored tokens.
    made = tree([row(0, 1, 2, 3), row(0, 1, 5), row(0, 1, 2, 4)])
    assert made.tokens.tolist() == [0, 1, 2]
    assert made.depths.tolist() == [0, 1, 2]
    assert made.parents.tolist() == [-1, 0, 1]
    assert list(zip(made.nodes.tolist(), made.targets.tolist(), strict=True)) == [
        (0, 1),
        (1, 2),
        (1, 5),
        (2, 3),
        (2, 4),
    ]
    values = np.array([-1.0, -2.0, -4.0, -8.0, -16.0])
    # 1 + 2 + 8 = 11; 1 + 4 = 5; 1 + 2 + 16 = 19, in the order given.
    assert made.sums(values, 3).tolist() == [-11, -5, -19]


def test_a_row_that_begins_another_equal_rows_and_single_tokens():
    # 0 1 begins 0 1 2; 0 1 stands there twice; 0 9 is a single token. Nodes 0 and 0 1; steps 0>1, 0>9, 1>2.
    made = tree([row(0, 1, 2), row(0, 1), row(0, 9), row(0, 1)])
    assert made.tokens.tolist() == [0, 1]
    assert made.sums(np.array([-1.0, -2.0, -4.0]), 4).tolist() == [-5, -1, -2, -1]


def test_only_nodes_before_a_scored_token_have_steps():
    # The query 7 8 conditions: of 0 7 8 1 2 and 0 7 8 3 only the captions 1 2 and 3 are scored.
    made = tree([row(0, 7, 8, 1, 2, scored=2), row(0, 7, 8, 3, scored=1)])
    assert made.tokens.tolist() == [0, 7, 8, 1]
    assert list(zip(made.nodes.tolist(), made.targets.tolist(), strict=True)) == [(2, 1), (2, 3), (3, 2)]


def test_the_same_ids_scored_to_different_extents_share_their_nodes():
    made = tree([row(0, 1, 2), row(0, 1, 2, scored=1)])
    assert made.tokens.tolist() == [0, 1]
    assert made.sums(np.array([-1.0, -2.0]), 2).tolist() == [-3, -2]


def test_each_node_sees_itself_and_its_ancestors():
    # 0 -> 1 -> 2 and 0 -> 3: depth first 0 1 2 3.
    made = tree([row(0, 3, 9), row(0, 1, 2, 9)])
    assert made.tokens.tolist() == [0, 1, 2, 3]
    assert made.visible().astype(int).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 1]]


def test_rows_without_a_common_start_are_a_forest():
    made = tree([row(1, 5, 6), row(0, 5, 6)])
    assert made.parents.tolist() == [-1, 0, -1, 2]
    assert made.visible()[2].tolist() == [False, False, True, False]


ROWS = st.lists(
    st.lists(st.integers(1, 3), min_size=1, max_size=6).map(lambda ids: row(0, *ids)), min_size=1, max_size=12
)


@given(ROWS)
def test_nodes_are_the_distinct_beginnings_and_each_sees_its_own(rows):
    made = tree(rows)
    seen = made.visible()
    paths = [tuple(made.tokens[np.flatnonzero(seen[node])].tolist()) for node in range(len(made.tokens))]
    assert set(paths) == reads(rows)
    assert len(paths) == len(set(paths))
    assert made.depths.tolist() == [len(path) - 1 for path in paths]
    # The value of a step is a number of its own, so a row's sum tells which steps it took.
    values = {}
    for node, target in zip(made.nodes.tolist(), made.targets.tolist(), strict=True):
        values[(*paths[node], target)] = float(2 ** len(values))
    found = made.sums(np.array(list(values.values())), len(rows))
    expected = [
        sum(values[one.ids[: end + 1]] for end in range(len(one.ids) - one.scored, len(one.ids))) for one in rows
    ]
    assert found.tolist() == expected


@given(ROWS, st.integers(1, 12))
def test_a_plan_is_a_partition_into_trees_that_fit(rows, nodes):
    distinct = list({one.key: one for one in rows}.values())
    packs = plan(distinct, nodes)
    check_partition(packs, len(distinct))
    for pack in packs:
        held = len(tree([distinct[position] for position in pack]).tokens)
        assert held <= nodes or len(pack) == 1
    again = plan(distinct[::-1], nodes)
    name = lambda packs, rows: [[rows[position].key for position in pack] for pack in packs]  # noqa: E731
    assert name(again, distinct[::-1]) == name(packs, distinct)


def test_packs_are_filled_before_another_is_begun():
    # Trees of at most 3 nodes: 0 1 (2 nodes) + 0 2 (one more) fit, 0 3 begins the next.
    rows = [row(0, 3, 9), row(0, 1, 9), row(0, 2, 9)]
    assert plan(rows, 3) == [[1, 2], [0]]
    assert plan(rows, 4) == [[1, 2, 0]]
    assert plan([], 4) == []


@pytest.mark.real_data
@pytest.mark.offline_pack
def test_sugarcrepe_shares_as_many_tokens_as_was_counted():
    from baselines.language import gguf
    from baselines.likelihood import Likelihood

    if not DATA.is_dir():
        pytest.skip(f"the released files are not at {DATA.name}")
    if gguf.offline_gguf() is None:
        pytest.skip("requirements/offline-models.txt is not installed")
    captions = {}
    for path in sorted(DATA.glob("*.json")):
        for one in json.loads(path.read_text(encoding="utf-8")).values():
            captions[one["caption"]] = captions[one["negative_caption"]] = None
    rows = Likelihood(device="cpu")._rows([("", caption) for caption in captions])
    assert len(rows) == 11_844
    assert sum(one.scored for one in rows) == 154_402  # start tokens not counted
    beginnings = {one.ids[:end] for one in rows for end in range(2, len(one.ids) + 1)}
    assert len(beginnings) == 108_066  # without start tokens, with the last ones, which are never read
    nodes = sum(len(tree([rows[position] for position in pack]).tokens) for pack in plan(rows, 256))
    assert len(reads(rows)) == 96_251
    # One tree for all would read 96,251; cut into packs of 256 some beginnings are read once per pack.
    assert 96_251 < nodes < 99_000
