"""Small random checkpoints, written to disk as Hugging Face writes them."""

import shutil
import string
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForPreTraining,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    BertModel,
    BertTokenizer,
    PreTrainedModel,
)

from bertviz_core.checkpoint.hub import BUNDLED_FOLDER

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("the", "cat", "sat", "on", "mat", "play", "##ing", "##ed", "in", "rome", "do", "as", "romans")
VOCABULARY = (*SPECIAL, *string.ascii_lowercase, *(f"##{c}" for c in string.ascii_lowercase), *".,?!'", *WORDS)
SIZES = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40,
    "max_position_embeddings": 64, "type_vocab_size": 2,
}  # fmt: skip
KINDS = {
    "pretraining": BertForPreTraining,
    "masked-lm": BertForMaskedLM,
    "base": BertModel,
    "base-without-pooler": lambda config: BertModel(config, add_pooling_layer=False),
    "sequence-classification": BertForSequenceClassification,
    "token-classification": BertForTokenClassification,
    "question-answering": BertForQuestionAnswering,
}


def random_checkpoint(folder, *, kind="pretraining", seed=0, vocab_size=101, **config) -> Path:
    """A checkpoint of one of KINDS in `folder`, every parameter random. `config` goes to BertConfig as it is."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    model = KINDS[kind](BertConfig(vocab_size=vocab_size, **{**SIZES, **config}))
    randomize(model, seed)
    model.save_pretrained(folder)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    BertTokenizer(vocab=str(vocabulary)).save_pretrained(folder)
    return folder


def repeat(folder, period) -> Path:
    """A checkpoint whose parameters repeat themselves along each axis of a multiple of the period: components, neurons
    and heads that are so far apart have the same numbers. Returns the folder."""
    file = Path(folder) / "model.safetensors"
    tensors = load_file(file)
    for name, values in tensors.items():
        alike = [size % period == 0 for size in values.shape]
        first = values[tuple(slice(period if one else None) for one in alike)]
        times = [size // period if one else 1 for one, size in zip(alike, values.shape, strict=True)]
        tensors[name] = first.repeat(times)
    save_file(tensors, file, {"format": "pt"})
    return Path(folder)


def base_sized_checkpoint(folder) -> Path:
    """A random checkpoint of the sizes and with the vocabulary of BERT base."""
    standard = BertConfig()
    random_checkpoint(folder, vocab_size=standard.vocab_size, **{size: getattr(standard, size) for size in SIZES})
    for file in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copy(BUNDLED_FOLDER / file, folder)
    return Path(folder)


@torch.no_grad()
def randomize(model: PreTrainedModel, seed: int) -> None:
    """Draw every parameter, also the biases and LayerNorm weights that start at 0 and 1 and would hide a mistake."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if "LayerNorm.weight" in name:
            parameter.copy_(1 + 0.3 * noise)
        elif "embeddings" in name or name.endswith("bias"):
            parameter.copy_(0.5 * noise)
        else:
            parameter.copy_(noise * (1.5 / parameter.shape[1] ** 0.5))
