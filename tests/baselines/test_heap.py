"""Freed memory stays with the process: a second block costs no new pages."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import resource, sys
import torch
from baselines.language.heap import keep_freed_memory
if sys.argv[1] == "kept":
    assert keep_freed_memory()
for _ in range(3):
    torch.ones(10 * 2**20)  # 40 MiB, more than glibc keeps of its own accord
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    torch.ones(10 * 2**20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_blocks_that_were_freed_are_used_again_without_new_pages():
    faults = {}
    for kind in ("kept", "plain"):
        done = subprocess.run([sys.executable, "-c", CODE, kind], cwd=ROOT, capture_output=True, text=True, check=True)
        faults[kind] = int(done.stdout)
    assert faults["kept"] < faults["plain"] / 2


def test_another_c_library_is_left_alone(monkeypatch):
    from baselines.language import heap

    monkeypatch.setattr(heap.platform, "libc_ver", lambda: ("", ""))
    assert heap.keep_freed_memory() is False
