"""Prompted models from the command line: announced, limited, killed, resumed, reported."""

import csv
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from audits.models.choice.store import FILE
from tests.audits.conftest import TOP, cli, environment  # noqa: F401
from tests.models.choice_cases import png
from tests.models.choice_server import Reaction, always_a, refuse, say, serving
from tests.models.recorded_cases import data

FAST = ("statistics.bootstrap=200", "baseline=length")
KEY = "sk-test-0123456789abcdef0123456789"


@pytest.fixture
def table(tmp_path):
    """Write a table of pairs with an image each; return its overrides."""
    rows = [["caption", "foil", "image", "subset"]]
    for key in range(12):
        (tmp_path / f"{key}.png").write_bytes(png((key, 9, 9)))
        rows.append([f"yes {key}", f"no {key} more", f"{key}.png", "even" if key % 2 == 0 else "odd"])
    with (tmp_path / "mine.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return ("benchmark=table", "benchmark.path=mine.csv", *FAST)


def asking(server, *words, leaf="choice"):
    return (f"model={leaf}", f"model.{leaf}.base_url={server.url}", f"model.{leaf}.model=tiny", *words)


def yes(seen):
    """Right where there is an image; without one the shorter caption is taken for the foil."""
    wanted = "yes" if seen.images else "no"
    return say("CHOICE: " + next(letter for letter, text in seen.options.items() if text.startswith(wanted)))


def text_of(folder):
    return b"".join(path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file())


def test_a_dry_run_announces_everything_and_does_nothing(cli, table, tmp_path):  # noqa: F811
    with serving(always_a) as server:
        words = ("model.choice.price_in=3.0", "model.choice.price_out=15.0", "model.choice.key_env=NOT_SET_HERE")
        done = cli("run", *table, *asking(server, *words), "dry_run=true")
        assert done.returncode == 0, done.stderr
        assert not server.seen
    said = " ".join(done.stdout.split())
    # 12 pairs, two orders, with and without image.
    for told in (
        "nothing was sent, no run folder was written",
        "12 instances (12 of 1x2)",
        "choice:tiny 24 24 0 24 24 about",
        "choice:tiny:no_image 24 24 0 24 0 about",
        "48 requests to send",
        "max_calls 4,000: kept",
        "NOT_SET_HERE is not set",
        "length blind text computed here",
    ):
        assert told in said
    assert "unknown" not in said
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".png") == ["mine.csv"]


def test_a_dry_run_above_the_ceiling_says_so_and_a_run_is_refused_before_anything_is_sent(cli, table, tmp_path):  # noqa: F811
    with serving(always_a) as server:
        ceiling = ("model.choice.max_calls=47",)
        done = cli("run", *table, *asking(server, *ceiling), "dry_run=true")
        assert done.returncode == 0
        assert "max_calls 47: above it, the run would be refused" in " ".join(done.stdout.split())
        done = cli("run", *table, *asking(server, *ceiling), "out=run")
        assert done.returncode == 3
        assert "above its ceiling max_calls; nothing was sent" in done.stderr
        assert "48" in done.stderr
        prices = ("model.choice.price_in=100", "model.choice.price_out=100", "model.choice.max_cost=0.01")
        done = cli("run", *table, *asking(server, *prices), "out=run")
        assert done.returncode == 3
        assert "max_cost" in done.stderr
        assert not server.seen
    assert not (tmp_path / "run").exists()


def test_a_dry_run_without_an_endpoint_says_what_would_be_computed(cli, table, tmp_path):  # noqa: F811
    done = cli("run", *table, "dry_run=true")
    assert done.returncode == 0, done.stderr
    assert "length" in done.stdout
    assert "requests" not in done.stdout
    assert not (tmp_path / "runs").exists()


def test_an_experiment_is_not_announced_as_a_whole(cli):  # noqa: F811
    done = cli("run", "experiment=good_crepe", "out=x", "dry_run=true")
    assert done.returncode == 3
    assert "one by one" in done.stderr


