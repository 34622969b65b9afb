"""How much memory a training takes, worked out before it begins, and how much it may take.

`benchmarks/training_memory.py` measures it beside this.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import TrainingError
from bertviz_core.formula.steps import Program
from bertviz_core.learning.settings import MAX_TOKENS
from bertviz_core.sharing.memory import read_budget
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
        most, asked = write_apart(limit, needed.peak)
        raise TrainingError(
            f"A training may take {most} of memory here. This one would take {asked}: "
            f"{model.parameter_count:,} weights, {tokens} tokens in the longest sentence. "
            f"{_suggest(model, loss, learned, tokens, practised, limit)}"
        )
    return needed


def fit_together(own: Room, others: Collection[Room]) -> bool:
    """Whether trainings can be held side by side, while one of them takes a step."""
    return measure_together((own, *others)) <= read_limit()


def measure_together(rooms: Collection[Room]) -> int:
    """Bytes of trainings that are held side by side, while one of them takes a step."""
    return sum(room.held for room in rooms) + _find_extra(rooms)


def check_together(own: Room, others: Collection[Room]) -> None:
    """Raises TrainingError where a training does not fit beside those of others."""
    if not fit_together(own, others):
        raise TrainingError(
            f"The trainings of others hold {write_bytes(sum(room.held for room in others))} of the "
            f"{write_bytes(read_limit())} that there are here, and this one may take "
            f"{write_bytes(own.held + _find_extra((own, *others)))} more. Train the small model, or try again in a "
            "minute."
        )


def _find_extra(rooms: Collection[Room]) -> int:
    """Bytes that a step takes on top, of whichever takes most."""
    return max(room.peak - room.held for room in rooms)


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


def write_apart(one: int, other: int) -> tuple[str, str]:
    """Two amounts of memory that differ, with as many decimals as tell them apart."""
    written = ((write_bytes(one, decimals), write_bytes(other, decimals)) for decimals in range(1, 10))
    return next(pair for pair in written if pair[0] != pair[1])


def write_bytes(count: float, decimals: int = 1) -> str:
    """An amount of memory, as it is read. decimals: of gigabytes; megabytes have one less."""
    return f"{count / 1e9:.{decimals}f} GB" if count >= 1e9 else f"{count / 1e6:.{decimals - 1}f} MB"
