"""Paths reach the configuration letter by letter, whatever characters they hold."""

from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st
from omegaconf import OmegaConf

from audits.overrides import is_path_key, quote, translate
from benchmarks.errors import InputError

PARSER = OverridesParser.create()


def read_back(override: str) -> object:
    """What a job would see of `key=value`: parsed by Hydra, resolved by OmegaConf."""
    parsed = PARSER.parse_override(override)
    return OmegaConf.to_container(OmegaConf.create({"value": parsed.value()}), resolve=True)["value"]


@pytest.mark.parametrize(
    "path",
    [
        "my data",
        "a,b",
        "a=b",
        "runs/[1]",
        "{x}",
        "it's",
        'say "hi"',
        "back\\slash",
        "ends with\\",
        "\\'",
        "${HOME}/x",
        "\\${HOME}",
        "(1)",
        "ünï–code",
        "%20 & more",
        "true",
        "007",
        "null",
    ],
)
def test_quoted_path_is_read_back_letter_by_letter(path: str) -> None:
    assert read_back(f"out={quote(path)}") == path


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1))
def test_any_text_survives_quoting(text: str) -> None:
    assert read_back(f"out={quote(text)}") == text


def test_only_path_keys_are_quoted() -> None:
    words = translate(["benchmark.root=a b,c", "baseline=[length,likelihood]", "+note=a,b", "out=plain/path"])
    assert words == ["benchmark.root='a b,c'", "baseline=[length,likelihood]", "+note=a,b", "out=plain/path"]


def test_already_quoted_value_is_left_alone() -> None:
    assert translate(["out='a b'"]) == ["out='a b'"]


def test_in_a_sweep_a_comma_separates_jobs_unless_the_path_exists(tmp_path: Path) -> None:
    there = tmp_path / "a,b"
    there.mkdir()
    words = translate(["-m", f"benchmark.root={there}", "out=x,y"])
    assert words == ["-m", f"benchmark.root={quote(str(there))}", "out=x,y"]


def test_positional_path_with_an_equals_sign(tmp_path: Path) -> None:
    folder = tmp_path / "a=b c"
    folder.mkdir()
    assert translate([str(folder)], positional="dir", verb="report") == [f"dir={quote(str(folder))}"]


def test_value_of_a_flag_is_not_positional() -> None:
    assert translate(["--cfg", "job", "runs/x"], positional="dir", verb="report") == ["--cfg", "job", "dir='runs/x'"]


@pytest.mark.parametrize(("words", "positional"), [(["compset"], ""), (["a", "b"], "dir")])
def test_stray_word_is_refused_with_what_was_typed(words: list[str], positional: str) -> None:
    with pytest.raises(InputError, match=words[-1]):
        translate(words, positional=positional, verb="run")


def test_path_keys() -> None:
    assert [is_path_key(key) for key in ("out", "+benchmark.path", "paths.cache", "benchmark.name")] == [True] * 3 + [
        False
    ]
