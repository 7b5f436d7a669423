"""The hub: never waited for, never quoted, every refusal in its own words. No test leaves this machine."""

import http.server
import threading
import time
import traceback
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from benchmarks import hub
from benchmarks.errors import NotAvailableError
from benchmarks.schema import Card

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CARD = Card("Demo", "", "", "MIT", "1x2", "accuracy", "Fetch it by hand.", hub="org/demo", revision=COMMIT)
GATED = Card("Demo", "", "", "MIT", "1x2", "accuracy", "Fetch it by hand.", hub="org/demo", revision=COMMIT, gated=True)
SECRET = "hf_s3cr3t"


def http_error(kind, code):
    response = SimpleNamespace(status_code=code, headers={}, request=None)
    return kind(f"{code} for https://user:{SECRET}@hub.test/org/demo?token={SECRET}", response=response)


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """Stand for the hub client: nothing cached; `answer` is raised or returned by a download."""
    state = SimpleNamespace(answer=None, calls=[], listing=[], folder=tmp_path / COMMIT)
    state.folder.mkdir()

    def snapshot_download(repo, *, local_files_only=False, **options):
        state.calls.append({"repo": repo, "local": local_files_only, **options})
        if local_files_only:
            raise LocalEntryNotFoundError("nothing cached")
        if isinstance(state.answer, Exception):
            raise state.answer
        return str(state.answer or state.folder)

    monkeypatch.setattr(hub.huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setattr(hub.huggingface_hub.HfApi, "list_repo_files", lambda *_, **__: list(state.listing))
    monkeypatch.setattr(hub, "probe", lambda *_, **__: "")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return state


def failure(card=CARD, patterns=("a.json",)):
    with pytest.raises(NotAvailableError) as caught:
        hub.fetch(card, patterns)
    told = "".join(traceback.format_exception(caught.value))
    assert SECRET not in told
    assert "Fetch it by hand." in told
    assert "org/demo" in told
    return caught.value


def test_a_download_records_the_commit_that_was_read(fake):
    (fake.folder / "a.json").write_text("{}")
    assert hub.fetch(CARD, ("a.json",)) == hub.Fetched(fake.folder, COMMIT)
    assert [call["local"] for call in fake.calls] == [True, False]
    assert all(call["revision"] == COMMIT and call["repo_type"] == "dataset" for call in fake.calls)
    assert all(call["allow_patterns"] == ["a.json"] for call in fake.calls)


def test_the_local_cache_comes_first_and_asks_nobody(monkeypatch, tmp_path):
    store = tmp_path / "datasets--org--demo"
    snapshot = store / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (store / "refs").mkdir()
    (store / "refs" / "main").write_text(COMMIT)
    (snapshot / "a.json").write_text("{}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(hub, "probe", lambda *_, **__: pytest.fail("the hub was asked"))
    found = hub.fetch(Card("Demo", "", "", "MIT", "1x2", "a", "h", hub="org/demo", revision="main"), ("a.json",))
    assert found == hub.Fetched(snapshot, COMMIT)


def test_a_partial_cache_is_not_enough(monkeypatch, tmp_path):
    snapshot = tmp_path / "datasets--org--demo" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "a.json").write_text("{}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert hub.fetch(CARD, ("a.json",)).folder == snapshot
    assert failure(patterns=("a.json", "b.json")).status == "unreachable"


def test_a_partial_cache_will_do_where_only_optional_files_are_missing(monkeypatch, tmp_path):
    snapshot = tmp_path / "datasets--org--demo" / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "a.json").write_text("{}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    asked = []
    monkeypatch.setattr(hub, "probe", lambda *_, **__: asked.append(1) or "no connection")
    assert hub.fetch(CARD, ("a.json", "images/*"), ("a.json",)).folder == snapshot
    assert asked == [1]


def test_an_optional_file_may_be_absent_from_the_hub(fake):
    (fake.folder / "a.json").write_text("{}")
    assert hub.fetch(CARD, ("a.json", "b.json"), ("a.json",)).folder == fake.folder
    assert failure(patterns=("a.json", "b.json")).status == "absent"


def test_offline_mode_is_obeyed(fake, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    error = failure()
    assert error.status == "unreachable"
    assert "HF_HUB_OFFLINE" in error.got
    assert [call["local"] for call in fake.calls] == [True]


@pytest.mark.parametrize(
    ("answer", "status", "status_gated"),
    [
        (http_error(GatedRepoError, 403), "gated", "gated"),
        (http_error(RepositoryNotFoundError, 401), "absent", "gated"),
        (http_error(RepositoryNotFoundError, 404), "absent", "gated"),
        (http_error(RevisionNotFoundError, 404), "absent", "gated"),
        (http_error(HfHubHTTPError, 403), "absent", "gated"),
        (http_error(HfHubHTTPError, 500), "unreachable", "unreachable"),
        (http_error(HfHubHTTPError, 429), "unreachable", "unreachable"),
        (LocalEntryNotFoundError(f"timeout {SECRET}"), "unreachable", "unreachable"),
        (OSError(28, f"no space left {SECRET}"), "unreachable", "unreachable"),
    ],
)
def test_every_refusal_has_its_own_status(fake, answer, status, status_gated):
    fake.answer = answer
    assert failure(CARD).status == status
    error = failure(GATED)
    assert error.status == status_gated
    if error.status == "gated":
        assert "/datasets/org/demo" in error.step


def test_an_empty_listing_of_a_gated_source_is_gated(fake):
    assert failure(GATED).status == "gated"
    assert failure(CARD).status == "absent"


def test_a_source_that_holds_only_a_script_is_script_only(fake):
    fake.listing = ["README.md", "demo.py"]
    assert failure(GATED).status == "script-only"
    fake.listing = ["README.md", "other.json"]
    error = failure(CARD)
    assert error.status == "absent"
    assert "a.json" in error.got


def test_an_endpoint_with_a_password_is_shown_without(fake, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", f"https://user:{SECRET}@hub.test:8443/api?key={SECRET}")
    monkeypatch.setattr(hub, "probe", lambda *_, **__: "no connection (gaierror)")
    assert "https://hub.test:8443/api" in str(failure(GATED))


@pytest.mark.parametrize("address", ["https://[bad", "https://h:port/", "", "no address"])
def test_a_broken_address_breaks_no_message(address):
    assert isinstance(hub.public(address), str)


@pytest.fixture
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_proxy")
def test_a_hanging_name_lookup_is_noticed_in_time(monkeypatch):
    done = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: done.wait(20) and [])
    begin = time.monotonic()
    told = hub.probe("https://hub.test", deadline=0.3)
    taken = time.monotonic() - begin
    done.set()
    assert told == "no answer within 0.3 s"
    assert taken < 2
    assert hub.DEADLINE < 5


@pytest.mark.usefixtures("no_proxy")
@pytest.mark.parametrize("code", [200, 401, 404, 503])
def test_any_answer_is_an_answer(code):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self):
            self.send_response(code)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        assert hub.probe(f"http://127.0.0.1:{server.server_port}") == ""
        thread.join()
    assert "no connection" in hub.probe(f"http://127.0.0.1:{server.server_port}")


@pytest.mark.parametrize("endpoint", ["not an address", "ftp:/", ""])
def test_a_wrong_endpoint_is_no_crash(endpoint):
    assert "no connection" in hub.probe(endpoint)
