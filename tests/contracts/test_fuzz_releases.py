"""Broken releases: whatever is wrong with a cell, the benchmark reads it or says file and place in one InputError.

Works from the release that `tests/contracts/releases/<name>.py` writes: every parser is tried the moment it has one.
"""

import copy
import csv
import importlib.util
import itertools
import json
import random
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hydra import compose, initialize_config_module
from hydra.utils import get_class
from omegaconf import OmegaConf

from benchmarks.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
# Recorded scores guess the meaning of whatever columns they find; their own tests break them.
OTHERS = ("recorded",)
LEAVES = sorted(path.stem for path in (ROOT / "conf" / "benchmark").glob("*.yaml"))
NAMES = [name for name in LEAVES if not name.startswith("_") and name not in OTHERS]
RUNNER = ("name", "missing", "limit", "fetch", "_target_")
MUTATIONS = 60
DELETED = object()
VALUES = (DELETED, None, "", " ", 3, -1, True, 2.5, [], {}, ["x"], {"a": 1}, "x" * 600, "\ud800", "../../etc/passwd")
PLACE = re.compile(r"\b(row|line|key|class|item)\b|field '")


def make(name, folder):
    """Write the release and return what builds its benchmark anew."""
    path = Path(__file__).parent / "releases" / f"{name}.py"
    assert path.is_file(), f"{name} has no tests/contracts/releases/{name}.py: see CONTRIBUTING.md, A benchmark"
    spec = importlib.util.spec_from_file_location(f"release_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    overrides = module.write(folder)
    with initialize_config_module("conf", version_base=None):
        conf = compose("run", [f"benchmark={name}", *overrides])
    given = OmegaConf.to_container(conf.benchmark, resolve=True)
    target = get_class(given["_target_"])
    options = {key: value for key, value in given.items() if key not in RUNNER}
    return lambda: target(**copy.deepcopy(options))


def paths_of(value, path=()):
    """Yield the path of every node below the top."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in children:
        yield (*path, key)
        yield from paths_of(inner, (*path, key))


def changed(value, path, new):
    copied = copy.deepcopy(value)
    parent = copied
    for key in path[:-1]:
        parent = parent[key]
    if new is DELETED:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return copied


def dumped(value):
    return json.dumps(value).encode("ascii")  # a lone surrogate is legal as an escape


class Document:
    """A file of the release as a value that can be changed and written again."""

    def __init__(self, path):
        self.path, self.bytes, self.kind = path, path.read_bytes(), path.suffix
        text = "" if self.kind == ".parquet" else path.read_text(encoding="utf-8")
        if self.kind == ".json":
            self.value = json.loads(text)
        elif self.kind == ".jsonl":
            self.value = [json.loads(line) for line in text.splitlines()]
        elif self.kind == ".parquet":
            self.value = pq.read_table(path).to_pylist()
        else:
            self.delimiter = "\t" if "\t" in text.splitlines()[0] else ","
            rows = list(csv.reader(text.splitlines(), delimiter=self.delimiter))
            self.value = {str(number): row for number, row in enumerate(rows)}

    def fields(self, path):
        """Return names of which a message about the node must hold one."""
        if self.kind not in (".csv", ".tsv"):
            return [key for key in path if isinstance(key, str)]
        # The header's own names are what is broken in row 0; a row that is gone or ragged has no one field.
        return [self.value["0"][path[1]]] if len(path) > 1 and path[0] != "0" else []

    def write(self, value):
        """Write a changed value; False where the format cannot hold it."""
        if self.kind == ".json":
            self.path.write_bytes(dumped(value))
        elif self.kind == ".jsonl":
            self.path.write_bytes(b"\n".join(dumped(row) for row in value))
        elif self.kind == ".parquet":
            try:
                pq.write_table(pa.Table.from_pylist(value), self.path)
            except (pa.ArrowException, ValueError, TypeError, AttributeError):
                return False
        else:
            rows = [row if isinstance(row, list) else [row] for row in value.values()]
            cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
            text = "\n".join(self.delimiter.join(f'"{cell}"' for cell in row) for row in cells)
            self.path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return True


def documents(folder):
    kinds = (".json", ".jsonl", ".csv", ".tsv", ".parquet")
    return [Document(path) for path in sorted(folder.rglob("*")) if path.suffix in kinds and "cache" not in path.parts]


def mutations(document, draw):
    every = list(paths_of(document.value))
    draw.shuffle(every)
    # Every kind of node once, then at random.
    for path, new in zip(itertools.cycle(every[: MUTATIONS * 2]), draw.choices(VALUES, k=MUTATIONS), strict=False):
        yield path, new
    for path in every[:MUTATIONS]:
        if isinstance(path[-1], str):
            yield path, DELETED


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_cell_is_read_or_refused_by_file_and_place(name, tmp_path):
    build = make(name, tmp_path)
    assert list(build())
    draw = random.Random(f"fuzz {name}")
    refused = 0
    for document in documents(tmp_path)[:4]:
        for path, new in mutations(document, draw):
            if not document.write(changed(document.value, path, new)):
                continue
            said = f"{document.path.name} at {path} made {'deleted' if new is DELETED else repr(new)[:40]}"
            try:
                for one in build():
                    assert all(text is None or text.strip() for text in one.captions), said
            except InputError as error:
                refused += 1
                message = str(error)
                assert document.path.name in message or "index.json" in message, f"{said}: {message}"
                whole = len(path) == 1 and document.kind == ".json"
                assert whole or PLACE.search(message) or "column" in message, f"{said}: {message}"
                named = document.fields(path)
                no_one_field = "number of cells" in message or "not valid UTF-8" in message
                assert no_one_field or not named or any(key in message for key in named), f"{said}: {message}"
        document.path.write_bytes(document.bytes)
    assert refused > 5
    assert list(build())


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_file_is_refused_by_name(name, tmp_path):
    build = make(name, tmp_path)
    for document in documents(tmp_path)[:3]:
        for content in (b"", b"\x00\xff\xfe", b"{", b"[1, 2", b"null", document.bytes[: len(document.bytes) // 2]):
            document.path.write_bytes(content)
            try:
                list(build())
            except InputError as error:
                assert document.path.name in str(error), content  # noqa: PT017
        document.path.write_bytes(document.bytes)
