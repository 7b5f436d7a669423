"""Pin files by their content."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from baselines.language.files import Located
from baselines.language.gguf import sha256_of

TOKENIZER_FILES = ("tokenizer*", "vocab*", "merges*", "special_tokens_map.json", "*.model")
WEIGHTS_FILES = ("config.json", "*.safetensors", "*.bin", "*/config.json", "*/*.safetensors", "*/*.bin")


def files_digest(folder: Path, patterns: Sequence[str]) -> str:
    """Return a SHA-256, by 16 digits, over names and contents of the files of a folder that match a pattern."""
    found = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    text = "\n".join(f"{path.relative_to(folder).as_posix()} {sha256_of(path)}" for path in found)
    return sha256(text.encode()).hexdigest()[:16]


def pinned(located: Located) -> dict[str, str]:
    """Return what pins a model: hub id and commit, or a digest of configuration and weights of a folder."""
    if located.revision:
        return {"model": located.identity, "revision": located.revision}
    return {"model": located.name, "files_sha256": files_digest(located.folder, WEIGHTS_FILES)}
