"""Freed memory stays with the process, and weights lie in large pages, once."""

import gc
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from baselines.language import heap

LARGE = Path("/sys/kernel/mm/transparent_hugepage/enabled")
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
    monkeypatch.setattr(heap.platform, "libc_ver", lambda: ("", ""))
    assert heap.keep_freed_memory() is False


def test_an_arena_holds_tensors_apart_at_cache_lines_and_takes_more_memory_at_need(monkeypatch):
    monkeypatch.setattr(heap, "BLOCK", 2**21)
    arena = heap.Arena()
    shapes = [(3, 5), (7,), (1000, 300), (2000, 300), (2, 2)]  # the fourth, of 2.4 MB, is larger than a block
    held = [arena.empty(*shape, dtype=kind) for shape in shapes for kind in (torch.float32, torch.bfloat16)]
    for number, tensor in enumerate(held):
        tensor.fill_(number)
    for number, tensor in enumerate(held):
        assert torch.all(tensor == number)
        assert tensor.data_ptr() % 64 == 0
        assert tensor.is_contiguous()
    assert [tuple(tensor.shape) for tensor in held[::2]] == shapes


def test_weights_move_with_their_values_and_shared_ones_stay_shared():
    first, second, small = torch.nn.Linear(200, 200), torch.nn.Linear(200, 200), torch.nn.Linear(2, 2)
    second.weight = first.weight
    before, places = first.weight.detach().clone(), [first.weight.data_ptr(), small.weight.data_ptr()]
    heap.Arena().move(first, second, small)
    assert torch.equal(first.weight, before)
    assert first.weight.data_ptr() == second.weight.data_ptr() != places[0]
    assert small.weight.data_ptr() == places[1]


def test_a_copy_in_another_dtype_is_rounded_and_leaves_the_values():
    values = torch.tensor([1.0, 1 + 2.0**-9])  # bf16 has eight bits of mantissa: the second one rounds to 1
    assert heap.Arena().copy(values, torch.bfloat16).tolist() == [1.0, 1.0]
    assert values[1] > 1


def test_tensors_outlive_their_arena():
    held = heap.Arena().copy(torch.arange(1000.0))
    gc.collect()
    assert torch.equal(held, torch.arange(1000.0))


def test_a_system_without_large_pages_gets_plain_memory(monkeypatch):
    monkeypatch.delattr(heap.mmap, "MADV_HUGEPAGE", raising=False)
    assert torch.equal(heap.Arena().copy(torch.arange(9)), torch.arange(9))


@pytest.mark.skipif(not LARGE.is_file() or "[never]" in LARGE.read_text(), reason="the system has no large pages")
def test_blocks_lie_in_large_pages():
    held = heap.Arena().copy(torch.zeros(2**24))  # 64 MiB
    begin, kept = held.data_ptr(), 0
    inside = False
    for line in Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        first = line.split()[0]
        if "-" in first and not first.endswith(":"):
            low, high = (int(one, 16) for one in first.split("-"))
            inside = low <= begin < high
        elif inside and first == "AnonHugePages:":
            kept = int(line.split()[1])
    assert kept >= 2**15  # KiB: half of it at least, for the first and last page may be small ones


MOVE = """
import torch
from pathlib import Path
from baselines.language.heap import Arena, keep_freed_memory, return_freed_memory
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
keep_freed_memory()
layers = [torch.nn.Linear(1024, 1024) for _ in range(64)]  # 256 MiB
before = resident()
Arena().move(*layers)
return_freed_memory()
print((resident() - before) / 2**20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_weights_that_move_are_not_held_twice():
    done = subprocess.run([sys.executable, "-c", MOVE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 80  # MiB
