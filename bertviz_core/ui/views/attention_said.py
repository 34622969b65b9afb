"""The attention page in a sentence more: what the division by √d_k does, and what rows of weights sum to."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame.lesson import is_covered
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.looks import ALL_ZERO
from bertviz_core.ui.panels.said import tell_percent, tell_token
from bertviz_core.ui.views.attention_worked import read_row


def name_key(shown: str) -> str:
    """Which key is worked out. shown: the same where a rule chose it; the headline says why."""
    return "step by step" if is_covered("headline") or not shown else shown


def tell_undivided(view: View) -> Said:
    """What the softmax would give the key that fits best, were the dot products not divided; nothing after a change."""
    width, real = view.trace.model.config.head_dim, list(view.trace.encoding.real)
    if view.trace.changes or width == 1:
        return say("")
    products = read_row(view, "products").astype(np.float64)[real]
    powers = np.exp(products - products.max())
    shares = powers / powers.sum()
    most = int(shares.argmax())
    parts = {
        "share": tell_percent(float(shares[most])),
        "key": tell_token(view.trace.tokens, real[most]),
        "width": Part(width),
    }
    best = "Without the division by √{width} the softmax would give {share} to {key}."
    level = "Without the division by √{width} the softmax would give no token more than {share}."
    return choose(
        Claim("undivided", best, parts, Relation.LARGEST, shares, (most,)),
        Claim("none more, undivided", level, parts, Relation.HIGHEST, shares, (most,)),
    )


def is_usual(weights: np.ndarray) -> bool:
    """Whether the weights are as a softmax gives them, which the card's own sentence says."""
    sums = weights.sum(axis=1, dtype=np.float64)
    return bool(np.allclose(sums, 1, atol=1e-4)) and not (weights < 0).any()


def tell_rows(weights: np.ndarray) -> str:
    """What (query, key) weights are, and what their rows sum to: 1, unless a change put other numbers there."""
    if not weights.any():
        return f"Rows are queries, columns are keys. {ALL_ZERO}"
    sums = weights.sum(axis=1, dtype=np.float64)
    if np.allclose(sums, 1, atol=1e-4):
        below = int((weights < 0).sum())
        whole = "each row sums to 1" + (f", with weights below 0 that a change puts there: {below:,}" if below else "")
    else:
        least, most = (format_number(float(end)) for end in (sums.min(), sums.max()))
        each = least if sums.any() else "0"
        whole = (
            f"as changed, each row sums to {each}" if least == most else f"as changed, a row sums to {least} to {most}"
        )
    return f"Rows are queries, columns are keys; {whole}."
