"""From how many numbers a cell is made, and how many are made from it, as the formulas of the trace's program say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from bertviz_core.formula.address import Address
from bertviz_core.formula.cells import At
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.loss_nodes import Pick
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.shapes import Lookup, Select
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import walk_nodes
from bertviz_core.tracing.changes import Override, holds
from bertviz_core.tracing.meanings import ADDS, MULTIPLIES, PUTS, name_doing
from bertviz_core.tracing.trace import Trace

_CHOOSING = Lookup, Pick, Select  # nodes that take some cells of a tensor and leave others


def count_sources(trace: Trace, path: str) -> int:
    """How many operands the formula of each cell of a tensor has, parameters and constants of the input among them."""
    return sum(_count_cells(trace, symbol, at) for symbol, at in trace.needs(_find_first(trace, path)))


def count_uses(trace: Trace, path: str) -> int | None:
    """How many numbers of the embeddings and layers are made, in one step, from each cell of a tensor.

    A formula takes equally many cells of a tensor for each of its results, and every cell equally often: so often as
    these are together, shared out among the cells. None where the cells differ in that: where a formula chooses some,
    or a change put numbers in place of some of what is made.
    """
    total = 0
    for step in trace.program.readers.get(path, ()):
        if not (step.stage.in_layer or step.stage is Stage.EMBEDDINGS):
            continue
        if trace.overrides(step.address) or any(isinstance(node, _CHOOSING) for node in walk_nodes(step.expr)):
            return None
        taken = {
            tuple((axis, cells) for axis, cells in at.items()): _count_cells(trace, symbol, at)
            for symbol, at in trace.needs(_find_first(trace, step.address))
            if symbol.address == path
        }
        total += math.prod(trace.shape(step.address)) * sum(taken.values()) // math.prod(trace.shape(path))
    return total


def count_made(trace: Trace, cell: Address, path: str) -> int:
    """How many numbers of a tensor that a step makes of a cell's tensor are made of the cell itself, at its own place:
    of its token, its head, its component."""
    return int(_mark_made(trace, cell, path)[1].sum())


def find_made(trace: Trace, cell: Address, path: str) -> Address | None:
    """The number of a tensor that is made from a cell; of several the largest in size. None where none is."""
    place, made = _mark_made(trace, cell, path)
    if not made.any():
        return None
    sizes = np.where(made, np.abs(np.nan_to_num(trace[place])), -1.0)
    largest = np.unravel_index(int(sizes.argmax()), sizes.shape)
    return _name_place(trace, place, [int(i) for i in largest])


def _mark_made(trace: Trace, cell: Address, path: str) -> tuple[Address, np.ndarray]:
    """The slice of a tensor at a cell's place, and which of its numbers the step makes of the cell; none of those that
    a change put there."""
    axes = trace.dims(path)
    place = _carry_over(trace, cell, path).sort(axes)
    free = [(axis, size) for axis, size in zip(axes, trace.shape(path), strict=True) if axis not in place.at]
    made = np.zeros([size for _, size in free], dtype=bool)
    made[tuple(slice(each.start, each.stop) for each in (_limit(trace, cell, axis, size) for axis, size in free))] = (
        True
    )
    for override in trace.overrides(path):
        cut = dict(zip(axes, override.index, strict=True))
        if all(holds(cut[axis], i) for axis, i in place.index):
            made[tuple(cut[axis] for axis, _ in free)] = False
    return place, made & _mark_needed(trace, cell, place, made)


def _mark_needed(trace: Trace, cell: Address, place: Address, made: np.ndarray) -> np.ndarray:
    """Where in a slice the formula names the cell: in all of it or nowhere, but where ids choose, by each token."""
    axes = [axis for axis in trace.dims(place.whole) if axis not in place.at]
    chooses = any(isinstance(node, _CHOOSING) for node in walk_nodes(trace.step(place).expr))
    apart = next((axis for axis in axes if axis in TOKEN_AXES), "") if chooses else ""
    needed = np.zeros([made.shape[i] if axis == apart else 1 for i, axis in enumerate(axes)], dtype=bool)
    for i in np.ndindex(needed.shape):
        rest = made[tuple(at if axis == apart else slice(None) for axis, at in zip(axes, i, strict=True))]
        if rest.any():
            first = iter(np.argwhere(rest)[0])
            at = [at if axis == apart else int(next(first)) for axis, at in zip(axes, i, strict=True)]
            needed[i] = _is_needed(trace, cell, _name_place(trace, place, at))
    return needed


def _name_place(trace: Trace, place: Address, at: Sequence[int]) -> Address:
    """One number of a slice. at: its place along the axes that the slice leaves free."""
    axes = trace.dims(place.whole)
    free = (axis for axis in axes if axis not in place.at)
    return place.fix(**{axis: int(i) for axis, i in zip(free, at, strict=True)}).sort(axes)


def _limit(trace: Trace, cell: Address, axis: str, size: int) -> range:
    """Where along a free axis the numbers lie that can be made from a cell: of what heads give, those of its own."""
    if axis != "concat" or "head" not in cell.at:
        return range(size)
    width = trace.model.config.head_dim
    return range(cell.at["head"] * width, (cell.at["head"] + 1) * width)


def _carry_over(trace: Trace, cell: Address, path: str) -> Address:
    """The slice of a tensor that is at a cell's place, as far as the two have axes in common, under whichever name."""
    at, axes = cell.at, trace.dims(path)
    width = trace.model.config.head_dim
    if "head_dim" in at:
        at["concat"] = at.get("head", 0) * width + at["head_dim"]
    elif "concat" in at:
        at["head"], at["head_dim"] = divmod(at["concat"], width)
    named = {axis: i for axis, i in at.items() if axis in axes}
    of_tokens = [axis for axis in axes if axis in TOKEN_AXES]
    token = at.get("query", at.get("token"))  # what a key offers goes to every token
    if token is not None and of_tokens and not TOKEN_AXES & named.keys():
        named[of_tokens[0]] = token
    return Address(path).fix(**named)


