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
CELLS_AT_ONCE = 2**19  # of a matrix


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
        warm = self.warm_up
        return self.settings.eta * min(number / warm, (self.steps - number + 1) / (self.steps - warm + 1))

    @property
    def warm_up(self) -> int:
        """The step in which η is at its largest in practice."""
        return max(1, round(WARM_UP * self.steps))

    def start(self, weights: Mapping[str, Tensor]) -> State:
        if not self.settings.practised:
            return State(weights)
        zeros = {name: tensor.new_zeros(()).expand_as(tensor) for name, tensor in weights.items()}  # one 0 in memory
        return State(weights, zeros, zeros)

    def tape(self, state: State, gradients: Mapping[str, Tensor], parameter: str, number: int) -> dict[str, Tensor]:
        """All tensors of one parameter's update, by address: what goes into it, and what its program makes of that."""
        return self._run(parameter, self._read(state, gradients, parameter, number))

    def apply(self, state: State, gradients: Mapping[str, Tensor], number: int) -> State:
        """The state after a step."""
        made: dict[str, Tensor] = {}
        with torch.inference_mode(False), torch.no_grad():
            for name in state.weights:
                made |= self._make(name, self._read(state, gradients, name, number))
        names = state.weights if self.settings.practised else ()
        return State(
            {name: made[f"{UPDATE}:{name}"] for name in state.weights},
            {name: made[f"{FIRST}:{name}.new"] for name in names},
            {name: made[f"{SECOND}:{name}.new"] for name in names},
        )

    def _read(self, state: State, gradients: Mapping[str, Tensor], parameter: str, number: int) -> dict[str, Tensor]:
        env = {
            parameter: state.weights[parameter],
            f"{GRADIENT}:{parameter}": gradients[parameter],
            RATE: torch.tensor(self.rate(number), dtype=torch.float64),
        }
        if self.settings.practised:
            env[f"{FIRST}:{parameter}"], env[f"{SECOND}:{parameter}"] = state.first[parameter], state.second[parameter]
            env[FIRST_CORRECTION] = torch.tensor(1 - BETA_1**number, dtype=torch.float64)
            env[SECOND_CORRECTION] = torch.tensor(1 - BETA_2**number, dtype=torch.float64)
        return env

    def _run(self, parameter: str, env: dict[str, Tensor]) -> dict[str, Tensor]:
        for step in self.updates[parameter].steps:
            env[step.address] = step.expr.value(env)
        return env

    def _make(self, parameter: str, env: dict[str, Tensor]) -> dict[str, Tensor]:
        """What the update's program keeps. Of a large matrix it is run for some rows at a time.

        Every number of it stands by itself, and whatever comes between then fits into the processor's cache.
        """
        weights, kept = env[parameter], self.updates[parameter].spine
        if weights.numel() <= CELLS_AT_ONCE:
            found = self._run(parameter, env)
            return {address: found[address] for address in kept}
        made = {address: torch.empty_like(weights) for address in kept}
        count = max(1, CELLS_AT_ONCE * len(weights) // weights.numel())
        for start in range(0, len(weights), count):
            rows = slice(start, start + count)
            part = self._run(parameter, {name: t[rows] if t.dim() else t for name, t in env.items()})
            for address, tensor in made.items():
                tensor[rows] = part[address]
        return made


def write_rule(loss: Program, learned: tuple[str, ...], settings: Settings, steps: int) -> Rule:
    """The rule by which these parameters learn."""
    write = write_adamw_update if settings.practised else write_update
    return Rule(settings, {name: write(loss.leaves[name], loss.stages[name]) for name in learned}, steps)
