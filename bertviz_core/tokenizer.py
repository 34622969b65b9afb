"""Text to token ids, by the checkpoint's own tokenizer files.

The ids come from the library. How they come about is recorded beside it in `wordpiece`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoTokenizer

from bertviz_core.errors import CheckpointError, InputError
from bertviz_core.wordpiece import Record, Rules, record

_FILES = ("tokenizer.json", "vocab.txt")


@dataclass(frozen=True)
class Encoding:
    """One input as the model reads it; four numbers per token, and the token's text.

    tokens: (token,) text; ids, segments, positions, mask: (token,) whole numbers, mask 1 for real and 0 for padding.
    """

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    mask: tuple[int, ...]

    @property
    def positions(self) -> tuple[int, ...]:
        return tuple(range(len(self.ids)))

    def __len__(self) -> int:
        return len(self.ids)


class Tokenizer:
    """A checkpoint's tokenizer: ids from the library, and the record of how they came about."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def encode(self, text: str, pair: str | None = None, pad_to: int | None = None) -> Encoding:
        """Token ids of a text, or of two, with [CLS] and [SEP]; filled up with [PAD] to `pad_to` tokens if given.

        Raises InputError where there is nothing to read or the text is not valid Unicode.
        """
        _check_text("The sentence", text)
        if pair is not None:
            _check_text("The second sentence", pair)
        result = self._library(text, pair, verbose=False)
        ids = [int(i) for i in result["input_ids"]]
        if all(i in self._framing for i in ids):
            raise InputError(
                "Nothing of this text is left once it is cleaned up. Type a sentence with visible characters."
            )
        segments = [int(s) for s in result.get("token_type_ids", [0] * len(ids))]
        fill = max(0, (pad_to or 0) - len(ids))
        return Encoding(
            tokens=tuple(self._library.convert_ids_to_tokens(ids)) + (self.pad_token,) * fill,
            ids=(*ids, *[self.pad_id] * fill),
            segments=(*segments, *[0] * fill),
            mask=(1,) * len(ids) + (0,) * fill,
        )

    def record(self, text: str) -> Record | None:
        """How the text becomes pieces, step by step; None where the checkpoint's rules are not BERT's."""
        return record(text, self.rules) if self.rules else None

    def token(self, token_id: int) -> str:
        """The vocabulary entry with this id."""
        return self._library.convert_ids_to_tokens(token_id)

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Every entry of the vocabulary, by id; "" where an id has none."""
        by_id = {index: token for token, index in self._library.get_vocab().items()}
        return tuple(by_id.get(index, "") for index in range(max(by_id) + 1))

    @cached_property
    def rules(self) -> Rules | None:
        return Rules.from_library(json.loads(self._library.backend_tokenizer.to_str()))

    @property
    def pad_id(self) -> int:
        return self._library.pad_token_id or 0

    @property
    def pad_token(self) -> str:
        return self._library.pad_token or "[PAD]"

    @property
    def mask_id(self) -> int | None:
        return self._library.mask_token_id

    @cached_property
    def special_tokens(self) -> frozenset[str]:
        return frozenset(self._library.all_special_tokens)

    @cached_property
    def _framing(self) -> frozenset[int]:
        return frozenset((self._library.cls_token_id, self._library.sep_token_id))


def _check_text(what: str, text: str) -> None:
    if not text.strip():
        raise InputError(f"{what} is empty. Type a few words, or choose an example.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            f"{what} holds half a character (a lone surrogate). Delete the unreadable sign and try again."
        ) from None


def load_tokenizer(folder: Path, vocab_size: int) -> Tokenizer:
    """The tokenizer of a checkpoint folder. Raises CheckpointError where files are missing, broken or do not fit."""
    if not any((folder / file).is_file() for file in _FILES):
        raise CheckpointError(f"There are no tokenizer files ({' or '.join(_FILES)}) in {folder}.")
    try:
        library = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # the library raises many kinds, down to bare Exception from its Rust part
        raise CheckpointError(f"The tokenizer files cannot be read: {error}") from error
    if not getattr(library, "is_fast", False):
        raise CheckpointError(
            f"The tokenizer {type(library).__name__} is not a WordPiece tokenizer that is supported here."
        )
    highest = int(np.max(list(library.get_vocab().values())))
    if highest >= vocab_size:
        raise CheckpointError(
            f"The tokenizer goes up to token id {highest}, but the model has only {vocab_size} embeddings: these are "
            "files of two models."
        )
    return Tokenizer(library)
