"""Reading text and JSON: what is accepted, and what every refusal names."""

import hashlib
import json

import pytest

from benchmarks import files
from benchmarks.errors import InputError
from benchmarks.files import Spot


def write(tmp_path, data, name="a.json"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_a_byte_order_mark_is_dropped_once(tmp_path):
    path = write(tmp_path, b"\xef\xbb\xbf" + '["\ufeffx"]'.encode())
    assert files.read_json(path) == ["\ufeffx"]


@pytest.mark.parametrize("size", [3, files.CHUNK - 1, files.CHUNK, files.CHUNK + 1])
def test_text_is_checked_in_pieces_that_may_split_a_letter(tmp_path, size):
    data = b"a" * size + "é\n–".encode()
    path = write(tmp_path, data)
    assert files.check_text(path) == files.digest(path) == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("size", [0, 3, files.CHUNK - 1, files.CHUNK])
def test_a_broken_byte_is_named_by_line_and_offset(tmp_path, size):
    # One line break, then `size` letters, then the byte: line 2, offset 1 + size.
    path = write(tmp_path, b"\n" + b"a" * size + b"\xe9 and more")
    for read in (files.check_text, files.read_text):
        with pytest.raises(InputError, match=f"line 2, byte {size + 1}") as caught:
            read(path)
        assert "0xe9" in str(caught.value)
        assert str(path) in str(caught.value)


def test_text_that_ends_inside_a_letter_is_refused(tmp_path):
    path = write(tmp_path, "ab–".encode()[:-1])
    with pytest.raises(InputError, match="byte 2"):
        files.check_text(path)


def test_other_encodings_are_refused_not_guessed(tmp_path):
    for encoding in ("cp1252", "utf-16"):
        with pytest.raises(InputError, match="not valid UTF-8"):
            files.read_json(write(tmp_path, '{"a": "café"}'.encode(encoding)))


def test_an_empty_file_a_folder_and_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="empty"):
        files.check_text(write(tmp_path, b""))
    for path in (tmp_path, tmp_path / "gone.json"):
        with pytest.raises(InputError, match=path.name):
            files.read_json(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ('{"x": {"a": 1, "b": 2, "a": 1}}', "the key 'a' stands twice"),
        ('{"a": NaN}', "NaN"),
        ("[-Infinity]", "-Infinity"),
        ("[1e999]", "1e999"),
        ('{"a": 1', "the text ends there"),
        ('{"a": "b', "Unterminated"),
        ('{"a": 1}\n{"b": 2}', "line 2, column 1"),
        ("[1,\n 2,,]", "line 2, column 4"),
        ("", "line 1, column 1"),
        ("{'a': 1}", "line 1, column 2"),
        ("[" * 100_000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "not valid JSON"),
        ('["a\tb"]', "control character"),
    ],
)
def test_strict_json(tmp_path, text, said):
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        files.read_json(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_file_that_changed_is_noticed(tmp_path):
    path = write(tmp_path, "{}")
    seen = files.digest(path)
    assert files.read_json(path, expect=seen) == {}
    path.write_text("[]")
    with pytest.raises(InputError, match="changed"):
        files.read_json(path, expect=seen)


def test_json_lines_keep_their_numbers(tmp_path):
    path = write(tmp_path, '\ufeff{"a": "x\u2028y"}\r\n\n{"a": 2}')
    assert list(files.read_jsonl(path)) == [(1, {"a": "x\u2028y"}), (3, {"a": 2})]
    with pytest.raises(InputError, match="line 2"):
        list(files.read_jsonl(write(tmp_path, '{"a": 1}\n{"a": \n{"a": 3}')))


@pytest.mark.parametrize(
    "text", ["NA", "null", "None", "nan", "1e5", "007", "TRUE", "-", " x ", "\u00a0x", "a\nb", "0"]
)
def test_text_is_text_whatever_it_says(text):
    assert files.need_text({"a": text}, "a", Spot("f")) == text


@pytest.mark.parametrize("value", ["", " ", "\n\t", "\u2003", None, 1, 1.5, True, ["a"], {"a": 1}, "\ud800", b"a"])
def test_what_is_not_text_is_refused(value):
    with pytest.raises(InputError, match=r"f, row 3, field 'a'"):
        files.need_text({"a": value}, "a", Spot("f", "row 3"))


def test_a_missing_field_names_the_nearest():
    with pytest.raises(InputError, match="did you mean captoin"):
        files.need_text({"captoin": "x"}, "caption", Spot("f"))


def test_messages_can_always_be_printed_and_are_short():
    for value in ("\ud800" * 3, "x" * 10_000, json.loads("1" + "0" * 4000), None, [1], 2.5):
        told = files.shown(value)
        told.encode("utf-8")
        assert len(told) < 200
