"""Torch files are read weights only: plain values come through, code never runs, whatever is broken is refused."""

import pickle

import pytest
import torch

from benchmarks.errors import InputError
from benchmarks.pickled import read_torch


class Evil:
    """An object that would write a file if it were unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_plain_values_come_through(tmp_path):
    value = {"annotations": [{"json": {"caption": " a é "}, "n": 3}], "scores": torch.tensor([1.0, 2.0])}
    torch.save(value, tmp_path / "a.pt")
    found = read_torch(tmp_path / "a.pt")
    assert found["annotations"] == value["annotations"]
    assert found["scores"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("save", [torch.save, lambda value, path: path.write_bytes(pickle.dumps(value))])
def test_code_is_refused_and_not_run(tmp_path, save):
    save({"x": Evil(tmp_path / "ran")}, tmp_path / "a.pt")
    with pytest.raises(InputError, match="never run") as caught:
        read_torch(tmp_path / "a.pt")
    assert "JSON or csv" in str(caught.value)
    assert not (tmp_path / "ran").exists()


def test_broken_files_are_refused_by_name(tmp_path):
    torch.save([1, 2, 3] * 1000, tmp_path / "whole.pt")
    whole = (tmp_path / "whole.pt").read_bytes()
    path = tmp_path / "a.pt"
    for content in (b"", b"x", b"PK\x03\x04", whole[: len(whole) // 2], whole[:-10], b"\x80\x02}q\x00", b"[1, 2]"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"a\.pt"):
            read_torch(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_torch(tmp_path / "gone.pt")
