"""What a pass begins with: a text as tokens that the model has room for, and these as numbers."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.tokenizer import Encoding
from bertviz_core.errors import InputError


def encode(model: Model, text: str, text_pair: str | None = None, pad_to: int | None = None,
           masked: Iterable[int] = ()) -> Encoding:  # fmt: skip
    """The tokens of a text, or of two, as the model reads them. Raises InputError for what it cannot read."""
    longest = model.config.max_position_embeddings
    if pad_to is not None and not 1 <= pad_to <= longest:
        raise InputError(
            f"The input can be padded to between 1 and {longest} tokens, not {pad_to}. Choose a length in between."
        )
    encoding = check_encoding(model, model.tokenizer.encode(text, text_pair, pad_to))
    return model.tokenizer.masked(encoding, masked)


def check_encoding(model: Model, encoding: Encoding) -> Encoding:
    """The same tokens, if the model has room for them. Raises InputError otherwise."""
    longest = model.config.max_position_embeddings
    if len(encoding) > longest:
        raise InputError(
            f"The text has {len(encoding)} tokens; this model reads at most {longest}. "
            f"Shorten it by {len(encoding) - longest}."
        )
    if max(encoding.segments, default=0) >= model.config.type_vocab_size:
        raise InputError(
            "This model knows only one segment, so it cannot read a second sentence. Leave the second sentence empty."
        )
    return encoding


def make_inputs(encoding: Encoding, dtype: torch.dtype) -> dict[str, Tensor]:
    """The four numbers of every token by address, as a program reads them: each (token,)."""
    return {
        "input_ids": torch.tensor(encoding.ids),
        "position_ids": torch.tensor(encoding.positions),
        "token_type_ids": torch.tensor(encoding.segments),
        "attention_mask": torch.tensor(encoding.mask, dtype=dtype),
    }
