"""Make records and estimates for the tests of `reports`: every number is given or follows from a given one."""

import copy
import json
import math
from dataclasses import replace

import pandas as pd

from reports.schema import Estimate

MODEL = "likelihood:SmolLM2-135M-Instruct"
SUBSETS = {
    **{"add_att": 692, "add_obj": 2062, "replace_att": 788, "replace_obj": 1652, "replace_rel": 1406},
    **{"swap_att": 666, "swap_obj": 245},
}
# Accuracy by subset, in the order of SUBSETS, then pooled.
VALUES = {
    "constant": [0.5] * 8,
    "length:words:fewer": [0.9913, 0.9867, 0.5448, 0.4437, 0.4934, 0.5008, 0.5041, 0.6736],
    "length:words:more": [0.0087, 0.0133, 0.4552, 0.5563, 0.5066, 0.4992, 0.4959, 0.3264],
    "length:characters:fewer": [0.9855, 0.9801, 0.5711, 0.5312, 0.5405, 0.5083, 0.5102, 0.7123],
    "length:characters:more": [0.0145, 0.0199, 0.4289, 0.4688, 0.4595, 0.4917, 0.4898, 0.2877],
    f"{MODEL}:norm": [0.659, 0.181, 0.544, 0.440, 0.566, 0.667, 0.588, 0.4549],
    f"{MODEL}:unnorm": [0.962, 0.948, 0.542, 0.458, 0.624, 0.629, 0.600, 0.7066],
}


def estimate(**changes):
    """Return one estimate; unless given, its interval is Wald at n."""
    value, n = changes.get("value", 0.5), changes.get("n", 100)
    half = 1.96 * math.sqrt(max(value * (1 - value), 0.0) / n) if n else math.nan
    base = {
        **{"benchmark": "sugarcrepe", "subset": "all", "tag": "", "scorer": "constant", "against": ""},
        **{"metric": "accuracy", "value": value, "low": max(value - half, 0.0), "high": min(value + half, 1.0)},
        **{"n": n, "n_clusters": n, "ties": 0, "unscored": 0, "chance": 0.5},
        **{"method": "cluster bootstrap (B=10000)", "seed": 42, "primary": True, "signature": "sig"},
    }
    return Estimate(**{**base, **changes})


def contestant(kind="blind", columns=("",), **changes):
    """Return a contestant's facts."""
    base = {
        **{"kind": kind, "sees": ["text"] if kind == "blind" else ["text", "image"], "columns": list(columns)},
        **{"signature": {"dtype": "float32", "start_token": "<|endoftext|>"}, "short": "float32|start", "seconds": 1.5},
        **{"cache": {"hits": 0, "computed": 0, "reductions": 0}, "truncated": 0, "unscored": 0},
    }
    return {**base, **changes}


def record(**changes):
    """Return a record of a run on SugarCrepe."""
    units = [f"{unit}:{direction}" for unit in ("words", "characters") for direction in ("fewer", "more")]
    base = {
        **{"format": 1, "status": "done", "started": "2025-01-02T03:04:05Z", "finished": "2025-01-02T03:09:05Z"},
        "config": {"benchmark": {"name": "sugarcrepe", "limit": None}, "seed": 42},
        "config_digest": "0123456789abcdef",
        "versions": {"python": "3.11.9", "torch": "2.4.0"},
        "git": {"commit": "4d39598", "dirty": True},
        "benchmark": {
            "name": "sugarcrepe",
            "card": {"title": "SugarCrepe", "licence": "MIT", "homepage": "https://github.com/RAIVNLab/sugar-crepe"},
            "provenance": {"origin": "root", "location": "data/sugar-crepe", "absent": [], "notices": []},
            **{"digest": "feedfacecafebeef", "n": 7511, "n_by_subset": dict(SUBSETS), "expected": dict(SUBSETS)},
            "coverage": {"needed": False, "expected": 7511, "present": 7511, "missing": []},
            "shapes": {"1x2": 7511},
        },
        "contestants": {
            "constant": contestant(),
            "length": contestant(columns=units),
            MODEL: contestant(
                columns=["norm", "unnorm"],
                seconds=201.2,
                cache={"hits": 11000, "computed": 844, "reductions": 0},
            ),
        },
        "statistics": {"bootstrap": 10000, "seed": 42, "level": 0.95},
        "timings": {"score": 201.2},
        "notices": [],
        "sample": False,
        "command": "python -m audits run benchmark=sugarcrepe 'baseline=[constant,length,likelihood]' out=runs/demo",
    }
    return copy.deepcopy({**base, **changes})


