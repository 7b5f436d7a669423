"""A tiny release in CounterCurate's format of attributes; one counterfactual does not exist."""

from pathlib import Path

HEADER = (
    "captions",
    "images",
    "noun_captions",
    "noun_images",
    "adj_captions",
    "adj_images",
    "rev_captions",
    "rev_images",
)


def write(folder: Path) -> list[str]:
    lines = ["\t".join(HEADER)]
    for key in (1, 2):
        cells = [f"a red cup on shelf {key}", f"./train_data/flickr30k-images/{key}.jpg"]
        for kind, text in (("noun", "vase"), ("adjective", "blue cup"), ("reverse", "shelf on a cup")):
            made = f"./train_data/dalle_gen_counterfactuals/{key}_{kind}.jpg"
            cells += ["nonexistent"] * 2 if (key, kind) == (2, "adjective") else [f"a {text} {key}", made]
        lines.append("\t".join(cells))
    (folder / "train_counterfactuals.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [f"benchmark.root={folder}"]
