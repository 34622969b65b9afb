"""Attention scores: one product taken apart, cosines and lengths, one row's softmax, and the maps of all tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis import attention
from bertviz_core.analysis.ranking import MASKED
from bertviz_core.figures.attention import denominator, products
from bertviz_core.figures.bars import bars
from bertviz_core.formula.address import cell, layer_path
from bertviz_core.formula.numbers import latex_number, text_number
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.tex import signed
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.controls import position_in_url, token_menu
from bertviz_core.ui.frame.labels import labels
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import share_bars, tensor_map
from bertviz_core.ui.panels.derived import Origin, Values, derived
from bertviz_core.ui.panels.panel import panel
from bertviz_core.ui.panels.tables import Column, table

SHOWN = 16  # keys, at most, in charts and tables of one query
_CELLS, _TERMS = 6_000, 3
_ARTICLE = "encoder article (004)"
_SEE = {
    "products": "Every query times every key",
    "scaled": "The same, divided by √{width}",
    "scores": "Padding hidden; without padding, nothing changes here",
    "probs": "Each row divided up by the softmax: who looks at whom",
}


def choose_key(view: View) -> int:
    """The key token that is worked out; by default the one that the chosen token looks at most."""
    most = int(_row(view, "probs").argmax())
    position = position_in_url("key_token")
    with st.container(width=260):
        return token_menu("Key token", "key_token", labels(view.trace), position, most)


def one_pair(view: View, key: int) -> None:
    """The products of one query and one key, their sum, and what becomes of it before the softmax."""
    trace = view.trace
    product = attention.dot_product(_row(view, "query"), _keys(view)[key])
    width = len(product.terms)
    cells = [_at(view, name, query=view.chosen.token, key=key) for name in ("products", "scaled", "scores")]
    derived(
        view, "dot-product", f"“{_word(view)}” asks, “{trace.tokens[key]}” is found: {width} products, "
        "one sum", products([str(i) for i in product.order], product.terms, product.running, view.colors,
                            color=view.colors.kinds[ATTENTION], title="component of the head, largest product first"),
        Origin(_origin(view, key), ATTENTION, _before_softmax(view, cells),
               f"Query and key are multiplied component by component and added up. The sum is divided by √{width}, the "
               "root of the number of components, and pushed far down if the key is padding.",
               r" \\[3pt] & ".join(trace.explain(address).latex for address in cells), trace.step(cells[0]).source),
        values=Values(np.stack([product.order, product.terms, product.running], axis=1),
                      [str(i + 1) for i in range(len(product.terms))], ["component", "product", "sum so far"]),
        note=_largest(product), cells=cells[0], start=cells[0],
    )  # fmt: skip


def _before_softmax(view: View, addresses: Sequence[str]) -> str:
    steps = [view.trace.step(address).typeset(style.painter(view.colors)) for address in addresses]
    lines = r" \\ ".join(step.replace(" = ", " &= ", 1) for step in steps)
    return rf"\begin{{aligned}} {lines} \end{{aligned}}"


def _largest(product: attention.DotProduct) -> str:
    count = min(_TERMS, len(product.terms))
    return (
        f"Bars: one product a component, the largest first, whatever its sign. Line: the sum so far. After "
        f"{count} of {len(product.terms)} products it stands at {text_number(float(product.running[count - 1]))}, at "
        f"the end at {text_number(float(product.running[-1]))}."
    )


def angles(view: View, key: int) -> None:
    """The same products read as cosine times two lengths, key by key."""
    parts, names, shown = attention.angles(_row(view, "query"), _keys(view)), labels(view.trace), _shown(view, key)
    recorded, color = _row(view, "products"), view.colors.kinds[ATTENTION]
    figure = bars(parts.cosines[shown], [names[i] for i in shown], view.colors, color, name="cosine of query and key")
    figure.update_xaxes(range=[-1.15, 1.15])
    columns = [
        Column("cosine", _floats(parts.cosines[shown]), color, 1.0, signed=True),
        Column("length of k", _floats(parts.key_norms[shown]), view.colors.kinds["key"]),
        Column("product R", _floats(recorded[shown]), color, signed=True),
    ]
    derived(
        view, "cosines", f"Direction and length: how “{_word(view)}” fits each key",
        figure, _cosine(view, key, parts),
        values=Values(np.stack([parts.cosines, parts.key_norms, parts.products], axis=1), names,
                      ["cosine", "length of k", "product"]),
        note="1: the query and the key point the same way; 0: at right angles; −1: opposite ways. A long key makes "
             f"more of the same direction. The query's length is {text_number(parts.query_norm)}.{_some(view, shown)}",
        table=table("key k", [names[i] for i in shown], columns, _marked(shown, key)),
        cells=[_at(view, "products", query=view.chosen.token, key=i) for i in shown],
        start=_at(view, "products", query=view.chosen.token, key=key),
    )  # fmt: skip


def _cosine(view: View, key: int, parts: attention.Angles) -> Origin:
    q, k = (rf"\textcolor{{{view.colors.kinds[name]}}}{{{name[0]}}}" for name in ("query", "key"))
    lengths = (float(parts.cosines[key]), parts.query_norm, float(parts.key_norms[key]))
    worked = r" \cdot ".join(signed(latex_number(x)) for x in lengths)
    return Origin(
        _origin(view), ATTENTION, rf"{q} \cdot {k} = \cos({q}, {k})\, \lVert {q} \rVert\, \lVert {k} \rVert",
        "The same sum seen as geometry: it is large where the two vectors point the same way and are long.",
        rf"{q} \cdot {k} = {worked} = {latex_number(float(parts.products[key]))}", _ARTICLE,
    )  # fmt: skip


def maps(view: View, *names: str) -> None:
    """Maps of all queries and keys, one for each step."""
    width = view.trace.model.config.head_dim
    for name in names:
        address, share = _at(view, name), name == "probs"
        figure, note = tensor_map(view, address, share=share, end=1.0 if share else None, cells=_CELLS)
        how = "Each row sums to 1." if share else "Rows ask, columns are found."
        panel(view, address, _SEE[name].format(width=width), figure, note=f"{how} {note}".strip())


def softmax(view: View, key: int) -> None:
    """The softmax of the chosen query's row: largest score, exponentials, denominator, shares."""
    trace, names = view.trace, labels(view.trace)
    steps, shown, color = attention.softmax_row(_row(view, "scores")), _shown(view, key), view.colors.kinds[ATTENTION]
    scores = _row(view, "scores")
    columns = [
        Column("score S", [float(s) if s > MASKED else "hidden" for s in scores[shown]], color, signed=True),
        Column("S − largest", [float(s) if s > MASKED else "hidden" for s in steps.below[shown]]),
        Column("e to that", _floats(steps.powers[shown]), color, 1.0),
        Column("sum so far", _floats(steps.running[shown])),
        Column("share", _floats(steps.shares[shown]), color, 1.0),
    ]
    address = _at(view, "probs", query=view.chosen.token)
    derived(
        view, "softmax", f"The softmax of “{_word(view)}”, step by step",
        denominator(steps.powers[shown], steps.running[shown], [names[i] for i in shown], view.colors),
        Origin(_at(view, "scores", query=view.chosen.token), ATTENTION, _softmax(view),
               "The largest score is taken off first, which changes no share and keeps the exponentials from "
               "overflowing: the largest becomes 1. Their sum is the denominator.",
               trace.explain(_at(view, "probs", query=view.chosen.token, key=key)).latex, trace.step(address).source),
        values=Values(np.stack([scores, steps.below, steps.powers, steps.running, steps.shares], axis=1), names,
                      [column.name for column in columns]),
        note=f"Largest score: {text_number(steps.largest)}. Each bar is one exponential and starts where the sum so "
             f"far stood; the whole way is the denominator, {text_number(steps.denominator)}.{_some(view, shown)}",
        table=table("key u", [names[i] for i in shown], columns, _marked(shown, key)),
        cells=picks.points(trace, address, shown), start=_at(view, "probs", query=view.chosen.token, key=key),
    )  # fmt: skip


