"""Open a page in a headless browser that is kept off the network, and say what happened there."""

import re
import shutil
import socket
import subprocess
import threading
from dataclasses import dataclass

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# What the browser asks its maker for by itself, whatever page it shows.
_OWN_HOSTS = re.compile(rb"[/ .](google|googleapis|gstatic|gvt1)\.com")


@dataclass
class Visit:
    """Hold the page after it was loaded, what its console said, and which requests left it."""

    dom: str
    console: list
    requests: list


class _Recorder:
    """Listen as a proxy, note the first line of every request, and answer none."""

    def __init__(self):
        self.lines = []
        self.server = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            with client:
                client.settimeout(2)
                try:
                    self.lines.append(client.recv(400).split(b"\r\n")[0])
                except OSError:
                    continue

    def close(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.thread.join(5)


def visit(page, profile, *options):
    """Load a file and return what happened."""
    recorder = _Recorder()
    command = [
        *(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
        *("--disable-default-apps", "--hide-scrollbars", "--enable-logging=stderr", f"--user-data-dir={profile}"),
        f"--proxy-server=127.0.0.1:{recorder.server.getsockname()[1]}",
        *("--proxy-bypass-list=<-loopback>", *options, "--dump-dom", page.as_uri()),
    ]
    try:
        done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    finally:
        recorder.close()
    console = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if "CONSOLE" in line]
    requests = [line for line in recorder.lines if not _OWN_HOSTS.search(line)]
    return Visit(done.stdout.decode("utf-8"), console, requests)
