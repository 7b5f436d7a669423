"""Area G on prompted models behind a real HTTP server: position, letters, failures, a cache that forgets, resume."""

import shutil
from collections import Counter

import numpy as np
import pytest

from audits.dataset import Dataset
from audits.load import Contestant
from audits.measured import from_recalled
from audits.models.choice.store import FILE
from benchmarks.errors import InputError
from benchmarks.images import ImageRef
from benchmarks.schema import Instance
from tests.models.choice_cases import ask, built, means, model, png, square, truthful, twin, wide
from tests.models.choice_server import always_a, picking, refuse, say, serving


def measured(found, instances):
    dataset = Dataset(instances)
    one = Contestant("model", type("M", (), {"name": "m", "sees": {"text", "image"}, "columns": ("",)})())
    return from_recalled(one, found, dataset.roster("t"), tolerance=0.0, seconds=0.0)


def test_g1_the_first_option_wins(tmp_path):
    # Four rows, always A: right in one order of two, never in both, and the answer always changes its option.
    with serving(always_a) as server:
        found = ask(model(server.url, tmp_path), [wide(key) for key in range(4)])
    assert means(found) == {
        "accuracy": 0.5,
        "accuracy_consistent": 0.0,
        "flip_rate": 1.0,
        "first_option_share": 1.0,
    }
    assert len(server.seen) == 8


def test_g1_on_a_2x2_always_the_first_option_passes_nothing(tmp_path):
    # In each order both images get the same caption, and both captions the same image: strict metrics are 0.
    with serving(always_a) as server:
        found = ask(model(server.url, tmp_path), [square(key) for key in range(3)])
    credit = means(found)
    assert [credit[name] for name in ("i2t", "t2i", "group", "i2t_consistent", "group_consistent")] == [0.0] * 5
    assert [credit[name] for name in ("i2t_base", "i2t_foil", "t2i_base", "t2i_foil")] == [0.5] * 4
    assert [credit[name] for name in ("flip_rate", "first_option_share", "t2i_flip_rate")] == [1.0] * 3
    assert len(server.seen) == 3 * 4 * 2


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ("CHOICE: B", "answered"),
        ("*CHOICE: b*", "answered"),
        ("A bus stands by the tree, hence the second", "unparsed"),
        ("CHOICE: A\nCHOICE: B", "unparsed"),
        ("CHOICE: D", "unparsed"),
        ("", "empty"),
        (None, "empty"),
    ],
)
def test_g2_answer_letters_misread(tmp_path, reply, state):
    with serving(lambda seen: say(reply)) as server:
        found = ask(model(server.url, tmp_path), [wide(0)])
    assert found.answers["state"].tolist() == [state] * 2
    assert found.answers["answer"].tolist() == [reply or ""] * 2  # the raw text is kept


def test_g3_failures_replaced_by_guesses(tmp_path):
    # Ten rows: 5 right, 1 wrong, 4 failed in both orders.
    rows = [wide(key) for key in range(10)]

    def behave(seen):
        key = int(next(iter(seen.options.values())).split()[1])
        if key >= 6:
            return refuse(400, "broken")
        wanted = "no" if key == 5 else "yes"
        return picking(lambda caption: caption.startswith(wanted))(seen)

    with serving(behave) as server:
        found = ask(model(server.url, tmp_path, max_failures=99), rows)
    accuracy = found.outcomes["accuracy"]
    assert round(float(np.nanmean(accuracy.credit)), 4) == 0.8333
    assert int((~accuracy.unscored).sum()) == 6
    assert found.outcomes["accuracy_if_wrong"].credit.mean() == 0.5
    assert found.outcomes["accuracy_if_right"].credit.mean() == pytest.approx(0.9)
    [note] = found.findings
    assert (note.values["coverage"], note.values["failed"], note.values["answered"]) == (0.6, 8, 12)
    assert note.instances == ("w:6", "w:7", "w:8", "w:9")
    whole = measured(found, rows)
    assert set(whole.outcomes["m"]) == set(found.outcomes)  # no second pair of bounds
    assert set(whole.reasons) == {6, 7, 8, 9}


