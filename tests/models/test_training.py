"""The training of the small models: batches by hand, the same files twice, files that the libraries read."""

import dataclasses
import json
from hashlib import sha256

import numpy as np
import open_clip
import pytest
import torch
from transformers import AutoModelForImageTextToText, AutoProcessor, AutoTokenizer

from audits.models.training import captioner, dual_encoder
from audits.models.training.files import generator_digest, halved
from audits.models.training.loop import Recipe, batches, moved, pixels, second_stage, train
from audits.models.training.scenes import Pairs, pairs_of, texts
from audits.models.training.ship import ship
from audits.models.training.tokens import CONTEXT, train_tokenizer
from benchmarks.tableaux import specification

TINY = Recipe(scenes=3, seed=11, held_out_scenes=2, held_out_seed=12, steps=3, batch=2, warmup=1, rate=1e-3)
POLISHED = dataclasses.replace(TINY, polish=2)


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    return pairs_of(specification(3, 11), drawn=64)


@pytest.fixture(scope="module")
def tokenizer(pairs):
    return train_tokenizer(texts(pairs.captions))


def test_pictures_are_moved_by_hand() -> None:
    picture = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1)
    # Down by one, left by one: the first row repeats, the last column repeats.
    [found] = moved(picture, np.array([[1, -1]]))
    assert found[:, :, 0].tolist() == [[1, 2, 2], [1, 2, 2], [4, 5, 5]]
    assert (moved(picture, np.array([[0, 0]])) == picture).all()


def test_base_and_foil_of_a_pair_are_in_one_batch_and_moved_alike(pairs) -> None:
    [batch] = batches(pairs, dataclasses.replace(TINY, steps=1, batch=3, shift=0), together=True)
    assert batch.images.shape[0] == 6
    sides = [[(base, foil) for base, foil in tiers] for tiers in pairs.captions]
    for at in range(3):
        told = [(captions[at], captions[at + 3]) for captions in batch.captions]
        row = sides.index(told)
        assert (batch.images[at] == pairs.images[pairs.base[row]]).all()
        assert (batch.images[at + 3] == pairs.images[pairs.foil[row]]).all()
    [still] = batches(pairs, dataclasses.replace(TINY, steps=1, batch=3, shift=0), together=True)
    [shifted] = batches(pairs, dataclasses.replace(TINY, steps=1, batch=3, shift=2), together=True)
    for at in range(3):
        # The same shift turns the one picture into the other, for base and foil.
        ways = [(down, right) for down in range(-2, 3) for right in range(-2, 3)]
        fits = [
            {way for way in ways if (moved(still.images[[side]], np.array([way]))[0] == shifted.images[side]).all()}
            for side in (at, at + 3)
        ]
        assert fits[0] & fits[1]


def test_tiers_take_turns_or_come_together(pairs) -> None:
    recipe = dataclasses.replace(TINY, steps=3)
    lengths = [np.mean([len(text) for text in batch.captions[0]]) for batch in batches(pairs, recipe, together=False)]
    assert lengths[0] < lengths[1] < lengths[2]
    assert {len(batch.captions) for batch in batches(pairs, recipe, together=True)} == {3}


def test_a_batch_holds_each_scene_once(pairs) -> None:
    scene_of = dict(zip(pairs.captions, pairs.scenes.tolist(), strict=True))
    for batch in batches(pairs, dataclasses.replace(TINY, batch=9), together=True):
        count = len(batch.captions[0]) // 2
        keys = [tuple((told[at], told[at + count]) for told in batch.captions) for at in range(count)]
        assert sorted(scene_of[key] for key in keys) == [0, 1, 2]


def test_drawn_pictures_are_kept_and_found_again(pairs, tmp_path) -> None:
    first = pairs_of(specification(3, 11), drawn=64, cache=tmp_path)
    [kept] = tmp_path.iterdir()
    assert (first.images == pairs.images).all()
    np.save(kept, np.zeros_like(first.images))
    assert not pairs_of(specification(3, 11), drawn=64, cache=tmp_path).images.any()
    assert pairs_of(specification(3, 12), drawn=64, cache=tmp_path).images.any()


def test_several_processes_draw_the_same(pairs) -> None:
    assert (pairs_of(specification(3, 11), drawn=64, workers=2).images == pairs.images).all()


