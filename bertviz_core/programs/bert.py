"""BERT as released (Devlin et al. 2018), from token ids to heads, read from top to bottom.

Every statement is one step: address, symbol, variable name in code, kind, formula, meaning, source. Shapes follow from
the formulas.
"""

# fmt: off
# Laid out by hand: a step reads as one line of a table.

from __future__ import annotations

import torch

from bertviz_core.formula import steps as kind
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import (
    BOUND,
    CONCAT,
    END,
    HIDDEN,
    INTERMEDIATE,
    KEY,
    LABEL,
    POOLED,
    POSITION,
    QUERY,
    RELATION,
    SEGMENT,
    START,
    TOKEN,
    TRANSFORM,
    VOCAB,
    Axis,
)
from bertviz_core.formula.functions import SIGMOID, TANH, Apply, Mean, Softmax, Sqrt, Square
from bertviz_core.formula.nodes import Constant, Expr, Symbol
from bertviz_core.formula.pair_nodes import PairSum
from bertviz_core.formula.shapes import Lookup, MergeHeads, Rename, Select, SplitHeads, Transpose
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import Builder, Program, declare_input, declare_parameter
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.names import ATTENTION_WEIGHTS, CONTEXT, SELF_ATTENTION

VASWANI = "Vaswani et al. 2017, Attention Is All You Need"
DEVLIN = "Devlin et al. 2018, BERT"
BA = "Ba et al. 2016, Layer Normalization, eq. 4"
HENDRYCKS = "Hendrycks & Gimpel 2016, Gaussian Error Linear Units"

MLM, POOLER, NEXT_SENTENCE, CLASSIFIER, TOKEN_CLASSIFIER, QUESTION_ANSWERING = (
    "masked language model", "pooler", "next sentence", "classifier", "token classifier", "question answering",
)
ALL_HEADS = (MLM, POOLER, NEXT_SENTENCE, CLASSIFIER, TOKEN_CLASSIFIER, QUESTION_ANSWERING)
MOST_HEADS = frozenset(ALL_HEADS) - {TOKEN_CLASSIFIER}  # of one model: a classifier is of texts or of tokens

TOKEN_IDS = declare_input("input_ids", r"\mathrm{id}", "input_ids", (TOKEN,))
POSITION_IDS = declare_input("position_ids", r"\mathrm{pos}", "position_ids", (TOKEN,))
SEGMENT_IDS = declare_input("token_type_ids", r"\mathrm{seg}", "token_type_ids", (TOKEN,))
MASK = declare_input("attention_mask", r"\mathrm{m}", "attention_mask", (TOKEN,))


def write_bert(config: BertConfig, heads: frozenset[str], dtype: torch.dtype = torch.float32) -> Program:
    """BERT with the given heads. dtype decides the number that masked scores are pushed to."""
    b = Builder()
    x = _write_embeddings(b, config)
    for layer in range(config.num_hidden_layers):
        x = _write_attention(b, config, layer, x, torch.finfo(dtype).min)
        x = _write_feed_forward(b, config, layer, x)
    if MLM in heads:
        _write_masked_language_model(b, config, x)
    if POOLER in heads:
        pooled = _write_pooler(b, x)
        if NEXT_SENTENCE in heads:
            _write_next_sentence(b, pooled)
        if CLASSIFIER in heads:
            _write_classifier(b, config, pooled)
    if TOKEN_CLASSIFIER in heads:
        _write_classifier(b, config, x)
    if QUESTION_ANSWERING in heads:
        _write_question_answering(b, x)
    return b.program("bert")


def _write_embeddings(b: Builder, config: BertConfig) -> Symbol:
    tables = (
        (
            "word",
            VOCAB,
            TOKEN_IDS,
            "word_embeddings",
            "The word embedding: the row of the matrix at the token's id.",
        ),
        ("pos", POSITION, POSITION_IDS, "position_embeddings", "The position embedding: learned, one per position."),
        ("seg", SEGMENT, SEGMENT_IDS, "token_type_embeddings", "The segment embedding: one for each sentence."),
    )
    b.stage = Stage.EMBEDDINGS
    rows = []
    for name, axis, ids, module, meaning in tables:
        path = f"embeddings.{module}"
        table = declare_parameter(f"{path}.weight", rf"W_{{\mathrm{{{name}}}}}", f"W_{name}", (axis, HIDDEN))
        tex = rf"E_{{\mathrm{{{name}}}}}"
        rows.append(b.add(path, tex, f"E_{name}", kind.EMBEDDING, Lookup(table, ids), meaning, f"{DEVLIN}, fig. 2"))
    word, position, segment = rows
    total = b.add("embeddings.sum", "E", "E", kind.EMBEDDING, word + position + segment,
                  "The sum of word, position and segment embedding.", f"{DEVLIN}, fig. 2")
    return _write_layer_norm(b, config, "embeddings.LayerNorm", total, "E", r"X^{(0)}", "X_0", keep=True)


