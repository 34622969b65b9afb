"""Changes in words: `layer 1, head 8 set to 0`, `“rome” at 4 replaced by “paris”`."""

from __future__ import annotations

from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.programs.bert import MASK, TOKEN_IDS
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.changes import Value
from bertviz_core.tracing.rewrites import NO_RESIDUAL, OTHER_EPSILON, SCALE, SKIP, UNIFORM, Rule
from bertviz_core.tracing.trace import Trace

_MINUS = "\N{MINUS SIGN}"


def name_place(trace: Trace, where: Address) -> str:
    """What stands at an address, in words: a head, a token, or a tensor with its indices."""
    layer = "" if where.layer is None else f"layer {where.layer}, "
    if where.layer is not None and where.leaf == ATTENTION_WEIGHTS.path and "head" in where.at:
        return f"{layer}head {where.at['head']}{_name_weight(trace, where)}"
    parts = [f"“{trace.tokens[i]}” ({axis} {i})" if axis in TOKEN_AXES else f"{axis} {i}" for axis, i in where.index]
    return f"{layer}{', '.join([where.leaf, *parts])}"


def _name_weight(trace: Trace, where: Address) -> str:
    """Which of a head's attention weights are meant; "" for all of them."""
    keys = {"query": "of", "key": "on"}
    named = [
        f"{word} “{trace.tokens[where.at[axis]]}” ({where.at[axis]})" for axis, word in keys.items() if axis in where.at
    ]
    return f", weight{'' if len(named) == len(keys) else 's'} {' '.join(named)}" if named else ""


def name_change(trace: Trace, where: Address, value: Value) -> str:
    """A change of a pass in words. trace: the pass without it."""
    token = where.at.get("token")
    if where.path == TOKEN_IDS.address and token is not None and isinstance(value, int | float):
        word = trace.model.tokenizer.token(int(value))
        return f"“{trace.tokens[token]}” at {token} replaced by “{word}”"
    if where.path == MASK.address and token is not None and value == 0:
        return f"“{trace.tokens[token]}” at {token} masked out"
    return f"{name_place(trace, where)} {_name_value(value)}"


def _name_value(value: Value) -> str:
    if not isinstance(value, Rule):
        return f"set to {value:g}".replace("-", _MINUS) if isinstance(value, int | float) else "set to other numbers"
    argument = value.argument.replace("-", _MINUS)
    named = {
        UNIFORM: "spread evenly",
        NO_RESIDUAL: "without its residual",
        SKIP: "skipped",
        SCALE: f"times {argument}",
        OTHER_EPSILON: f"with ε = {argument}",
    }
    return named.get(value.word, f"by {value.text}")