def test_a_run_has_its_model_its_twin_and_the_answers(cli, table, tmp_path):  # noqa: F811
    with serving(yes) as server:
        done = cli("run", *table, *asking(server), "out=run")
        assert done.returncode == 0, done.stderr
        assert len(server.seen) == 48
        # Another run on the same cache asks nothing.
        done = cli("run", *table, *asking(server), "out=again")
        assert done.returncode == 0, done.stderr
        assert len(server.seen) == 48
    record = json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))
    kinds = {name: (facts["kind"], facts["sees"]) for name, facts in record["contestants"].items()}
    assert kinds["choice:tiny"] == ("model", ["image", "text"])
    assert kinds["choice:tiny:no_image"] == ("blind", ["text"])
    facts = record["contestants"]["choice:tiny"]
    assert facts["cache"] == {"hits": 0, "computed": 24, "reductions": 0}
    assert (facts["facts"]["answered"], facts["facts"]["tokens sent"]) == (24, 480)
    again = json.loads((tmp_path / "again" / "record.json").read_text(encoding="utf-8"))
    assert again["contestants"]["choice:tiny"]["cache"] == {"hits": 24, "computed": 0, "reductions": 0}
    metrics = pd.read_csv(tmp_path / "run" / "metrics.csv").query("primary == 1 and subset == 'all' and tag.isna()")
    own = metrics.set_index(["scorer", "metric"])["value"]
    assert own["choice:tiny", "accuracy"] == own["choice:tiny", "accuracy_consistent"] == 1.0
    assert own["choice:tiny:no_image", "accuracy"] == 0.0
    against = metrics.query("metric == 'excess'").set_index(["scorer", "against"])["value"]
    assert against["choice:tiny", "choice:tiny:no_image"] == 1.0
    answers = pd.read_parquet(tmp_path / "run" / "answers.parquet")
    assert len(answers) == 48
    assert set(answers["scorer"]) == {"choice:tiny", "choice:tiny:no_image"}
    assert set(answers["answer"]) == {"CHOICE: A", "CHOICE: B"}
    outcomes = pd.read_parquet(tmp_path / "run" / "outcomes.parquet").query("scorer == 'choice:tiny'")
    assert sorted(outcomes["order"].unique()) == ["ab", "ba"]
    page = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert "choice:tiny:no\\_image" in page or "choice:tiny:no_image" in page
    assert "openai" in record["versions"]


def test_what_has_no_answer_is_counted_and_bounded_in_the_report(cli, table, tmp_path):  # noqa: F811
    # Of 12 images: 8 right in both orders, 1 each refused, cut, unreadable, failed.
    bad = {0: say(None, refusal="I cannot."), 1: say("CHOICE: A", "length"), 2: say("Both."), 3: refuse(400, "bad")}

    def behave(seen):
        key = int(next(iter(seen.options.values())).split()[1])
        return bad.get(key) or yes(seen)

    with serving(behave) as server:
        done = cli("run", *table, *asking(server, "model.choice.conditions=[image]"), "out=run")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "16 of 24 questions have a readable answer (2 unparsed, 2 refused, 2 truncated, 2 failed)" in said
    assert "lies between 66.7 % if the others were wrong and 100.0 % if they were right" in said  # 8/12, 12/12
    metrics = pd.read_csv(tmp_path / "run" / "metrics.csv").query("primary == 1 and subset == 'all' and tag.isna()")
    own = metrics.query("scorer == 'choice:tiny'").set_index("metric")
    assert own.loc["accuracy", ["value", "n", "unscored"]].tolist() == [1.0, 8, 4]
    assert own.loc["accuracy_if_wrong", "value"] == pytest.approx(8 / 12)
    answers = pd.read_parquet(tmp_path / "run" / "answers.parquet")
    assert answers["state"].value_counts().to_dict() == {
        "answered": 16, "refused": 2, "truncated": 2, "unparsed": 2, "failed": 2,
    }  # fmt: skip


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_first_call_ends_in_one_message_and_leaves_no_secret(cli, table, tmp_path, status):  # noqa: F811
    with serving(lambda seen: refuse(status, f"no access for {KEY}")) as server:
        done = cli("run", *table, *asking(server, "model.choice.key_env=MINE"), "out=run", env={"MINE": KEY})
        assert done.returncode == 3
        assert len(server.seen) == 1
        assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert "MINE" in done.stderr
    assert "tiny" in done.stderr
    assert f"status {status}" in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert KEY.encode() not in text_of(tmp_path)
    assert not (tmp_path / "run").exists()


