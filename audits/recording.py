"""What `record.json` says of a run beside its numbers: versions, git state, benchmark, contestants."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import importlib.metadata
import json
import platform
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audits import __version__
from audits.measured import Measured
from audits.scoring import Cells
from benchmarks.preflight import Coverage, Preflight
from benchmarks.schema import Benchmark
from reports.schema import BenchmarkFacts, ContestantFacts
from reports.scrub import scrub_text

DISTRIBUTION = "blind-audits"
REASONS = 5
_NOTED = (
    "torch", "transformers", "tokenizers", "open-clip-torch", "openai", "numpy", "scipy", "pandas", "pyarrow",
    "hydra-core",
)  # fmt: skip


def now() -> str:
    """Return the time in UTC, ISO 8601 to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    """Return the versions of Python, the toolkit and the libraries that numbers depend on."""
    found = {"python": platform.python_version(), DISTRIBUTION: __version__}
    for name in _NOTED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def git_state() -> dict[str, Any] | None:
    """Return commit and cleanness of the toolkit's own checkout, or None where it is installed from a wheel."""
    home = Path(__file__).resolve().parent.parent
    if not (home / ".git").exists():
        return None

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(home), *words], capture_output=True, text=True, check=True, timeout=20)
        return done.stdout.strip()

    try:
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}
    except (OSError, subprocess.SubprocessError):
        return None


def short_signature(signature: Mapping[str, str], data: str) -> str:
    """Return the short form: data and its digest, a digest of all that the scorer declares, the toolkit's version.

    The long form stands in the record under the scorer's name.

    Args:
        signature: What the scorer declares.
        data: Benchmark and short content digest (`sugarcrepe@1a2b3c4d`).
    """
    text = json.dumps(dict(signature), sort_keys=True, ensure_ascii=False)
    return f"{data}|{hashlib.sha256(text.encode()).hexdigest()[:8]}|v{__version__}"


def benchmark_facts(name: str, benchmark: Benchmark, checked: Preflight, coverage: Coverage | None) -> BenchmarkFacts:
    """Return what the record says of the benchmark; without coverage every instance can be used."""
    images = coverage or Coverage(checked.n, checked.n)
    return {
        "name": name,
        "card": dataclasses.asdict(benchmark.card),
        "provenance": dataclasses.asdict(benchmark.provenance),
        "digest": checked.digest,
        "n": checked.n,
        "n_by_subset": dict(checked.subsets),
        "expected": dict(benchmark.card.expected),
        "coverage": {
            "needed": coverage is not None,
            "expected": images.expected,
            "present": images.present,
            "missing": list(images.missing),
        },
        "shapes": dict(checked.shapes),
    }


def contestant_facts(one: Measured, short: str) -> ContestantFacts:
    """Return what the record says of one contestant.

    Args:
        one: What it measured.
        short: Short form of its signature.
    """
    scorer, cells = one.contestant.scorer, one.cells
    return {
        "kind": one.contestant.kind,
        "sees": sorted(scorer.sees),
        "columns": list(scorer.columns),
        "signature": dict(scorer.signature),
        "short": short,
        "seconds": round(one.seconds, 3),
        "cache": {
            "hits": sum(count.hits for count in one.counts),
            "computed": sum(count.computed for count in one.counts),
            "reductions": sum(count.reductions for count in one.counts),
        },
        "truncated": 0 if cells is None else int(cells.truncated.sum()),
        "unscored": len(_unscored(one)),
        "facts": dict(one.facts),
        "reasons": _reasons(one),
    }


def _unscored(one: Measured) -> set[int]:
    """Return the positions of the instances that lack a score."""
    return set(one.reasons) if one.cells is None else set(one.cells.instance[_missing(one.cells)].tolist())


def _reasons(one: Measured) -> dict[str, int]:
    """Return the commonest reasons for what is unscored, each with the number of instances that have it."""
    pairs = set(one.reasons.items())
    if one.cells is not None:
        missing, instance = _missing(one.cells), one.cells.instance
        pairs |= {(int(instance[cell]), reason) for cell, reason in one.cells.notes.items() if missing[cell]}
    common = Counter(reason for _, reason in sorted(pairs)).most_common(REASONS)
    return {scrub_text(reason): times for reason, times in common}


def _missing(cells: Cells) -> NDArray[np.bool_]:
    """Return which cells lack a score in some column."""
    found = np.zeros(len(cells.instance), dtype=bool)
    for values in cells.columns.values():
        found |= np.isnan(values)
    return found
