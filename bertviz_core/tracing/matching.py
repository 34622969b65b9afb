"""Which token of one pass is which of another: by place where there are as many, else by equal word pieces.

Of two vocabularies, which cut words in other ways: by the letters of equal words that a piece covers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from bertviz_core.errors import InputError
from bertviz_core.tracing.taken import Pairs
from bertviz_core.tracing.trace import Trace

_PAIR = re.compile(r"([0-9]{1,4})-([0-9]{1,4})")
_BETWEEN = "."
_INSIDE = "##"  # before a piece that goes on with a word


def match_tokens(here: Trace, there: Trace, by_place: bool = False) -> Pairs:
    """The pairs of equal word pieces in the same order, padding left out: a token here, and the one there.

    by_place: whether each token is matched with that at its place, equal or not, where both have as many.
    """
    if by_place and here.encoding.mask == there.encoding.mask:
        return tuple((i, i) for i in here.encoding.real)
    if here.model.tokenizer.vocabulary != there.model.tokenizer.vocabulary:
        return tuple(_match_letters(here, there))
    own, other = ([trace.tokens[i] for i in trace.encoding.real] for trace in (here, there))
    return tuple((here.encoding.real[i], there.encoding.real[j]) for i, j in _match_equal(own, other))


def _match_equal(own: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of equal texts in the same order: of the longest equal part, the first of several, and of what lies
    before and behind it.

    As `difflib.SequenceMatcher` finds them, which looks for seconds where words stand many times, and lets nobody else
    run meanwhile.
    """
    ends, left, found = _measure_equal(own, other), [(0, len(own), 0, len(other))], list[tuple[int, int]]()
    while left:
        low, high, first, last = left.pop()
        inside = ends[low:high, first:last]
        sizes = np.minimum(np.minimum(inside, np.arange(1, high - low + 1)[:, None]), np.arange(1, last - first + 1))
        if not sizes.any():
            continue
        i, j = (int(place) for place in np.unravel_index(int(sizes.argmax()), sizes.shape))
        size = int(sizes[i, j])
        i, j = low + i + 1 - size, first + j + 1 - size
        found += ((i + step, j + step) for step in range(size))
        left += [(low, i, first, j), (i + size, high, j + size, last)]
    yield from sorted(found)


def _measure_equal(own: Sequence[str], other: Sequence[str]) -> np.ndarray:
    """(own, other) how many texts are equal up to and with these two."""
    numbers = {text: i for i, text in enumerate(dict.fromkeys((*own, *other)))}
    one, two = (np.array([numbers[text] for text in texts], dtype=np.int32) for texts in (own, other))
    ends = np.zeros((len(own) + 1, len(other) + 1), dtype=np.int16)
    for i, number in enumerate(one):
        np.multiply(ends[i, :-1] + 1, two == number, out=ends[i + 1, 1:])
    return ends[1:, 1:]


def _match_letters(here: Trace, there: Trace) -> Iterator[tuple[int, int]]:
    """The pieces that cover the same letters of equal words, however these are written."""
    own, other = _list_words(here), _list_words(there)
    for i, j in _match_equal([word for word, _ in own], [word for word, _ in other]):
        theirs = dict(other[j][1])
        yield from ((token, theirs[span]) for span, token in own[i][1] if span in theirs)


Pieces = list[tuple[tuple[int, int], int]]  # from which letter of the word to before which, and the token's position


def _list_words(trace: Trace) -> list[tuple[str, Pieces]]:
    """Each word without regard to case, with its pieces."""
    words: list[tuple[str, Pieces]] = []
    for i in trace.encoding.real:
        token = trace.tokens[i].casefold()
        if token.startswith(_INSIDE) and words:
            word, pieces = words.pop()
            whole = word + token.removeprefix(_INSIDE)
            words.append((whole, [*pieces, ((len(word), len(whole)), i)]))
        else:
            words.append((token, [((0, len(token)), i)]))
    return words


def write_pairs(pairs: Pairs) -> str:
    """Pairs as text, as a link holds them: `0-0.1-3`."""
    return _BETWEEN.join(f"{here}-{there}" for here, there in pairs)


def read_pairs(text: str, here: Trace, there: Trace) -> Pairs:
    """The pairs of a text. Raises InputError where they name a token that is not there, or one twice."""
    found: list[tuple[int, int]] = []
    for part in text.split(_BETWEEN):
        match = _PAIR.fullmatch(part.strip())
        if match is None:
            raise InputError(f"Matched tokens are written as 0-0.1-3, not {part[:40]!r}. Match the tokens again.")
        found.append((int(match[1]), int(match[2])))
    return check_pairs(found, here, there)


def check_pairs(pairs: Iterable[tuple[int, int]], here: Trace, there: Trace) -> Pairs:
    """The same pairs in order. Raises InputError where they name a token that is not there, or one twice."""
    found = tuple(pairs)
    for side, trace, name in ((0, here, "first"), (1, there, "second")):
        tokens = [pair[side] for pair in found]
        if len(set(tokens)) < len(tokens) or not all(token in trace.encoding.real for token in tokens):
            raise InputError(
                f"Each token of the {name} text, 0 to {len(trace.tokens) - 1}, can be matched once, not {tokens}. "
                "Match the tokens again."
            )
    return tuple(sorted(found))
