"""Where a token looks, in a sentence of a headline."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.formula.numbers import format_percent
from bertviz_core.ui.frame.labels import quote


def tell_hardest(row: np.ndarray, token: int, tokens: Sequence[str]) -> str:
    """Which key a query looks at most, as Markdown; where all its weights are 0, that it looks at none.

    row: the query's attention weights, shape (key,), 0 to 1; token: the query's position.
    """
    most = int(row.argmax())
    if not row[most]:
        return f"{quote(tokens[token])} looks at nothing: **all its weights are 0**"
    return f"{quote(tokens[token])} looks hardest at {name_weight(tokens[most], float(row[most]))}"


def name_weight(key: str, weight: float) -> str:
    """A key and its attention weight, as Markdown."""
    return f"**{quote(key)}: {format_percent(weight)}**"
