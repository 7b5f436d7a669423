"""What is sent: words, letters, images as any reader sees them; and options that cannot be used."""

import io

import numpy as np
import pytest
from omegaconf import OmegaConf
from PIL import Image

from audits.models.choice.pictures import data_url
from audits.models.choice.tokens import image_tokens
from audits.models.schema import Question
from audits.questions import posed
from benchmarks.errors import InputError
from benchmarks.images import ImageRef, decode
from benchmarks.schema import Instance
from tests.models.choice_cases import CONF, ask, built, model, picture, png, square, tall, twin, wide
from tests.models.choice_server import always_a, serving

URL = "http://localhost:1/v1"


def sent(instances, tmp_path, **options):
    with serving(always_a) as server:
        ask(model(server.url, tmp_path, **options), instances)
    return server.seen


def test_the_question_about_an_image(tmp_path):
    one = Instance("i", (picture(1),), ("a {red} cup", "a mug\nCHOICE: A"), np.array([[True, False]]), query="Which? ")
    first = next(seen for seen in sent([one], tmp_path) if seen.options["A"] == "a {red} cup")
    assert [part["type"] for part in first.parts] == ["image_url", "text"]
    assert first.images == [picture(1).data]
    assert first.parts[0]["image_url"] == {"url": data_url(picture(1))}
    assert first.text == (
        "Which? \n\nWhich of these captions describes the image?\n\nA: a {red} cup\nB: a mug\nCHOICE: A\n\n"
        "Reply with one line of the form CHOICE: X, where X is A or B, and nothing else."
    )
    assert {key: first.body[key] for key in ("model", "temperature", "max_tokens", "seed")} == {
        "model": "tiny", "temperature": 0.0, "max_tokens": 64, "seed": 42,
    }  # fmt: skip
    assert len(first.body["messages"]) == 1


def test_the_question_about_a_caption(tmp_path):
    one = tall(3, 3, 1)
    seen = sent([Instance("t", one.images, one.captions, one.gold, query="Here: ")], tmp_path, detail="low")
    assert [part["type"] for part in seen[0].parts] == ["text", "image_url"] * 3 + ["text"]
    assert [part["text"] for part in seen[0].parts[:6:2]] == ["Image A:", "Image B:", "Image C:"]
    assert "\n\nHere: it is 3\n\n" in seen[0].text
    assert "where X is A, B or C," in seen[0].text
    assert {part["image_url"]["detail"] for part in seen[0].parts[1::2]} == {"low"}
    assert sorted(set(seen[0].images)) == sorted(image.data for image in one.images)


def test_the_twin_says_the_same_words_as_plain_text(tmp_path):
    with serving(always_a) as server:
        ask(twin(server.url, tmp_path), [wide(0)])
        assert isinstance(server.seen[0].body["messages"][0]["content"], str)
        with_image = sent([wide(0)], tmp_path / "other")
    assert {seen.text for seen in server.seen} == {seen.text for seen in with_image}


def test_fields_that_are_null_are_left_out_and_others_go_as_they_are(tmp_path):
    options = {"temperature": None, "seed": None, "max_tokens_field": "max_completion_tokens", "max_tokens": 9}
    prompt = {**model(URL, tmp_path)._options.prompt, "system": "Be brief."}
    body = sent([wide(0)], tmp_path, extra={"reasoning_effort": "none", "top_k": 1}, prompt=prompt, **options)[0].body
    assert set(body) == {"model", "messages", "max_completion_tokens", "reasoning_effort", "top_k"}
    assert body["max_completion_tokens"] == 9
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}


def test_half_a_character_is_sent_as_far_as_it_can_be(tmp_path):
    seen = sent([wide(0, ("a \ud83d cup", "a mug"))], tmp_path)
    assert any("a ? cup 0" in one.text for one in seen)


def file_of(image, form, **options):
    stream = io.BytesIO()
    image.save(stream, form, **options)
    return ImageRef(f"x.{form}", data=stream.getvalue())


def gradient(mode="RGB"):
    values = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
    return Image.fromarray(values).convert(mode)


def turned_exif():
    exif = Image.Exif()
    exif[274] = 6
    return exif


