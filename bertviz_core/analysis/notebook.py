"""The notebook's printed tensors beside a trace's own, digit by digit."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.printed import Verdict, find_resolution, judge_print
from bertviz_core.analysis.walk import sample_function
from bertviz_core.documents.printed import COLUMNS, INPUT_IDS, ROWS, PrintedTensor
from bertviz_core.formula.functions import GELU
from bertviz_core.programs.config import BertConfig
from bertviz_core.tracing.trace import Trace

_STANDARD = BertConfig()  # bert-base-uncased's sizes and switches
_COMPARED = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
    "max_position_embeddings", "type_vocab_size", "hidden_act", "layer_norm_eps",
)  # fmt: skip
_SUMMARIZED = 1000  # numbers up to which PyTorch prints all
_SINGLE = 2.0**-22  # of an input x: how far GELU may be off in single precision, where 1 + erf(x) nearly cancels


def is_base(config: BertConfig) -> bool:
    """Whether this is the notebook's configuration: sizes, activation and epsilon of bert-base-uncased."""
    return all(getattr(config, name) == getattr(_STANDARD, name) for name in _COMPARED)


def is_sentence(trace: Trace) -> bool:
    """Whether the model read the notebook's tokens, and nothing else."""
    read = trace.encoding
    return read.ids == INPUT_IDS and not any(read.segments) and all(read.mask)


def take_printed(matrix: np.ndarray) -> np.ndarray:
    """The cells of a tensor of 12 tokens that a print of it shows, (6, 6)."""
    return matrix[np.ix_(ROWS, COLUMNS)]


def _list_printed(*sizes: int) -> list[list[int]]:
    """Which places of each axis PyTorch prints: of more than a thousand numbers the first and last three, each once."""
    if math.prod(sizes) <= _SUMMARIZED:
        return [list(range(size)) for size in sizes]
    return [sorted({*range(min(size, 3)), *range(max(size - 3, 0), size)}) for size in sizes]


def print_as_pytorch(values: np.ndarray) -> tuple[str, ...]:
    """Each of the printed numbers as PyTorch writes it in single precision: with four decimals, or all as powers.

    By its rule, and not by itself: how it prints can be set, for all threads of a process at once.
    """
    single = values.astype(np.float32).ravel()
    sizes = np.abs(single[np.isfinite(single) & (single != 0)]).astype(np.float64)
    powers = sizes.size > 0 and (sizes.max() / sizes.min() > 1000 or sizes.max() > 1e8 or sizes.min() < 1e-4)
    return tuple(f"{x:.4e}" if powers else f"{x:.4f}" for x in single.tolist())


@dataclass(frozen=True, eq=False)
class Comparison:
    """A printed tensor beside the same cells of ours: values (6, 6) in float64, and a verdict for each."""

    printed: PrintedTensor
    values: np.ndarray
    verdicts: tuple[tuple[Verdict, ...], ...]

    def count(self, kind: Verdict) -> int:
        """How many of the numbers got this verdict."""
        return sum(row.count(kind) for row in self.verdicts)

    @property
    def largest(self) -> float:
        """The largest difference."""
        return float(np.abs(read_printed(self.printed) - self.values).max())


def read_printed(printed: PrintedTensor) -> np.ndarray:
    """The printed numbers, (6, 6)."""
    return np.array(printed.digits, dtype=np.float64)


def compare(printed: PrintedTensor, values: np.ndarray, inputs: np.ndarray | None = None) -> Comparison:
    """Printed digits against values of the same places. inputs: what GELU was applied to, where it was the last step.

    The notebook ran in single precision. There x (1 + erf(x / √2)) / 2 loses digits where x is far below 0.
    """
    values = np.asarray(values, dtype=np.float64)
    slack = np.abs(inputs) * _SINGLE if inputs is not None else np.zeros_like(values)
    rows = zip(printed.digits, values.tolist(), slack.tolist(), strict=True)
    return Comparison(printed, values, tuple(tuple(map(_judge_rounded, *row)) for row in rows))


def _judge_rounded(printed: str, value: float, slack: float) -> Verdict:
    """A verdict that allows for what GELU loses in single precision."""
    found = judge_print(printed, value)
    if found is Verdict.DIFFERS and abs(float(printed) - value) <= slack + find_resolution(printed) / 2:
        return Verdict.SINGLE
    return found


def compare_printed(trace: Trace, printed: PrintedTensor) -> Comparison:
    """A printed tensor against this trace, with the epsilon that the notebook has there."""
    if printed.epsilon is None:
        return compare(printed, take_printed(trace[printed.address]))
    before = compute_neurons(trace, printed.epsilon)
    if printed.address.endswith("activation"):
        return compare(printed, compute_gelu(before), before)
    return compare(printed, before)


def compute_neurons(trace: Trace, epsilon: float) -> np.ndarray:
    """The first layer's neurons, with another epsilon in the LayerNorm before them, where PyTorch prints them.

    (token, neuron) in float64: the first and last three of each, all of few.
    """
    here = "encoder.layer.0."
    residual = trace[f"{here}attention.output.residual"]
    rows, columns = _list_printed(len(residual), trace.model.config.intermediate_size)
    total = residual[rows].astype(np.float64)
    mean, spread = total.mean(-1, keepdims=True), np.sqrt(total.var(-1, keepdims=True) + epsilon)
    gamma, beta = (trace[f"{here}attention.output.LayerNorm.{leaf}"] for leaf in ("weight", "bias"))
    normed = gamma * (total - mean) / spread + beta
    weight, bias = (trace[f"{here}intermediate.dense.{leaf}"][..., columns] for leaf in ("weight", "bias"))
    return normed @ weight.astype(np.float64) + bias


def compute_gelu(x: np.ndarray) -> np.ndarray:
    """GELU by the normal distribution, in float64."""
    return sample_function(GELU, x)


def find_followers(inputs: PrintedTensor, outputs: PrintedTensor) -> np.ndarray:
    """Where one printed tensor can be GELU of another: (6, 6) of bool.

    Each input may be off by half of its last digit, each output too, and single precision takes its part.
    """
    x, y = read_printed(inputs), read_printed(outputs)
    half_in, half_out = (np.vectorize(find_resolution)(np.array(printed.digits)) / 2 for printed in (inputs, outputs))
    grid = compute_gelu(np.linspace(x - half_in, x + half_in, 9))
    slack = half_out + np.abs(x) * _SINGLE
    return (y >= grid.min(axis=0) - slack) & (y <= grid.max(axis=0) + slack)
