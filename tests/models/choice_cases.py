"""Build prompted models on a loopback server, and instances to ask them about."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from omegaconf import OmegaConf
from PIL import Image

from audits.choosing import chosen
from audits.models.choice import choice
from benchmarks.images import ImageRef
from benchmarks.schema import Instance

CONF = Path(__file__).resolve().parents[2] / "conf" / "model"
# A test never waits long for what an endpoint asks for; everything else is the shipped default.
QUICK = {"timeout": 30.0, "max_wait": 5.0}


class Silent:
    """Progress that counts."""

    def __init__(self):
        self.total, self.done = 0, 0

    def begin(self, label, total, unit):
        self.total += total

    def advance(self, units):
        self.done += units

    def end(self):
        """Nothing to close."""


def built(url, cache, **options):
    """Build what `model=choice` builds, with the shipped YAML and these options."""
    leaf = OmegaConf.to_container(OmegaConf.load(CONF / "choice.yaml"), resolve=False)
    given = {key: value for key, value in leaf.items() if key not in ("_target_", "card")}
    given |= {"base_url": url, "model": "tiny", "cache": str(cache), **QUICK, **options}
    return choice(**given)


def model(url, cache, **options):
    """Build the model alone."""
    [one] = built(url, cache, conditions=["image"], **options)
    return one


def twin(url, cache, **options):
    """Build the blind twin alone."""
    [one] = built(url, cache, conditions=["no_image"], **options)
    return one


def ask(chooser, instances, *, seed=42):
    """Ask about instances, as the runner does."""
    return chosen(chooser, instances, Silent(), seed=seed)


def png(colour, size=(8, 6)):
    """A small picture as a PNG file."""
    stream = io.BytesIO()
    Image.new("RGB", size, colour).save(stream, "PNG")
    return stream.getvalue()


def picture(number):
    """A picture of its own for each number."""
    return ImageRef(f"{number}.png", data=png((number % 256, number // 256, 7)))


def wide(key, captions=("yes", "no"), right=0):
    """One image, several captions."""
    gold = np.zeros((1, len(captions)), dtype=bool)
    gold[0, right] = True
    return Instance(f"w:{key}", (picture(key),), tuple(f"{text} {key}" for text in captions), gold, subset="w")


def tall(key, images=2, right=0):
    """One caption, several images."""
    gold = np.zeros((images, 1), dtype=bool)
    gold[right, 0] = True
    pictures = tuple(picture(1000 + 10 * key + place) for place in range(images))
    return Instance(f"t:{key}", pictures, (f"it is {key}",), gold, subset="t")


def square(key, *, turned=False):
    """A 2x2; turned, the first caption belongs to the second image."""
    gold = np.eye(2, dtype=bool)[:, ::-1] if turned else np.eye(2, dtype=bool)
    captions = (f"left {key}", f"right {key}")
    pictures = (picture(5000 + 2 * key), picture(5001 + 2 * key))
    return Instance(f"q:{key}", pictures, captions[::-1] if turned else captions, gold, subset="q")


def truthful(instances):
    """Behave like a model that is always right: it knows the pictures by their bytes."""
    from tests.models.choice_server import say

    fits = {}
    for one in instances:
        for row, image in enumerate(one.images):
            fits.setdefault(image.data, set()).update(one.captions[place] for place in np.flatnonzero(one.gold[row]))

    def behave(seen):
        if len(seen.images) == 1:
            known = fits[seen.images[0]]
            return say("CHOICE: " + next(letter for letter, caption in seen.options.items() if caption in known))
        caption = next(line for line in seen.text.splitlines() if any(line in known for known in fits.values()))
        return say("CHOICE: " + "ABCDEFGH"[next(at for at, data in enumerate(seen.images) if caption in fits[data])])

    return behave


def means(recalled):
    """The mean credit of every outcome."""
    return {name: float(np.nanmean(one.credit)) for name, one in recalled.outcomes.items()}
