"""From a prompt to the ids in front of a caption: rendered once, one start mark, image places where they belong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from PIL import Image

from audits.models.generative.items import Ids
from benchmarks.errors import InputError

QUERY, TEXT = "{query}", "{text}"
IGNORED = ("attention_mask", "labels")  # nothing is padded, and nothing is trained
TOKENWISE = ("mm_token_type_ids", "token_type_ids")


class Shown(NamedTuple):
    """Hold an image as the processor gives it for one prompt.

    Attributes:
        ids: Ids of the prompt with the image's places.
        features: Tensors that go with the image.
        marked: Inputs that say, id by id, which are image places.
    """

    ids: Ids
    features: Mapping[str, Any]
    marked: tuple[str, ...]


class Marks(NamedTuple):
    """Hold the ids that tell architectures apart.

    Attributes:
        stand_in: What starts a text where the tokenizer puts nothing in front and there is no prompt: the model's start
            mark if it has one, else its end-of-text.
        image: An image's place as the model's configuration has it; None takes the processor's.
        start: What replaces the tokenizer's own start mark (BLIP's decoder has another one), or None.
        decoder: What a decoder starts from whose encoder reads the prompt, which then keeps its closing mark; or None.
    """

    stand_in: int | None
    image: int | None = None
    start: int | None = None
    decoder: int | None = None


class Prompter:
    """Write prompts for one model, as its own processor would.

    Args:
        processor: What transformers loads for the model.
        marks: Ids that tell architectures apart.
        template: Whether a chat template is used where the processor has one.
        name: What the model is called in messages.

    Attributes:
        image_id: Id of an image place, or None where the model has none in its text.
    """

    def __init__(self, processor: Any, marks: Marks, *, template: bool, name: str = "") -> None:
        self.processor, self.tokenizer, self.name = processor, processor.tokenizer, name
        self._marks = marks
        chat = getattr(processor, "chat_template", None) or getattr(self.tokenizer, "chat_template", None)
        self.chat = bool(template and chat)
        self.image_token = _image_token(processor)
        # What the model's configuration calls an image's place need not be what stands for it in a bare text.
        self.image_id = _first(marks.image, None if self.image_token is None else self._id(self.image_token))
        self._before, self._behind = _around(self.tokenizer)

    def _id(self, token: str) -> int:
        return int(self.tokenizer.convert_tokens_to_ids(token))

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of captions, byte for byte, without marks; marks that stand in a caption are text."""
        if not texts:
            return []
        options = {"add_special_tokens": False, "split_special_tokens": True, "return_attention_mask": False}
        return [tuple(ids) for ids in self.tokenizer(list(texts), **options)["input_ids"]]

    def render(self, text: str, *, has_image: bool) -> str:
        """Return the prompt as one string: the user's turn and the start of the answer, or the bare text."""
        if self.chat:
            content = [{"type": "image"}] if has_image else []
            if text:
                content.append({"type": "text", "text": text})
            turn = [{"role": "user", "content": content}]
            rendered = str(self.processor.apply_chat_template(turn, add_generation_prompt=True, tokenize=False))
        else:
            rendered = f"{self._placeholder}{text}" if has_image else text
        mark = self.tokenizer.convert_ids_to_tokens(self._before[-1]) if self._before else ""
        return rendered.removeprefix(mark)  # the tokenizer puts it there itself

    @property
    def _placeholder(self) -> str:
        """Return what marks the image in a bare text; BLIP-2's processor puts it there itself."""
        return "" if self.image_token is None or hasattr(self.processor, "num_query_tokens") else self.image_token

    def read(self, rendered: str) -> Ids:
        """Return the ids of a prompt that has no image."""
        return self._checked(tuple(self.tokenizer(rendered, return_attention_mask=False)["input_ids"]))

    def show(self, image: Image.Image, rendered: str) -> Shown:
        """Return the ids of a prompt, and the image, as the model's processor gives them.

        Raises:
            InputError: If the image leaves no trace, or the processor gives an input that is not understood.
        """
        given = self._processed(image, rendered)
        ids = given.pop("input_ids")
        for name in IGNORED:
            given.pop(name, None)
        row = [int(one) for one in ids[0]]
        marked = []
        for name in TOKENWISE:
            kinds = given.pop(name, None)
            if kinds is None:
                continue
            if not kinds.any():
                continue
            if [int(one) for one in kinds[0]] != [int(one == self.image_id) for one in row]:
                raise self._refused(f"the processor gives {name} that do not mark the image's places")
            marked.append(name)
        if not given:
            raise self._refused("the processor gives nothing for an image")
        return Shown(self._checked(tuple(row)), given, tuple(marked))

    def _processed(self, image: Image.Image, rendered: str) -> dict[str, Any]:
        """Return what the model's processor makes of an image and a prompt.

        Raises:
            InputError: If it refuses the image (Qwen2-VL does so where one side is 200 times the other).
        """
        try:
            return dict(self.processor(images=[image], text=[rendered], return_tensors="pt"))
        except ValueError as error:
            raise InputError(
                "the model's processor refuses an image",
                where=f"model {self.name}",
                got=f"{image.width} x {image.height} pixels: {' '.join(str(error).split())[:200]}",
                step="leave the instance out, or use a model that takes such images",
            ) from error

    def again(self, shown: Shown, first: str, rendered: str) -> Ids | None:
        """Return the ids of another prompt beside an image that was shown, or None if they cannot be told from it.

        The places of the image are repeated as they were: an image is prepared once for all its prompts.
        """
        if rendered == first:
            return shown.ids
        places = sum(one == self.image_id for one in shown.ids)
        for text, wanted in ((first, shown.ids), (rendered, None)):
            ids = self._expanded(self.read(text), places)
            if wanted is not None and ids != wanted:
                return None
        return ids

    def _expanded(self, ids: Ids, places: int) -> Ids:
        if not places or self.image_id is None:
            return ids
        if self.image_id not in ids:  # the processor puts them in front of everything
            return (self.image_id,) * places + ids
        spread = [(one,) * (places if one == self.image_id else 1) for one in ids]
        return tuple(one for several in spread for one in several)

    def _checked(self, ids: Ids) -> Ids:
        """Return the ids without the closing mark, with exactly one start mark.

        Raises:
            InputError: If two start marks follow each other, or nothing stands in front of the caption.
        """
        behind = len(self._behind)
        kept = ids[: len(ids) - behind] if behind and self._marks.decoder is None else ids
        own = self._before[-1] if self._before else None
        if any(pair == (own, own) for pair in pairwise(kept)):
            raise self._refused("two start marks in one prompt")
        if self._marks.start is not None and kept[:1] == (own,):
            kept = (self._marks.start, *kept[1:])
        if self._marks.decoder is None and all(one == self.image_id for one in kept):
            if self._marks.stand_in is None:
                raise self._refused("nothing stands in front of a caption: its first token has no probability")
            kept = (*kept, self._marks.stand_in)
        return kept

    @property
    def end(self) -> int | None:
        """Return the id that ends a text: what the tokenizer puts behind it, else its end-of-text."""
        found = self._behind[-1] if self._behind else self.tokenizer.eos_token_id
        return None if found is None else int(found)

    @property
    def start_mark(self) -> str:
        """Return what starts a text, for the signature."""
        named = self.tokenizer.convert_ids_to_tokens
        decoder = _first(self._marks.start, self._marks.decoder)
        if decoder is not None:
            return f"{named(decoder)} (the decoder's)"
        if self._before:
            return f"{named(self._before[-1])} (own)"
        stand_in = "none" if self._marks.stand_in is None else named(self._marks.stand_in)
        return f"none; {stand_in} where nothing else stands in front"

    def _refused(self, got: str) -> InputError:
        return InputError(
            "this model's prompts cannot be used",
            where=f"model {self.name}",
            got=got,
            expected="one start mark, then the prompt, with the image's places marked",
            step="choose another prompt, or template=false",
        )


