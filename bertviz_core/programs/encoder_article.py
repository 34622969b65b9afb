"""The encoder article: sinusoidal positions, ReLU, and dropout on what each sublayer brings, off or on."""

# fmt: off
# Laid out by hand: a step reads as one line of a table.

from __future__ import annotations

from dataclasses import replace

import torch

from bertviz_core.formula import steps as kind
from bertviz_core.formula.dims import CONCAT, HIDDEN, INTERMEDIATE, KEY, QUERY, TOKEN, VOCAB
from bertviz_core.formula.document_nodes import Dropout, Sinusoid
from bertviz_core.formula.functions import MAX_ZERO, Apply
from bertviz_core.formula.nodes import Constant, Symbol
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program, declare_input
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.parts import NO_BIAS, Writer

RATE, SEED = 0.1, 2018

IDS = declare_input("input_ids", r"\mathrm{id}", "ids", (TOKEN,))
POSITIONS = declare_input("position_ids", "i", "i", (TOKEN,))

_SOFTMAX = r"$\mathrm{Softmax}(\frac{Q_i K_i^T}{\sqrt{d_k}})$"
_FFN = r"$\mathrm{FFN}(x) = \max(0, xW_1 + b_1)W_2 + b_2$"
_DROPOUT = r"$\mathrm{Dropout}(\mathrm{Sublayer}(x))$"
_SUM = r"$x + \mathrm{Dropout}(\mathrm{Sublayer}(x))$"
_NORM = r"$\mathrm{LayerNorm}(x + \mathrm{Dropout}(\mathrm{Sublayer}(x)))$"
_HEAD = r"$\mathrm{head}_i = \mathrm{Attention}(QW_i^Q, KW_i^K, VW_i^V)$"
_ATTENTION = r"$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}(\frac{QK^T}{\sqrt{d_k}})V$"

_ROWS = ("The article defines it in words, as a normalization of each row by its mean and standard deviation, without "
         "γ, β and ε. BERT's is used, with the checkpoint's: the parameters were learned with it.")
_OFF = "Dropout is off, as always outside training: the sub-layer's whole output is added."
_ON = ("The kept numbers are divided by 0.9 to keep the mean, as every library does; the article only says that 10 % "
       "are dropped. The seed is fixed: the same numbers are dropped in every run.")


def write_encoder_article(config: BertConfig, heads: frozenset[str], dtype: torch.dtype = torch.float32, *,
                          dropout: bool = False) -> Program:
    """The article's pass, from words to the encoder's output. It ends there: the article has no head."""
    w = Writer(config=config, heads=heads, dtype=dtype, document="Encoder article")
    x = _write_embeddings(w)
    for w.layer in range(config.num_hidden_layers):
        attended = _write_attention(w, x)
        y = _write_add_and_norm(w, x, attended, "L.attention.output", ("U", "Y^{(@)}"), dropout)
        x = _write_add_and_norm(w, y, _write_feed_forward(w, y), "L.output", ("Z", "X^{(@)}"), dropout, keep=True)
    return w.program("encoder-article")


def write_encoder_article_dropout(config: BertConfig, heads: frozenset[str], dtype: torch.dtype = torch.float32
                                  ) -> Program:
    """The same with dropout on."""
    return replace(write_encoder_article(config, heads, dtype, dropout=True), name="encoder-article-dropout")


def _write_embeddings(w: Writer) -> Symbol:
    w.stage = Stage.EMBEDDINGS
    rows = w.write("embeddings.word_embeddings", "Z", kind.EMBEDDING,
                   Lookup(w.weight("embeddings.word_embeddings", "E", VOCAB, HIDDEN), IDS),
                   "The token embedding: the row at the token's id.", "The matrix $Z$ (input_length × emb_dim)",
                   "[PAD] stands before the text, as the article pads, and takes the first positions.")
    size = Constant(r"d_{\mathrm{emb\_dim}}", w.config.hidden_size)
    places = w.write("embeddings.position_embeddings", "P", kind.EMBEDDING, Sinusoid(POSITIONS, HIDDEN, size, w.dtype),
                     "The position embedding: sines and cosines of the position, not learned.",
                     r"$p_{i,j} = \sin(i/10000^{j/d}), \cos(i/10000^{(j-1)/d})$")
    return w.write("embeddings.sum", "X^{(0)}", kind.EMBEDDING, rows + places,
                   "The sum of token and position embedding.", "$X = Z + P$",
                   "As printed: token vectors are not multiplied by the root of d, as the paper that it follows does.",
                   keep=True)


