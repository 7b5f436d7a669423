"""A tiny VG-QA of What'sUp as questions: what a later study circulates."""

import json
from pathlib import Path

ANSWERS = ("Left", "Right", "Front", "Behind")
ASK = (
    "<image>\nUSER: Where is the cup{key} in relation to the chair? "
    "Answer with left, right, front or behind.\nASSISTANT:"
)


def write(folder: Path) -> list[str]:
    rows = [{"id": key, "question": ASK.format(key=key), "answer": [word]} for key, word in enumerate(ANSWERS)]
    path = folder / "VG_QA_two_obj_with_answer_four_options.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [f"benchmark.root={folder}"]
