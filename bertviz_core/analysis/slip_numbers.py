"""The numbers that show slips of the documents: measured on one input, or worked out from what is printed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis import playground, slips
from bertviz_core.analysis.alignment import find_layer_outputs, measure_end
from bertviz_core.analysis.layers import compute_cosine, compute_norms
from bertviz_core.analysis.positions import compute_sinusoids
from bertviz_core.analysis.predictions import PROBS, find_masks
from bertviz_core.analysis.walk import sample_function
from bertviz_core.documents import examples
from bertviz_core.formula.address import Address
from bertviz_core.formula.functions import GELU, RELU
from bertviz_core.programs.names import ATTENTION_WEIGHTS, CONTEXT, QUERIES, SELF_ATTENTION
from bertviz_core.programs.notebook import EPSILON_OF_CELL_46, EPSILON_OF_CELLS
from bertviz_core.tracing.trace import Trace

PADS = 3  # as many as the encoder article puts before its text
_BESIDE = 1e-6  # of 0


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


def tell_padded(trace: Trace) -> str:
    """To stand behind the length of a sentence: that its padding is counted, where it has some."""
    return "" if all(trace.encoding.mask) else ", with its padding"


def _measure_padding(spot: Spot) -> Found:
    longest, words = spot.trace.model.config.max_position_embeddings, sum(spot.trace.encoding.mask)
    yield f"columns of {longest} that hold padding on this sentence", longest - words
    as_is = f"cosine as the sentence is{tell_padded(spot.trace)}"
    for more, told in ((0, as_is), (longest - len(spot.trace.tokens), f"at {longest} tokens")):
        other = spot.run("forward-pass-note", more)
        cosine = math.nan if other is None else measure_end(spot.trace, other, spot.token)
        if not math.isnan(cosine):
            yield told, cosine


def _measure_tanh(spot: Spot) -> Found:
    width = spot.trace.model.config.hidden_size
    yield "the largest share that any class can get", math.exp(2) / (math.exp(2) + width - 1)
    yield "so many times the share of another, at most", math.exp(2)


def _count_pieces(spot: Spot) -> Found:
    found = sum(entry.startswith("##") for entry in spot.trace.model.tokenizer.vocabulary)
    yield "vocabulary entries of this model that begin with ##", found


def _count_tokens(spot: Spot) -> Found:
    yield f"tokens of this sentence{tell_padded(spot.trace)}", len(spot.trace.tokens)


def _measure_epsilon(spot: Spot) -> Found:
    """Where the notebook prints next, at the pre-activations of the first layer: of the printed ones, and of all."""
    seen = slips.measure_printed_epsilon(spot.trace)
    yield rf"largest change of the {seen.count} numbers that In \[49\] prints, on this sentence", seen.largest
    x = spot.trace[Address.in_layer(0, "attention.output.residual")].astype(np.float64)
    flat, spread = x - x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    moved = flat / np.sqrt(spread + EPSILON_OF_CELL_46) - flat / np.sqrt(spread + EPSILON_OF_CELLS)
    scale, matrix = (
        spot.weight(0, leaf) for leaf in ("attention.output.LayerNorm.weight", "intermediate.dense.weight")
    )
    change = np.abs((moved * scale) @ matrix)
    yield f"of all {change.size:,} that it computes", float(change.max())


def _measure_sampling(spot: Spot) -> Found:
    config = spot.trace.model.config
    yield "components of a token before and after", config.hidden_size
    yield "inside", config.intermediate_size


def _measure_own_epsilon(spot: Spot) -> Found:
    yield "ε of this model's configuration", spot.trace.model.config.layer_norm_eps


def _measure_rerun(spot: Spot) -> Found:
    """In [41] once more on its own result, whose last two axes it swaps, and writes into the old shape."""
    once = spot.trace[CONTEXT.in_layer(0)].astype(np.float64)
    twice = once.T.reshape(once.shape)
    cosine = compute_cosine(once[spot.token], twice[spot.token])
    yield "cosine of this token's row after two runs with that after one", float(cosine)


def _measure_first_matrix(spot: Spot) -> Found:
    yield "rows of the matrix that it shows, as stored", spot.trace.model.config.intermediate_size
    yield "of the other", spot.trace.model.config.hidden_size


def _measure_corner(_: Spot) -> Found:
    """Slopes just beside 0."""
    for name, function in (("ReLU", RELU), ("GELU", GELU)):
        below, at, above = sample_function(function, np.array([-_BESIDE, 0.0, _BESIDE]))
        yield f"{name}'s slope below 0", float((at - below) / _BESIDE)
        yield "above", float((above - at) / _BESIDE)


def _measure_untold(spot: Spot) -> Found:
    sizes = {name: tensor.numel() for name, tensor in spot.trace.model.parameters.items() if Address(name).layer == 0}
    untold = ("attention.output.dense.", "output.dense.")
    left = sum(size for name, size in sizes.items() if Address(name).leaf.startswith(untold))
    yield "weights of the two matrices that it leaves out, with their biases", left
    yield "of a layer's", sum(sizes.values())


def _measure_bias(spot: Spot) -> Found:
    bias = spot.trace.model.parameters.get("cls.predictions.decoder.bias")
    if bias is not None:
        yield "largest bias of this model's decoder, in size", float(bias.abs().max())


def _read_both(spot: Spot) -> Iterable[tuple[str, Trace]]:
    """The definition's own pass and BERT's, where they end in probabilities."""
    passes = (("in the definition's own pass", spot.run("definition", 0)), ("in BERT's", spot.trace))
    return ((told, trace) for told, trace in passes if trace is not None and PROBS in trace)


def _measure_column(spot: Spot) -> Found:
    for told, trace in _read_both(spot):
        column = trace[PROBS.fix(token=spot.token)]
        yield f"largest {told}", float(column.max())
        yield "smallest", float(column.min())


def _measure_typed_mask(spot: Spot) -> Found:
    places = find_masks(spot.trace)
    for told, trace in _read_both(spot) if places else ():
        number = trace.encoding.ids[places[0]]
        yield told, -math.log(float(trace[PROBS.fix(token=places[0], vocab=number)]))


def _measure_scaling(spot: Spot) -> Found:
    yield "factor", math.sqrt(spot.trace.model.config.num_attention_heads)


def _measure_sigma(spot: Spot) -> Found:
    x = spot.read("attention.output.residual")
    yield f"as printed, at this token after attention in layer {spot.layer}", float(slips.compute_printed_sigma(x))
    yield "standard deviation", float(slips.compute_deviation(x))


def _measure_third_term(spot: Spot) -> Found:
    trace = spot.run("formula-post", 0)
    if trace is not None:
        total, extra = (
            trace[Address.in_layer(spot.layer, leaf).fix(token=spot.token)].astype(np.float64)
            for leaf in ("attention.output.residual", "attention.LayerNorm")
        )
        yield f"length of the extra term, in layer {spot.layer}", float(compute_norms(extra))
        yield "of the other two", float(compute_norms(total - extra))


def _measure_scales(spot: Spot) -> Found:
    one, other = (
        spot.weight(spot.layer, f"{leaf}.weight") for leaf in ("attention.output.LayerNorm", "output.LayerNorm")
    )
    yield f"largest difference of the two γ in layer {spot.layer}", float(np.abs(one - other).max())


def _measure_layers(spot: Spot) -> Found:
    if spot.trace.model.config.num_hidden_layers > 1:
        one, other = (spot.weight(layer, QUERIES.enter("weight").path).ravel() for layer in (0, 1))
        yield "cosine of the query matrices of the first two layers", float(compute_cosine(one, other))


def _measure_last_sum(spot: Spot) -> Found:
    """What the post's pooler reads of the first token, and the same after one more LayerNorm, before g and b."""
    trace = spot.run("formula-post", 0)
    if trace is not None:
        x = trace[find_layer_outputs(trace.program)[-1].fix(token=0)].astype(np.float64)
        yield "as printed", float(compute_norms(x))
        normal = (x - x.mean()) / np.sqrt(x.var() + trace.model.config.layer_norm_eps)
        yield "normalized, before g and b", float(compute_norms(normal))


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
        probs = trace[ATTENTION_WEIGHTS.in_layer(spot.layer)].astype(np.float64)
        real = np.array(trace.encoding.mask) == 1
        yield f"share, in layer {spot.layer}", float(probs[:, real][..., ~real].sum(axis=-1).mean())


