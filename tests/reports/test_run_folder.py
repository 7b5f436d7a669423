import json
import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.errors import InputError
from reports import record as record_module
from reports.record import RunFolder, config_digest, read, render_again
from reports.schema import Finding

ROOT = Path(__file__).resolve().parents[2]


def finished(out, make, identity="one", **changes):
    with RunFolder.open(out, identity) as folder:
        folder.begin(make.record(**changes))
        folder.table("instances", pd.DataFrame({"id": ["a", "b"], "subset": ["x", None]}))
        return folder.finish(make.record(**changes), make.estimates(), [])


def contents(folder):
    found = (item for item in folder.rglob("*") if item.is_file() and item.name != ".lock")
    return {item.relative_to(folder).as_posix(): item.read_bytes() for item in found}


def test_a_run_is_read_back_as_it_was_written(tmp_path, make):
    finding = Finding("missing", "warning", "two – of ten", "x", ("a", "b"), {"share": math.nan, "n": 2, "who": "é"})
    with RunFolder.open(tmp_path / "out", "one") as folder:
        assert folder.state == "new"
        folder.begin(make.record())
        folder.table("scores", pd.DataFrame({"score": [0.5, math.nan]}))
        folder.finish(make.record(), make.estimates(), [finding])
    run = read(tmp_path / "out")
    assert run.record == {**make.record(), "format": 1, "status": "done", "config_digest": "one"}
    assert list(run.estimates) == make.estimates()
    (found,) = run.findings
    assert math.isnan(found.values["share"])
    assert (found.instances, found.sentence, found.values["n"]) == (("a", "b"), "two – of ten", 2)
    assert run.table("scores")["score"].tolist()[0] == 0.5
    with pytest.raises(InputError, match=r"no such table[\s\S]*probes[\s\S]*scores"):
        run.table("probes")


def test_status_is_running_until_the_last_step(tmp_path, make, monkeypatch):
    out = tmp_path / "out"
    folder = RunFolder.open(out, "one")
    folder.begin(make.record())
    assert json.loads((out / "record.json").read_text(encoding="utf-8"))["status"] == "running"
    order = []
    real = record_module.files.write_atomically
    monkeypatch.setattr(
        record_module.files, "write_atomically", lambda path, write: (order.append(path.name), real(path, write))
    )
    folder.finish(make.record(), make.estimates(), [])
    folder.close()
    assert order[-1] == "record.json"
    pages = {"report.md", "report.html", "blind.svg", "blind.png"}
    assert set(order) == {"metrics.csv", "findings.json", "record.json", *pages}


def test_an_interrupted_run_is_resumed_by_the_same_configuration_only(tmp_path, make):
    out = tmp_path / "out"
    with RunFolder.open(out, "one") as folder:
        folder.begin(make.record())
    (out / ".writing-scores.parquet-abc").write_bytes(b"half")
    with pytest.raises(InputError, match="another configuration"):
        RunFolder.open(out, "two")
    with RunFolder.open(out, "one") as folder:
        assert folder.state == "unfinished"
        assert not list(out.glob(".writing-*"))
        folder.begin(make.record())
    with pytest.raises(InputError, match=r"not finished[\s\S]*out="):
        read(out)


def test_a_run_killed_in_the_middle_is_resumed(tmp_path, make):
    script = (
        "import os, pathlib, signal, sys, json\nfrom reports.record import RunFolder\n"
        "folder = RunFolder.open(pathlib.Path(sys.argv[1]), 'one')\n"
        "folder.begin(json.loads(sys.stdin.read()))\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    text = json.dumps(make.record())
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "o")], cwd=ROOT, input=text, text=True, check=False)
    with RunFolder.open(tmp_path / "o", "one") as folder:
        assert folder.state == "unfinished"


def test_a_finished_run_is_rendered_again_and_never_run_over(tmp_path, make):
    out = tmp_path / "out"
    finished(out, make)
    before = contents(out)
    with RunFolder.open(out, "one") as folder:
        assert folder.state == "finished"
        with pytest.raises(ValueError, match="finished"):
            folder.begin(make.record())
        for name in ("report.md", "report.html", "figures/blind.svg", "figures/blind.png"):
            (out / name).unlink()
        folder.render()
    assert contents(out) == before
    (out / "report.md").write_text("edited", encoding="utf-8")
    render_again(out)
    assert contents(out) == before


