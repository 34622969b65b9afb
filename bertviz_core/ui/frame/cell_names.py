"""What a cell is called beside others: its address without the way to it, tokens and words spelled out."""

from __future__ import annotations

from collections.abc import Sequence

from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.tracing.trace import Trace

_BETWEEN = " · "
# Names of many tensors; and of several outside of the layers.
_COMMON = {"weight", "bias", "normalized", "mean", "variance", "dense", "residual", "LayerNorm", "output"}
_COMMON_OUTSIDE = {*_COMMON, "probs", "activation"}


def shorten(trace: Trace, where: Address, here: int | None = None) -> str:
    """A cell's name without the way to it: `layer 3 · query · head 1 · 8 [MASK] · 22`.

    here: the layer that is spoken of, which need not be named.
    """
    layer = [f"layer {where.layer}"] if where.layer not in (None, here) else []
    return _BETWEEN.join([*layer, name_leaf(where), *(name_index(trace, axis, i) for axis, i in where.index)])


def name_leaf(where: Address) -> str:
    """The end of a path that tells a tensor from the others of its layer: `query.weight`, `output.LayerNorm.mean`."""
    names, common = where.leaf.split("."), _COMMON_OUTSIDE if where.layer is None else _COMMON
    first = len(names) - 1
    while first and names[first] in common:
        first -= 1
    return ".".join(names[first:])


def name_index(trace: Trace, axis: str, i: int) -> str:
    """One index along an axis: `8 [MASK]`, `head 1`, `2111 people`, `22`."""
    words = trace.model.tokenizer.vocabulary
    if axis in TOKEN_AXES:
        return f"{i} {trace.tokens[i]}"
    if axis == "head":
        return f"head {i}"
    if axis == "bound":
        return ("start", "end")[i]
    return f"{i} {words[i]}".rstrip() if axis == "vocab" and i < len(words) else str(i)


def name_term(where: Address) -> str:
    """The index that differs from term to term of a sum: the last one."""
    return str(where.index[-1][1]) if where.index else where.name


def drop_common(names: Sequence[str]) -> list[str]:
    """The names without the parts that all of them share, as long as something is left."""
    parts = [name.split(_BETWEEN) for name in names]
    if len({len(each) for each in parts}) != 1 or len(names) == 1:
        return list(names)
    kept = [i for i, column in enumerate(zip(*parts, strict=True)) if len(set(column)) > 1]
    return [_BETWEEN.join(each[i] for i in kept) for each in parts]