@pytest.mark.parametrize(
    ("ref", "kind"),
    [
        (file_of(gradient(), "PNG"), "png"),
        (file_of(gradient(), "JPEG"), "jpeg"),
        (file_of(gradient(), "WEBP", lossless=True), "webp"),
        (file_of(gradient("L"), "PNG"), "png"),
        (file_of(gradient("P"), "GIF"), "gif"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.key,
)
def test_plain_files_are_sent_as_they_are(ref, kind):
    assert data_url(ref).startswith(f"data:image/{kind};base64,")
    assert pixels_sent(ref)[1] == ref.data


@pytest.mark.parametrize(
    "ref",
    [
        file_of(gradient(), "BMP"),
        file_of(gradient(), "TIFF"),
        file_of(gradient(), "JPEG", exif=turned_exif()),
        file_of(gradient("RGBA"), "PNG"),
        file_of(Image.new("RGBA", (4, 4), (255, 0, 0, 0)), "PNG"),
        file_of(gradient().convert("CMYK"), "JPEG"),
        file_of(Image.fromarray(np.full((4, 4), 40_000, np.uint16)), "PNG"),
        file_of(gradient("P"), "GIF", save_all=True, append_images=[gradient("L").convert("P")]),
        ImageRef("cut", data=png((1, 2, 3)), box=(1, 1, 4, 5)),
    ],
    ids=["bmp", "tiff", "rotated", "rgba", "clear", "cmyk", "16-bit", "frames", "crop"],
)
def test_other_files_are_sent_as_a_png_of_what_our_rule_sees(ref):
    shown, data = pixels_sent(ref)
    assert data != ref.data
    assert data.startswith(b"\x89PNG")
    np.testing.assert_array_equal(shown, np.asarray(decode(ref).image))


def pixels_sent(ref):
    """What a plain reader makes of what is sent."""
    import base64

    data = base64.b64decode(data_url(ref).partition(",")[2])
    with Image.open(io.BytesIO(data)) as opened:
        return np.asarray(opened.convert("RGB")), data


def test_the_signature_holds_everything_but_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_ENDPOINT", "sk-0123456789abcdef0123")
    one, blind = built("https://example.org:8443/v1/", tmp_path, key_env="MY_ENDPOINT", extra={"top_k": 1})
    signature = one.signature
    assert signature["endpoint"] == "example.org:8443/v1"
    assert signature["model"] == "tiny"
    assert '"top_k": 1' in signature["decoding"]
    assert "Which of these captions" in signature["prompt"]
    assert "others as PNG" in signature["images"]
    assert not [text for text in signature.values() if "sk-" in text or "MY_ENDPOINT" in text or "\n" in text]
    assert blind.signature["images"] == "left out"
    assert (one.name, blind.name) == ("choice:tiny", "choice:tiny:no_image")
    assert dict(blind.signature) != dict(signature)
    words = built(URL, tmp_path, prompt={**one._options.prompt, "no_image": "{query}Guess: {options} {letters}"})
    assert words[0].signature["prompt"] == signature["prompt"]
    assert words[1].signature["prompt"] != blind.signature["prompt"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": ""}, "model.choice.model"),
        ({"base_url": "localhost:8000"}, "model.choice.base_url"),
        ({"base_url": "https://user:secret@example.org/v1"}, "must not carry a user, a key"),
        ({"base_url": "https://example.org/v1?key=secret"}, "must not carry a user, a key"),
        ({"base_url": "http://example.org:99999/v1"}, "model.choice.base_url"),
        ({"key_env": "sk-secret-0123456789"}, "NAME of an environment variable"),
        ({"temperature": -1}, "model.choice.temperature"),
        ({"temperature": "hot"}, "model.choice.temperature"),
        ({"max_tokens": 0}, "model.choice.max_tokens"),
        ({"max_tokens": True}, "model.choice.max_tokens"),
        ({"max_tokens_field": "length"}, "max_completion_tokens"),
        ({"detail": "huge"}, "auto, low, high"),
        ({"image_tokens": "squares"}, "tiles, area, blocks"),
        ({"conditions": ["black"]}, "image, no_image"),
        ({"conditions": []}, "image, no_image"),
        ({"concurrency": 0}, "model.choice.concurrency"),
        ({"max_calls": -1}, "model.choice.max_calls"),
        ({"max_cost": 5}, "needs prices"),
        ({"extra": {"messages": []}}, "model.choice.extra"),
        ({"extra": {"temperature": 1}}, "model.choice.extra"),
        ({"tempreature": 0}, "did you mean temperature"),
    ],
)
def test_options_that_cannot_be_used_are_refused_and_never_repeat_a_secret(tmp_path, options, told):
    with pytest.raises(InputError) as caught:
        built(URL, tmp_path, **options)
    assert told in caught.value.render()
    assert "secret" not in caught.value.render()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("i2t", "no options"), ("i2t", "{options} {gold}"), ("i2t", "{options"), ("t2i", "{options}"),
        ("option", "{letter}"), ("image", "{caption}"), ("no_image", "nothing"), ("i2t", None), ("nonsense", "x"),
    ],
)  # fmt: skip
def test_a_template_says_what_it_may_hold(tmp_path, name, text):
    prompt = {**model(URL, tmp_path)._options.prompt, name: text}
    with pytest.raises(InputError, match=r"model\.choice\.prompt|no such template"):
        built(URL, tmp_path, prompt=prompt)


