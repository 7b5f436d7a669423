"""A server that misbehaves on purpose: every question is accounted for, and nothing is asked twice."""

import json
import logging
import threading
import time
from dataclasses import replace

import pytest

from audits.choosing import chosen
from audits.models.answers import STATES
from audits.models.choice.client import NO_KEY
from benchmarks.errors import InputError
from tests.models.choice_cases import Silent, ask, built, means, model, square, tall, truthful, twin, wide
from tests.models.choice_server import Reaction, Server, always_a, refuse, say, serving

KEY = "sk-test-0123456789abcdef0123456789"
ROWS = [wide(key) for key in range(6)]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Let waits that nobody asked for be short."""
    monkeypatch.setattr("audits.models.choice.waiting.FIRST", 0.01)


def counts(found):
    return {state: found.facts[state] for state in STATES if found.facts[state]}


def stumbling(reaction, times=1):
    """Answer every request, but badly the first times."""

    def behave(seen):
        return reaction if seen.times <= times else say("CHOICE: A")

    return behave


@pytest.mark.parametrize(
    "reaction",
    [
        refuse(429),
        refuse(429, headers={"retry-after": "0.05"}),
        refuse(500),
        refuse(502),
        refuse(503, headers={"retry-after": "0"}),
        refuse(529, "overloaded"),
        refuse(408),
        Reaction(say("CHOICE: A").body, is_cut=True),
        Reaction(b"<html>busy</html>", headers={"content-type": "text/html"}),
        Reaction(b'{"choices": [', headers={"content-type": "application/json"}),
        Reaction(b'{"error": {"message": "upstream", "code": 502}}'),
        Reaction(b'{"choices": []}'),
        Reaction(b'{"choices": [{"finish_reason": "error", "message": {"content": ""}}]}'),
        Reaction(b"\xff\xfe"),
        Reaction(b"[1, 2]"),
        Reaction(b""),
    ],
    ids=lambda reaction: f"{reaction.status} {reaction.body[:16]!r}",
)
def test_what_passes_is_tried_again_and_answered_once(tmp_path, reaction):
    with serving(stumbling(reaction)) as server:
        found = ask(model(server.url, tmp_path), ROWS)
        assert counts(found) == {"answered": 12}
        assert len(server.seen) == 24
        assert found.facts["requests sent"] == 24
        assert ask(model(server.url, tmp_path), ROWS).facts["replies from the cache"] == 12
        assert len(server.seen) == 24
        assert not server.twice


@pytest.mark.parametrize("reaction", [Reaction(b"", after=0.6), Reaction(say("CHOICE: A").body, drips=0.05)])
def test_what_is_slower_than_the_timeout_fails_even_if_it_drips(tmp_path, reaction):
    started = time.monotonic()
    with serving(lambda seen: reaction) as server:
        found = ask(model(server.url, tmp_path, timeout=0.3, retries=1), ROWS[:1])
        assert counts(found) == {"failed": 2}
        assert len(server.seen) == 4
    assert set(found.answers["note"]) == {"no answer within 0.3 s; 2 attempts"}
    assert time.monotonic() - started < 10


def test_a_persistent_failure_fails_its_question_and_no_other(tmp_path):
    with serving(lambda seen: refuse(500) if "yes 3" in seen.options.values() else say("CHOICE: B")) as server:
        found = ask(model(server.url, tmp_path, retries=2), ROWS)
        assert counts(found) == {"answered": 10, "failed": 2}
        assert len(server.seen) == 10 + 2 * 3
        assert found.reasons == {3: "failed (ab), failed (ba)"}
        assert set(found.answers.query("state == 'failed'")["note"]) == {"status 500: no; 3 attempts"}
        # The next run asks for these two again, and only these.
        server.behave = always_a
        server.seen.clear()
        assert counts(ask(model(server.url, tmp_path), ROWS)) == {"answered": 12}
        assert len(server.seen) == 2


def test_retry_after_is_honoured_by_every_request(tmp_path):
    times = []

    def behave(seen):
        times.append(time.monotonic())
        return refuse(429, headers={"retry-after": "1"}) if seen.number == 1 else say("CHOICE: A")

    with serving(behave) as server:
        found = ask(model(server.url, tmp_path, concurrency=1), ROWS)
        assert counts(found) == {"answered": 12}
    assert times[2] - times[1] >= 1.0


def test_a_wait_longer_than_allowed_is_a_failure_that_says_so(tmp_path):
    with serving(lambda seen: refuse(429, headers={"retry-after": "3600"})) as server:
        found = ask(model(server.url, tmp_path, max_failures=99), ROWS[:1])
        assert len(server.seen) == 2
    assert counts(found) == {"failed": 2}
    assert all("3600 s, which is more than max_wait" in note for note in found.answers["note"])


def test_too_many_failures_in_a_row_stop_and_keep_what_was_answered(tmp_path):
    with serving(lambda seen: say("CHOICE: A") if seen.number < 3 else refuse(500)) as server:
        with pytest.raises(InputError, match="questions in a row have no reply; every answer so far is kept"):
            ask(model(server.url, tmp_path, retries=0, max_failures=2, concurrency=1), ROWS)
        assert len(server.seen) == 5
        server.behave = always_a
        server.seen.clear()
        assert ask(model(server.url, tmp_path), ROWS).facts["replies from the cache"] == 3
        assert len(server.seen) == 9


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_stops_at_the_first_call(tmp_path, status, monkeypatch):
    monkeypatch.setenv("MY_ENDPOINT", KEY)
    with serving(lambda seen: refuse(status, f"bad key {KEY}")) as server:
        with pytest.raises(InputError, match="refuses the first request") as caught:
            ask(model(server.url, tmp_path, key_env="MY_ENDPOINT"), ROWS)
        assert len(server.seen) == 1
    told = caught.value.render()
    assert "MY_ENDPOINT" in told
    assert "tiny" in told
    assert f"status {status}" in told
    assert KEY not in told
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("status", [401, 403, 404])
def test_later_such_a_status_fails_a_question(tmp_path, status):
    with serving(lambda seen: refuse(status) if "yes 2" in seen.options.values() else say("A")) as server:
        found = ask(model(server.url, tmp_path), ROWS)
    assert counts(found) == {"answered": 10, "failed": 2}


@pytest.mark.parametrize("reaction", [refuse(429, code="insufficient_quota"), refuse(402)])
def test_an_empty_account_stops_at_once(tmp_path, reaction):
    with serving(lambda seen: say("A") if seen.number < 2 else reaction) as server:
        with pytest.raises(InputError, match="nothing left"):
            ask(model(server.url, tmp_path, concurrency=1), ROWS)
        assert len(server.seen) == 3


@pytest.mark.parametrize(
    "reaction",
    [
        refuse(400, "filtered", code="content_filter"),
        refuse(400, "filtered", innererror={"code": "ResponsibleAIPolicyViolation"}),
        say(None, "content_filter"),
        say("", "SAFETY"),
    ],
)
def test_a_filter_is_a_refusal_and_is_not_asked_again(tmp_path, reaction):
    with serving(lambda seen: reaction) as server:
        for _ in range(2):
            assert counts(ask(model(server.url, tmp_path), ROWS[:2])) == {"refused": 4}
        assert len(server.seen) == 4


def test_no_server_at_all_is_one_message(tmp_path):
    gone = Server(always_a)
    url = gone.url
    gone.http.server_close()
    with pytest.raises(InputError, match="in a row have no reply") as caught:
        ask(model(url, tmp_path, retries=1, max_failures=2), ROWS)
    assert "no connection" in caught.value.got


def test_one_at_a_time_until_the_first_answer_then_several(tmp_path):
    with serving(lambda seen: replace(say("A"), after=0.15)) as server:
        found = ask(model(server.url, tmp_path, concurrency=5), [wide(key) for key in range(15)])
        assert counts(found) == {"answered": 30}
        assert 2 <= server.peak <= 5
    with serving(lambda seen: refuse(500, headers={"retry-after": "0"})) as server:
        with pytest.raises(InputError):
            ask(model(server.url, tmp_path / "b", concurrency=5, retries=0), ROWS)
        assert server.peak == 1


def test_concurrency_changes_no_answer(tmp_path):
    rows = [*ROWS, *(square(key) for key in range(4)), tall(1)]
    found = []
    for number in (1, 7):
        with serving(truthful(rows)) as server:
            found.append(ask(model(server.url, tmp_path / str(number), concurrency=number), rows))
    assert found[0].answers.drop(columns="request").equals(found[1].answers.drop(columns="request"))


def test_the_key_goes_into_the_header_and_nowhere_else(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("MY_ENDPOINT", KEY)
    caplog.set_level(logging.DEBUG)
    echo = say(f"Your key {KEY} is fine. CHOICE: A")
    with serving(lambda seen: refuse(500, f"key {KEY}") if seen.number == 0 else echo) as server:
        one = model(server.url, tmp_path, key_env="MY_ENDPOINT")
        found = ask(one, ROWS[:1])
        assert {seen.headers["authorization"] for seen in server.seen} == {f"Bearer {KEY}"}
    assert counts(found) == {"answered": 2}
    kept = [repr(one.signature), repr(found), repr(vars(one)), repr(one._options), found.answers.to_csv()]
    assert not [text for text in kept if KEY in text]
    assert KEY not in "".join(record.getMessage() for record in caplog.records if record.name.startswith("audits"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_without_a_key_the_one_of_the_environment_is_not_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-private")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-private")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    with serving(always_a) as server:
        ask(model(server.url, tmp_path), ROWS[:1])
        headers = server.seen[0].headers
    assert headers["authorization"] == f"Bearer {NO_KEY}"
    assert not [value for value in headers.values() if "private" in value]


def test_a_missing_key_is_told_before_anything_is_sent_and_not_needed_for_the_cache(tmp_path, monkeypatch):
    monkeypatch.delenv("MY_ENDPOINT", raising=False)
    with serving(always_a) as server:
        with pytest.raises(InputError, match="key of the endpoint is not set") as caught:
            ask(model(server.url, tmp_path, key_env="MY_ENDPOINT"), ROWS)
        assert "MY_ENDPOINT" in caught.value.where
        assert not server.seen
        ask(model(server.url, tmp_path), ROWS)
        assert counts(ask(model(server.url, tmp_path, key_env="MY_ENDPOINT"), ROWS)) == {"answered": 12}


@pytest.mark.parametrize("key", [f"{KEY}\n{KEY}", f"{KEY} x", f"{KEY}\x00", f"{KEY}\u0441"])
def test_a_key_that_no_header_can_hold_is_refused_and_not_shown(tmp_path, monkeypatch, key):
    monkeypatch.setattr("os.environ", {"MY_ENDPOINT": key})
    with serving(always_a) as server:
        with pytest.raises(InputError, match="cannot be sent as it is") as caught:
            ask(model(server.url, tmp_path, key_env="MY_ENDPOINT"), ROWS)
        assert not server.seen
    assert KEY not in caught.value.render()


def test_the_ceiling_of_calls_holds_for_repeated_attempts_too(tmp_path):
    with serving(stumbling(refuse(500))) as server:
        with pytest.raises(InputError, match="max_calls is reached; every answer so far is kept"):
            ask(model(server.url, tmp_path, max_calls=12), ROWS)
        assert len(server.seen) == 12
        # The same command goes on: what was answered is there, the rest fits under the ceiling.
        assert counts(ask(model(server.url, tmp_path, max_calls=12), ROWS)) == {"answered": 12}


def test_the_ceiling_of_cost_counts_what_the_endpoint_says_and_what_is_under_way(tmp_path):
    # 20 tokens in and 5 out at 1,000 each a million: .025 a reply; before it, a request is reserved at most.
    options = {"price_in": 1000.0, "price_out": 1000.0, "max_tokens": 5, "concurrency": 1, "image_tokens": 0}
    with serving(always_a) as server:
        one = model(server.url, tmp_path, max_cost=0.2, **options)
        with pytest.raises(InputError, match="max_cost is reached"):
            ask(one, ROWS)
        assert 0.025 * len(server.seen) <= 0.2
        # The next request, of some 60 tokens, might have cost .065: six replies leave too little.
        assert len(server.seen) == 6


def test_the_model_and_its_twin_pay_from_one_purse(tmp_path):
    with serving(always_a) as server:
        first, second = built(server.url, tmp_path, max_calls=15)
        ask(first, ROWS)
        with pytest.raises(InputError, match="max_calls"):
            ask(second, ROWS)
        assert len(server.seen) == 15


def test_equal_questions_are_sent_once_also_when_asked_for_two_images(tmp_path):
    # Without the images both questions of a 2x2 are one: two orders, two requests.
    with serving(always_a) as server:
        found = ask(twin(server.url, tmp_path), [square(0), replace(square(0), id="q:again")])
        assert len(server.seen) == 2
    assert counts(found) == {"answered": 8}
    assert means(found) == {"i2t": 0.0, "caption_preference": 0.5, "flip_rate": 1.0, "first_option_share": 1.0}


def test_replies_under_way_are_kept_when_the_run_stops(tmp_path):
    gate = threading.Event()

    def behave(seen):
        if seen.number == 0:
            return say("A")
        if "yes 5" in seen.options.values():
            gate.set()
            return refuse(402)
        return replace(say("A"), until=gate, after=0.2)

    with serving(behave) as server:
        with pytest.raises(InputError, match="nothing left"):
            ask(model(server.url, tmp_path, concurrency=20, timeout=10.0), ROWS)
        kept = len(server.answered)
        server.seen.clear()
        server.behave = always_a
        found = ask(model(server.url, tmp_path), ROWS)
    assert kept >= 9
    assert found.facts["replies from the cache"] == kept


def test_progress_says_what_is_asked_and_not_what_was_there(tmp_path):
    with serving(always_a) as server:
        one, progress = model(server.url, tmp_path), Silent()
        ask(one, ROWS[:2])
        chosen(one, ROWS, progress, seed=42)
    assert (progress.total, progress.done) == (8, 8)


def test_a_reply_in_parts_and_a_reply_without_counts(tmp_path):
    parts = [{"type": "text", "text": "CHOICE: "}, {"type": "image"}, {"type": "text", "text": "B"}]
    body = json.dumps({"choices": [{"message": {"content": parts}}]}).encode()
    with serving(lambda seen: Reaction(body)) as server:
        found = ask(model(server.url, tmp_path), ROWS[:1])
    assert found.answers["answer"].tolist() == ["CHOICE: B"] * 2
    assert found.answers["tokens_in"].tolist() == [-1, -1]