def _is_needed(trace: Trace, cell: Address, made: Address) -> bool:
    """Whether the formula of one cell names another."""
    fixed = cell.at
    return any(
        symbol.address == cell.path and all(fixed[axis.name] in cells for axis, cells in at.items())
        for symbol, at in trace.needs(made)
    )


def is_put(trace: Trace, where: Address) -> bool:
    """Whether a change put a number anywhere in a tensor, slice or cell, in place of what its formula gives."""
    return any(_list_puts(trace, where))


def find_doing(trace: Trace, where: Address) -> str:
    """What changes do anywhere in a tensor, slice or cell, as a verb: one of `meanings`; "" where they do nothing."""
    return name_doing(_list_puts(trace, where))


def _list_puts(trace: Trace, where: Address) -> Iterator[Override]:
    """The changes that put a number anywhere in a tensor, slice or cell."""
    fixed, axes = where.at, trace.dims(where.whole)
    for override in trace.overrides(where.path):
        if all(axis not in fixed or holds(at, fixed[axis]) for at, axis in zip(override.index, axes, strict=True)):
            yield override


def say_changed(trace: Trace, cell: Address) -> str:
    """Of a number that a change put there: what it does to the one that was there."""
    made = "the step computes" if cell.path in trace.addresses else "the tokenizer made"
    (*before, last) = _list_puts(trace, cell)
    if not before and (last.times or last.plus):
        return f"A what-if change {'multiplies' if last.times else 'adds to'} what {made}."
    return f"Set by a what-if change; it replaces what {made}."


def name_put(trace: Trace, cell: Address) -> str:
    """Of a number that a change put there: how, to stand behind its name."""
    (*before, _) = _list_puts(trace, cell)
    doing = PUTS if before else find_doing(trace, cell)
    return {MULTIPLIES: "multiplied by a change", ADDS: "to which a change adds"}.get(doing, "put there by a change")


def is_put_throughout(trace: Trace, where: Address) -> bool:
    """Whether one change put numbers everywhere in a tensor, slice or cell, so that nothing computed is left there."""
    return not find_factor(trace, where)


def find_factor(trace: Trace, where: Address) -> float:
    """How many times what is computed stands everywhere in a tensor, slice or cell: 1 unless changes multiply all of
    it, 0 where one put other numbers in its place. What they add, or put in parts of it, does not count."""
    fixed, axes, factor = where.at, trace.dims(where.whole), 1.0
    for override in trace.overrides(where.path):
        throughout = all(
            at == slice(None) or (axis in fixed and holds(at, fixed[axis]))
            for at, axis in zip(override.index, axes, strict=True)
        )
        if throughout and not override.plus:
            factor *= float(override.numbers.flat[0]) if override.times else 0.0
    return factor


def work_out(trace: Trace, cell: Address) -> float:
    """What a cell's formula gives from its recorded operands, in float64: also where a change put another number."""
    at = {axis: range(cell.at[axis.name], cell.at[axis.name] + 1) for axis in trace.axes(cell.whole)}
    return float(trace.work(trace.step(cell).expr, at).item())


def _find_first(trace: Trace, path: str) -> Address:
    return Address(path).fix(**dict.fromkeys(trace.dims(path), 0))


def _count_cells(trace: Trace, symbol: Symbol, at: At) -> int:
    return math.prod(len(at[axis]) if axis in at else trace.layout.size(axis) for axis in symbol.axes)
