"""Several benchmarks with one command: a run folder each, what is not here listed, and what they say together."""

import csv
import importlib.util
import json
from pathlib import Path

import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from audits.config import options
from audits.experiment import PLACES
from audits.overrides import is_path_key, translate

TOP = Path(__file__).resolve().parents[2]
EXPERIMENTS = [name for name in options("experiment") if name != "none"]
# What the two papers audit, by their tables; ARO, What'sUp, COLA and CounterCurate are several tests each.
CREPE = {
    *("aro_vg_relation", "aro_vg_attribution", "aro_coco_order", "aro_flickr30k_order", "crepe_productivity"),
    *("sugarcrepe", "vl_checklist", "valse", "colorfoil", "bla", "whatsup_a", "whatsup_b", "whatsup_coco_qa"),
    *("whatsup_vg_qa", "cc_neg", "sugarcrepe_pp", "svo_probes", "cola", "cola_single", "winoground", "colorswap"),
    *("coco_counterfactuals", "eqben", "countercurate_position", "countercurate_counting"),
    "countercurate_attributes",
}
SUITE = {
    *("compset", "winoground", "bivlc", "whatsup_pairs", "colorswap", "mmvp_vlm", "naturalbench_retrieval"),
    *("colorbench_t2i", "sugarcrepe_five", "sugarcrepe_pp"),
}
FAST = ("baseline=[constant,length]", "statistics.bootstrap=100", "verdict.findings.shown=3")


def written(name: str, folder: Path) -> Path:
    """Write a tiny release of a benchmark into a folder of its name."""
    path = TOP / "tests" / "contracts" / "releases" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"release_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (folder / name).mkdir(parents=True)
    module.write(folder / name)
    return folder / name


@pytest.fixture
def releases(tmp_path):
    """Return a folder that holds two releases by the names of their benchmarks."""
    for name in ("sugarcrepe", "valse"):
        written(name, tmp_path / "all")
    return tmp_path / "all"


@pytest.fixture
def small():
    """Return the overrides that cut the experiment down to four benchmarks, of which two are not here."""
    kept = {"sugarcrepe", "valse", "bla", "cc_neg"}
    return ("experiment=good_crepe", *(f"~experiment.benchmarks.{name}" for name in sorted(CREPE - kept)))


def members(folder: Path) -> dict[str, dict[str, str]]:
    content = json.loads((folder / "experiment.json").read_text(encoding="utf-8"))
    return {item["name"]: item for item in content["members"]}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_names_benchmarks_that_there_are(name):
    with initialize_config_module("conf", version_base=None):
        found = OmegaConf.to_container(compose("run", [f"experiment={name}"]).experiment, resolve=True)
    assert found["name"] == name
    assert found["title"]
    assert set(found["benchmarks"]) <= set(options("benchmark"))
    for benchmark, given in found["benchmarks"].items():
        with initialize_config_module("conf", version_base=None):
            known = compose("run", [f"benchmark={benchmark}"]).benchmark
        assert set(given) - {PLACES} <= set(known)
        assert all(not Path(place).is_absolute() for place in given.get(PLACES, []))


@pytest.mark.parametrize(("name", "expected"), [("good_crepe", CREPE), ("composet_suite", SUITE)])
def test_the_experiments_hold_the_benchmarks_of_their_papers(name, expected):
    with initialize_config_module("conf", version_base=None):
        assert set(compose("run", [f"experiment={name}"]).experiment.benchmarks) == expected


def test_options_of_members_are_paths_where_they_are_of_benchmarks_and_need_no_plus():
    assert is_path_key("experiment.benchmarks.valse.root")
    assert is_path_key("++experiment.benchmarks.vl_checklist.images.vg")
    assert not is_path_key("experiment.benchmarks.valse.subsets")
    assert translate(["experiment.benchmarks.valse.root=my data"]) == ["++experiment.benchmarks.valse.root='my data'"]


