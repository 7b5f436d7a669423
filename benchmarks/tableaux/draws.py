"""Random choices that are the same on every machine, whatever the process, the platform or the Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")


def digest(*key: str | int) -> int:
    """Return 64 bits that depend on the key alone, as an integer."""
    # The separator cannot occur in a part, so that ("a", "bc") and ("ab", "c") differ.
    text = "\x1f".join(str(part) for part in key)
    return int.from_bytes(blake2b(text.encode("utf-8"), digest_size=8).digest(), "big")


class Draw:
    """Draw from a stream that is named by a key.

    Only `Random.random` is used below: it is the one method whose sequence Python promises to keep.
    """

    def __init__(self, *key: str | int) -> None:
        self._next = random.Random(digest(*key)).random

    def below(self, n: int) -> int:
        """Return an integer from 0 to n - 1, each as likely as the other."""
        return int(self._next() * n)

    def chance(self, p: float) -> bool:
        """Return true with probability p."""
        return self._next() < p

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options, each as likely as the other."""
        return options[self.below(len(options))]

    def take(self, options: Sequence[T], n: int) -> list[T]:
        """Return n different positions of the options in random order (all of them where n is larger)."""
        pool = list(options)
        count = min(n, len(pool))
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]
