"""The encoders of CompoSET's table 4 as their YAMLs configure them, on a hub cache with their files but no weights."""

from pathlib import Path

import open_clip
import pytest
from huggingface_hub import constants
from omegaconf import OmegaConf

from audits.models.dual_encoder.openclip import from_open_clip
from baselines.engine import Engine
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Candidates
from tests.small_encoders import save_t5_tokenizer

CONF = Path(__file__).resolve().parents[2] / "conf" / "model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
HALF = (0.5, 0.5, 0.5)
# activation, pixels, how the picture is fitted, mean, ids per caption, cleaning; as the papers and open_clip say.
QUICK = ("quickgelu", 224, "shortest", CLIP_MEAN, 77, "lower")
PLAIN = ("gelu", 224, "shortest", CLIP_MEAN, 77, "lower")
WANTED = {
    "clip_b32": QUICK,
    "clip_b16": QUICK,
    "clip_l14": QUICK,
    "clip_b16_laion400m": PLAIN,
    "clip_b16_laion2b": PLAIN,
    "clip_l14_laion2b": ("gelu", 224, "shortest", HALF, 77, "lower"),
    "clip_h14_laion2b": PLAIN,
    "siglip_b16": ("gelu", 224, "squash", HALF, 64, "canonical"),
    "siglip_l16_384": ("gelu", 384, "squash", HALF, 64, "canonical"),
    "siglip_so400m_384": ("gelu", 384, "squash", HALF, 64, "canonical"),
    "siglip2_b16": ("gelu", 224, "squash", HALF, 64, "canonical"),
    "siglip2_l16_384": ("gelu", 384, "squash", HALF, 64, "canonical"),
    "siglip2_so400m_378": ("gelu", 378, "squash", HALF, 64, "canonical"),
    "dfn_b16": QUICK,
    "dfn_h14": ("quickgelu", 224, "squash", CLIP_MEAN, 77, "lower"),
    "eva02_b16": PLAIN,
    "eva02_l14": PLAIN,
    "metaclip2_h14": ("quickgelu", 224, "shortest", CLIP_MEAN, 77, "whitespace"),
}
OWN = {"negclip_b32": "quickgelu", "clove_b32": "quickgelu", "dreamlip_b16": "gelu"}


def options(name):
    values = OmegaConf.to_container(OmegaConf.load(CONF / f"{name}.yaml"))
    return {key: value for key, value in values.items() if key not in ("_target_", "card")}


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub cache into which repositories are put as the client lays them out."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)

    def put(repository):
        top = tmp_path / f"models--{repository.replace('/', '--')}"
        (top / "refs").mkdir(parents=True, exist_ok=True)
        (top / "refs" / "main").write_text(COMMIT, encoding="utf-8")
        folder = top / "snapshots" / COMMIT
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    return put


@pytest.mark.parametrize("name", WANTED)
def test_a_yaml_names_weights_activation_transform_and_text_of_its_model(name, hub):
    given = options(name)
    tag = open_clip.get_pretrained_cfg(given["arch"], given["pretrained"])
    assert tag, "open_clip knows the tag"
    repository = tag["hf_hub"].rstrip("/")
    (hub(repository) / "open_clip_model.safetensors").write_bytes(b"no weights")
    tokenizer = open_clip.get_model_config(given["arch"])["text_cfg"].get("hf_tokenizer_name")
    if tokenizer:
        save_t5_tokenizer(hub(tokenizer))
    scorer = from_open_clip(
        **given,
    )
    activation, pixels, fitted, mean, context, cleaning = WANTED[name]
    signature = scorer.signature
    assert scorer.name == name
    assert (signature["model"], signature["revision"]) == (repository, COMMIT)
    assert signature["activation"] == activation
    assert (signature["context"], signature["text"]) == (str(context), f"cleaned once: {cleaning}, the model's own way")
    assert f"'resize_mode': '{fitted}'" in signature["image"]
    assert f"'size': {pixels}" in signature["image"]
    assert f"'mean': {mean}" in signature["image"]
    assert "'interpolation': 'bicubic'" in signature["image"]
    assert scorer.encoder.dimension == open_clip.get_model_config(given["arch"])["embed_dim"]


def test_a_file_that_is_no_weights_stops_the_run_when_they_are_needed(hub, tmp_path):
    (hub("laion/CLIP-ViT-B-16-laion2B-s34B-b88K") / "open_clip_model.safetensors").write_bytes(b"no weights")
    scorer = from_open_clip(**options("clip_b16_laion2b"))
    with Engine(tmp_path / "scores.sqlite") as work, pytest.raises(InputError, match="cannot be read as tensors"):
        scorer.score([Candidates("a", (ImageRef.absent(),), ("a cup", "a dog"))], work)


@pytest.mark.parametrize("name", OWN)
def test_a_checkpoint_of_ones_own_has_its_activation_in_the_yaml(name, tmp_path):
    (tmp_path / "x.pt").write_bytes(b"weights to come")
    scorer = from_open_clip(**{**options(name), "checkpoint": str(tmp_path / "x.pt")})
    assert scorer.signature["activation"] == OWN[name]
    assert scorer.signature["checkpoint"] == "x.pt"
    assert scorer.name == name


def test_the_plain_name_of_openais_architecture_gets_its_activation_all_the_same(hub):
    """`ViT-B-32` with the tag `openai` was GELU behind a warning: the weights know better."""
    (hub("timm/vit_base_patch32_clip_224.openai") / "open_clip_model.safetensors").write_bytes(b"no weights")
    assert from_open_clip("ViT-B-32", pretrained="openai").signature["activation"] == "quickgelu"
    assert from_open_clip("ViT-B/32", pretrained="openai").signature["arch"] == "ViT-B-32"
