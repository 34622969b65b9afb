"""What the chosen token takes in the chosen layer: head by head, token by token."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bertviz_core.analysis.attention import choose_shown, weigh_values
from bertviz_core.analysis.layers import compute_norms
from bertviz_core.analysis.token_attention import Taken, measure_taken
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.ui.frame.view import View

SHOWN = 16  # tokens, at most, that are drawn
_LITTLE = 0.5  # part of a full share above which a weight is not worth a contrast


@dataclass(frozen=True)
class Contrast:
    """A head in which a token has a large weight of which little is taken."""

    head: int
    key: int
    weight: float
    taken: float


@dataclass(frozen=True, eq=False)
class Bringing:
    """What the chosen token takes, head by head and token by token.

    best: the token of which the chosen head takes most: none of padding, unless a change puts weight on that; where it
    takes nothing, of which it did before; shown: the tokens that are drawn.
    """

    found: Taken
    head: int
    best: int
    parts: np.ndarray
    sums: np.ndarray
    shown: list[int]

    @cached_property
    def taken(self) -> np.ndarray:
        return self.found.taken

    @property
    def sum_of_weights(self) -> float:
        """Of the chosen head: 1, where no change put others."""
        return round(float(self.found.weights[self.head].sum()), 5)

    @property
    def others(self) -> int:
        """How many tokens are not drawn; of padding that of which a change has something taken."""
        return len({*self.found.real, *np.flatnonzero(self.taken[self.head]).tolist()} - {*self.shown})

    @cached_property
    def contrast(self) -> Contrast | None:
        """Where of all heads the largest part of a weight is not taken, as its value is short; None where it is little.

        A weight would be taken whole from the longest value of the layer.
        """
        lengths = self.found.lengths / (self.found.longest or 1.0)
        missed = np.zeros_like(lengths)
        missed[:, self.found.real] = (self.found.weights * (1 - lengths))[:, self.found.real]
        head, key = (int(i) for i in np.unravel_index(int(missed.argmax()), missed.shape))
        if missed[head, key] < _LITTLE:
            return None
        return Contrast(head, key, float(self.found.weights[head, key]), float(self.taken[head, key]))


def read_bringing(view: View) -> Bringing:
    """What the chosen token takes in the chosen layer."""
    trace, head, token = view.trace, view.chosen.head, view.chosen.token
    own = SELF_ATTENTION.in_layer(view.chosen.layer)
    found = measure_taken(trace, view.chosen.layer, token)
    parts = weigh_values(
        trace[own.enter("probs").fix(head=head, query=token)], trace[own.enter("value").fix(head=head)]
    )
    values = trace[own.enter("value")].astype(np.float64)
    row = found.taken[head]
    best = int(row.argmax()) if row.any() or view.ghost is None else read_bringing(view.unchanged).best
    kept = sorted({*found.real, *np.flatnonzero(row).tolist(), token, best})
    shown = [kept[i] for i in choose_shown(row[kept], SHOWN, (kept.index(token), kept.index(best)))]
    return Bringing(found, head, best, parts, compute_norms(np.einsum("hk,hkd->hd", found.weights, values)), shown)
