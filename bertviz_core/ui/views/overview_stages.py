"""What the canvas calls each of its stages, and the formula of one cell of it, short enough for one line."""

from __future__ import annotations

from dataclasses import dataclass

from bertviz_core.analysis.canvas import Strip
from bertviz_core.programs.config import BertConfig


@dataclass(frozen=True)
class Name:
    """What a stage is called.

    title: as a heading; short: where there is little room; kind: of vector, whose colour it has; scale: stages of one
    are drawn on a common scale; formula: of one cell, as HTML with a class for each kind's colour.
    """

    title: str
    short: str
    kind: str
    scale: str
    formula: str


def _paint(kind: str, text: str) -> str:
    return f'<i class="bvc-kind-{kind}">{text}</i>'


_X, _Y = _paint("norm", "x"), _paint("norm", "y")
_Q, _K, _V = _paint("query", "q"), _paint("key", "k"), _paint("value", "v")
_A, _S, _C = _paint("attention", "a"), _paint("attention", "s"), _paint("value", "c")
_U, _Z, _G = _paint("residual", "u"), _paint("residual", "z"), _paint("ffn", "g")
_FUNCTION = "activation"  # in the formula of the neurons: the model's own stands there
_SCORE = f"{_S} = {_Q}·{_K} ∕ √<i>d</i><sub>k</sub> + mask"


def _normalize(result: str, added: str) -> str:
    return f"{result} = <i>γ</i> ({added} − <i>μ</i>) ∕ <i>σ</i> + <i>β</i>"


def _project(result: str, letter: str) -> str:
    return f"{result} = {_X} <i>W</i><sub>{letter}</sub> + <i>b</i><sub>{letter}</sub>"


NAMES = {
    "embedding": Name("Embedding", "embedding", "embedding", "stream",
                      _normalize(_paint("embedding", "x"), _paint("embedding", "e"))),
    "output": Name("Layer output", "layer output", "norm", "stream", _normalize(_X, _Z)),
    "neurons": Name("Neurons", "neurons", "ffn", "neurons",
                    f"{_G} = {_FUNCTION}({_Y} <i>W</i><sub>1</sub> + <i>b</i><sub>1</sub>)"),
    "ribbons": Name("Attention weights, mean over the heads", "attention", "attention", "weights",
                    f"mean of {_A} over the heads"),
    "input": Name("Layer input", "layer input", "norm", "stream", _normalize(_X, _Z)),
    "query": Name("Queries", "Q", "query", "query", _project(_Q, "Q")),
    "key": Name("Keys", "K", "key", "query", _project(_K, "K")),
    "value": Name("Values", "V", "value", "value", _project(_V, "V")),
    "weights": Name("Attention weights", "attention weight", "attention", "weights", f"{_A} = softmax({_S})"),
    "scores": Name("Attention scores", "attention score", "attention", "scores", _SCORE),
    "context": Name("Concatenated heads", "heads", "value", "value", f"{_C} = Σ {_A} {_V}"),
    "added": Name("Attention output", "attention output", "value", "sum",
                  f"{_paint('value', 'o')} = {_C} <i>W</i><sub>O</sub> + <i>b</i><sub>O</sub>"),
    "sum": Name("Residual sum: input + attention output", "residual sum", "residual", "sum",
                f"{_U} = {_X} + {_C} <i>W</i><sub>O</sub> + <i>b</i><sub>O</sub>"),
    "norm": Name("LayerNorm", "LayerNorm", "norm", "stream", _normalize(_Y, _U)),
    "sum2": Name("Residual sum: + feed-forward output", "residual sum", "residual", "sum",
                 f"{_Z} = {_Y} + {_G} <i>W</i><sub>2</sub> + <i>b</i><sub>2</sub>"),
}  # fmt: skip


def find_name(strip: Strip) -> Name:
    """What a stage is called; the stages of one head, and one seen whole, as those of the layer."""
    return NAMES[strip.name]


def write_formula(strip: Strip, config: BertConfig) -> str:
    """The formula of one cell of a stage, with the function that this model has."""
    return find_name(strip).formula.replace(_FUNCTION, config.activation_name)


def count_sources(strip: Strip, config: BertConfig, tokens: int) -> int:
    """From how many numbers one cell is made, in its own step of the program: operands, parameters among them."""
    name, hidden = strip.name, config.hidden_size
    return {
        "query": 2 * hidden + 1, "key": 2 * hidden + 1, "value": 2 * hidden + 1, "weights": tokens, "scores": 2,
        "context": 2 * tokens, "added": 2 * hidden + 1, "sum": 2, "sum2": 2, "neurons": 1,
        "ribbons": config.num_attention_heads,
    }.get(name, 3)  # fmt: skip


def count_uses(strip: Strip, config: BertConfig, tokens: int) -> int | None:
    """How many numbers of the encoder are made from one cell, in a step; None for the last layer's output."""
    name, hidden = strip.name, config.hidden_size
    if name == "output" and strip.layer == config.num_hidden_layers - 1:
        return None
    return {
        "query": tokens, "key": tokens, "value": tokens, "weights": config.head_dim, "scores": tokens,
        "context": hidden, "added": 1, "sum": 3, "sum2": 3, "neurons": hidden,
        "norm": config.intermediate_size + 1, "ribbons": 0,
    }.get(name, 3 * hidden + 1)  # fmt: skip
