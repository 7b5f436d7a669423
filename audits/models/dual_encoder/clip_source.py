"""Find what an open_clip model is made of: configuration, image transform, tokenizer files and weights."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import open_clip
from open_clip.factory import HF_HUB_PREFIX, LOCAL_DIR_PREFIX
from open_clip.transform import PreprocessCfg, merge_preprocess_dict

from audits.models.weights import SHIPPED, find
from baselines.language.files import Located, locate
from baselines.language.gguf import sha256_of
from benchmarks.errors import InputError, NotAvailableError, near

CONFIG = "open_clip_config.json"
# In the order in which open_clip itself prefers them.
WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin")
QUICKGELU, GELU = "quickgelu", "gelu"


class Parts(NamedTuple):
    """Name the parts of a model, as they were found.

    Attributes:
        name: Short name for tables.
        config: Its configuration (`embed_dim`, `vision_cfg`, `text_cfg`, ...).
        image: Its image transform.
        weights: The checkpoint.
        folder: Folder that holds configuration and tokenizer files, or None for a built-in architecture.
        identity: What pins the weights, for the signature.
    """

    name: str
    config: dict[str, Any]
    image: dict[str, Any]
    weights: Path
    folder: Path | None
    identity: Mapping[str, str]


class Source(NamedTuple):
    """Say what a model is made of.

    The first six attributes are those of `Parts`.

    Attributes:
        arch: What open_clip builds it from: a built-in name, or `local-dir:FOLDER`.
        activation: `quickgelu` or `gelu`, as configuration or weights say.
    """

    name: str
    config: dict[str, Any]
    image: dict[str, Any]
    weights: Path
    folder: Path | None
    identity: Mapping[str, str]
    arch: str
    activation: str


class Wanted(NamedTuple):
    """Hold the options that say which model is meant."""

    arch: str
    pretrained: str | None
    checkpoint: str | None
    revision: str | None
    activation: str | None
    get: str | None


def resolve(wanted: Wanted) -> Source:
    """Find a model by its options.

    Raises:
        InputError: If the options do not name one, or contradict each other; `NotAvailableError` if it cannot be had.
    """
    if wanted.activation not in (None, QUICKGELU, GELU):
        raise InputError("unknown activation", where="activation", got=wanted.activation, expected="quickgelu or gelu")
    built_in = wanted.arch.replace("/", "-")
    if wanted.checkpoint:
        _once(wanted, f"checkpoint={wanted.checkpoint}")
    if built_in in open_clip.list_models():
        return _built_in(wanted._replace(arch=built_in))
    return _folder(wanted)


def _once(wanted: Wanted, other: str) -> None:
    """Refuse a tag beside other weights."""
    if wanted.pretrained:
        raise InputError(
            "the weights are named twice",
            where=f"arch={wanted.arch}",
            got=f"pretrained={wanted.pretrained} beside {other}",
            expected="one of them",
            step="leave pretrained out",
        )


def _built_in(wanted: Wanted) -> Source:
    config = open_clip.get_model_config(wanted.arch)
    image = asdict(PreprocessCfg())
    if wanted.checkpoint or not wanted.pretrained:
        path = _checkpoint(wanted)
        name = f"{wanted.arch}:{path.stem}"
        identity = {"arch": wanted.arch, "checkpoint": path.name, "checkpoint_sha256": sha256_of(path)}
        return _source(wanted, Parts(name, config, image, path, None, identity), wanted.activation)
    tag = open_clip.get_pretrained_cfg(wanted.arch, wanted.pretrained)
    if not tag:
        known = open_clip.list_pretrained_tags_by_model(wanted.arch)
        raise InputError(
            "open_clip has no such weights of this architecture",
            where=f"arch={wanted.arch}",
            got=f"pretrained={wanted.pretrained}",
            expected=", ".join(known) or "none: give a checkpoint",
            step=near(wanted.pretrained, known) or "correct the tag",
        )
    located = _tagged(wanted, tag)
    identity = {"arch": wanted.arch, "pretrained": wanted.pretrained, **_pinned(located)}
    # Weights know with which activation they were trained, whatever the plain name of the architecture says.
    trained = QUICKGELU if tag.get("quick_gelu") or config.get("quick_gelu") else GELU
    image = merge_preprocess_dict(image, tag)
    name = f"{wanted.arch}:{wanted.pretrained}"
    weights = _weights(located.folder, _tag_files(tag))
    return _source(wanted, Parts(name, config, image, weights, None, identity), trained)


def _folder(wanted: Wanted) -> Source:
    """Read a model in the layout of open_clip's own hub: a folder, one that is shipped, or a hub id."""
    source = wanted.arch.removeprefix(LOCAL_DIR_PREFIX).removeprefix(HF_HUB_PREFIX)
    named = wanted.arch != source or source.startswith((SHIPPED, ".", "~", "/")) or "/" in source
    if not named and not Path(source).is_dir():
        known = open_clip.list_models()
        raise InputError(
            "no such architecture",
            where="arch",
            got=wanted.arch,
            expected="a name that open_clip knows, a folder, or a hub id (owner/name)",
            step=near(wanted.arch, known) or "see open_clip.list_models()",
        )
    _once(wanted, "a folder or hub id, which has its own")
    located = find(source, revision=wanted.revision or "", names=WEIGHTS)
    config, image = _configuration(located.folder)
    if wanted.checkpoint:
        path = _checkpoint(wanted)
        identity = {"config": located.name, "checkpoint": path.name, "checkpoint_sha256": sha256_of(path)}
        return _source(wanted, Parts(path.stem, config, image, path, located.folder, identity), wanted.activation)
    trained = QUICKGELU if config.get("quick_gelu") else GELU
    weights = _weights(located.folder, WEIGHTS)
    identity = _pinned(located) if located.revision else {"model": located.name, "weights_sha256": sha256_of(weights)}
    return _source(wanted, Parts(located.name, config, image, weights, located.folder, identity), trained)


