"""One cell worked out: its formula with its own operands, and how it changes with each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import cast

import torch

from bertviz_core.formula.address import Address, Block
from bertviz_core.formula.cells import At, narrow, read_part
from bertviz_core.formula.nodes import Env, Symbol
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.short_worked import work_short
from bertviz_core.formula.shown import show
from bertviz_core.formula.steps import PARAMETER, Step
from bertviz_core.formula.tensors import list_numbers


@dataclass(frozen=True)
class Source:
    """Operands that lie in one tensor side by side. values: of the block's cells, in its order; ids are whole."""

    block: Block
    values: tuple[float, ...]


@dataclass(frozen=True)
class Made:
    """What one cell is made from.

    sources: the operands in the order of the formula, tensor by tensor; empty, and step None, for a parameter, an
    input, or a number that a change put there.
    """

    cell: Address
    sources: tuple[Source, ...]
    step: Step | None

    @property
    def count(self) -> int:
        """How many operands there are."""
        return sum(len(source.values) for source in self.sources)


@dataclass(frozen=True)
class Explanation(Made):
    """One cell, worked out.

    value: as recorded; recomputed: in float64 from the recorded operands; latex: the formula with its numbers; short:
    that in one line, without symbol and result, "" where nothing is left.
    """

    value: float
    recomputed: float
    latex: str
    short: str

    def __repr__(self) -> str:
        return f"<{self.address} = {self.value!r}, recomputed {self.recomputed!r}, from {self.count} numbers>"

    def _repr_html_(self) -> str:
        """In a notebook: the worked formula and its operands, without any request."""
        return show("explanation", self)

    def _repr_latex_(self) -> str:
        """Where only LaTeX is shown: the formula with its numbers."""
        return rf"$\displaystyle {self.latex}$"

    @property
    def address(self) -> str:
        """The cell's address as text."""
        return str(self.cell)

    @cached_property
    def operands(self) -> tuple[tuple[str, float], ...]:
        """The address of one cell, as text, and its value, in the order of the formula."""
        return tuple(chain(*(zip(source.block.write(), source.values, strict=True) for source in self.sources)))


def explain(env: Env, symbol: Symbol, at: At, step: Step | None) -> Explanation:
    """Work out the one cell `at`. step: what computes it, if anything does."""
    made, left = find_made(env, symbol, at, step), write_cell(symbol, _list_indices(symbol, at))
    value = symbol.work(env, at).item()
    if step is None:
        return Explanation(made.cell, (), None, value, value, f"{left} = {format_latex(value)}", "")
    result = step.expr.work(env, at).item()
    latex = f"{left} = {step.expr.worked(env, at)} = {format_latex(result)}"
    return Explanation(made.cell, made.sources, step, value, result, latex, work_short(step.expr, env, at))


def find_made(env: Env, symbol: Symbol, at: At, step: Step | None) -> Made:
    """What the one cell `at` is made from, without working it out. step: what computes it, if anything does."""
    here = Address(symbol.address, tuple((axis.name, at[axis].start) for axis in symbol.axes))
    return Made(here, () if step is None else tuple(_list_sources(env, step, at)), step)


def differentiate(env: Env, step: Step, at: At) -> tuple[float, ...]:
    """How the cell changes with each of its operands, in the order of `Explanation.operands`."""
    needed = list(step.expr.operands(env, at))
    cuts: dict[str, At] = {}
    for leaf, cut in needed:  # of a leaf that the formula names twice, with different cells, all cells are taken
        cuts[leaf.address] = cut if cuts.get(leaf.address, cut) == cut else {}
    tape = {leaf.address: read_part(env, leaf.address, leaf.axes, cuts[leaf.address]) for leaf, _ in needed}
    varying = {name: cells.clone().requires_grad_() for name, cells in tape.items() if cells.is_floating_point()}
    result = step.expr.work({**tape, **varying}, at).sum()
    found = torch.autograd.grad(result, list(varying.values()), allow_unused=True) if result.requires_grad else ()
    used = cast(tuple[torch.Tensor | None, ...], found)  # None of what is unused, which PyTorch's types leave out
    slopes = {name: slope for name, slope in zip(varying, used, strict=False) if slope is not None}
    parts = (
        narrow(slopes.get(leaf.address, torch.zeros(1).expand(tape[leaf.address].shape)), leaf.axes, cut)
        for leaf, cut in needed
    )
    return tuple(number for part in parts for number in list_numbers(part))


def _list_sources(env: Env, step: Step, at: At) -> Iterator[Source]:
    for leaf, needed in step.expr.operands(env, at):
        values = leaf.work(env, needed)
        whole = {axis: range(size) for axis, size in zip(leaf.axes, values.shape, strict=True)}
        sides = tuple((axis.name, needed.get(axis, indices)) for axis, indices in whole.items())
        yield Source(Block(leaf.address, sides), tuple(list_numbers(values)))


def write_cell(symbol: Symbol, indices: Sequence[str]) -> str:
    """One cell of a tensor: a learned table's in brackets, as where a formula looks it up, others as indices."""
    index = r",\,".join(indices)
    if not index:
        return symbol.tex
    return rf"{symbol.tex}[{{{index}}}]" if symbol.kind == PARAMETER else rf"{{{symbol.tex}}}_{{{index}}}"


def _list_indices(symbol: Symbol, at: At) -> list[str]:
    return [rf"\mathrm{{{axis.name.replace('_', chr(92) + '_')}}}={at[axis].start}" for axis in symbol.axes]
