"""The numbers that show slips of the documents: measured on one input, or worked out from what is printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis import playground, slips
from bertviz_core.analysis.layers import compute_cosine, compute_norms
from bertviz_core.analysis.positions import compute_sinusoids
from bertviz_core.documents import examples
from bertviz_core.formula.address import Address
from bertviz_core.programs.notebook import EPSILON, EPSILON_OF_CELL_46
from bertviz_core.tracing.trace import Trace

PADS = 3  # as many as the encoder article puts before its text
_PROBS, _MASK = Address("cls.predictions.probs"), "[MASK]"


@dataclass(frozen=True)
class Measured:
    """A number with what it is of."""

    what: str
    value: float | int


@dataclass(frozen=True)
class Spot:
    """Where it is measured: a trace of BERT, the layer and token looked at, and a way to run a document on its input.

    run: a program's name and how many padding tokens to add give its trace; None where the input is too long for that.
    """

    trace: Trace
    layer: int
    token: int
    run: Callable[[str, int], Trace | None]

    def read(self, leaf: str) -> np.ndarray:
        """The token's vector of a tensor of the layer, in float64."""
        return self.trace[Address.in_layer(self.layer, leaf).fix(token=self.token)].astype(np.float64)

    def weight(self, layer: int, leaf: str) -> np.ndarray:
        return self.trace[Address.in_layer(layer, leaf)].astype(np.float64)


def measure_slip(name: str, spot: Spot) -> tuple[Measured, ...]:
    """The numbers of the slip of that name; none where words show it, or this checkpoint or input has no such thing."""
    work = MEASURES.get(name)
    return tuple(Measured(*one) for one in work(spot)) if work else ()


Found = Iterable[tuple[str, float | int]]


def _measure_residual(spot: Spot) -> Found:
    trace, layer = spot.run("forward-pass-note", 0), spot.layer or 1
    if trace is None or layer >= trace.model.config.num_hidden_layers:
        return
    x, z = (trace[one.fix(token=spot.token)] for one in (slips.X, Address.in_layer(layer - 1, "output.LayerNorm")))
    yield f"cosine of X and the input of layer {layer}, counted from 0", float(compute_cosine(x, z))


def _measure_padding(spot: Spot) -> Found:
    longest, words = spot.trace.model.config.max_position_embeddings, sum(spot.trace.encoding.mask)
    yield f"of {longest} columns hold padding on this sentence", longest - words


def _measure_tanh(spot: Spot) -> Found:
    width = spot.trace.model.config.hidden_size
    yield "the largest share that any class can get", math.exp(2) / (math.exp(2) + width - 1)


def _count_pieces(spot: Spot) -> Found:
    found = sum(entry.startswith("##") for entry in spot.trace.model.tokenizer.vocabulary)
    yield "vocabulary entries of this model that begin with ##", found


def _count_tokens(spot: Spot) -> Found:
    yield "tokens of this sentence", len(spot.trace.tokens)


def _measure_epsilon(spot: Spot) -> Found:
    """Where the notebook prints next: at the pre-activations of the first layer."""
    x = spot.trace[Address.in_layer(0, "attention.output.residual")].astype(np.float64)
    flat, spread = x - x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    moved = flat / np.sqrt(spread + EPSILON_OF_CELL_46) - flat / np.sqrt(spread + EPSILON)
    scale, matrix = (spot.weight(0, leaf) for leaf in ("attention.output.LayerNorm.weight",
                                                       "intermediate.dense.weight"))  # fmt: skip
    yield (
        r"largest change of a number that In \[49\] prints, on this sentence",
        float(np.abs((moved * scale) @ matrix).max()),
    )


def _measure_sampling(spot: Spot) -> Found:
    config = spot.trace.model.config
    yield "components of a token before and after", config.hidden_size
    yield "inside", config.intermediate_size


