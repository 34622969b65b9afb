"""The formula post: functions of functions, with LayerNorm before each part, and sigma as printed."""

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
    POOLED,
    POSITION,
    QUERY,
    SEGMENT,
    TOKEN,
    VOCAB,
    Axis,
)
from bertviz_core.formula.document_nodes import ZEROS
from bertviz_core.formula.functions import TANH, Apply, Sqrt, Square, Sum
from bertviz_core.formula.nodes import Constant, Expr, Symbol
from bertviz_core.formula.shapes import Lookup, Select
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program, declare_input
from bertviz_core.programs.bert import POOLER
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.parts import NO_BIAS, STRETCHED, Writer

IDS = declare_input("input_ids", "x", "x", (TOKEN,))
POSITIONS = declare_input("position_ids", r"\mathrm{arange}", "arange", (TOKEN,))

_LN = r"$y=LN(x)=g\odot \frac{x-\mu}{\sqrt{\sigma^2+\epsilon}} + b$"
_MU = r"$\mu = \frac{1}{H}\sum_{i=1}^H x_i$"
_SIGMA = r"$\sigma = \sqrt{\frac{1}{H}}\sum_{i=1}^H (x_i-\mu)^2$"
_ATTENTION = r"$Attention(Q,K,V)=softmax(\frac{QK^T}{\sqrt{d_k}})V$"
_HEAD = "$head_i = Attention(QW^Q_i,KW^K_i,VW^V_i)$"
_HEADS = r"$MultiHead(Q,K,V)=Concat(head_1,\ldots,head_h)W^0$"
_LAYER = r"BERTLayer: $f_{E}=f_{Att}(f_{LN}(x))+x+f_{Out}(f_{Inter}(f_{LN}(f_{LN}(x)+f_{Att}(LN(x))+x)))$"
_SELF_ATTENTION = "BERTSelfAttention: $f_{SelfAtt}$"
_OUTPUT = "BERTSelfOutput: $f_{SelfOut}$; BERTAttention: $f_{Att}$"
_POOLER = "Summary: $f_{Pooler}=tanh(f_{Linear}(f_{E12}))$"

_AS_PRINTED = ("As printed, the root covers 1/H only, and the squared distances are summed outside it. A standard "
               "deviation would have the sum under the root.")
_WHICH_NORM = ("Which g and b is not said: a layer's first LayerNorm uses those of the checkpoint's first, its second "
               "those of its second, in the order in which they run. ε is the checkpoint's.")
_FIRST_X = "What enters the first block is printed as x, the token ids; E_o, the normalized embeddings, is meant."


def write_formula_post(config: BertConfig, heads: frozenset[str], dtype: torch.dtype = torch.float32) -> Program:
    """The post's pass, up to the pooler."""
    w = Writer(config=config, heads=heads, dtype=dtype, document="Formula post")
    x = _write_embeddings(w)
    for w.layer in range(config.num_hidden_layers):
        x = _write_layer(w, x)
    if POOLER in heads:
        _write_pooler(w, x)
    return w.program("formula-post")


def _write_embeddings(w: Writer) -> Symbol:
    w.stage = Stage.EMBEDDINGS

    def look_up(module: str, number: int, axis: Axis, ids: Expr, meaning: str, place: str, choice: str = "") -> Symbol:
        table = w.weight(f"embeddings.{module}", f"W_{{{number}}}", axis, HIDDEN)
        return w.write(f"embeddings.{module}", rf"f_{{\mathrm{{EM}}{number}}}", kind.EMBEDDING, Lookup(table, ids),
                       meaning, f"BERTEmbedding: {place}", choice)

    word = look_up("word_embeddings", 1, VOCAB, IDS, "The word embedding: the row at the token's id.",
                   "$f_{EM1}(x)$")
    place = look_up("position_embeddings", 2, POSITION, POSITIONS, "The position embedding: learned, one per position.",
                    "$f_{EM2}$ of `torch.arange(x.size(1))`")
    segment = look_up("token_type_embeddings", 3, SEGMENT, Apply(IDS, ZEROS), "The embedding of the first segment.",
                      "$f_{EM3}$ of `torch.zeros_like(x)`",
                      "Zeros, as printed: a second sentence gets the first segment too.")
    total = w.write("embeddings.sum", "E", kind.EMBEDDING, word + place + segment,
                    "The sum of word, position and first segment embedding.",
                    "BERTEmbedding: $E=f_{EM1}+f_{EM2}+f_{EM3}$")
    return _write_norm(w, "embeddings.LayerNorm", total, "E_{o}", "BERTEmbedding: $E_o=LN(E)$",
                       "ε is the checkpoint's.", keep=True)


def _write_layer(w: Writer, x: Symbol) -> Symbol:
    def read(choice: str) -> str:
        return choice if w.layer else f"{choice} {_FIRST_X}"

    w.stage = Stage.ADD_NORM
    normal = _write_norm(w, "L.attention.LayerNorm", x, r"f_{\mathrm{LN}}^{(@)}", _LAYER, read(_WHICH_NORM),
                         of="L.attention.output.LayerNorm")
    attention = _write_attention(w, normal)
    w.stage = Stage.ADD_NORM
    inside = w.write("L.attention.output.residual", "U^{(@)}", kind.RESIDUAL, normal + attention + x,
                     "The residual sum: the normalized input, the attention output and the input itself.", _LAYER,
                     read("Three terms, as printed: the normalized input is added too. The symbol is ours."))
    second = _write_norm(w, "L.intermediate.LayerNorm", inside, r"f_{\mathrm{LN}2}^{(@)}", _LAYER, _WHICH_NORM,
                         of="L.output.LayerNorm")
    out = _write_feed_forward(w, second)
    w.stage = Stage.ADD_NORM
    return w.write("L.output.residual", r"f_{\mathrm{E}@}", kind.RESIDUAL, attention + x + out,
                   "The residual sum: attention output, layer input and feed-forward output.",
                   _LAYER, read("There is no LayerNorm after it; the next layer begins with one."), keep=True)