def _measure_negative(spot: Spot) -> Found:
    trace = spot.run("encoder-article", 0)
    if trace is not None:
        products = trace[SELF_ATTENTION.in_layer(spot.layer).enter("products")]
        yield f"below 0, in layer {spot.layer}", int((products < 0).sum())
        yield "of all", products.size


def _measure_not_positive(_: Spot) -> Found:
    yield "not above 0", sum(number <= 0 for number in examples.MIXED)
    yield "of", len(examples.MIXED)


def _measure_entry(_: Spot) -> Found:
    yield "computed", float(playground.apply_softmax(np.array(examples.SCORES))[0, 0])


MEASURES: dict[str, Callable[[Spot], Found]] = {
    "residual-x": _measure_residual,
    "always-full": _measure_padding,
    "softmax-of-tanh": _measure_tanh,
    "bpe": _count_pieces,
    "twelve-twice": _count_tokens,
    "typed-epsilon": _measure_own_epsilon,
    "epsilon": _measure_epsilon,
    "run-twice": _measure_rerun,
    "sampling": _measure_sampling,
    "first-matrix": _measure_first_matrix,
    "continuous": _measure_corner,
    "layer-told": _measure_untold,
    "bias-twice": _measure_bias,
    "missing-i": _measure_column,
    "typed-mask": _measure_typed_mask,
    "size-of-k": _measure_scaling,
    "sigma": _measure_sigma,
    "only-activation": _measure_sampling,
    "third-term": _measure_third_term,
    "one-norm": _measure_scales,
    "no-index": _measure_layers,
    "x-twice": _measure_ids,
    "final-norm": _measure_last_sum,
    "first-token": _count_tokens,
    "pads-first": _measure_pads_first,
    "unmasked-pads": _measure_unmasked,
    "longer-greater": _measure_negative,
    "positive-numbers": _measure_not_positive,
    "softmax-entry": _measure_entry,
}