def test_no_key_is_kept_anywhere_and_tracebacks_do_not_show_it(cli, table, tmp_path):  # noqa: F811
    first = iter([refuse(500, f"key {KEY}"), refuse(401, f"key {KEY}")])
    with serving(lambda seen: next(first, None) or say(f"{KEY} CHOICE: A")) as server:
        env = {"MINE": KEY, "HYDRA_FULL_ERROR": "1", "OPENAI_LOG": "debug"}
        done = cli("run", *table, *asking(server, "model.choice.key_env=MINE"), "out=run", env=env)
        assert done.returncode == 3
        assert "Traceback" in done.stderr
        assert KEY not in done.stdout + done.stderr
        done = cli("run", *table, *asking(server, "model.choice.key_env=MINE"), "out=run", env=env)
        assert done.returncode == 0, done.stderr
        assert KEY not in done.stdout + done.stderr
    assert (tmp_path / "run" / "answers.parquet").exists()
    assert KEY.encode() not in text_of(tmp_path)


def test_a_missing_key_is_told_before_anything_is_sent(cli, table, tmp_path):  # noqa: F811
    with serving(always_a) as server:
        done = cli("run", *table, *asking(server, leaf="choice_openai"), "out=run", env={"OPENAI_API_KEY": ""})
        assert done.returncode == 3
        assert "OPENAI_API_KEY" in done.stderr
        assert not server.seen
    assert not (tmp_path / "run").exists()


def killed(words, folder, server, until):
    """Start the command line in a process of its own and kill it, without notice, once `until` says so."""
    search = {"PYTHONPATH": os.pathsep.join([str(TOP), str(folder)]), "PYTHONSAFEPATH": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "audits", *words], cwd=folder, env=os.environ | environment(folder) | search,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not until():
        assert process.poll() is None, "it ended by itself"
        assert time.monotonic() < deadline, f"only {len(server.seen)} requests came"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def kept(folder):
    """The number of replies in the cache, as another process sees it."""
    path = folder / "cache" / FILE
    if not path.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as found:
            return found.execute("SELECT count(*) FROM answers").fetchone()[0]
    except sqlite3.OperationalError:
        return 0  # not made yet
    finally:
        if "found" in locals():
            found.close()


def test_after_kill_9_and_restart_nothing_is_asked_twice(cli, table, tmp_path):  # noqa: F811
    # Ten requests are answered, the next ones hang; the process is killed once the ten are on disk.
    gate, answered = threading.Event(), 10

    def behave(seen):
        if seen.number < answered:
            return yes(seen)
        gate.wait(60)
        return yes(seen)

    with serving(behave) as server:
        words = ("run", *table, *asking(server), "out=run")
        killed(words, tmp_path, server, lambda: kept(tmp_path) == answered and len(server.seen) > answered)
        before = list(server.seen)
        assert kept(tmp_path) == answered
        assert json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))["status"] == "running"
        gate.set()
        server.behave = yes
        done = cli(*words)
        assert done.returncode == 0, done.stderr
        after = server.seen[len(before) :]
    first = {seen.digest for seen in before[:answered]}
    assert len(first) == answered
    assert not first & {seen.digest for seen in after}  # what was answered is not asked again
    assert len({seen.digest for seen in before + after}) == 48  # and everything is asked
    assert len(after) == 48 - answered
    record = json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))
    assert record["status"] == "done"
    assert record["contestants"]["choice:tiny"]["facts"]["replies from the cache"] == answered
    assert len(pd.read_parquet(tmp_path / "run" / "answers.parquet")) == 48


# What the server does to a request, by its digest, and what becomes of the question.
MISDEEDS = {
    "fine": "answered", "429": "answered", "500": "answered", "slow": "answered", "cut": "answered",
    "json": "answered", "always A": "answered", "empty": "empty", "refusal": "refused", "length": "truncated",
    "both": "unparsed", "dead": "failed",
}  # fmt: skip


def misdeed(digest):
    return list(MISDEEDS)[int(digest[:8], 16) % len(MISDEEDS)]


