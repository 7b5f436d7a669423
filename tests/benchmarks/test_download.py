"""Downloads from a server on this machine that misbehaves: broken off, too large, busy, redirecting, changed."""

import hashlib
import http.server
import logging
import threading
import time

import pytest
from hydra import compose, initialize_config_module
from omegaconf import OmegaConf

from audits import load
from benchmarks import download
from benchmarks.download import Rules, fetch, images
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.schema import Card

BODY = bytes(range(256)) * 400  # 102,400 bytes
SHA = hashlib.sha256(BODY).hexdigest()
LOCAL = Rules(hosts=("127.0.0.1",), timeout=5)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers), time.monotonic()))
        self.server.answers[self.path](self)

    def log_message(self, *given):
        pass


def reply(handler, body, status=200, length=None, **headers):
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)
    if length is not None and length != len(body):
        handler.close_connection = True


def whole(handler):
    """Answer like a good server: ranges under a matching tag."""
    asked = handler.headers.get("Range", "")
    if asked and handler.headers.get("If-Range") == '"v1"':
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        reply(handler, BODY[start:], 206, ETag='"v1"', Content_Range=f"bytes {start}-{len(BODY) - 1}/{len(BODY)}")
    else:
        reply(handler, BODY, ETag='"v1"')


def in_turn(*answers):
    left = list(answers)

    def answer(handler):
        (left.pop(0) if len(left) > 1 else left[0])(handler)

    return answer


@pytest.fixture
def server():
    class Quiet(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *given):
            pass

    made = Quiet(("127.0.0.1", 0), Handler)
    made.seen, made.answers = [], {"/file": whole}
    made.url = f"http://127.0.0.1:{made.server_address[1]}"
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def waits():
    return []


def get(server, folder, waits, *, path="/file", rules=LOCAL, sha256=SHA):
    return fetch(server.url + path, folder / "file", sha256=sha256, rules=rules, sleep=waits.append)


def test_a_file_is_fetched_once_and_its_size_is_said_first(server, tmp_path, waits, caplog):
    caplog.set_level(logging.INFO)
    assert get(server, tmp_path, waits).read_bytes() == BODY
    assert "102,400 bytes" in caplog.text
    assert get(server, tmp_path, waits).read_bytes() == BODY
    assert len(server.seen) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]
    headers = server.seen[0][1]
    assert headers["User-Agent"] == download.AGENT
    assert headers["Accept-Encoding"] == "identity"


def test_a_wrong_file_that_is_there_is_fetched_again(server, tmp_path, waits):
    (tmp_path / "file").write_bytes(b"old")
    assert get(server, tmp_path, waits).read_bytes() == BODY


def test_a_broken_transfer_is_taken_up_where_it_stopped(server, tmp_path, waits):
    def half(handler):
        reply(handler, BODY[:60_000], length=len(BODY), ETag='"v1"')

    server.answers["/file"] = in_turn(half, whole)
    assert get(server, tmp_path, waits).read_bytes() == BODY
    asked = server.seen[1][1]
    assert asked["If-Range"] == '"v1"'
    start = int(asked["Range"].removeprefix("bytes=").removesuffix("-"))
    assert 0 < start <= 60_000
    assert len(waits) == 1


def test_a_transfer_of_another_run_is_taken_up(server, tmp_path, waits):
    (tmp_path / "file.part").write_bytes(BODY[:1000])
    (tmp_path / "file.part.tag").write_text('"v1"', encoding="utf-8")
    assert get(server, tmp_path, waits).read_bytes() == BODY
    assert server.seen[0][1]["Range"] == "bytes=1000-"


def test_a_file_that_changed_meanwhile_starts_anew(server, tmp_path, waits):
    (tmp_path / "file.part").write_bytes(b"of the old version")
    (tmp_path / "file.part.tag").write_text('"v0"', encoding="utf-8")
    assert get(server, tmp_path, waits).read_bytes() == BODY


def test_a_part_that_nobody_vouches_for_starts_anew(server, tmp_path, waits):
    (tmp_path / "file.part").write_bytes(b"whose?")
    assert get(server, tmp_path, waits).read_bytes() == BODY
    assert "Range" not in server.seen[0][1]


