"""Attention's output: who brings what to one token, the heads side by side, and what each adds to the result."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.attention import head_parts, shares_of_sum, weighted_values, worth_showing
from bertviz_core.analysis.ranking import strongest
from bertviz_core.figures.heatmap import Side, heatmap
from bertviz_core.figures.matrices import cut
from bertviz_core.formula.address import layer_path
from bertviz_core.formula.numbers import latex_number, text_number
from bertviz_core.formula.steps import ATTENTION, VALUE, Step
from bertviz_core.formula.tex import ends, long_sum, signed
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.labels import labels
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import robust_limit, tensor_map
from bertviz_core.ui.panels.derived import Origin, Values, derived
from bertviz_core.ui.panels.panel import panel
from bertviz_core.ui.panels.tables import Column, table

SHOWN = 16  # tokens, at most, whose share of one sum is drawn
_CELLS = 6_000
_SLICE = r"[i] = i\, d_k, \dots, (i+1)\, d_k - 1"  # a head's part of all heads side by side


def brought(view: View) -> None:
    """Every token's value times its share, for the chosen token and head; the sum is the head's result."""
    trace, names, head, token = view.trace, labels(view.trace), view.chosen.head, view.chosen.token
    own = layer_path(view.chosen.layer, "attention.self.")
    probs, value = f"{own}probs[head={head},query={token}]", f"{own}value[head={head}]"
    parts = weighted_values(trace[probs], trace[value])
    total, lengths = parts.sum(axis=0), np.linalg.norm(parts, axis=1)
    shown = worth_showing(lengths, SHOWN, (token,))
    rows, rest = parts[shown], total - parts[shown].sum(axis=0)
    words = [names[i] for i in shown]
    others = len(names) - len(shown)
    drawn = [*rows, rest, total] if others else [*rows, total]
    marks = [f"{others} others", "sum"] if others else ["sum"]
    derived(
        view, "brought", f"What “{trace.tokens[token]}” takes from each token in head {head}",
        heatmap(np.stack(drawn), Side("from", [*words, *marks]), Side("head_dim"), view.colors,
                end=robust_limit(np.stack(drawn))),
        _weighted(view, total),
        values=Values(np.stack([*parts, total]), [*names, "sum"], [str(i) for i in range(len(total))]),
        note="One row a token: its value, times its share of the attention. The last row is the sum of all rows, the "
             "head's result. " + _most(trace[probs], lengths)
             + (f" Drawn: the {len(shown)} that bring most; the rest is added up." if others else ""),
        table=table("token", words, _who(view, trace[probs], trace[value], parts, shown), [shown.index(token)]),
        cells=picks.vectors(trace, [f"{own}value[head={head},key={i}]" for i in shown]),
        start=f"{own}value[head={head},key={shown[0]},head_dim={strongest(rows[0])}]",
    )  # fmt: skip


def _most(shares: np.ndarray, lengths: np.ndarray) -> str:
    """A large share of a short value is little: whether the token most looked at also brings most."""
    looked, bringing = int(shares.argmax()), int(lengths.argmax())
    if looked == bringing:
        return f"Position {looked} has the largest share and also brings the longest vector."
    return (
        f"Position {looked} has the largest share, {text_number(float(shares[looked]))}, but position {bringing} "
        "brings the longest vector: its value is longer."
    )


def _who(view: View, shares: np.ndarray, values: np.ndarray, parts: np.ndarray, shown: list[int]) -> list[Column]:
    """Each token's share, the lengths of its value and of what it brings, and how much of the sum that is."""
    attention, value = view.colors.kinds[ATTENTION], view.colors.kinds[VALUE]
    return [
        Column("share A", _floats(shares[shown]), attention, 1.0),
        Column("length of V", _floats(np.linalg.norm(values[shown], axis=1)), value),
        Column("length of A V", _floats(np.linalg.norm(parts[shown], axis=1)), value),
        Column("part of the sum", _floats(shares_of_sum(parts)[shown]), value, signed=True),
    ]


def _weighted(view: View, total: np.ndarray) -> Origin:
    trace, head, token = view.trace, view.chosen.head, view.chosen.token
    own = layer_path(view.chosen.layer, "attention.self.")
    context = trace.step(f"{own}context")
    a, v, c = (style.painter(view.colors)(trace.step(own + name).output) for name in ("probs", "value", "context"))
    column = head * len(total) + strongest(total)
    return Origin(
        f"{own}probs[head={head},query={token}] and {own}value[head={head}]", context.kind,
        rf"\begin{{aligned}} & {c}_{{{token},\,[i]}} = \sum_{{u}} {a}_{{i,{token},u}}\, {v}_{{i,u,:}} \\ "
        rf"& i = {head}, \quad {_SLICE} \end{{aligned}}",
        "A weighted average: the shares sum to 1, so what one token gives more, another gives less. The part of the "
        "sum is measured along the sum's own direction; it is below 0 for a token that pulls the other way.",
        trace.explain(f"{own}context[token={token},concat={column}]").latex,
        f"{context.source}; encoder article (004), example 2",
    )  # fmt: skip


