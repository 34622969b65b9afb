"""Where a token looks, in a sentence of a headline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analysis.claims import Claim, Relation, Said, choose, say
from bertviz_core.ui.panels.said import tell_percent, tell_token

ALL_ZERO = "All weights of this head are 0: it takes nothing from any token, and adds nothing to the output."


def tell_hardest(row: np.ndarray, token: int, tokens: Sequence[str]) -> Said:
    """Which key a query looks at most; where all its weights are 0, that it looks at none.

    row: the query's attention weights, shape (key,), 0 to 1; token: the query's position.
    """
    most = int(row.argmax())
    asks, weight, key = tell_token(tokens, token), tell_percent(row[most]), tell_token(tokens, most)
    parts, asking = {"weight": weight, "asks": asks, "key": key}, {"asks": asks}
    return say(choose(
        Claim("looks at nothing", "{asks} looks at nothing: **all its weights are 0**", asking, Relation.NONE, row),
        Claim("looks hardest", "{asks} looks hardest at **{key}: {weight}**", parts, Relation.LARGEST, row, (most,)),
        Claim("looks as hard", "{asks} looks at no token harder than at **{key}: {weight}**", parts, Relation.HIGHEST,
              row, (most,)),
    ))  # fmt: skip
