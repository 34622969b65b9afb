"""Words as another program counts them, found among the tokens of a pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

import numpy as np

from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.tracing.trace import Trace

Arc = tuple[int, int, str]  # dependent, head, label
Parse = tuple[Sequence[str], Sequence[Arc]]


def check_parse(parse: object) -> Parse:
    """Words and arcs, if they are such. Raises InputError otherwise, with what is wrong."""
    remedy = 'Give for example (["She", "saw", "it"], [(0, 1, "nsubj"), (2, 1, "obj")]).'
    if not (
        isinstance(parse, tuple | list) and len(parse) == 2 and all(isinstance(part, tuple | list) for part in parse)
    ):
        raise ArgumentError.of("A parse must be a pair of words and arcs", parse, remedy)
    words, arcs = cast(tuple[list[object], list[object]], parse)
    if not all(isinstance(word, str) and word.strip() for word in words):
        raise ArgumentError.of("The words of a parse must be texts", words, remedy)
    for arc in arcs:
        match arc:
            case (int(dependent), int(head), str()) if dependent != head and {dependent, head} <= set(
                range(len(words))
            ):
                continue
            case _:
                raise ArgumentError.of(
                    f"An arc must be (dependent, head, label), with two of the words 0 to {len(words) - 1}", arc, remedy
                )
    return cast(Parse, (words, arcs))


def place_words(trace: Trace, words: Sequence[str]) -> np.ndarray:
    """(word, token) 1 where a token has a letter of the word, else 0.

    Letters are compared as the tokenizer writes them, so that `do` and `n't` are found in `don`, `'` and `t`. Raises
    InputError where the words are not those of the text.
    """
    tokenizer = trace.model.tokenizer
    written = {tokenizer.unk_token, "" if tokenizer.mask_id is None else tokenizer.token(tokenizer.mask_id)}
    added = tokenizer.special_tokens - written
    own = _list_letters((i, trace.tokens[i]) for i in trace.encoding.real if trace.tokens[i] not in added)
    given = _list_letters(
        (i, tokenizer.token(piece)) for i, word in enumerate(words) for piece in tokenizer.pieces(word)
    )
    if [letter for _, letter in own] != [letter for _, letter in given]:
        apart = next(i for i, (a, b) in enumerate(zip([*own, _END], [*given, _END], strict=False)) if a[1] != b[1])
        raise InputError(
            f"The words are not those of the text: {_tell(given, apart, words)} stands where the text has "
            f"{_tell(own, apart, trace.tokens)}. Give the words of the same text, in order, without leaving any out."
        )
    found = np.zeros((len(words), len(trace.tokens)))
    for (token, _), (word, _) in zip(own, given, strict=True):
        found[word, token] = 1.0
    if not found.any(axis=1).all():
        raise InputError("One of the words has no letter that the tokenizer reads. Leave it out.")
    return found


_END = (-1, "")


def _list_letters(parts: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    return [(i, letter) for i, text in parts for letter in text.removeprefix("##")]


def _tell(letters: Sequence[tuple[int, str]], place: int, texts: Sequence[str]) -> str:
    return repr(texts[letters[place][0]][:40]) if place < len(letters) else "the end"
