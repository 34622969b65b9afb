"""Integrated gradients (Sundararajan et al. 2017): how a number changes on the way from a text of [MASK]."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.nodes import Expr
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.steps import Step, walk_nodes
from bertviz_core.programs.bert import TOKEN_IDS
from bertviz_core.tracing.doubled import Doubled, list_ancestors
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

STEPS, MOST_STEPS = 32, 4096  # points on the way, each in the middle of its stretch
_AT_ONCE = 2_000_000  # numbers of one tensor for all points that are run together
_PIECE = 150_000  # of those, where others wait for their turn


@dataclass(frozen=True, eq=False)
class Gradients:
    """moved: (token, hidden) how far each embedding lies from [MASK]'s; slopes: the mean gradient on the way there;
    difference: what the parts should add up to: the number less that of the baseline; steps: on the way, each with a
    gradient."""

    moved: np.ndarray
    slopes: np.ndarray
    difference: float
    steps: int

    @property
    def parts(self) -> np.ndarray:
        """(token,) amounts."""
        return (self.moved * self.slopes).sum(axis=-1)


def integrate_gradients(trace: Trace, weights: Mapping[Address, float], steps: int = STEPS) -> Gradients:
    """What each token's word embedding adds to a sum of numbers, on the straight way from [MASK]'s at every token.

    weights: how many times each cell counts; steps: midpoints at which the gradient is taken, in float64. Raises
    InputError where the model has no mask token, or the program looks no words up; ArgumentError for other steps.
    """
    if not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ArgumentError.of(
            f"Gradients are taken at 1 to {MOST_STEPS} steps", steps, "Choose a whole number of them."
        )
    *_, (_, found) = integrate_each(trace, weights, steps, _AT_ONCE)
    assert found is not None
    return found


def integrate_each(
    trace: Trace, weights: Mapping[Address, float], steps: int = STEPS, at_once: int = _PIECE
) -> Generator[tuple[float, Gradients | None]]:
    """The same piece by piece: how much is done, and at last what was found. at_once: numbers of one tensor, as many
    points as that make a piece."""
    words = find_words(trace)
    mask = trace.model.tokenizer.mask_id
    if mask is None:
        raise InputError("This checkpoint's vocabulary has no mask token to begin from. Choose another method.")
    way = _Way(trace, words, weights)
    here = way.doubled[words.address]
    table = next(node.table for node in walk_nodes(words.expr) if isinstance(node, Lookup))
    base = way.doubled.part(table.address, table.axes, {table.axes[0]: range(mask, mask + 1)}).expand_as(here).clone()
    for change in trace.overrides(words.address):  # these are made whatever the text is
        change.apply(base)
    points = (torch.arange(steps, dtype=torch.float64) + 0.5) / steps
    slope, pieces = torch.zeros_like(here), points.split(max(1, at_once // (here.shape[0] * way.widest)))
    for done, piece in enumerate(pieces, 1):
        slope = slope + way.find_slopes(base, here, piece).sum(dim=0)
        if done < len(pieces):
            yield done / len(pieces), None
    ends = way.read(torch.stack([base, here])).detach()
    moved, mean = (lock(each.numpy()) for each in (here - base, slope / steps))
    yield 1.0, Gradients(moved, mean, float(ends[1] - ends[0]), steps)


def find_words(trace: Trace) -> Step:
    """The step that looks up a row for each token's id. Raises InputError where there is none."""
    for step in trace.program.steps:
        if isinstance(step.expr, Lookup) and step.expr.ids == _ids(trace):
            return step
    raise InputError("This program looks no word embeddings up, so nothing lies between them and [MASK]'s.")


def _ids(trace: Trace) -> Expr:
    return trace.program.leaves[TOKEN_IDS.address]


class _Way:
    """The pass from the word embeddings to a sum of numbers, for several embeddings at once."""

    def __init__(self, trace: Trace, words: Step, weights: Mapping[Address, float]) -> None:
        self.trace, self.words, self.weights = trace, words, weights
        reached = trace.program.reached({words.address})
        rows = trace.program.by_rows
        ends = {leaf.address for cell in weights for leaf in trace.step(cell).leaves}
        ends |= {cell.path for cell in weights if cell.path not in rows}
        ends = {address for address in ends if address in trace.program.by_address}
        needed = list_ancestors(trace, ends)
        self.steps = [step for step in needed if step.address in reached and step.address != words.address]
        held = {leaf.address for step in self.steps for leaf in step.leaves} - {step.address for step in self.steps}
        self.doubled = Doubled(trace, {a for a in held | {words.address} if a in trace.program.by_address})
        self.widest = max((trace.shape(step.address)[-1] for step in self.steps), default=1)

    def read(self, words: Tensor) -> Tensor:
        """(point,) the sum of numbers for word embeddings (point, token, hidden)."""
        return torch.vmap(self._read_one, randomness="same")(words)

    def _read_one(self, words: Tensor) -> Tensor:
        known = Doubled(self.trace, ())
        known.hold(self.doubled)
        known.hold({self.words.address: words})
        for step in self.steps:
            known.compute(step)
        cells = [(*self.trace.layout.one_cell(cell), times) for cell, times in self.weights.items()]
        return sum(
            (known.part(symbol.address, symbol.axes, {axis: range(i, i + 1) for axis, i in at.items()}).sum() * times
             for symbol, at, times in cells),
            torch.zeros((), dtype=torch.float64),
        )  # fmt: skip

    def find_slopes(self, base: Tensor, here: Tensor, points: Tensor) -> Tensor:
        """(point, token, hidden) how the sum of numbers changes with each embedding on the way."""
        with torch.enable_grad():
            words = (base + points[:, None, None] * (here - base)).requires_grad_()
            return torch.autograd.grad(self.read(words).sum(), words)[0]
