"""The notebook: BERT as released, cell by cell, without a padding mask; one layer first, then all of them."""

# fmt: off
# Laid out by hand: a step reads as one line of a table.

from __future__ import annotations

from typing import Any

import torch

from bertviz_core.formula import steps as kind
from bertviz_core.formula.dims import (
    CONCAT,
    HIDDEN,
    INTERMEDIATE,
    KEY,
    POSITION,
    QUERY,
    SEGMENT,
    TRANSFORM,
    VOCAB,
    Axis,
)
from bertviz_core.formula.document_nodes import ZEROS, Argmax
from bertviz_core.formula.functions import GELU, Apply
from bertviz_core.formula.nodes import Expr, Symbol
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Program
from bertviz_core.programs.bert import MLM, POSITION_IDS, TOKEN_IDS
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.parts import Writer

EPSILON_OF_CELLS, EPSILON_OF_CELL_46 = 1e-12, 1e-5  # written into the cells; left to PyTorch's default

_WRITTEN = "ε is written into the cell: 1e-12, whatever the config says."
_CELL_46 = ("PyTorch's own layer_norm is called without an ε and takes its default, 1e-5. The loop over all layers has "
            "1e-12; only the cells up to 56 go on from this one.")
_IN_29 = "; In [29]"  # where the notebook defines its LayerNorm, part by part
_GELU = "Always the exact GELU, whatever the config says."
_NAMES = ("The cell reads t_query_states, t_key_states and t_value_states, which no cell above it assigns: only "
          "In [57] does. What In [37] calls transposed_query_states, and so on, is meant.")
_HEADS = ("In [34] writes out 12 heads of 64 components, and In [57] 12 layers; here both are the checkpoint's.")
_TWELVE = ("The cell writes the size out, (1, 12, 768), and so holds for 12 tokens and 768 components only; here it is "
           "the text's own.")
_SEGMENTS = "In [12] gives every token segment 0, in a second sentence too; BERT gives that one segment 1."


def write_notebook(config: BertConfig, heads: frozenset[str], dtype: torch.dtype = torch.float32) -> Program:
    """The notebook's pass; the cells that work one layer, which nothing reads later, stand under `single_layer`."""
    w = Writer(config=config, heads=heads, dtype=dtype, document="Notebook", first=0)
    x = _write_embeddings(w)
    for w.layer in range(config.num_hidden_layers):
        total = _write_attention(w, x)
        if w.layer == 0:
            _write_single_layer(w, total)
        y = _norm(w, "L.attention.output.LayerNorm", total, "Y^{(@)}", "In [57]")
        z = _write_feed_forward(w, "L.", y, ("F^{(@)}", "G^{(@)}", "D^{(@)}", "Z^{(@)}"), ("In [57]",) * 4)
        x = _norm(w, "L.output.LayerNorm", z, f"X^{{({w.layer + 1})}}", "In [57]", keep=True)
    if MLM in heads:
        _write_language_model(w, x)
    return w.program("notebook")


def _write_embeddings(w: Writer) -> Symbol:
    w.stage = Stage.EMBEDDINGS

    def look_up(module: str, name: str, axis: Axis, ids: Expr, meaning: str, place: str, choice: str = "") -> Symbol:
        table = w.weight(f"embeddings.{module}", rf"W_{{\mathrm{{{name}}}}}", axis, HIDDEN)
        return w.write(f"embeddings.{module}", rf"E_{{\mathrm{{{name}}}}}", kind.EMBEDDING, Lookup(table, ids), meaning,
                       place, choice)

    word = look_up("word_embeddings", "word", VOCAB, TOKEN_IDS, "The word embedding: the row at the token's id.",
                   "In [15]")
    position = look_up("position_embeddings", "pos", POSITION, POSITION_IDS, "The position embedding: learned.",
                       "In [21]")
    segment = look_up("token_type_embeddings", "seg", SEGMENT, Apply(TOKEN_IDS, ZEROS),
                      "The embedding of the first segment: learned.", "In [12]; In [25]", _SEGMENTS)
    total = w.write("embeddings.sum", "E", kind.EMBEDDING, word + position + segment,
                    "The sum of word, position and first segment embedding.", "In [26]")
    return _norm(w, "embeddings.LayerNorm", total, "X^{(0)}", "In [30]", keep=True)


