"""What a pass begins with: a text as tokens that the model has room for, and these as numbers."""

from __future__ import annotations

import re
import reprlib
from bisect import bisect_left
from collections.abc import Callable, Iterable
from numbers import Integral

import torch
from torch import Tensor

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import ArgumentError, InputError, LengthError
from bertviz_core.programs import PADS_FIRST


def encode(
    model: Model,
    text: str,
    text_pair: str | None = None,
    pad_to: int | None = None,
    masked: Iterable[int] = (),
    program: str = "bert",
) -> Encoding:
    """The tokens of a text, or of two, as the model reads them. Raises InputError for what it cannot read.

    pad_to: fill up with [PAD] to this many tokens, behind the text, or before it where the document of `program` has it
    so. masked: the positions to put [MASK] at, without padding before them.
    """
    check_model(model).written(program)
    longest = model.config.max_position_embeddings
    if pad_to is not None and not isinstance(pad_to, Integral):
        raise ArgumentError.of(
            "The length to pad to must be a whole number", pad_to, f"Choose one between 1 and {longest}."
        )
    if pad_to is not None and not 1 <= pad_to <= longest:
        raise InputError(
            f"The input can be padded to between 1 and {longest} tokens, not {pad_to}. Choose a length in between."
        )
    encoding = check_encoding(model, model.tokenizer.encode(text, text_pair, pad_to))
    encoding = model.tokenizer.masked(encoding, masked)
    return _put_padding_first(encoding) if program in PADS_FIRST else encoding


def cut_to_fit(model: Model, text: str, text_pair: str | None = None) -> tuple[str, str | None]:
    """As many whole words from the beginning as the model reads; of two sentences the second one gives way first."""
    fitting = _cut(text_pair or "", lambda pair: _fits(model, text, pair or None))
    if fitting or (not text_pair and _fits(model, text, None)):
        return text, fitting or None
    return _cut(text, lambda part: _fits(model, part, None)), None


def _cut(text: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning of whole words that fits; of letters, where not even the first word does."""
    for ends in ([word.end() for word in re.finditer(r"\S+", text)], range(1, len(text) + 1)):
        count = bisect_left(ends, True, key=lambda end: not fits(text[:end]))
        if count:
            return text[: ends[count - 1]]
    return ""


def _fits(model: Model, text: str, text_pair: str | None) -> bool:
    try:
        encode(model, text, text_pair)
    except LengthError:
        return False
    return True


def _put_padding_first(encoding: Encoding) -> Encoding:
    order = sorted(range(len(encoding)), key=encoding.mask.__getitem__)
    ids, segments, mask = (tuple(row[i] for i in order) for row in (encoding.ids, encoding.segments, encoding.mask))
    return Encoding(tuple(encoding.tokens[i] for i in order), ids, segments, mask)


def check_model(model: object) -> Model:
    """The same, if it is a model. Raises ArgumentError otherwise."""
    if not isinstance(model, Model):
        raise ArgumentError.of("A pass needs a model", model, "Give what load_model returns, then the text.")
    return model


def check_encoding(model: Model, encoding: object) -> Encoding:
    """The same tokens, if they are some and the model has room for them. Raises InputError otherwise."""
    longest = check_model(model).config.max_position_embeddings
    if not isinstance(encoding, Encoding):
        raise ArgumentError.of("A trace is made of an Encoding", encoding, "To run a text, use run(model, text).")
    rows = (encoding.tokens, encoding.ids, encoding.segments, encoding.mask)
    if len({len(row) for row in rows}) > 1 or not any(encoding.mask):
        raise InputError(
            f"An Encoding has a text, an id, a segment and a mask for each token, and a mask of 1 somewhere; this one "
            f"has {', '.join(str(len(row)) for row in rows)} of them and masks {reprlib.repr(encoding.mask)}. "
            "Give as many of each."
        )
    strange = [each for each in encoding.ids if not 0 <= each < model.config.vocab_size]
    if strange:
        raise InputError(
            f"This model's vocabulary has ids 0 to {model.config.vocab_size - 1}, not {strange[0]}. Choose another id."
        )
    if len(encoding) > longest:
        raise LengthError(
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
