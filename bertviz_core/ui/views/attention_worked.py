"""One query's scores taken apart: one product term by term, cosines and lengths, the softmax step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bertviz_core.analysis import attention
from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.made_from import find_doing
from bertviz_core.analysis.ranking import MASKED
from bertviz_core.figures.attention import draw_denominator, draw_products
from bertviz_core.figures.bars import draw_bars
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number, format_percent
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.tex import bracket_negative
from bertviz_core.formula.texts import name_token
from bertviz_core.programs.names import SELF_ATTENTION
from bertviz_core.tracing.meanings import MULTIPLIES
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.derived import Derived, Origin, Values, derived
from bertviz_core.ui.panels.passes import read_ghost
from bertviz_core.ui.panels.put import tell_put
from bertviz_core.ui.panels.said import tell_others
from bertviz_core.ui.panels.tables import Column, render_table

SHOWN = 16  # keys, at most, in charts and tables of one query
_TERMS = 3
_COSINES = (-1.15, 1.15)  # the ends of their scale, with room for the numbers beside the bars
_ARTICLE = "encoder article (004)"
_SCORE, _BELOW, _POWER, _SOFTMAX, _WEIGHT = "masked score S", "S − max", "e^(S − max)", "softmax", "attention weight"


@derived
def show_pair(view: View, key: int) -> Derived:
    """The products of one query and one key, their sum, and what becomes of it before the softmax."""
    trace = view.trace
    product = attention.multiply_terms(read_row(view, "query"), _read_keys(view)[key])
    width = len(product.terms)
    cells = [locate(view, name, query=view.chosen.token, key=key) for name in ("products", "scaled", "scores")]
    figure = draw_products(
        [str(i) for i in product.order],
        product.terms,
        product.running,
        view.colors,
        color=view.colors.kinds[ATTENTION],
        title="component, largest absolute product first",
    )
    return Derived(
        "dot-product",
        f"Query of {read_word(view)} · key of {name_token(trace.tokens, key)}: {width} products and their sum",
        figure.offer(str(cells[0])),
        Origin(
            _write_origin(view, key),
            ATTENTION,
            _write_before_softmax(view, cells),
            f"The dot product adds the products of all components of query and key. It is divided by √{width}, "
            "the root of the head's size. If the key is padding, a very large negative number is added.",
            r" \\[3pt] & ".join(trace.explain(address).latex for address in cells),
            trace.step(cells[0]).source,
        ),
        values=Values(
            np.stack([product.order, product.terms, product.running], axis=1),
            [str(i + 1) for i in range(len(product.terms))],
            ["component", "product", "sum so far"],
        ),
        note=f"{_name_largest(product)}{tell_put(view, *cells)}",
        start=cells[0],
    )


def _write_before_softmax(view: View, addresses: Sequence[Address]) -> str:
    steps = [view.trace.step(address).typeset(style.make_painter(view.colors)) for address in addresses]
    lines = r" \\ ".join(step.replace(" = ", " &= ", 1) for step in steps)
    return rf"\begin{{aligned}} {lines} \end{{aligned}}"


def _name_largest(product: attention.DotProduct) -> str:
    count = min(_TERMS, len(product.terms))
    return (
        f"Bars: one product per component, largest absolute value first. Line: the sum so far. It is "
        f"{format_number(float(product.running[count - 1]))} after {count} of {len(product.terms)} products and "
        f"{format_number(float(product.running[-1]))} at the end."
    )


@derived
def show_angles(view: View, key: int) -> Derived:
    """The same products read as cosine times two lengths, key by key."""
    parts, names, shown = (
        attention.measure_angles(read_row(view, "query"), _read_keys(view)),
        label_tokens(view.trace),
        choose_shown(view, key),
    )
    recorded, color = read_row(view, "products"), view.colors.kinds[ATTENTION]
    figure = draw_bars(
        parts.cosines[shown],
        [names[i] for i in shown],
        view.colors,
        color,
        name="cosine of query and key",
        ends=_COSINES,
    )
    columns = [
        Column("cosine", [None if np.isnan(x) else x for x in parts.known[shown].tolist()], color, 1.0, signed=True),
        Column("length of k", parts.key_norms[shown].tolist(), view.colors.kinds["key"]),
        Column("dot product R", recorded[shown].tolist(), color, signed=True),
    ]
    return Derived(
        "query-key-cosines",
        f"Cosine and length: the query of {read_word(view)} and each key",
        figure.offer([str(locate(view, "products", query=view.chosen.token, key=i)) for i in shown]),
        _write_cosine(view, key, parts),
        values=Values(
            np.stack([parts.known, parts.key_norms, parts.products], axis=1),
            names,
            ["cosine", "length of k", "dot product"],
        ),
        note="Cosine 1: query and key have the same direction; 0: they are orthogonal; −1: opposite. At the same "
        f"cosine a longer key gives a dot product larger in size, above 0 or below. The query's length is "
        f"{format_number(parts.query_norm)}.{tell_undirected(parts)}{note_shown(view, shown)}"
        f"{tell_put(view, locate(view, 'products', query=view.chosen.token))}",
        table=render_table("key k", [names[i] for i in shown], columns, _find_marked(shown, key)),
        start=locate(view, "products", query=view.chosen.token, key=key),
    )


def tell_undirected(parts: attention.Angles) -> str:
    """That some of the vectors have no direction, where a change put 0 or the weights are 0."""
    return " A vector of length 0 has no direction, and no cosine." if np.isnan(parts.known).any() else ""


def _write_cosine(view: View, key: int, parts: attention.Angles) -> Origin:
    q, k = (rf"\textcolor{{{view.colors.kinds[name]}}}{{{name[0]}}}" for name in ("query", "key"))
    lengths = (float(parts.cosines[key]), parts.query_norm, float(parts.key_norms[key]))
    worked = r" \cdot ".join(bracket_negative(format_latex(x)) for x in lengths)
    return Origin(
        _write_origin(view),
        ATTENTION,
        rf"{q} \cdot {k} = \cos({q}, {k})\, \lVert {q} \rVert\, \lVert {k} \rVert",
        "The dot product as geometry: it is large where both vectors are long and have a similar direction.",
        rf"{q} \cdot {k} = {worked} = {format_latex(float(parts.products[key]))}",
        _ARTICLE,
    )


@derived
def show_softmax(view: View, key: int) -> Derived:
    """The softmax of the chosen query's row: largest score, exponentials, denominator, shares."""
    trace, names = view.trace, label_tokens(view.trace)
    steps, shown = attention.work_softmax(read_row(view, "scores")), choose_shown(view, key)
    rows, words = _list_rows(view, steps), [names[i] for i in shown]
    address = locate(view, "probs", query=view.chosen.token)
    cell = locate(view, "probs", query=view.chosen.token, key=key)
    return Derived(
        "softmax",
        f"Softmax over the keys for query {read_word(view)}, step by step",
        draw_denominator(steps.powers[shown], steps.running[shown], words, view.colors).offer(
            picks.pick_points(trace, address, shown)
        ),
        Origin(
            locate(view, "scores", query=view.chosen.token),
            ATTENTION,
            _write_softmax(view),
            "Subtracting the largest score leaves every attention weight unchanged and keeps the exponentials from "
            "overflowing: the largest is 1. The denominator is their sum.",
            trace.explain(cell).latex,
            trace.step(address).source,
        ),
        values=Values(np.stack(list(rows.values()), axis=1), names, list(rows)),
        note=f"Largest score: {format_number(steps.largest)}. Each bar is one exponential and starts at the sum so "
        f"far; the total is the denominator, {format_number(steps.denominator)}. {_write_unshifted(steps)}"
        f"{note_shown(view, shown)}{tell_replaced(view)}",
        table=render_table("key u", words, _list_columns(view, rows, shown), _find_marked(shown, key)),
        start=cell,
    )