def test_what_is_here_is_audited_and_what_is_not_is_listed(cli, tmp_path, releases, small):
    done = cli("run", *small, *FAST, "paths.benchmarks=all", "out=out")
    assert done.returncode == 0, done.stderr
    found = members(tmp_path / "out")
    assert {name: item["status"] for name, item in found.items()} == {
        **{"sugarcrepe": "done", "valse": "done", "bla": "absent", "cc_neg": "absent"}
    }
    assert "experiment.benchmarks.bla.root=FOLDER" in found["bla"]["step"]
    for page in (done.stdout, *((tmp_path / "out" / name).read_text() for name in ("report.md", "report.html"))):
        assert "Not run" in page
        assert "cc_neg" in page
        assert "sugarcrepe" in page
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir()) == [
        *("figures", "sugarcrepe", "valse")
    ]
    with (tmp_path / "out" / "metrics.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    own = []
    for name in ("sugarcrepe", "valse"):
        with (tmp_path / "out" / name / "metrics.csv").open(encoding="utf-8", newline="") as stream:
            own += list(csv.DictReader(stream))
    assert sorted(map(str, rows)) == sorted(map(str, own))

    # A member's folder is the one that a run by itself makes: that run finds it finished.
    alone = cli("run", "benchmark=valse", *FAST, "paths.benchmarks=all", "out=out/valse")
    assert alone.returncode == 0, alone.stderr
    assert "shown again" in alone.stderr
    given = cli("run", "benchmark=valse", *FAST, "benchmark.root=all/valse", "out=out/valse")
    assert "shown again" in given.stderr, given.stderr

    # The same command shows what is finished and audits what has come; `report` renders the whole again.
    written("bla", releases)
    again = cli("run", *small, *FAST, "paths.benchmarks=all", "out=out")
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("shown again") == 2
    assert members(tmp_path / "out")["bla"]["status"] == "done"
    before = (tmp_path / "out" / "report.html").read_bytes()
    assert cli("report", "out").returncode == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == before


def test_a_broken_one_stops_nothing_and_shows_in_the_status(cli, tmp_path, releases, small):
    (releases / "valse" / "plurals.json").write_text("{", encoding="utf-8")
    done = cli("run", *small, *FAST, f"experiment.benchmarks.sugarcrepe.root={releases / 'sugarcrepe'}",
               f"experiment.benchmarks.valse.root={releases / 'valse'}", "out=out")  # fmt: skip
    assert done.returncode == 3, done.stderr
    found = members(tmp_path / "out")
    assert found["valse"]["status"] == "failed"
    assert "plurals.json" in found["valse"]["where"]
    assert found["sugarcrepe"]["status"] == "done"
    assert "failed" in done.stdout
    assert not (tmp_path / "out" / "valse").exists()


def test_with_none_of_them_here_the_command_ends_in_3_and_leaves_nothing(cli, tmp_path, small):
    done = cli("run", *small, *FAST, "~experiment.benchmarks.valse", "~experiment.benchmarks.sugarcrepe", "out=out")
    assert done.returncode == 3
    assert "none of the experiment's benchmarks" in done.stderr
    assert "bla: absent" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_contestant_that_is_not_here_is_not_taken_for_a_benchmark_that_is_not(cli, releases, small):
    done = cli("run", *small, "baseline=likelihood", "baseline.likelihood.model=nobody/none", "paths.benchmarks=all",
               "out=out")  # fmt: skip
    assert done.returncode == 3
    assert "nobody/none" in done.stderr
    assert "valse: failed" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("experiment=good_crep",), "good_crepe"),
        (("experiment=good_crepe", "benchmark=valse"), "an experiment chooses its benchmarks itself"),
        (("experiment=good_crepe", "benchmark.root=x"), "experiment.benchmarks.NAME.root="),
        (("experiment=good_crepe", "experiment.benchmarks.vals.root=x"), "did you mean valse"),
        (("experiment.benchmarks.valse.root=x",), "experiment="),
        (("experiment=good_crepe", "paths.benchmarks=nowhere"), "paths.benchmarks"),
    ],
)
def test_mistakes_are_told_before_anything_runs(cli, tmp_path, words, said):
    done = cli("run", *words, *FAST, "out=out")
    assert done.returncode == 3
    assert said in done.stderr
    assert "benchmark 2 of" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_something_else_is_refused(cli, tmp_path, releases, small):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", encoding="utf-8")
    done = cli("run", *small, *FAST, "paths.benchmarks=all", "out=out")
    assert done.returncode == 3
    assert "holds no experiment" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_a_sweep_runs_an_experiment_in_each_job(cli, tmp_path, releases, small):
    done = cli("run", "-m", *small, *FAST, "~experiment.benchmarks.bla", "~experiment.benchmarks.cc_neg",
               "~experiment.benchmarks.valse", "paths.benchmarks=all", "seed=1,2", "out=out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    for number, seed in enumerate((1, 2)):
        record = json.loads((tmp_path / "out" / str(number) / "sugarcrepe" / "record.json").read_text())
        assert record["config"]["seed"] == seed
        assert "experiment" not in record["config"]
        assert (tmp_path / "out" / str(number) / "report.html").is_file()