def _write_attention(w: Writer, x: Symbol) -> Symbol:
    def project(name: str, letter: str, meaning: str) -> Symbol:
        matrix = w.weight(f"L.attention.self.{name}", f"W_{{i}}^{{{letter}(@)}}", HIDDEN, CONCAT)
        return w.projection(name, f"{letter}_{{i}}^{{(@)}}", x @ matrix, QUERY if name == "query" else KEY, meaning,
                            f"$XW_i^{letter} = {letter}_i$", NO_BIAS)

    k = project("key", "K", "The key of each token, in each head: compared with every query.")
    q = project("query", "Q", "The query of each token, in each head: compared with every key.")
    v = project("value", "V", "The value of each token, in each head: averaged by attention.")
    heads = r"$\mathrm{MultiHead}(Q, K, V) = \mathrm{Concat}(\mathrm{head}_1, \ldots, \mathrm{head}_h) W^O$"
    context = w.attention(q, k, v, ("R_{i}^{(@)}", "S_{i}^{(@)}", "A_{i}^{(@)}", r"\mathrm{head}_{i}^{(@)}", "C^{(@)}"),
                          ("$Q_i K_i^T$", _SOFTMAX, _SOFTMAX, f"{_SOFTMAX[:-1]} V_i$; {_ATTENTION}; {_HEAD}",
                           heads))
    path = "L.attention.output.dense"
    return w.write(path, r"\mathrm{MultiHead}^{(@)}", kind.ATTENTION,
                   context @ w.weight(path, "W^{O(@)}", CONCAT, HIDDEN),
                   "The attention output: concatenated heads, projected.", heads, NO_BIAS)


def _write_feed_forward(w: Writer, y: Symbol) -> Symbol:
    w.stage = Stage.FEED_FORWARD
    path = "L.intermediate.dense"
    before = w.write(path, "F^{(@)}", kind.FFN,
                     y @ w.weight(path, "W_{1}^{(@)}", HIDDEN, INTERMEDIATE)
                     + w.bias(path, "b_{1}^{(@)}", INTERMEDIATE),
                     "The pre-activation of each neuron: a weighted sum, plus a bias.", _FFN)
    after = w.write("L.intermediate.activation", "G^{(@)}", kind.FFN, Apply(before, MAX_ZERO),
                    "The activation of each neuron: its pre-activation, or 0 if negative.", _FFN)
    path = "L.output.dense"
    return w.write(path, r"\mathrm{FFN}^{(@)}", kind.FFN,
                   after @ w.weight(path, "W_{2}^{(@)}", INTERMEDIATE, HIDDEN) + w.bias(path, "b_{2}^{(@)}", HIDDEN),
                   "The sum of each neuron's direction times its activation, plus a bias.", _FFN)


def _write_add_and_norm(w: Writer, x: Symbol, sublayer: Symbol, path: str, symbols: tuple[str, str], dropout: bool,
                        keep: bool = False) -> Symbol:
    """LayerNorm(x + Dropout(Sublayer(x)))."""
    w.stage = Stage.ADD_NORM
    added = sublayer
    if dropout:
        seed = SEED + 2 * w.layer + (path == "L.output")  # each sublayer draws its own
        added = w.write(f"{path}.dropout", rf"\mathrm{{Drop}}_{{{symbols[0]}}}^{{(@)}}", sublayer.kind,
                        Dropout(sublayer, RATE, seed),
                        "The sub-layer's output, with 10 % of its numbers set to 0.", _DROPOUT, _ON)
    total = w.write(f"{path}.residual", f"{symbols[0]}^{{(@)}}", kind.RESIDUAL, x + added,
                    "The residual sum: the sub-layer's input plus its output.", _SUM, "" if dropout else _OFF)
    return w.norm(f"{path}.LayerNorm", total, symbols[1], _NORM, _ROWS, keep=keep)
