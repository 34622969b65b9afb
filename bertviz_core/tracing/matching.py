"""Which token of one pass is which of another: by place where there are as many, else by equal word pieces."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from bertviz_core.errors import InputError
from bertviz_core.tracing.taken import Pairs
from bertviz_core.tracing.trace import Trace

_PAIR = re.compile(r"([0-9]{1,4})-([0-9]{1,4})")
_BETWEEN = "."


def match_tokens(here: Trace, there: Trace, by_place: bool = False) -> Pairs:
    """The pairs of equal word pieces in the same order, padding left out: a token here, and the one there.

    by_place: whether each token is matched with that at its place, equal or not, where both have as many.
    """
    own, other = ([trace.tokens[i] for i in trace.encoding.real] for trace in (here, there))
    if by_place and here.encoding.mask == there.encoding.mask:
        return tuple((i, i) for i in range(len(here.tokens)))
    blocks = SequenceMatcher(None, own, other, autojunk=False).get_matching_blocks()
    return tuple(
        (here.encoding.real[block.a + i], there.encoding.real[block.b + i])
        for block in blocks
        for i in range(block.size)
    )


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
    for side, trace, name in ((0, here, "first"), (1, there, "second")):
        tokens = [pair[side] for pair in found]
        if len(set(tokens)) < len(tokens) or not all(token in trace.encoding.real for token in tokens):
            raise InputError(
                f"Each token of the {name} text, 0 to {len(trace.tokens) - 1}, can be matched once, not {tokens}. "
                "Match the tokens again."
            )
    return tuple(sorted(found))
