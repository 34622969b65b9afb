"""How much memory a training takes, worked out before it begins, and how much it may take.

`benchmarks/training_memory.py` measures it beside this.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass

from bertviz_core.checkpoint.memory import read_budget
from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import TrainingError
from bertviz_core.formula.steps import Program
from bertviz_core.learning.settings import MAX_TOKENS
from bertviz_core.tracing.layout import Layout

PROCESS_BYTES = 300_000_000  # of a process that trains, before it holds anything: Python, PyTorch, the tokenizers
HISTORY_BYTES = 16_000_000  # of weights of earlier steps
SHORTEST = 3  # tokens of a sentence: [CLS], a word, [SEP]


@dataclass(frozen=True)
class Room:
    """Bytes of a training, the model that it starts from included. held: between two steps; peak: during one."""

    held: int
    peak: int


def estimate_room(model: Model, loss: Program, learned: Collection[str], tokens: int, practised: bool) -> Room:
    """What a training takes at most.

    loss: what a step computes; learned: the parameters that learn; tokens: of the longest sentence.

    Held are the weights before the last step and after it, AdamW's two running means with both of them, a gradient that
    somebody has asked for, and weights of earlier steps. During a step the weights before the last one are given up.
    A derivative needs every tensor of the pass, and the largest parameter's once more while it is summed up.
    """
    layout = Layout(model, loss, tokens)
    cells = sum(math.prod(layout.size(axis) for axis in step.output.axes) for step in loss.steps)
    gradient = sum(model.parameters[name].nbytes for name in learned)
    state = gradient * (3 if practised else 1)
    kept = model.nbytes + state + HISTORY_BYTES
    held = kept + state + gradient
    largest = max(model.parameters[name].nbytes for name in learned)
    return Room(held, max(held, kept + gradient + largest + max(state, cells * model.dtype.itemsize)))


def read_limit() -> int:
    """Bytes that all trainings together may take here."""
    return max(0, read_budget().training - PROCESS_BYTES)


def check_room(model: Model, loss: Program, learned: Collection[str], tokens: int, practised: bool) -> Room:
    """What a training takes at most. Raises TrainingError where that does not fit, with what would."""
    limit, needed = read_limit(), estimate_room(model, loss, learned, tokens, practised)
    if needed.peak > limit:
        raise TrainingError(
            f"A training may take {write_bytes(limit)} of memory here. This one would take {write_bytes(needed.peak)}: "
            f"{model.parameter_count:,} weights, {tokens} tokens in the longest sentence. "
            f"{_suggest(model, loss, learned, tokens, practised, limit)}"
        )
    return needed


def _suggest(model: Model, loss: Program, learned: Collection[str], tokens: int, practised: bool, limit: int) -> str:
    """What would fit: the longest sentence by the same estimate, or else another way to learn."""
    longest = find_longest(model, loss, learned, practised, limit)
    if longest:
        return f"At most {longest} tokens a sentence fit here; a word is one or more of them. Shorten it."
    if practised and find_longest(model, loss, learned, False, limit) >= tokens:
        return "As printed, with no AdamW, it would fit."
    if len(learned) > 5:
        return "No sentence is short enough here. Train the small model, or the LM head alone."
    return "No sentence is short enough here. Train the small model."


def find_longest(model: Model, loss: Program, learned: Collection[str], practised: bool, limit: int) -> int:
    """How many tokens the longest sentence that fits may have; 0 where none does."""
    longest = min(MAX_TOKENS, model.config.max_position_embeddings)
    lengths = range(SHORTEST, longest + 1)
    fits = bisect_right(lengths, limit, key=lambda tokens: estimate_room(model, loss, learned, tokens, practised).peak)
    return lengths[fits - 1] if fits else 0


def write_bytes(count: float) -> str:
    """An amount of memory, as it is read."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