def misbehave(seen):
    kind, is_first = misdeed(seen.digest), seen.times == 1
    once = {
        "429": refuse(429, headers={"retry-after": "0.1"}),
        "500": refuse(500),
        "slow": Reaction(b"", after=2.5),
        "cut": replace(say("CHOICE: B"), is_cut=True),
        "json": Reaction(b'{"choices": [{"message"'),
    }
    always = {
        "always A": say("CHOICE: A"),
        "empty": say(""),
        "refusal": say(None, refusal="I would rather not."),
        "length": say("CHOICE: A", "length"),
        "both": say("CHOICE: A or B"),
        "dead": refuse(500),
    }
    return (once.get(kind) if is_first else None) or always.get(kind) or yes(seen)


def settled(folder, server, limit):
    """Whether so many were answered, all of them are on disk, and no further one is on its way."""
    counted = [kept(folder), len(server.answered)]
    if counted[0] < limit or counted[0] != counted[1]:
        return False
    time.sleep(0.5)
    return counted == [kept(folder), len(server.answered)]


def test_every_question_is_accounted_for_through_misbehaviour_kill_9_and_restart(cli, table, tmp_path):  # noqa: F811
    gate, limit = threading.Event(), 20

    def behave(seen):
        if not gate.is_set() and len(server.answered) >= limit:
            gate.wait(120)
        return misbehave(seen)

    options = ("timeout=2.0", "retries=2", "max_failures=99", "concurrency=3")
    with serving(behave) as server:
        words = ("run", *table, *asking(server, *(f"model.choice.{one}" for one in options)), "out=run")
        # With several at a time a few more than the limit may be answered; all of them are on disk before the end.
        killed(words, tmp_path, server, lambda: settled(tmp_path, server, limit))
        before = set(server.answered)
        gate.set()
        done = cli(*words)
        assert done.returncode == 0, done.stderr
        assert len(before) >= limit
        assert server.twice == []
        seen = {one.digest: one for one in server.seen}
    assert len(seen) == 48
    answers = pd.read_parquet(tmp_path / "run" / "answers.parquet")
    assert len(answers) == len(answers.drop_duplicates(["instance", "scorer", "order"])) == 48
    wanted = Counter(MISDEEDS[misdeed(digest)] for digest in seen)
    assert set(wanted) == set(MISDEEDS.values())
    assert answers["state"].value_counts().to_dict() == wanted
    record = json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))
    told = Counter()
    for facts in record["contestants"].values():
        told.update({state: facts["facts"][state] for state in set(MISDEEDS.values()) if state in facts["facts"]})
    assert told == wanted
    outcomes = pd.read_parquet(tmp_path / "run" / "outcomes.parquet")
    own = outcomes[outcomes["scorer"].astype(str).str.startswith("choice")]
    assert len(own) == 48
    assert own["credit"].notna().sum() == wanted["answered"]


def test_killed_again_and_again_it_ends_with_every_answer_once(cli, table, tmp_path):  # noqa: F811
    # Killed at moments that nobody chose: only what was under way at that moment may be asked once more.
    def slow(seen):
        time.sleep(0.03)
        return yes(seen)

    with serving(slow) as server:
        words = ("run", *table, *asking(server, "model.choice.concurrency=3"), "out=run")
        for wanted in (5, 17):
            killed(words, tmp_path, server, lambda wanted=wanted: kept(tmp_path) >= wanted)
        done = cli(*words)
        assert done.returncode == 0, done.stderr
        assert len(server.twice) <= 2 * 3  # kills x requests at a time
        assert len({seen.digest for seen in server.seen}) == 48
    answers = pd.read_parquet(tmp_path / "run" / "answers.parquet")
    assert (answers["state"] == "answered").all()
    assert len(answers.drop_duplicates(["instance", "scorer", "order"])) == 48


def test_an_interrupted_run_says_how_to_go_on_and_does(cli, table, tmp_path):  # noqa: F811
    gate = threading.Event()

    def behave(seen):
        if seen.number >= 6:
            gate.wait(60)
        return yes(seen)

    with serving(behave) as server:
        words = ("run", *table, *asking(server), "out=run")
        search = {"PYTHONPATH": os.pathsep.join([str(TOP), str(tmp_path)]), "PYTHONSAFEPATH": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "audits", *words], cwd=tmp_path, env=os.environ | environment(tmp_path) | search,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        while kept(tmp_path) < 6 or len(server.seen) < 7:
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
        gate.set()
        assert process.returncode == 130, said
        assert "goes on where this one stopped" in said
        assert "Traceback" not in said
        done = cli(*words)
        assert done.returncode == 0, done.stderr
        assert not server.twice


