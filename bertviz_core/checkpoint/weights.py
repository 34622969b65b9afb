"""Checkpoint files to parameters: safetensors in, float tensors under their addresses out.

What the files may look like is decided here; what tensors a model needs, and in which shapes, is read off its program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from bertviz_core.errors import CheckpointError
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import POSITION, SEGMENT, VOCAB
from bertviz_core.formula.nodes import Symbol
from bertviz_core.programs.bert import CLASSIFIER, MLM, NEXT_SENTENCE, POOLER, QUESTION_ANSWERING, TOKEN_CLASSIFIER
from bertviz_core.programs.config import BertConfig, read_json

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_SHARD = re.compile(r"[\w.-]+\.safetensors")  # a name without a folder: weights are read from the checkpoint only
_ANCHOR = "embeddings.word_embeddings.weight"  # every BERT has it: what stands before it is the file's prefix
TIED = {"cls.predictions.decoder.weight": _ANCHOR, "cls.predictions.decoder.bias": "cls.predictions.bias"}
_MARKS = {
    MLM: "cls.predictions.transform.dense.weight",
    POOLER: "pooler.dense.weight",
    NEXT_SENTENCE: "cls.seq_relationship.weight",
    CLASSIFIER: "classifier.weight",
    QUESTION_ANSWERING: "qa_outputs.weight",
}


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Every tensor of a checkpoint folder as stored, under Hugging Face names without `bert.`, `gamma` and `beta`.

    Raises CheckpointError for a missing, truncated or pickled file, and for a missing shard.
    """
    tensors: dict[str, Tensor] = {}
    for file in _find_files(folder):
        try:
            with safe_open(file, framework="pt") as opened:
                tensors |= {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"{file.name} cannot be read; it is damaged or was not downloaded to the end. Fetch it again. ({error})"
            ) from error
    return _rename(tensors)


def _find_files(folder: Path) -> list[Path]:
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if (folder / INDEX).is_file():
        files = [folder / shard for shard in read_shard_names(folder)]
        missing = [file.name for file in files if not file.is_file()]
        if missing:
            raise CheckpointError(
                f"The checkpoint is split over {len(files)} files, of which these are missing: {_list_first(missing)}. "
                f"Fetch "
                "them too."
            )
        return files
    pickles = [file.name for pattern in _PICKLES for file in sorted(folder.glob(pattern))]
    if pickles:
        raise CheckpointError(
            f"{pickles[0]} is a Python pickle: loading it can run any code, so it is refused. Save the model as "
            "safetensors, for example with transformers: model.save_pretrained(folder)."
        )
    raise CheckpointError(f"There is no {WEIGHTS} in {folder}. Copy it there, or give another folder.")


def read_shard_names(folder: Path) -> list[str]:
    """The names of the files that the weights are split over, from their index. Raises CheckpointError if broken."""
    shards = read_json(folder / INDEX).get("weight_map")
    names = list(shards.values()) if isinstance(shards, dict) else []
    if not names or not all(isinstance(name, str) and _SHARD.fullmatch(name) for name in names):
        raise CheckpointError(
            f"{INDEX} does not say which safetensors files beside it hold the weights. Fetch the file again."
        )
    return sorted(set(names))


