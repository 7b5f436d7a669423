"""Tiny questions and scene graphs in GQA's format: one question is answered by yes, one scene has little else in it."""

import json
from pathlib import Path


def question(image: int, key: int, answer: str) -> dict[str, object]:
    """One question about object 1 of its scene."""
    return {
        "imageId": str(image),
        "question": f"What is on shelf {key}?",
        "answer": answer,
        "fullAnswer": f"The {answer} is on the shelf." if answer != "yes" else "Yes, it is.",
        "isBalanced": True,
        "annotations": {"question": {"4": "2"}, "answer": {"0": "1"}, "fullAnswer": {"1": "1", "5": "2"}},
    }


def write(folder: Path) -> list[str]:
    objects = {
        "1": {"name": "cup", "x": 1, "y": 2, "w": 3, "h": 4, "attributes": ["red"], "relations": []},
        "2": {"name": "shelf", "x": 1, "y": 2, "w": 3, "h": 4, "attributes": [], "relations": []},
        "3": {"name": "window", "x": 1, "y": 2, "w": 3, "h": 4, "attributes": ["large", "red"], "relations": []},
    }
    graphs = {str(2400020 + key): {"width": 640, "height": 480, "objects": objects} for key in range(3)}
    graphs["2400099"] = {"width": 640, "height": 480, "objects": {name: objects[name] for name in ("1", "2")}}
    questions = {f"0{key}": question(2400020 + key % 3, key, "cup") for key in range(5)}
    questions |= {"07": question(2400020, 7, "yes"), "08": question(2400099, 8, "cup")}
    (folder / "val_balanced_questions.json").write_text(json.dumps(questions), encoding="utf-8")
    (folder / "val_sceneGraphs.json").write_text(json.dumps(graphs), encoding="utf-8")
    return [f"benchmark.root={folder}"]
