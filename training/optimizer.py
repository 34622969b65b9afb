"""AdamW over groups of parameters, and the rate of each group at each step: one cycle, up and down once."""

from __future__ import annotations

from collections.abc import Iterable

from torch.nn import Parameter
from torch.optim import AdamW
from transformers import BertForPreTraining

from training.model import is_head
from training.settings import Settings

_BETAS = (0.9, 0.98)


def make_optimizer(model: BertForPreTraining, settings: Settings) -> AdamW:
    """One group for each depth and decay; its highest rate stands in it as `peak`."""
    groups: dict[tuple[float, float, bool], list[Parameter]] = {}
    for name, parameter in model.named_parameters():
        head = is_head(name)
        peak = settings.head_rate if head else settings.rate * settings.layer_decay ** _count_above(model, name)
        decay = settings.weight_decay if parameter.ndim > 1 and not head else 0.0
        groups.setdefault((peak, decay, head), []).append(parameter)
    parts = [
        {"params": parameters, "peak": peak, "weight_decay": decay, "head": head}
        for (peak, decay, head), parameters in groups.items()
    ]
    return AdamW(parts, lr=settings.rate, betas=_BETAS, fused=True)


def _count_above(model: BertForPreTraining, name: str) -> int:
    """How many layers stand above a parameter of the encoder; all of them above the embeddings."""
    layers = int(model.config.num_hidden_layers)
    _, found, rest = name.partition("encoder.layer.")
    return layers - 1 - int(rest.partition(".")[0]) if found else layers


def share_of_peak(step: int, settings: Settings) -> float:
    """The cycle after the frozen steps: from near 0 to 1 over the warm-up, then linearly to 0 at the last step."""
    done, steps = step - settings.frozen_steps, settings.steps - settings.frozen_steps
    rise = round(settings.warm_up * steps)
    return (done + 1) / (rise + 1) if done < rise else (steps - done) / (steps - rise)


def set_rates(optimizer: AdamW, step: int, settings: Settings) -> float:
    """Give each group its rate at this step, and let the encoder learn or not; gives the encoder's highest rate."""
    frozen = step < settings.frozen_steps
    for group in optimizer.param_groups:
        if group["head"]:
            group["lr"] = settings.frozen_rate if frozen else group["peak"] * share_of_peak(step, settings)
        else:
            group["lr"] = 0.0 if frozen else group["peak"] * share_of_peak(step, settings)
            _let_learn(group["params"], not frozen)
    return max(group["lr"] for group in optimizer.param_groups if group["head"] == frozen)


def _let_learn(parameters: Iterable[Parameter], learn: bool) -> None:
    for parameter in parameters:
        parameter.requires_grad_(learn)
