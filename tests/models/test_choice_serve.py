"""A real server of a real model: `transformers serve` with SmolLM2, asked blind."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib.util import find_spec

import pandas as pd
import pytest

from audits.models.answers import letter
from baselines.engine import cache_folder
from baselines.language.gguf import converted, offline_gguf, sha256_of
from baselines.language.model import OFFLINE_STORED
from tests.audits.conftest import cli  # noqa: F401

PAIRS = [("a dog sits on a mat", "a mat sits on a dog"), ("two cups on a table", "two tables on a cup")]
TOKENS = 8
LACKING = [name for name in ("fastapi", "uvicorn", "openai", "pydantic") if find_spec(name) is None]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def answers(url):
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as found:
            return found.status == 200
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def folder():
    packed = offline_gguf()
    if packed is None:
        pytest.skip("requirements/offline-models.txt is not installed")
    return converted(packed, sha256_of(packed), cache_folder() / "models", stored=OFFLINE_STORED)


@pytest.fixture(scope="module")
def served(folder, tmp_path_factory):
    """Start `transformers serve` in a process of its own; yield its address."""
    if LACKING:
        pytest.skip(f"transformers serve needs {', '.join(LACKING)}, which is not installed")
    port = free_port()
    log = tmp_path_factory.mktemp("serve") / "log"
    words = ("serve", str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu")
    start = "from transformers.cli.transformers import main; import sys; sys.argv[0] = 'transformers'; main()"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", start, *words], stdout=stream, stderr=stream,
            env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    deadline = time.monotonic() + 180
    while not answers(f"http://127.0.0.1:{port}"):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail(f"transformers serve did not start: {log.read_text(encoding='utf-8')[-2000:]}")
        time.sleep(0.5)
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def said_directly(folder, questions):
    """What the model says to each question by itself, greedily, by plain library calls."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto").eval()
    said = {}
    for question in questions:
        chat = [{"role": "user", "content": question}]
        given = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
        with torch.no_grad():
            made = model.generate(**given, do_sample=False, max_new_tokens=TOKENS)
        said[question] = tokenizer.decode(made[0, given["input_ids"].shape[1] :], skip_special_tokens=True)
    return said


@pytest.mark.slow
@pytest.mark.offline_pack
def test_the_blind_twin_of_a_served_language_model(cli, served, folder, tmp_path):  # noqa: F811
    lines = ["caption,foil", *(f"{true},{foil}" for true, foil in PAIRS)]
    (tmp_path / "mine.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = (
        "run", "benchmark=table", "benchmark.path=mine.csv", "baseline=length", "statistics.bootstrap=200",
        "model=choice_local", f"model.choice_local.base_url={served}", f"model.choice_local.model={folder}",
        "model.choice_local.name=SmolLM2", "model.choice_local.conditions=[no_image]",
        f"model.choice_local.max_tokens={TOKENS}", "out=run",
    )  # fmt: skip
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    found = pd.read_parquet(tmp_path / "run" / "answers.parquet")
    assert len(found) == 4  # both orders of each pair
    prompt = (
        "Which of these captions describes the image?\n\nA: {}\nB: {}\n\n"
        "Reply with one line of the form CHOICE: X, where X is A or B, and nothing else."
    )
    asked = [
        prompt.format(*(PAIRS[at][place] for place in json.loads(row["shown"])))
        for at, row in zip([0, 0, 1, 1], found.to_dict("records"), strict=True)
    ]
    direct = said_directly(folder, asked)
    assert found["answer"].tolist() == [direct[question] for question in asked]
    assert set(found["state"]) <= {"answered", "unparsed", "truncated"}
    for row in found.to_dict("records"):
        assert row["state"] == "truncated" or row["state"] == letter(row["answer"]).state
    facts = json.loads((tmp_path / "run" / "record.json").read_text(encoding="utf-8"))["contestants"]
    assert facts["SmolLM2:no_image"]["kind"] == "blind"
    assert sum(facts["SmolLM2:no_image"]["facts"][state] for state in ("answered", "unparsed", "truncated")) == 4
