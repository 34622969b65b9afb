"""The forward-pass note: row vectors, one matrix for each head, and the input embeddings X in every residual."""

# fmt: off
# Laid out by hand: a step reads as one line of a table.

from __future__ import annotations

import torch

from bertviz_core.formula import steps as kind
from bertviz_core.formula.dims import (
    CONCAT,
    HIDDEN,
    INTERMEDIATE,
    KEY,
    LABEL,
    POOLED,
    POSITION,
    QUERY,
    RELATION,
    TOKEN,
    VOCAB,
)
from bertviz_core.formula.functions import MAX_ZERO, TANH, Apply, Softmax
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.shapes import Lookup, Select
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program, declare_input
from bertviz_core.programs.bert import CLASSIFIER, NEXT_SENTENCE, POOLER
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.parts import NO_BIAS, OWN_NORM, Writer, rename_to_hidden

IDS = declare_input("input_ids", "I", "I", (TOKEN,))
POSITIONS = declare_input("position_ids", r"\mathrm{pos}", "pos", (TOKEN,))

_FROM_X = "As printed: X, the input embeddings, in every layer; BERT adds the layer's own input."
_CONCAT = "There is no output matrix: the concatenated heads are added directly, since h times d_k is d."


def write_forward_pass_note(config: BertConfig, heads: frozenset[str], dtype: torch.dtype = torch.float32) -> Program:
    """The note's pass, up to the class that it predicts."""
    w = Writer(config=config, heads=heads, dtype=dtype, document="Forward-pass note")
    x = _write_embeddings(w)
    z = w.write("encoder.input", "Z_{0}", kind.EMBEDDING, x, "The input of the first layer.", "$Z_0=X$",
                "BERT normalizes the sum first.")
    for w.layer in range(config.num_hidden_layers):
        z = _write_feed_forward(w, x, _write_attention(w, x, z))
    if POOLER in heads:
        _write_classes(w, z)
    return w.program("forward-pass-note")


def _write_embeddings(w: Writer) -> Symbol:
    w.stage = Stage.EMBEDDINGS
    rows = w.write("embeddings.word_embeddings", "T", kind.EMBEDDING,
                   Lookup(w.weight("embeddings.word_embeddings", "W_{T}", VOCAB, HIDDEN), IDS),
                   "The token embedding: the row at the token's id.", r"$T=\mathrm{lookup}(W_T,I)$",
                   "The input has as many tokens as the text; the note pads every input to 512.")
    places = w.write("embeddings.position_embeddings", "P", kind.EMBEDDING,
                     Lookup(w.weight("embeddings.position_embeddings", "W_{P}", POSITION, HIDDEN), POSITIONS),
                     "The position embedding: learned, one per position.", "$X = T + W_P$",
                     "The rows of W_P for these tokens only; the note adds all 512.")
    return w.write("embeddings.sum", "X", kind.EMBEDDING, rows + places, "The sum of token and position embedding.",
                   "$X = T + W_P$", "No segment, and no LayerNorm after it.", keep=True)


def _write_attention(w: Writer, x: Symbol, z: Symbol) -> Symbol:
    def project(name: str, letter: str, meaning: str) -> Symbol:
        matrix = w.weight(f"L.attention.self.{name}", f"W^{{{letter}}}_{{h,@}}", HIDDEN, CONCAT)
        return w.projection(name, f"{letter}_{{h,@}}", z @ matrix, QUERY if name == "query" else KEY, meaning,
                            f"${letter}_{{h,l}}=Z_{{l-1}} W_{{h,l}}^{{{letter}}}$", NO_BIAS)

    q = project("query", "Q", "The query of each token, in each head: compared with every key.")
    k = project("key", "K", "The key of each token, in each head: compared with every query.")
    v = project("value", "V", "The value of each token, in each head: averaged by attention.")
    weights = r"$A_{h,l} = \mathrm{Softmax}(\frac{Q_{h,l}K_{h,l}^T}{\sqrt{d_k}})$"
    context = w.attention(
        q, k, v, ("R_{h,@}", "S_{h,@}", "A_{h,@}", "Z_{h,@}", r"\tilde{Z}_{@}"),
        (weights, weights, weights, "$Z_{h,l} = A_{h,l}V_{h,l}$",
         r"$\tilde{Z}_l = \mathrm{concat}(Z_{1,l},\ldots,Z_{n_{heads},l})$"))
    w.stage = Stage.ADD_NORM
    place = r"$\bar{Z}_l = \mathrm{LayerNorm}(X+\tilde{Z}_l)$"
    total = w.write("L.attention.output.residual", "U_{@}", kind.RESIDUAL, x + rename_to_hidden(context),
                    "The residual sum: input embeddings plus concatenated heads.", place, f"{_FROM_X} {_CONCAT}")
    return w.norm("L.attention.output.LayerNorm", total, r"\bar{Z}_{@}", place)


