"""A tiny release in the format of What'sUp's controlled images B."""

import importlib.util
import json
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("whatsup_a_release", Path(__file__).with_name("whatsup_a.py"))
OTHER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(OTHER)
WORDS = {"in-front_of": "in front of", "behind": "behind", "left_of": "to the left of", "right_of": "to the right of"}


def write(folder: Path) -> list[str]:
    rows = OTHER.rows(WORDS, "controlled_clevr")
    (folder / "controlled_clevr_dataset.json").write_text(json.dumps(rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