def _write_attention(b: Builder, config: BertConfig, layer: int, x: Symbol, masked: float) -> Symbol:
    at = _Layer(layer)
    h, d_k = Constant("h", config.num_attention_heads), Constant("d_k", config.head_dim)
    eq1, multi_head = f"{VASWANI}, eq. 1", f"{VASWANI}, sec. 3.2.2"

    def project(name: str, letter: str, axis: Axis, meaning: str) -> Symbol:
        path = SELF_ATTENTION.enter(name).path
        split = SplitHeads(at.linear(x, path, letter, HIDDEN, CONCAT), h, d_k)
        return b.add(at(path), at.tex(letter), at.var(letter), name, Rename(split, TOKEN, axis), meaning, multi_head)

    b.stage = Stage.QUERY_KEY_VALUE
    q = project("query", "Q", QUERY, "The query of each token, in each head: compared with every key.")
    k = project("key", "K", KEY, "The key of each token, in each head: compared with every query.")
    v = project("value", "V", KEY, "The value of each token, in each head: averaged by attention.")

    b.stage = Stage.ATTENTION
    products = b.add(at("attention.self.products"), at.tex("R"), at.var("R"), kind.ATTENTION, q @ Transpose(k),
                     "The dot product of each query with each key.", eq1)
    scaled = b.add(at("attention.self.scaled"), at.tex(r"\hat{S}"), at.var("S_scaled"), kind.ATTENTION,
                   products / Sqrt(d_k),
                   "The dot products divided by √d_k, so that large ones do not take all of the softmax.", eq1)
    hidden_from_view = (Constant("1", 1) - Rename(MASK, TOKEN, KEY)) * Constant(r"\lambda", masked)
    scores = b.add(at("attention.self.scores"), at.tex("S"), at.var("S"), kind.ATTENTION, scaled + hidden_from_view,
                   "The attention scores, masked: where the mask is 0, as at padding, so low a number is added that "
                   "next to other tokens the attention weight is exactly 0.",
                   f"{DEVLIN}, released code (modeling.py, attention_mask)")
    probs = b.add(at(ATTENTION_WEIGHTS.path), at.tex("A"), at.var("A"), kind.ATTENTION, Softmax(scores, KEY),
                  "The attention weights of each query over all keys; each row sums to 1.", eq1)
    b.stage = Stage.ATTENTION_OUTPUT
    context = b.add(at(CONTEXT.path), at.tex("C"), at.var("C"), kind.VALUE,
                    Rename(MergeHeads(probs @ v, d_k), QUERY, TOKEN),
                    "The head outputs (values averaged by attention weights), concatenated.", multi_head)
    dense = b.add(at("attention.output.dense"), at.tex("O"), at.var("O"), kind.ATTENTION,
                  at.linear(context, "attention.output.dense", "O", CONCAT, HIDDEN),
                  "The attention output: concatenated heads, projected.", multi_head)
    b.stage = Stage.ADD_NORM
    total = b.add(at("attention.output.residual"), at.tex("U"), at.var("U"), kind.RESIDUAL, x + dense,
                  "The residual sum: the layer's input plus the attention output.", f"{VASWANI}, sec. 3.1")
    return _write_layer_norm(b, config, at("attention.output.LayerNorm"), total, "U", at.tex("Y"), at.var("Y"), layer)


