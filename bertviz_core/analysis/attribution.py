"""What each input token carried into a number of the pass: parts that add up to it, with the learned biases apart.

Every vector of the pass is a sum of one vector for each input token and one for all learned biases. Attention weights
and the sigma of every LayerNorm are held as the pass had them, and an activation is replaced by its secant through 0,
a(z) / z: then every step is linear and the parts add up exactly. They say what was carried, not what would change.
After Kobayashi et al. (2021) and Modarressi et al. (2023, DecompX).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.formula.address import Where
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.trace import Trace

METHODS = ("parts",)
_NEAR_0 = 1e-150  # an activation's secant at exactly 0 is the one here: its limit from above
_EXACT = {torch.float64: 1e-10}  # how far the parts' sum may be from the recorded number, of its size or of 1
_ROUNDED = 1e-4  # in all other precisions
_MLM, _POOLED, _ANSWERS = "cls.predictions.decoder", ("cls.seq_relationship", "classifier"), "qa_outputs"


@dataclass(frozen=True)
class Attribution:
    """A number of the pass as a sum of parts.

    parts: one for each token of the trace, in order; biases: the part of all learned biases together; recorded: the
    pass's own number, or the difference of two; tolerance: how far apart the sum and it may be.
    """

    parts: tuple[float, ...]
    biases: float
    recorded: float
    tolerance: float

    @property
    def total(self) -> float:
        """All parts and the biases together."""
        return sum(self.parts) + self.biases

    @property
    def gap(self) -> float:
        """The sum's distance from the recorded number, signed."""
        return self.total - self.recorded

    def check(self) -> None:
        """Raises InputError where the parts do not add up to the recorded number."""
        if not abs(self.gap) <= self.tolerance * max(1.0, abs(self.recorded)):
            raise InputError(
                f"The parts add up to {self.total:.6g}, but the pass recorded {self.recorded:.6g}. "
                "Run the pass in float64 to see whether that is rounding."
            )


def attribute(trace: Trace, target: Where, against: Where | None = None, method: str = "parts") -> Attribution:
    """What each token carried into a logit, or into the lead of one logit over another.

    target, against: addresses of one logit each: of a word, a class, a next-sentence answer, an answer's bound.
    Raises BertvizError for a number that is no logit of this pass, and for a pass that is not BERT's own.
    """
    if method not in METHODS:
        raise ArgumentError.of('A method must be "parts"', method, "Leave it out.")
    one = _read_out(trace, target)
    if against is not None:
        one = one - _read_out(trace, against)
    recorded = float(trace[target]) - (0.0 if against is None else float(trace[against]))
    *parts, biases = one.tolist()
    return Attribution(tuple(parts), biases, recorded, _EXACT.get(trace.model.dtype, _ROUNDED))


def split_states(trace: Trace) -> list[Tensor]:
    """The parts of every token's vector before the first layer and after each: (token, source, hidden) of each stage.

    The sources are the trace's tokens in order, then all learned biases. In float64 whatever the pass was in.
    """
    _check_plain(trace)
    x = _read(trace, "embeddings.LayerNorm")
    tokens = len(x)
    parts = x.new_zeros(tokens, tokens + 1, x.shape[-1])
    parts[range(tokens), range(tokens)] = x
    stages = [parts]
    for layer in range(trace.model.config.num_hidden_layers):
        stages.append(_pass_layer(trace, layer, stages[-1]))
    return stages


def _read(trace: Trace, where: Where) -> Tensor:
    """A recorded tensor, copied into float64."""
    return torch.tensor(trace[where], dtype=torch.float64)


def _check_plain(trace: Trace) -> None:
    if trace.changes or trace.program.name != "bert":
        raise InputError(
            "Parts are worked out for BERT's own pass only, not for one with changes or of another program. "
            "Take back the changes, or choose BERT as the program."
        )


def _pass_layer(trace: Trace, layer: int, x: Tensor) -> Tensor:
    path = f"encoder.layer.{layer}"
    heads = trace.model.config.num_attention_heads
    weights = _read(trace, ATTENTION_WEIGHTS.in_layer(layer))
    values = _project(trace, f"{path}.attention.self.value", x).unflatten(-1, (heads, -1))
    context = torch.einsum("hqk,kshd->qshd", weights, values).flatten(-2)
    x = _norm(
        trace, f"{path}.attention.output.LayerNorm", x + _project(trace, f"{path}.attention.output.dense", context)
    )
    inner = _bend(_project(trace, f"{path}.intermediate.dense", x), trace.model.config.activation.of)
    return _norm(trace, f"{path}.output.LayerNorm", x + _project(trace, f"{path}.output.dense", inner))


def _project(trace: Trace, path: str, x: Tensor) -> Tensor:
    """Every part times the matrix; the bias goes to the biases' part, the last one."""
    y = x @ trace.model.parameters[f"{path}.weight"].double()
    y[..., -1, :] += trace.model.parameters[f"{path}.bias"].double()
    return y


def _norm(trace: Trace, path: str, x: Tensor) -> Tensor:
    """LayerNorm with the sigma of the whole vector: each part centred by its own mean."""
    whole = x.sum(-2, keepdim=True)
    sigma = (whole.var(-1, unbiased=False, keepdim=True) + trace.model.config.layer_norm_eps).sqrt()
    y = (x - x.mean(-1, keepdim=True)) / sigma * trace.model.parameters[f"{path}.weight"].double()
    y[..., -1, :] += trace.model.parameters[f"{path}.bias"].double()
    return y


def _bend(z: Tensor, activation: Callable[[Tensor], Tensor]) -> Tensor:
    """An activation by its secant through 0, at the whole number that the parts add up to."""
    whole = z.sum(-2, keepdim=True)
    whole = torch.where(whole == 0, _NEAR_0, whole)
    return z * (activation(whole) / whole)


def _read_out(trace: Trace, where: Where) -> Tensor:
    """The parts of one logit: (source,)."""
    address = trace.layout.locate(where)
    if trace.dims(address):
        raise InputError(f"{address} is not one number of this pass. Name one logit, all its axes fixed.")
    path, at = address.path, address.at
    if path not in (_MLM, *_POOLED, _ANSWERS, f"{_ANSWERS}.start", f"{_ANSWERS}.end"):
        raise InputError(
            f"{address} is no logit. Name one of a word ({_MLM}), a class (classifier), a next-sentence answer "
            f"({_POOLED[0]}) or an answer's bound ({_ANSWERS})."
        )
    x = split_states(trace)[-1]
    if path.startswith(_ANSWERS):
        bound = {"start": 0, "end": 1}.get(path.rpartition(".")[2])
        token = at["token"] if bound is None else at[path.rpartition(".")[2]]
        return _project(trace, _ANSWERS, x[token])[:, at["bound"] if bound is None else bound]
    if path in _POOLED and "token" not in at:
        pooled = _bend(_project(trace, "pooler.dense", x[0]), torch.tanh)
        return _project(trace, path, pooled)[:, next(iter(at.values()))]
    x = x[at["token"]]
    if path == "classifier":
        return _project(trace, path, x)[:, at["label"]]
    inner = _bend(_project(trace, "cls.predictions.transform.dense", x), trace.model.config.activation.of)
    return _read_word(trace, _norm(trace, "cls.predictions.transform.LayerNorm", inner), at["vocab"])


def _read_word(trace: Trace, x: Tensor, word: int) -> Tensor:
    parts = x @ trace.model.parameters[f"{_MLM}.weight"][:, word].double()
    parts[-1] += trace.model.parameters[f"{_MLM}.bias"][word].double()
    return parts
