"""What every scorer of the configuration is asked in the contract tests."""

from benchmarks.images import ImageRef
from benchmarks.schema import Candidates

BATCH = [
    Candidates("a", (ImageRef.absent(),), ("a cat sits on a chair", "a chair sits on a cat")),
    Candidates("b", (ImageRef.absent(),), ("two cups", "Three cups.", " two cups ", "café <b>&amp;</b> [red]")),
    Candidates("c", (ImageRef.absent(), ImageRef.absent()), ("a dog", "a very large dog"), query="Which is it? "),
    Candidates("d", (ImageRef.absent(),), ("only one of two", None)),
    Candidates("e", (ImageRef.absent(),), ("", "x")),
    Candidates("f", (ImageRef.absent(),), ("the same", "the same")),
]


def turned(item):
    """The same candidates with their options the other way round."""
    return Candidates(item.id, item.images[::-1], item.captions[::-1], item.query)
