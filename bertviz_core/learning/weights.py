"""A model's weights as what can be trained: each learned number once, however many parameters read it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import TrainingError
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program
from bertviz_core.programs.training import write_loss

Weights = Mapping[str, Tensor]

EMBEDDINGS, LM_HEAD = "embeddings", "LM head"
TIED_EMBEDDINGS = "embeddings + decoder"  # the LM head's matrix is the word embeddings': one gradient for both


@dataclass(frozen=True)
class Tie:
    """A parameter that is another one, read under a second name. turned: as its transpose."""

    owner: str
    turned: bool


def find_ties(parameters: Weights) -> dict[str, Tie]:
    """The parameters whose numbers lie where those of an earlier one do."""
    owners: dict[int, str] = {}
    ties = {}
    for name, tensor in parameters.items():
        owner = owners.setdefault(tensor.data_ptr(), name)
        if owner != name:
            first = parameters[owner]
            ties[name] = Tie(owner, tensor.shape != first.shape or tensor.stride() != first.stride())
    return ties


def list_ties(model: Model, program: str) -> dict[str, Tie]:
    """The ties that hold while a model is trained by the program of this name.

    A document lists every matrix as a parameter of its own: what begins with the same numbers then learns by itself.
    """
    return find_ties(model.parameters) if program == model.program.name else {}


def share_ties(own: Weights, ties: Mapping[str, Tie]) -> dict[str, Tensor]:
    """The same parameters, and those that are tied to one of them under their second names."""
    tied = {name: own[tie.owner].mT if tie.turned else own[tie.owner] for name, tie in ties.items() if tie.owner in own}
    return {**own, **tied}


def copy_model(model: Model) -> Model:
    """The same model with weights of its own: whatever is done to one of them, the other stays as it is."""
    ties = find_ties(model.parameters)
    with torch.inference_mode(False):
        own = {name: tensor.detach().clone() for name, tensor in model.parameters.items() if name not in ties}
        shared = share_ties(own, ties)
    return replace(model, parameters={name: shared[name] for name in model.parameters})


def choose_learned(loss: Program, ties: Mapping[str, Tie], only: Collection[str] | None) -> tuple[str, ...]:
    """The parameters that learn, each learned number once: all that the loss is made from, or those of them in `only`.

    Raises TrainingError for a name that is none, and where nothing is left.
    """
    reached = [symbol.address for symbol in loss.parameters]
    wrong = sorted(set(only or ()) - set(reached))
    if wrong:
        raise TrainingError(
            f"{wrong[0]} is no parameter that the loss is made from. Choose among these: {', '.join(reached[:3])}, …"
        )
    wanted = [name for name in reached if only is None or name in only]
    owners = dict.fromkeys(ties[name].owner if name in ties else name for name in wanted)
    if not owners:
        raise TrainingError("No parameter is left to learn. Name one, or let all of them learn.")
    return tuple(owners)


def name_head(model: Model, program: str = "bert") -> frozenset[str]:
    """The parameters of a program's LM head alone: what is tied to the word embeddings is theirs, not among them."""
    loss = write_loss(model.written(program))
    ties = list_ties(model, program)
    return frozenset(
        symbol.address
        for symbol in loss.parameters
        if loss.stages[symbol.address] is Stage.PREDICTIONS and symbol.address not in ties
    )


def name_groups(loss: Program, learned: Collection[str], ties: Mapping[str, Tie]) -> dict[str, str]:
    """The layer and kind that each parameter that learns belongs to, such as "layer 0 attention".

    Where the LM head reads one of the embeddings a second time, their group says so.
    """
    read_twice = {tie.owner for name, tie in ties.items() if name in loss.leaves}
    groups = {name: _name_group(loss, name) for name in learned}
    tied = any(group == EMBEDDINGS and name in read_twice for name, group in groups.items())
    return {name: TIED_EMBEDDINGS if tied and group == EMBEDDINGS else group for name, group in groups.items()}


def _name_group(loss: Program, parameter: str) -> str:
    symbol = loss.leaves[parameter]
    step = next(step for step in loss.steps if symbol in step.leaves)
    if step.layer is None:
        return EMBEDDINGS if step.stage is not Stage.PREDICTIONS else LM_HEAD
    attention = ".attention." in parameter
    return f"layer {step.layer} {'attention' if attention else 'feed-forward'}"
