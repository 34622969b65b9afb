"""A model on its way from one process to another: its numbers once, and what they are tied to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.tokenizer import Tokenizer
from bertviz_core.learning.weights import Tie, find_ties, share_ties
from bertviz_core.programs.bert import write_bert
from bertviz_core.programs.config import BertConfig


@dataclass(frozen=True)
class Parcel:
    """Everything that a model is made from again. own: parameters that are no other one under a second name; names: all
    of them in their order."""

    name: str
    revision: str
    config: BertConfig
    tokenizer: Tokenizer
    heads: tuple[str, ...]
    dtype: torch.dtype
    own: dict[str, np.ndarray]
    ties: dict[str, Tie]
    names: tuple[str, ...]


def pack_model(model: Model) -> Parcel:
    """The model with arrays that share its memory."""
    ties = find_ties(model.parameters)
    own = {name: tensor.numpy() for name, tensor in model.parameters.items() if name not in ties}
    return Parcel(
        model.name,
        model.revision,
        model.config,
        model.tokenizer,
        model.heads,
        model.dtype,
        own,
        ties,
        tuple(model.parameters),
    )


def unpack_model(parcel: Parcel) -> Model:
    """The same model, with the memory of the parcel's arrays."""
    parameters = share_ties({name: torch.from_numpy(array) for name, array in parcel.own.items()}, parcel.ties)
    return Model(
        name=parcel.name,
        revision=parcel.revision,
        config=parcel.config,
        tokenizer=parcel.tokenizer,
        program=write_bert(parcel.config, frozenset(parcel.heads), parcel.dtype),
        parameters={name: parameters[name] for name in parcel.names},
        heads=parcel.heads,
        unused=(),
        dtype=parcel.dtype,
    )