def _source(wanted: Wanted, parts: Parts, trained: str | None) -> Source:
    """Put a source together; what was declared must be what the weights say."""
    if wanted.activation and trained and wanted.activation != trained:
        raise InputError(
            "the activation is not the one that these weights were trained with",
            where=f"arch={wanted.arch}",
            got=f"activation={wanted.activation}",
            expected=f"{trained}, as the weights' own configuration says",
            step="leave activation out",
        )
    activation = trained or GELU
    config, size = parts.config, parts.config["vision_cfg"].get("image_size", 224)
    if activation == GELU and config.get("quick_gelu"):
        raise InputError(
            "architecture and activation contradict each other",
            where=f"arch={wanted.arch}",
            got="activation=gelu, and an architecture with QuickGELU",
            step=f"name the architecture without -quickgelu, or declare activation={QUICKGELU}",
        )
    image = {**parts.image, "size": size if isinstance(size, int) else tuple(size)}
    digest = sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:16]
    parts = parts._replace(image=image, identity={**parts.identity, "config_sha256": digest})
    return Source(*parts, wanted.arch if parts.folder is None else f"{LOCAL_DIR_PREFIX}{parts.folder}", activation)


def _checkpoint(wanted: Wanted) -> Path:
    """Return the local checkpoint; it must come with the activation that it was trained with.

    Raises:
        InputError: If it is not there, or nothing says which activation it has.
    """
    if not wanted.checkpoint:
        raise _nothing_given(wanted)
    path = Path(wanted.checkpoint).expanduser()
    if not path.is_file():
        raise InputError("the checkpoint does not exist", where="checkpoint", got=str(path), step="correct the path")
    if wanted.activation is None:
        raise InputError(
            "a local checkpoint needs its activation declared: a file does not say it, and scores depend on it",
            where=f"checkpoint={path.name}",
            got="activation=null",
            expected="quickgelu (models fine-tuned from OpenAI's weights) or gelu",
            step="add activation=quickgelu or activation=gelu beside checkpoint",
        )
    return path


def _nothing_given(wanted: Wanted) -> InputError:
    """Say that weights are needed: where to get them, if that is known."""
    if wanted.get:
        return NotAvailableError(
            "the weights of this model are a file that you fetch yourself",
            status="absent",
            where=f"arch={wanted.arch}",
            got="checkpoint=null",
            expected=f"the checkpoint from {wanted.get}",
            step="give its path: checkpoint=FILE under the model's name (model.NAME.checkpoint=FILE)",
        )
    known = open_clip.list_pretrained_tags_by_model(wanted.arch)
    return InputError(
        "which weights are meant?",
        where=f"arch={wanted.arch}",
        got="neither pretrained nor checkpoint",
        expected=f"pretrained=TAG ({', '.join(known[:8]) or 'there are none'}), or checkpoint=FILE with its activation",
        step="give one of them",
    )


def _tagged(wanted: Wanted, tag: Mapping[str, Any]) -> Located:
    """Return the folder that holds the weights of a tag; open_clip mirrors nearly all of them on the hub."""
    owner, _, rest = str(tag.get("hf_hub", "")).partition("/")
    repository = rest.partition("/")[0]
    if repository:
        return locate(f"{owner}/{repository}", revision=wanted.revision or "", weights=True, names=_tag_files(tag))
    raise NotAvailableError(
        "these weights are on no hub",
        status="absent",
        where=f"arch={wanted.arch} pretrained={wanted.pretrained}",
        got=str(tag.get("url", "")) or "no address",
        expected="weights on the hub, or a local file",
        step="fetch the file and give checkpoint=FILE with its activation",
    )


def _tag_files(tag: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the files to look for: the one that a tag names, as safetensors first, else the usual ones."""
    file = str(tag.get("hf_hub", "")).split("/", 2)[-1]
    if not file:
        return WEIGHTS
    return tuple(dict.fromkeys((f"{file.rpartition('.')[0]}.safetensors", file)))


def _weights(folder: Path, names: Sequence[str]) -> Path:
    """Return the weights in a folder."""
    known = [folder / name for name in names if (folder / name).is_file()]
    others = sorted(folder.glob("*.safetensors")) or sorted([*folder.glob("*.bin"), *folder.glob("*.pt*")])
    found = known or [path for path in others if path.stem.startswith("open_clip") or len(others) == 1]
    if found:
        return found[0]
    raise InputError(
        "the folder holds no weights of open_clip",
        where=str(folder),
        got=", ".join(sorted(path.name for path in folder.iterdir())[:8]) or "an empty folder",
        expected=" or ".join(WEIGHTS),
        step="give the folder of an open_clip model, or a checkpoint",
    )


def _configuration(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return configuration and image transform of a folder."""
    path = folder / CONFIG
    try:
        whole = json.loads(path.read_text(encoding="utf-8-sig"))
        config = dict(whole["model_cfg"])
        for part in ("embed_dim", "vision_cfg", "text_cfg"):
            config[part]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            "the folder holds no configuration of open_clip",
            where=str(path),
            got=f"{type(error).__name__}: {error}"[:200],
            expected="model_cfg with embed_dim, vision_cfg and text_cfg, and preprocess_cfg",
            step="give a folder or hub id in open_clip's layout; for one of transformers use model=transformers_clip",
        ) from error
    return config, merge_preprocess_dict(asdict(PreprocessCfg()), whole.get("preprocess_cfg") or {})


def _pinned(located: Located) -> dict[str, str]:
    return {"model": located.identity, "revision": located.revision}
