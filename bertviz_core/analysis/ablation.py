"""How much a head matters to one number of the pass: what becomes of that number when the head is zeroed."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.predictions import PROBS, RELATIONS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import join_layer
from bertviz_core.tracing.trace import Trace


def list_outcomes(trace: Trace, token: int, k: int) -> dict[str, str]:
    """Probabilities that a head could matter to: address of the cell by what it stands for, the likeliest first."""
    found: dict[str, str] = {}
    if PROBS in trace:
        row = trace.recomputed(f"{PROBS}[token={token}]")
        words = trace.model.tokenizer.vocabulary
        found |= {f"“{words[i]}” at position {token}": f"{PROBS}[token={token},vocab={i}]" for i in rank_top(row, k)}
    for path, axis, labels in (
        ("cls.seq_relationship.probs", "relation", RELATIONS),
        ("classifier.probs", "label", trace.model.labels),
    ):
        if path in trace:
            where = f"token={token}," if "token" in trace.dims(path) else ""
            found |= {name: f"{path}[{where}{axis}={i}]" for i, name in enumerate(labels)}
    return found


def run_without_head(trace: Trace, address: str, layer: int, head: int) -> float:
    """A cell's value when one head hands on nothing: all its attention is 0."""
    heads = {join_layer(layer, f"attention.self.probs[head={head}]"): 0.0}
    return float(trace.with_changes(heads).recomputed(address))


class Ablation:
    """Every head zeroed in turn, as far as somebody has asked for it. Can be shared: numbers are only filled in.

    value: of the cell as it is; change: (layer, head) its value without that head minus that, NaN where not yet known.
    """

    def __init__(self, trace: Trace, address: str) -> None:
        config = trace.model.config
        self.address = address
        self.value = float(trace.recomputed(address))
        self.change = np.full((config.num_hidden_layers, config.num_attention_heads), np.nan)

    @property
    def left(self) -> int:
        """How many heads have not been zeroed yet."""
        return int(np.isnan(self.change).sum())

    def step(self, trace: Trace) -> None:
        """Zero the next head; the last layer first, where least has to be computed again."""
        waiting = np.argwhere(np.isnan(self.change))
        if len(waiting):
            layer, head = (int(i) for i in waiting[-1])
            self.change[layer, head] = run_without_head(trace, self.address, layer, head) - self.value
