"""Loading: every weight or none, only causal models, and clear words where a model cannot be had."""

import json
import shutil
import threading
from pathlib import Path

import pytest
import torch

from baselines.language import gguf
from baselines.language.files import locate
from baselines.language.model import choose_device, choose_dtype, context_length, find, load
from baselines.likelihood import Likelihood
from benchmarks.errors import InputError, NotAvailableError

CPU = torch.device("cpu")


def loaded(folder, cache):
    return load(find(str(folder), revision="", cache=cache), dtype=choose_dtype("float32"), device=CPU)


def copy_without(source, target, dropped):
    """Copy a model's folder and leave out the weights whose names contain a text."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(source, target)
    weights = target / "model.safetensors"
    kept = {name: value for name, value in load_file(weights).items() if dropped not in name}
    save_file(kept, weights, metadata={"format": "pt"})


def test_a_model_is_loaded_in_evaluation_mode(tiny_gpt2, tmp_path):
    model = loaded(tiny_gpt2, tmp_path)
    assert not any(module.training for module in model.modules())


@pytest.mark.parametrize("dropped", ["lm_head", "layers.1.mlp.up_proj"])
def test_weights_that_are_not_there_are_an_error_not_random(tiny_llama, tmp_path, dropped):
    copy_without(tiny_llama, tmp_path / "model", dropped)
    with pytest.raises(InputError, match="stay random") as caught:
        loaded(tmp_path / "model", tmp_path)
    assert dropped in caught.value.got


def test_weights_of_another_shape_are_an_error(tiny_llama, tmp_path):
    shutil.copytree(tiny_llama, tmp_path / "model")
    config = tmp_path / "model" / "config.json"
    values = json.loads(config.read_text(encoding="utf-8")) | {"intermediate_size": 40}
    config.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(InputError, match="stay random") as caught:
        loaded(tmp_path / "model", tmp_path)
    assert "6 of another shape" in caught.value.got  # three projections in each of two layers


def test_a_model_that_sees_what_comes_next_is_refused(tmp_path):
    from transformers import BertConfig, BertLMHeadModel, set_seed

    set_seed(0)
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    BertLMHeadModel(BertConfig(vocab_size=50, initializer_range=0.5, **shape)).save_pretrained(tmp_path / "bert")
    with pytest.raises(InputError, match="depends on later tokens"):
        loaded(tmp_path / "bert", tmp_path)


def test_an_encoder_decoder_is_refused(tmp_path):
    from transformers import T5Config, T5ForConditionalGeneration

    T5ForConditionalGeneration(
        T5Config(vocab_size=50, d_model=16, d_kv=4, d_ff=16, num_layers=1, num_heads=2)
    ).save_pretrained(tmp_path / "t5")
    with pytest.raises(InputError, match="cannot load the model"):
        loaded(tmp_path / "t5", tmp_path)


def test_code_from_a_models_folder_is_never_run(tiny_llama, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_llama, folder)
    values = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    values |= {"model_type": "mine", "auto_map": {"AutoConfig": "code.C", "AutoModelForCausalLM": "code.M"}}
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    (folder / "code.py").write_text("raise SystemExit('this ran')\n", encoding="utf-8")
    with pytest.raises(InputError, match="never run"):
        Likelihood(str(folder))


def test_a_folder_without_weights_and_a_file_that_is_not_there_are_named(tmp_path):
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"expected: config\.json and weights"):
        find(str(tmp_path), revision="", cache=tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        find(str(tmp_path / "m.gguf"), revision="", cache=tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        find(str(tmp_path / "gone"), revision="", cache=tmp_path)


def test_a_file_that_is_not_a_gguf_is_named(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"not a model")
    with pytest.raises(InputError, match="cannot load the GGUF"):
        find(str(tmp_path / "m.gguf"), revision="", cache=tmp_path / "cache")
    assert list((tmp_path / "cache" / "models").iterdir()) == []


def test_an_unreachable_hub_is_noticed_and_says_what_to_do(monkeypatch, tmp_path):
    from huggingface_hub.errors import LocalEntryNotFoundError

    def nothing(*_, **__):
        raise LocalEntryNotFoundError("not here")

    monkeypatch.setattr("baselines.language.files.snapshot_download", nothing)
    monkeypatch.setattr("baselines.language.model.offline_gguf", lambda: None)
    with pytest.raises(InputError, match="offline-models") as caught:
        Likelihood("offline", cache=str(tmp_path))
    assert "12fd25f77366fa6b3b4b768ec3050bf629380bac" in caught.value.where


def test_a_hub_that_does_not_answer_is_asked_once_and_the_client_never(monkeypatch):
    from huggingface_hub.errors import LocalEntryNotFoundError

    asked = []

    def only_local(source, *, local_files_only=False, **_):
        assert local_files_only, "the client would retry for half a minute"
        raise LocalEntryNotFoundError("not here")

    def probe(endpoint, **_):
        asked.append(endpoint)
        return "no answer within 4 s"

    monkeypatch.setattr("baselines.language.files.snapshot_download", only_local)
    monkeypatch.setattr("benchmarks.hub.probe", probe)
    monkeypatch.setattr("benchmarks.hub._silent", {})
    monkeypatch.setattr("benchmarks.hub.constants.HF_HUB_OFFLINE", False)
    for name in ("someone/one", "someone/other"):
        with pytest.raises(NotAvailableError, match="no answer within 4 s") as caught:
            locate(name, weights=True)
        assert caught.value.status == "unreachable"
    assert len(asked) == 1


def test_what_is_in_the_local_hub_cache_is_taken_without_asking_the_hub(monkeypatch, tiny_llama, tmp_path):
    commit = "0123456789abcdef0123456789abcdef01234567"
    snapshot = tmp_path / "snapshots" / commit
    shutil.copytree(tiny_llama, snapshot)

    def local_only(source, *, revision, local_files_only=False, **_):
        assert local_files_only
        return str(snapshot)

    monkeypatch.setattr("baselines.language.files.snapshot_download", local_only)
    scorer = Likelihood("someone/tiny")
    assert scorer.name == "likelihood:tiny"
    assert scorer.signature["revision"] == commit
    assert scorer.signature["model"] == "someone/tiny"


def test_a_local_snapshot_that_holds_no_weights_is_completed_from_the_hub(monkeypatch, tiny_llama, tmp_path):
    part, whole = tmp_path / "part", tmp_path / "whole"
    shutil.copytree(tiny_llama, whole)
    shutil.copytree(tiny_llama, part, ignore=shutil.ignore_patterns("*.safetensors"))
    monkeypatch.setattr("benchmarks.hub.probe", lambda *_, **__: "")
    monkeypatch.setattr("benchmarks.hub._silent", {})
    monkeypatch.setattr("benchmarks.hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("benchmarks.hub.probe", lambda *_, **__: "")
    monkeypatch.setattr("benchmarks.hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr(
        "baselines.language.files.snapshot_download",
        lambda source, *, local_files_only=False, **_: str(part if local_files_only else whole),
    )
    assert locate("someone/tiny", weights=True).folder == whole
    assert locate("someone/tiny", weights=False).folder == part


def test_context_length_of_both_kinds_of_positions(tiny_llama, tiny_gpt2):
    assert context_length(tiny_llama) == 64
    assert context_length(tiny_gpt2) == 48


def test_the_device_must_be_there():
    assert choose_device("cpu").type == "cpu"
    if not torch.cuda.is_available():
        assert choose_device("auto").type == "cpu"
        with pytest.raises(InputError, match="sees no GPU"):
            choose_device("cuda")


@pytest.mark.slow
@pytest.mark.offline_pack
def test_the_offline_model_is_converted_once_and_loads_whole(tmp_path):
    path = gguf.offline_gguf()
    if path is None:
        pytest.skip("requirements/offline-models.txt is not installed")
    first = Likelihood(cache=str(tmp_path))
    assert first.name == "likelihood:SmolLM2-135M-Instruct"
    assert first.signature["start"] == "<|im_start|> (own)"
    assert first.signature["weights"] == "de-quantised, stored in bfloat16"
    [made] = (tmp_path / "models").iterdir()
    before = (made / "model.safetensors").stat().st_mtime_ns
    again = Likelihood(cache=str(tmp_path))
    assert (made / "model.safetensors").stat().st_mtime_ns == before
    assert first.signature == again.signature
    weights = again._model.state_dict()
    assert set(weights) >= {"model.embed_tokens.weight", "lm_head.weight"}
    assert {value.dtype for value in weights.values()} == {torch.float32}


def test_of_two_that_convert_at_once_one_copy_stays(tmp_path, monkeypatch):
    barrier = threading.Barrier(2)

    def slow(path, folder, stored):
        folder.mkdir()
        (folder / "config.json").write_text("{}", encoding="utf-8")
        barrier.wait(timeout=20)

    monkeypatch.setattr(gguf, "_convert", slow)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(gguf.converted(Path("m.gguf"), "d" * 64, tmp_path)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(results) == 2
    assert results[0] == results[1]
    assert [path.name for path in tmp_path.iterdir()] == [results[0].name]


def test_a_conversion_that_fails_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(path, folder, stored):
        folder.mkdir()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gguf, "_convert", full)
    with pytest.raises(InputError, match="No space left"):
        gguf.converted(Path("m.gguf"), "d" * 64, tmp_path)
    assert list(tmp_path.iterdir()) == []
