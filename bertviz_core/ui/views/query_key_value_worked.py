"""One projection taken apart: a token's vector through the head's weights, the cut into heads, each map by itself."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.claims import Part, Said, say_largest
from bertviz_core.analysis.made_from import is_put, work_out
from bertviz_core.analysis.ranking import center_range, find_limit, find_robust_limit, find_strongest
from bertviz_core.figures.matrices import Projection, draw_cut, draw_projection
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from bertviz_core.formula.steps import Step
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.charts import draw_tensor
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.panel import show_panel
from bertviz_core.ui.panels.put import tell_meaning, write_result
from bertviz_core.ui.panels.said import tell_number

SEE = {
    "query": "Queries of all tokens",
    "key": "Keys of all tokens",
    "value": "Values of all tokens",
}
_WEIGHTS = 16_000  # cells sent of the weights


@derived
def show_token(view: View, name: str) -> Derived:
    """The chosen token's vector through the chosen head's slice of the weights."""
    trace, head = view.trace, view.chosen.head
    step, at = _find_step(view, name)
    x, weight, bias = (Address(leaf.address) for leaf in step.leaves)
    here = at.fix(head=head).sort(step.dims)
    result = trace[here]
    own = slice(head * len(result), (head + 1) * len(result))
    vector, weights, shift = trace[x.fix(token=view.chosen.token)], trace[weight][:, own].T, trace[bias][own]
    row = find_strongest(result)
    shown = center_range(find_strongest(vector * weights[row]), max(1, _WEIGHTS // len(weights)), len(vector))
    part = slice(shown.start, shown.stop)
    columns = {"XW": weights.astype(np.float64) @ vector, "b": shift, step.symbol[0]: result}
    ends = (
        find_robust_limit(vector),
        find_robust_limit(weights),
        max(find_limit(column) for column in columns.values()),
    )
    return Derived(
        f"projection-{name}",
        f"The {name} of {_read_word(view)} in head {head}: {len(result)} weighted sums",
        draw_projection(
            Projection(vector[part], weights[:, part], columns, ends, shown.start, step.kind), row, view.colors
        ),
        Origin(
            f"{x}, {weight}, {bias}",
            step.kind,
            step.typeset(style.make_painter(view.colors)),
            tell_meaning(view, here, step),
            trace.explain(here.fix(head_dim=row)).latex,
            step.source,
        ),
        values=Values(np.stack(list(columns.values()), axis=1), [str(i) for i in range(len(result))], list(columns)),
        note=_describe(view, here, result, shown, len(vector)),
    )


def _describe(view: View, here: Address, result: np.ndarray, shown: range, width: int) -> str:
    part = f" Shown: components {shown.start}–{shown.stop - 1} of {width} of X." if len(shown) < width else ""
    gives = "is one number at the right"
    if is_put(view.trace, here):
        gives = "gives one number, but a change puts others at the right"
    return (
        f"Above: the token's vector X. Below: W, the head's weights, one row per component. The dot product of X with "
        f"a row, plus b, {gives}; the colour bar belongs to the numbers at the right. "
        f"{tell_framed(view.trace.step(here).symbol[0], result)}{part}"
    )


def tell_framed(symbol: str, result: np.ndarray) -> Said:
    """Which of a vector's components has the frame: one that none is larger than in size."""
    sizes, row = np.abs(result), find_strongest(result)
    parts = {"size": Part(sizes[row], format_number), "row": Part(row), "number": tell_number(result[row])}
    written = f"{symbol} = {{number}}."
    return say_largest(
        ("framed", f"Framed: component {{row}}, the largest in size, {written}"),
        ("framed of several", f"Framed: component {{row}}; none is larger in size. {written}"),
        parts,
        sizes,
        (row,),
    )


@derived
def show_split(view: View, name: str) -> Derived:
    """The same token's projection for all heads: computed as one long vector, then cut into rows."""
    trace, head = view.trace, view.chosen.head
    step, at = _find_step(view, name)
    rows = trace[at]
    heads, width = rows.shape
    x, weight, bias = (leaf.latex(style.make_painter(view.colors)) for leaf in step.leaves)
    symbol, place, column = style.make_painter(view.colors)(step.output), view.chosen.token, find_strongest(rows[head])
    long, cell = rf"\left({x}\, {weight} + {bias}\right)", at.fix(head=head, head_dim=column)
    number = format_latex(work_out(trace, cell))
    title = f"{heads} heads: each takes {width} components of one long vector"
    if heads == 1:
        title = "1 head: it takes the whole vector"
    return Derived(
        f"split-{name}",
        title,
        draw_cut(rows.ravel(), heads, head, find_robust_limit(rows), view.colors, step.kind),
        Origin(
            at,
            step.kind,
            rf"{symbol}_{{i,\,t,\,j}} = {long}_{{t,\; i\, d_k + j}}",
            f"Nothing is computed here: entry $j$ of head $i$ is entry $i\\, d_k + j$ of the long vector, "
            f"$d_k = {width}$.",
            write_result(
                trace,
                cell,
                rf"{symbol}_{{{head},\,{place},\,{column}}}",
                rf"{long}_{{{place},\; {head}\cdot {width} + {column}}} = "
                rf"{long}_{{{place},\;{head * width + column}}} = {number}",
            ),
            step.source,
        ),
        values=Values(rows, [f"head {i}" for i in range(heads)], [f"component {j}" for j in range(width)]),
        note=f"Above: all {heads * width} numbers of the projection, cut at the thin lines. Below: one row per "
        f"head. Framed: head {head}, entries {head * width} to {(head + 1) * width - 1}.",
    )


def show_all_tokens(view: View) -> None:
    """Queries, keys and values of every token in the chosen head, on one scale."""
    trace = view.trace
    own = SELF_ATTENTION.in_layer(view.chosen.layer)
    addresses = {name: own.enter(name).fix(head=view.chosen.head) for name in SEE}
    end = max(find_limit(trace[address]) for address in addresses.values())
    for name, address in addresses.items():
        figure, note = draw_tensor(view, address, end=end)
        at = {"key": view.chosen.token} if "key" in trace.dims(address) else None
        show_panel(
            view, address, SEE[name], figure, at=at, note=note or "One row per token. All three maps share one scale."
        )


def _find_step(view: View, name: str) -> tuple[Step, Address]:
    """A projection's step, and what it gives for the chosen token in all heads."""
    where = SELF_ATTENTION.in_layer(view.chosen.layer).enter(name)
    step = view.trace.step(where)
    return step, where.fix(**{step.dims[1]: view.chosen.token})


def _read_word(view: View) -> str:
    return name_token(view.trace.tokens, view.chosen.token)
