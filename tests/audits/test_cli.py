"""Exit statuses, messages and run folders, as a user of the command line meets them."""

import csv
import json
import os
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from audits.config import identity

QUICK = ("baseline=[constant,length]",)


def metrics(out: Path) -> list[dict[str, str]]:
    with (out / "metrics.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def only(rows: list[dict[str, str]], **wanted: str) -> dict[str, str]:
    wanted = {"metric": "accuracy"} | wanted
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    assert len(found) == 1, f"{len(found)} rows for {wanted}"
    return found[0]


def refused(done, *parts: str) -> None:
    """One message on standard error, nothing on standard output, exit status 3."""
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr


def test_own_table_runs_with_no_further_option(cli, pairs, tmp_path) -> None:
    done = cli("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "out=out")
    assert done.returncode == 0, done.stderr
    rows = metrics(tmp_path / "out")
    # every foil is longer: fewer words always picks the caption, more words never does; a constant is a coin
    assert float(only(rows, scorer="length:words:fewer", subset="all", primary="1")["value"]) == 1.0
    assert float(only(rows, scorer="length:words:more", subset="all", primary="1")["value"]) == 0.0
    constant = only(rows, scorer="constant", subset="all", primary="1")
    assert (float(constant["value"]), constant["ties"], constant["n"]) == (0.5, "40", "40")
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert record["status"] == "done"
    assert record["benchmark"]["n"] == 40
    scores = pd.read_parquet(tmp_path / "out" / "scores.parquet")
    assert list(scores.columns) == [
        "instance", "image", "caption", "scorer", "score", "tokens", "truncated", "note",
    ]  # fmt: skip
    outcomes = pd.read_parquet(tmp_path / "out" / "outcomes.parquet")
    assert list(outcomes.columns) == [
        "instance", "scorer", "direction", "order", "comparison", "outcome", "credit",
    ]  # fmt: skip
    assert (tmp_path / "out" / "report.md").stat().st_size > 0
    assert "Compromised" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "figures" / "blind.png").read_bytes().startswith(b"\x89PNG")


def test_results_on_stdout_and_the_rest_on_stderr(cli, pairs) -> None:
    done = cli("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "out=out")
    assert "Compromised" in done.stdout
    assert "\r" not in done.stderr + done.stdout
    assert "\x1b" not in done.stderr + done.stdout


def test_finished_run_is_rendered_again_and_another_configuration_refused(cli, pairs, tmp_path) -> None:
    words = ("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "out=out")
    first = cli(*words)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    second = cli(*words)
    assert second.returncode == 0
    assert second.stdout == first.stdout
    refused(cli(*words, "seed=7"), "out")
    after = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {path.name for path in before if before[path] != after[path]} <= {".lock"}
    assert before.keys() == after.keys()
    assert cli("report", "out").stdout == first.stdout


def test_folder_that_is_not_a_run_is_left_alone(cli, pairs, tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work", encoding="utf-8")
    refused(cli("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "out=out"), "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["rum"], ["rum", "run"]),
        (["run", "benchmark=sugarcrep"], ["sugarcrep", "did you mean sugarcrepe"]),
        (["run", "baseline=[length,likelyhood]"], ["likelyhood", "likelihood"]),
        (["run", "benchmark=table", "benchmark.pth=x.csv"], ["benchmark.pth", "benchmark.path"]),
        (["run", "benchmrk=table"], ["benchmrk", "benchmark"]),
        (["run", "seed=1,2"], ["seed"]),
        (["run", "benchmark=table", "benchmark.path=[a"], ["[a"]),
        (["run", "compset"], ["compset"]),
        (["run", "benchmark=table"], ["path"]),
        (["run", "--nonsense"], ["nonsense"]),
        (["sample"], ["out"]),
        (["show", "sugarcrep"], ["sugarcrepe"]),
        (["list", "models"], ["model"]),
        (["report", "nowhere"], ["nowhere"]),
        (["run", "baseline=none", "model=none"], ["nothing to run"]),
    ],
    ids=" ".join,
)  # fmt: skip
def test_mistake_on_the_command_line(cli, tmp_path, words, parts) -> None:
    refused(cli(*words), *parts)
    assert not list(tmp_path.glob("runs/**/*.json")), "nothing half-written"


@pytest.mark.parametrize(
    ("content", "extra", "parts"),
    [
        (None, [], ["mine.csv"]),
        ("", [], ["mine.csv", "empty"]),
        ("caption,foil\n", [], ["mine.csv"]),
        ("captin,fooil\na,b\n", [], ["mine.csv", "captin"]),
        ("caption,foil\na,b\n", ["benchmark.caption=captoin"], ["captoin", "caption"]),
        ("id,caption,foil\nx,a,b\nx,c,d\n", [], ["mine.csv", "x"]),
        ("caption,foil\na,\n", [], ["mine.csv", "2"]),
    ],
    ids=["absent", "empty", "header only", "misspelt columns", "misspelt option", "duplicate id", "empty cell"],
)
def test_mistake_in_a_table(cli, tmp_path, content, extra, parts) -> None:
    path = tmp_path / "mine.csv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    refused(cli("run", "benchmark=table", "benchmark.path=mine.csv", *extra, *QUICK, "out=out"), *parts)
    assert not (tmp_path / "out").exists(), "nothing half-written"


STUB = """
import numpy as np
from baselines.schema import BOTH, TEXT, Scored

class Looks:
    name, sees, columns, signature = "looks", BOTH, ("",), {"weights": "none"}

    def score(self, batch, work):
        return [Scored({"": np.zeros((len(one.images), len(one.captions)))}) for one in batch]

class Reads(Looks):
    name, sees = "reads", TEXT

    def score(self, batch, work):
        return [Scored({"": np.zeros((1, len(one.captions)))}) for one in batch]

class Chats(Reads):
    name = "chats"

    def score(self, batch, work):
        print("chatter")
        return super().score(batch, work)

class Fails(Reads):
    name = "fails"

    def score(self, batch, work):
        raise RuntimeError("an injected fault")
"""


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    (tmp_path / "stub.py").write_text(STUB, encoding="utf-8")
    return tmp_path


def test_missing_image_that_a_scorer_needs(cli, stub) -> None:
    """Case A5: 10 rows, 3 without a file."""
    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc0000003010100c9fe92ef"
        "0000000049454e44ae426082"
    )
    lines = ["image,caption,foil"]
    for k in range(10):
        lines.append(f"{k}.png,cup {k},mug {k}")
        if k not in (2, 5, 7):
            (stub / f"{k}.png").write_bytes(png)
    (stub / "mine.csv").write_text("\n".join(lines), encoding="utf-8")
    words = ["run", "benchmark=table", "benchmark.path=mine.csv", "baseline=constant", "out=out"]
    blind = cli(*words, "out=blind")
    assert blind.returncode == 0, "a blind baseline never asks for an image"
    model = ["+model.looks._target_=stub.Looks"]
    refused(cli(*words, *model), "3 of 10", "benchmark.missing=exclude")
    done = cli(*words, *model, "benchmark.missing=exclude")
    assert done.returncode == 0, done.stderr
    record = json.loads((stub / "out" / "record.json").read_text(encoding="utf-8"))
    coverage = record["benchmark"]["coverage"]
    assert (coverage["present"], coverage["expected"], len(coverage["missing"])) == (7, 10, 3)
    assert {row["n"] for row in metrics(stub / "out")} == {"7"}
    assert "7 of 10" in done.stdout


def test_fault_of_ours_exits_4_and_keeps_the_traceback(cli, stub, pairs) -> None:
    words = ["run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "+baseline.f._target_=stub.Fails", "out=out"]
    done = cli(*words)
    assert done.returncode == 4
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "an injected fault" in (stub / "out" / "audits.log").read_text(encoding="utf-8")
    assert "Traceback" in cli(*words, env={"HYDRA_FULL_ERROR": "1"}).stderr


def test_unfinished_run_is_taken_up_again(cli, stub, pairs) -> None:
    """The same command after a fault resumes; once the fault is mended the run finishes in the same folder."""
    words = ["run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "+baseline.f._target_=stub.Fails", "out=out"]
    assert cli(*words).returncode == 4
    (stub / "stub.py").write_text(
        STUB.replace('raise RuntimeError("an injected fault")', "return super().score(batch, work)")
    )
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    assert only(metrics(stub / "out"), scorer="fails", subset="all", primary="1")["value"] == "0.5"


def test_sweep_goes_on_after_a_failed_job(cli, stub, pairs) -> None:
    """Case H3: the second of three fails; results for the others, a gap and not a 0, exit status not 0."""
    target = "+baseline.m._target_=stub.Reads,stub.Fails,stub.Reads"
    done = cli("run", "-m", "benchmark=table", f"benchmark.path={pairs}", *QUICK, target, "out=out")
    assert done.returncode == 4, done.stderr
    assert [json.loads((stub / "out" / str(k) / "job.json").read_text())["exit"] for k in range(3)] == [0, 4, 0]
    assert (stub / "out" / "0" / "metrics.csv").exists()
    assert not (stub / "out" / "1" / "metrics.csv").exists()
    assert (stub / "out" / "2" / "metrics.csv").exists()
    assert "fault" in done.stdout


@pytest.mark.parametrize("chdir", ["true", "false"])
def test_relative_paths_are_relative_to_the_launch_folder(cli, pairs, tmp_path, chdir) -> None:
    """Case H1: single run and sweep, with and without chdir, read the same data and write into their own folders."""
    words = ["run", "benchmark=table", "benchmark.path=./mine.csv", *QUICK, f"hydra.job.chdir={chdir}"]
    assert cli(*words, "out=single").returncode == 0
    assert cli(*words, "-m", "seed=1,2", "out=many").returncode == 0
    for folder in ("single", "many/0", "many/1"):
        assert only(metrics(tmp_path / folder), scorer="constant", subset="all", primary="1")["n"] == "40"


def test_paths_with_blanks_commas_brackets_and_equals_signs(cli, pairs, tmp_path) -> None:
    odd = tmp_path / "a b, c=d [e] 'f' ${g}"
    odd.mkdir()
    pairs.rename(odd / "mine.csv")
    done = cli("run", "benchmark=table", f"benchmark.path={odd / 'mine.csv'}", *QUICK, f"out={odd / 'out (1), final'}")
    assert done.returncode == 0, done.stderr
    assert (odd / "out (1), final" / "metrics.csv").exists()
    assert cli("report", str(odd / "out (1), final")).stdout == done.stdout


def test_folder_of_the_users_that_hides_ours(fresh, tmp_path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "__init__.py").write_text("", encoding="utf-8")
    top = Path(__file__).resolve().parents[2]
    done = fresh("list", env={"PYTHONSAFEPATH": "", "PYTHONPATH": str(top)})
    assert done.returncode == 3
    assert "reports" in done.stderr
    assert "Traceback" not in done.stderr
    # a plain folder of that name, without __init__.py, is no package and hides nothing
    (tmp_path / "reports" / "__init__.py").unlink()
    assert fresh("list", env={"PYTHONSAFEPATH": "", "PYTHONPATH": str(top)}).returncode == 0


def test_hydra_works_as_its_users_expect(cli, tmp_path) -> None:
    done = cli("run", "--cfg", "job", "benchmark=table", "baseline=[length,constant]", "model=none")
    assert done.returncode == 0
    assert "_target_: baselines.length.Length" in done.stdout
    assert "_target_: baselines.constant.Constant" in done.stdout
    assert not list(tmp_path.iterdir())


def test_list_and_show(cli) -> None:
    listed = cli("list")
    assert listed.returncode == 0
    for name in ("sugarcrepe", "valse", "compset", "table", "length", "likelihood"):
        assert name in listed.stdout
    assert "sugarcrepe" not in cli("list", "baseline").stdout
    card = cli("show", "sugarcrepe")
    assert card.returncode == 0
    assert "MIT" in card.stdout
    assert "7,511" in card.stdout or "7511" in card.stdout


def test_sample_is_written_audited_and_refused_a_second_time(cli, tmp_path) -> None:
    words = ["sample", "out=planted", "scenes=12", "shortcut=length", "strength=1.0", "images=false"]
    assert cli(*words).returncode == 0
    refused(cli(*words), "planted")
    refused(cli("sample", "out=x", "shortcut=lenght"), "lenght", "length")
    done = cli("run", "benchmark=compset", "benchmark.root=planted", "baseline=length", "out=out")
    assert done.returncode == 0, done.stderr
    rows = metrics(tmp_path / "out")
    planted = only(rows, scorer="length:words:fewer", subset="all", tag="", metric="caption_preference", primary="1")
    assert float(planted["value"]) > 0.9


def test_sample_is_drawn_where_images_are_asked_for(cli, tmp_path) -> None:
    done = cli("sample", "out=seen", "scenes=4", "images=true", "size=64")
    assert done.returncode == 0, done.stderr
    table = pq.read_table(tmp_path / "seen" / "variations.parquet").to_pylist()
    named = {row[side] for row in table for side in ("image_base", "image_var")}
    drawn = {f"images/{path.name}" for path in (tmp_path / "seen" / "images").iterdir()}
    assert drawn == named
    assert {path.stem for path in (tmp_path / "seen" / "masks").iterdir()} == {row["id"] for row in table}
    refused(cli("sample", "out=tiny", "images=true", "size=3"), "size", "32")
    refused(cli("sample", "out=tiny", "images=maybe"), "images", "maybe", "true or false")
    assert not (tmp_path / "tiny").exists()


def test_text_baselines_never_draw_the_bundled_sample(cli, tmp_path) -> None:
    done = cli("run", "benchmark=compset", "model=none", "baseline=length", "out=out", "paths.cache=cache")
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "cache").rglob("variations.parquet"))
    assert not list((tmp_path / "cache").rglob("*.png"))


def test_bundled_sample_says_so_everywhere(cli, tmp_path) -> None:
    done = cli("run", "benchmark=compset", "model=none", "baseline=length", "out=out")
    assert done.returncode == 0, done.stderr
    sentence = "not the released data"
    assert done.stdout.count(sentence) >= 2
    assert sentence in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert sentence in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "figures" / "examples" / "01-base.png").stat().st_size > 1000
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert record["sample"] is True
    refused(cli("run", "benchmark=compset", "benchmark.source=release", "baseline=length", "out=no"), "CompoSET")


def test_usage() -> None:
    from audits.cli import USAGE, VERBS

    assert all(verb in USAGE for verb in VERBS)


def test_a_reader_that_closes_the_pipe_is_no_failure(fresh, pairs, tmp_path) -> None:
    import subprocess
    import sys

    words = ["run", "benchmark=table", f"benchmark.path={pairs}", "baseline=constant", "out=out"]
    assert fresh(*words).returncode == 0
    top = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "audits", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(top), "AUDITS_CACHE": str(tmp_path / "cache"), "COLUMNS": "120", "CI": "1"},
    )  # fmt: skip
    process.stdout.close()
    stderr = process.stderr.read()
    process.stderr.close()
    assert process.wait(120) == 0, stderr
    assert b"shown again" in stderr
    assert b"Error" not in stderr


