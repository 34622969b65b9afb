"""Lines 5 and 6 of E-Training: one sentence with hidden tokens in, the loss and every hidden token's term out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.func import vmap

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.formula.address import LOSS
from bertviz_core.formula.nodes import Env
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program
from bertviz_core.learning.draws import Draw
from bertviz_core.programs.training import HIDDEN, LOG_PROBS, TERM, WORDS
from bertviz_core.tracing.inputs import make_inputs


@dataclass(frozen=True)
class Loss:
    """value: J; terms: (hidden,) -log P of each hidden token's own word; log_probs: (hidden, vocab)."""

    value: Tensor
    terms: Tensor
    log_probs: Tensor


def prepare_inputs(encoding: Encoding, draw: Draw, dtype: torch.dtype) -> dict[str, Tensor]:
    """What the loss reads besides the parameters, by address: each (token,)."""
    masked = replace(encoding, ids=draw.masked_ids)
    hidden = torch.zeros(len(encoding), dtype=dtype)
    hidden[list(draw.hidden)] = 1
    return {**make_inputs(masked, dtype), WORDS.address: torch.tensor(encoding.ids), HIDDEN.address: hidden}


def compute(loss: Program, parameters: Env, inputs: Env, rows: Tensor | None = None) -> dict[str, Tensor]:
    """Run the steps in order, and give what is left when the loss is known: its own steps.

    rows: the LM head and the loss are computed for these tokens only; of the others the loss says nothing. What no
    later step reads is dropped on the way, as a trace does it.
    """
    env = {**parameters, **inputs}
    recent: dict[str, Tensor] = {}
    for step in loss.steps:
        if rows is not None and step.stage is Stage.PREDICTIONS:
            recent = {name: tensor[rows] for name, tensor in recent.items()}
            env |= {**{name: tensor[rows] for name, tensor in inputs.items()}, **recent}
            rows = None
        result = step.expr.value(env)
        if step.address in loss.spine and step.address != LOSS:
            for name in recent:
                del env[name]
            recent = {}
        env[step.address] = recent[step.address] = result
    return recent


def measure(loss: Program, parameters: Env, inputs: Env, hidden: Sequence[int]) -> Loss:
    """The loss of one sentence with these tokens hidden."""
    found = compute(loss, parameters, inputs, torch.tensor(hidden))
    return Loss(found[LOSS], found[TERM], found[LOG_PROBS])


def ask_each(
    loss: Program, parameters: Env, encoding: Encoding, mask_id: int, dtype: torch.dtype, positions: Sequence[int]
) -> list[float]:
    """The probability of each token's own word when it alone is hidden; the passes are computed side by side."""
    inputs = prepare_inputs(encoding, Draw((), encoding.ids), dtype)
    rows = torch.tensor(positions)[:, None]
    masked = torch.tensor([encoding.ids] * len(positions)).scatter(1, rows, mask_id)

    def ask(ids: Tensor, row: Tensor) -> Tensor:
        return compute(loss, parameters, {**inputs, "input_ids": ids}, row)[TERM][0]

    with torch.no_grad():
        return (-vmap(ask)(masked, rows)).exp().tolist()
