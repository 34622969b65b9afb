"""How much a head matters to one number of the pass: what becomes of that number when the head is zeroed."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.predictions import PROBS, RELATIONS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace


def list_outcomes(trace: Trace, token: int, k: int) -> dict[str, Address]:
    """Probabilities that a head could matter to: address of the cell by what it stands for, the likeliest first."""
    found: dict[str, Address] = {}
    if PROBS in trace:
        here, words = PROBS.fix(token=token), trace.model.tokenizer.vocabulary
        best = rank_top(trace.recomputed(here), k)
        found |= {f"“{words[i] or f'id {i}'}” at position {token}": here.fix(vocab=i) for i in best}
    for path, axis, labels in (
        ("cls.seq_relationship.probs", "relation", RELATIONS),
        ("classifier.probs", "label", trace.model.labels),
    ):
        if path in trace:
            here = Address(path).fix(token=token) if "token" in trace.dims(path) else Address(path)
            found |= {name: here.fix(**{axis: i}) for i, name in enumerate(labels)}
    return found


def run_without_head(trace: Trace, address: Address, layer: int, head: int) -> float:
    """A cell's value when one head hands on nothing: all its attention is 0."""
    zeroed = Address.in_layer(layer, "attention.self.probs").fix(head=head)
    return float(trace.with_changes({str(zeroed): 0.0}).recomputed(address))


class Ablation:
    """Every head zeroed in turn, as far as somebody has asked for it. Can be shared: numbers are only filled in.

    value: of the cell as it is; change: (layer, head) its value without that head minus that, NaN where not yet known.
    """

    def __init__(self, trace: Trace, address: Address) -> None:
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