def _write_attention(w: Writer, x: Symbol) -> Symbol:
    def project(name: str, letter: str, meaning: str) -> Symbol:
        matrix = w.weight(f"L.attention.self.{name}", f"W^{{{letter}(@)}}_{{i}}", HIDDEN, CONCAT)
        return w.projection(name, f"{letter}_{{i}}^{{(@)}}", x @ matrix, QUERY if name == "query" else KEY, meaning,
                            _HEAD, NO_BIAS)

    q = project("query", "Q", "The query of each token, in each head: compared with every key.")
    k = project("key", "K", "The key of each token, in each head: compared with every query.")
    v = project("value", "V", "The value of each token, in each head: averaged by attention.")
    context = w.attention(q, k, v, ("R_{i}^{(@)}", "S_{i}^{(@)}", "A_{i}^{(@)}", r"\mathrm{head}_{i}^{(@)}",
                                    r"f_{\mathrm{SelfAtt}}^{(@)}"), (*[_ATTENTION] * 4, f"{_HEADS}; {_SELF_ATTENTION}"))
    path = "L.attention.output.dense"
    return w.write(path, r"f_{\mathrm{Att}}^{(@)}", kind.ATTENTION,
                   context @ w.weight(path, "W^{0(@)}", CONCAT, HIDDEN) + w.bias(path, "b^{0(@)}", HIDDEN),
                   "The attention output: concatenated heads, projected.", f"{_OUTPUT}; {_HEADS}",
                   "The second formula has no bias; the section calls it a linear transformation, which has one.")


def _write_feed_forward(w: Writer, x: Symbol) -> Symbol:
    w.stage = Stage.FEED_FORWARD
    path = "L.intermediate.dense"
    before = w.write(path, "F^{(@)}", kind.FFN,
                     x @ w.weight(path, "W_{1}^{(@)}", HIDDEN, INTERMEDIATE)
                     + w.bias(path, "b_{1}^{(@)}", INTERMEDIATE),
                     "The pre-activation of each neuron: a weighted sum of the token's vector, plus a bias.",
                     "BERTIntermediate: $f_{Inter}$",
                     "Called an activation; the linear layer before it is the one of the code that the post refers to.")
    after = w.write("L.intermediate.activation", r"f_{\mathrm{Inter}}^{(@)}", kind.FFN,
                    Apply(before, w.config.activation), "The activation of each neuron.",
                    "BERTIntermediate: $f_{Inter}$", "Which activation is not said: it is the checkpoint's.")
    path = "L.output.dense"
    return w.write(path, r"f_{\mathrm{Out}}^{(@)}", kind.FFN,
                   after @ w.weight(path, "W_{2}^{(@)}", INTERMEDIATE, HIDDEN) + w.bias(path, "b_{2}^{(@)}", HIDDEN),
                   "The sum of each neuron's direction times its activation, plus a bias.", "BERTOutput: $f_{Out}$")


def _write_pooler(w: Writer, x: Symbol) -> None:
    w.stage = Stage.SENTENCE
    path = "pooler.dense"
    dense = w.write(path, r"f_{\mathrm{Linear}}", kind.PREDICTION,
                    Select(x, TOKEN, 0) @ w.weight(path, "W_{p}", HIDDEN, POOLED) + w.bias(path, "b_{p}", POOLED),
                    "The last layer's vector of the first token, projected.", _POOLER,
                    "Of the first token only, as in the code that the post refers to; the formula does not say.")
    w.write("pooler.activation", r"f_{\mathrm{Pooler}}", kind.PREDICTION, Apply(dense, TANH),
            "The tanh of that vector: between −1 and 1.", _POOLER)


def _write_norm(w: Writer, path: str, x: Symbol, tex: str, place: str, choice: str, *, of: str = "", keep: bool = False
          ) -> Symbol:
    """LN as printed, every part a step. of: where g and b stand, if not under `path`."""
    axis = x.axes[-1]
    mean = w.mean(path, x, _MU)
    sigma = w.write(f"{path}.sigma", rf"\sigma_{{{x.tex}}}", kind.NORM,
                    Sqrt(Constant("1", 1) / Constant(axis.latex, w.config.hidden_size)) * Sum(Square(x - mean), axis),
                    "The sum of squared distances from the mean, times √(1/H): as printed.", _SIGMA,
                    _AS_PRINTED)
    epsilon = Constant(r"\epsilon", w.config.layer_norm_eps)
    normal = w.write(f"{path}.normalized", rf"\widehat{{{x.tex}}}", kind.NORM,
                     (x - mean) / Sqrt(Square(sigma) + epsilon),
                     "Each token's vector minus its mean, divided by the root as printed.", _LN)
    return w.write(path, tex, kind.NORM, w.stretched(normal, of or path, ("g", "b"), f"_{{{x.tex}}}"), STRETCHED, place,
                   choice, keep)
