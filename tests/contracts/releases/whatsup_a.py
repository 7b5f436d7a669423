"""A tiny release in the format of What'sUp's controlled images A: two sets of four photos."""

import json
from pathlib import Path

WORDS = {"on": "on", "under": "under", "left_of": "to the left of", "right_of": "to the right of"}


def rows(words=WORDS, folder="controlled_images"):
    """Rows of the documented form: the right caption first, the others in another order for each photo."""
    made = []
    for first in ("cup", "beer-bottle"):
        captions = {name: f"A {first} {text} a chair" for name, text in words.items()}
        for turn, name in enumerate(words):
            others = [text for other, text in captions.items() if other != name]
            made.append(
                {
                    "image_path": f"data/{folder}/{first}_{name}_chair.jpeg",
                    "caption_options": [captions[name], *others[turn % 3 :], *others[: turn % 3]],
                }
            )
    return made


def write(folder: Path) -> list[str]:
    (folder / "controlled_images_dataset.json").write_text(json.dumps(rows()), encoding="utf-8")
    return [f"benchmark.root={folder}"]
