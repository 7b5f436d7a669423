"""A tiny stored build of Flickr30k-Order: tab-separated despite its suffix, with an empty cell."""

from pathlib import Path

HEADER = (
    "image",
    "original_caption",
    "shuffle_noun_and_adjectives",
    "shuffle_trigrams",
    "shuffle_words_within_trigrams",
)
ROWS = (
    ("test/1.jpg", "a red cup on a shelf ", "a red shelf on a cup", "on a shelf a red cup", "red a cup shelf on a"),
    ("test/1.jpg", "a shelf with cups", "a cups with shelf", "", "with a shelf cups"),
    ("test/2.jpg", "two cups stand there", "two cups stand there", "there two cups stand", "cups two stand there"),
)


def write(folder: Path) -> list[str]:
    text = "\n".join("\t".join(row) for row in (HEADER, *ROWS)) + "\n"
    (folder / "flickr_order_neg.csv").write_text(text, encoding="utf-8")
    return [f"benchmark.root={folder}"]
