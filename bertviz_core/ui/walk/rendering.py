"""The drawer's head and body as HTML: name, value, sentence, the formula in a line, picture, table."""

from __future__ import annotations

from html import escape

import streamlit as st

from bertviz_core.analysis.naming import find_noun, name_number
from bertviz_core.analysis.parts import unwrap
from bertviz_core.formula.explain import Explanation
from bertviz_core.formula.functions import Softmax
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.numbers import format_latex, format_number, format_percent
from bertviz_core.formula.short import write_short_cell
from bertviz_core.formula.steps import INPUT, PARAMETER
from bertviz_core.formula.texts import join_words, spell_controls, write_count
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.words import render_text
from bertviz_core.ui.walk.card import Card, render_table
from bertviz_core.ui.walk.explain import Explained
from bertviz_core.ui.walk.what_if_cell import describe_change

_EXACT = 1e-4  # relative: a number recomputed in double precision that differs by more is said to differ
_USES = 3  # of a number, that are named


def render_head(view: View, shown: Explained, crumbs: str) -> str:
    """The way back; what number it is, in the colour of its kind; its value, large, and whether it was recomputed."""
    why = shown.why
    kind = why.step.kind if why.step else PARAMETER
    share = why.step is not None and isinstance(unwrap(why.step.expr)[0], Softmax)
    alone = f" <small>{escape(format_percent(why.value))}</small>" if share else ""
    value = f"<b>{escape(format_number(why.value))}</b>{alone}{_render_check(shown)}"
    return crumbs + render_title(view, kind, name_number(view.trace, why.cell), value, why.address)


def render_title(view: View, kind: str, name: str, value: str, address: str) -> str:
    """Name and value of a number. value: HTML."""
    color = view.colors.kinds.get(kind, view.colors.faint)
    return (
        f'<h2 id="bv-drawer-title" tabindex="-1" data-address="{escape(address)}" style="--kind:{color}">'
        f"{escape(spell_controls(name))}</h2>"
        f'<p class="bv-value" style="color:{color}">{value}</p>'
    )


def _render_check(shown: Explained) -> str:
    """That the number was worked out again, and how near the two are."""
    why = shown.why
    if why.step is None:
        return ""
    gap = abs(why.value - why.recomputed)
    near = gap <= _EXACT * max(1.0, abs(why.value))
    told = (
        f"Recorded: {format_number(why.value)}. Recomputed in double precision from "
        f"{write_count(why.count, 'operand')}: {format_number(why.recomputed)}. Difference: {format_number(gap)}."
    )
    said = "✓ worked again" if near else "differs when worked again"
    return f'<span class="bv-again" title="{escape(told)}">{said}</span>'


def show_body(view: View, shown: Explained, card: Card) -> None:
    """All that is said of a number. What is plain HTML may hold no SVG; what is Markdown may."""
    why = shown.why
    say = f'<p class="bv-say">{render_text(str(card.sentence))}</p>'
    _show(view, why, say + _render_line(view, shown, card) + _render_change(view, why))
    if card.picture:
        st.markdown(_wrap(view, why, card.picture), unsafe_allow_html=True)
    table = render_table(card.table) if card.table else ""
    _show(view, why, table + card.more + _render_end(view, shown))


def _render_change(view: View, why: Explanation) -> str:
    said = describe_change(view, why)
    return f'<p class="bv-changed"><b>What if</b> {said}.</p>' if said else ""


def _show(view: View, why: Explanation, text: str) -> None:
    if text:
        st.html(_wrap(view, why, text))


def _wrap(view: View, why: Explanation, text: str) -> str:
    """HTML in the colours of the number's kind."""
    kind = why.step.kind if why.step else PARAMETER
    cell, own = (colors.get(kind, view.colors.faint) for colors in (view.colors.cells, view.colors.kinds))
    return f'<div class="bv-explained" style="--cell:{cell};--kind:{own}">{spell_controls(text)}</div>'


_STORY = (
    '<button class="bv-story" data-story="all" title="At every step: the part that counts most of those that are '
    'computed from the token ids.">Shortest story ›</button>'
)


def _render_line(view: View, shown: Explained, card: Card) -> str:
    """The formula with number indices, in letters and with numbers, and what it gives; at most two lines. Below it the
    steps that lie between."""
    why = shown.why
    if why.step is None:
        symbol = view.trace.program.symbol(why.cell.path)
        place = ",".join(str(i) for _, i in why.cell.index)
        value = int(why.value) if symbol and symbol.kind == INPUT else why.value
        line = f"<span>{write_html(f'{{{symbol.tex}}}_{{{place}}}')} = {_render_result(value)}</span>" if symbol else ""
    else:
        line = _write_line(why)
    between = "".join(f"<small>where {_write_line(step)}</small>" for step in card.steps)
    below = between + (f"<small>{escape(card.note)}</small>" if card.note else "")
    return f'<div class="bv-formula"><p class="bv-line">{line}</p>{below}</div>' if line else ""


def _write_line(why: Explanation) -> str:
    """A cell's equation: its symbol and formula, and behind them the numbers."""
    assert why.step is not None
    left, right = write_short_cell(why.step, (i for axis, i in why.cell.index if axis != "head"), _paint)
    worked = f"= {write_html(why.short)} " if why.short else ""
    return (
        f"<span>{write_html(left)} = {write_html(right)}</span> <span>{worked}= {_render_result(why.recomputed)}</span>"
    )


def _render_result(value: float) -> str:
    return f"<b>{write_html(format_latex(value))}</b>"


def _paint(symbol: Symbol) -> str:
    return rf"\htmlClass{{bv-of-{symbol.kind}}}{{{symbol.tex}}}"


def _render_end(view: View, shown: Explained) -> str:
    """What is made from the number next, and the whole way back at once."""
    why = shown.why
    readers = view.trace.program.readers.get(why.cell.path, ())
    words = list(dict.fromkeys(find_noun(step.address).word for step in readers))
    more = [f"{len(words) - _USES} more"] if len(words) > _USES else []
    uses = f"<span><b>Goes into</b> {escape(join_words([*words[:_USES], *more]))}</span>" if words else ""
    return f'<p class="bv-into">{uses}{"" if why.step is None else _STORY}</p>'