def test_a_server_that_sends_another_part_is_asked_anew(server, tmp_path, waits):
    def shifted(handler):
        reply(handler, BODY[5:], 206, ETag='"v1"', Content_Range=f"bytes 5-{len(BODY) - 1}/{len(BODY)}")

    (tmp_path / "file.part").write_bytes(BODY[:1000])
    (tmp_path / "file.part.tag").write_text('"v1"', encoding="utf-8")
    server.answers["/file"] = in_turn(shifted, whole)
    assert get(server, tmp_path, waits).read_bytes() == BODY


def test_a_part_beyond_the_end_is_dropped(server, tmp_path, waits):
    (tmp_path / "file.part").write_bytes(BODY + b"more")
    (tmp_path / "file.part.tag").write_text('"v1"', encoding="utf-8")
    server.answers["/file"] = in_turn(lambda handler: reply(handler, b"", 416), whole)
    assert get(server, tmp_path, waits).read_bytes() == BODY


def test_another_file_than_expected_is_not_kept(server, tmp_path, waits):
    server.answers["/file"] = lambda handler: reply(handler, b"not it")
    with pytest.raises(InputError, match="not the expected one") as caught:
        get(server, tmp_path, waits)
    assert SHA in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_breaks_off_each_time_is_given_up(server, tmp_path, waits):
    server.answers["/file"] = lambda handler: reply(handler, b"x", length=10)
    with pytest.raises(NotAvailableError, match="cannot be fetched"):
        get(server, tmp_path, waits)
    assert len(server.seen) == download.ATTEMPTS
    assert not (tmp_path / "file").exists()


def test_a_size_over_the_limit_is_refused_before_it_is_read(server, tmp_path, waits):
    with pytest.raises(InputError, match="too large"):
        get(server, tmp_path, waits, rules=Rules(limit=1000, hosts=LOCAL.hosts))
    assert not list(tmp_path.glob("file*"))


def test_a_size_that_was_not_told_is_limited_too(server, tmp_path, waits):
    def endless(handler):
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        for _ in range(100):
            handler.wfile.write(b"x" * 10_000)

    server.answers["/file"] = endless
    with pytest.raises(InputError, match="too large"):
        get(server, tmp_path, waits, rules=Rules(limit=50_000, hosts=LOCAL.hosts))
    assert not (tmp_path / "file.part").exists()


def test_a_busy_server_is_given_the_time_that_it_asks_for(server, tmp_path, waits):
    server.answers["/file"] = in_turn(
        lambda handler: reply(handler, b"", 429, Retry_After="7"),
        lambda handler: reply(handler, b"", 503, Retry_After="soon"),
        whole,
    )
    assert get(server, tmp_path, waits).read_bytes() == BODY
    assert waits == [7.0, 5.0]


def test_a_date_to_come_back_is_understood_and_a_long_wait_is_not_waited(server, tmp_path, waits):
    assert download._retry_after("Thu, 01 Jan 1970 00:00:00 GMT") == 0.0
    server.answers["/file"] = lambda handler: reply(handler, b"", 503, Retry_After="86400")
    with pytest.raises(NotAvailableError, match="86400"):
        get(server, tmp_path, waits)
    assert waits == []


@pytest.mark.parametrize(("code", "status"), [(404, "absent"), (410, "absent"), (401, "gated"), (403, "gated")])
def test_a_refusal_is_final(server, tmp_path, waits, code, status):
    server.answers["/file"] = lambda handler: reply(handler, b"", code)
    with pytest.raises(NotAvailableError) as caught:
        get(server, tmp_path, waits)
    assert caught.value.status == status
    assert len(server.seen) == 1


def test_redirects_stay_on_the_host(server, tmp_path, waits):
    server.answers["/moved"] = lambda handler: reply(handler, b"", 302, Location="/file")
    assert get(server, tmp_path, waits, path="/moved").read_bytes() == BODY
    server.answers["/away"] = lambda handler: reply(handler, b"", 302, Location="https://elsewhere.example/file")
    with pytest.raises(InputError, match=r"another host[\s\S]*elsewhere\.example"):
        fetch(server.url + "/away", tmp_path / "other", rules=LOCAL, sleep=waits.append)
    server.answers["/round"] = lambda handler: reply(handler, b"", 302, Location="/round")
    with pytest.raises(InputError, match="led around"):
        fetch(server.url + "/round", tmp_path / "other", rules=LOCAL, sleep=waits.append)
    server.answers["/inside"] = lambda handler: reply(handler, b"", 302, Location="file:///etc/passwd")
    with pytest.raises(InputError):
        fetch(server.url + "/inside", tmp_path / "other", rules=LOCAL, sleep=waits.append)


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/file",
        "file:///etc/passwd",
        "ftp://example.org/file",
        "https://user:secret@example.org/file",
        "https://127.0.0.1/file",
        "https://localhost/file",
        "https://10.0.0.1/file",
        "https://169.254.169.254/latest",
        "https://[::1]/file",
        "https://[broken/file",
        "example.org/file",
        "",
    ],
)
def test_an_address_that_is_not_allowed_is_never_asked(tmp_path, address, waits):
    with pytest.raises(InputError, match="not allowed") as caught:
        fetch(address, tmp_path / "file", sleep=waits.append)
    assert "secret" not in str(caught.value)
    assert waits == []


