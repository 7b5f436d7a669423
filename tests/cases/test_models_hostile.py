"""Hostile models and endpoints: weights that are none, files that hold code, replies that spoil a run or leak a key."""

import json
import os
import pickle
from copy import deepcopy
from datetime import datetime

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer

from audits.checks import refuse_changed_images
from audits.models.choice.reply import NoReplyError, read
from audits.models.dual_encoder.hub_models import from_transformers
from audits.models.dual_encoder.openclip import from_open_clip
from audits.models.generative import generative
from audits.models.generative.core import Settings
from baselines.engine import Engine
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates, Instance
from tests.audits.conftest import cli, environment  # noqa: F401
from tests.models.choice_cases import ask, model, picture, wide
from tests.models.choice_server import Reaction, always_a, serving
from tests.small_captioners import save_git
from tests.small_encoders import VIT, save_open_clip, save_transformers

KEY = "k3y-that-nobody-may-see-0123456789"
ITEM = [Candidates("a", (picture(1),), ("a red cup", "a blue cup"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("encoder") / "vit"
    save_open_clip(found, deepcopy(VIT))
    return found


@pytest.fixture
def work(tmp_path):
    with Engine(tmp_path / "scores.sqlite") as engine:
        yield engine


def changed(folder, path, change):
    """Save the weights of a folder with those named in `change` replaced."""
    state = load_file(folder / "open_clip_model.safetensors")
    save_file({key: change(value) if key == "visual.proj" else value for key, value in state.items()}, path)
    return path


def refused(folder, path, work):
    with pytest.raises(InputError) as told:
        from_open_clip(str(folder), checkpoint=str(path), activation="gelu", device="cpu").score(ITEM, work)
    return told.value


# --- weights


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_one_weight_that_is_no_number_is_refused_by_name(folder, tmp_path, work, number):
    def spoil(value):
        value = value.clone()
        value[0, 0] = number
        return value

    told = refused(folder, changed(folder, tmp_path / "w.safetensors", spoil), work)
    assert "visual.proj" in told.got
    assert "1 of " in told.got


def test_a_captioner_with_a_weight_that_is_no_number_is_refused(tmp_path, work):
    saved = save_git(tmp_path / "git")
    state = load_file(saved / "model.safetensors")
    name = next(key for key in state if key.endswith("query.weight"))
    state[name][0, 0] = float("nan")
    save_file(state, saved / "model.safetensors", metadata={"format": "pt"})
    [scorer, *_] = generative(str(saved), device="cpu", conditions=["no_image"])
    with pytest.raises(InputError, match="no numbers") as told:
        scorer.score(ITEM, work)
    assert name in told.value.got


def test_weights_packed_as_whole_numbers_are_no_weights(folder, tmp_path, work):
    # Without its scale, 0.013 as the eight-bit 1 would be read as the weight 1.0.
    path = changed(folder, tmp_path / "w.safetensors", lambda value: (value * 100).to(torch.int8))
    told = refused(folder, path, work)
    assert "1 as whole numbers" in told.got
    assert "visual.proj" in told.got


class Code:
    def __reduce__(self):
        return os.mkdir, (os.environ["WOULD_BE_MADE"],)


@pytest.mark.parametrize("save", [lambda one, path: path.write_bytes(pickle.dumps(one, protocol=2)), torch.save])
def test_code_in_a_checkpoint_is_named_not_run_and_running_it_is_not_advised(folder, tmp_path, work, monkeypatch, save):
    monkeypatch.setenv("WOULD_BE_MADE", str(tmp_path / "made"))
    save({"state_dict": Code()}, tmp_path / "w.pt")
    told = refused(folder, tmp_path / "w.pt", work)
    assert not (tmp_path / "made").exists()
    assert "it holds more than tensors" in told.got
    assert "weights_only` to `False" not in str(told)
    assert "Re-running" not in str(told)


def test_an_empty_checkpoint_says_what_is_wrong_with_it(folder, tmp_path, work):
    (tmp_path / "w.pt").write_bytes(b"")
    assert not refused(folder, tmp_path / "w.pt", work).got.endswith(": ")


def test_a_tokenizer_of_another_model_is_refused_where_its_ids_are_not_known(tmp_path, work):
    save_transformers(tmp_path / "clip", "clip")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "clip")
    known = len(tokenizer)
    tokenizer.add_tokens(["zebra"])  # the next id, for which the text tower has no embedding
    tokenizer.save_pretrained(tmp_path / "clip")
    scorer = from_transformers(str(tmp_path / "clip"), device="cpu")
    with pytest.raises(InputError, match="ids that the model does not know") as told:
        scorer.score([Candidates("a", (picture(1),), ("a red cup", "a zebra"))], work)
    assert f"id {known} for 'a zebra'" in told.value.got


def test_a_captioner_with_the_tokenizer_of_another_model_is_refused(tmp_path, work):
    saved = save_git(tmp_path / "git")
    tokenizer = AutoTokenizer.from_pretrained(saved)
    known = len(tokenizer)
    tokenizer.add_tokens(["zebra"])
    tokenizer.save_pretrained(saved)
    [scorer, *_] = generative(str(saved), device="cpu", conditions=[])
    with pytest.raises(InputError, match="ids that the model does not know") as told:
        scorer.score([Candidates("a", (picture(1),), ("a red cup", "a zebra"))], work)
    assert f"id {known} for 'a zebra'" in told.value.got


# --- replies


def body(content="CHOICE: A", finish="stop", model="m", **message):
    choice = {"finish_reason": finish, "message": {"content": content, **message}}
    return json.dumps({"choices": [choice], "model": model}).encode()


def test_half_a_character_in_a_reply_is_spelt_out():
    # json.dumps writes \ud800 as an escape, which JSON may hold and UTF-8 may not.
    found = read(body("CHOICE: A \ud800", model="\udfff", refusal="\ud801"))
    assert (found.text, found.model, found.refusal) == (r"CHOICE: A \ud800", r"\udfff", r"\ud801")


def test_parts_of_a_reply_are_texts_or_nothing():
    assert read(body([{"text": "CHOICE: \ud800"}, {"text": 5}, "x", {"text": "A"}])).text == r"CHOICE: \ud800A"


def test_a_body_of_lists_in_lists_is_no_reply():
    with pytest.raises(NoReplyError, match="no JSON"):
        read(b"[" * 200_000)


def test_a_body_of_lists_in_lists_is_tried_again_and_the_run_goes_on(tmp_path):
    def behave(seen):
        return always_a(seen) if seen.times > 1 else Reaction(b"[" * 100_000)

    with serving(behave) as server:
        found = ask(model(server.url, tmp_path, retries=1), [wide(1)])
    assert {*found.answers["state"]} == {"answered"}
    assert len(server.seen) == 4  # two orders, each once in vain


def test_a_count_of_tokens_that_no_reply_has_is_no_count():
    reply = json.loads(body())
    for count, kept in ((10**30, -1), (2**62, -1), (-1, -1), (True, -1), (5, 5)):
        reply["usage"] = {"prompt_tokens": count, "completion_tokens": count}
        found = read(json.dumps(reply).encode())
        assert (found.tokens_in, found.tokens_out) == (kept, kept)


def test_a_key_that_comes_back_in_any_field_is_kept_nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("A_NAME_THAT_SAYS_NOTHING", KEY)

    def behave(seen):
        key = seen.headers["authorization"]
        return Reaction(body(f"CHOICE: A\n{key}", finish=f"content_filter {key}", model=key, refusal=key))

    with serving(behave) as server:
        asked = model(server.url, tmp_path, key_env="A_NAME_THAT_SAYS_NOTHING")
        found = ask(asked, [wide(1)])
    assert KEY in server.seen[0].headers["authorization"]
    assert KEY not in repr((found, asked.facts))
    assert KEY.encode() not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_a_key_of_one_letter_does_not_blot_out_the_answers(tmp_path, monkeypatch):
    monkeypatch.setenv("LOCAL_KEY", "A")  # a server of one's own takes any
    with serving(always_a) as server:
        found = ask(model(server.url, tmp_path, key_env="LOCAL_KEY"), [wide(1)])
    assert {*found.answers["answer"]} == {"CHOICE: A"}
    assert {*found.answers["state"]} == {"answered"}


# --- prompts


@pytest.mark.parametrize(
    ("options", "got"),
    [
        ({"prompt": "{quary} a picture of"}, "{quary}"),
        ({"prompt": "{query}{text}"}, "{text}"),
        ({"score": "vqascore", "question": "Is this {caption} or {text}?"}, "{caption}"),
    ],
)
def test_a_field_that_nothing_fills_in_is_refused_and_not_read_by_the_model(tmp_path, options, got):
    with pytest.raises(InputError) as told:
        generative(str(save_git(tmp_path / "git")), device="cpu", **options)
    assert told.value.got == got
    assert told.value.step


# --- options of batches


@pytest.mark.parametrize("number", [0, -1, "many", 1.5, True])
def test_a_size_of_a_batch_is_refused_by_its_own_name(folder, number):
    with pytest.raises(InputError) as told:
        from_open_clip(str(folder), device="cpu", images_per_batch=number)
    assert (told.value.where, told.value.got) == ("images_per_batch", repr(number))
    with pytest.raises(InputError) as told:
        Settings("nowhere", captions_at_once=number)
    assert (told.value.where, told.value.got) == ("captions_at_once", repr(number))


# --- an endpoint that sends on


def test_an_endpoint_that_sends_on_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("LOCAL_KEY", KEY)
    with serving(always_a) as other:
        elsewhere = {"location": f"{other.url}/chat/completions"}
        with serving(lambda seen: Reaction(b"", 307, elsewhere)) as server:
            with pytest.raises(InputError, match="refuses the first request") as told:
                ask(model(server.url, tmp_path, key_env="LOCAL_KEY"), [wide(1)])
            assert len(server.seen) == 1
        # Neither pictures nor captions went to an address that nobody named.
        assert other.seen == []
    assert "307" in told.value.got
    assert f"{other.url}/chat/completions" in told.value.got


# --- images that change under a finished run


def test_a_finished_run_is_not_shown_for_images_that_were_written_since(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(picture(1).data)
    read_then = [Instance("a", (ImageRef("a.png", path=path),), ("yes", "no"), np.array([[True, False]]))]
    finished = "2026-01-01T00:00:00+00:00"
    record = {"finished": finished, "contestants": {"clip": {"sees": ["image", "text"]}, "length": {"sees": ["text"]}}}
    at = datetime.fromisoformat(finished).timestamp()
    os.utime(path, (at - 5, at - 5))
    refuse_changed_images(read_then, record, made_in=tmp_path / "cache")
    os.utime(path, (at + 5, at + 5))
    with pytest.raises(InputError, match="written since") as told:
        refuse_changed_images(read_then, record, made_in=tmp_path / "cache")
    assert told.value.where == str(path)
    # Nobody looked at it; it is made anew from what was checked; it is gone and changed nothing.
    blind = {**record, "contestants": {"length": {"sees": ["text"]}}}
    refuse_changed_images(read_then, blind, made_in=tmp_path / "cache")
    refuse_changed_images(read_then, record, made_in=tmp_path)
    path.unlink()
    refuse_changed_images(read_then, record, made_in=tmp_path / "cache")


@pytest.mark.parametrize("extra", [{"api_key": KEY}, {"headers": [{"Authorization": KEY}]}])
def test_a_secret_among_the_fields_of_a_request_is_refused_and_not_repeated(tmp_path, extra):
    with pytest.raises(InputError, match="must not carry a secret") as told:
        model("http://127.0.0.1:9/v1", tmp_path, extra=extra)
    assert KEY not in str(told.value)


def test_fields_that_a_request_may_have_are_no_secrets(tmp_path):
    harmless = {"reasoning_effort": "none", "min_tokens": 5, "stop_token_ids": [1], "top_p": 0.5}
    assert model("http://127.0.0.1:9/v1", tmp_path, extra=harmless).signature["decoding"].count("top_p") == 1


# --- the command line


def test_an_empty_list_of_models_selects_none(cli, tmp_path):  # noqa: F811
    (tmp_path / "mine.csv").write_text("caption,foil\na red cup,a blue cup\na dog,a cat\n", encoding="utf-8")
    words = ("benchmark=table", "benchmark.path=mine.csv", "baseline=length", "statistics.bootstrap=200", "out=run")
    done = cli("run", *words, "model=[]")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "report.html").is_file()
