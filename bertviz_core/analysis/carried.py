"""What a pass carries from its tokens to a number: forwards as a vector for each token, backwards as an amount.

Every tensor that is made from the embeddings by `is_carried` formulas is a sum of one tensor for each token of the
input and one for all biases. Attention weights, the deviation in each LayerNorm and the slope a(z)/z of each activation
are held as the pass has them (Kobayashi et al. 2020 and 2021; Modarressi et al. 2023, DecompX). What a change put in
place of numbers came from no token, and counts beside the biases.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from bertviz_core.analysis.targets import find_target
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.carry import Carry
from bertviz_core.formula.cells import At
from bertviz_core.formula.steps import Program, Step
from bertviz_core.tracing.changes import Override
from bertviz_core.tracing.doubled import Doubled
from bertviz_core.tracing.trace import Trace

MOST_TOKENS = 128  # of a sentence whose tensors are taken apart forwards: memory grows with the square of their number


def read_carried(trace: Trace) -> Doubled:
    """The pass in float64, with all tensors that taking it apart needs."""
    return Doubled(trace, _list_needed(trace.program))


def measure_carried(trace: Trace) -> int:
    """Bytes that `read_carried` holds: they grow with the text and the model."""
    return sum(8 * math.prod(trace.shape(address)) for address in _list_needed(trace.program))


def _list_needed(program: Program) -> set[str]:
    """The steps whose tensors are taken apart, and those that are held meanwhile, but what is computed by rows."""
    carried = program.carried
    needed = {leaf.address for step in carried.values() for leaf in step.leaves} | carried.keys()
    return (needed & program.by_address.keys()) - program.by_rows


@dataclass(frozen=True, eq=False)
class Pulled:
    """The way back from a number. slopes: how it changes with each tensor at which the way stopped, by address; own:
    what each step on the way adds by itself, as its bias; put: what changes put there; both by address, from the last
    one back."""

    slopes: Mapping[str, Tensor]
    own: Mapping[str, float]
    put: Mapping[str, float]

    @property
    def changed(self) -> float:
        """What all changes on the way put there."""
        return sum(self.put.values())

    @property
    def biases(self) -> float:
        """What came from no token: all biases on the way, and what changes put there."""
        return sum(self.own.values()) + self.changed


def pull_back(doubled: Doubled, targets: Mapping[Address, float], stops: Collection[str]) -> Pulled:
    """Go back from numbers, each taken so many times, to the tensors that they are carried from.

    Raises InputError for a number that nothing carries, also where a change put it there.
    """
    trace = doubled.trace
    way = _Way(doubled, trace.program.carried, {}, {}, {})
    for target, times in targets.items():
        way.begin(target, times, stops)
    found: dict[str, Tensor] = {}
    for address, step in reversed([*way.carried.items()]):
        if address in way.slopes:
            slope = way.slopes.pop(address)
            if address in stops:
                found[address] = slope
            else:
                way.pass_through(step, way.undo_changes(step, slope))
    return Pulled(found, way.own, way.put)


@dataclass(eq=False)
class _Way:
    """A way back that is being gone. slopes: of tensors that are still to be passed through; own, put: as in
    `Pulled`."""

    doubled: Doubled
    carried: Mapping[str, Step]
    slopes: dict[str, Tensor]
    own: dict[str, float]
    put: dict[str, float]

    def begin(self, target: Address, times: float, stops: Collection[str]) -> None:
        """From one number, without the rest of its tensor."""
        trace = self.doubled.trace
        symbol, fixed = trace.layout.one_cell(target)
        place = tuple(fixed[axis] for axis in symbol.axes)
        if symbol.address not in self.carried:
            raise _refuse(trace, target)
        if any(change.covers(place) for change in trace.overrides(target)):
            times = self._undo_at(symbol.address, place, times)
        if symbol.address in stops:
            slope = torch.zeros(trace.shape(symbol.address), dtype=torch.float64)
            slope[place] = times
            self._add(symbol.address, slope)
        else:
            slope = torch.full((), times, dtype=torch.float64)
            self.pass_through(self.carried[symbol.address], slope, {axis: range(i, i + 1) for axis, i in fixed.items()})

    def _undo_at(self, address: str, place: tuple[int, ...], times: float) -> float:
        """How many times what is computed counts, of a number that changes multiply or add to."""
        slope = torch.zeros(self.doubled.trace.shape(address), dtype=torch.float64)
        slope[place] = times
        times = float(self.undo_changes(self.carried[address], slope)[place])
        if not times:
            raise InputError(
                "A change put this number there, so nothing carried it. Undo it, or choose another number."
            )
        return times

    def pass_through(self, step: Step, slope: Tensor, at: At = {}) -> None:  # noqa: B006 - never written to
        """From a step's result (its cells `at`), whose slope is given, to its operands."""
        with torch.enable_grad():
            leaves = {
                leaf.address: self.doubled[leaf.address].clone().requires_grad_()
                for leaf in step.leaves
                if leaf.address in self.carried
            }
            own = torch.ones((), dtype=torch.float64, requires_grad=True)
            result = Carry(self.doubled, leaves, own).read(step.expr, at)
            wanted = [*leaves.values(), own]
            # Of the sum, and not of the result with its slope beside it, for which PyTorch first imports SymPy (0.3 s).
            slopes = torch.autograd.grad((result * slope).sum(), wanted, allow_unused=True)
        *of_leaves, of_own = (torch.zeros_like(x) if s is None else s for x, s in zip(wanted, slopes, strict=True))
        _add_amount(self.own, step, float(of_own))
        for address, found in zip(leaves, of_leaves, strict=True):
            self._add(address, found)

    def _add(self, address: str, slope: Tensor) -> None:
        self.slopes[address] = self.slopes[address] + slope if address in self.slopes else slope

    def undo_changes(self, step: Step, slope: Tensor) -> Tensor:
        """The slope with what the step computes, where changes put other numbers: these came from no token."""
        for change in reversed(self.doubled.trace.overrides(step.address)):
            times, plus = split_change(change)
            slope = slope.clone()
            _add_amount(self.put, step, float((slope[change.index] * plus).sum()))
            slope[change.index] *= times
        return slope


