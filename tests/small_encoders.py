"""Small dual encoders with random weights, of real architectures and in the layouts in which real ones are saved."""

import json
from copy import deepcopy
from pathlib import Path

import torch

TEXT = {"context_length": 77, "vocab_size": 49408, "width": 32, "heads": 2, "layers": 2}
VIT = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 64, "head_width": 32, "patch_size": 16},
    "text_cfg": TEXT,
}
QUICK = {**deepcopy(VIT), "quick_gelu": True}
RESNET = {
    "embed_dim": 24,
    "vision_cfg": {"image_size": 64, "layers": [1, 1, 1, 1], "width": 8, "head_width": 16},
    "text_cfg": TEXT,
}
# SigLIP's text side: attends both ways, pools the last position of rows of fixed length, bias in the projection.
SIGLIP_TEXT = {
    **{"context_length": 64, "vocab_size": 300, "width": 32, "heads": 2, "layers": 2, "no_causal_mask": True},
    **{
        "proj_bias": True,
        "pool_type": "last",
        "norm_kwargs": {"eps": 1e-6},
        "tokenizer_kwargs": {"clean": "canonicalize"},
    },
    **{"hf_tokenizer_name": "a-folder-of-its-own"},
}
SIGLIP = {
    "embed_dim": 24,
    "init_logit_bias": -10,
    "custom_text": True,
    "vision_cfg": VIT["vision_cfg"],
    "text_cfg": SIGLIP_TEXT,
}
WORDS = [*"abc0123456789", "red", "blue", "very", "cup", "on", "the", "left", "of", "table", "dog", "cat", "and"]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,!?-"
PREPROCESS = {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5], "interpolation": "bicubic", "resize_mode": "squash"}


def spread(model: torch.nn.Module, seed: int) -> torch.nn.Module:
    """Draw larger weights than the usual ones: embeddings of different inputs then lie well apart."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for value in model.parameters():
            if value.ndim > 1:
                value.copy_(torch.randn(value.shape, generator=generator) * (1.4 / value.shape[-1] ** 0.5))
            else:
                value.add_(torch.randn(value.shape, generator=generator) * 0.1)
    return model.eval()


def save_open_clip(folder: Path, config: dict, *, seed: int = 0, tokenizer=None, half: bool = False) -> torch.nn.Module:
    """Save a model as open_clip's hub holds it, and return it."""
    import open_clip
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"model_cfg": config, "preprocess_cfg": PREPROCESS})
    (folder / "open_clip_config.json").write_text(text, encoding="utf-8")
    if tokenizer is not None:
        tokenizer(folder)
    torch.manual_seed(seed)
    model = spread(open_clip.create_model(f"local-dir:{folder}", load_weights=False, pretrained_text=False), seed)
    state = {key: value.half() if half else value for key, value in model.state_dict().items()}
    save_file({key: value.contiguous() for key, value in state.items()}, folder / "open_clip_model.safetensors")
    return model


def save_t5_tokenizer(folder: Path) -> None:
    """Save a tokenizer as SigLIP has it: an end mark (id 1), which is also the padding, and no start mark."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    alphabet = sorted({*LETTERS, "\u2581"})
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<unk>", "</s>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([" ".join(WORDS)] * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="</s>", pad_token="</s>", unk_token="<unk>", padding_side="right"
    )
    fast.save_pretrained(folder)


def save_clip_tokenizer(folder: Path) -> None:
    """Save a tokenizer as CLIP has it: a start mark, an end mark that is also the padding, the largest id."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(
        vocab_size=297, special_tokens=["<unk>"], initial_alphabet=list(LETTERS), show_progress=False
    )
    tokenizer.train_from_iterator([" ".join(WORDS)] * 3, trainer)
    tokenizer.add_special_tokens(["<start>", "<end>"])
    start, end = tokenizer.token_to_id("<start>"), tokenizer.token_to_id("<end>")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<start> $A <end>", special_tokens=[("<start>", start), ("<end>", end)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<start>", eos_token="<end>", pad_token="<end>", unk_token="<unk>",
        model_max_length=77,
    )  # fmt: skip
    fast.save_pretrained(folder)


def save_bert_tokenizer(folder: Path) -> None:
    """Save a tokenizer as BLIP has it: BERT's, of words."""
    from transformers import BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys([*WORDS, *LETTERS.lower(), *"-.,!?"])]
    words += [f"##{letter}" for letter in LETTERS.lower() if letter.isalpha()]
    vocabulary = {word: number for number, word in enumerate(words)}
    BertTokenizerFast(vocab=vocabulary, model_max_length=40).save_pretrained(folder)


def save_transformers(folder: Path, kind: str, *, seed: int = 0, **text) -> torch.nn.Module:
    """Save a model of transformers with its tokenizer and image processor, and return it."""
    import transformers

    torch.manual_seed(seed)
    tower = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision = {**tower, "image_size": 32, "patch_size": 16}
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "clip":
        save_clip_tokenizer(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        text = {**tower, "vocab_size": len(tokenizer), "eos_token_id": tokenizer.eos_token_id, **text}
        config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=24)
        model, processor = (
            transformers.CLIPModel(config),
            transformers.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}),
        )
    elif kind == "blip":
        save_bert_tokenizer(folder)
        size = len(transformers.AutoTokenizer.from_pretrained(folder))
        text = {**tower, "vocab_size": size, "max_position_embeddings": 40, "encoder_hidden_size": 32, **text}
        config = transformers.BlipConfig(text_config=text, vision_config=vision, image_text_hidden_size=24)
        model = transformers.BlipForImageTextRetrieval(config)
        processor = transformers.BlipImageProcessor(size={"height": 32, "width": 32})
    else:
        save_t5_tokenizer(folder)
        text = {**tower, "vocab_size": 300, "max_position_embeddings": 64, "projection_size": 32, **text}
        if kind == "siglip2_naflex":
            config = transformers.Siglip2Config(
                text_config=text, vision_config={**tower, "num_patches": 16, "patch_size": 16}
            )
            model = transformers.Siglip2Model(config)
            processor = transformers.Siglip2ImageProcessor(max_num_patches=16)
        else:
            config = transformers.SiglipConfig(text_config=text, vision_config=vision)
            model = transformers.SiglipModel(config)
            processor = transformers.SiglipImageProcessor(size={"height": 32, "width": 32})
    spread(model, seed).save_pretrained(folder)
    processor.save_pretrained(folder)
    return model


def save_sentence(folder: Path, clip: Path) -> None:
    """Save a model of sentence-transformers around a CLIP of transformers."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer

    SentenceTransformer(modules=[Transformer(str(clip))]).save_pretrained(str(folder))