def test_a_folder_that_is_called_like_the_model_does_not_rename_it(cli, table, tmp_path):  # noqa: F811
    with serving(yes) as server:
        for _ in range(2):  # the second time the folder is there
            done = cli("run", *table, *asking(server, "model.choice.conditions=[no_image]"), "out=tiny")
            assert done.returncode == 0, done.stderr
        assert {seen.body["model"] for seen in server.seen} == {"tiny"}
        assert len(server.seen) == 24


def test_presets_are_listed_and_shown(cli):  # noqa: F811
    listed = cli("list", "model").stdout
    for name in ("choice", "choice_openai", "choice_gemini", "choice_anthropic", "choice_vllm", "choice_local"):
        assert name in listed
    done = cli("show", "choice_openai")
    assert done.returncode == 0, done.stderr
    assert "model.choice_openai.max_calls = 4000" in done.stdout
    assert "model.choice_openai.key_env = OPENAI_API_KEY" in done.stdout


def test_the_model_has_to_be_named(cli, table):  # noqa: F811
    done = cli("run", *table, "model=choice", "out=run")
    assert done.returncode == 3
    assert "model.choice.model" in done.stderr


@pytest.mark.real_data
def test_sugarcrepe_without_images_is_asked_blind(cli, tmp_path):  # noqa: F811
    root = data("sugar-crepe", "data")

    def shorter(seen):
        return say("CHOICE: " + min(seen.options, key=lambda letter: len(seen.options[letter].split())))

    with serving(shorter) as server:
        words = ("benchmark=sugarcrepe", f"benchmark.root={root}", "benchmark.limit=300", *FAST)
        done = cli("run", *words, *asking(server, "model.choice.conditions=[no_image]"), "out=run")
        assert done.returncode == 0, done.stderr
        assert not [seen for seen in server.seen if seen.images]
    metrics = pd.read_csv(tmp_path / "run" / "metrics.csv").query("primary == 1 and subset == 'all' and tag.isna()")
    own = metrics.set_index(["scorer", "metric"])["value"]
    # The server picks the caption with fewer words, the first where they are equal: over both orders, a tie.
    assert own["choice:tiny:no_image", "accuracy"] == pytest.approx(own["length:words:fewer", "accuracy"])


@pytest.mark.real_data
def test_winoground_style_with_its_images(cli, tmp_path):  # noqa: F811
    root = data("MCC225-Winoground-v3", "data", "curated")
    rows = [json.loads(line) for line in (root / "examples.jsonl").read_text(encoding="utf-8").splitlines()]
    fits = {}
    for row in rows:
        for key in "01":
            digest = hashlib.sha256((root / row[f"image_{key}"]).read_bytes()).hexdigest()
            fits.setdefault(digest, set()).add(row[f"caption_{key}"])

    def knows(seen):
        # I2T as it is, T2I always the first image, and the first caption without an image.
        if len(seen.images) != 1:
            return say("CHOICE: A")
        own = fits[hashlib.sha256(seen.images[0]).hexdigest()]
        return say("CHOICE: " + next(letter for letter, text in seen.options.items() if text in own))

    with serving(knows) as server:
        words = ("benchmark=winoground_style", f"benchmark.root={root}", *FAST)
        done = cli("run", *words, *asking(server), "out=run")
    assert done.returncode == 0, done.stderr
    metrics = pd.read_csv(tmp_path / "run" / "metrics.csv").query("primary == 1 and subset == 'all' and tag.isna()")
    own = metrics.query("scorer == 'choice:tiny'").drop_duplicates("metric").set_index("metric")["value"]
    wanted = {"i2t": 1.0, "t2i": 0.0, "group": 0.0, "i2t_consistent": 1.0, "t2i_base": 0.5, "t2i_flip_rate": 1.0}
    assert own[list(wanted)].to_dict() == wanted
    blind = metrics.query("scorer == 'choice:tiny:no_image'").set_index("metric")["value"]
    assert (blind["i2t"], blind["caption_preference"]) == (0.0, 0.5)