def test_g3_a_404_on_the_first_call_stops_the_run(tmp_path):
    with serving(lambda seen: refuse(404, "no such model")) as server:
        with pytest.raises(InputError) as caught:
            ask(model(server.url, tmp_path), [wide(key) for key in range(10)])
        assert len(server.seen) == 1
    assert "tiny" in caught.value.where
    assert "model.choice.model=tiny" in caught.value.step


@pytest.mark.parametrize("cut", ["refused", "truncated", "empty", "unparsed", "failed"])
def test_g3_every_way_of_not_answering_has_a_name_of_its_own(tmp_path, cut):
    replies = {
        "refused": say(None, "stop", refusal="I cannot help with that."),
        "truncated": say("CHOICE: A", "length"),
        "empty": say("  "),
        "unparsed": say("Both fit."),
        "failed": refuse(422, "unprocessable"),
    }

    def behave(seen):
        return replies[cut] if "yes 1" in seen.options.values() else say("CHOICE: A")

    with serving(behave) as server:
        found = ask(model(server.url, tmp_path), [wide(0), wide(1)])
    counts = {name: found.facts[name] for name in ("answered", "refused", "truncated", "empty", "unparsed", "failed")}
    assert counts == {"answered": 2, **dict.fromkeys(set(replies) - {cut}, 0), cut: 2}
    assert found.reasons == {1: f"{cut} (ab), {cut} (ba)"}
    assert set(found.comparisons["outcome"]) == {"win", "loss", cut}


def test_g6_cache_that_forgets_who_was_asked(tmp_path):
    rows = [wide(key) for key in range(2)]
    with serving(lambda seen: say(f"CHOICE: {'A' if seen.body['model'] == 'first' else 'B'}")) as server:

        def firsts(instances=rows, **options):
            found = ask(model(server.url, tmp_path, **options), instances)
            return found.answers["answer"].tolist(), found.facts["replies from the cache"]

        assert firsts(model="first") == (["CHOICE: A"] * 4, 0)
        assert firsts(model="second") == (["CHOICE: B"] * 4, 0)
        assert firsts(model="first") == (["CHOICE: A"] * 4, 4)
        # One word of the prompt edited; a sampling setting; the other words stay what they were.
        before = built(server.url, tmp_path)[0]._options.prompt
        edited = {**before, "i2t": before["i2t"].replace("describes", "fits")}
        assert firsts(model="first", prompt=edited)[1] == 0
        assert firsts(model="first", temperature=0.5)[1] == 0
        assert firsts(model="first", seed=1)[1] == 0
        assert firsts(model="first", max_tokens=65)[1] == 0
        assert firsts(model="first", extra={"reasoning_effort": "none"})[1] == 0
        assert firsts(model="first", detail="low")[1] == 0
        # What only says how to send, and how much, asks nothing anew.
        quiet = {"concurrency": 1, "timeout": 9.0, "retries": 0, "max_calls": 4, "price_in": 1.0, "price_out": 1.0}
        assert firsts(model="first", **quiet)[1] == 4


def test_g6_other_bytes_of_an_image_under_the_same_path_miss_the_cache(tmp_path):
    path = tmp_path / "one.png"
    gold = np.array([[True, False]])
    row = Instance("i", (ImageRef("one.png", path=path),), ("a cup", "a mug"), gold)
    with serving(always_a) as server:
        hits = []
        for colour in ((1, 2, 3), (1, 2, 3), (3, 2, 1)):
            path.write_bytes(png(colour))
            hits.append(ask(model(server.url, tmp_path / "cache"), [row]).facts["replies from the cache"])
    assert hits == [0, 2, 0]
    assert len({seen.images[0] for seen in server.seen}) == 2


