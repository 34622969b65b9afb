"""What a number is made of, part by part, each with an amount that means what its heading says.

Which amount that is follows from the formula: a sum has terms or summands, which add up to the value; a softmax has the
result without each score; a function of one number has its slope; a row that is looked up has none.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from bertviz_core.formula.address import Address, Block
from bertviz_core.formula.cells import At, restrict
from bertviz_core.formula.document_nodes import Argmax, Dropout, Sinusoid
from bertviz_core.formula.explain import Made
from bertviz_core.formula.functions import Apply, Mean, Softmax, Sqrt, Square, Sum
from bertviz_core.formula.nodes import Add, Constant, Div, Expr, MatMul, Mul, Sub, Symbol
from bertviz_core.formula.shapes import Lookup, MergeHeads, Rename, Select, SplitHeads, Transpose
from bertviz_core.formula.steps import walk_nodes, walk_symbols
from bertviz_core.tracing.trace import Trace

_LIT = 12  # parts whose operands are outlined


@dataclass(frozen=True)
class Measure:
    """What the amount of a part is.

    heading: of the amounts, empty where there are none; note: what they are, in a sentence; sums: whether they add up
    to the value; operand: the heading of the operands' own numbers; columns: those of the numbers in between.
    """

    heading: str
    note: str
    sums: bool = False
    operand: str = "value"
    columns: tuple[str, ...] = ()


TERM = Measure(
    "term",
    "A term is a product of two numbers, or the bias. Each stands here once; together they are the value.",
    sums=True,
)
SUMMAND = Measure("summand", "The summands, each with its sign, add up to the value.", sums=True)
ALONE = Measure("result", "The value is this number alone: scaled, or at another place.", sums=True)
WITHOUT = Measure(
    "the result without it",
    "Without it: the result if this score were left out and the other shares "
    "were made to sum to 1 again. First stands the score that moves the result most.",
    operand="score",
    columns=("e^(score − max)", "share"),
)
SLOPE = Measure("slope", "The slope: how fast the result changes here when the operand does.")
LOOKED_UP = Measure("", "The id chooses a row of the table. Neither adds an amount.")
POSITION = Measure("", "The position alone decides the result; it adds no amount.")
LARGEST = Measure("", "The place of the largest is the result; the largest stand first. None adds an amount.")
NOTHING = Measure("", "")

_CELL_BY_CELL = (Symbol, Constant, Add, Sub, Mul, Div, Square, Sqrt, Apply)


@dataclass(frozen=True)
class Part:
    """One part of a number: the operand, or the factors of a product, and what the measure's headings name."""

    operands: tuple[Address, ...]
    amount: float | None
    columns: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Group:
    """Parts side by side: the n-th is made of the n-th cell of each block; the only cell of a block is in all of them.

    amounts: of the parts, in order.
    """

    blocks: tuple[Block, ...]
    amounts: np.ndarray


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a cell in the order of its formula; a sequence of `Part`s, made when they are asked for.

    weights: how much each counts, by which they are ranked; columns: the numbers under the measure's columns, each one
    for every part.
    """

    measure: Measure
    groups: tuple[Group, ...]
    weights: np.ndarray
    columns: tuple[np.ndarray, ...] = ()

    def __len__(self) -> int:
        return len(self.weights)

    def __getitem__(self, place: int) -> Part:
        number = int(np.searchsorted(self._starts, place, side="right")) - 1
        group, inside = self.groups[number], place - int(self._starts[number])
        amount = float(self.amounts[place]) if self.measure.heading else None
        return Part(tuple(self._list_operands(group, inside)), amount, tuple(float(row[place]) for row in self.columns))

    def __iter__(self) -> Iterator[Part]:
        return (self[place] for place in range(len(self)))

    @cached_property
    def amounts(self) -> np.ndarray:
        """The amounts of all parts, in order; they mean something only under a heading."""
        return np.concatenate([np.zeros(0), *(group.amounts for group in self.groups)]) + 0.0  # no minus before a zero

    @cached_property
    def shared(self) -> tuple[Address, ...]:
        """The operands that are in every part, as the variance by which a LayerNorm divides; no part names them."""
        return tuple(block[0] for block in self._shared_blocks)

    def strongest(self, k: int) -> list[int]:
        """The places of the k parts that count most, first the one that counts most; equal ones in order."""
        if k < len(self):
            least = np.partition(self.weights, -k)[-k]
            places = np.flatnonzero(self.weights >= least)
        else:
            places = np.arange(len(self))
        return places[np.argsort(-self.weights[places], kind="stable")][:k].tolist()

    def are_made_from(self, paths: Container[str]) -> np.ndarray:
        """Of each part, whether one of its operands is a cell of these tensors; shape (part,)."""
        made = (
            any(block.path in paths for block in group.blocks if block not in self._shared_blocks)
            for group in self.groups
        )
        return np.repeat(np.fromiter(made, dtype=bool), [len(group.amounts) for group in self.groups])

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.cumsum([0, *(len(group.amounts) for group in self.groups)])[:-1]

    @cached_property
    def _shared_blocks(self) -> tuple[Block, ...]:
        if len(self) < 2:
            return ()
        every = [block for block in self.groups[0].blocks if len(block) == 1]
        kept = tuple(block for block in every if all(block in group.blocks for group in self.groups))
        alone = any(set(group.blocks) <= set(kept) for group in self.groups)
        return () if alone else kept

    def _list_operands(self, group: Group, inside: int) -> Iterator[Address]:
        for block in group.blocks:
            if block not in self._shared_blocks:
                own = (inside,) if len(block) == len(group.amounts) else range(len(block))
                yield from (block[i] for i in own)


def list_lit(found: Parts) -> list[str]:
    """The operands that pictures outline: those of the parts that count most."""
    return [str(operand) for i in found.strongest(_LIT) for operand in found[i].operands]


def take_apart(trace: Trace, why: Made) -> Parts:
    """What a cell is made of. A parameter, an input and a number that a change put there have no parts."""
    if why.step is None:
        return Parts(NOTHING, (), np.zeros(0))
    axes = {axis.name: axis for axis in why.step.output.axes}
    expr, at = unwrap(why.step.expr, {axes[name]: range(i, i + 1) for name, i in why.cell.index})
    match expr:
        case Softmax(inner=Symbol() as scores, along=along):
            (needed,) = expr.pull({}, at)
            row = trace.work(scores, needed).ravel()
            parts = _leave_out(_locate(trace, scores, needed), row, at[along].start)
        case Lookup() | Sinusoid():
            parts = _name_operands(why, LOOKED_UP if isinstance(expr, Lookup) else POSITION)
        case Argmax():
            parts = _name_operands(why, LARGEST, np.array(why.sources[0].values))
        case Symbol() | Add() | Sub() | Mul() | Div() | MatMul() | Sum() | Dropout() if not _has(expr, Lookup):
            parts = _add_up(tuple(_split(trace, expr, at)), _has(expr, MatMul))
        case _:
            slopes = np.array(trace.derivatives(why.cell), dtype=np.float64)
            parts = _name_operands(why, SLOPE, np.abs(slopes), slopes)
    return parts


def unwrap(expr: Expr, at: At = MappingProxyType({})) -> tuple[Expr, At]:
    """What a formula calculates, without what only puts its numbers at other places; and where there a cell stands."""
    while isinstance(expr, Transpose | Rename | SplitHeads | MergeHeads | Select):
        (at,) = expr.pull({}, at)
        expr = expr.inner
    return expr, at


def _add_up(groups: tuple[Group, ...], products: bool) -> Parts:
    weights = np.abs(np.concatenate([group.amounts for group in groups]))
    return Parts(ALONE if len(weights) == 1 else TERM if products else SUMMAND, groups, weights)


def _leave_out(block: Block, scores: np.ndarray, own: int) -> Parts:
    """A softmax: its result at the place `own`, if each of the scores in turn were not there."""
    powers = np.exp(scores - scores.max())
    total, top = powers.sum(), int(scores.argmax())
    rest = total - powers
    rest[top] = 1.0  # without the largest the powers shrink to nothing: these are taken anew
    without = powers[own] / rest
    if own != top:
        fewer = np.delete(scores, top)
        powers_anew = np.exp(fewer - fewer.max())
        without[top] = powers_anew[own - (own > top)] / powers_anew.sum()
    without[own] = 0.0
    shares = powers / total
    return Parts(WITHOUT, (Group((block,), without),), np.abs(without - shares[own]), (powers, shares))


def _name_operands(
    why: Made, measure: Measure, weights: np.ndarray | None = None, amounts: np.ndarray | None = None
) -> Parts:
    """Each operand as a part, in the order of the formula; where no weights are given they count alike."""
    zeros = np.zeros(why.count)
    numbers = zeros if amounts is None else amounts
    ends = np.cumsum([len(source.block) for source in why.sources])[:-1]
    own = np.split(numbers, ends)
    groups = tuple(Group((source.block,), each) for source, each in zip(why.sources, own, strict=True))
    return Parts(measure, groups, zeros if weights is None else weights)


def _split(trace: Trace, expr: Expr, at: At, factor: float = 1.0, over: tuple[Block, ...] = ()) -> Iterator[Group]:
    """The parts that add up to `factor` times a cell. over: the operands of what it is divided by."""
    expr, at = unwrap(expr, at)
    match expr:
        case Add(left=left, right=right) | Sub(left=left, right=right) if not (_is_fixed(left) or _is_fixed(right)):
            signs = (1, -1 if isinstance(expr, Sub) else 1)
            for sign, part, needed in zip(signs, expr.parts, expr.pull({}, at), strict=True):
                yield from _split(trace, part, needed, sign * factor, over)
        case Mul(left=fixed, right=part) if _is_fixed(fixed):
            yield from _split(trace, part, restrict(at, part.dims()), factor * trace.work(fixed, {}).item(), over)
        case Mul(left=part, right=fixed) if _is_fixed(fixed):
            yield from _split(trace, part, restrict(at, part.dims()), factor * trace.work(fixed, {}).item(), over)
        case Div(left=part, right=divisor):
            above, below = expr.pull({}, at)
            more = (*over, *_list_blocks(trace, divisor, below))
            yield from _split(trace, part, above, factor / trace.work(divisor, below).item(), more)
        case MatMul() if all(isinstance(unwrap(part)[0], Symbol) for part in expr.parts):
            left, right = (
                trace.work(part, cut).ravel() for part, cut in zip(expr.parts, expr.pull({}, at), strict=True)
            )
            yield Group((*_list_blocks(trace, expr, at), *over), factor * left * right)
        case Sum(inner=inner) if all(isinstance(node, _CELL_BY_CELL) for node in walk_nodes(inner)):
            (needed,) = expr.pull({}, at)
            cells = trace.work(inner, needed).ravel()
            share = factor / len(cells) if isinstance(expr, Mean) else factor
            yield Group((*_list_blocks(trace, inner, needed), *over), share * cells)
        case _:
            yield Group((*_list_blocks(trace, expr, at), *over), factor * trace.work(expr, at).ravel())


def _list_blocks(trace: Trace, expr: Expr, at: At) -> Iterator[Block]:
    """The recorded cells that a part is made of, tensor by tensor."""
    return (_locate(trace, symbol, needed) for symbol, needed in expr.operands({}, at))


def _locate(trace: Trace, symbol: Symbol, at: At) -> Block:
    sizes = zip(symbol.axes, trace.shape(Address(symbol.address)), strict=True)
    return Block(symbol.address, tuple((axis.name, at.get(axis, range(size))) for axis, size in sizes))


def _is_fixed(expr: Expr) -> bool:
    """Whether it reads no tensor: the same number in every pass."""
    return next(walk_symbols(expr), None) is None


def _has(expr: Expr, node: type[Expr]) -> bool:
    return any(isinstance(each, node) for each in walk_nodes(expr))
