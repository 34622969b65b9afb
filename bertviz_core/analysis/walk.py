"""The walk back from a number: the shortest story down to the input, and where it is worth a stop."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from bertviz_core.analysis.ablation import list_outcomes
from bertviz_core.analysis.made_from import is_put_throughout
from bertviz_core.analysis.parts import Measure, Part, Parts, take_apart, unwrap
from bertviz_core.analysis.ranking import find_strongest
from bertviz_core.formula.address import Address
from bertviz_core.formula.functions import Function, Softmax
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.texts import name_token
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

LONGEST_STORY = 600  # steps; a model of 24 layers needs fewer, with at most 20 in each
_BEGINNINGS = 10  # words


@dataclass(frozen=True, eq=False)
class Choice:
    """Which way a story takes from a cell.

    operand: where it goes on; part: what that stands in; measure: what the part's amount is; passed: a part that counts
    for more and is not followed, because it is the same whatever the words are; weight: how much the part counts;
    rivals: how much each other part counts that could have been followed; put: whether a change put the part there.
    """

    operand: Address
    part: Part
    measure: Measure
    passed: Part | None
    weight: float
    rivals: np.ndarray
    put: bool = False

    @property
    def leads(self) -> bool:
        """Whether no other part that could have been followed counts as much."""
        return not self.rivals.size or self.weight > float(self.rivals.max())


@dataclass(frozen=True)
class Turn:
    """One number of a story, and which way it goes on from there; None at its end."""

    cell: Address
    choice: Choice | None


def sample_function(function: Function, x: np.ndarray) -> np.ndarray:
    """A function of one number, of every number of `x`, in float64."""
    return function.of(torch.tensor(x, dtype=torch.float64)).numpy()


def tell_story(trace: Trace, cell: Address) -> tuple[Address, ...]:
    """From a cell back to the input: at every step on to an operand of the part that counts most for the words.

    Ends at a token id; at a learned parameter, where the words make no difference to the cell.
    """
    return tuple(turn.cell for turn in list_turns(trace, cell))


def list_turns(trace: Trace, cell: Address) -> tuple[Turn, ...]:
    """The numbers of `tell_story`, each with what was chosen there."""
    return remember(trace, f"story of {cell}", lambda: tuple(_walk_back(trace, cell)))


def _walk_back(trace: Trace, cell: Address) -> Iterator[Turn]:
    worded = trace.program.reached(("input_ids",))
    for _ in range(LONGEST_STORY):
        why = trace.made(cell)
        choice = choose_way(trace, take_apart(trace, why), worded)
        yield Turn(why.cell, choice)
        if choice is None:
            return
        cell = choice.operand


def choose_way(trace: Trace, found: Parts, worded: Collection[str]) -> Choice | None:
    """The part that a story follows: of those that depend on the words, the one that counts most.

    Where none does, the one that counts most; where there are no parts, none. worded: the tensors made from the words.
    What a change put there is followed as well, but for a 0 that it put.
    """
    if not len(found):
        return None
    places = _list_open(trace, found, worded)
    best = int(places[found.weights[places].argmax()])
    part, (first,) = found[best], found.strongest(1)
    followed = [operand for operand in part.operands if operand.path in worded] or list(part.operands)
    # A weighted average hands on what it averages: the weights only say how much of it.
    content = [operand for operand in followed if not _is_share(trace, operand)]
    weight = float(found.weights[best])
    passed = found[first] if found.weights[first] > weight else None
    rivals = found.weights[places[places != best]]
    put = _is_put(trace, part, worded)
    return Choice((content or followed)[0], part, found.measure, passed, weight, rivals, put)


def _list_open(trace: Trace, found: Parts, worded: Collection[str]) -> np.ndarray:
    """The places of the parts that can be followed: of those that depend on the words, where there are any."""
    open_to = found.are_made_from(worded)
    if open_to.any() and not found.weights[open_to].any() and _has_puts(trace, found, worded):
        open_to &= [not _is_put(trace, part, worded) for part in found]
    return np.flatnonzero(open_to if open_to.any() else ~open_to)


def _has_puts(trace: Trace, found: Parts, worded: Collection[str]) -> bool:
    """Whether a change put numbers into a tensor that depends on the words, of which one of the parts is made."""
    return any(block.path in worded and trace.overrides(block.path) for group in found.groups for block in group.blocks)


def _is_put(trace: Trace, part: Part, worded: Collection[str]) -> bool:
    """Whether a change put there all of a part that would depend on the words."""
    followed = [operand for operand in part.operands if operand.path in worded]
    return bool(followed) and all(is_put_throughout(trace, operand) for operand in followed)


def _is_share(trace: Trace, cell: Address) -> bool:
    step = trace.program.by_address.get(cell.path)
    return step is not None and isinstance(unwrap(step.expr)[0], Softmax)


def find_beginnings(trace: Trace, token: int) -> Mapping[str, Address]:
    """Numbers whose story can be told, by what they stand for: probabilities, or without any head the last vector's
    strongest component. Remembered."""
    return remember(trace, f"beginnings at {token}", lambda: _list_beginnings(trace, token))


def _list_beginnings(trace: Trace, token: int) -> dict[str, Address]:
    offered = list_outcomes(trace, token, _BEGINNINGS)
    if offered:
        return offered
    row = Address.in_layer(trace.model.config.num_hidden_layers - 1, "output.LayerNorm").fix(token=token)
    strongest = row.fix(hidden=find_strongest(trace[row]))
    return {f"the strongest number of {name_token(trace.tokens, token)} after the last layer": strongest}


def choose_stops(trace: Trace, cells: Sequence[Address]) -> list[int]:
    """The places in a story worth a stop: where the token or the component changes, the embeddings, and the end.

    Between two stops the same component of the same token goes through sums, normalizations and functions.
    """
    embedded = [trace.program.stages[cell.path] is Stage.EMBEDDINGS for cell in cells]
    stops = [i for i in range(len(cells)) if not i or cells[i].at != cells[i - 1].at or embedded[i] != embedded[i - 1]]
    return sorted({*stops, len(cells) - 1})
