import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.errors import InputError
from reports import files

ROOT = Path(__file__).resolve().parents[2]
HOLD = """
import pathlib, sys, time
from reports import files
lock = files.Lock(pathlib.Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")

    def half(file):
        file.write(b"ne")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        files.write_atomically(path, half)
    assert path.read_text(encoding="utf-8") == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_a_writer_killed_between_write_and_rename_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(path, "old")
    script = (
        "import os, pathlib, signal, sys\nfrom reports import files\n"
        "def write(file):\n    file.write(b'new'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_atomically(pathlib.Path(sys.argv[1]), write)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text(encoding="utf-8") == "old"
    left = [item.name for item in tmp_path.iterdir() if item.name != "a.txt"]
    assert len(left) == 1
    assert left[0].startswith(files.TEMPORARY)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_files_are_as_open_to_others_as_the_user_wants(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        files.write_text(tmp_path / "a.txt", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == mode


def test_json_is_strict_sorted_and_utf8(tmp_path):
    value = {"b": np.float64("nan"), "a": [np.int64(2), np.bool_(True), math.inf], "é": Path("x/y"), "s": {"q", "p"}}
    files.write_json(tmp_path / "a.json", value)
    text = (tmp_path / "a.json").read_bytes().decode("utf-8")

    def refuse(name):
        raise AssertionError(name)

    found = json.loads(text, parse_constant=refuse)
    assert found == {"a": [2, True, "Infinity"], "b": None, "s": ["p", "q"], "é": "x/y"}
    assert list(found) == sorted(found)
    assert "é" in text


def test_json_keeps_a_lone_surrogate_and_refuses_what_it_cannot_hold(tmp_path):
    files.write_json(tmp_path / "a.json", {"name": "a\udc80"})
    assert files.read_json(tmp_path / "a.json") == {"name": "a\udc80"}
    with pytest.raises(TypeError, match="complex"):
        files.write_json(tmp_path / "b.json", {"z": 1j})
    assert not (tmp_path / "b.json").exists()


def test_json_with_a_byte_order_mark_is_read_and_broken_json_names_the_file(tmp_path):
    (tmp_path / "a.json").write_bytes(b'\xef\xbb\xbf{"a": "\xc3\xa9"}')
    assert files.read_json(tmp_path / "a.json") == {"a": "é"}
    (tmp_path / "b.json").write_text('{"a": ', encoding="utf-8")
    with pytest.raises(InputError, match=r"b\.json"):
        files.read_json(tmp_path / "b.json")
    (tmp_path / "c.json").write_bytes(b'{"a": "\xe9"}')
    with pytest.raises(InputError, match=r"c\.json"):
        files.read_json(tmp_path / "c.json")


NAMES = ["org/m", "org_m", "org m", "ORG_M", "CON", "con.txt", "NUL", "com1", "..", ".", "", "../x", "a/../b", "a\\b"]
NAMES += ["x" * 300, "x" * 301, "é", "e\u0301", ".hidden", "trailing.", "trailing ", "a:b", "a?b", "a\x00b", "\udc80"]


def test_safe_names_differ_even_where_case_does_not_count():
    found = [files.safe_name(name).casefold() for name in NAMES]
    assert len(set(found)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_safe_names_are_valid_on_every_system(name, tmp_path):
    safe = files.safe_name(name)
    assert safe == files.safe_name(name)
    assert len(safe) <= 100
    assert set(safe) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
    assert safe[0] not in ".-"
    assert safe[-1] != "."
    assert ".." not in safe
    assert safe.partition(".")[0].upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT1"}
    (tmp_path / safe).write_text("", encoding="utf-8")
    assert (tmp_path / safe).resolve().parent == tmp_path.resolve()


def test_one_lock_at_a_time_within_a_process(tmp_path):
    first = files.Lock(tmp_path)
    with pytest.raises(InputError, match=rf"process {os.getpid()}"):
        files.Lock(tmp_path)
    first.release()
    first.release()
    files.Lock(tmp_path).release()


def test_a_lock_held_elsewhere_refuses_and_kill_frees_it(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(InputError, match=rf"another process[\s\S]*process {holder.pid}[\s\S]*out="):
            files.Lock(tmp_path)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            files.Lock(tmp_path).release()
            return
        except InputError:
            time.sleep(0.05)
    pytest.fail("the lock of a killed process still blocks")