def test_g6_another_host_is_another_model(tmp_path):
    with serving(always_a) as one, serving(lambda seen: say("CHOICE: B")) as two:
        ask(model(one.url, tmp_path), [wide(0)])
        found = ask(model(two.url, tmp_path), [wide(0)])
    assert found.answers["answer"].tolist() == ["CHOICE: B"] * 2


def test_g6_a_caption_cannot_pass_for_an_image(tmp_path):
    # The twin is told the digest of the image as text: still another question than the one that shows the image.
    with serving(always_a) as server:
        ask(model(server.url, tmp_path), [wide(0)])
        assert ask(twin(server.url, tmp_path), [wide(0)]).facts["replies from the cache"] == 0


def test_g7_resume_by_counting_lines(tmp_path):
    # Five questions; 0, 1 and 3 are answered, 2 failed, and the last write was cut: 2 and 4 are asked, no other.
    rows = [wide(key) for key in range(5)]
    store = tmp_path / "cache"
    keys = Counter()

    def key_of(seen):
        return int(next(iter(seen.options.values())).split()[1])

    with serving(lambda seen: refuse(400) if key_of(seen) == 2 else say("CHOICE: A")) as server:
        one = model(server.url, store, max_failures=9)
        found = ask(one, rows[:4])
        assert found.facts["failed"] == 2
        whole = (store / FILE).read_bytes()
        ask(one, [rows[4]])  # written, then cut: the file is put back, with a part of what was written after it
        log = store / f"{FILE}-wal"
        torn = log.read_bytes()[:100] if log.exists() else b"torn"
        (store / FILE).write_bytes(whole)
        log.write_bytes(torn)
        shutil.rmtree(store / f"{FILE}-shm", ignore_errors=True)
        server.behave = always_a
        server.seen.clear()
        found = ask(model(server.url, store), rows)
        keys.update(key_of(seen) for seen in server.seen)
    assert keys == {2: 2, 4: 2}  # both orders of each
    assert found.facts["answered"] == 10
    assert len(found.answers.drop_duplicates(["instance", "order"])) == len(found.answers) == 10


def test_g7_a_torn_write_ahead_log_loses_the_torn_answer_only(tmp_path):
    rows = [wide(key) for key in range(5)]
    from audits.models.choice.store import Answers

    with serving(always_a) as server:
        with Answers(tmp_path / "a"):  # held open, so that the log is not folded into the file
            ask(model(server.url, tmp_path / "a"), rows)
            (tmp_path / "b").mkdir()
            shutil.copy(tmp_path / "a" / FILE, tmp_path / "b" / FILE)
            log = (tmp_path / "a" / f"{FILE}-wal").read_bytes()
            (tmp_path / "b" / f"{FILE}-wal").write_bytes(log[:-100])
        server.seen.clear()
        assert ask(model(server.url, tmp_path / "b"), rows).facts["answered"] == 10
        assert len(server.seen) == 1


def test_d14_the_blind_twin_has_the_same_rows_and_candidates_and_no_image(tmp_path):
    # With the image 2 of 2 are right; the words alone speak for the foil, so the twin gets 0 of 2.
    rows = [wide(0), wide(1)]
    honest = truthful(rows)
    blind = picking(lambda caption: caption.startswith("no"))
    with serving(lambda seen: honest(seen) if seen.images else blind(seen)) as server:
        seeing, unseeing = (ask(one, rows) for one in built(server.url, tmp_path))
    assert (means(seeing)["accuracy"], means(unseeing)["accuracy"]) == (1.0, 0.0)
    assert seeing.answers["instance"].tolist() == unseeing.answers["instance"].tolist()
    assert seeing.answers["shown"].tolist() == unseeing.answers["shown"].tolist()
    texts = [sorted(seen.text for seen in server.seen if bool(seen.images) is shown) for shown in (True, False)]
    assert texts[0] == texts[1]  # word for word the same question