def _measure_column(spot: Spot) -> Found:
    if _PROBS in spot.trace:
        column = spot.trace[_PROBS.fix(token=spot.token)]
        yield "largest number of this token's column", float(column.max())
        yield "smallest", float(column.min())


def _measure_typed_mask(spot: Spot) -> Found:
    places = [i for i, token in enumerate(spot.trace.tokens) if token == _MASK]
    if _PROBS in spot.trace and places:
        number = spot.trace.encoding.ids[places[0]]
        yield "its term here", -math.log(float(spot.trace[_PROBS.fix(token=places[0], vocab=number)]))


def _measure_scaling(spot: Spot) -> Found:
    yield "factor", math.sqrt(spot.trace.model.config.num_attention_heads)


def _measure_sigma(spot: Spot) -> Found:
    x = spot.read("attention.output.residual")
    yield f"as printed, at this token after attention in layer {spot.layer}", float(slips.compute_printed_sigma(x))
    yield "standard deviation", float(slips.compute_deviation(x))


def _measure_third_term(spot: Spot) -> Found:
    trace = spot.run("formula-post", 0)
    if trace is not None:
        total, extra = (trace[Address.in_layer(spot.layer, leaf).fix(token=spot.token)].astype(np.float64)
                        for leaf in ("attention.output.residual", "attention.LayerNorm"))  # fmt: skip
        yield f"length of the extra term, in layer {spot.layer}", float(compute_norms(extra))
        yield "of the other two", float(compute_norms(total - extra))


def _measure_scales(spot: Spot) -> Found:
    one, other = (spot.weight(spot.layer, f"{leaf}.weight") for leaf in ("attention.output.LayerNorm",
                                                                         "output.LayerNorm"))  # fmt: skip
    yield f"largest difference of the two γ in layer {spot.layer}", float(np.abs(one - other).max())


def _measure_layers(spot: Spot) -> Found:
    if spot.trace.model.config.num_hidden_layers > 1:
        one, other = (spot.weight(layer, "attention.self.query.weight").ravel() for layer in (0, 1))
        yield "cosine of the query matrices of the first two layers", float(compute_cosine(one, other))


def _measure_ids(spot: Spot) -> Found:
    yield "numbers in x", len(spot.trace.tokens)
    yield "in E_o", len(spot.trace.tokens) * spot.trace.model.config.hidden_size


def _measure_pads_first(_: Spot) -> Found:
    table = compute_sinusoids(PADS + 1, 2)
    yield "at 0", float(table[0, 0])
    yield "at 3", float(table[PADS, 0])


def _measure_unmasked(spot: Spot) -> Found:
    trace = spot.run("encoder-article", PADS)
    if trace is not None:
        probs = trace[Address.in_layer(spot.layer, "attention.self.probs")]
        real = np.array(trace.encoding.mask) == 1
        last = probs[:, real, -PADS:].astype(np.float64)
        yield f"share, in layer {spot.layer}", float(last.sum(axis=-1).mean())


def _measure_entry(_: Spot) -> Found:
    yield "computed", float(playground.apply_softmax(np.array(examples.SCORES))[0, 0])


MEASURES: dict[str, Callable[[Spot], Found]] = {
    "residual-x": _measure_residual,
    "always-full": _measure_padding,
    "softmax-of-tanh": _measure_tanh,
    "bpe": _count_pieces,
    "twelve-twice": _count_tokens,
    "epsilon": _measure_epsilon,
    "sampling": _measure_sampling,
    "missing-i": _measure_column,
    "typed-mask": _measure_typed_mask,
    "size-of-k": _measure_scaling,
    "sigma": _measure_sigma,
    "only-activation": _measure_sampling,
    "third-term": _measure_third_term,
    "one-norm": _measure_scales,
    "no-index": _measure_layers,
    "x-twice": _measure_ids,
    "first-token": _count_tokens,
    "pads-first": _measure_pads_first,
    "unmasked-pads": _measure_unmasked,
    "softmax-entry": _measure_entry,
}