def test_a_query_is_not_shown(server, tmp_path, waits):
    server.answers["/file?token=secret"] = lambda handler: reply(handler, b"", 404)
    with pytest.raises(NotAvailableError) as caught:
        get(server, tmp_path, waits, path="/file?token=secret")
    assert "secret" not in str(caught.value)


def test_nobody_there(tmp_path, waits, server):
    port = server.server_address[1] + 1 if server.server_address[1] < 65535 else 1
    with pytest.raises(NotAvailableError, match="connection broke"):
        fetch(f"http://127.0.0.1:{port}/file", tmp_path / "file", rules=LOCAL, sleep=waits.append)


def test_images_come_one_at_a_time_and_what_is_gone_is_left_out(server, tmp_path, waits, caplog):
    for number in range(4):
        server.answers[f"/{number}.jpg"] = whole if number != 2 else lambda handler: reply(handler, b"", 404)
    wanted = {f"{server.url}/{number}.jpg": tmp_path / "cache" / f"{number}.jpg" for number in range(4)}
    wanted[f"{server.url}/0.jpg"].parent.mkdir()
    wanted[f"{server.url}/0.jpg"].write_bytes(BODY)  # here already
    lost = images(wanted, delay=1.5, rules=LOCAL, sleep=waits.append)
    assert lost == (f"{server.url}/2.jpg",)
    assert [path for path, _, _ in server.seen] == ["/1.jpg", "/2.jpg", "/3.jpg"]
    assert waits == [1.5, 1.5]
    assert (tmp_path / "cache" / "3.jpg").read_bytes() == BODY
    assert "cannot be fetched" in caplog.text
    again = images(wanted, rules=LOCAL, sleep=waits.append)
    assert again == lost
    assert len(server.seen) == 4


def card(server, **fields):
    known = {"file": SHA}
    return Card("Demo", "", "https://x", "MIT", "1x2", "accuracy", "Get it.", files=known, **fields)


def test_a_release_comes_from_its_cards_addresses_alone_and_is_checked(server, tmp_path, waits):
    mine = card(server, addresses={"file": f"{server.url}/file"})
    folder = download.release(mine, tmp_path / "demo", rules=LOCAL, sleep=waits.append)
    assert (folder / "file").read_bytes() == BODY
    assert download.release(mine, folder, rules=LOCAL, sleep=waits.append) == folder
    assert len(server.seen) == 1
    server.answers["/file"] = lambda handler: reply(handler, b"not it")
    with pytest.raises(InputError, match="not the expected one"):
        download.release(mine, tmp_path / "other", rules=LOCAL, sleep=waits.append)
    with pytest.raises(NotAvailableError, match="no address"):
        download.release(card(server), tmp_path / "other")
    with pytest.raises(InputError, match="without a checksum"):
        download.release(card(server, addresses={"more": f"{server.url}/file"}), tmp_path / "other", rules=LOCAL)


def test_a_release_is_fetched_on_request_only(tmp_path, monkeypatch):
    asked = []

    def fetched(card, folder):
        asked.append((card.title, folder))
        raise NotAvailableError("nothing here", status="absent")

    monkeypatch.setattr(load.download, "release", fetched)
    with initialize_config_module("conf", version_base=None):
        for fetch_it in ("false", "true"):
            conf = compose("run", ["benchmark=sugarcrepe", f"benchmark.fetch={fetch_it}", f"paths.cache={tmp_path}"])
            with pytest.raises(NotAvailableError):
                load.benchmark(
                    {group: OmegaConf.to_container(conf[group], resolve=True) for group in ("benchmark", "paths")}
                )
    assert asked == [("SugarCrepe", tmp_path / "releases" / "sugarcrepe")]
