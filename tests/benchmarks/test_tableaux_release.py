"""The release layout of the bundled sample, read back by other libraries."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.errors import InputError
from benchmarks.tableaux import release, specification
from benchmarks.tableaux.release import write
from benchmarks.tableaux.vocabulary import EDIT_TYPES

SPEC = specification(6, seed=1, shortcut="length", strength=0.5)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    out = tmp_path_factory.mktemp("sample") / "deep" / "a b=c"
    write(SPEC, out)
    return out


def test_layout_has_the_three_tables_and_the_specification_and_nothing_else(written):
    names = sorted(path.name for path in written.iterdir())
    assert names == ["scene_captions.parquet", "scenes.parquet", "specification.json", "variations.parquet"]
    assert [path.name for path in written.parent.iterdir()] == ["a b=c"]


def test_variations_round_trip_through_pandas(written):
    frame = pd.read_parquet(written / "variations.parquet")
    assert list(frame.columns) == ["id", "scene_id", "edit_type", "image_base", "image_var", "captions"]
    expected = list(SPEC.variations())
    assert len(frame) == len(expected)
    for row, v in zip(frame.itertuples(), expected, strict=True):
        assert (row.id, row.scene_id, row.edit_type) == (v.id, v.scene_id, v.edit.type)
        assert row.image_base == f"images/{v.scene_id}_base.png"
        assert row.image_var == f"images/{v.id}.png"
        assert {t: (s["base"], s["var"]) for t, s in row.captions.items()} == dict(v.captions)


def test_schemas_are_those_of_the_release(written):
    variations = pq.read_schema(written / "variations.parquet")
    side = pa.struct([("base", pa.string()), ("var", pa.string())])
    assert variations.field("captions").type == pa.struct([(tier, side) for tier in ("short", "medium", "long")])
    scenes = pq.read_schema(written / "scenes.parquet")
    assert scenes.names == [
        "scene_id",
        "image_base",
        "setting",
        "setting_category",
        "n_subjects",
        "framing",
        "n_variations",
        "edit_types_present",
    ]
    assert scenes.field("n_subjects").type == pa.string()
    assert scenes.field("n_variations").type == pa.int64()
    assert pa.types.is_list(scenes.field("edit_types_present").type)
    assert pq.read_schema(written / "scene_captions.parquet").names == ["scene_id", "base_caption"]


def test_scenes_agree_with_variations(written):
    variations = pq.read_table(written / "variations.parquet").to_pandas()
    for row in pq.read_table(written / "scenes.parquet").to_pylist():
        own = variations[variations.scene_id == row["scene_id"]]
        assert row["n_variations"] == len(own)
        assert set(row["edit_types_present"]) == set(own.edit_type) <= set(EDIT_TYPES)
        assert row["setting_category"] in ("indoor", "outdoor")
        assert row["n_subjects"] in ("0", "1", "2", "3+")
    captions = pq.read_table(written / "scene_captions.parquet").to_pylist()
    assert captions == [{"scene_id": t.id, "base_caption": t.caption} for t in SPEC]


def test_specification_holds_what_a_renderer_needs(written):
    text = (written / "specification.json").read_text(encoding="utf-8")
    spec = json.loads(text)
    assert spec["digest"] == SPEC.digest
    assert (spec["scenes"], spec["seed"], spec["shortcut"], spec["strength"]) == (6, 1, "length", 0.5)
    assert spec["generator"] >= 1
    assert [t["id"] for t in spec["tableaux"]] == [t.id for t in SPEC]
    for tableau in spec["tableaux"]:
        entities = {e["id"]: e for e in (*tableau["items"], *tableau["figures"])}
        assert all(entity["place"] in spec["places"] for entity in entities.values())
        if tableau["interaction"]:
            entities["interaction"] = tableau["interaction"]
        for variation in tableau["variations"]:
            for change in variation["changes"]:
                assert entities[change["entity"]][change["name"]] == change["base"] != change["foil"]


def test_batches_do_not_show(tmp_path, monkeypatch):
    monkeypatch.setattr(release, "BATCH", 4)  # 6 scenes: a full batch and a rest
    write(SPEC, tmp_path / "small")
    monkeypatch.setattr(release, "BATCH", 100)
    write(SPEC, tmp_path / "large")
    for name in ("variations", "scenes", "scene_captions"):
        small, large = (pq.read_table(tmp_path / d / f"{name}.parquet") for d in ("small", "large"))
        assert small == large
        assert small.num_rows


def test_an_empty_folder_is_filled_and_a_full_one_refused(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    write(SPEC, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(InputError, match="not empty"):
        write(SPEC, out)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_file_in_the_way_is_refused(tmp_path):
    file = tmp_path / "out"
    file.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="a file"):
        write(SPEC, file)
    with pytest.raises(InputError, match="cannot write"):
        write(SPEC, file / "below")
    assert file.read_text(encoding="utf-8") == "mine"


def test_nothing_is_left_of_a_write_that_fails(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(release, "_specification", full)
    with pytest.raises(InputError, match="No space left"):
        write(SPEC, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
