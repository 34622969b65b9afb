"""Where a token looks, in a sentence of a headline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.ui.panels.said import tell_percent, tell_token

ALL_ZERO = "All weights of this head are 0: it takes nothing from any token, and adds nothing to the output."

NO_SHARES = (
    "Not all weights of this head are shares, of which none is below 0 and each row, padding left out, sums to 1: a "
    "change decides them."
)


def tell_hardest(row: np.ndarray, token: int, tokens: Sequence[str], counted: Sequence[int]) -> Said:
    """Which key a query looks at most; where all its weights are 0, that it looks at none.

    row: the query's attention weights, shape (key,), 0 to 1, unless a change put others; token: the query's position;
    counted: the keys of which one may be the largest.
    """
    row = row[counted]
    most = int(row.argmax())
    asks, weight, key = tell_token(tokens, token), tell_percent(row[most]), tell_token(tokens, counted[most])
    parts, asking = {"weight": weight, "asks": asks, "key": key}, {"asks": asks}
    if (row < 0).any():
        return _tell_below(row, asks, key)
    return say(
        choose(
            Claim("looks at nothing", "{asks} looks at nothing: **all its weights are 0**", asking, Relation.NONE, row),
            Claim(
                "looks hardest", "{asks} looks hardest at **{key}: {weight}**", parts, Relation.LARGEST, row, (most,)
            ),
            Claim(
                "looks as hard",
                "{asks} looks at no token harder than at **{key}: {weight}**",
                parts,
                Relation.HIGHEST,
                row,
                (most,),
            ),
        )
    )


def _tell_below(row: np.ndarray, asks: Part, key: Part) -> Said:
    """Of weights below 0, which no softmax gives: how many there are, and the largest weight, which is on `key`."""
    most, below = int(row.argmax()), row < 0
    count = Claim(
        "weights below 0",
        "{asks} has {count} of {all} weights below 0, which a change puts there",
        {"asks": asks, "count": Part(int(below.sum())), "all": Part(len(row))},
    )
    parts = {"weight": tell_percent(row[most]), "key": key}
    return say(
        count,
        choose(
            Claim(
                "largest beside weights below 0",
                "; the largest is that on **{key}: {weight}**",
                parts,
                Relation.LARGEST,
                row,
                (most,),
            ),
            Claim(
                "none larger beside weights below 0",
                "; none is larger than that on **{key}: {weight}**",
                parts,
                Relation.HIGHEST,
                row,
                (most,),
            ),
        ),
    )
