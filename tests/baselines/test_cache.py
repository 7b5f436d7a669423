"""The cache on disk: two processes, damage, folders that cannot be written, other people's files."""

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from baselines.engine import ScoreCache, cache_folder, database
from baselines.engine.cache import item_digest, task_digest
from baselines.engine.folder import on_network
from benchmarks.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
NAME = task_digest("signature", 1)


def fill(path, *, rows=300):
    with ScoreCache(path) as cache:
        cache.write(NAME, {item_digest(str(n)): np.array([float(n)]) for n in range(rows)})


def test_what_was_committed_first_wins(tmp_path):
    item = item_digest("a")
    with ScoreCache(tmp_path / "c") as one, ScoreCache(tmp_path / "c") as two:
        assert one.write(NAME, {item: np.array([1.0])})[item].tolist() == [1.0]
        assert two.write(NAME, {item: np.array([2.0])})[item].tolist() == [1.0]


def test_many_items_are_read_in_parts(tmp_path):
    fill(tmp_path / "c", rows=1234)
    with ScoreCache(tmp_path / "c") as cache:
        found = cache.read(NAME, [item_digest(str(n)) for n in range(2000)], 1)
    assert len(found) == 1234
    assert found[item_digest("1233")].tolist() == [1233.0]


RACE = """
import sys, time, random
from pathlib import Path
import numpy as np
from baselines.engine import Engine
from baselines.schema import Task
gate, out = Path(sys.argv[2]), Path(sys.argv[3])
def compute(items):
    time.sleep(random.random() / 50)
    return np.array([[random.random()] for _ in items])
out.with_suffix(".ready").touch()
while not gate.exists():
    time.sleep(0.005)
with Engine(Path(sys.argv[1])) as engine:
    values = engine.measure([str(n) for n in range(60)], Task("race", "s", str, len, 6, 1, compute))
np.save(out, values)
"""


def test_processes_that_start_at_once_on_one_new_cache_report_the_same_values(tmp_path):
    gate = tmp_path / "gate"
    outs = [tmp_path / f"{n}.npy" for n in range(3)]
    command = [sys.executable, "-c", RACE, str(tmp_path / "cache"), str(gate)]
    running = [subprocess.Popen([*command, str(out)], cwd=ROOT) for out in outs]
    deadline = time.monotonic() + 60
    while not all(out.with_suffix(".ready").exists() for out in outs) and time.monotonic() < deadline:
        time.sleep(0.01)
    gate.touch()
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    # Each process draws its own random numbers: equal values can only come from one shared commit.
    first, *others = [np.load(out) for out in outs]
    assert all(np.array_equal(first, other) for other in others)


def test_a_file_that_is_no_database_is_named_with_a_next_step(tmp_path):
    path = tmp_path / "cache.sqlite"
    path.write_bytes(b"scores,of,something,else\n" * 400)
    with pytest.raises(InputError) as caught:
        ScoreCache(path)
    assert "damaged" in caught.value.what
    assert str(path) in caught.value.where
    assert "delete cache.sqlite" in caught.value.step


def test_a_file_that_is_damaged_in_the_middle_is_named_with_a_next_step(tmp_path):
    path = tmp_path / "cache.sqlite"
    fill(path, rows=2000)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))
    with pytest.raises(InputError, match="damaged"), ScoreCache(path) as cache:
        cache.read(NAME, [item_digest(str(n)) for n in range(2000)], 1)


def test_an_empty_file_is_a_new_cache(tmp_path):
    (tmp_path / "c").touch()
    fill(tmp_path / "c", rows=1)


def test_a_row_of_another_length_is_damage_not_a_value(tmp_path):
    fill(tmp_path / "c", rows=1)
    with ScoreCache(tmp_path / "c") as cache, pytest.raises(InputError, match="damaged"):
        cache.read(NAME, [item_digest("0")], 2)


def test_somebody_elses_database_is_left_alone(tmp_path):
    path = tmp_path / "mail.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mail (body)")
    other.close()
    with pytest.raises(InputError, match="not a score cache"):
        ScoreCache(path)
    with sqlite3.connect(path) as other:
        assert [row[0] for row in other.execute("SELECT name FROM sqlite_master")] == ["mail"]
    other.close()


def test_a_cache_of_another_version_is_refused(tmp_path):
    fill(tmp_path / "c", rows=1)
    with sqlite3.connect(tmp_path / "c") as raw:
        raw.execute("PRAGMA user_version = 7")
    raw.close()
    with pytest.raises(InputError, match="another version") as caught:
        ScoreCache(tmp_path / "c")
    assert caught.value.got == "version 7"


def test_a_file_in_the_way_of_the_folder_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be written") as caught:
        ScoreCache(tmp_path / "file" / "cache.sqlite")
    assert "another cache folder" in caught.value.step


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs POSIX users")
def test_a_folder_that_may_not_be_written_is_named(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)  # permissions do not bind the superuser
    try:
        with pytest.raises(InputError, match="cannot be written"):
            ScoreCache(folder / "cache.sqlite")
    finally:
        os.seteuid(before)


def test_a_cache_that_is_held_by_another_process_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.1)
    fill(tmp_path / "c", rows=1)
    with ScoreCache(tmp_path / "c") as cache:
        holder = sqlite3.connect(tmp_path / "c", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="held by another process"):
            cache.write(NAME, {item_digest("new"): np.array([1.0])})
        holder.execute("ROLLBACK")
        holder.close()
        assert cache.write(NAME, {item_digest("new"): np.array([1.0])})


def test_captions_with_any_character_have_a_digest():
    texts = ["", "a", "é", "e\u0301", "\ud83d", "\x00", "a\n"]
    assert len({item_digest(text) for text in texts}) == len(texts)


def test_the_number_of_values_is_part_of_the_name():
    assert task_digest("s", 1) != task_digest("s", 2)


def test_the_default_folder_follows_the_platform_convention(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "blind-audits"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().parts[-2:] == (".cache", "blind-audits")


def test_network_file_systems_are_told_by_the_longest_mount_point(tmp_path):
    table = tmp_path / "mounts"
    home = tmp_path / "home dir"
    home.mkdir()
    point = str(home).replace(" ", "\\040")
    table.write_text(f"root / ext4 rw 0 0\nserver:/x {point} nfs4 rw 0 0\nshort\n", encoding="utf-8")
    assert on_network(home, table)
    assert not on_network(tmp_path, table)
    assert not on_network(home, tmp_path / "no table")


def test_no_write_ahead_log_on_a_network_file_system(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "on_network", lambda path: True)
    with ScoreCache(tmp_path / "far") as cache:
        assert cache.journal == "delete"
        cache.write(NAME, {item_digest("a"): np.array([1.0])})
    monkeypatch.setattr(database, "on_network", lambda path: False)
    with ScoreCache(tmp_path / "near") as cache:
        assert cache.journal == "wal"