def _write_feed_forward(b: Builder, config: BertConfig, layer: int, y: Symbol) -> Symbol:
    at = _Layer(layer)
    ffn = f"{VASWANI}, eq. 2"
    b.stage = Stage.FEED_FORWARD
    before = b.add(at("intermediate.dense"), at.tex("F"), at.var("F"), kind.FFN,
                   at.linear(y, "intermediate.dense", "1", HIDDEN, INTERMEDIATE),
                   "The pre-activation of each neuron: a weighted sum of the token's vector, plus a bias.", ffn)
    after = b.add(at("intermediate.activation"), at.tex("G"), at.var("G"), kind.FFN, Apply(before, config.activation),
                  "The activation of each neuron.", HENDRYCKS if "gelu" in config.hidden_act else ffn)
    dense = b.add(at("output.dense"), at.tex("D"), at.var("D"), kind.FFN,
                  at.linear(after, "output.dense", "2", INTERMEDIATE, HIDDEN),
                  "The sum of each neuron's direction times its activation, plus a bias.", ffn)
    b.stage = Stage.ADD_NORM
    total = b.add(at("output.residual"), at.tex("Z"), at.var("Z"), kind.RESIDUAL, y + dense,
                  "The residual sum: the feed-forward network's input plus its output.", f"{VASWANI}, sec. 3.1")
    return _write_layer_norm(b, config, at("output.LayerNorm"), total, "Z", rf"X^{{({layer + 1})}}", f"X_{layer + 1}",
                             layer, keep=True)


def _write_masked_language_model(b: Builder, config: BertConfig, x: Symbol) -> None:
    source = f"{DEVLIN}, sec. 3.1 and released code (run_pretraining.py)"
    b.stage = Stage.PREDICTIONS
    path = "cls.predictions.transform"
    dense = b.add(f"{path}.dense", "T", "T", kind.PREDICTION, _project(x, f"{path}.dense", "T", HIDDEN, TRANSFORM),
                  "The last layer's vector, projected by the LM head.", source)
    active = b.add(f"{path}.activation", r"\tilde{T}", "T_act", kind.PREDICTION, Apply(dense, config.activation),
                   "The LM head's activation.", source)
    norm = _write_layer_norm(b, config, f"{path}.LayerNorm", active, r"\tilde{T}", "N", "N",
                             result_kind=kind.PREDICTION, keep=True)
    decoder = "cls.predictions.decoder"
    logits = b.add(decoder, "L", "logits", kind.PREDICTION,
                   _project(norm, decoder, r"\mathrm{vocab}", TRANSFORM, VOCAB),
                   "The logits, one per vocabulary entry: the dot product with that entry's vector, plus a bias.",
                   source)
    b.add("cls.predictions.probs", "P", "probs", kind.PREDICTION, Softmax(logits, VOCAB),
          "The softmax of the logits: a probability for each vocabulary entry.", source)


def _write_pooler(b: Builder, x: Symbol) -> Symbol:
    source = f"{DEVLIN}, sec. 3.1 and released code (modeling.py, pooler)"
    b.stage = Stage.SENTENCE
    first = Select(x, TOKEN, 0)
    dense = b.add("pooler.dense", "p", "p", kind.PREDICTION, _project(first, "pooler.dense", "P", HIDDEN, POOLED),
                  "The last layer's vector of the first token, projected.", source)
    return b.add("pooler.activation", r"\bar{p}", "p_tanh", kind.PREDICTION, Apply(dense, TANH),
                 "The tanh of that vector, between −1 and 1: one vector for the whole input.", source)


def _write_next_sentence(b: Builder, pooled: Symbol) -> None:
    source = f"{DEVLIN}, sec. 3.1, task 2"
    b.stage = Stage.SENTENCE
    path = "cls.seq_relationship"
    logits = b.add(path, "r", "r", kind.PREDICTION, _project(pooled, path, "r", POOLED, RELATION),
                   "Two logits: sentence B follows sentence A, or is a random sentence.", source)
    b.add(f"{path}.probs", r"\bar{r}", "r_probs", kind.PREDICTION, Softmax(logits, RELATION),
          "The softmax of the two logits.", source)


def _write_classifier(b: Builder, config: BertConfig, x: Symbol) -> None:
    source = f"{DEVLIN}, sec. 4.1"
    b.stage = Stage.SENTENCE
    logits = b.add("classifier", "c", "c", kind.PREDICTION, _project(x, "classifier", "c", x.axes[-1], LABEL),
                   f"The logits: one per {'number' if config.problem_type == 'regression' else 'class'} that the "
                   "checkpoint was fine-tuned on.", source)
    if config.problem_type == "regression":
        return
    several = config.problem_type == "multi_label_classification"
    b.add("classifier.probs", r"\bar{c}", "c_probs", kind.PREDICTION,
          Apply(logits, SIGMOID) if several else Softmax(logits, LABEL), "The logits as probabilities.", source)