def _list_rows(view: View, steps: attention.SoftmaxRow) -> dict[str, np.ndarray]:
    """The steps from the scores to the attention weights, by name; a change may put other weights than the softmax."""
    return {
        _SCORE: read_row(view, "scores"),
        _BELOW: steps.below,
        _POWER: steps.powers,
        "sum so far": steps.running,
        **({_SOFTMAX: steps.shares} if tell_replaced(view) else {}),
        _WEIGHT: read_row(view, "probs"),
        "e^S, not shifted": steps.plain,
    }


def _list_columns(view: View, rows: Mapping[str, np.ndarray], shown: Sequence[int]) -> list[Column]:
    """The rows as columns of a table, with bars behind what is compared."""
    color = view.colors.kinds[ATTENTION]
    ends = {_SCORE: None, _POWER: 1.0, _SOFTMAX: 1.0, _WEIGHT: 1.0}
    return [
        Column(
            name,
            _name_masked(row[shown]) if name in (_SCORE, _BELOW) else row[shown].tolist(),
            color if name in ends else "",
            ends.get(name),
            signed=name == _SCORE,
        )
        for name, row in rows.items()
    ]


def _name_masked(scores: np.ndarray) -> list[float | str]:
    return [x if x > MASKED else "masked out" for x in scores.tolist()]


