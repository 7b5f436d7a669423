"""A secret that is typed on the command line or stands in the environment gets into no file and onto no stream."""

import json

import pytest

SECRET = "s3cr3tV4lue"
STUB = """
import logging

from baselines.constant import Constant


class Leaks(Constant):
    name = "leaks"

    def __init__(self, options=None, **_):
        super().__init__()
        self.options = options

    @property
    def signature(self):
        return {"api_key": str(self.options), "tokenizer": "bpe", "start_token": "<s>"}

    def score(self, batch, work):
        import os

        logging.getLogger("stub").warning("asked with api_key=%s", self.options)
        if os.environ.get("STUB_FAILS"):
            raise RuntimeError(f"refused: api_key={self.options}, token {os.environ['STUB_TOKEN']}")
        return super().score(batch, work)
"""


@pytest.fixture
def words(tmp_path, pairs):
    (tmp_path / "stub.py").write_text(STUB, encoding="utf-8")
    return ["run", "benchmark=table", f"benchmark.path={pairs}", "baseline=[constant]",
            "+baseline.x._target_=stub.Leaks"]  # fmt: skip


def clean(done, *folders) -> None:
    for name, text in (("stdout", done.stdout), ("stderr", done.stderr)):
        assert SECRET not in text, name
    written = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert written
    for path in written:
        assert SECRET.encode() not in path.read_bytes(), path


NESTED = ["+baseline.x.api_key=KEY", "+baseline.x.options={deep:[{hf_token:KEY b}]}"]


@pytest.mark.parametrize("override", NESTED)
def test_a_single_run(cli, words, tmp_path, override) -> None:
    done = cli(*words, override.replace("KEY", SECRET), "out=out")
    assert done.returncode == 0, done.stderr
    clean(done, tmp_path / "out")
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    signature = record["contestants"]["leaks"]["signature"]
    assert signature == {"api_key": "[removed]" if "options" in override else signature["api_key"],
                         "tokenizer": "bpe", "start_token": "<s>"}  # fmt: skip


@pytest.mark.parametrize("override", NESTED)
def test_a_sweep(cli, words, tmp_path, override) -> None:
    done = cli(*words, override.replace("KEY", SECRET), "-m", "seed=1,2", "out=out")
    assert done.returncode == 0, done.stderr
    clean(done, tmp_path / "out")
    assert not (tmp_path / "out" / "multirun.yaml").exists()
    listed = json.loads((tmp_path / "out" / "1" / "job.json").read_text(encoding="utf-8"))["overrides"]
    assert "seed=2" in listed
    assert any("[removed]" in word for word in listed)
    assert "seed=2" in done.stderr  # each job still says what it was given


def test_a_sweep_that_cannot_be_composed(cli, words, tmp_path) -> None:
    done = cli(*words, f"+baseline.x.api_key={SECRET}", "-m", "seed=1,2", "benchmark=table,nothing", "out=out")
    assert done.returncode == 3, done.stderr
    assert SECRET not in done.stderr + done.stdout
    assert not (tmp_path / "out" / "multirun.yaml").exists()


def test_a_fault_and_its_log(cli, words, tmp_path) -> None:
    words = [*words, f"+baseline.x.options={SECRET}", "out=out"]
    environment = {"STUB_FAILS": "1", "STUB_TOKEN": SECRET, "HYDRA_FULL_ERROR": "1"}
    done = cli(*words, env=environment)
    assert done.returncode == 4
    clean(done, tmp_path / "out")
    log = (tmp_path / "out" / "audits.log").read_text(encoding="utf-8")
    assert "asked with api_key=[removed]" in log
    assert "RuntimeError: refused: api_key=[removed]" in log
    assert "refused: api_key=[removed]" in done.stderr


@pytest.mark.parametrize(
    "word", ["benchmark.api_key=KEY x", "benchmark.api_key=[KEY", "+a={token:KEY", "seed=[{password:KEY"]
)
def test_a_message_that_repeats_an_override(cli, words, word) -> None:
    done = cli(*words, word.replace("KEY", SECRET), "out=out")
    assert done.returncode == 3, done.stderr
    assert SECRET not in done.stderr
    assert done.stdout == ""


def test_the_working_folder_is_kept(cli, words, tmp_path) -> None:
    done = cli(*words, "out=out", env={"PWD": str(tmp_path), "OLDPWD": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert record["benchmark"]["provenance"]["location"] == str(tmp_path / "mine.csv")