def context(view: View) -> None:
    """The heads side by side, for one token and for all."""
    trace, head, token = view.trace, view.chosen.head, view.chosen.token
    address, heads = layer_path(view.chosen.layer, "attention.self.context"), trace.model.config.num_attention_heads
    vector, step = trace[f"{address}[token={token}]"], trace.step(address)
    width = len(vector) // heads
    column = head * width + strongest(vector[head * width : (head + 1) * width])
    derived(
        view, "merged", f"{heads} heads, laid side by side into one vector of “{trace.tokens[token]}”",
        cut(vector, heads, head, robust_limit(vector), view.colors, merged=True),
        Origin(f"{address}[token={token}]", step.kind, step.typeset(style.painter(view.colors)),
               "The merge changes no number: entry $j$ of head $i$ becomes entry $i\\, d_k + j$ of the long vector, "
               f"$d_k = {width}$.", trace.explain(f"{address}[token={token},concat={column}]").latex, step.source),
        values=Values(vector.reshape(heads, width), [f"head {i}" for i in range(heads)],
                      [f"component {j}" for j in range(width)]),
        note="Above, one row a head, each with its own shares and values; below, the same numbers end to end. Framed: "
             f"head {head}, entries {head * width} to {(head + 1) * width - 1}.",
    )  # fmt: skip
    figure, note = tensor_map(view, address, cells=_CELLS)
    panel(view, address, "The same for all tokens", figure, at={"token": token, "concat": column},
          note=f"Head {head} fills columns {head * width} to {(head + 1) * width - 1}. {note}".strip())  # fmt: skip


def per_head(view: View) -> None:
    """What every head, and the bias, add to the chosen token's output."""
    trace, token, head = view.trace, view.chosen.token, view.chosen.head
    step = trace.step(layer_path(view.chosen.layer, "attention.output.dense"))
    source, weight, bias = (leaf.address for leaf in step.leaves)
    heads = trace.model.config.num_attention_heads
    parts = np.vstack([head_parts(trace[f"{source}[token={token}]"], trace[weight], heads), trace[bias]])
    total, names = trace[f"{step.address}[token={token}]"], [*(f"head {i}" for i in range(heads)), "bias"]
    drawn, color = np.vstack([parts, total]), view.colors.kinds[ATTENTION]
    figure = heatmap(drawn, Side("from", [*names, "sum"]), Side("hidden"), view.colors, end=robust_limit(drawn),
                     selected=head)  # fmt: skip
    columns = [
        Column("length", _floats(np.linalg.norm(parts, axis=1)), color),
        Column("part of the sum", _floats(shares_of_sum(parts)), color, signed=True),
    ]
    column = strongest(total)
    derived(
        view, "head-parts", f"What each head adds to “{trace.tokens[token]}”", figure,
        Origin(f"{source}[token={token}], {weight}, {bias}", step.kind, _per_head(view, step),
               "The output matrix has rows of its own for every head, so the product falls apart into one vector a "
               "head: each head writes into the whole width of the token's vector.",
               _summed(step, token, column, parts[:, column]), step.source),
        values=Values(drawn, [*names, "sum"], [str(i) for i in range(drawn.shape[1])]),
        note="One row a head: its part of the context, times its rows of the output matrix. With the bias they sum to "
             "the last row.",
        table=table("head", names, columns, [head]),
        cells=picks.vectors(trace, [f"{step.address}[token={token}]"] * len(drawn)),
        start=f"{step.address}[token={token},hidden={column}]",
    )  # fmt: skip


def _per_head(view: View, step: Step) -> str:
    o, (c, w, b) = style.painter(view.colors)(step.output), (x.latex(style.painter(view.colors)) for x in step.leaves)
    return (
        rf"\begin{{aligned}} {step.typeset(style.painter(view.colors)).replace(' = ', ' &= ', 1)} \\ {o}_{{t,:}} &= "
        rf"\sum_{{i}} {c}_{{t,[i]}}\; {{{w}}}_{{[i],:}} + {b} \\ & {_SLICE} \end{{aligned}}"
    )


def _summed(step: Step, token: int, column: int, parts: np.ndarray) -> str:
    """One component of the output as the sum of what the heads and the bias add to it."""
    terms = [signed(latex_number(float(x))) for x in parts]
    total = latex_number(float(parts.sum()))
    return rf"{{{step.symbol}}}_{{{token},{column}}} = {long_sum(ends(terms), len(terms), brace=False)} = {total}"


def all_tokens(view: View) -> None:
    """The output projection for every token."""
    address = layer_path(view.chosen.layer, "attention.output.dense")
    figure, note = tensor_map(view, address, cells=_CELLS)
    panel(view, address, "What attention brings to every token", figure,
          note=f"This is added to what the token was. {note}".strip())  # fmt: skip


def _floats(values: np.ndarray) -> list[float]:
    return [float(x) for x in values]
