"""CompoSET's release layout, the order in which it is looked for, and the sample that stands in."""

from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import compset, hub, sources
from benchmarks.compset import CompoSET
from benchmarks.errors import InputError, NotAvailableError
from benchmarks.schema import Card, Shape
from benchmarks.tableaux import bundle, release

EXPECTED = {"modify_color": 3, "modify_cardinality": 3, "swap_role": 3}
CARD = Card(
    "CompoSET", "composet", "", "CC BY 4.0", "2x2", "group", "Fetch it.", hub="o/d", revision="main", expected=EXPECTED
)


def variation(scene, number, kind, **fields):
    captions = {tier: {"base": f"{tier} a", "var": f"{tier} b"} for tier in ("short", "medium", "long")}
    return {
        "id": f"{scene}_v{number:02d}",
        "scene_id": scene,
        "edit_type": kind,
        "image_base": f"images/{scene}_base.png",
        "image_var": f"images/{scene}_v{number:02d}.png",
        "captions": captions,
    } | fields


ROWS = [
    variation("s002", 1, "swap_role"),
    variation("s001", 1, "modify_color"),
    variation("s001", 2, "modify_count"),
]
SCENE = {"scene_id": "s001", "setting": "diner", "setting_category": "indoor", "framing": "wide", "n_variations": 2}


def write(folder, rows=ROWS, scenes=(SCENE,)):
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), folder / "variations.parquet")
    if scenes:
        pq.write_table(pa.Table.from_pylist(list(scenes)), folder / "scenes.parquet")
    return folder


@pytest.fixture
def no_hub(monkeypatch):
    def fetch(card, patterns, required):
        raise NotAvailableError("the hub cannot be reached", status="unreachable", got="no answer within 4 s")

    monkeypatch.setattr(hub, "fetch", fetch)


@pytest.fixture
def generator(monkeypatch):
    """Stand for the generator: the two functions that the parser calls, with a real table behind them."""
    calls = SimpleNamespace(specified=[], written=[])

    def specification(scenes=40, seed=0, shortcut="none", strength=0.0):
        calls.specified.append((scenes, seed, shortcut, strength))
        return SimpleNamespace(digest=f"{scenes:08d}{seed:08d}ffff")

    def draw(spec, out):
        calls.written.append(out)
        write(out)

    monkeypatch.setattr(bundle, "specification", specification)
    monkeypatch.setattr(release, "write", draw)
    return calls


def test_one_instance_per_variation_and_tier(tmp_path):
    mine = CompoSET(CARD, write(tmp_path))
    ids = [one.id for one in mine]
    assert ids[:4] == ["s002_v01:short", "s002_v01:medium", "s002_v01:long", "s001_v01:short"]
    assert ids == [one.id for one in mine]
    assert len(ids) == 9
    one = list(mine)[3]
    assert one.shape == Shape(2, 2)
    assert one.gold.tolist() == [[True, False], [False, True]]
    assert one.captions == ("short a", "short b")
    assert [image.key for image in one.images] == ["images/s001_base.png", "images/s001_v01.png"]
    assert one.images[1].path == tmp_path / "images" / "s001_v01.png"
    assert (one.subset, one.cluster) == ("modify_color", "s001")
    assert one.tags == {
        "tier": "short", "edit_type": "modify_color", "category": "identity", "setting": "indoor", "framing": "wide",
    }  # fmt: skip
    assert next(iter(mine)).tags == {"tier": "short", "edit_type": "swap_role", "category": "activity"}
    assert mine.provenance.origin == "root"
    assert mine.provenance.absent == ("scene_captions.parquet",)
    assert mine.card.expected == EXPECTED


def test_the_papers_name_is_an_alias_in_the_file_and_in_the_option(tmp_path):
    write(tmp_path)
    for name in ("modify_count", "modify_cardinality"):
        mine = CompoSET(CARD, tmp_path, subsets=[name], tiers="long")
        assert [(one.id, one.subset) for one in mine] == [("s001_v02:long", "modify_cardinality")]
        assert mine.card.expected == {"modify_cardinality": 1}


def test_misspelt_options_are_refused(tmp_path):
    write(tmp_path)
    for options, said in (
        ({"subsets": ["modify_colour"]}, "did you mean modify_color"),
        ({"tiers": ["shrot"]}, "did you mean short"),
        ({"source": "releas"}, "did you mean release"),
        ({"source": "sample"}, "exclude each other"),
    ):
        with pytest.raises(InputError, match=said):
            CompoSET(CARD, tmp_path, **options)


@pytest.mark.usefixtures("no_hub")
def test_the_sample_stands_in_and_says_so(tmp_path, generator):
    mine = CompoSET(CARD, cache=tmp_path, sample={"scenes": 41, "seed": 7})
    assert generator.specified == [(41, 7, "none", 0.0)]
    folder = tmp_path / "tableaux" / "000000410000"
    assert generator.written == [folder]
    assert mine.provenance.origin == "sample"
    assert mine.provenance.revision == "0000004100000007ffff"
    assert mine.provenance.notices[0].startswith("This is the bundled sample drawn by our own generator, not the ")
    assert "the hub cannot be reached (no answer within 4 s)" in mine.provenance.notices[0]
    assert mine.card.expected == {}
    assert len(list(mine)) == 9
    CompoSET(CARD, cache=tmp_path, sample={"scenes": 41, "seed": 7})
    assert len(generator.written) == 1


