"""The default run of the bundled sample: both small models against the blind baselines, and what its card asks."""

import csv
import json

import pandas as pd
import pytest

SMALL = (
    "benchmark=compset", "benchmark.source=sample", "benchmark.sample.scenes=3", "benchmark.sample.size=64",
    "baseline=length", "statistics.bootstrap=100",
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory, module_cli):
    folder = tmp_path_factory.mktemp("small")
    done = module_cli(folder, "run", *SMALL, "out=out", "paths.cache=cache")
    assert done.returncode == 0, done.stderr
    return folder / "out", done


def rows(folder) -> list[dict]:
    with (folder / "metrics.csv").open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.DictReader(stream) if row["primary"] == "1" and not row["against"]]


def test_both_models_face_the_blind_baselines(run) -> None:
    folder, done = run
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    kinds = {name: facts["kind"] for name, facts in record["contestants"].items()}
    assert kinds["tableaux_clip"] == kinds["tableaux_captioner"] == "model"
    assert kinds["length"] == "blind"
    assert any("other scenes of the generator" in notice for notice in record["notices"])
    assert "Model under audit tableaux_clip: Group" in done.stdout
    page = (folder / "report.md").read_text(encoding="utf-8")
    titles = ("By subset: Group", "By subset and tier: Group", "Gaps between kinds of subsets", "By direction")
    for title in ("Excess of", *titles):
        assert title in page, title


def test_tables_are_the_means_of_the_outcomes(run) -> None:
    """The slow definition: average the recorded credits by hand, for the dual encoder."""
    folder, _ = run
    outcomes = pd.read_parquet(folder / "outcomes.parquet")
    instances = pd.read_parquet(folder / "instances.parquet").set_index("instance")
    own = outcomes[outcomes["scorer"] == "tableaux_clip"]
    strict = own.groupby("instance")["credit"].min().eq(1).astype(float)  # Group: every comparison won
    subset = instances["subset"]
    tier = [json.loads(tags)["tier"] for tags in instances["tags"][strict.index]]
    found = {
        (row["metric"], row["subset"], row["tag"]): float(row["value"])
        for row in rows(folder)
        if row["scorer"] == "tableaux_clip"
    }
    told = pd.DataFrame({"group": strict, "subset": subset[strict.index], "tier": tier})
    for (name, level), value in told.groupby(["subset", "tier"])["group"].mean().items():
        assert found["group", name, f"tier={level}"] == pytest.approx(value)
    kind = told["subset"].str.partition("_")[0]
    gap = told["group"][kind == "modify"].mean() - told["group"][kind == "swap"].mean()
    assert found["group_gap", "all", "gap=modify_* - swap_*"] == pytest.approx(gap)
    spatial = [key for key in found if key[0] == "group_directions" and key[1] == "swap_spatial"]
    sizes = [row for row in rows(folder) if row["scorer"] == "tableaux_clip" and row["metric"] == "group_directions"]
    assert spatial
    of_swaps = sum(int(row["n"]) for row in sizes if row["subset"] == "swap_spatial")
    assert of_swaps == int((told["subset"] == "swap_spatial").sum())


def test_a_release_is_read_without_them(cli, tmp_path) -> None:
    assert cli("sample", "out=release", "scenes=2", "images=false").returncode == 0
    done = cli("run", "benchmark=compset", "benchmark.root=release", "baseline=length", "out=out")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert set(record["contestants"]) == {"length"}
    assert any("Left out" in notice and "tableaux_clip, tableaux_captioner" in notice for notice in record["notices"])


def test_they_run_elsewhere_if_asked_and_the_report_warns(cli, tmp_path) -> None:
    assert cli("sample", "out=release", "scenes=1", "images=true", "size=64").returncode == 0
    words = ("benchmark=compset", "benchmark.root=release", "benchmark.limit=6", "baseline=length")
    done = cli("run", *words, "model=tableaux_clip", "statistics.bootstrap=100", "out=out")
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert set(record["contestants"]) == {"length", "tableaux_clip"}
    assert any("and on nothing else" in notice for notice in record["notices"])


def test_the_command_line_has_the_last_word(cli) -> None:
    asked = {"model=none": [], "model=tableaux_clip": ["tableaux_clip"], "": ["tableaux_clip", "tableaux_captioner"]}
    for word, expected in asked.items():
        done = cli("run", "--cfg", "job", "benchmark=compset", *filter(None, [word]))
        assert [name for name in ("tableaux_clip", "tableaux_captioner") if f"\n  {name}:" in done.stdout] == expected
    assert "tableaux" not in cli("run", "--cfg", "job", "benchmark=sugarcrepe").stdout


def test_an_unknown_place_to_run_is_refused(cli) -> None:
    done = cli(
        "run", "benchmark=compset", "benchmark.source=sample", "baseline=none", "model.tableaux_clip.only=samples"
    )
    assert done.returncode == 3
    assert "model.tableaux_clip.only" in done.stderr
    assert "samples" in done.stderr
