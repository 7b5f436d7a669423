"""The cases of areas A, E and H that concern the run folder, the pages and progress, and their siblings."""

import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from benchmarks.errors import InputError
from reports.files import safe_name
from reports.markdown import render_markdown
from reports.record import RunFolder, read
from reports.terminal import render_terminal
from reports.view import build_view

ROOT = Path(__file__).resolve().parents[2]
A8 = "a café sign – “open”"
H4 = "3 mugs < 5 & <i>tea</i> </script> [red]cup[/red]"


@pytest.fixture(scope="module")
def make():
    path = ROOT / "tests" / "reports" / "fabricate.py"
    spec = importlib.util.spec_from_file_location("fabricate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def e5_rows(make):
    return [
        make.estimate(scorer=scorer, subset=subset, value=value)
        for scorer, subset, value in (
            ("org/m", "a", 0.1),
            ("org/m", "b", 0.2),
            ("org_m", "a", 0.3),
            ("org_m", "b", 0.4),
        )
    ]


def e5_record(make):
    return make.record(contestants={name: make.contestant("model") for name in ("org/m", "org_m")})


def test_e5_four_results_of_two_subsets_and_two_models_all_survive(tmp_path, make):
    with RunFolder.open(tmp_path / "out", "one") as folder:
        folder.begin(e5_record(make))
        for name in ("org/m", "org_m"):
            folder.table(name, pd.DataFrame({"name": [name]}))
        run = folder.finish(e5_record(make), e5_rows(make), [])
    assert {(item.scorer, item.subset): item.value for item in run.estimates} == {
        ("org/m", "a"): 0.1,
        ("org/m", "b"): 0.2,
        ("org_m", "a"): 0.3,
        ("org_m", "b"): 0.4,
    }
    assert [run.table(name)["name"][0] for name in ("org/m", "org_m")] == ["org/m", "org_m"]
    page = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    for value in ("10.0", "20.0", "30.0", "40.0"):
        assert value in page


def test_e5_the_same_run_again_is_rendered_from_its_record(tmp_path, make):
    for state in ("new", "finished"):
        with RunFolder.open(tmp_path / "out", "one") as folder:
            assert folder.state == state
            if state == "new":
                folder.begin(e5_record(make))
                folder.finish(e5_record(make), e5_rows(make), [])
                before = (tmp_path / "out" / "report.md").read_bytes()
            else:
                folder.render()
    assert (tmp_path / "out" / "report.md").read_bytes() == before


@pytest.mark.parametrize("finished", [True, False])
def test_e5_another_configuration_is_refused(tmp_path, make, finished):
    with RunFolder.open(tmp_path / "out", "one") as folder:
        folder.begin(e5_record(make))
        if finished:
            folder.finish(e5_record(make), e5_rows(make), [])
    with pytest.raises(InputError, match="another configuration"):
        RunFolder.open(tmp_path / "out", "two")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("org/m", "org_m"),
        ("Org/m", "org/m"),
        ("a b", "a_b"),
        ("a.", "a"),
        ("../m", "m"),
        ("NUL", "nul"),
        ("é", "e\u0301"),
    ],
)
def test_e5_names_that_look_alike_get_different_files(left, right):
    # casefold: on some systems `A` and `a` are one file.
    assert safe_name(left).casefold() != safe_name(right).casefold()


A8_SCRIPT = """
import json, pathlib, sys
from reports.record import RunFolder, read
from reports.schema import Estimate, Finding
given = json.loads(pathlib.Path(sys.argv[1]).read_bytes())
with RunFolder.open(pathlib.Path(sys.argv[2]), "one") as folder:
    folder.begin(given["record"])
    rows = [Estimate(**row) for row in given["rows"]]
    folder.finish(given["record"], rows, [Finding("caption", "info", given["text"])])
    run = folder.render()
assert run.findings[0].sentence == given["text"]
assert run.estimates[0].subset == given["text"]
assert run.record["notices"] == [given["text"]]
"""


def test_a8_text_survives_a_system_that_does_not_speak_utf8(tmp_path, make):
    record = make.record(notices=[A8], contestants={"constant": make.contestant()})
    rows = [{name: getattr(make.estimate(subset=A8), name) for name in make.estimate().__slots__}]
    (tmp_path / "given.json").write_text(json.dumps({"record": record, "rows": rows, "text": A8}), encoding="utf-8")
    arguments = ["-X", "utf8=0", "-X", "warn_default_encoding", "-W", "error::EncodingWarning"]
    environment = {
        **os.environ,
        "PYTHONUTF8": "0",
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "cp1252",
    }
    done = subprocess.run(
        [sys.executable, *arguments, "-c", A8_SCRIPT, str(tmp_path / "given.json"), str(tmp_path / "out")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=False,
    )
    # A library that leaves the encoding open would fail here too; only our own files may decide.
    assert b"reports/" not in done.stderr, done.stderr.decode("utf-8", "replace")
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    for name in ("record.json", "metrics.csv", "findings.json", "report.md", "report.html", "figures/blind.svg"):
        assert A8 in (tmp_path / "out" / name).read_text(encoding="utf-8"), name


def test_a8_a_byte_order_mark_added_by_an_editor_is_accepted(tmp_path, make):
    with RunFolder.open(tmp_path, "one") as folder:
        folder.begin(make.record())
        folder.finish(make.record(), make.estimates(), [])
    for name in ("record.json", "metrics.csv", "findings.json"):
        (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + (tmp_path / name).read_bytes())
    assert list(read(tmp_path).estimates) == make.estimates()


def h4_view(make):
    rows = [make.estimate(scorer="length:w", subset=subset, value=0.9) for subset in (H4, "b", "all")]
    return build_view(make.record(notices=[H4], contestants={"length": make.contestant(columns=["w"])}), rows)


def test_h4_a_hostile_caption_is_shown_letter_by_letter_in_the_terminal(make):
    stream = io.StringIO()
    render_terminal(h4_view(make), Console(file=stream, width=200, force_terminal=True, color_system="truecolor"))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())
    assert shown.count(H4) >= 2  # as a subset and as a notice


def test_h4_a_hostile_caption_is_shown_letter_by_letter_in_markdown(make):
    page = MarkdownIt("commonmark").enable("table").render(render_markdown(h4_view(make)))
    assert page.count("3 mugs &lt; 5 &amp; &lt;i&gt;tea&lt;/i&gt; &lt;/script&gt; [red]cup[/red]") >= 2
    assert "</script>" not in page
    assert "<i>" not in page


H6_SCRIPT = """
from reports.progress import ConsoleProgress
progress = ConsoleProgress()
progress.begin("likelihood", 1000, "captions")
for _ in range(1000):
    progress.advance(1)
progress.end()
print("result")
"""


@pytest.mark.parametrize("environment", [{}, {"CI": "1"}, {"FORCE_COLOR": "1"}])
def test_h6_progress_leaves_no_carriage_return_in_a_file(tmp_path, environment):
    base = {key: value for key, value in os.environ.items() if key != "CI"}
    with (tmp_path / "log").open("wb") as log:
        done = subprocess.run(
            [sys.executable, "-c", H6_SCRIPT],
            cwd=ROOT,
            env={**base, **environment},
            stdout=subprocess.PIPE,
            stderr=log,
            check=True,
        )
    written = (tmp_path / "log").read_bytes()
    assert b"\r" not in written
    assert b"\x1b" not in written
    assert written.count(b"\n") == 1
    assert done.stdout == b"result\n"