def test_any_text_can_be_encoded_and_the_end_has_the_largest_id(tokenizer) -> None:
    text = "Émile's 漢字, a red mug\nwith 3 🙂"
    ids = tokenizer(text)["input_ids"]
    assert tokenizer.decode(ids, skip_special_tokens=True) == text
    assert (ids[0], ids[-1]) == (tokenizer.bos_token_id, tokenizer.eos_token_id)
    assert max(tokenizer.get_vocab().values()) == tokenizer.eos_token_id == len(tokenizer) - 1


def test_captions_fit_the_context(pairs, tokenizer) -> None:
    assert max(len(tokenizer(text)["input_ids"]) for text in texts(pairs.captions)) <= CONTEXT


def test_the_text_tower_is_cut_where_it_changes_nothing(tokenizer) -> None:
    torch.manual_seed(0)
    made = dual_encoder.DualEncoder(tokenizer)
    made.model.eval()
    captions = ["a red mug", "a mug and a vase on a wooden table in a garden", "a"]
    whole = tokenizer(captions, padding="max_length", max_length=CONTEXT, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        assert torch.allclose(made._encode_text(captions), made.model.encode_text(whole), atol=1e-5)


def test_the_loss_of_the_captioner_is_the_librarys_own(pairs, tokenizer) -> None:
    torch.manual_seed(0)
    made = captioner.Captioner(tokenizer)
    made.model.eval()
    [batch] = batches(pairs, dataclasses.replace(TINY, steps=1), together=False)
    given = tokenizer(batch.captions[0], padding=True, return_tensors="pt")
    labels = given["input_ids"].masked_fill(given["attention_mask"] == 0, -100)
    with torch.inference_mode():
        own = made.loss(batch)
        theirs = made.model(**given, pixel_values=pixels(batch.images), labels=labels).loss
    assert own.item() == pytest.approx(theirs.item(), abs=1e-5)


@pytest.mark.parametrize("kind", [dual_encoder.DualEncoder, captioner.Captioner])
def test_training_learns_a_handful_of_pairs(kind, pairs, tokenizer) -> None:
    torch.manual_seed(0)
    made = kind(tokenizer)
    few = Pairs(pairs.images, pairs.base[:1], pairs.foil[:1], pairs.captions[:1], ["x"], pairs.scenes[:1])
    losses = train(made, few, dataclasses.replace(TINY, steps=24, batch=1, warmup=4, shift=0))
    assert np.mean(losses[-3:]) < 0.6 * np.mean(losses[:3])


def test_every_row_chooses_among_all_and_between_the_two_of_its_pair() -> None:
    # Two pairs: rows and columns are base 1, base 2, foil 1, foil 2; the pair of row 0 is column 2.
    logits = np.array([[2.0, 0.0, 1.0, -1.0], [0.0, 1.0, 0.5, 1.0], [0.0, 0.0, 3.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    among = -np.mean(np.log(np.exp(logits).diagonal() / np.exp(logits).sum(axis=1)))
    apart = [2.0 - 1.0, 1.0 - 1.0, 3.0 - 0.0, 0.0 - 0.0]
    between = {sharper: np.mean([np.log(1 + np.exp(-sharper * gap)) for gap in apart]) for sharper in (1.0, 5.0)}
    given = torch.tensor(logits)
    assert dual_encoder._directed(given, 1.0, 1.0).item() == pytest.approx(among + between[1.0])
    assert dual_encoder._directed(given, 4.0, 5.0).item() == pytest.approx(among + 4 * between[5.0])


def test_a_pair_is_told_apart_by_the_way_it_differs(tokenizer) -> None:
    """Two pairs in the plane: both differences of the pictures point right; those of the captions right and left."""
    made = dual_encoder.DualEncoder(tokenizer)
    images = torch.tensor([[1.0, 0.0], [0.3, 0.1], [0.999, 0.0], [0.0, 0.1]])  # base 1, base 2, foil 1, foil 2
    texts = torch.tensor([[0.5, 0.5], [0.0, 1.0], [0.0, 0.5], [0.7, 1.0]])
    # Cosines of differences: picture 1 with caption 1 is 1, with caption 2 is -1, and so for picture 2.
    scale = np.exp(dual_encoder.SHARPNESS * np.array([[1.0, -1.0], [1.0, -1.0]]))
    both = np.concatenate([scale, 1 / scale], axis=1)  # either way round
    by_picture = -np.mean(np.log(both[[0, 1], [0, 1]] / both.sum(axis=1)))
    turned = np.concatenate([scale.T, 1 / scale.T], axis=1)
    by_caption = -np.mean(np.log(turned[[0, 1], [0, 1]] / turned.sum(axis=1)))
    assert made._turned(images, texts).item() == pytest.approx(by_picture + by_caption, rel=1e-4)
    assert made.right == [0.5]


def test_the_second_stage_draws_anew() -> None:
    assert second_stage(POLISHED) == dataclasses.replace(POLISHED, steps=2, warmup=20, rate=6e-4, draw=1)


@pytest.mark.parametrize("name", ["dual_encoder", "captioner"])
def test_the_same_recipe_writes_the_same_files(name, tmp_path) -> None:
    first, second = (
        ship(name, POLISHED if name == "dual_encoder" else TINY, tmp_path / place, cache=tmp_path / "drawn")
        for place in ("one", "two")
    )
    assert first["sha256"] == second["sha256"]
    for file, digest in first["sha256"].items():
        assert sha256((tmp_path / "one" / file).read_bytes()).hexdigest() == digest
    assert json.loads((tmp_path / "one" / "card.json").read_text(encoding="utf-8")) == first
    assert first["generator"] == generator_digest()
    assert first["held_out"] == second["held_out"]
    other = ship(name, dataclasses.replace(TINY, draw=1), tmp_path / "three", cache=tmp_path / "drawn")
    assert other["sha256"] != first["sha256"]


def test_held_out_scenes_cannot_be_the_training_scenes(tmp_path) -> None:
    with pytest.raises(ValueError, match="seed 11 for both"):
        ship("dual_encoder", dataclasses.replace(TINY, held_out_seed=11), tmp_path)


def test_open_clip_reads_what_was_written(pairs, tmp_path) -> None:
    ship("dual_encoder", TINY, tmp_path)
    folder = f"local-dir:{tmp_path}"
    model, _, transform = open_clip.create_model_and_transforms(folder)
    tokens = open_clip.get_tokenizer(folder)(["a red mug", "a blue mug"])
    model.eval()
    made = dual_encoder.DualEncoder(AutoTokenizer.from_pretrained(tmp_path))
    made.model.load_state_dict(model.state_dict())
    made.model.eval()
    rows = np.array([[0, 1]])
    with torch.inference_mode():
        images = model.encode_image(pixels(pairs.images[:2]), normalize=True)
        theirs = images @ model.encode_text(tokens, normalize=True).T
    own = made.score(pairs.images[:2], ["a red mug", "a blue mug"], rows)
    assert np.allclose(own[0], theirs.numpy(), atol=1e-5)
    assert transform.transforms[0].size == 64


def test_transformers_reads_what_was_written(pairs, tmp_path) -> None:
    ship("captioner", TINY, tmp_path)
    model = AutoModelForImageTextToText.from_pretrained(tmp_path)
    assert model.dtype == torch.float32
    processor = AutoProcessor.from_pretrained(tmp_path)
    seen = processor.image_processor(list(pairs.images[:1]), return_tensors="pt")["pixel_values"]
    assert torch.allclose(seen, pixels(pairs.images[:1]), atol=1e-6)
    made = captioner.Captioner(processor.tokenizer)
    made.model.load_state_dict(model.state_dict())
    made.model.eval()
    text = "a red mug"
    ids = processor.tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        logits = model(input_ids=ids, pixel_values=seen).logits[0, -ids.shape[1] :]
    # The obvious way: one token after the other, the end mark not counted.
    nats = [torch.log_softmax(logits[at], dim=0)[ids[0, at + 1]].item() for at in range(ids.shape[1] - 2)]
    own = made.score(pairs.images[:1], [text, text], np.array([[0, 0]]))
    assert own[0, 0, 0] == pytest.approx(np.mean(nats), abs=1e-4)


def test_weights_are_rounded_before_they_are_scored(tokenizer) -> None:
    made = captioner.Captioner(tokenizer)
    before = sum(weight.numel() for weight in made.model.parameters())
    found = halved(made.model)
    assert sum(tensor.numel() for tensor in found.values()) == before
    assert all(tensor.dtype == torch.float16 for tensor in found.values())
    assert all((weight == weight.half().float()).all() for weight in made.model.parameters())
