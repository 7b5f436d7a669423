"""Estimate how many tokens a request takes, before it is sent; what is paid is what the endpoint counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

OVERHEAD = 12
"""Tokens of a request beside its text: roles and marks."""
BYTES_PER_TOKEN = 3.5
"""English text has four bytes or more to a token; the estimate stays on the high side."""


def text_tokens(text: str) -> int:
    """Return the tokens of a text, estimated from its bytes.

    >>> text_tokens("a red cup"), text_tokens("")
    (3, 0)
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def tiles(width: int, height: int, detail: str | None) -> int:
    """Return the tokens of an image cut into tiles of 512 pixels, 85 and 170 for each tile; 85 at low detail.

    The image is first made to fit 2048 pixels, then so that its shorter side has 768.

    Source: ours, after the rule that OpenAI publishes for GPT-4o.

    >>> tiles(1024, 1024, None), tiles(2048, 4096, "high"), tiles(2048, 4096, "low"), tiles(100, 100, None)
    (765, 1105, 85, 255)
    """
    if detail == "low":
        return 85
    fit = min(1.0, 2048 / max(width, height))
    fit = min(fit, 768 / min(width, height))
    return 85 + 170 * math.ceil(width * fit / 512) * math.ceil(height * fit / 512)


def area(width: int, height: int, detail: str | None) -> int:
    """Return the tokens of an image as its pixels over 750, at most 1,600.

    Source: ours, after the rule that Anthropic publishes.

    >>> area(1000, 1000, None), area(8000, 8000, None)
    (1334, 1600)
    """
    return min(1600, math.ceil(width * height / 750))


def blocks(width: int, height: int, detail: str | None) -> int:
    """Return the tokens of an image cut into blocks of 768 pixels, 258 for each; one block up to 384 pixels.

    Source: ours, after the rule that Google publishes for Gemini.

    >>> blocks(384, 300, None), blocks(1024, 1024, None)
    (258, 1032)
    """
    if max(width, height) <= 384:
        return 258
    return 258 * math.ceil(width / 768) * math.ceil(height / 768)


RULES: Final[Mapping[str, Callable[[int, int, str | None], int]]] = {"tiles": tiles, "area": area, "blocks": blocks}


def image_tokens(rule: int | str, size: tuple[int, int], detail: str | None) -> int:
    """Return the tokens of an image of a size (width, height) in pixels, under a rule or a plain number."""
    return RULES[rule](*size, detail) if isinstance(rule, str) else rule