def _write_feed_forward(w: Writer, x: Symbol, z: Symbol) -> Symbol:
    w.stage = Stage.FEED_FORWARD
    place = r"$Z_l^{ffnn}=\max(0, \bar{Z}_l W_l^{ffnn}+b_l^{ffnn})$"
    path = "L.intermediate.dense"
    before = w.write(path, "H_{@}", kind.FFN,
                     z @ w.weight(path, r"W_{@}^{\mathrm{ffnn}}", HIDDEN, INTERMEDIATE)
                     + w.bias(path, r"b_{@}^{\mathrm{ffnn}}", INTERMEDIATE),
                     "The pre-activation of each neuron: a weighted sum, plus a bias.", place)
    after = w.write("L.intermediate.activation", r"Z_{@}^{\mathrm{ffnn}}", kind.FFN, Apply(before, MAX_ZERO),
                    "The activation of each neuron: its pre-activation, or 0 if negative.", place)
    path = "L.output.dense"
    out = w.write(path, r"Z_{@}^{\mathrm{out}}", kind.FFN,
                  after @ w.weight(path, r"W_{@}^{\mathrm{out}}", INTERMEDIATE, HIDDEN)
                  + w.bias(path, r"b_{@}^{\mathrm{out}}", HIDDEN),
                  "The sum of each neuron's direction times its activation, plus a bias.",
                  "$Z_l^{out} = Z_l^{ffnn} W_l^{out} + b_l^{out}$")
    w.stage = Stage.ADD_NORM
    place = r"$Z_l = \mathrm{LayerNorm}(X+Z_l^{out})$"
    total = w.write("L.output.residual", "Y_{@}", kind.RESIDUAL, x + out,
                    "The residual sum: input embeddings plus feed-forward output.", place, _FROM_X)
    return w.norm("L.output.LayerNorm", total, "Z_{@}", place, OWN_NORM, keep=True)


def _write_classes(w: Writer, z: Symbol) -> None:
    w.stage = Stage.SENTENCE
    place = r"$\tanh(W^{final} Z_{n_{layers}}[0,:])$"
    final = w.weight("pooler.dense", r"{W^{\mathrm{final}}}^{\top}", HIDDEN, POOLED, r"W^{\mathrm{final}}")
    dense = w.write("pooler.dense", "p", kind.PREDICTION, Select(z, TOKEN, 0) @ final,
                    "The last layer's vector of the first token, projected.", place,
                    f"W^final is on the left, as for a column vector: the transpose of (in, out). {NO_BIAS}")
    pooled = w.write("pooler.activation", r"\bar{p}", kind.PREDICTION, Apply(dense, TANH),
                     "The tanh of that vector: between −1 and 1.", place)
    path, axis = ("classifier", LABEL) if CLASSIFIER in w.heads else ("cls.seq_relationship", RELATION)
    if path == "classifier" or NEXT_SENTENCE in w.heads:
        _apply_softmax(w, pooled, path, w.weight(path, "W_{c}", POOLED, axis), w.bias(path, "b_{c}", axis))


def _apply_softmax(w: Writer, pooled: Symbol, path: str, matrix: Symbol, bias: Symbol) -> None:
    place = r"$\mathrm{Softmax}$ that predicts the class"
    of = "number" if w.config.problem_type == "regression" else "class"
    logits = w.write(path, "c", kind.PREDICTION, pooled @ matrix + bias, f"The logits: one per {of}.", place,
                     "What turns the vector into classes is not said: it is the checkpoint's classifier, or else its "
                     "next-sentence head.")
    if w.config.problem_type == "regression":
        return  # a number, no class
    w.write(f"{path}.probs", r"\bar{c}", kind.PREDICTION, Softmax(logits, matrix.axes[-1]),
            "The softmax of the logits.", place)
