"""A tiny release in SVO-Probes' format; one row names two roles and is left out."""

from pathlib import Path

HEADER = "sentence,pos_triplet,neg_triplet,pos_url,neg_url,pos_image_id,neg_image_id,subj_neg,verb_neg,obj_neg"
ROLES = ("True,False,False", "False,True,False", "False,False,True", "True,True,False")


def write(folder: Path) -> list[str]:
    rows = [
        f'"A cup, number {key}, stands.","cup,stand,shelf","cup,fall,shelf",'
        f"http://example.org/{key}.jpg,http://example.org/{key}b.jpg,{key},{key + 100},{roles}"
        for key, roles in enumerate(ROLES)
    ]
    (folder / "svo_probes.csv").write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    return [f"benchmark.root={folder}", f"benchmark.cache={folder}"]
