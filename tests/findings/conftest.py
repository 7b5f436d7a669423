"""Instances to look at, and the thresholds that are shipped."""

from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from audits.findings.collect import caption_findings
from audits.findings.schema import Thresholds
from benchmarks.images import ImageRef
from benchmarks.schema import Instance

VERDICT = Path(__file__).resolve().parents[2] / "conf" / "verdict" / "default.yaml"


@pytest.fixture(scope="session")
def shipped():
    return dict(OmegaConf.to_container(OmegaConf.load(VERDICT))["findings"])


@pytest.fixture(scope="session")
def thresholds(shipped):
    return Thresholds.read(shipped)


@pytest.fixture(scope="session")
def make():
    return _make


def _make(name, positives, foils=(), *, subset="s", image="", cluster=""):
    """Return an instance with one image; strings count as one caption each."""
    positives = (positives,) if isinstance(positives, str) or positives is None else tuple(positives)
    foils = (foils,) if isinstance(foils, str) or foils is None else tuple(foils)
    gold = np.array([[True] * len(positives) + [False] * len(foils)])
    ref = ImageRef(image) if image else ImageRef.absent()
    return Instance(str(name), (ref,), positives + foils, gold, subset=subset, cluster=cluster)


@pytest.fixture(scope="session")
def make_2x2():
    def build(name, base, foil, *, images=("", ""), subset="s"):
        refs = tuple(ImageRef(key) if key else ImageRef.absent() for key in images)
        return Instance(str(name), refs, (base, foil), np.eye(2, dtype=bool), subset=subset)

    return build


@pytest.fixture(scope="session")
def look(thresholds):
    """Return the findings of instances by kind; several subsets give several of a kind."""

    def found(instances, **changed):
        values = {name: getattr(thresholds, name) for name in thresholds.__slots__} | changed
        by_kind = {}
        for finding in caption_findings(instances, Thresholds.read(values)):
            by_kind.setdefault(finding.kind, []).append(finding)
        return by_kind

    return found
