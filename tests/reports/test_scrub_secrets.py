import json
import shlex

import pytest

from reports.record import RunFolder
from reports.scrub import REMOVED, is_secret_key, scrub_config, scrub_echo, scrub_override, scrub_text, scrub_values

SECRET = ["api_key", "API_KEY", "apiKey", "x-api-key", "openai_api_key", "token", "hf_token", "HF_TOKEN", "authToken"]
SECRET += ["access_token", "hftoken", "password", "db_Password", "passwd", "client_secret", "Authorization", "bearer"]
SECRET += ["aws_secret_access_key", "private_key", "credentials", "cookie", "auth_token", "auth", "user.token"]
KEPT = ["tokens_per_batch", "tokenizer", "start_token", "end_token", "bos_token", "eos_token", "pad_token", "tokens"]
KEPT += ["startToken", "token_budget", "max_tokens", "caption_key", "key", "keys", "author", "authors", "secretary"]
KEPT += ["tokenizer_revision", "image_token", "", "_"]


@pytest.mark.parametrize("key", SECRET)
def test_keys_of_credentials_go_at_any_depth(key):
    config = {"model": [{"deep": {key: "v4lue", "kept": 1}}]}
    assert scrub_config(config, {}) == {"model": [{"deep": {"kept": 1}}]}


@pytest.mark.parametrize("key", KEPT)
def test_keys_of_the_field_stay(key):
    assert not is_secret_key(key)
    assert scrub_config({key: "v4lue"}, {}) == {key: "v4lue"}


def test_switches_and_numbers_called_token_stay_but_a_numeric_password_goes():
    config = {"token": True, "use_token": False, "token_count": 3, "hf_token": None, "token ": 7, "password": 1234}
    assert scrub_config(config, {}) == {key: value for key, value in config.items() if key != "password"}


def test_values_of_secret_variables_go_and_others_stay():
    environment = {"SERVICE_TOKEN": "abcdef123", "HOME": "/home/someone", "PIN_PASSWORD": "12"}
    config = {"note": "uses abcdef123 here", "path": "/home/someone/data", "seed": "12", "list": ["abcdef123"]}
    expected = {"note": f"uses {REMOVED} here", "path": "/home/someone/data", "seed": "12", "list": [REMOVED]}
    assert scrub_config(config, environment) == expected


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcdefghijklmnop123",
        "hf_abcdefghijklmnopqrst",
        "ghp_abcdefghijklmnopqrst",
        "AKIAABCDEFGHIJKLMNOP",
        "https://user:pa55word@host/x",
        "Authorization: Bearer abc.def.ghi",
        "model.gpt.api_key=abc.def.ghi",
        '"password": "abc def"',
    ],
)
def test_secret_values_are_blotted_out_of_text(text):
    found = scrub_values({"token": [text]}, {})["token"][0]
    assert REMOVED in found
    for secret in ("abcdefghijklmnop", "ABCDEFGHIJKLMNOP", "pa55word", "abc.def", "abc def"):
        assert secret not in found


@pytest.mark.parametrize(
    "text",
    [
        "start_token=<s>",
        "token: <bos>",
        "tokenizer=clip-bpe",
        "baseline=[length,likelihood]",
        "https://a.org/b@c",
        "a@b",
        "12:30",
    ],
)
def test_harmless_text_stays(text):
    assert scrub_values(text, {}) == text


def test_keys_are_never_dropped_from_data():
    # A subset may be called anything.
    assert scrub_values({"n_by_subset": {"token": 5, "password": 2}}, {}) == {
        "n_by_subset": {"token": 5, "password": 2}
    }


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("+a.b.api_key=s3cr3t x", "+a.b.api_key=[removed]"),
        ("m.api_key=s3,cr", "m.api_key=[removed]"),
        ("m.api_key=[s3,{a:s4}]", "m.api_key=[removed]"),
        ("model.credentials.user=s3", "model.credentials.user=[removed]"),
        ("model={x:{api_key:s3 s4},n:1}", "model={x:{api_key:[removed]},n:1}"),
        ("x=[{token:s3},{token:[s4,s5]},b]", "x=[{token:[removed]},{token:[removed]},b]"),
        (r"x={password:'it\'s, s3',n:1}", "x={password:[removed],n:1}"),
        ("x=y.start_token=<s>", "x=y.start_token=<s>"),
        ("engine.tokens_per_batch=512", "engine.tokens_per_batch=512"),
        ("model.token=null", "model.token=null"),
        ("benchmark.path='a b, c.csv'", "benchmark.path='a b, c.csv'"),
    ],
)
def test_a_word_of_the_command_line_loses_the_whole_secret(word, wanted):
    assert scrub_override(word, {}) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "run 'api_key=[s3,s3 s3]' seed=1",
        "run 'api_key='\"'\"'s3 s3'\"'\"'' seed=1",
        "Client(api_key='s3 s3', seed=1)",
        "#0 : model.api_key=s3,s3 seed=1",
        '{"api_key": ["s3", "s3"], seed=1}',
    ],
)
def test_a_secret_that_holds_brackets_blanks_or_quotes_goes_whole(text):
    found = scrub_text(text, {})
    assert "s3" not in found
    assert "seed=1" in found


def test_a_string_under_a_secret_key_goes_and_counts_of_tokens_stay():
    signature = {"api_key": "s3cr3t", "token": "s3cr3t", "password": "s3cr3t", "api_keys": ["s3cr3t"]}
    kept = {"tokenizer": "bpe", "tokenizer_sha256": "00ff", "tokens_per_batch": "8192", "start_token": "<s>"}
    kept |= {"end_token": "</s>", "tokens": 3, "token": 5}
    assert scrub_values(signature, {}) == {**dict.fromkeys(signature, REMOVED), "api_keys": [REMOVED]}
    assert scrub_values(kept, {}) == kept


def test_the_working_folder_is_no_password(tmp_path):
    folder = str(tmp_path)
    environment = {"PWD": folder, "OLDPWD": "/no/longer/there", "SECRETS_DIR_TOKEN": folder, "DB_PWD": "s3cr3t77"}
    assert scrub_text(f"{folder}/x and /no/longer/there", environment) == f"{folder}/x and /no/longer/there"
    assert scrub_text("s3cr3t77", environment) == REMOVED
    assert scrub_text("y" * 5000, {"A_TOKEN": "y" * 5000}) == REMOVED  # too long for a path


def test_a_message_that_repeats_the_command_line_repeats_no_secret():
    words = ["run", "model.api_key=abc def", "seed=x"]
    text = "no viable alternative at 'abc def'; got model.api_key=abc def seed=x"
    assert scrub_echo(text, words) == f"no viable alternative at '{REMOVED}'; got model.api_key={REMOVED} seed=x"


def test_the_command_of_a_record_is_scrubbed_word_by_word(tmp_path, make):
    command = shlex.join(["audits", "run", "model={api_key: s3 s3, n: 1}", "model.token=s3 s3", "seed=1"])
    with RunFolder.open(tmp_path, "x") as folder:
        folder.begin(make.record(command=command))
    found = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))["command"]
    assert shlex.split(found) == [
        "audits",
        "run",
        "model={api_key: [removed], n: 1}",
        "model.token=[removed]",
        "seed=1",
    ]
