"""Small random models of the architectures that say how likely a caption is, each in its real layout on disk."""

import io
import json
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from transformers import BertTokenizer, LlamaTokenizer, PreTrainedTokenizerFast, Qwen2Tokenizer, set_seed

from benchmarks.images import ImageRef

SENTENCES = [
    "a cat sits on a red chair",
    "a dog stands under the table",
    "two people walk beside a river",
    "the small cup is left of the large plate",
    "Does this figure show 'a cup'? Please answer yes or no. Yes No",
    "Describe the image. user assistant",
]
SIZE = 32  # pixels of the square that a small vision tower reads


def _trained(model, pre_tokenizer, alphabet: list[str], marks: list[str]):
    """Return a tokenizer's model, trained on the sentences: its vocabulary begins with the marks."""
    from tokenizers import Tokenizer, models, trainers

    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    kind = trainers.BpeTrainer if isinstance(model, models.BPE) else trainers.WordPieceTrainer
    trainer = kind(vocab_size=400, special_tokens=marks, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


def _pieces(tokenizer) -> dict:
    """Return vocabulary and merges of a trained byte-pair model."""
    trained = json.loads(tokenizer.to_str())["model"]
    return {"vocab": trained["vocab"], "merges": [tuple(pair) for pair in trained["merges"]]}


def _bytes(marks: list[str]):
    from tokenizers import models, pre_tokenizers

    parts = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return _trained(models.BPE(), parts, pre_tokenizers.ByteLevel.alphabet(), marks)


def _opt_tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer with the start mark in front of every text, as OPT's has it."""
    from tokenizers import decoders, processors

    tokenizer = _bytes(["<pad>", "</s>"])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing(single="</s> $A", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="</s>", eos_token="</s>", pad_token="<pad>")


def _bert_tokenizer(more: list[str]) -> BertTokenizer:
    """Return a BERT tokenizer: [CLS] in front, [SEP] behind, token types beside the ids."""
    return BertTokenizer(vocab=_words(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *more]).get_vocab())


def _words(marks: list[str]):
    from tokenizers import models, pre_tokenizers

    letters = [chr(number) for number in range(33, 127)]
    return _trained(models.WordPiece(unk_token="[UNK]"), pre_tokenizers.BertPreTokenizer(), letters, marks)


def _t5_tokenizer() -> PreTrainedTokenizerFast:
    """Return a tokenizer that closes every text with a mark, as T5's does."""
    from tokenizers import processors

    tokenizer = _words(["[PAD]", "[UNK]", "</s>"])
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", eos_token="</s>")


def _llama_tokenizer() -> LlamaTokenizer:
    """Return a Llama tokenizer: blanks are signs, the start mark stands in front, letters fall back to bytes."""
    from tokenizers import models, pre_tokenizers

    marks = ["<unk>", "<s>", "</s>", "<pad>", "<image>", *(f"<0x{number:02X}>" for number in range(256))]
    parts = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="first")
    trained = _trained(models.BPE(unk_token="<unk>"), parts, [], marks)
    return LlamaTokenizer(
        **_pieces(trained), pad_token="<pad>", add_bos_token=True, extra_special_tokens={"image_token": "<image>"}
    )


def _vision(**more) -> dict:
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2}
    return {**sizes, "image_size": SIZE, "patch_size": 8, "initializer_range": 0.3, **more}


def _text(size: int, **more) -> dict:
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    return {**sizes, "vocab_size": size, "initializer_range": 0.3, **more}


def _save(folder: Path, model: torch.nn.Module, processor) -> Path:
    """Save a model with noise in every parameter: zero tokens and unit norms would hide what they do."""
    with torch.no_grad():
        for value in model.parameters():
            value.add_(torch.randn_like(value) * 0.05)
    model.to(torch.float32).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def save_git(folder: Path) -> Path:
    """Save a GIT: image features in front of the text, learned positions, [CLS] starts and [SEP] ends."""
    from transformers import CLIPImageProcessor, GitConfig, GitForCausalLM, GitProcessor

    raw = _bert_tokenizer(["[MASK]"])
    set_seed(0)
    config = GitConfig(
        vision_config=_vision(), max_position_embeddings=40, bos_token_id=2, eos_token_id=3, pad_token_id=0,
        **_text(len(raw)),
    )  # fmt: skip
    square = {"height": SIZE, "width": SIZE}
    images = CLIPImageProcessor(size={"shortest_edge": SIZE}, crop_size=square)
    return _save(folder, GitForCausalLM(config), GitProcessor(images, raw))


def save_blip(folder: Path) -> Path:
    """Save a BLIP captioner: a decoder that looks across at the image; its start mark replaces the tokenizer's."""
    from transformers import BlipConfig, BlipForConditionalGeneration, BlipImageProcessor, BlipProcessor

    raw = _bert_tokenizer(["[DEC]", "[MASK]"])
    marks = {"bos_token_id": 4, "eos_token_id": 1, "sep_token_id": 3, "pad_token_id": 0}
    set_seed(1)
    text = _text(len(raw), max_position_embeddings=40, encoder_hidden_size=16, **marks)
    config = BlipConfig(text_config=text, vision_config=_vision(), projection_dim=16)
    images = BlipImageProcessor(size={"height": SIZE, "width": SIZE})
    return _save(folder, BlipForConditionalGeneration(config), BlipProcessor(images, raw))


