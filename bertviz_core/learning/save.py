"""A model as a checkpoint, as Hugging Face writes one: the other way of `checkpoint.weights`."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors.torch import save
from torch import Tensor

from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.weights import TIED, WEIGHTS, is_stored_turned
from bertviz_core.learning.weights import find_ties

_ENCODER = ("embeddings.", "encoder.", "pooler.")  # what a file has behind `bert.`, where there are heads as well


def save_safetensors(model: Model, folder: Path) -> None:
    """Write a checkpoint that `load_model` and transformers open: weights, config.json and the tokenizer's files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _write_files(model):
        (folder / name).write_bytes(content)


def pack_zip(model: Model) -> bytes:
    """The same checkpoint as one file, to be unpacked into a folder; made in memory, as it holds what was typed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:  # weights do not get smaller
        for name, content in _write_files(model):
            archive.writestr(name, content)
    return packed.getvalue()


def _write_files(model: Model) -> Iterator[tuple[str, bytes]]:
    """The files of a checkpoint, by name, one after the other: each can be as large as the model."""
    yield "config.json", f"{json.dumps(_write_config(model), indent=2)}\n".encode()
    yield WEIGHTS, save(_name_tensors(model), metadata={"format": "pt"})
    yield from model.tokenizer.write_files().items()


def _name_tensors(model: Model) -> dict[str, Tensor]:
    """The tensors by their names in a file, matrices as (out, in), what is tied once."""
    ties = find_ties(model.parameters)
    prefix = "bert." if model.heads else ""
    tensors = {}
    for symbol in model.program.parameters:
        tensor, name = model.parameters[symbol.address], symbol.address
        if name in ties:
            continue
        if name.startswith(_ENCODER):
            name = prefix + name
        elif model.config.tie_word_embeddings:
            name = TIED.get(name, name)
        stored = tensor.mT if is_stored_turned(symbol) else tensor
        tensors[name] = stored.detach().contiguous().clone()
    return tensors


def _write_config(model: Model) -> dict[str, Any]:
    config = {name: value for name, value in asdict(model.config).items() if value not in (None, (), {})}
    return {**config, "model_type": "bert", "dtype": str(model.dtype).removeprefix("torch.")}