def _write_question_answering(b: Builder, x: Symbol) -> None:
    source, released = f"{DEVLIN}, sec. 4.2", f"{DEVLIN}, sec. 4.2 and released code (run_squad.py)"
    b.stage = Stage.SENTENCE
    path = "qa_outputs"
    logits = b.add(path, "a", "a", kind.PREDICTION, _project(x, path, "a", HIDDEN, BOUND),
                   "Two logits for every token: the answer starts with it, or ends with it.", released)
    bounds = []
    for index, (name, axis, does) in enumerate((("start", START, "starts"), ("end", END, "ends"))):
        tex = rf"_{{\mathrm{{{name}}}}}"
        one = b.add(f"{path}.{name}", f"a{tex}", f"a_{name}", kind.PREDICTION,
                    Rename(Select(logits, BOUND, index), TOKEN, axis),
                    f"The {name} logit of each token: how strongly the answer {does} with it.", released)
        b.add(f"{path}.{name}.probs", rf"\bar{{a}}{tex}", f"a_{name}_probs", kind.PREDICTION, Softmax(one, axis),
              f"The {name} logits as probabilities: over all tokens they sum to 1.", source)
        bounds.append(one)
    b.add(f"{path}.spans", r"S_{\mathrm{span}}", "S_span", kind.PREDICTION, PairSum(*bounds),
          "The score of each span: the start logit of its first token plus the end logit of its last one.", source)


def _write_layer_norm(b: Builder, config: BertConfig, path: str, x: Symbol, letter: str, tex: str, variable: str,
                      layer: int | None = None, result_kind: str = kind.NORM, keep: bool = False) -> Symbol:
    """(x - mean) / sqrt(variance + epsilon), then gamma and beta, with every part a step of its own."""
    up = "" if layer is None else f"^{{({layer})}}"
    axis = x.axes[-1]
    name = x.variable

    mean = b.add(f"{path}.mean", rf"\mu_{{{letter}}}{up}", f"mu_{name}", kind.NORM, Mean(x, axis),
                 "The mean of each token's vector.", BA)
    sigma = rf"\sigma^2_{{{letter}}}" if layer is None else rf"\sigma^{{2\,({layer})}}_{{{letter}}}"
    variance = b.add(f"{path}.variance", sigma, f"var_{name}", kind.NORM, Mean(Square(x - mean), axis),
                     "The variance of each token's vector.", BA)
    epsilon = Constant(r"\varepsilon", config.layer_norm_eps)
    normal = b.add(f"{path}.normalized", rf"\hat{{{letter}}}{up}", f"{name}_hat", kind.NORM,
                   (x - mean) / Sqrt(variance + epsilon), "Each token's vector less its mean, over its deviation.", BA)
    gamma = declare_parameter(f"{path}.weight", rf"\gamma_{{{letter}}}{up}", f"gamma_{name}", (axis,))
    beta = declare_parameter(f"{path}.bias", rf"\beta_{{{letter}}}{up}", f"beta_{name}", (axis,))
    return b.add(path, tex, variable, result_kind, gamma * normal + beta,
                 "The normalized vector, scaled by γ and shifted by β, both learned.", BA, keep=keep)


def _project(x: Expr, path: str, name: str, inside: Axis, outside: Axis, up: str = "", layer: str = "") -> Expr:
    variable = name.removeprefix(r"\mathrm{").removesuffix("}") + layer
    weight = declare_parameter(f"{path}.weight", rf"W_{{{name}}}{up}", f"W_{variable}", (inside, outside))
    bias = declare_parameter(f"{path}.bias", rf"b_{{{name}}}{up}", f"b_{variable}", (outside,))
    return x @ weight + bias


class _Layer:
    """Names inside one encoder layer: addresses, symbols with (layer) above, variables with _layer."""

    def __init__(self, layer: int) -> None:
        self.layer = layer

    def __call__(self, leaf: str) -> str:
        return Address.in_layer(self.layer, leaf).path

    def tex(self, letter: str) -> str:
        return f"{letter}^{{({self.layer})}}"

    def var(self, letter: str) -> str:
        return f"{letter}_{self.layer}"

    def linear(self, x: Expr, path: str, name: str, inside: Axis, outside: Axis) -> Expr:
        return _project(x, self(path), name, inside, outside, up=f"^{{({self.layer})}}", layer=f"_{self.layer}")
