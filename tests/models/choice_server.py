"""A real HTTP server on loopback that answers chat completions as a test wants, well or badly, and notes what came."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Seen:
    """One request as it came.

    `number` counts all requests from 0, `times` those with this very body from 1.
    """

    number: int
    times: int
    body: dict[str, Any]
    headers: dict[str, str]
    digest: str

    @property
    def parts(self) -> list[dict[str, Any]]:
        content = self.body["messages"][-1]["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    @property
    def text(self) -> str:
        return "\n".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def images(self) -> list[bytes]:
        urls = [part["image_url"]["url"] for part in self.parts if part["type"] == "image_url"]
        return [base64.b64decode(url.partition(",")[2]) for url in urls]

    @property
    def options(self) -> dict[str, str]:
        """Captions by letter, as the default template writes them."""
        return dict(re.findall(r"^([A-Z]): (.*)$", self.text, re.MULTILINE))


@dataclass(frozen=True)
class Reaction:
    """What to send: a status, headers, a body; after so many seconds; cut off in the middle; never."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    after: float = 0.0
    is_cut: bool = False
    until: threading.Event | None = None
    drips: float = 0.0
    is_reply: bool = False


def say(text: str | None, finish: str = "stop", **message: Any) -> Reaction:
    """A proper reply."""
    content = {"role": "assistant", "content": text, **message}
    reply = {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "served-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": content}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
    }
    return Reaction(json.dumps(reply).encode(), is_reply=True)


def refuse(status: int, message: str = "no", headers: dict[str, str] | None = None, **error: Any) -> Reaction:
    """An error as OpenAI writes it."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": None, **error}}).encode()
    return Reaction(body, status, headers or {})


Behaviour = Callable[[Seen], Reaction]


def always_a(seen: Seen) -> Reaction:
    return say("CHOICE: A")


def picking(right: Callable[[str], bool]) -> Behaviour:
    """Pick the first caption that a test of captions accepts."""

    def behave(seen: Seen) -> Reaction:
        letter = next((letter for letter, caption in seen.options.items() if right(caption)), "A")
        return say(f"CHOICE: {letter}")

    return behave


class Server:
    """Requests as they came (`seen`), digests of those answered in full, and of those that came again after that."""

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.seen: list[Seen] = []
        self.answered: list[str] = []
        self.twice: list[str] = []
        self.peak = 0
        self._inside = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["content-length"]))
                server.serve(self, data)

            def log_message(self, format: str, *args: Any) -> None:
                """Keep quiet."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def note(self, handler: BaseHTTPRequestHandler, data: bytes) -> Seen:
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            times = 1 + sum(one.digest == digest for one in self.seen)
            self.twice += [digest] * (digest in self.answered)
            headers = {name.lower(): value for name, value in handler.headers.items()}
            seen = Seen(len(self.seen), times, json.loads(data), headers, digest)
            self.seen.append(seen)
            self._inside += 1
            self.peak = max(self.peak, self._inside)
        return seen

    def serve(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        seen = self.note(handler, data)
        try:
            reaction = self.behave(seen)
            if reaction.until is not None:
                reaction.until.wait(60)
            time.sleep(reaction.after)
            self.send(handler, reaction)
            if reaction.is_reply and not reaction.is_cut:
                self.answered.append(seen.digest)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True  # whoever asked has gone
        finally:
            with self._lock:
                self._inside -= 1

    def send(self, handler: BaseHTTPRequestHandler, reaction: Reaction) -> None:
        handler.send_response(reaction.status)
        headers = {"content-type": "application/json", "content-length": str(len(reaction.body)), **reaction.headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if reaction.is_cut:
            handler.wfile.write(reaction.body[: len(reaction.body) // 2])
            handler.close_connection = True
        elif reaction.drips:
            for byte in reaction.body:
                handler.wfile.write(bytes([byte]))
                handler.wfile.flush()
                time.sleep(reaction.drips)
        else:
            handler.wfile.write(reaction.body)


@contextmanager
def serving(behave: Behaviour) -> Iterator[Server]:
    server = Server(behave)
    server.thread.start()
    try:
        yield server
    finally:
        server.http.shutdown()
        server.http.server_close()
