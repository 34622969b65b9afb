"""Text to token ids, by the checkpoint's own tokenizer files.

The ids come from the library. How they come about is recorded beside it in `wordpiece`.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformers import AutoTokenizer, BertTokenizer
from transformers.tokenization_utils_base import LARGE_INTEGER

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.library import find_config_fault, is_failure, take_first_line
from bertviz_core.checkpoint.wordpiece import Record, Rules, record
from bertviz_core.errors import ArgumentError, CheckpointError, InputError
from bertviz_core.programs.config import check_length, read_json
from bertviz_core.sharing.lru import ByteLRU

_ENCODED_BYTES = 1_000_000  # of inputs that are remembered
_TOKEN_BYTES = 200  # of one token in them, roughly
_FILES = ("tokenizer.json", "vocab.txt")
_CAN_LACK = ("mask_token", "pad_token")  # of the special tokens
_EXTRA_FILES = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
_IN_MEMORY = Path("/dev/shm")  # Linux has it
_READ = (".json", ".txt", ".jinja", ".model")  # how the names of files end that the library may read


class Tokenizer:
    """A checkpoint's tokenizer: ids from the library, and the record of how they came about."""

    def __init__(self, library: Any, rules: Rules | None, vocab_size: int) -> None:
        self.rules = rules
        self._library = library
        self._vocab_size = vocab_size
        self._encoded: ByteLRU[tuple[str, str | None, int | None], Encoding] = ByteLRU(_ENCODED_BYTES)

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[Any, Rules | None, int]]:
        """What another process needs to read as this one does."""
        return Tokenizer, (self._library, self.rules, self._vocab_size)

    def encode(self, text: str, pair: str | None = None, pad_to: int | None = None) -> Encoding:
        """Token ids of a text, or of two, with [CLS] and [SEP]; filled up with [PAD] to `pad_to` tokens if given.

        What was encoded last is remembered: every run of a page asks for its sentence again, several times. Raises
        InputError where there is nothing to read or the text is not valid Unicode, CheckpointError where the
        checkpoint's rules come to nothing.
        """
        _check_type("The sentence", text)
        if pair is not None:
            _check_type("The second sentence", pair)
        key = text, pair, pad_to
        found = self._encoded.get(key)
        if found is None:
            found = self._encode(*key)
            self._encoded.put(key, found, len(text) + len(pair or "") + _TOKEN_BYTES * len(found))
        return found

    def _encode(self, text: str, pair: str | None, pad_to: int | None) -> Encoding:
        _check_text("The sentence", text)
        if pair is not None:
            _check_text("The second sentence", pair)
        result = self._read(text, pair, split_special_tokens=False)
        ids = [int(i) for i in result["input_ids"]]
        if len(ids) <= self._library.num_special_tokens_to_add(pair=pair is not None):
            raise InputError(
                "The text is empty once control characters are removed. Type a sentence with visible characters."
            )
        segments = [int(s) for s in result.get("token_type_ids") or [0] * len(ids)]  # as the model takes none given
        fill = max(0, (pad_to or 0) - len(ids))
        return Encoding(
            tokens=tuple(self._library.convert_ids_to_tokens(ids)) + (self.pad_token,) * fill,
            ids=(*ids, *[self.pad_id] * fill),
            segments=(*segments, *[0] * fill),
            mask=(1,) * len(ids) + (0,) * fill,
        )

    def locate(self, text: str, pair: str | None = None) -> tuple[tuple[int, int, int] | None, ...]:
        """Where each token of an input stands: in the text (0) or its pair (1), from which character to before which.

        None for tokens that were added, such as [CLS].
        """
        result = self._read(text, pair, return_offsets_mapping=True, split_special_tokens=False)
        places = zip(result.sequence_ids(), result["offset_mapping"], strict=True)
        return tuple(None if part is None else (part, int(start), int(end)) for part, (start, end) in places)

    def maskable(self, encoding: Encoding) -> tuple[int, ...]:
        """The positions whose token can be hidden: all but special ones; none where the checkpoint has no [MASK]."""
        if self.mask_id is None:
            return ()
        return tuple(i for i, token in enumerate(encoding.tokens) if token not in self.special_tokens)

    def masked(self, encoding: Encoding, positions: Iterable[int]) -> Encoding:
        """The same input with [MASK] at these positions. Raises InputError where no word piece stands there."""
        try:
            hidden = sorted({operator.index(position) for position in positions})
        except TypeError:
            raise ArgumentError.of(
                "The tokens to mask must be positions, which are whole numbers",
                positions,
                "Give a list of them, such as [3, 4].",
            ) from None
        if not hidden:
            return encoding
        if self.mask_id is None:
            raise InputError(
                "This checkpoint's vocabulary has no mask token, so no token can be masked. Mask nothing, or "
                "choose another model."
            )
        wrong = sorted(set(hidden) - set(self.maskable(encoding)))
        if wrong:
            raise InputError(
                f"Position {wrong[0]} cannot be masked: {_describe(encoding, wrong[0])}. Choose a word or a piece."
            )
        tokens, ids = list(encoding.tokens), list(encoding.ids)
        for i in hidden:
            tokens[i], ids[i] = self.token(self.mask_id), self.mask_id
        return replace(encoding, tokens=tuple(tokens), ids=tuple(ids))

    def record(self, text: str) -> Record | None:
        """How the text becomes pieces, step by step; None where the checkpoint's rules are not BERT's."""
        _check_unicode("The text", text)
        return record(text, self.rules) if self.rules else None

    def pieces(self, text: str) -> tuple[int, ...]:
        """The ids of a text by itself, without [CLS] and [SEP]; none where nothing is left once it is cleaned up.

        Raises InputError where the text is not valid Unicode.
        """
        _check_unicode("The text", text)
        return tuple(int(i) for i in self._read(text, add_special_tokens=False)["input_ids"])

    def _read(self, *texts: str | None, **wishes: bool) -> Any:
        """What the library makes of a text and its pair. Raises CheckpointError where it gives up."""
        try:
            return self._library(*texts, verbose=False, **wishes)
        except BaseException as error:
            if not is_failure(error):
                raise
            raise CheckpointError(
                f"The checkpoint's tokenizer cannot read this text ({take_first_line(error)}). Choose another model."
            ) from error

    def decode(self, ids: Iterable[int]) -> str:
        """Ids as one readable text: pieces joined, no space before punctuation."""
        return str(self._library.decode(list(ids)))

    def id(self, token: str) -> int | None:
        """The row of a vocabulary entry; None where the vocabulary has no such entry."""
        return self._rows.get(token)

    def token(self, token_id: int) -> str:
        """The vocabulary entry with this id; "" where the model has a row for it but the vocabulary no entry."""
        return self.vocabulary[token_id]

    def name(self, token_id: int) -> str:
        """What a row of the model's vocabulary matrix is called: its entry, or its id where it has none."""
        return self.vocabulary[token_id] or f"id {token_id}"

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The entry of every row of the model's vocabulary matrix; "" where a row has none."""
        by_id = {index: token for token, index in self._rows.items()}
        return tuple(by_id.get(index, "") for index in range(self._vocab_size))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return self._library.get_vocab()

    def narrow(self, texts: Iterable[str]) -> Tokenizer:
        """The same rules with no other vocabulary than the pieces of these texts, behind the special tokens.

        The texts keep their pieces: a longer one that fits is in neither vocabulary. Raises InputError where the
        checkpoint's rules are not BERT's.
        """
        if self.rules is None or self.mask_id is None:
            raise InputError(
                "This checkpoint's tokenizer is not BERT's WordPiece, so no smaller one can be made of it. Choose "
                "another model, such as the bundled one."
            )
        own = self._library
        names = {f"{name}_token": getattr(own, f"{name}_token") for name in ("pad", "unk", "cls", "sep", "mask")}
        pieces = sorted({i for text in texts for i in self.pieces(text)})
        kept = dict.fromkeys((*names.values(), *map(self.token, pieces)))
        library = BertTokenizer(
            vocab={token: i for i, token in enumerate(kept)},
            do_lower_case="lowercase" in self.rules.changes,
            strip_accents="strip_accents" in self.rules.changes,
            tokenize_chinese_chars="handle_chinese_chars" in self.rules.changes,
            **names,
        )
        return Tokenizer(library, Rules.from_library(json.loads(library.backend_tokenizer.to_str())), len(kept))

    def write_files(self) -> dict[str, bytes]:
        """The tokenizer's files as the library reads them, by name.

        It writes them into a folder: one in memory, where the system has such a place, so that no text's words come to
        the disk.
        """
        with TemporaryDirectory(prefix="bertviz-", dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as folder:
            self._library.save_pretrained(folder)
            return {file.name: file.read_bytes() for file in sorted(Path(folder).iterdir())}

    @property
    def unk_token(self) -> str:
        return self._library.unk_token or "[UNK]"

    @property
    def pad_id(self) -> int:
        return self._library.pad_token_id or 0

    @property
    def pad_token(self) -> str:
        return self._library.pad_token or "[PAD]"

    @property
    def cls_token(self) -> str | None:
        return self._library.cls_token

    @property
    def sep_token(self) -> str | None:
        return self._library.sep_token

    @property
    def mask_id(self) -> int | None:
        return self._library.mask_token_id

    @cached_property
    def special_tokens(self) -> frozenset[str]:
        return frozenset(self._library.all_special_tokens)


def _describe(encoding: Encoding, position: int) -> str:
    if 0 <= position < len(encoding):
        return f"it holds {encoding.tokens[position]}, a special token"
    return f"the input has positions 0 to {len(encoding) - 1}"


def _check_text(what: str, text: str) -> None:
    if not text.strip():
        raise InputError(f"{what} is empty. Type a few words, or choose an example.")
    _check_unicode(what, text)


def _check_type(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise ArgumentError.of(
            f"{what} must be a text", text, "Give a str; of several texts bv.run_many gives the traces."
        )


def _check_unicode(what: str, text: str) -> None:
    _check_type(what, text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(
            f"{what} holds half a character (a lone surrogate). Delete the unreadable sign and try again."
        ) from None


def load_tokenizer(folder: Path, vocab_size: int) -> Tokenizer:
    """The tokenizer of a checkpoint folder. Raises CheckpointError where files are missing, broken or do not fit."""
    listed = _list_tokens(folder)
    library = _open(folder)
    invented = {name: None for name in _CAN_LACK if getattr(library, name, None) not in (None, *listed)}
    library = _open(folder, **invented) if invented else library
    if not getattr(library, "is_fast", False):
        raise CheckpointError(
            f"The tokenizer {type(library).__name__} runs in Python only, which is not supported. Choose a model with "
            "a tokenizer.json or a vocab.txt."
        )
    if not isinstance(library.model_max_length, (int, float)):  # the file may say anything; the library compares it
        library.model_max_length = LARGE_INTEGER
    state = json.loads(library.backend_tokenizer.to_str())
    _check_vocabulary(library, state["model"], listed, vocab_size)
    return Tokenizer(library, Rules.from_library(state), vocab_size)


def _open(folder: Path, **absent: None) -> Any:
    """The library's tokenizer. absent: special tokens that it shall do without, not give a row that the model lacks."""
    try:
        return AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **absent)
    except BaseException as error:
        if not is_failure(error):
            raise
        raise CheckpointError(
            find_config_fault(folder)
            or f"The tokenizer files cannot be read ({take_first_line(error)}). Save them again with transformers: "
            "tokenizer.save_pretrained(folder)."
        ) from error


def _check_vocabulary(library: Any, model: dict[str, Any], listed: set[str], vocab_size: int) -> None:
    needed = {library.unk_token, library.cls_token, library.sep_token} - {None}
    missing = needed - listed
    if model.get("type") == "WordPiece":  # its unknown token must stand among its pieces
        missing |= {model["unk_token"]} - set(model["vocab"])
    if missing:
        raise CheckpointError(
            f"The vocabulary lacks {', '.join(sorted(missing))}, so no text can be encoded. Copy the tokenizer files "
            "from the original model."
        )
    if listed <= set(library.all_special_tokens):
        raise CheckpointError(
            f"The tokenizer knows {', '.join(sorted(listed))} and no word, so all text would be {library.unk_token}. "
            "Copy the tokenizer files from the original model; if it was made from a list of words, then without them: "
            'in transformers 5, BertTokenizer(vocab="vocab.txt") reads it.'
        )
    highest = max(library.get_vocab().values())
    if highest >= vocab_size:
        raise CheckpointError(
            f"The tokenizer goes up to token id {highest}, but the model has only {vocab_size} embeddings: these are "
            "files of two models. Copy the tokenizer files from the model's own source."
        )


def _list_tokens(folder: Path) -> set[str]:
    """The tokens that the files list. The library invents ids for special tokens that they lack."""
    present = [file for file in _FILES if (folder / file).is_file()]
    if not present:
        raise CheckpointError(
            f"There is no tokenizer.json and no vocab.txt in {folder}. Copy the tokenizer files there from the "
            "original model."
        )
    for file in sorted(folder.iterdir()):
        if file.suffix in _READ and file.is_file():
            check_length(file)
    extra = {file: read_json(folder / file) for file in _EXTRA_FILES if (folder / file).is_file()}
    if present[0] == "vocab.txt":
        try:
            entries = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            raise CheckpointError(f"vocab.txt cannot be read: {error}. Fetch the file again.") from error
        return {*entries, *extra.get("added_tokens.json", ())}
    state = read_json(folder / "tokenizer.json")
    try:
        vocabulary, added = state["model"]["vocab"], [token["content"] for token in state["added_tokens"]]
        return {*added, *(entry if isinstance(entry, str) else entry[0] for entry in vocabulary)}
    except (KeyError, TypeError, IndexError):
        raise CheckpointError("tokenizer.json has no readable vocabulary. Fetch the file again.") from None
