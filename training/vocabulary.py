"""What the recipe needs to know of a tokenizer: ids of the special tokens, and which pieces go on a word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from transformers import AutoTokenizer

from bertviz_core.errors import CheckpointError

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The pieces of a checkpoint.

    tokens: (vocab,) text; ids: the place of each there; continues: (vocab,) whether a piece goes on the word before it;
    drawable: (drawable,) the ids that a piece may be replaced by.
    """

    tokens: tuple[str, ...]
    ids: dict[str, int]
    cls: int
    sep: int
    mask: int
    pad: int
    continues: np.ndarray
    drawable: np.ndarray
    _library: Any

    def cut(self, sentences: Sequence[str]) -> list[list[int]]:
        """The pieces of each sentence, without special tokens."""
        encoded = self._library.backend_tokenizer.encode_batch_fast(list(sentences), add_special_tokens=False)
        return [one.ids for one in encoded]


def read_vocabulary(folder: Path) -> Vocabulary:
    """The vocabulary of a checkpoint folder. Raises CheckpointError where it cannot be read or has no [MASK]."""
    try:
        library: Any = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except Exception as error:  # the library raises many kinds
        raise CheckpointError(f"{folder} has no readable tokenizer ({error}). Give a checkpoint's folder.") from error
    special = (library.cls_token_id, library.sep_token_id, library.mask_token_id, library.pad_token_id)
    if None in special:
        raise CheckpointError(f"The tokenizer in {folder} lacks [CLS], [SEP], [MASK] or [PAD]. Give a BERT's folder.")
    entries = library.get_vocab()
    by_id = {index: token for token, index in entries.items()}
    tokens = tuple(by_id.get(index, "") for index in range(max(by_id) + 1))
    unwanted = {"", *library.all_special_tokens}
    kept = [token not in unwanted and not token.startswith("[unused") for token in tokens]
    continues = np.array([token.startswith("##") for token in tokens])
    return Vocabulary(tokens, entries, *special, continues=continues, drawable=np.flatnonzero(kept), _library=library)