def _softmax(view: View) -> str:
    paint = style.painter(view.colors)
    s, a = (paint(view.trace.step(_at(view, name)).output) for name in ("scores", "probs"))
    t, u = view.chosen.token, "u"
    return (
        rf"\begin{{aligned}} m &= \max_{{v}} {s}_{{{t},v}} \\ "
        rf"{a}_{{{t},{u}}} &= \frac{{e^{{{s}_{{{t},{u}}} - m}}}}{{\sum_{{v}} e^{{{s}_{{{t},v}} - m}}}} \end{{aligned}}"
    )


def shares(view: View, key: int) -> None:
    """Where the chosen token looks."""
    names, shown = labels(view.trace), _shown(view, key)
    address = _at(view, "probs", query=view.chosen.token)
    row = view.trace[address]
    panel(
        view, address, f"Where “{_word(view)}” looks",
        share_bars(view, row[shown], [names[i] for i in shown], ATTENTION, "share"), at={"key": key},
        note=f"In sentence order; all {len(row)} shares sum to 1.{_some(view, shown)}",
        cells=picks.points(view.trace, address, shown),
    )  # fmt: skip


def _shown(view: View, key: int) -> list[int]:
    return attention.worth_showing(_row(view, "probs"), SHOWN, (view.chosen.token, key))


def _some(view: View, shown: Sequence[int]) -> str:
    total = len(view.trace.tokens)
    if len(shown) == total:
        return ""
    held = float(_row(view, "probs")[list(shown)].sum())
    return f" Drawn: {len(shown)} of {total} keys, those with the largest shares, together {text_number(held)}."


def _marked(shown: Sequence[int], key: int) -> list[int]:
    return [shown.index(key)]


def _row(view: View, name: str) -> np.ndarray:
    """The chosen query's row of a step in the chosen head."""
    return view.trace[_at(view, name, query=view.chosen.token)]


def _keys(view: View) -> np.ndarray:
    return view.trace[_at(view, "key")]


def _at(view: View, name: str, **at: int) -> str:
    return cell(layer_path(view.chosen.layer, f"attention.self.{name}"), {"head": view.chosen.head, **at})


def _origin(view: View, key: int | None = None) -> str:
    of_key = _at(view, "key") if key is None else _at(view, "key", key=key)
    return f"{_at(view, 'query', query=view.chosen.token)} and {of_key}"


def _word(view: View) -> str:
    return view.trace.tokens[view.chosen.token]


def _floats(values: np.ndarray) -> list[float]:
    return [float(x) for x in values]
