"""A tiny release in ARO VG-Relation's format: a relation turned round, and the region it stands in."""

import json
from pathlib import Path

RELATIONS = ("on", "under", "to the left of", "holding")


def rows():
    """Rows of the documented form."""
    return [
        {
            "image_id": 2400000 + key,
            "image_path": f"{2400000 + key // 2}.jpg",
            "bbox_x": 12 + key,
            "bbox_y": 40,
            "bbox_w": 210,
            "bbox_h": 160.5,
            "relation_name": relation,
            "obj1_name": f"cup{key}",
            "obj2_name": f"shelf{key}",
            "true_caption": f"the cup{key} is {relation} the shelf{key}",
            "false_caption": f"the shelf{key} is {relation} the cup{key}",
        }
        for key, relation in enumerate(RELATIONS)
    ]


def write(folder: Path) -> list[str]:
    (folder / "visual_genome_relation.json").write_text(json.dumps(rows()), encoding="utf-8")
    return [f"benchmark.root={folder}"]
