"""Images are decoded while the batch before them is encoded, at most two batches at a time."""

import io
import threading

import numpy as np
import pytest
from PIL import Image

from audits.models.dual_encoder import checks
from audits.models.dual_encoder.ahead import Ahead
from audits.models.dual_encoder.schema import Text
from audits.models.dual_encoder.scorer import DualEncoder
from baselines.engine import Engine
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates


def picture(number):
    stream = io.BytesIO()
    Image.new("RGB", (4, 4), (number, 0, 0)).save(stream, "PNG")
    return ImageRef(f"{number}.png", data=stream.getvalue())


class Watched:
    """An encoder that counts which images are prepared and not yet encoded, and in which thread."""

    name, dimension = "watched", 2

    def __init__(self, gate=None):
        self.facts, self.signature, self.gate = {}, {"x": "y"}, gate
        self.waiting, self.most, self.threads, self.prepared = 0, 0, set(), []
        self.lock = threading.Lock()

    def read(self, captions):
        return [Text(np.array([len(one)], np.int32), 1, 1, one, 1) for one in captions]

    def prepare(self, image):
        with self.lock:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            self.threads.add(threading.current_thread().name)
            self.prepared.append(image.getpixel((0, 0))[0])
            if self.gate is not None and len(self.prepared) > self.gate[0]:
                self.gate[1].set()
        return image.getpixel((0, 0))[0]

    def plan(self, texts, tokens):
        return None

    def check(self, texts):
        pass

    def encode_images(self, prepared):
        if self.gate is not None:
            assert self.gate[1].wait(30), "the next batch is prepared while this one is encoded"
        with self.lock:
            self.waiting -= len(prepared)
        return checks.unit(checks.torch.tensor([[1.0, number] for number in prepared]))

    def encode_texts(self, texts):
        return checks.unit(checks.torch.tensor([[1.0, float(len(one.encoded))] for one in texts]))


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "scores.sqlite") as engine:
        yield engine


@pytest.fixture(autouse=True)
def once(monkeypatch):
    """Encode nothing twice: it would blur the counts."""
    monkeypatch.setattr("audits.models.dual_encoder.scorer.repeatable", lambda *_: 0.0)


def batch(count):
    return [Candidates(str(n), (picture(n),), ("a", "bb")) for n in range(count)]


def test_never_more_than_two_batches_wait(work):
    encoder = Watched()
    DualEncoder(encoder, images_per_batch=3).score(batch(20), work)
    assert sorted(encoder.prepared) == list(range(20))
    assert encoder.most <= 6
    assert encoder.waiting == 0


def test_the_next_batch_is_prepared_in_a_thread_while_one_is_encoded(work):
    """Encoding the first batch of 2 waits until a third image is prepared: without a thread it would wait for ever."""
    encoder = Watched(gate=(2, threading.Event()))
    DualEncoder(encoder, images_per_batch=2).score(batch(6), work)
    assert all(name.startswith("images-ahead") for name in encoder.threads)


def test_a_broken_image_is_named_and_the_thread_ends(work):
    broken = Candidates("b", (ImageRef("broken.png", data=picture(1).data[:40]),), ("a", "bb"))
    before = threading.active_count()
    with pytest.raises(InputError, match=r"broken\.png"):
        DualEncoder(Watched(), images_per_batch=2).score([*batch(5), broken], work)
    assert threading.active_count() == before


def test_an_image_that_is_taken_twice_is_prepared_twice():
    made = []
    with Ahead(lambda image: made.append(image.size) or len(made)) as ahead:
        ahead.announce([("k", picture(1))])
        assert (ahead.take("k", picture(1)), ahead.take("k", picture(1))) == (1, 2)
        ahead.announce([("never taken", picture(2))])