def test_the_real_sample_is_read_back_whole(tmp_path):
    types = {f"{verb}_{aspect}" for aspect in compset.CATEGORY for verb in ("modify", "swap")}
    card = Card("CompoSET", "composet", "", "", "2x2", "group", "", expected=dict.fromkeys(sorted(types), 1))
    mine = CompoSET(card, cache=tmp_path, source="sample", sample={"scenes": 3})
    found = list(mine)
    assert len({one.cluster for one in found}) == 3
    assert len(found) % 3 == 0
    assert {one.tags["tier"] for one in found} == {"short", "medium", "long"}
    assert all(set(one.tags) >= {"tier", "edit_type", "category", "setting", "framing"} for one in found)
    assert mine.provenance.absent == ()


@pytest.mark.usefixtures("no_hub")
def test_a_misspelt_sample_option_is_refused(tmp_path, generator):
    with pytest.raises(InputError, match="did you mean scenes"):
        CompoSET(CARD, cache=tmp_path, sample={"scene": 41})
    assert not generator.written


def test_the_sample_alone_asks_no_hub(tmp_path, generator, monkeypatch):
    monkeypatch.setattr(hub, "fetch", lambda *_: pytest.fail("the hub was asked"))
    assert CompoSET(CARD, cache=tmp_path, source="sample").provenance.origin == "sample"


@pytest.mark.usefixtures("no_hub")
def test_source_release_turns_the_sample_off(tmp_path, generator):
    with pytest.raises(NotAvailableError):
        CompoSET(CARD, cache=tmp_path, source="release")
    assert not generator.written


@pytest.mark.usefixtures("no_hub")
def test_a_wrong_root_never_falls_back(tmp_path, generator):
    for root in (tmp_path, tmp_path / "gone"):
        with pytest.raises(NotAvailableError, match=r"variations\.parquet|no such folder"):
            CompoSET(CARD, root, cache=tmp_path)
    write(tmp_path / "part").joinpath("variations.parquet").unlink()
    with pytest.raises(NotAvailableError, match=r"variations\.parquet"):
        CompoSET(CARD, tmp_path / "part", cache=tmp_path)
    assert not generator.written


def test_the_hub_comes_before_the_sample(tmp_path, generator, monkeypatch):
    seen = []
    found = hub.Fetched(write(tmp_path), "c" * 40)
    monkeypatch.setattr(hub, "fetch", lambda _, patterns, __: seen.append(patterns) or found)
    mine = CompoSET(CARD)
    assert (mine.provenance.origin, mine.provenance.revision) == ("hub", "c" * 40)
    assert "c" * 40 in mine.provenance.notices[0]
    CompoSET(CARD, fetch_images=True)
    assert [("images/*" in patterns) for patterns in seen] == [False, True]
    assert not generator.written


def test_two_processes_may_draw_at_once(tmp_path, generator, monkeypatch):
    def lost_the_race(spec, out):
        write(out)
        raise InputError("the folder is not empty", where=str(out))

    monkeypatch.setattr(release, "write", lost_the_race)
    assert len(list(CompoSET(CARD, cache=tmp_path, source="sample"))) == 9
    monkeypatch.setattr(release, "write", lambda spec, out: (_ for _ in ()).throw(InputError("disk full")))
    with pytest.raises(InputError, match="disk full"):
        CompoSET(CARD, cache=tmp_path / "other", source="sample")


def test_a_broken_download_is_no_reason_for_the_sample(tmp_path, generator, monkeypatch):
    monkeypatch.setattr(hub, "fetch", lambda *_: hub.Fetched(write(tmp_path), "c" * 40))
    pinned = sources.card(
        {name: getattr(CARD, name) for name in CARD.__slots__} | {"files": {"variations.parquet": "0" * 64}}
    )
    with pytest.raises(InputError, match="not the pinned one"):
        CompoSET(pinned)
    assert not generator.written


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": None}, "field 'id'"),
        ({"id": ""}, "field 'id'"),
        ({"scene_id": ""}, "field 'scene_id'"),
        ({"edit_type": "modify_colour"}, "field 'edit_type'"),
        ({"edit_type": "paint_color"}, "field 'edit_type'"),
        ({"image_var": "../x.png"}, "field 'image_var'"),
        ({"image_base": "/x.png"}, "field 'image_base'"),
        ({"captions": None}, "field 'captions'"),
        ({"captions": {"short": {"base": "a", "var": "b"}}}, "captions.medium"),
        ({"captions": {t: {"base": "a", "var": ""} for t in ("short", "medium", "long")}}, "captions.short.var"),
        ({"id": "x" * 600}, "1 to 512"),
    ],
)
def test_a_broken_row_is_refused_by_file_row_and_field(tmp_path, change, said):
    write(tmp_path, [variation("s001", 1, "modify_color"), variation("s001", 2, "modify_color", **change)])
    with pytest.raises(InputError) as caught:
        list(CompoSET(CARD, tmp_path))
    for part in ("variations.parquet", "row 2", said):
        assert part in str(caught.value)


def test_a_missing_column_and_a_broken_file(tmp_path):
    row = {name: value for name, value in ROWS[0].items() if name != "scene_id"}
    with pytest.raises(InputError, match="field 'scene_id'"):
        list(CompoSET(CARD, write(tmp_path, [row])))
    data = (tmp_path / "variations.parquet").read_bytes()
    (tmp_path / "variations.parquet").write_bytes(data[:-10])
    with pytest.raises(InputError, match="parquet"):
        list(CompoSET(CARD, tmp_path))
