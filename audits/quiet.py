"""Keep bars and chatter of libraries off: there is one progress line, and it is ours."""

from __future__ import annotations

import logging
import os

_SETTINGS = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
}

_CHATTY = ("httpx", "httpx2")  # a line for each request, of which a prompted model takes thousands


def quiet_libraries() -> None:
    """Set what the libraries read when they are imported; what the user has set stays."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