def test_another_configuration_is_refused_with_the_keys_that_differ(tmp_path, make):
    out = tmp_path / "out"
    finished(out, make)
    before = contents(out)
    asked = {"benchmark": {"name": "sugarcrepe", "limit": 10}, "seed": 42, "out": "elsewhere"}
    with pytest.raises(InputError) as caught:
        RunFolder.open(out, "two", config=asked)
    message = str(caught.value)
    assert "benchmark.limit: None there, 10 asked" in message
    assert "seed" not in message
    assert "elsewhere" not in message
    assert "out=" in caught.value.step
    assert contents(out) == before


def test_a_folder_that_holds_something_else_is_refused_untouched(tmp_path):
    (tmp_path / "thesis.tex").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds no run[\s\S]*thesis\.tex"):
        RunFolder.open(tmp_path, "one")
    assert [item.name for item in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(InputError, match="is a file"):
        RunFolder.open(tmp_path / "thesis.tex", "one")
    with pytest.raises(InputError, match="cannot be written"):
        RunFolder.open(tmp_path / "thesis.tex" / "below", "one")


def test_the_launchers_own_files_do_not_make_a_folder_foreign(tmp_path):
    (tmp_path / ".hydra").mkdir()
    (tmp_path / "audits.log").write_text("", encoding="utf-8")
    with RunFolder.open(tmp_path, "one") as folder:
        assert folder.state == "new"


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{}", "format"),
        ("[1]", "format list"),
        ('{"format": 99}', "format 99"),
        ("{", "JSON"),
        ('{"format": 1}', "incomplete"),
    ],
)
def test_a_record_of_another_kind_is_refused(tmp_path, text, match):
    (tmp_path / "record.json").write_text(text, encoding="utf-8")
    for act in (lambda: read(tmp_path), lambda: RunFolder.open(tmp_path, "one")):
        with pytest.raises(InputError, match=match):
            act()


def test_reading_what_is_no_run_says_what_is_there(tmp_path, make):
    with pytest.raises(InputError, match=r"not a run folder[\s\S]*no such folder"):
        read(tmp_path / "none")
    with pytest.raises(InputError, match="an empty folder"):
        read(tmp_path)
    finished(tmp_path / "out", make)
    (tmp_path / "out" / "metrics.csv").unlink()
    with pytest.raises(InputError, match=r"missing[\s\S]*metrics\.csv"):
        read(tmp_path / "out")


def test_two_writers_cannot_open_one_folder(tmp_path, make):
    with RunFolder.open(tmp_path, "one") as folder:
        folder.begin(make.record())
        with pytest.raises(InputError, match="another process"):
            RunFolder.open(tmp_path, "one")
    RunFolder.open(tmp_path, "one").close()


def test_identity_ignores_place_order_and_secrets_and_nothing_else():
    base = {"a": 1, "b": {"c": [1, 2]}, "out": "x", "model": {"api_key": "k1"}}
    same = {"model": {"api_key": "k2"}, "b": {"c": [1, 2]}, "a": 1, "out": "y"}
    assert config_digest(base) == config_digest(same)
    assert config_digest(base) != config_digest({**base, "a": 2})
    assert config_digest(base) != config_digest({**base, "b": {"c": [2, 1]}})


def test_no_secret_reaches_any_file(tmp_path, make, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    changes = {
        "config": {"model": {"gpt": {"api_key": "sk-abc", "start_token": "<s>", "url": "https://u:pw@host/v1"}}},
        "notices": ["called with correct-horse-battery"],
        "command": "python -m audits run model.gpt.api_key=sk-abc",
    }
    finished(tmp_path / "out", make, **changes)
    text = b"".join(contents(tmp_path / "out").values()).decode("utf-8", "replace")
    for secret in ("sk-abc", "correct-horse-battery", "u:pw"):
        assert secret not in text
    assert read(tmp_path / "out").record["config"]["model"]["gpt"]["start_token"] == "<s>"


def test_a_table_of_a_strange_name_stays_in_the_folder(tmp_path):
    with RunFolder.open(tmp_path / "out", "one") as folder:
        path = folder.table("../evil", pd.DataFrame({"a": [1]}))
    assert path.parent == tmp_path / "out"
    assert not (tmp_path / "evil.parquet").exists()