def _write_unshifted(steps: attention.SoftmaxRow) -> str:
    total = float(steps.plain.sum())
    if not np.isfinite(total):
        return "Without the subtraction it would be too large for any number of the machine."
    return f"Without the subtraction it would be {format_number(total)}, e^max times as large, at the same weights."


def _write_softmax(view: View) -> str:
    paint = style.make_painter(view.colors)
    s, a = (paint(view.trace.step(locate(view, name)).output) for name in ("scores", "probs"))
    t, u = view.chosen.token, "u"
    return (
        rf"\begin{{aligned}} m &= \max_{{v}} {s}_{{{t},v}} \\ "
        rf"{a}_{{{t},{u}}} &= \frac{{e^{{{s}_{{{t},{u}}} - m}}}}{{\sum_{{v}} e^{{{s}_{{{t},v}} - m}}}} \end{{aligned}}"
    )


def choose_shown(view: View, key: int) -> list[int]:
    """The keys that are drawn of the chosen query's row: all, or those with the largest weights and the two chosen."""
    return attention.choose_shown(read_row(view.guide, "probs"), SHOWN, (view.chosen.token, key))


def note_shown(view: View, shown: Sequence[int]) -> str:
    """How much of the attention those have that are drawn, where these are not all."""
    real = set(view.trace.encoding.real)
    if real <= set(shown):
        return ""
    row, count = read_row(view, "probs"), len(real & set(shown))
    others = tell_others(view.trace, row, shown, SHOWN)
    held = format_percent(float(row[list(shown)].sum()))
    word = escape_markdown(read_word(view))
    which = "those with the largest weights" if np.ptp(row[list(real)]) else "all with the same weight"
    return f" Shown: {count} of {len(real)} keys, {which} in the row of {word}{others}, together {held}."


def tell_replaced(view: View) -> str:
    """Where a change put other weights in the chosen row than the softmax of its scores gives: that it did."""
    softmax = attention.work_softmax(read_row(view, "scores")).shares
    if np.allclose(softmax, read_row(view, "probs"), atol=1e-4):
        return ""
    if find_doing(view.trace, locate(view, "probs", query=view.chosen.token)) == MULTIPLIES:
        return " A change multiplies the attention weights that the softmax of these scores gives."
    return " A change put other attention weights there than the softmax of these scores gives."


def _find_marked(shown: Sequence[int], key: int) -> list[int]:
    return [shown.index(key)]


def read_row(view: View, name: str) -> np.ndarray:
    """The chosen query's row of a step in the chosen head."""
    return view.trace[locate(view, name, query=view.chosen.token)]


def read_ghosts(view: View) -> dict[str, np.ndarray | None]:
    """The rows with bars before a change, where it reaches them."""
    rows = {name: locate(view, name, query=view.chosen.token) for name in ("products", "scaled", "probs")}
    return {name: read_ghost(view, row) for name, row in rows.items()}


def _read_keys(view: View) -> np.ndarray:
    return view.trace[locate(view, "key")]


def locate(view: View, name: str, **at: int) -> Address:
    """A tensor of the chosen head's attention."""
    return SELF_ATTENTION.in_layer(view.chosen.layer).enter(name).fix(head=view.chosen.head, **at)


def _write_origin(view: View, key: int | None = None) -> str:
    of_key = locate(view, "key") if key is None else locate(view, "key", key=key)
    return f"{locate(view, 'query', query=view.chosen.token)} and {of_key}"


def read_word(view: View) -> str:
    """The chosen token, in quotation marks, told from those that are written alike."""
    return name_token(view.trace.tokens, view.chosen.token)
