"""Bring your own: every format, every guess, every refusal."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.errors import InputError
from benchmarks.preflight import preflight
from benchmarks.schema import Card
from benchmarks.table import Table

CARD = Card("Your own table", "", "", "unknown", "1xT", "accuracy", "Give benchmark.path=FILE.")


def table(tmp_path, text, name="mine.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Table(CARD, path, **options)


def refusal(tmp_path, text, name="mine.csv", **options):
    with pytest.raises(InputError) as caught:
        list(table(tmp_path, text, name, **options))
    return str(caught.value)


def texts(benchmark):
    return [instance.captions for instance in benchmark]


def test_two_columns_are_enough(tmp_path):
    mine = table(tmp_path, "caption,foil\na red cup,a blue cup\n")
    (one,) = mine
    assert one.captions == ("a red cup", "a blue cup")
    assert one.gold.tolist() == [[True, False]]
    assert one.images[0].is_absent
    assert one.id == one.cluster == "line:2"
    assert [again.id for again in mine] == [one.id]
    assert mine.provenance.origin == "table"
    assert mine.provenance.files.keys() == {"mine.csv"}
    assert "caption = caption, foil = foil" in mine.provenance.notices[0]


@pytest.mark.parametrize(
    ("caption", "foil"),
    [("Caption", "FOIL"), ("positive", "negative"), ("true_caption", "false_caption"), (" pos ", "neg"),
     ("Positive Caption", "negative-caption"), ("text", "hard_negative"), ("captions", "neg_captions")],
)  # fmt: skip
def test_common_names_in_any_case(tmp_path, caption, foil):
    assert texts(table(tmp_path, f"{foil},{caption}\nwrong,right\n")) == [("right", "wrong")]


@pytest.mark.parametrize(
    "cell", ["NA", "null", "None", "nan", "1e5", "007", "TRUE", "inf", " x ", "[red]cup[/red]", "[1, 2]", "[]x"]
)
def test_csv_cells_are_text_whatever_they_say(tmp_path, cell):
    assert texts(table(tmp_path, f'caption,foil\n"{cell}",other\n')) == [(cell, "other")]


def test_mark_line_breaks_delimiters_quotes_and_crlf(tmp_path):
    mine = table(tmp_path, '\ufeffcaption,foil\r\n"a ""red"" cup,\r\nhere",b\r\n\r\nc,d\r\n')
    assert texts(mine) == [('a "red" cup,\r\nhere', "b"), ("c", "d")]
    assert [one.id for one in mine] == ["line:2", "line:5"]


@pytest.mark.parametrize(
    ("name", "mark", "given"),
    [
        ("a.tsv", "\t", None),
        ("a.csv", "\t", None),
        ("a.csv", ";", None),
        ("a.csv", "|", "|"),
        ("a.tsv", ",", None),
        ("a.CSV", ",", None),
    ],
)
def test_delimiters(tmp_path, name, mark, given):
    assert texts(table(tmp_path, f"caption{mark}foil\na, b{mark}c\n".replace(", ", " "), name, delimiter=given)) == [
        ("a b", "c")
    ]


def test_typed_formats_agree_with_csv(tmp_path):
    rows = [{"caption": "a", "foil": "b", "subset": "s"}, {"caption": "007", "foil": "NA", "subset": "t"}]
    forms = {
        "m.jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "m.json": json.dumps(rows).encode(),
        "m.csv": b"caption,foil,subset\na,b,s\n007,NA,t\n",
    }
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "m.parquet")
    found = [[(i.captions, i.subset) for i in table(tmp_path, data, name)] for name, data in forms.items()]
    found.append([(i.captions, i.subset) for i in Table(CARD, tmp_path / "m.parquet")])
    assert all(one == [(("a", "b"), "s"), (("007", "NA"), "t")] for one in found)


def test_several_foils_and_positives(tmp_path):
    wide = table(tmp_path, "caption,foil_1,foil_10,foil_2\na,b,d,c\n")
    assert texts(wide) == [("a", "b", "c", "d")]
    cells = table(tmp_path, 'captions,foils\n"[""a"", ""b""]","[\'c\', ""d\'e""]"\n')
    (one,) = cells
    assert one.captions == ("a", "b", "c", "d'e")
    assert one.gold.tolist() == [[True, True, False, False]]
    plus = table(tmp_path, "caption,caption2,negative_caption\na,b,c\n")
    assert [one.gold.tolist() for one in plus] == [[[True, True, False]]]
    ragged = table(tmp_path, "caption,foil_1,foil_2,foil_3\na,b,c,d\ne,f,,\n")
    assert texts(ragged) == [("a", "b", "c", "d"), ("e", "f")]
    lists = table(tmp_path, '{"caption": "a", "foil": ["b", "c"]}\n', "m.jsonl")
    assert texts(lists) == [("a", "b", "c")]
    named = table(tmp_path, "t,x,y\na,b,c\n", caption="t", foil=["x", "y"])
    assert texts(named) == [("a", "b", "c")]


def test_parquet_lists_dictionaries_and_embedded_images(tmp_path):
    columns = {
        "caption": pa.array(["a", "b"]).dictionary_encode(),
        "foil": pa.array([["c"], ["d", "e"]], pa.large_list(pa.large_string())),
        "image": pa.array([{"bytes": b"xx", "path": "p.png"}, {"bytes": b"yy", "path": None}]),
        "n": pa.array([1, 2]),
    }
    pq.write_table(pa.table(columns), tmp_path / "m.parquet")
    first, second = Table(CARD, tmp_path / "m.parquet")
    assert first.captions == ("a", "c")
    assert second.captions == ("b", "d", "e")
    assert (first.images[0].key, first.images[0].data) == ("p.png", b"xx")
    assert second.images[0].key == "row 2/image"


def test_two_images_make_a_square(tmp_path):
    (one,) = table(tmp_path, "caption,foil,image,image_foil,scene\na,b,x.png,y.png,s1\n")
    assert one.gold.tolist() == [[True, False], [False, True]]
    assert [image.key for image in one.images] == ["x.png", "y.png"]
    assert one.images[0].path == tmp_path / "x.png"
    assert one.cluster == "s1"


def test_published_headers_are_understood(tmp_path):
    vismin = "image_path,caption,edited_image_path,edited_caption,edit_id\nx.png,a,y.png,b,e1\n"
    bivlc = "image,caption,negative_caption,negative_image,type,subtype\nx.png,a,b,y.png,replace,obj\n"
    for text in (vismin, bivlc):
        (one,) = table(tmp_path, text)
        assert one.captions == ("a", "b")
        assert [image.key for image in one.images] == ["x.png", "y.png"]
        assert one.gold.tolist() == [[True, False], [False, True]]
    # Two captions that each belong to one of two images must not be read as two positives.
    for suffixes in ((0, 1), (1, 2)):
        head = ",".join(f"{name}_{suffix}" for name in ("caption", "image") for suffix in suffixes)
        assert "looks like the foil" in refusal(tmp_path, f"id,{head}\n1,a,b,x.png,y.png\n")


def test_two_images_and_one_caption_choose_the_image(tmp_path):
    (one,) = table(tmp_path, "caption,image,image_foil\na,x.png,y.png\n")
    assert one.shape == (2, 1)
    assert one.gold.tolist() == [[True], [False]]
    assert one.cluster == "x.png"


def test_image_folders(tmp_path):
    (tmp_path / "pictures").mkdir()
    (one,) = table(tmp_path, "caption,foil,image\na,b,sub/x.png\n", images=tmp_path / "pictures")
    assert one.images[0].path == tmp_path / "pictures" / "sub" / "x.png"
    (one,) = table(tmp_path, f"caption,foil,image\na,b,{tmp_path}/x.png\n")
    assert one.images[0].path == tmp_path / "x.png"
    (one,) = table(tmp_path, "caption,foil,image\na,b,\n")
    assert one.images[0].is_absent
    assert "images" in refusal(tmp_path, "caption,foil\na,b\n", images=tmp_path / "gone")


def test_a_path_starts_from_root(tmp_path):
    table(tmp_path, "caption,foil\na,b\n")
    assert len(list(Table(CARD, "mine.csv", tmp_path))) == 1


def test_other_columns_with_few_values_become_tags(tmp_path):
    head = "caption,foil,kind,comment,constant\n"
    rows = "".join(f"a{i},b,{'xy'[i % 2]},free text {i},same\n" for i in range(30))
    mine = table(tmp_path, head + rows)
    assert {frozenset(one.tags.items()) for one in mine} == {frozenset({("kind", "x")}), frozenset({("kind", "y")})}
    assert all(not one.tags for one in table(tmp_path, head + rows, tags=[]))
    assert next(iter(table(tmp_path, head + rows, tags="comment"))).tags == {"comment": "free text 0"}
    assert "did you mean comment" in refusal(tmp_path, head + rows, tags=["coment"])


def test_numbers_may_label_but_not_caption(tmp_path):
    (one,) = table(tmp_path, '[{"id": 7, "caption": "a", "foil": "b", "subset": 3, "cluster": true}]', "m.json")
    assert (one.id, one.subset, one.cluster) == ("7", "3", "true")
    told = refusal(tmp_path, '[{"caption": "a", "foil": "b"}, {"caption": 7, "foil": "b"}]', "m.json")
    assert "row 2, field 'caption'" in told
    assert "7 (int)" in told


def test_equal_texts_are_kept_and_counted(tmp_path):
    mine = table(tmp_path, "caption,foil\na,a\nb,c\nd,d\n")
    assert len(list(mine)) == 3
    (told,) = [*mine.provenance.notices[1:], *preflight(mine).notices]  # said once, not by both
    assert told.startswith("2 instances have a foil identical to the caption: they can only tie (")


def test_query(tmp_path):
    (one,) = table(tmp_path, "question,caption,foil\nwhich?,a,b\n")
    assert one.query == "which?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ["empty"]),
        ("\n\n", ["no header"]),
        ("caption,foil\n", ["no rows", "header only"]),
        ("captoin,foil\na,b\n", ["no column looks like the caption", "did you mean captoin"]),
        ("caption,fiol\na,b\n", ["no column looks like the foil", "did you mean fiol"]),
        ("caption,image_foil\na,b\n", ["no column looks like the image"]),
        ("caption,Caption,foil\na,b,c\n", ["two columns look like the caption", "benchmark.caption=caption"]),
        ("caption,foil,foil\na,b,c\n", ["two columns have one name", "'foil'"]),
        ("caption,foil\na,b\nc\n", ["line 3", "1 cells", "2 cells"]),
        ("caption,foil\na,b,c\n", ["line 2", "3 cells"]),
        ('caption,foil\n"a"b,c\n', ["line 2", "broken row"]),
        ('caption,foil\nx,y\n"a,b\nc,d\n', ["line 3", "broken row"]),
        ("caption,foil\na,b\n,c\n", ["line 3, field 'caption'", "empty text"]),
        ('caption,foil\n"a\nb",c\nd,\n', ["line 4, field 'foil'", "empty text"]),
        ("id,caption,foil\n1,a,b\n2,c,d\n1,e,f\n", ["line 4", "first in line 2", "'1'"]),
        ("id,caption,foil\n1,a,b\n,c,d\n", ["line 3", "empty id"]),
        ("caption,foil,image,image_foil\na,b,x.png,\n", ["line 2, field 'image_foil'"]),
        ("caption,foil_1,foil_2,image,image_foil\na,b,c,x,y\n", ["line 2", "2 foils"]),
        ("caption,foil_1,foil_2,foil_3\na,b,,d\n", ["line 2, field 'foil_2'", "leave the last columns of a row empty"]),
        ("caption,foil_1,foil_2\na,,c\n", ["line 2, field 'foil_1'", "empty text"]),
        ("caption,foil\na,[]\n", ["line 2", "empty list"]),
        ("caption,foil\na,\"['', 'b']\"\n", ["line 2", "empty text"]),
        (b"caption,foil\na,caf\xe9\n", ["not valid UTF-8", "line 2"]),
        ("id,caption,foil\n" + "x" * 600 + ",a,b\n", ["line 2", "1 to 512"]),
    ],
)  # fmt: skip
def test_refusals_of_a_csv(tmp_path, text, said):
    told = refusal(tmp_path, text)
    assert all(part in told for part in [*said, "mine.csv"]), told


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("m.jsonl", '{"caption": "a", "foil": "b"}\n{"caption": "c"\n', "line 2"),
        ("m.jsonl", '{"caption": "a", "foil": "b"}\n["c"]\n', "line 2"),
        ("m.jsonl", '{"caption": "a", "foil": "b"}\n{"caption": "c"}\n', "line 2, field 'foil'"),
        ("m.jsonl", '{"caption": "a", "foil": null}\n', "line 1, field 'foil'"),
        ("m.jsonl", '{"caption": "a", "foil": ["b", 3]}\n', "3 (int)"),
        ("m.jsonl", '{"id": 1.5, "caption": "a", "foil": "b"}\n', "field 'id'"),
        ("m.json", '{"caption": "a"}', "a JSON list"),
        ("m.parquet", "not parquet", "parquet file cannot be read"),
        ("m.xlsx", "x", "not a table format"),
        ("m", "x", "no suffix"),
    ],
)
def test_refusals_of_other_formats(tmp_path, name, text, said):
    told = refusal(tmp_path, text, name)
    assert said in told
    assert name in told


def test_options_are_checked(tmp_path):
    text = "a,b\nx,y\n"
    assert "did you mean" in refusal(tmp_path, "title,other\nx,y\n", caption="titel", foil="other")
    assert "two roles" in refusal(tmp_path, text, caption="a", foil="a")
    assert "did you mean caption" in refusal(tmp_path, text, captoin="a")
    assert "one character" in refusal(tmp_path, text, delimiter=";;")
    assert "not a column" in refusal(tmp_path, text, caption="a", foil="b", image=["a", "b"])
    with pytest.raises(InputError, match="needs a file"):
        Table(CARD)
    table(tmp_path, text, caption="a", foil="b")
    with pytest.raises(InputError, match="did you mean mine"):
        Table(CARD, tmp_path / "mien.csv")


def test_an_id_column_can_be_ignored(tmp_path):
    mine = table(tmp_path, "id,caption,foil\n1,a,b\n1,c,d\n", id=False)
    assert [one.id for one in mine] == ["line:2", "line:3"]


def test_a_table_that_changed_is_noticed(tmp_path):
    mine = table(tmp_path, "caption,foil\na,b\n")
    (tmp_path / "mine.csv").write_text("caption,foil\nc,d\n")
    with pytest.raises(InputError, match="changed"):
        list(mine)


CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5))
def test_any_text_survives_a_csv_byte_for_byte(tmp_path_factory, rows):
    import csv

    path = tmp_path_factory.mktemp("any") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("caption", "foil"), *rows])
    try:
        found = texts(Table(CARD, path))
    except InputError as error:
        assert any(not cell.strip() for row in rows for cell in row) or "empty list" in str(error)  # noqa: PT017
        return
    if not any(cell.startswith("[") for row in rows for cell in row):
        assert found == rows


@settings(derandomize=True, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["t.csv", "t.tsv", "t.jsonl", "t.json", "t.parquet"]))
def test_any_bytes_are_read_or_refused_by_file(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(data)
    try:
        list(Table(CARD, path))
    except InputError as error:
        assert name in str(error)  # noqa: PT017


def test_gold_belongs_to_the_texts(tmp_path):
    (one,) = table(tmp_path, "captions,foils\n\"['a', 'b']\",\"['c']\"\n")
    assert {t for t, right in zip(one.captions, one.gold[0], strict=True) if right} == {"a", "b"}
    assert one.gold.dtype == np.bool_
