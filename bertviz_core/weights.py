"""Checkpoint files to parameters: safetensors in, float tensors under their addresses out.

What the files may look like is decided here; what tensors a model needs, and in which shapes, is read off its program.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from bertviz_core.config import BertConfig
from bertviz_core.errors import CheckpointError
from bertviz_core.expressions import Symbol
from bertviz_core.programs.bert import CLASSIFIER, MLM, NEXT_SENTENCE, POOLER, TOKEN_CLASSIFIER

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_ANCHOR = "embeddings.word_embeddings.weight"  # every BERT has it: what stands before it is the file's prefix
_DECODER = "cls.predictions.decoder.weight"
_MARKS = {
    MLM: "cls.predictions.transform.dense.weight",
    POOLER: "pooler.dense.weight",
    NEXT_SENTENCE: "cls.seq_relationship.weight",
    CLASSIFIER: "classifier.weight",
}


def read_tensors(folder: Path) -> dict[str, Tensor]:
    """Every tensor of a checkpoint folder as stored, under Hugging Face names without `bert.`, `gamma` and `beta`.

    Raises CheckpointError for a missing, truncated or pickled file, and for a missing shard.
    """
    tensors: dict[str, Tensor] = {}
    for file in _weight_files(folder):
        try:
            with safe_open(file, framework="pt") as opened:
                tensors |= {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        except (SafetensorError, OSError, ValueError) as error:
            raise CheckpointError(
                f"{file.name} cannot be read; it is damaged or was not downloaded to the end. Fetch it again. ({error})"
            ) from error
    return _renamed(tensors)


def _weight_files(folder: Path) -> list[Path]:
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if (folder / INDEX).is_file():
        try:
            shards = sorted(set(json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values()))
            files = [folder / Path(shard).name for shard in shards]
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise CheckpointError(f"{INDEX} cannot be read: {error!r}") from error
        missing = [file.name for file in files if not file.is_file()]
        if missing:
            raise CheckpointError(
                f"The checkpoint is in {len(files)} files, of which these are missing: {', '.join(missing)}."
            )
        return files
    pickles = [file.name for pattern in _PICKLES for file in folder.glob(pattern)]
    if pickles:
        raise CheckpointError(
            f"{pickles[0]} is a Python pickle: loading it can run any code, so it is refused. Save the model as "
            "safetensors, for example with transformers: model.save_pretrained(folder)."
        )
    raise CheckpointError(f"There is no {WEIGHTS} in {folder}.")


def _renamed(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    anchor = min((name for name in tensors if name.endswith(_ANCHOR)), key=len, default=None)
    if anchor is None:
        raise CheckpointError(f"The checkpoint has no {_ANCHOR}: it is not a BERT, or its tensors have other names.")
    prefix = anchor.removesuffix(_ANCHOR)
    renamed = {}
    for name, tensor in tensors.items():
        short = name.removeprefix(prefix)
        if "LayerNorm." in short:
            short = short.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
        renamed[short] = tensor
    if "cls.predictions.bias" in renamed:  # older files name the decoder's bias after the head
        renamed.setdefault("cls.predictions.decoder.bias", renamed.pop("cls.predictions.bias"))
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


def load_parameters(wanted: Iterable[Symbol], tensors: dict[str, Tensor], config: BertConfig, dtype: torch.dtype
                    ) -> dict[str, Tensor]:  # fmt: skip
    """The program's parameters by address, matrices as (in, out), in `dtype`.

    Raises CheckpointError naming the tensors that are missing, of a wrong shape, not floating point or not finite.
    """
    symbols = list(wanted)
    missing = [symbol.address for symbol in symbols if symbol.address not in tensors and symbol.address != _DECODER]
    if missing:
        raise CheckpointError(
            f"The checkpoint lacks {len(missing)} tensors that its config asks for: {_some(missing)}."
        )
    sizes = {**config.sizes, "label": len(tensors.get("classifier.weight", ()))}
    loaded: dict[str, Tensor] = {}
    for symbol in symbols:
        if symbol.address == _DECODER and _DECODER not in tensors:
            loaded[_DECODER] = loaded[_ANCHOR].T  # tied: the vocabulary matrix itself, read the other way
        else:
            loaded[symbol.address] = _parameter(symbol, tensors[symbol.address], sizes, dtype)
    return loaded


def _parameter(symbol: Symbol, stored: Tensor, sizes: dict[str, int], dtype: torch.dtype) -> Tensor:
    shape = tuple(sizes[axis.name] for axis in symbol.axes)
    linear = len(shape) == 2 and not symbol.address.startswith("embeddings.")
    expected = shape[::-1] if linear else shape
    if tuple(stored.shape) != expected:
        raise CheckpointError(f"{symbol.address} has shape {tuple(stored.shape)}; the config asks for {expected}.")
    if not stored.is_floating_point():
        raise CheckpointError(f"{symbol.address} is stored as {stored.dtype}; quantized checkpoints are not supported.")
    tensor = stored.to(dtype)
    if not torch.isfinite(tensor).all():
        raise CheckpointError(f"{symbol.address} holds numbers that are not finite: the file is damaged.")
    return tensor.T if linear else tensor


def _some(addresses: list[str]) -> str:
    return ", ".join(addresses[:3]) + (", …" if len(addresses) > 3 else "")
