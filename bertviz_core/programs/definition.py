"""The definition: E-Transformer as its pseudocode has it. It writes tokens as columns; here they are rows.

A matrix that the definition writes as (out, in) is the transpose of ours: its symbol carries that in row notation, and
loses it in column notation.
"""

# fmt: off
# Laid out by hand: a step reads as one line of a table.

from __future__ import annotations

import torch

from bertviz_core.formula import steps as kind
from bertviz_core.formula.dims import CONCAT, HIDDEN, INTERMEDIATE, KEY, POSITION, QUERY, TOKEN, TRANSFORM, VOCAB
from bertviz_core.formula.functions import GELU, Apply, Softmax
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program, declare_input
from bertviz_core.programs.bert import MLM
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.parts import Writer

IDS = declare_input("input_ids", "x", "x", (TOKEN,))
POSITIONS = declare_input("position_ids", "j", "j", (TOKEN,))

_NOT_GIVEN = "ε is not given; the checkpoint's is used."
_ATTENTION = ("The parameters of attention are not on this page; BERT's are used here: matrices with biases for "
              "queries, keys, values and output.")
_STAGES = "The pseudocode calls every stage X; here each gets an index."
_MASK = ("The argument 1 of MultiHeadAttention is not explained. It is read as a mask of ones: every token may be "
         "attended to. Which way the softmax runs is not said either: over the keys: a query's weights sum to 1.")
_ORDER = ("How the heads are put together is not said: in the checkpoint's order, for which its output matrix was "
          "learned.")

_MHA = r"E-Transformer: $X\gets X + \mathrm{MultiHeadAttention}(X,X\vert\mathcal{W}^l,1)$"
_MLP = r"E-Transformer: $X \gets X+W_2^l\cdot \mathrm{Gelu}(W_1^l X+b^l_1 1^\top)+b^l_2 1^\top$"
_EMBED = r"E-Transformer: $X_{:,j}\gets (W_e)_{:,x_j}+(W_p)_{:,j}$"
_GELU = r"$\mathrm{gelu}(x):=x\cdot P_{X\sim\mathcal{N}(0,1)}(X<x)$"
_FINAL = r"E-Transformer: $X \gets \mathrm{Gelu}(W_f X+b_f 1^\top)$"
_UNEMBED = r"E-Transformer: $P=\mathrm{softmax}(W_u X)$"


def write_definition(config: BertConfig, heads: frozenset[str], dtype: torch.dtype = torch.float32) -> Program:
    """The definition's pass, up to a distribution over the vocabulary at every position."""
    w = Writer(config=config, heads=heads, dtype=dtype, document="Definition")
    x = _write_embeddings(w)
    for w.layer in range(config.num_hidden_layers):
        y = _write_attention(w, x)
        x = _write_feed_forward(w, y)
    if MLM in heads:
        _write_unembedding(w, x)
    return w.program("definition")


def _write_embeddings(w: Writer) -> Symbol:
    w.stage = Stage.EMBEDDINGS

    def look_up(module: str, letter: str, ids: Symbol, meaning: str) -> Symbol:
        axis = VOCAB if letter == "e" else POSITION
        table = w.weight(f"embeddings.{module}", rf"{{W_{letter}}}^{{\top}}", axis, HIDDEN, f"W_{letter}")
        return w.write(f"embeddings.{module}", f"E_{letter}", kind.EMBEDDING, Lookup(table, ids), meaning, _EMBED)

    word = look_up("word_embeddings", "e", IDS, "The token embedding: a column of the token matrix.")
    place = look_up("position_embeddings", "p", POSITIONS, "The position embedding: a column of the position matrix.")
    return w.write("embeddings.sum", "X_{0}", kind.EMBEDDING, word + place, "The sum of token and position embedding.",
                   _EMBED, f"No segment, and no LayerNorm after it. {_STAGES}", keep=True)


