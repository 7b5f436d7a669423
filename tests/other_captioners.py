"""Small random models of architectures that no adapter was written for: whatever reads from left to right will do."""

from pathlib import Path

from transformers import LlamaTokenizer, PreTrainedTokenizerFast, set_seed

from tests.small_captioners import SIZE, _bytes, _llama_tokenizer, _pieces, _save, _text, _trained, _vision


def save_llava(folder: Path) -> Path:
    """Save a LLaVA-1.5 without a chat template: its image token stands in front of a bare text."""
    from transformers import CLIPImageProcessor, LlavaConfig, LlavaForConditionalGeneration, LlavaProcessor

    raw = _llama_tokenizer()
    images = CLIPImageProcessor(size={"shortest_edge": SIZE}, crop_size={"height": SIZE, "width": SIZE})
    processor = LlavaProcessor(
        images, raw, patch_size=8, vision_feature_select_strategy="default", num_additional_image_tokens=1
    )
    set_seed(5)
    config = LlavaConfig(
        vision_config={"model_type": "clip_vision_model", **_vision(num_hidden_layers=2)},
        text_config={"model_type": "llama", "num_key_value_heads": 2, **_text(len(raw))},
        image_token_index=4, vision_feature_layer=-2, image_seq_length=16,
    )  # fmt: skip
    return _save(folder, LlavaForConditionalGeneration(config), processor)


def save_idefics3(folder: Path) -> Path:
    """Save an Idefics3: an image is cut into tiles, each with marks of its own among the ids."""
    from tokenizers import decoders
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessor,
        Idefics3Processor,
    )

    tiles = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    named = {
        "fake_image_token": "<fake_token_around_image>", "image_token": "<image>", "global_image_token": "<global-img>",
        "end_of_utterance_token": "<end_of_utterance>",
    }  # fmt: skip
    marks = ["<|im_start|>", "<end_of_utterance>", "<fake_token_around_image>", "<image>", "<pad>", "<global-img>"]
    tokenizer = _bytes([*marks, *tiles])
    tokenizer.decoder = decoders.ByteLevel()
    raw = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|im_start|>", eos_token="<end_of_utterance>", pad_token="<pad>",
        extra_special_tokens=named,
    )  # fmt: skip
    template = (
        "<|im_start|>{% for message in messages %}{{ message['role'] }}:{% for part in message['content'] %}"
        "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}"
        "<end_of_utterance>\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
    )
    images = Idefics3ImageProcessor(size={"longest_edge": 2 * SIZE}, max_image_size={"longest_edge": SIZE})
    processor = Idefics3Processor(images, raw, image_seq_len=4, chat_template=template)
    set_seed(6)
    config = Idefics3Config(
        image_token_id=3, scale_factor=2, pad_token_id=4, vision_config=_vision(),
        text_config={"model_type": "llama", "num_key_value_heads": 2, "pad_token_id": 4, **_text(len(raw))},
    )  # fmt: skip
    return _save(folder, Idefics3ForConditionalGeneration(config), processor)


def save_gemma3(folder: Path) -> Path:
    """Save a Gemma 3: another token stands for the image in the text than marks its places among the ids."""
    from tokenizers import models, pre_tokenizers
    from transformers import Gemma3Config, Gemma3ForConditionalGeneration, Gemma3ImageProcessor, Gemma3Processor

    named = {"image_token": "<image>", "boi_token": "<boi>", "eoi_token": "<eoi>"}
    marks = ["<unk>", "<s>", "</s>", "<pad>", *named.values(), *(f"<0x{number:02X}>" for number in range(256))]
    parts = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="first")
    trained = _pieces(_trained(models.BPE(unk_token="<unk>"), parts, [], marks))
    raw = LlamaTokenizer(**trained, pad_token="<pad>", add_bos_token=True, extra_special_tokens=named)
    processor = Gemma3Processor(Gemma3ImageProcessor(size={"height": SIZE, "width": SIZE}), raw, image_seq_length=4)
    set_seed(7)
    config = Gemma3Config(
        text_config={"num_key_value_heads": 2, "head_dim": 8, **_text(len(raw))}, vision_config=_vision(),
        mm_tokens_per_image=4, image_token_index=4, boi_token_index=5, eoi_token_index=6,
    )  # fmt: skip
    return _save(folder, Gemma3ForConditionalGeneration(config), processor)
