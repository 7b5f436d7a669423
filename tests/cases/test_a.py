"""Area A of the public fault reports: benchmark data files. One test per entry, and its siblings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import hub
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.images import ImageRef
from benchmarks.overlay import Corrected, Correction, content_key
from benchmarks.preflight import missing_images, preflight
from benchmarks.schema import Card, Instance, Provenance
from benchmarks.sources import Wanted, locate
from benchmarks.sugarcrepe import SugarCrepe
from benchmarks.table import Table

ROOT = Path(__file__).resolve().parents[2]
DEMO = Card("Demo", "demo", "", "MIT", "1x2", "accuracy", "Fetch demo.json.", expected={"demo": 4})
ROW = {"filename": "1.jpg", "caption": "a", "negative_caption": "b"}


def crate(folder, rows):
    (folder / "demo.json").write_text(json.dumps(rows), encoding="utf-8")
    return SugarCrepe(DEMO, folder)


def test_a2_ids_are_string_keys_with_a_hole(tmp_path):
    mine = crate(tmp_path, {"0": ROW, "2": ROW, "10": ROW})
    assert [one.id for one in mine] == ["demo:0", "demo:2", "demo:10"]
    assert len(mine.provenance.files["demo.json"]) == 64
    found = preflight(mine, mine.card.expected)
    assert found.n == 3
    # the report then says "demo 3 (expected 4)", see test_absent_parts_and_wrong_counts_are_told_apart
    assert (found.subsets, mine.card.expected) == ({"demo": 3}, {"demo": 4})


def test_a2_sibling_the_order_of_the_file_does_not_matter(tmp_path):
    keys = ["10", "9", "0", "108", "11"]
    assert [one.id for one in crate(tmp_path, dict.fromkeys(keys, ROW))] == [
        f"demo:{key}" for key in ("0", "9", "10", "11", "108")
    ]


def test_a2_sibling_a_stray_key_is_no_item(tmp_path):
    with pytest.raises(InputError, match="key 'accuracy'"):
        list(crate(tmp_path, {"0": ROW, "accuracy": 0.8577}))


class Rows(list):
    card = DEMO
    provenance = Provenance("root", "x")


def answer(query, right):
    gold = np.array([[text == right for text in ("(a)", "(b)")]])
    return Instance(query, (ImageRef(f"{query}.png", data=query.encode()),), ("(a)", "(b)"), gold, query=query)


def test_a3_wrong_gold_labels_and_reports_that_disagree_on_numbering():
    rows = Rows([answer("q1", "(a)"), answer("q2", "(b)")])
    # "Row 1, (a) becomes (b)" counts from 1 and means q1; applied to a list that counts from 0 it hits q2.
    for content in (content_key(rows[0]), content_key(rows[1])):
        with pytest.raises(InputError) as caught:
            list(Corrected(rows, [Correction(content, ("(a)",), ("(b)",), 1)]))
        told = str(caught.value)
        assert "'(a)'" in told
    assert "row 1 (counted from 0)" in told
    assert "right in the release: ['(b)']" in told
    assert [one.gold.tolist() for one in rows] == [[[True, False]], [[False, True]]]


def test_a5_image_links_die(tmp_path):
    for number in range(7):
        (tmp_path / f"{number}.png").write_bytes(b"x")
    lines = "".join(f"r{n},a,b,{n}.png\n" for n in range(10))
    (tmp_path / "t.csv").write_text(f"id,caption,foil,image\n{lines}")
    found = missing_images(Table(DEMO, tmp_path / "t.csv"))
    assert found.share == 0.7
    assert found.missing == ("r7", "r8", "r9")


def test_a6_dataset_loading_scripts_no_longer_run(tmp_path):
    (tmp_path / "demo.py").write_text("raise SystemExit('run')")
    (tmp_path / "README.md").write_text("read me")
    with pytest.raises(NotAvailableError) as caught:
        locate(DEMO, tmp_path, Wanted(("demo.json",)))
    assert caught.value.status == "script-only"
    assert "fetch demo.json and put it into" in caught.value.step
    assert str(tmp_path) in caught.value.step


def gated(monkeypatch, answer):
    def snapshot_download(*_, local_files_only=False, **__):
        if local_files_only:
            raise hub.LocalEntryNotFoundError("nothing cached")
        raise answer

    monkeypatch.setattr(hub.huggingface_hub, "snapshot_download", snapshot_download)
    monkeypatch.setattr(hub, "probe", lambda *_, **__: "")
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    card = Card("Demo", "d", "", "own", "2x2", "group", "Ask.", hub="org/demo", revision="main", gated=True)
    with pytest.raises(NotAvailableError) as caught:
        locate(card, None, Wanted(("demo.json",)))
    return caught.value


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a7_a_gated_dataset_looks_as_if_it_did_not_exist(monkeypatch, code):
    class Response:
        status_code, headers, request = code, {}, None

    error = gated(monkeypatch, hub.HfHubHTTPError("no", response=Response()))
    assert error.status == "gated"
    assert "accept the terms at" in error.step
    assert "/datasets/org/demo" in error.step


TEXT = "a café sign – “open”"
SCRIPT = """
import locale, sys
from benchmarks.schema import Card
from benchmarks.sugarcrepe import SugarCrepe
from benchmarks.table import Table
card = Card("Demo", "d", "", "MIT", "1x2", "accuracy", "x", expected={"demo": 1})
for mine in (SugarCrepe(card, sys.argv[1]), Table(card, sys.argv[1] + "/t.csv"), Table(card, sys.argv[1] + "/t.jsonl")):
    print(ascii([one.captions[0] for one in mine]))
print(locale.getpreferredencoding(False))
"""


def test_a8_text_files_read_with_the_system_code_page(tmp_path):
    mark = b"\xef\xbb\xbf"
    row = ROW | {"caption": TEXT}
    (tmp_path / "demo.json").write_bytes(mark + json.dumps({"0": row}, ensure_ascii=False).encode())
    (tmp_path / "t.csv").write_bytes(mark + f'caption,foil\n"{TEXT}",b\n'.encode())
    (tmp_path / "t.jsonl").write_bytes(mark + json.dumps({"caption": TEXT, "foil": "b"}, ensure_ascii=False).encode())
    # The C locale without UTF-8 mode makes the platform's default ASCII, stricter than any code page.
    env = os.environ | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], env=env, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    *found, encoding = done.stdout.split("\n")[:4]
    assert encoding.upper().replace("-", "") != "UTF8"
    assert found == [ascii([TEXT])] * 3


def test_a8_sibling_a_code_page_file_is_refused_not_garbled(tmp_path):
    (tmp_path / "demo.json").write_bytes(
        json.dumps({"0": ROW | {"caption": TEXT}}, ensure_ascii=False).encode("cp1252")
    )
    with pytest.raises(InputError, match="not valid UTF-8"):
        list(SugarCrepe(DEMO, tmp_path))


def test_a12_several_correct_captions_per_image(tmp_path):
    (tmp_path / "t.csv").write_text("caption,caption2,negative_caption\np1,p2,n\n")
    (one,) = Table(DEMO, tmp_path / "t.csv")
    assert one.captions == ("p1", "p2", "n")
    assert one.gold.tolist() == [[True, True, False]]