@pytest.mark.parametrize(
    "word",
    [
        "statistics.tie_tolerance=-1", "statistics.tie_tolerance=nan", "statistics.tie_tolerance=x",
        "statistics.level=0", "statistics.level=1", "statistics.level=95", "statistics.bootstrap=0",
        "statistics.bootstrap=-5", "statistics.bootstrap=1.5", "statistics.bootstrap=abc", "statistics.seed=-1",
        "seed=abc", "engine.chunk=0", "engine.chunk=x", "benchmark.limit=0", "benchmark.limit=true",
        "benchmark.missing=maybe", "benchmark.name=../../zz", "statistics=null", "~statistics",
        "baseline.length.units=null", "baseline.length.units=3", "baseline.length.units=[wrds]",
    ],
)  # fmt: skip
def test_a_value_that_could_only_give_a_wrong_number_is_refused(cli, pairs, tmp_path, word) -> None:
    refused(cli("run", "benchmark=table", f"benchmark.path={pairs}", "baseline=length", "out=out", word))
    assert not (tmp_path / "out").exists()


def test_data_that_changed_since_a_run_was_finished_are_noticed(cli, pairs, tmp_path) -> None:
    words = ("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "out=out")
    first = cli(*words)
    pairs.write_text("caption,foil\na,b c\nd,e f\n", encoding="utf-8")
    refused(cli(*words), "changed", "mine.csv")
    assert cli("report", "out").stdout == first.stdout


def test_a_tilde_is_the_home_folder(cli, pairs, tmp_path) -> None:
    words = ("run", "benchmark=table", "benchmark.path=~/mine.csv", *QUICK, "out=~/out")
    assert cli(*words, env={"HOME": str(tmp_path)}).returncode == 0
    assert (tmp_path / "out" / "metrics.csv").exists()


@pytest.mark.parametrize("place", ["mine.csv", "mine.csv/sub"])
def test_an_output_folder_that_cannot_be_made_is_a_mistake_of_the_users(cli, pairs, place) -> None:
    refused(cli("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, f"out={place}"), "mine.csv")


def test_an_unusable_cache_leaves_no_run_behind(cli, pairs, tmp_path) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "scores.sqlite").write_bytes(b"not a database" * 100)
    refused(cli("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "out=out"), "scores.sqlite")
    assert not (tmp_path / "out").exists()


def test_one_benchmark_a_run(cli) -> None:
    refused(cli("run", "benchmark=[sugarcrepe,valse]"), "-m benchmark=sugarcrepe,valse")


def test_a_fault_names_the_contestant(cli, stub, pairs) -> None:
    done = cli(
        "run", "benchmark=table", f"benchmark.path={pairs}", "+baseline.f._target_=stub.Fails", *QUICK, "out=out"
    )
    assert done.returncode == 4
    assert "stub.Fails" in (stub / "out" / "audits.log").read_text(encoding="utf-8")


def test_version(cli) -> None:
    from audits import __version__

    assert cli("--version").stdout == f"audits {__version__}\n"


def test_what_a_scorer_prints_does_not_mix_with_the_results(cli, stub, pairs) -> None:
    done = cli(
        "run", "benchmark=table", f"benchmark.path={pairs}", "+baseline.c._target_=stub.Chats", *QUICK, "out=out"
    )
    assert done.returncode == 0, done.stderr
    assert "chatter" not in done.stdout
    assert "chatter" in done.stderr


def test_a_misspelt_flag_is_one_message(cli) -> None:
    refused(cli("run", "--multrun"), "--multrun", "--multirun")


def test_a_fault_in_a_contestant_of_the_users_own_is_not_called_ours(cli, pairs, tmp_path) -> None:
    (tmp_path / "own.py").write_text(
        "class Own:\n"
        "    name, sees, columns, signature = 'own', frozenset({'text'}), ('',), {'version': '1'}\n"
        "    def score(self, batch, work):\n"
        "        raise KeyError('lost')\n",
        encoding="utf-8",
    )
    done = cli("run", "benchmark=table", f"benchmark.path={pairs}", "baseline=none", "+baseline.own._target_=own.Own")
    assert done.returncode == 4
    assert "a contestant that was added to the toolkit failed, while scoring with own (own.Own)" in done.stderr
    assert "mend it" in done.stderr


def test_hints_lead_somewhere(cli, tmp_path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine.csv").write_text("caption,foil\na,b\n", encoding="utf-8")
    refused(cli("run", "benchmark=table", "benchmark.path=folder"), "a folder", "folder/mine.csv")
    (tmp_path / "mine.xlsx").write_bytes(b"PK")
    refused(cli("run", "benchmark=table", "benchmark.path=mine.xlsx"), ".xlsx", "export it", "csv")
    refused(cli("show", "sugarcrepe", "valse"), "one at a time", "audits show valse")


def test_the_terminal_shows_a_summary_unless_asked_for_everything(cli, pairs) -> None:
    words = ("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "out=out")
    brief = cli(*words)
    assert brief.returncode == 0, brief.stderr
    assert "All instances" in brief.stdout
    assert "terminal=full" in brief.stdout
    assert "Contestants\n" not in brief.stdout
    whole = cli(*words, "terminal=full")  # the same run: what is printed is no part of it
    assert whole.returncode == 0, whole.stderr
    assert "Contestants\n" in whole.stdout
    assert "This run\n" in whole.stdout
    assert cli("report", "out", "terminal=full").stdout == whole.stdout
    assert cli("report", "out").stdout == brief.stdout


def test_an_unknown_kind_of_output_is_refused_before_anything_runs(cli, pairs, tmp_path) -> None:
    done = cli("run", "benchmark=table", f"benchmark.path={pairs}", *QUICK, "out=out", "terminal=ful")
    refused(done, "terminal", "ful", "summary or full", "full")
    assert not (tmp_path / "out").exists()


def test_what_changes_speed_alone_is_no_other_configuration() -> None:
    def digest(**options: object) -> str:
        return identity({"model": {"m": {"arch": "a"} | options}, "seed": 1}, "0")

    assert digest(images_per_batch=64, cache="here") == digest(images_per_batch=2, cache="there")
    assert digest(max_calls=10, concurrency=1) == digest(max_calls=None, concurrency=8)
    assert digest(arch="b") != digest()
    assert digest(dtype="bfloat16") != digest(dtype="float32")
