"""Line 7 of E-Training: from the weights and the gradient to the next weights, by the programs that also explain it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from bertviz_core.formula.address import FIRST, GRADIENT, SECOND, UPDATE
from bertviz_core.formula.steps import Program
from bertviz_core.learning.settings import Settings
from bertviz_core.programs.training import (
    BETA_1,
    BETA_2,
    FIRST_CORRECTION,
    RATE,
    SECOND_CORRECTION,
    write_adamw_update,
    write_update,
)

WARM_UP = 0.1  # of the steps, in practice: as long η rises


@dataclass(frozen=True)
class State:
    """Where a training stands before a step. Nothing in it is changed: a step makes new tensors.

    weights: those that learn, by address; first, second: AdamW's running means, nothing without it.
    """

    weights: Mapping[str, Tensor]
    first: Mapping[str, Tensor] = field(default_factory=dict)
    second: Mapping[str, Tensor] = field(default_factory=dict)

    @cached_property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for part in (self.weights, self.first, self.second) for tensor in part.values())


@dataclass(frozen=True)
class Rule:
    """How a step is taken. updates: by parameter, the program of its update; steps: how many the whole training has."""

    settings: Settings
    updates: Mapping[str, Program]
    steps: int

    def rate(self, number: int) -> float:
        """η of a step: the same in all, or rising and falling in practice."""
        if not self.settings.practised:
            return self.settings.eta
        warm = max(1, round(WARM_UP * self.steps))
        return self.settings.eta * min(number / warm, (self.steps - number + 1) / (self.steps - warm + 1))

    def start(self, weights: Mapping[str, Tensor]) -> State:
        if not self.settings.practised:
            return State(weights)
        zeros = {name: torch.zeros_like(tensor) for name, tensor in weights.items()}
        return State(weights, zeros, zeros)

    def tape(self, state: State, gradients: Mapping[str, Tensor], parameter: str, number: int) -> dict[str, Tensor]:
        """All tensors of one parameter's update, by address: what goes into it, and what its program makes of that."""
        env = {
            parameter: state.weights[parameter],
            f"{GRADIENT}:{parameter}": gradients[parameter],
            RATE: torch.tensor(self.rate(number), dtype=torch.float64),
        }
        if self.settings.practised:
            env[f"{FIRST}:{parameter}"], env[f"{SECOND}:{parameter}"] = state.first[parameter], state.second[parameter]
            env[FIRST_CORRECTION] = torch.tensor(1 - BETA_1**number, dtype=torch.float64)
            env[SECOND_CORRECTION] = torch.tensor(1 - BETA_2**number, dtype=torch.float64)
        for step in self.updates[parameter].steps:
            env[step.address] = step.expr.value(env)
        return env

    def apply(self, state: State, gradients: Mapping[str, Tensor], number: int) -> State:
        """The state after a step. The plain step is written where the gradients stood, which are used up by it.

        So much memory is new in a step that to ask the system for it takes longer than to calculate; the numbers are
        those of the program, bit for bit.
        """
        with torch.no_grad():
            if not self.settings.practised:
                rate = self.rate(number)
                return State({name: gradients[name].mul_(-rate).add_(old) for name, old in state.weights.items()})
            weights, first, second = {}, {}, {}
            for name in state.weights:
                tape = self.tape(state, gradients, name, number)
                weights[name] = tape[f"{UPDATE}:{name}"]
                first[name], second[name] = tape[f"{FIRST}:{name}.new"], tape[f"{SECOND}:{name}.new"]
            return State(weights, first, second)


def write_rule(loss: Program, learned: tuple[str, ...], settings: Settings, steps: int) -> Rule:
    """The rule by which these parameters learn."""
    write = write_adamw_update if settings.practised else write_update
    return Rule(settings, {name: write(loss.leaves[name], loss.stages[name]) for name in learned}, steps)