def _image_token(processor: Any) -> str | None:
    """Return the token that stands for an image in the text, if the model has one."""
    token = getattr(processor, "image_token", None)
    token = getattr(token, "content", token)
    return str(token) if token else None


def _first(*found: int | None) -> int | None:
    return next((one for one in found if one is not None), None)


def marks_of(config: Any, tokenizer: Any) -> Marks:
    """Return the ids that tell an architecture apart, from its configuration."""
    text = config.get_text_config()
    return Marks(
        stand_in=_first(tokenizer.bos_token_id, tokenizer.eos_token_id),
        image=_first(*(getattr(config, name, None) for name in ("image_token_id", "image_token_index"))),
        start=text.bos_token_id if config.model_type == "blip" else None,
        decoder=text.decoder_start_token_id if getattr(text, "is_encoder_decoder", False) else None,
    )


def _around(tokenizer: Any) -> tuple[Ids, Ids]:
    """Return the marks that the tokenizer puts in front of a text, and those that it puts behind."""
    probe = "a"
    bare = list(tokenizer(probe, add_special_tokens=False)["input_ids"])
    whole = list(tokenizer(probe)["input_ids"])
    for place in range(len(whole) - len(bare) + 1):
        if whole[place : place + len(bare)] == bare:
            return tuple(whole[:place]), tuple(whole[place + len(bare) :])
    return (), ()
