"""Every adapter against the obvious way: one image and one caption at a time, the library's own calls, a plain sum."""

import io

import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoModelForImageTextToText, AutoProcessor

from audits.models.generative import generative
from audits.models.generative.sights import NULLS, null_image
from baselines.engine import Engine
from benchmarks.schema import Candidates
from tests.small_captioners import CAPTIONS, IMAGES, SAVED

NAMES = tuple(SAVED)
QUESTION = "Does this figure show '{text}'? Please answer yes or no."
ITEM = Candidates("a", IMAGES, CAPTIONS)


class Plain:
    """The slow and obvious definition, written out for every architecture."""

    def __init__(self, name, folder):
        self.name = name
        self.processor = AutoProcessor.from_pretrained(folder)
        self.model = AutoModelForImageTextToText.from_pretrained(folder).eval()

    @torch.no_grad()
    def value(self, image, prompt, caption, *, ends=0):
        """Return log P(caption | image, prompt), in nats; with `ends` the closing mark counts as well."""
        tokenizer = self.processor.tokenizer
        count = len(tokenizer(caption, add_special_tokens=False)["input_ids"]) + ends
        if self.name == "blip2_t5":
            return self._t5(image, prompt, caption, ends)
        text = self._text(prompt, has_image=image is not None) + caption
        given = {"text": text} if image is None else {"text": text, "images": image}
        inputs = self.processor(**given, return_tensors="pt")
        ids = inputs["input_ids"]
        if self.name in ("git", "blip"):  # their tokenizers close a text with [SEP]
            ids = ids if ends else ids[:, :-1]
        elif ends:
            ids = torch.cat([ids, torch.tensor([[tokenizer.eos_token_id]])], dim=1)
        if self.name == "blip":
            ids[0, 0] = self.model.config.text_config.bos_token_id
        inputs = {key: each for key, each in inputs.items() if key not in ("input_ids", "attention_mask")}
        if self.name != "qwen2_vl":
            inputs.pop("token_type_ids", None)
        elif ends:
            inputs["mm_token_type_ids"] = torch.nn.functional.pad(inputs["mm_token_type_ids"], (0, 1))
        logits = self._logits(ids, inputs, has_image=image is not None)[0].log_softmax(-1)
        logits = logits[len(logits) - ids.shape[1] :]  # GIT's image stands in front and has no ids
        return sum(float(logits[place - 1, ids[0, place]]) for place in range(ids.shape[1] - count, ids.shape[1]))

    def _text(self, prompt, *, has_image):
        if self.name == "llava_next":  # its tokenizer puts a blank in front of a text, here of the answer
            return f"[INST] {'<image>' + chr(10) if has_image else ''}{prompt} [/INST] "
        if self.name == "qwen2_vl":
            image = "<|vision_start|><|image_pad|><|vision_end|>" if has_image else ""
            return f"<|im_start|>user\n{image}{prompt}<|im_end|>\n<|im_start|>assistant\n"
        return prompt

    def _logits(self, ids, inputs, *, has_image):
        if self.name == "blip" and not has_image:
            return self.model.text_decoder(input_ids=ids).logits
        if self.name == "blip2_opt" and not has_image:
            return self.model.language_model(input_ids=ids).logits
        if self.name == "qwen2_vl" and not has_image:
            inputs = {}
            self.model.model.rope_deltas = None
        return self.model(input_ids=ids, **inputs).logits

    def _t5(self, image, prompt, caption, ends):
        tokenizer = self.processor.tokenizer
        target = tokenizer(caption)["input_ids"][: None if ends else -1]
        given = {"text": prompt} if image is None else {"text": prompt, "images": image}
        inputs = self.processor(**given, return_tensors="pt")
        whole = self.model if image is not None else self.model.language_model
        logits = whole(**inputs, decoder_input_ids=torch.tensor([[0, *target[:-1]]])).logits[0].log_softmax(-1)
        return sum(float(logits[place, one]) for place, one in enumerate(target))


@pytest.fixture(scope="module")
def plain(small_captioner):
    made = {}

    def get(name):
        return made.setdefault(name, Plain(name, small_captioner(name)))

    return get


def opened(ref):
    return Image.open(io.BytesIO(ref.data)).convert("RGB")


def prompt_of(name):
    """A prompt for those that converse; the others continue from nothing, as captioners do."""
    return "Describe the image." if name in ("llava_next", "qwen2_vl", "blip2_t5") else ""


def scores(contestant, cache, item=ITEM):
    with Engine(cache) as engine:
        [scored] = contestant.score([item], engine)
    return scored