def estimates():
    """Return the estimates of that run: by subset, macro and pooled, with Wilson beside the pooled ones."""
    rows = []
    for scorer, values in VALUES.items():
        for subset, n, value in zip(SUBSETS, SUBSETS.values(), values, strict=False):
            ties = n if scorer == "constant" else n // 50 if scorer.startswith("length") else 0
            rows.append(estimate(scorer=scorer, subset=subset, value=value, n=n, n_clusters=n // 2, ties=ties))
        macro = sum(values[:7]) / 7
        rows.append(estimate(scorer=scorer, subset="macro", value=macro, n=7511, n_clusters=3000))
        ties = 7511 if scorer == "constant" else 800 if scorer.startswith("length") else 0
        pooled = estimate(scorer=scorer, value=values[7], n=7511, n_clusters=3000, ties=ties)
        rows += [pooled, estimate(**{**_fields(pooled), "method": "wilson", "primary": False, "seed": -1})]
    return rows


def pairs(n_types=16, model=True):
    """Return record and estimates of a 2x2 benchmark with many subsets, a blind scorer and a model under audit."""
    kinds = [*("add_person", "modify_cardinality", "swap_relation", "remove_object"), *(f"edit_{i}" for i in range(99))]
    kinds = kinds[:n_types]
    contestants = {"length": contestant(columns=["words:fewer", "words:more"])}
    contestants |= {"clip-b32": contestant("model")} if model else {}
    facts = record(contestants=contestants)
    facts["benchmark"] |= {"name": "compset", "card": {"title": "CompoSET"}, "shapes": {"2x2": 40 * n_types}}
    facts["benchmark"] |= {"n": 40 * n_types, "expected": {}, "n_by_subset": dict.fromkeys(kinds, 40)}
    rows = []
    for scorer in ["length:words:fewer", "length:words:more", *(["clip-b32"] if model else [])]:
        for subset in [*kinds, "macro", "all"]:
            n = 40 if subset in kinds else 40 * n_types
            rows += _pair_rows(scorer, subset, n)
        for tier in ("short", "medium", "long"):
            rows += _pair_rows(scorer, "all", 13 * n_types, tag=f"tier={tier}")
    return facts, rows


def _pair_rows(scorer, subset, n, tag=""):
    blind = scorer.startswith("length")
    values = {
        "i2t": (0.0, 0.25) if blind else (0.3, 0.25),
        "t2i": (0.0, 0.25) if blind else (0.2, 0.25),
        "group": (0.0, 1 / 6) if blind else (0.1, 1 / 6),
        "group_match": (0.5, 0.5) if blind else (0.7, 0.5),
    }
    if blind:
        values["caption_preference"] = (0.62 if scorer.endswith("fewer") else 0.38, 0.5)
    common = {"benchmark": "compset", "scorer": scorer, "subset": subset, "n": n, "n_clusters": 40, "tag": tag}
    return [estimate(metric=metric, value=value, chance=chance, **common) for metric, (value, chance) in values.items()]


def _fields(item):
    return {name: getattr(item, name) for name in Estimate.__slots__}


CLIP = {"recorded:clip": [0.69, 0.77, 0.80, 0.91, 0.69, 0.64, 0.61, 0.77]}
NGRAM = {"ngram:raw": [0.93, 0.95, 0.78, 0.79, 0.73, 0.74, 0.66, 0.85]}
FAMILY = {"size": 312, "method": "step-down max-t", "alpha": 0.05, "what": "every baseline and model, on every subset"}


def verdict(subset="all", level="compromised", **changes):
    """Return what is concluded of one subset."""
    base = {
        **{"subset": subset, "level": level, "sentence": f"What was measured on {subset}.", "by": [f"{MODEL}:unnorm"]},
        **{"smallest_visible": 0.031, "n": SUBSETS.get(subset, 7511), "n_clusters": 300},
    }
    return {**base, **changes}


def contrasts(n_more=0):
    """Return record and estimates of a run with a model, a trained baseline, verdicts and corrected p-values.

    Args:
        n_more: Further zero-shot contestants, of three columns each.
    """
    facts, rows = record(), estimates()
    more = {f"cue{at}:c{column}": [0.5 + 0.01 * column] * 8 for at in range(n_more) for column in range(3)}
    for kind, group in (("model", CLIP), ("trained", NGRAM), ("blind", more)):
        for scorer, values in group.items():
            owner, _, column = (scorer, "", "") if kind == "model" else scorer.rpartition(":")
            own = facts["contestants"].setdefault(owner, contestant(kind, []))
            own["columns"].append(column)
            own["sees"] = ["text", "image"] if kind == "model" else ["text"]
            rows += _by_subset(scorer, values)
    rows = [row if row.subset == "macro" or not row.primary else replace(row, p=_corrected(row)) for row in rows]
    levels = ["compromised", "compromised", "weakened", "trained-text warning", "compromised", "no shortcut found"]
    concluded = [verdict(subset, level) for subset, level in zip(SUBSETS, [*levels, "undecided"], strict=True)]
    facts |= {"verdicts": [*concluded, verdict()], "family": dict(FAMILY), "thresholds": {"compromised": 0.1}}
    return facts, rows + _against(rows, facts)


def _by_subset(scorer, values):
    rows = [
        estimate(scorer=scorer, subset=subset, value=value, n=n, n_clusters=n // 2)
        for subset, n, value in zip(SUBSETS, SUBSETS.values(), values, strict=False)
    ]
    macro = estimate(scorer=scorer, subset="macro", value=sum(values[:7]) / 7, n=7511, n_clusters=3000)
    return [*rows, macro, estimate(scorer=scorer, value=values[7], n=7511, n_clusters=3000)]


def _corrected(row):
    return 0.001 if abs(row.value - row.chance) >= 0.1 else 0.6


def _against(rows, facts):
    """Return excess by subset, and the split pooled: .05 above where a baseline is right, .1 below where wrong."""
    by_key = {(row.scorer, row.subset): row for row in rows if row.primary}
    blind = [(owner, column) for owner, own in facts["contestants"].items() for column in own["columns"]]
    found = []
    for owner, column in blind:
        kind, scorer = facts["contestants"][owner]["kind"], f"{owner}:{column}"
        for subset in [*SUBSETS, "macro", "all"] if kind != "model" and column else []:
            model, other = by_key["recorded:clip", subset], by_key[scorer, subset]
            gap = model.value - other.value
            common = {"scorer": "recorded:clip", "against": scorer, "subset": subset, "n": other.n, "chance": math.nan}
            span = {"value": gap, "low": gap - 0.02, "high": gap + 0.02, "p": 0.001 if abs(gap) > 0.1 else 0.6}
            found.append(
                estimate(metric="excess", **common, **(span if subset != "macro" else {**span, "p": math.nan}))
            )
            if subset == "all":
                parts = {"easy": model.value + 0.05, "tie": model.value, "hard": model.value - 0.1}
                found += [
                    estimate(metric=f"accuracy_{part}", value=value, **{**common, "chance": 0.5})
                    for part, value in parts.items()
                ]
                found.append(estimate(metric="easy_hard_gap", value=0.15, low=0.13, high=0.17, **common))
    return found


def tables(captions=(("a cup", "two cups"), ("a dog", "a cat")), subsets=("x", "y"), scorer="length:words:fewer"):
    """Return the three tables of a run on pairs of captions: the scorer prefers what has fewer letters."""
    ids = [f"{subset}:{at}" for at, subset in enumerate(subsets)]
    instances = pd.DataFrame(
        {
            "instance": ids,
            "subset": list(subsets),
            "query": "",
            "images": [json.dumps([f"{one}.jpg"]) for one in ids],
            "captions": [json.dumps(list(pair)) for pair in captions],
            "gold": json.dumps([[1, 0]]),
        }
    )
    scores = [
        (one, -1, at, scorer, -len(text))
        for one, pair in zip(ids, captions, strict=True)
        for at, text in enumerate(pair)
    ]
    outcomes = []
    for one, (base, foil) in zip(ids, captions, strict=True):
        kind = "win" if len(base) < len(foil) else "tie" if len(base) == len(foil) else "loss"
        outcomes.append((one, scorer, "i2t", "", "image0", kind))
    return {
        "instances": instances,
        "scores": pd.DataFrame(scores, columns=["instance", "image", "caption", "scorer", "score"]),
        "outcomes": pd.DataFrame(
            outcomes, columns=["instance", "scorer", "direction", "order", "comparison", "outcome"]
        ),
    }
