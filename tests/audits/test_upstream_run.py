"""A run of a benchmark whose card asks for upstream's own metrics: both levels shown, incomplete groups listed."""

import csv
import json

QUICK = ("baseline=length", "statistics.bootstrap=200")
CAPTIONS = {
    "on": "A cup on a chair",
    "under": "A cup under it",
    "left": "A cup to the left of a chair",
    "right": "A cup right",
}


def photos(objects, relations):
    return [
        {
            "image_path": f"data/{objects}_{name}_chair.jpeg",
            "caption_options": [CAPTIONS[name], *(text for key, text in CAPTIONS.items() if key != name)],
        }
        for name in relations
    ]


def test_pairs_and_sets_stand_beside_accuracy(cli, tmp_path) -> None:
    # Two whole sets, and a third of which the photo of `under` is missing.
    rows = [*photos("cup", CAPTIONS), *photos("mug", CAPTIONS), *photos("jar", ("on", "left", "right"))]
    (tmp_path / "controlled_images_dataset.json").write_text(json.dumps(rows), encoding="utf-8")
    done = cli("run", "benchmark=whatsup_a", f"benchmark.root={tmp_path}", *QUICK, "out=out")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "metrics.csv").open(encoding="utf-8", newline="") as stream:
        table = [row for row in csv.DictReader(stream) if row["subset"] == "all" and row["primary"] == "1"]
    fewest = {row["metric"]: row for row in table if row["scorer"] == "length:characters:fewer" and not row["tag"]}
    # The shortest caption (`right`) is chosen for every photo: 3 of 11; never both of a pair.
    assert round(float(fewest["accuracy"]["value"]), 6) == round(3 / 11, 6)
    assert (fewest["pair_accuracy"]["value"], fewest["pair_accuracy"]["n"]) == ("0.0", "5")
    assert (fewest["set_accuracy"]["n"], fewest["set_accuracy"]["n_clusters"]) == ("2", "2")
    found = json.loads((tmp_path / "out" / "findings.json").read_text(encoding="utf-8"))
    told = {one["sentence"]: one["instances"] for one in found if one["kind"] == "incomplete_groups"}
    assert sorted(len(ids) for ids in told.values()) == [1, 3]
    assert "pair_accuracy leaves out 1 of 6 groups" in " ".join(told)
    assert "pair accuracy" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
