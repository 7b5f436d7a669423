"""Models that say how likely a caption is beside an image, as contestants, with their blind twins.

`generative` is what the YAML's `_target_` names: it returns a list, the model itself first.
"""

from __future__ import annotations

from collections.abc import Sequence

from audits.models.generative.asking import ANSWER, QUESTION, Ask, Likelihood, Vqa
from audits.models.generative.conditions import Condition, NoImage, NullImages, Own, ShuffledImages
from audits.models.generative.contestant import Generative
from audits.models.generative.core import Core, Settings
from benchmarks.errors import InputError, near

SCORES = ("likelihood", "vqascore")
CONDITIONS = ("no_image", "null_images", "shuffled_images")


def generative(  # noqa: PLR0913 - one argument per line of its YAML
    model: str | None = None,
    *,
    score: str = "likelihood",
    prompt: str = "",
    question: str = QUESTION,
    answer: str = ANSWER,
    end_token: bool = False,
    template: bool = True,
    conditions: Sequence[str] = (),
    seed: int = 42,
    revision: str | None = None,
    dtype: str = "float32",
    device: str = "auto",
    captions_at_once: int = 64,
    images_at_once: int = 8,
    name: str | None = None,
) -> list[Generative]:
    """Return a generative model as a contestant, and one blind twin per condition around the same loaded model.

    Args:
        model: `shipped:NAME`, a local folder or a hub id of a model that transformers loads as image-text-to-text.
        score: `likelihood` (log P(caption | image, prompt)) or `vqascore` (P(answer | image, question)).
        prompt: Text in front of the caption; `{query}` takes the instance's query, which otherwise follows it.
        question: What is asked, with `{text}` where the caption goes; only for `vqascore`.
        answer: Whose probability is the score; only for `vqascore`.
        end_token: Whether the end token is scored as well; only for `likelihood`.
        template: Whether a chat template is used where the model has one.
        conditions: Blind twins: any of `no_image`, `null_images`, `shuffled_images`.
        seed: Of the image that is drawn for `shuffled_images`.
        revision: Pinned commit of a hub id.
        dtype: float32, bfloat16 or float16; the softmax is in float32.
        device: auto, cpu or cuda.
        captions_at_once: Most captions in a batch.
        images_at_once: Most images of one size in a batch.
        name: Name in every table; null takes the model's, for `vqascore` with that in front.

    Raises:
        InputError: If an option is wrong, or the model cannot be used; `NotAvailableError` if it cannot be had here.

    Source: composet, app. G.4; visualgptscore; vqascore.
    """
    if score not in SCORES:
        raise _unknown("score", score, SCORES)
    if score == "vqascore" and (end_token or prompt):
        raise InputError(
            "prompt and end_token are of the likelihood, not of vqascore",
            where="score=vqascore",
            got=f"prompt={prompt!r}, end_token={end_token}",
            step="say it with question and answer",
        )
    asked = [_condition(one, seed) for one in _distinct(conditions)]
    settings = Settings(_named(model), revision or "", dtype, device, template, captions_at_once, images_at_once)
    core = Core(settings)
    ask: Ask = Likelihood(core, prompt=prompt, end_token=end_token)
    if score == "vqascore":
        ask = Vqa(question=question, answer=answer)
    own = name or (core.name if score == "likelihood" else f"vqascore:{core.name}")
    return [Generative(core, ask, condition, name=own) for condition in (Own(), *asked)]


def _named(model: str | None) -> str:
    if not model:
        raise InputError(
            "no model is named",
            where="model",
            got="nothing",
            expected="shipped:NAME, a local folder or a hub id of an image-text-to-text model of transformers",
            step="write model.generative.model=FOLDER",
        )
    return model


def _distinct(conditions: Sequence[str]) -> list[str]:
    """Return the conditions if they are a list without repetition."""
    listed = [conditions] if isinstance(conditions, str) else list(conditions)
    if isinstance(conditions, str) or len(set(listed)) < len(listed):
        raise InputError(
            "conditions are a list, none of them twice",
            where="conditions",
            got=str(conditions),
            expected=f"some of [{', '.join(CONDITIONS)}]",
        )
    return listed


def _condition(name: str, seed: int) -> Condition:
    if name == "no_image":
        return NoImage()
    if name == "null_images":
        return NullImages()
    if name == "shuffled_images":
        return ShuffledImages(seed)
    raise _unknown("conditions", name, CONDITIONS)


def _unknown(where: str, got: str, known: Sequence[str]) -> InputError:
    return InputError(f"unknown {where}", where=where, got=got, expected=", ".join(known), step=near(got, known))