def _write_attention(w: Writer, x: Symbol) -> Symbol:
    """Up to the first residual sum: the same in the cells of the first layer and in the loop."""
    def cell(*numbers: str) -> str:
        return "In [57]" if w.layer else "; ".join(f"In [{number}]" for number in numbers)

    def project(name: str, letter: str, meaning: str) -> Symbol:
        projected = _project(w, f"L.attention.self.{name}", letter, x, HIDDEN, CONCAT)
        return w.projection(name, f"{letter}^{{(@)}}", projected, QUERY if name == "query" else KEY, meaning,
                            cell("33", "34", "37"), _HEADS if name == "query" else "")

    q = project("query", "Q", "The query of each token, in each head: compared with every key.")
    k = project("key", "K", "The key of each token, in each head: compared with every query.")
    v = project("value", "V", "The value of each token, in each head: averaged by attention.")
    context = w.attention(q, k, v, ("R^{(@)}", "S^{(@)}", "A^{(@)}", "H^{(@)}", "C^{(@)}"),
                          (*[cell("40")] * 4, cell("41")), products="" if w.layer else _NAMES, context=_TWELVE)
    dense = w.write("L.attention.output.dense", "O^{(@)}", kind.ATTENTION,
                    _project(w, "L.attention.output.dense", "O", context, CONCAT, HIDDEN),
                    "The attention output: concatenated heads, projected.", cell("42"))
    w.stage = Stage.ADD_NORM
    return w.write("L.attention.output.residual", "U^{(@)}", kind.RESIDUAL, dense + x,
                   "The residual sum: the attention output plus the layer's input.", cell("46"))


def _write_single_layer(w: Writer, total: Symbol) -> None:
    """The cells that go on from the first residual sum of layer 0, one by one, with another epsilon."""
    y = w.norm("single_layer.attention.output.LayerNorm", total, "Y'", "In [46]", _CELL_46, mark="46",
               of="L.attention.output.LayerNorm", epsilon=EPSILON_OF_CELL_46)
    z = _write_feed_forward(w, "single_layer.", y, ("F'", "G'", "D'", "Z'"),
                            ("In [49]", "In [51]", "In [54]", "In [56]"))
    _norm(w, "single_layer.output.LayerNorm", z, "X'", "In [56]", of="L.output.LayerNorm", own="_{Z^{(@)}}")


def _write_feed_forward(w: Writer, path: str, y: Symbol, symbols: tuple[str, ...], places: tuple[str, ...]
                  ) -> Symbol:
    w.stage = Stage.FEED_FORWARD
    before = w.write(f"{path}intermediate.dense", symbols[0], kind.FFN,
                     _project(w, "L.intermediate.dense", "1", y, HIDDEN, INTERMEDIATE),
                     "The pre-activation of each neuron: a weighted sum of the token's vector, plus a bias.", places[0])
    after = w.write(f"{path}intermediate.activation", symbols[1], kind.FFN, Apply(before, GELU),
                    "The activation of each neuron.", places[1], _GELU)
    dense = w.write(f"{path}output.dense", symbols[2], kind.FFN,
                    _project(w, "L.output.dense", "2", after, INTERMEDIATE, HIDDEN),
                    "The sum of each neuron's direction times its activation, plus a bias.", places[2])
    w.stage = Stage.ADD_NORM
    return w.write(f"{path}output.residual", symbols[3], kind.RESIDUAL, dense + y,
                   "The residual sum: the feed-forward network's output plus its input.", places[3])


def _write_language_model(w: Writer, x: Symbol) -> None:
    w.stage = Stage.PREDICTIONS
    path = "cls.predictions.transform"
    dense = w.write(f"{path}.dense", "T", kind.PREDICTION, _project(w, f"{path}.dense", "T", x, HIDDEN, TRANSFORM, ""),
                    "The last layer's vector, projected by the LM head.", "In [59]")
    active = w.write(f"{path}.activation", r"\tilde{T}", kind.PREDICTION, Apply(dense, GELU),
                     "The LM head's activation.", "In [61]", _GELU)
    norm = _norm(w, f"{path}.LayerNorm", active, "N", "In [61]", result_kind=kind.PREDICTION, keep=True)
    path = "cls.predictions.decoder"
    logits = w.write(path, "L", kind.PREDICTION, _project(w, path, r"\mathrm{vocab}", norm, TRANSFORM, VOCAB, ""),
                     "The logits: one per vocabulary entry.", "In [63]")
    w.write("cls.predictions.argmax", r"\hat{\mathrm{id}}", kind.PREDICTION, Argmax(logits, VOCAB),
            "The top prediction: the vocabulary entry with the highest logit.", "In [65]",
            "There is no softmax: the entry with the highest logit also has the highest probability.")


def _norm(w: Writer, path: str, x: Symbol, tex: str, cell: str, **more: Any) -> Symbol:
    """LayerNorm as all cells but one have it. more: to `Writer.norm`."""
    return w.norm(path, x, tex, f"{cell}{_IN_29}", _WRITTEN, epsilon=EPSILON_OF_CELLS, **more)


def _project(w: Writer, path: str, name: str, x: Expr, inside: Axis, outside: Axis, up: str = "^{(@)}") -> Expr:
    return x @ w.weight(path, f"W_{{{name}}}{up}", inside, outside) + w.bias(path, f"b_{{{name}}}{up}", outside)