@pytest.mark.parametrize("name", NAMES)
def test_the_likelihood_of_every_caption_beside_every_image(name, plain, small_captioner, tmp_path):
    own, *_ = generative(str(small_captioner(name)), prompt=prompt_of(name), device="cpu")
    found = scores(own, tmp_path / "cache")
    wanted = [[plain(name).value(opened(ref), prompt_of(name), one) for one in CAPTIONS] for ref in IMAGES]
    assert np.allclose(found.columns["unnorm"], wanted, atol=1e-4)
    tokens = [len(plain(name).processor.tokenizer(one, add_special_tokens=False)["input_ids"]) for one in CAPTIONS]
    assert found.tokens.tolist() == [tokens] * len(IMAGES)  # caption tokens, none of an image, a mark or a prompt
    assert np.allclose(found.columns["norm"], np.array(wanted) / tokens, atol=1e-4)
    assert np.ptp(found.columns["unnorm"], axis=0).min() > 1e-2  # and the image matters
    assert own.facts["batches"].startswith("as one by one")


@pytest.mark.parametrize("name", NAMES)
def test_the_end_token_is_added_where_it_is_asked_for(name, plain, small_captioner, tmp_path):
    own, *_ = generative(str(small_captioner(name)), prompt=prompt_of(name), end_token=True, device="cpu")
    found = scores(own, tmp_path / "cache")
    wanted = [[plain(name).value(opened(ref), prompt_of(name), one, ends=1) for one in CAPTIONS] for ref in IMAGES]
    assert np.allclose(found.columns["unnorm"], wanted, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_without_the_image_the_text_side_is_asked_alone(name, plain, small_captioner, tmp_path):
    _, twin = generative(str(small_captioner(name)), prompt=prompt_of(name), conditions=["no_image"], device="cpu")
    found = scores(twin, tmp_path / "cache")
    wanted = [plain(name).value(None, prompt_of(name), one) for one in CAPTIONS]
    assert found.columns["unnorm"].shape == (1, len(CAPTIONS))
    assert np.allclose(found.columns["unnorm"][0], wanted, atol=1e-4)


@pytest.mark.parametrize("name", ["git", "llava_next"])
def test_null_images_give_the_mean_of_their_probabilities(name, plain, small_captioner, tmp_path):
    _, twin = generative(str(small_captioner(name)), prompt=prompt_of(name), conditions=["null_images"], device="cpu")
    found = scores(twin, tmp_path / "cache")
    each = [[plain(name).value(null_image(null), prompt_of(name), one) for one in CAPTIONS] for null in NULLS]
    # log((P1 + P2 + P3 + P4) / 4): small probabilities, but none too small for a double.
    wanted = np.log(np.exp(np.array(each)).mean(axis=0))
    assert len(NULLS) == 4
    assert np.allclose(found.columns["unnorm"][0], wanted, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_vqascore_is_the_probability_of_yes_after_the_question(name, plain, small_captioner, tmp_path):
    own, twin = generative(str(small_captioner(name)), score="vqascore", conditions=["no_image"], device="cpu")
    # For those that merge across the border, the question's last sign and the answer are apart: "." then "Yes".
    found, blind = scores(own, tmp_path / "a"), scores(twin, tmp_path / "b")
    asked = [QUESTION.replace("{text}", one) for one in CAPTIONS]
    wanted = [[np.exp(plain(name).value(opened(ref), one, "Yes")) for one in asked] for ref in IMAGES]
    assert np.allclose(np.log(found.columns[""]), np.log(wanted), atol=1e-4)
    assert np.allclose(np.log(blind.columns[""][0]), [plain(name).value(None, one, "Yes") for one in asked], atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("score", ["likelihood", "vqascore"])
def test_batches_and_order_change_nothing(name, score, small_captioner, tmp_path):
    turned = Candidates("a", IMAGES[::-1], CAPTIONS[::-1])
    values = []
    for number, (captions, images, item) in enumerate([(64, 8, ITEM), (1, 1, ITEM), (3, 2, ITEM), (64, 8, turned)]):
        own, *_ = generative(
            str(small_captioner(name)), score=score, captions_at_once=captions, images_at_once=images, device="cpu"
        )
        found = scores(own, tmp_path / str(number), item).columns[own.columns[-1]]
        values.append(found[::-1, ::-1] if item is turned else found)
    for other in values[1:]:
        assert np.allclose(values[0], other, atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_in_bfloat16_scores_stay_near(name, small_captioner, tmp_path):
    exact, *_ = generative(str(small_captioner(name)), device="cpu")
    rough, *_ = generative(str(small_captioner(name)), device="cpu", dtype="bfloat16")
    left, right = (scores(one, tmp_path / str(number)) for number, one in enumerate((exact, rough)))
    assert np.allclose(left.columns["norm"], right.columns["norm"], atol=0.15)
    assert not np.array_equal(left.columns["norm"], right.columns["norm"])
    assert rough.signature["dtype"] == "bfloat16"
