import pytest

from reports.scrub import REMOVED, is_secret_key, scrub_config, scrub_values

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