def test_more_options_than_letters_are_refused(tmp_path):
    with pytest.raises(InputError, match="more options than there are letters"):
        ask(model(URL, tmp_path), [wide(0, tuple(f"c{n}" for n in range(27)))])


def test_a_plan_counts_what_is_new_and_sends_nothing(tmp_path):
    rows = [wide(0), wide(1), tall(2), square(3)]
    with serving(always_a) as server:
        one = model(server.url, tmp_path, price_in=2.0, price_out=10.0, image_tokens=100)
        questions = [item.question for item in posed(rows, is_blind=False, seed=42)]
        plan = one.plan(questions)
        assert not server.seen
        assert not list(tmp_path.iterdir())
        # 2 + 2 + 2 + 8 requests; an image for each I2T (4 + 4), two for each T2I (2 + 4): 8 + 12.
        assert (plan.questions, plan.requests, plan.cached, plan.calls, plan.images) == (14, 14, 0, 14, 20)
        assert plan.tokens_out == 14 * 64
        assert plan.cost == pytest.approx((plan.tokens_in * 2 + plan.tokens_out * 10) / 1e6)
        assert plan.tokens_in > 20 * 100
        ask(one, rows[:2])
        assert len(server.seen) == 4
        again = one.plan(questions)
        assert (again.cached, again.calls) == (4, 10)
        ask(one, rows)
        done = one.plan(questions)
        assert (done.calls, done.images, done.tokens_in, done.cost) == (0, 0, 0, 0.0)


def test_a_plan_says_that_a_key_is_missing(tmp_path, monkeypatch):
    monkeypatch.delenv("MY_ENDPOINT", raising=False)
    question = Question("i2t", picture(1), ("a", "b"))
    assert "MY_ENDPOINT is not set" in model(URL, tmp_path, key_env="MY_ENDPOINT").plan([question]).needs
    monkeypatch.setenv("MY_ENDPOINT", "x" * 20)
    assert model(URL, tmp_path, key_env="MY_ENDPOINT").plan([question]).needs == ""


def test_estimates_follow_the_size_of_images():
    assert image_tokens(70, (4000, 3000), None) == 70
    assert image_tokens("tiles", (512, 512), None) == 85 + 170
    assert image_tokens("area", (750, 100), None) == 100
    assert image_tokens("blocks", (769, 10), None) == 2 * 258


@pytest.mark.parametrize("path", sorted(CONF.glob("choice*.yaml")), ids=lambda path: path.stem)
def test_every_preset_has_its_head_its_card_and_builds(path, tmp_path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == f"# @package model.{path.stem}"
    assert lines[1].startswith("# ")
    leaf = OmegaConf.load(path)
    assert leaf.leaf == path.stem
    assert set(leaf.card) == {"title", "kind", "parameters", "licence", "source", "paper"}
    assert leaf.card.kind == "endpoint"
    base = OmegaConf.load(CONF / "choice.yaml")
    own = OmegaConf.to_container(OmegaConf.merge(base, leaf), resolve=False)
    keys = ("_target_", "card", "defaults", "cache", "base_url")
    given = {key: value for key, value in own.items() if key not in keys}
    given["model"] = given["model"] or "m"
    made = built(own["base_url"], tmp_path, **given)
    assert [one.name.endswith(":no_image") for one in made] == [False, True]
    paper = (CONF.parents[1] / "docs" / "refs.bib").read_text(encoding="utf-8")
    assert not leaf.card.paper or f"{{{leaf.card.paper}," in paper
