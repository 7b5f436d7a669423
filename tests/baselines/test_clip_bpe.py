"""The CLIP tokenizer against the one that open_clip ships."""

import json
from pathlib import Path

import pytest

from baselines.language.clip_bpe import ClipBpe, clean

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ODD = [
    "",
    " ",
    "a café sign – “open”",
    "日本語 text",
    "I'll won't YOU'RE 's dog's",
    "x<start_of_text>y <END_OF_TEXT>",
    "🙂🙂 a_b--c 3.14 1,000",
    "&lt;b&gt; &amp;amp; Tom &amp; Jerry",
    "İstanbul ẞ ñ\u0301 \u200d \u00a0 x",
    "a\tb\nc\r\nd",
    "schÃ¶n",
    "!!! ??? ... ;-)",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "ᾳ ﬁ ① Ⅷ ½",
]


@pytest.fixture(scope="module")
def oracle():
    from open_clip.tokenizer import SimpleTokenizer

    return SimpleTokenizer().encode


def test_odd_texts_have_the_ids_of_open_clip(oracle):
    assert ClipBpe().encode(ODD) == [oracle(text) for text in ODD]


@pytest.mark.real_data
def test_real_captions_have_the_ids_of_open_clip(oracle):
    files = sorted((DATA / "sugar-crepe" / "data").glob("*.json")) if DATA.is_dir() else []
    if not files:
        pytest.skip(f"the released files are not in {DATA}")
    rows = [row for path in files for row in json.loads(path.read_text(encoding="utf-8")).values()]
    texts = list(dict.fromkeys(row[side] for row in rows for side in ("caption", "negative_caption")))
    assert len(texts) == 11844
    assert ClipBpe().encode(texts) == [oracle(text) for text in texts]


def test_cleaning_by_hand():
    assert clean("  A  &amp;amp;\tB ") == "a & b"
    assert clean("schÃ¶n") == "schön"
