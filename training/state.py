"""A run's place on disk: every tensor that goes on changing, in one file that is whole or not there.

A file is written beside the old one, forced to the disk and then renamed over it, so a kill leaves the old or the new.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from bertviz_core.errors import CheckpointError


@dataclass(frozen=True, eq=False)
class State:
    """Where a run stands: how many steps are done, what decides the others, and its tensors by name."""

    step: int
    run: dict[str, Any]
    tensors: Mapping[str, Tensor]


def write_state(file: Path, state: State) -> None:
    """Put the state in the place of the one before."""
    about = {"step": str(state.step), "run": json.dumps(state.run), "sum": str(_sum_up(state.tensors))}
    fresh = file.with_name(f"{file.name}.tmp")
    save_file({name: tensor.contiguous() for name, tensor in state.tensors.items()}, fresh, about)
    _replace(fresh, file)


def read_state(file: Path) -> State:
    """The state in a file. Raises CheckpointError where any of it is not as it was written."""
    try:
        with safe_open(file, framework="pt") as opened:
            about = opened.metadata()
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        state = State(int(about["step"]), json.loads(about["run"]), tensors)
        whole = int(about["sum"]) == _sum_up(tensors)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{file} is damaged ({error}). {_REMEDY}") from error
    if not whole:
        raise CheckpointError(f"{file} is damaged (its numbers are not those that were written). {_REMEDY}")
    return state


_REMEDY = "Put a copy of it back, or delete it to begin the run anew."


def _sum_up(tensors: Mapping[str, Tensor]) -> int:
    total = 0
    for name in sorted(tensors):
        data = tensors[name].contiguous().reshape(-1).view(torch.uint8)
        total = zlib.crc32(data.numpy().tobytes(), zlib.crc32(name.encode(), total))
    return total


def write_text(file: Path, text: str) -> None:
    """Put a text in the place of the one before."""
    fresh = file.with_name(f"{file.name}.tmp")
    fresh.write_text(text, encoding="utf-8")
    _replace(fresh, file)


def _replace(fresh: Path, file: Path) -> None:
    with fresh.open("rb") as opened:
        os.fsync(opened.fileno())
    fresh.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