def _add_amount(amounts: dict[str, float], step: Step, amount: float) -> None:
    if amount:
        amounts[step.address] = amounts.get(step.address, 0.0) + amount


def puts_numbers(trace: Trace, path: str) -> bool:
    """Whether changes put numbers on the way from what tokens start as to a tensor: these came from no token."""
    steps = _list_between(trace.program.carried, {trace.program.start}, {path})
    changes = (
        change for step in steps if step.address != trace.program.start for change in trace.overrides(step.address)
    )
    return any(bool(split_change(change)[1].any()) for change in changes)


def carry_forward(doubled: Doubled, needed: Collection[str]) -> Iterator[tuple[str, Tensor]]:
    """The parts of these tensors by address, in the order computed: (source, *axes), the biases' behind the tokens'.

    Raises InputError for an input of more than MOST_TOKENS tokens, and for what nothing carries.
    """
    return carry_on(doubled, {doubled.trace.program.start: 0}, needed)


def carry_on(doubled: Doubled, starts: Mapping[str, int], needed: Collection[str]) -> Iterator[tuple[str, Tensor]]:
    """The same from other tensors on, of which all that belongs to a token counts as its own.

    starts: the axis of tokens of each, by address. What is carried to them is not asked. Raises InputError likewise.
    """
    trace = doubled.trace
    count, carried = len(trace.encoding), trace.program.carried
    if count > MOST_TOKENS:
        raise InputError(
            f"The parts of {count} tokens would take much memory: at most {MOST_TOKENS} can be told apart. "
            "Choose a shorter text."
        )
    for address in needed:
        if address not in carried:
            raise _refuse(trace, Address(address))
    steps = _list_between(carried, starts, needed)
    left = Counter(leaf.address for step in steps for leaf in step.leaves)
    own = torch.zeros(count + 1, dtype=torch.float64)
    own[-1] = 1
    parts: dict[str, Tensor] = {}
    for step in steps:
        if step.address in starts:
            parts[step.address] = _begin(doubled[step.address], starts[step.address])
        else:
            mine = {leaf.address: parts[leaf.address] for leaf in step.leaves if leaf.address in parts}
            parts[step.address] = _change_parts(trace, step, _carry_all(doubled, step, mine, own))
            left.subtract(leaf.address for leaf in step.leaves)
        if step.address in needed:
            yield step.address, parts[step.address]
        for address in [address for address in parts if left[address] == 0]:
            del parts[address]


def _begin(start: Tensor, axis: int) -> Tensor:
    """(source, *axes) of a tensor: what stands at a token, along an axis, is that token's; nothing is the biases'."""
    count = start.shape[axis]
    parts = start.new_zeros(count + 1, *start.shape)
    for token in range(count):
        parts[token].select(axis, token).copy_(start.select(axis, token))
    return parts


def _carry_all(doubled: Doubled, step: Step, parts: Mapping[str, Tensor], own: Tensor) -> Tensor:
    """A step's parts of those of its operands, all sources at once."""

    def carry(mine: dict[str, Tensor], biased: Tensor) -> Tensor:
        return Carry(doubled, mine, biased).read(step.expr)

    return torch.vmap(carry, randomness="same")(dict(parts), own)


def _change_parts(trace: Trace, step: Step, parts: Tensor) -> Tensor:
    """The parts with what changes put in place of the step's numbers, which came from no token."""
    for change in trace.overrides(step.address):
        times, plus = split_change(change)
        parts = parts.clone()
        parts[(slice(None), *change.index)] *= times
        parts[(-1, *change.index)] += plus
    return parts


def split_change(change: Override) -> tuple[Tensor, Tensor]:
    """What a change multiplies by and what it adds: a number in place of another is 0 times that one, plus this one."""
    numbers = torch.tensor(change.numbers, dtype=torch.float64)
    none = torch.zeros_like(numbers)
    return (numbers, none) if change.times else (none + float(change.plus), numbers)


def _list_between(carried: Mapping[str, Step], starts: Collection[str], needed: Collection[str]) -> list[Step]:
    """The carried steps that these are made from, back to the starts, in the order computed, and they themselves."""
    found, wanted = list[Step](), set(needed)
    for address, step in reversed([*carried.items()]):
        if address in wanted:
            found.append(step)
            wanted.update(leaf.address for leaf in step.leaves if address not in starts)
    return found[::-1]


def _refuse(trace: Trace, target: Address) -> InputError:
    """With the logit of a share that was asked for, or another number that this model's pass carries."""
    carried = trace.program.carried
    logit = find_target(trace, target)
    if logit is None or logit.path not in carried:
        last = [*carried.values()][-1].output
        logit = Address(last.address).fix(**{axis.name: 0 for axis in last.axes})
    return InputError(
        f"{target} is no sum of parts of the tokens: ids, attention weights and shares are held as they are. Choose a "
        f"hidden state or a logit, such as {logit}."
    )
