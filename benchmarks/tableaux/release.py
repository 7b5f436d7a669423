"""Write a sample in the release layout of CompoSET, with the specification from which its pictures are drawn."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.errors import InputError
from benchmarks.tableaux.sample import Identity, Specification, Tableau, Variation, canonical
from benchmarks.tableaux.scene import Json

BATCH = 256
"""Scenes held in memory at once."""

_SIDES = pa.struct([("base", pa.string()), ("var", pa.string())])
VARIATIONS = pa.schema(
    [
        ("id", pa.string()),
        ("scene_id", pa.string()),
        ("edit_type", pa.string()),
        ("image_base", pa.string()),
        ("image_var", pa.string()),
        ("captions", pa.struct([("short", _SIDES), ("medium", _SIDES), ("long", _SIDES)])),
    ]
)
SCENES = pa.schema(
    [
        ("scene_id", pa.string()),
        ("image_base", pa.string()),
        ("setting", pa.string()),
        ("setting_category", pa.string()),
        ("n_subjects", pa.string()),
        ("framing", pa.string()),
        ("n_variations", pa.int64()),
        ("edit_types_present", pa.list_(pa.string())),
    ]
)
CAPTIONS = pa.schema([("scene_id", pa.string()), ("base_caption", pa.string())])


def write(spec: Specification, out: Path, *, also: Callable[[Path], None] | None = None) -> None:
    """Write variations.parquet, scenes.parquet, scene_captions.parquet and specification.json into a new folder.

    The folder appears whole or not at all. The image columns name the files that a drawing of the sample will have.

    Args:
        spec: The sample.
        out: A new or empty folder.
        also: Adds to the folder (draws its pictures) before it takes its name.

    Raises:
        InputError: If `out` exists and is not an empty folder, or cannot be written.
    """
    out = out.resolve()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            "the output folder is not empty",
            where=str(out),
            got="a file" if out.is_file() else "a folder with files in it",
            expected="a new or empty folder",
            step="name another folder, or remove this one first",
        )
    try:
        with _folder(out) as partial:
            _write_all(spec, partial)
            if also is not None:
                also(partial)
    except OSError as error:
        raise InputError("cannot write the sample", where=str(out), got=str(error), step="check the path") from error


@contextmanager
def _folder(out: Path) -> Iterator[Path]:
    """Yield a folder beside `out` that takes its name at the end, or is removed if anything goes wrong."""
    partial = out.with_name(f".{out.name}.{secrets.token_hex(4)}.partial")
    partial.mkdir(parents=True)
    try:
        yield partial
        if out.exists():
            out.rmdir()
        partial.rename(out)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _write_all(spec: Specification, folder: Path) -> None:
    """Compose the scenes once and write all files side by side, a batch of scenes at a time."""
    identity = Identity(spec)
    with (
        pq.ParquetWriter(folder / "variations.parquet", VARIATIONS) as variations,
        pq.ParquetWriter(folder / "scenes.parquet", SCENES) as scenes,
        pq.ParquetWriter(folder / "scene_captions.parquet", CAPTIONS) as captions,
        (folder / "specification.json").open("wb") as file,
    ):
        file.write(canonical(spec.header)[:-1] + b',"tableaux":[')
        tableaux, separator = iter(spec), b"\n"
        while part := list(islice(tableaux, BATCH)):
            rows = [_variation_row(variation) for tableau in part for variation in tableau.variations]
            variations.write_table(pa.Table.from_pylist(rows, VARIATIONS))
            scenes.write_table(pa.Table.from_pylist([_scene_row(tableau) for tableau in part], SCENES))
            captions.write_table(pa.Table.from_pylist(_caption_rows(part), CAPTIONS))
            file.write(separator + b",\n".join(identity.add(tableau) for tableau in part))
            separator = b",\n"
        file.write(b'\n],"digest":"' + identity.hexdigest().encode("ascii") + b'"}\n')


def _variation_row(variation: Variation) -> Json:
    return {
        "id": variation.id,
        "scene_id": variation.scene_id,
        "edit_type": variation.edit.type,
        "image_base": image(f"{variation.scene_id}_base"),
        "image_var": image(variation.id),
        "captions": {tier: {"base": base, "var": foil} for tier, (base, foil) in variation.captions.items()},
    }


def _scene_row(tableau: Tableau) -> Json:
    figures = len(tableau.scene.figures)
    return {
        "scene_id": tableau.id,
        "image_base": image(f"{tableau.id}_base"),
        "setting": tableau.scene.setting,
        "setting_category": tableau.scene.category,
        "n_subjects": str(figures) if figures < 3 else "3+",
        "framing": tableau.scene.framing,
        "n_variations": len(tableau.variations),
        "edit_types_present": list(dict.fromkeys(variation.edit.type for variation in tableau.variations)),
    }


def _caption_rows(part: Sequence[Tableau]) -> list[Json]:
    return [{"scene_id": tableau.id, "base_caption": tableau.caption} for tableau in part]


def image(name: str) -> str:
    """Return the path of a picture within the release."""
    return f"images/{name}.png"


def mask(name: str) -> str:
    """Return the path of the mask of a variation beside the release."""
    return f"masks/{name}.png"
