"""Pin files by their content."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from baselines.language.gguf import sha256_of


def files_digest(folder: Path, patterns: Sequence[str]) -> str:
    """Return a SHA-256, by 16 digits, over names and contents of the files of a folder that match a pattern."""
    found = sorted({path for pattern in patterns for path in folder.glob(pattern) if path.is_file()})
    text = "\n".join(f"{path.name} {sha256_of(path)}" for path in found)
    return sha256(text.encode()).hexdigest()[:16]
