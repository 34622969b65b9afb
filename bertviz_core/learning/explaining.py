"""One number of a step explained: the loss, a hidden token's term, and what the step made of one weight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor
from torch.func import vmap

from bertviz_core.errors import AddressError
from bertviz_core.formula.address import GRADIENT, UPDATE, Address, Where, read_address
from bertviz_core.formula.cells import At
from bertviz_core.formula.explain import Explanation, explain
from bertviz_core.formula.nodes import Symbol
from bertviz_core.learning.course import Course
from bertviz_core.learning.draws import Draw
from bertviz_core.learning.passes import compute, measure, prepare_inputs
from bertviz_core.learning.records import StepRecord
from bertviz_core.learning.weights import share_ties
from bertviz_core.tracing.layout import Layout
from bertviz_core.tracing.readonly import lock

MOVE = 1e-4  # by which a weight is moved to each side, to measure how J changes
CURVE = 21  # points of the curve along one weight
_AT_ONCE = 1_000_000  # numbers of the weight's tensor for all passes that are run side by side


@dataclass(frozen=True)
class WeightUpdate(Explanation):
    """One weight in one step, worked out by line 7.

    number: of the step; old, new: the weight before and after; gradient: by autograd; measured: J run again in float64
    with this weight moved by MOVE to each side, the difference divided by twice that; rate: η; loss: J;
    moved: AdamW's running means as the step leaves them, worked out, nothing without it; median, zeros: of the absolute
    gradients of all weights that learn, and how many of them are exactly 0.
    """

    number: int
    old: float
    new: float
    gradient: float
    measured: float
    rate: float
    loss: float
    moved: tuple[Explanation, ...]
    median: float
    zeros: int

    @property
    def parameter(self) -> Address:
        """The weight itself."""
        return self.cell.parameter


def explain_step(course: Course, where: Where, number: int | None = None) -> Explanation:
    """Explain `J`, `J.term[token=..]`, `J.log_probs[..]`, `grad:PARAMETER[..]` or `update:PARAMETER[..]` of a step.

    number: of the step, the last one by default. The last two give a WeightUpdate. Raises AddressError for what is no
    one cell of these, TrainingError for a step that has not been taken.
    """
    record = course.record(number)
    where = read_address(where)
    if not where.made:
        return _explain_loss(course, record, where)
    symbol, at = _find_weight(course, where)
    if where.made not in (GRADIENT, UPDATE):
        raise AddressError(f"{where.made}: is no number of a step by itself. Ask for {UPDATE}:{where.parameter}")
    return _explain_weight(course, record, where.made, symbol, at)


def find_largest_gradient(course: Course, number: int | None = None) -> str:
    """The address of the weight whose gradient in a step is the farthest from 0."""
    gradients = course.gradients(course.record(number).number)
    name = max(gradients, key=lambda name: gradients[name].abs().max().item())
    place = int(gradients[name].abs().argmax())
    index = np.unravel_index(place, gradients[name].shape)
    axes = course.loss.leaves[name].axes
    return str(Address(f"{GRADIENT}:{name}", tuple((axis.name, int(i)) for axis, i in zip(axes, index, strict=True))))


def draw_curve(
    course: Course, where: Where, number: int | None = None, count: int = CURVE
) -> tuple[np.ndarray, np.ndarray]:
    """J of a step with one weight alone moved: at most `count` values of the weight, in order, and J at each.

    Among them are the weight before the step and after it; on both sides as much again is shown as lies between them.
    """
    record = course.record(number)
    symbol, at = _find_weight(course, read_address(where))
    place = tuple(at[axis].start for axis in symbol.axes)
    old, new = (
        course.state_before(number).weights[symbol.address][place].item()
        for number in (record.number, record.number + 1)
    )
    reach = max(abs(new - old), MOVE)
    weights = np.union1d(np.linspace(min(old, new) - reach, max(old, new) + reach, count - 2), (old, new))
    losses = _measure_along(course, record, symbol, place, map(float, weights))
    return lock(weights), lock(np.array(losses))


def _explain_loss(course: Course, record: StepRecord, where: Address) -> Explanation:
    encoding = course.encodings[record.sentence - 1]
    symbol, fixed = Layout(course.before, course.loss, len(encoding)).one_cell(where)
    step = course.loss.by_address.get(symbol.address)
    if step is None or not symbol.address.startswith("J"):
        raise AddressError(f"{where} is a number of the pass: ask for it in the trace of the step")
    parameters = course.parameters(course.state_before(record.number))
    inputs = prepare_inputs(encoding, Draw(record.hidden, record.masked_ids), course.before.dtype)
    with torch.no_grad():
        env = {**inputs, **compute(course.loss, parameters, inputs)}
    return explain(env, symbol, {axis: range(i, i + 1) for axis, i in fixed.items()}, step)


def _find_weight(course: Course, where: Address) -> tuple[Symbol, At]:
    """The weight that an address of its gradient, its update or itself names, under the name by which it learns."""
    layout = Layout(course.before, course.loss, 1)
    symbol, fixed = layout.one_cell(where.parameter)
    name, turned = course.owner(symbol.address)
    if name not in course.learned:
        raise AddressError(f"{where.parameter} does not learn in this training; choose among {course.learned[0]}, …")
    owner = course.loss.leaves[name]
    places = [fixed[axis] for axis in symbol.axes]
    return owner, {
        axis: range(i, i + 1) for axis, i in zip(owner.axes, reversed(places) if turned else places, strict=True)
    }


def _explain_weight(course: Course, record: StepRecord, made: str, symbol: Symbol, at: At) -> WeightUpdate:
    number, name = record.number, symbol.address
    state, gradients = course.state_before(number), course.gradients(number)
    with torch.no_grad():
        tape = course.rule.tape(state, gradients, name, number)
    program = course.rule.updates[name]
    *moved, line_7 = (explain(tape, step.output, at, step) for step in program.steps)
    place = tuple(at[axis].start for axis in symbol.axes)
    old = tape[name][place].item()
    ends = _measure_along(course, record, symbol, place, (old + MOVE, old - MOVE))
    slope = program.leaves[f"{GRADIENT}:{name}"]
    shown = line_7 if made == UPDATE else explain(tape, slope, at, None)
    sizes = torch.cat([gradient.flatten() for gradient in gradients.values()]).abs()
    return WeightUpdate(
        **{part.name: getattr(shown, part.name) for part in fields(Explanation)},
        number=number,
        old=old,
        new=line_7.value,
        gradient=tape[slope.address][place].item(),
        measured=(ends[0] - ends[1]) / (2 * MOVE),
        rate=record.rate,
        loss=record.loss,
        moved=tuple(moved),
        median=sizes.median().item(),
        zeros=int((sizes == 0).sum()),
    )


def _measure_along(
    course: Course, record: StepRecord, symbol: Symbol, place: tuple[int, ...], weights: Iterable[float]
) -> list[float]:
    """J of a step in float64 with one weight alone at each of these values, several passes side by side."""
    parameters = course.parameters(course.state_before(record.number))
    read = {name: parameters[name].double() for name in course.loss.leaves if name in parameters}
    own = {name: tensor for name, tensor in read.items() if name not in course.ties}
    draw = Draw(record.hidden, record.masked_ids)
    inputs = prepare_inputs(course.encodings[record.sentence - 1], draw, torch.float64)
    whole = own[symbol.address]
    here = torch.zeros_like(whole, dtype=torch.bool)
    here[place] = True

    def lose(weight: Tensor) -> Tensor:
        moved = {**own, symbol.address: torch.where(here, weight, whole)}
        return measure(course.loss, share_ties(moved, course.ties), inputs, record.hidden).value

    losses = list[float]()
    with torch.no_grad():
        for piece in torch.tensor([*weights], dtype=torch.float64).split(max(1, _AT_ONCE // whole.numel())):
            course.between()
            losses += vmap(lose)(piece).tolist()
    return losses
