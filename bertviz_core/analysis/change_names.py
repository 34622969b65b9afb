"""Changes in words: `layer 1, head 8 set to 0`, `“rome” replaced by “paris”`."""

from __future__ import annotations

from bertviz_core.analysis.naming import find_noun, name_index
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.bert import MASK, TOKEN_IDS
from bertviz_core.programs.names import ATTENTION_WEIGHTS, SELF_ATTENTION
from bertviz_core.tracing.changes import Value
from bertviz_core.tracing.rewrites import FROM, NO_RESIDUAL, NOISE, OTHER_EPSILON, SCALE, SKIP, UNIFORM, Rule
from bertviz_core.tracing.taken import Taken
from bertviz_core.tracing.trace import Trace

_NORM = "LayerNorm"
_OF_PAIRS = {SELF_ATTENTION.enter(leaf).path for leaf in ("products", "scaled", "scores", "probs")}  # of query and key
_MINUS = "\N{MINUS SIGN}"


def name_place(trace: Trace, where: Address) -> str:
    """What stands at an address, in words: a head, a token, or a tensor with its indices."""
    layer = "" if where.layer is None else f"layer {where.layer}, "
    if where.leaf in _OF_PAIRS and "head" in where.at:
        return f"{layer}head {where.at['head']}{_name_pairs(trace, where)}"
    parts = [
        name_token(trace.tokens, i) if axis in TOKEN_AXES else name_index(trace, axis, i) for axis, i in where.index
    ]
    return f"{layer}{', '.join([_name_tensor(where), *parts])}"


def _name_tensor(where: Address) -> str:
    """What the numbers of a tensor are called; of a LayerNorm also which of a layer's two it is."""
    title = find_noun(where.path).title
    name = title if title[:2].isupper() or title.startswith(_NORM) else f"{title[0].lower()}{title[1:]}"
    if _NORM not in where.leaf or title.startswith("LM"):
        return name
    part = "attention" if where.leaf.startswith("attention") else "feed-forward"
    return f"{name.removesuffix(' output')} after {'the embeddings' if where.layer is None else part}"


def _name_pairs(trace: Trace, where: Address) -> str:
    """Which of a head's weights, or of the scores before them, are meant; "" for all weights."""
    axes = {"query": "of", "key": "on"}
    named = [f"{word} {name_token(trace.tokens, where.at[axis])}" for axis, word in axes.items() if axis in where.at]
    if not named and where.leaf == ATTENTION_WEIGHTS.path:
        return ""
    return f", {find_noun(where.path).word}{'' if len(named) == len(axes) else 's'} {' '.join(named)}".rstrip()


def name_change(trace: Trace, where: Address, value: Value) -> str:
    """A change of a pass in words. trace: the pass without it."""
    token = where.at.get("token")
    if where.path == TOKEN_IDS.address and token is not None and isinstance(value, int | float):
        word = trace.model.tokenizer.name(int(value))
        return f"{name_token(trace.tokens, token)} replaced by “{word}”"
    if where.path == MASK.address and token is not None and value == 0:
        return f"{name_token(trace.tokens, token)} masked out"
    return f"{name_place(trace, where)} {_name_value(value)}"


def _name_value(value: Value) -> str:
    if isinstance(value, Taken) or (isinstance(value, Rule) and value.word == FROM):
        return _name_taken(value)
    if not isinstance(value, Rule):
        return f"set to {value:g}".replace("-", _MINUS) if isinstance(value, int | float) else "set to other numbers"
    argument = value.argument.replace("-", _MINUS)
    named = {
        UNIFORM: "spread evenly",
        NO_RESIDUAL: "without its residual",
        SKIP: "skipped",
        SCALE: f"times {argument}",
        OTHER_EPSILON: f"with ε = {argument}",
        NOISE: f"with noise, seed {argument}",
    }
    return named.get(value.word, f"by {value.text}")


def _name_taken(value: Taken | Rule) -> str:
    """That numbers come from the other pass, and which of its heads or tokens they are."""
    argument = (value.rule if isinstance(value, Taken) else value).argument
    if argument.isdecimal():
        return f"from token {argument} of the other pass"
    heads = " and ".join(argument.replace("head", "head ").split("+"))
    return f"from {heads + ' of ' if heads else ''}the other pass"