def _rename(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    anchor = min((name for name in tensors if f".{name}".endswith(f".{_ANCHOR}")), key=len, default=None)
    if anchor is None:
        raise CheckpointError(
            f"The checkpoint has no {_ANCHOR}: it is not a BERT, or its tensors have other names. Save it again with "
            "transformers, as a BertModel or one of its heads."
        )
    prefix = anchor.removesuffix(_ANCHOR)
    renamed: dict[str, Tensor] = {}
    for name in sorted(tensors, key=lambda name: not name.startswith(prefix)):  # the encoder's own tensors come first
        short = name.removeprefix(prefix)
        if "LayerNorm." in short:
            short = short.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        renamed.setdefault(short, tensors[name])
    return renamed


def detect_heads(tensors: Iterable[str], config: BertConfig) -> frozenset[str]:
    """Which heads the checkpoint carries. A classifier without a pooler, or named so, labels tokens."""
    present = set(tensors)
    heads = {head for head, mark in _MARKS.items() if mark in present}
    if POOLER not in heads:
        heads.discard(NEXT_SENTENCE)
    if CLASSIFIER in heads and (POOLER not in heads or "BertForTokenClassification" in config.architectures):
        heads.remove(CLASSIFIER)
        heads.add(TOKEN_CLASSIFIER)
    return frozenset(heads)


def load_parameters(
    wanted: Iterable[Symbol], tensors: dict[str, Tensor], config: BertConfig, dtype: torch.dtype
) -> dict[str, Tensor]:
    """The program's parameters by address, matrices as (in, out), in `dtype`.

    Raises CheckpointError naming the tensors that are missing, of a wrong shape, not floating point or not finite.
    """
    symbols = list(wanted)
    if config.tie_word_embeddings:
        tensors = {**tensors, **_tie(tensors)}
    missing = [symbol.address for symbol in symbols if symbol.address not in tensors]
    if missing:
        raise CheckpointError(
            f"The checkpoint lacks {len(missing)} of the tensors that its config asks for: {_list_first(missing)}. "
            "Fetch it again, or correct config.json."
        )
    sizes = {**config.sizes, "label": count_labels(tensors)}
    stored = {symbol.address: tensors[symbol.address] for symbol in symbols}
    floats = {id(tensor): tensor.to(dtype) for tensor in stored.values()}  # what is tied is converted once
    return {symbol.address: _load_parameter(symbol, stored[symbol.address], floats, sizes) for symbol in symbols}


def complete_config(config: BertConfig, tensors: Mapping[str, Tensor]) -> BertConfig:
    """The config with what only the tensors tell. Raises CheckpointError where they hold fewer layers than it says."""
    layers = len({Address(name).layer for name in tensors} - {None})
    if layers < config.num_hidden_layers:
        raise CheckpointError(
            f"config.json asks for {config.num_hidden_layers} layers, but the checkpoint holds {layers}. Fetch it "
            "again, or correct config.json."
        )
    if config.problem_type is None and count_labels(tensors) == 1:
        return replace(config, problem_type="regression")  # as transformers has it: one score is no choice of classes
    return config


def count_labels(tensors: Mapping[str, Tensor]) -> int:
    """How many classes the checkpoint's classifier tells apart; 0 without a classifier."""
    return next(iter(tensors["classifier.weight"].shape), 0) if "classifier.weight" in tensors else 0


def _tie(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The decoder's tensors under their second names, unless the file has others: these win, as in transformers."""
    return {
        name: tensors[source]
        for name, source in TIED.items()
        if source in tensors and (name not in tensors or _are_equal(tensors[name], tensors[source]))
    }


def find_unused(tensors: Iterable[str], parameters: Mapping[str, Tensor]) -> tuple[str, ...]:
    """The tensors of a checkpoint that none of its parameters was made from."""
    return tuple(name for name in tensors if name not in parameters and name not in TIED.values())


def _are_equal(one: Tensor, other: Tensor) -> bool:
    return one.dtype == other.dtype and torch.equal(one, other)


def is_stored_turned(symbol: Symbol) -> bool:
    """Whether a file holds a parameter as (out, in), and formulas as (in, out): all matrices but tables are."""
    return len(symbol.axes) == 2 and symbol.axes[0] not in (VOCAB, POSITION, SEGMENT)


def _load_parameter(symbol: Symbol, stored: Tensor, floats: Mapping[int, Tensor], sizes: Mapping[str, int]) -> Tensor:
    shape = tuple(sizes[axis.name] for axis in symbol.axes)
    turned = is_stored_turned(symbol)
    expected = shape[::-1] if turned else shape
    if tuple(stored.shape) != expected:
        raise CheckpointError(
            f"{symbol.address} has shape {tuple(stored.shape)}; the config asks for {expected}. Fetch the checkpoint "
            "again, or correct config.json."
        )
    if not stored.is_floating_point():
        raise CheckpointError(
            f"{symbol.address} is stored as {stored.dtype}; quantized checkpoints are not supported. Choose one in "
            "float32, float16 or bfloat16."
        )
    tensor = floats[id(stored)]
    if (
        not tensor.sum().isfinite() and not tensor.isfinite().all()
    ):  # a finite sum has finite terms, and is known sooner
        raise CheckpointError(
            f"{symbol.address} holds numbers that are not finite: the file is damaged. Fetch it again."
        )
    return tensor.T if turned else tensor


def _list_first(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