def _write_attention(w: Writer, x: Symbol) -> Symbol:
    def project(name: str, letter: str, meaning: str, choice: str = "") -> Symbol:
        path = f"L.attention.self.{name}"
        matrix = w.weight(path, rf"{{W_{letter}^{{(@)}}}}^{{\top}}", HIDDEN, CONCAT, f"W_{letter}^{{(@)}}")
        return w.projection(name, f"{letter.upper()}_{{@}}", x @ matrix + w.bias(path, f"b_{letter}^{{(@)}}", CONCAT),
                            QUERY if name == "query" else KEY, meaning, _MHA, choice)

    q = project("query", "q", "The query of each token, in each head: compared with every key.", _ATTENTION)
    k = project("key", "k", "The key of each token, in each head: compared with every query.")
    v = project("value", "v", "The value of each token, in each head: averaged by attention.")
    context = w.attention(q, k, v, ("R_{@}", "S_{@}", "A_{@}", "Y_{@}", r"\bar{Y}_{@}"), (_MHA,) * 5,
                          probs=_MASK, context=_ORDER)
    path = "L.attention.output.dense"
    out = w.write(path, "O_{@}", kind.ATTENTION,
                  context @ w.weight(path, r"{W_o^{(@)}}^{\top}", CONCAT, HIDDEN, "W_o^{(@)}")
                  + w.bias(path, "b_o^{(@)}", HIDDEN),
                  "The attention output: concatenated heads, projected.", _MHA)
    w.stage = Stage.ADD_NORM
    total = w.write("L.attention.output.residual", r"X_{@}^{\mathrm{MHA}}", kind.RESIDUAL, x + out,
                    "The residual sum: the layer's input plus the attention output.", _MHA, _STAGES)
    return w.norm("L.attention.output.LayerNorm", total, r"X_{@}^{\mathrm{LN1}}",
                  r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma^l_1,\beta^l_1)$", _NOT_GIVEN, own="_1^{(@)}")


def _write_feed_forward(w: Writer, y: Symbol) -> Symbol:
    w.stage = Stage.FEED_FORWARD
    path = "L.intermediate.dense"
    before = w.write(path, "F_{@}", kind.FFN,
                     y @ w.weight(path, r"{W_1^{(@)}}^{\top}", HIDDEN, INTERMEDIATE, "W_1^{(@)}")
                     + w.bias(path, "b_1^{(@)}", INTERMEDIATE),
                     "The pre-activation of each neuron: a weighted sum of the token's vector, plus a bias.", _MLP)
    after = w.write("L.intermediate.activation", "G_{@}", kind.FFN, Apply(before, GELU),
                    "The activation of each neuron.", f"{_MLP}; {_GELU}",
                    "By the normal distribution's CDF, as defined, whatever the config says.")
    path = "L.output.dense"
    dense = w.write(path, "D_{@}", kind.FFN,
                    after @ w.weight(path, r"{W_2^{(@)}}^{\top}", INTERMEDIATE, HIDDEN, "W_2^{(@)}")
                    + w.bias(path, "b_2^{(@)}", HIDDEN),
                    "The sum of each neuron's direction times its activation, plus a bias.", _MLP)
    w.stage = Stage.ADD_NORM
    total = w.write("L.output.residual", r"X_{@}^{\mathrm{MLP}}", kind.RESIDUAL, y + dense,
                    "The residual sum: the feed-forward network's input plus its output.", _MLP, _STAGES)
    return w.norm("L.output.LayerNorm", total, "X_{@}",
                  r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma^l_2,\beta^l_2)$", _NOT_GIVEN, own="_2^{(@)}",
                  keep=True)


def _write_unembedding(w: Writer, x: Symbol) -> None:
    w.stage = Stage.PREDICTIONS
    path = "cls.predictions.transform"
    dense = w.write(f"{path}.dense", "F_f", kind.PREDICTION,
                    x @ w.weight(f"{path}.dense", r"{W_f}^{\top}", HIDDEN, TRANSFORM, "W_f")
                    + w.bias(f"{path}.dense", "b_f", TRANSFORM),
                    "The last layer's vector, projected by the LM head.", _FINAL)
    active = w.write(f"{path}.activation", "X_f", kind.PREDICTION, Apply(dense, GELU), "The LM head's activation.",
                     f"{_FINAL}; {_GELU}")
    norm = w.norm(f"{path}.LayerNorm", active, "X_u", r"E-Transformer: $\mathrm{ColwiseLayerNorm}(X\vert\gamma,\beta)$",
                  _NOT_GIVEN, own="", result_kind=kind.PREDICTION, keep=True)
    path = "cls.predictions.decoder"
    logits = w.write(path, "L_u", kind.PREDICTION, norm @ w.weight(path, r"{W_u}^{\top}", TRANSFORM, VOCAB, "W_u"),
                     "The logits: one per vocabulary entry.", _UNEMBED, "There is no bias; BERT has one.")
    w.write("cls.predictions.probs", "P", kind.PREDICTION, Softmax(logits, VOCAB),
            "The softmax of the logits: a probability for each vocabulary entry.", _UNEMBED,
            "Which way the softmax runs is not said: over the vocabulary, each token's column on its own.")
