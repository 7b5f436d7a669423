"""The one direction of imports, read from the source: benchmarks <- baselines <- audits, reports <- audits."""

import ast
import tomllib
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "benchmarks": {"benchmarks"},
    "baselines": {"benchmarks", "baselines"},
    "reports": {"benchmarks", "reports"},
    "audits": {"benchmarks", "baselines", "reports", "audits", "conf"},
    "conf": set(),
}
# Modules of a folder that its leaves share; a leaf imports these and never a sibling leaf.
SHARED = {
    "benchmarks": {"schema", "errors", "images", "sources", "files", "hub", "preflight", "overlay", "tableaux"}
    | {"sheets", "columns", "cells", "recordings", "archives", "cell_files", "json_lists", "stores"}
    | {"download", "pickled", "release", "visual_genome", "shuffles"},
    "baselines": {"schema", "engine", "language", "trained"},
}
FILES = sorted(path for folder in MAY_IMPORT for path in (TOP / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(TOP).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative imports hide the direction"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def project_imports(tree: ast.AST) -> list[str]:
    return [name for node in ast.walk(tree) for name in imported(node) if name.split(".")[0] in MAY_IMPORT]


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_no_import_upward(path: Path) -> None:
    folder = path.relative_to(TOP).parts[0]
    wrong = [name for name in project_imports(parse(path)) if name.split(".")[0] not in MAY_IMPORT[folder]]
    assert not wrong, f"{module_name(path)} may import {sorted(MAY_IMPORT[folder])}, not {wrong}"


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_no_project_import_inside_a_function(path: Path) -> None:
    functions = [node for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    assert not [name for function in functions for name in project_imports(function)]


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_leaves_do_not_import_each_other(path: Path) -> None:
    parts = module_name(path).split(".")
    if len(parts) != 2 or parts[0] not in SHARED or parts[1] in SHARED[parts[0]]:
        return
    targets = [name.split(".") for name in project_imports(parse(path)) if name.split(".")[0] == parts[0]]
    wrong = [".".join(target) for target in targets if target[1] not in SHARED[parts[0]]]
    assert not wrong, f"{module_name(path)} is a leaf: it imports shared modules, not {wrong}"


def test_no_cycle() -> None:
    modules = {module_name(path) for path in FILES}

    def resolve(name: str) -> str:
        return name if name in modules else name.rpartition(".")[0]

    edges = {module_name(path): {resolve(name) for name in project_imports(parse(path))} for path in FILES}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, "import cycle: " + " -> ".join([*trail, name])
        if name in done:
            return
        # A package's __init__ that names its own submodules is not a cycle of ours unless they import it back.
        for target in sorted(edges.get(name, ()) - {name}):
            visit(target, (*trail, name))
        done.add(name)

    for name in sorted(edges):
        visit(name, ())


def test_every_folder_of_source_is_packaged() -> None:
    found = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"][
        "find"
    ]
    assert set(found["include"]) == {f"{folder}*" for folder in MAY_IMPORT}
    assert found["namespaces"] is False  # a folder counts by its __init__.py
    for folder in {path.parent for path in FILES}:
        assert (folder / "__init__.py").is_file(), f"{folder.relative_to(TOP)} has no __init__.py"
