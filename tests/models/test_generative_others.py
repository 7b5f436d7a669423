"""Architectures that no adapter names: read in batches where that gives what single rows give, else one by one."""

import numpy as np
import pytest

from audits.models.generative import generative
from audits.models.generative.causal import Causal
from baselines.engine import Engine
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates
from tests.other_captioners import save_gemma3, save_idefics3, save_llava
from tests.small_captioners import CAPTIONS, IMAGES, picture

ITEM = Candidates("a", IMAGES, CAPTIONS)


@pytest.mark.parametrize("save", [save_llava, save_idefics3, save_gemma3], ids=lambda save: save.__name__[5:])
@pytest.mark.parametrize("score", ["likelihood", "vqascore"])
def test_batches_give_what_single_rows_give(save, score, tmp_path):
    folder = str(save(tmp_path / "model"))
    found = []
    for number, at_once in enumerate((64, 1)):
        own, twin = generative(folder, score=score, conditions=["no_image"], captions_at_once=at_once, device="cpu")
        with Engine(tmp_path / str(number)) as engine:
            found.append([one.score([ITEM], engine)[0].columns[own.columns[-1]] for one in (own, twin)])
        assert own.facts["batches"].startswith("as one by one")
    assert all(np.allclose(left, right, atol=1e-4) for left, right in zip(*found, strict=True))
    assert np.ptp(found[0][0], axis=0).min() > 0  # the image matters
    assert not np.allclose(found[0][0], found[0][1])


def test_what_cannot_be_read_in_batches_is_read_one_by_one_and_the_run_says_why(small_captioner, tmp_path, monkeypatch):
    item = Candidates("a", IMAGES, CAPTIONS)
    own, *_ = generative(str(small_captioner("git")), device="cpu")
    with Engine(tmp_path / "a") as engine:
        [right] = own.score([item], engine)
    other, *_ = generative(str(small_captioner("git")), device="cpu")

    def nothing_kept(adapter, scenes):
        raise TypeError("the model keeps nothing of what it has read")

    monkeypatch.setattr(Causal, "batch", nothing_kept)
    with Engine(tmp_path / "b") as engine:
        [scored] = other.score([item], engine)
    assert np.allclose(scored.columns["unnorm"], right.columns["unnorm"], atol=1e-4)
    assert other.facts["batches"] == (
        "one by one: this architecture cannot be read in batches "
        "(TypeError: the model keeps nothing of what it has read)"
    )


def test_what_cannot_be_read_at_all_is_refused(small_captioner, tmp_path, monkeypatch):
    own, *_ = generative(str(small_captioner("git")), device="cpu")

    def other_inputs(adapter, scene, row):
        raise TypeError("forward() missing 1 required positional argument")

    monkeypatch.setattr(Causal, "single", other_inputs)
    with Engine(tmp_path / "a") as engine, pytest.raises(InputError, match="cannot be asked how likely"):
        own.score([ITEM], engine)


def test_memory_that_runs_out_in_the_check_is_no_misfit(small_captioner, tmp_path, monkeypatch):
    own, *_ = generative(str(small_captioner("git")), device="cpu")
    real, tried = Causal.batch, []

    def once(adapter, scenes):
        tried.append(len(scenes))
        if len(tried) == 1:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        return real(adapter, scenes)

    monkeypatch.setattr(Causal, "batch", once)
    with Engine(tmp_path / "a") as engine:
        own.score([ITEM], engine)
    assert own.facts["batches"].startswith("as one by one")


def test_an_image_that_the_processor_refuses_is_named_with_its_size(small_captioner, tmp_path):
    own, *_ = generative(str(small_captioner("qwen2_vl")), device="cpu")
    with Engine(tmp_path / "a") as engine, pytest.raises(InputError, match="2000 x 2 pixels"):
        own.score([Candidates("a", (picture(1, (2000, 2)),), CAPTIONS)], engine)


def test_a_broken_image_is_named_and_never_replaced(small_captioner, tmp_path):
    own, *_ = generative(str(small_captioner("git")), device="cpu")
    broken = ImageRef("broken.png", data=IMAGES[0].data[:100])
    with Engine(tmp_path / "a") as engine, pytest.raises(InputError, match=r"broken\.png"):
        own.score([Candidates("a", (broken,), CAPTIONS)], engine)