def save_blip2(folder: Path, *, language: str = "opt") -> Path:
    """Save a BLIP-2 over OPT (image tokens before the start mark) or over T5 (image and prompt in the encoder)."""
    from transformers import Blip2Config, Blip2ForConditionalGeneration, Blip2Processor, BlipImageProcessor

    raw = _opt_tokenizer() if language == "opt" else _t5_tokenizer()
    processor = Blip2Processor(BlipImageProcessor(size={"height": SIZE, "width": SIZE}), raw, num_query_tokens=4)
    size = len(processor.tokenizer)
    if language == "opt":
        text = {
            "model_type": "opt", "vocab_size": size, "hidden_size": 32, "word_embed_proj_dim": 32, "ffn_dim": 48,
            "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 60, "init_std": 0.3,
            "bos_token_id": 1, "eos_token_id": 1, "pad_token_id": 0,
        }  # fmt: skip
    else:
        text = {
            "model_type": "t5", "vocab_size": size, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2,
            "num_heads": 4, "initializer_factor": 0.5, "decoder_start_token_id": 0, "pad_token_id": 0,
            "eos_token_id": 2,
        }  # fmt: skip
    set_seed(2)
    across = {
        "vocab_size": 40, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "initializer_range": 0.3,
        "num_attention_heads": 2, "encoder_hidden_size": 16, "cross_attention_frequency": 1,
    }  # fmt: skip
    config = Blip2Config(
        vision_config=_vision(), qformer_config=across, text_config=text, num_query_tokens=4,
        image_token_index=processor.tokenizer.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    return _save(folder, Blip2ForConditionalGeneration(config), processor)


def save_llava_next(folder: Path) -> Path:
    """Save a LLaVA-NeXT over Mistral: as many image tokens as the image's shape asks for, and a chat template."""
    from transformers import (
        LlavaNextConfig,
        LlavaNextForConditionalGeneration,
        LlavaNextImageProcessor,
        LlavaNextProcessor,
    )

    raw = _llama_tokenizer()
    template = (
        "{% for message in messages %}{% if message['role'] == 'user' %}[INST] {% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}<image>\n{% else %}{{ part['text'] }}{% endif %}{% endfor %} [/INST]"
        "{% endif %}{% endfor %}"
    )
    grid = [[SIZE, 2 * SIZE], [2 * SIZE, SIZE], [2 * SIZE, 2 * SIZE]]
    images = LlavaNextImageProcessor(
        size={"shortest_edge": SIZE}, crop_size={"height": SIZE, "width": SIZE}, image_grid_pinpoints=grid
    )
    processor = LlavaNextProcessor(
        images, raw, patch_size=8, vision_feature_select_strategy="default", chat_template=template,
        num_additional_image_tokens=1,
    )  # fmt: skip
    set_seed(3)
    text = {
        "model_type": "mistral", "num_key_value_heads": 2, "max_position_embeddings": 400, "sliding_window": None,
        **_text(len(raw)),
    }  # fmt: skip
    config = LlavaNextConfig(
        vision_config={"model_type": "clip_vision_model", **_vision(num_hidden_layers=2)}, text_config=text,
        image_token_index=4, image_grid_pinpoints=grid, vision_feature_layer=-2, image_seq_length=16,
    )  # fmt: skip
    return _save(folder, LlavaNextForConditionalGeneration(config), processor)


def save_qwen2_vl(folder: Path) -> Path:
    """Save a Qwen2-VL: image tokens by size, positions in three dimensions, no start mark, a chat template."""
    from transformers import (
        Qwen2VLConfig,
        Qwen2VLForConditionalGeneration,
        Qwen2VLImageProcessor,
        Qwen2VLProcessor,
        Qwen2VLVideoProcessor,
    )

    image, video, ends = "<|image_pad|>", "<|video_pad|>", "<|im_end|>"
    marks = ["<|endoftext|>", "<|im_start|>", ends, "<|vision_start|>", "<|vision_end|>", image, video]
    raw = Qwen2Tokenizer(**_pieces(_bytes(marks)), eos_token=ends, extra_special_tokens=marks)
    template = (
        "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part['text'] }}"
        "{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    sizes = {"shortest_edge": 4 * 8 * 8, "longest_edge": 64 * 8 * 8}
    grid = {"patch_size": 4, "merge_size": 2, "temporal_patch_size": 2}
    processor = Qwen2VLProcessor(
        Qwen2VLImageProcessor(size=sizes, **grid), raw, Qwen2VLVideoProcessor(size=sizes, **grid),
        chat_template=template,
    )  # fmt: skip
    set_seed(4)
    text = {
        "num_key_value_heads": 2, "max_position_embeddings": 400, **_text(len(raw)),
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [1, 1, 2]},
        "bos_token_id": 0, "eos_token_id": 2,
    }  # fmt: skip
    vision = {
        "depth": 1, "embed_dim": 16, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2, "initializer_range": 0.3,
        "patch_size": 4, "spatial_merge_size": 2, "temporal_patch_size": 2,
    }  # fmt: skip
    config = Qwen2VLConfig(
        text_config=text, vision_config=vision, vision_start_token_id=3, vision_end_token_id=4, image_token_id=5,
        video_token_id=6,
    )  # fmt: skip
    return _save(folder, Qwen2VLForConditionalGeneration(config), processor)


SAVED = {
    "git": save_git,
    "blip": save_blip,
    "blip2_opt": save_blip2,
    "blip2_t5": lambda folder: save_blip2(folder, language="t5"),
    "llava_next": save_llava_next,
    "qwen2_vl": save_qwen2_vl,
}
"""One function per architecture; each saves model and processor into a folder and returns it."""


CAPTIONS = ("a red cup", "the small cup is left of the large plate", "a dog", "two people walk beside a river.")
SIZES = ((48, 32), (32, 64), (48, 32))


def picture(number: int, size: tuple[int, int]) -> ImageRef:
    """Return an image of random pixels as PNG bytes."""
    pixels = np.random.default_rng(number).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return ImageRef(f"{number}.png", data=stream.getvalue())


IMAGES = tuple(picture(number, size) for number, size in enumerate(SIZES))
"""Three images of two sizes."""
