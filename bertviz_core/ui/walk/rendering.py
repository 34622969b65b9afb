"""The drawer's head and body as HTML: name, value, sentence, the formula in a line, picture, table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

import streamlit as st

from bertviz_core.analysis.made_from import count_made, is_put
from bertviz_core.analysis.naming import find_noun, name_number
from bertviz_core.analysis.parts import unwrap
from bertviz_core.formula.address import Address
from bertviz_core.formula.explain import Explanation, write_cell
from bertviz_core.formula.functions import Softmax
from bertviz_core.formula.markup import measure_ems, write_html
from bertviz_core.formula.numbers import format_latex, format_number, format_percent, write_recorded
from bertviz_core.formula.steps import INPUT, PARAMETER
from bertviz_core.formula.texts import join_words, spell_controls, write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import url
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.words import render_text
from bertviz_core.ui.walk.card import Card, render_table
from bertviz_core.ui.walk.explain import Explained
from bertviz_core.ui.walk.line import Line, list_indices, write_line
from bertviz_core.ui.walk.what_if_cell import describe_change
from bertviz_core.ui.walk.worked_number import WorkedOut

_EXACT = 1e-4  # relative: a number recomputed in double precision that differs by more is said to differ
_ALIKE = 0.01  # relative: of a tiny number that is one of two large ones less the other, few digits are left
_STRONG = re.compile(r"\*\*(.+?)\*\*")
_PART = re.compile("(?<=</span>) (?=<span>)")  # between the two parts of an equation
_USES = 4  # of a number, that are named


def render_head(view: View, shown: Explained, crumbs: str) -> str:
    """The way back; what number it is, in the colour of its kind; its value, large, and whether it was recomputed."""
    why = shown.why
    kind = why.step.kind if why.step else PARAMETER
    share = why.step is not None and isinstance(unwrap(why.step.expr)[0], Softmax)
    alone = f" <small>{escape(format_percent(why.value))}</small>" if share else ""
    value = f"<b>{escape(write_recorded(why.value))}</b>{alone}{_render_check(shown)}"
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
    alike = gap <= _ALIKE * abs(why.value) or not why.value
    said = ("✓ worked again" if alike else "✓ but for rounding") if near else "differs when worked again"
    return f'<span class="bv-again" title="{escape(told)}">{said}</span>'


def show_body(view: View, shown: Explained, card: Card) -> None:
    """All that is said of a number. What is plain HTML may hold no SVG; what is Markdown may."""
    why = shown.why
    kind = why.step.kind if why.step else PARAMETER
    _show_card(view, kind, card, _render_line(view, shown, card) + _render_change(view, why), _render_end(view, shown))


def show_worked_out(view: View, shown: WorkedOut, changed: str = "") -> None:
    """The same of a number that no step computes. changed: what a change made of it."""
    line = _render_equation(shown.line, shown.number)
    below = f"<small>{escape(shown.card.note)}</small>"
    formula = f'<div class="bv-formula">{_wrap_line(line)}{below}</div>'
    _show_card(view, shown.kind, shown.card, formula + _render_moved(changed))


def _show_card(view: View, kind: str, card: Card, formula: str, end: str = "") -> None:
    """A sentence, the formula, a picture, a table. formula, end: HTML."""
    _show(view, kind, f'<p class="bv-say">{_render_sentence(str(card.sentence))}</p>{formula}')
    if card.picture:
        st.markdown(_wrap(view, kind, card.picture), unsafe_allow_html=True)
    table = render_table(card.table) if card.table else ""
    _show(view, kind, table + card.more + end)


def _render_sentence(text: str) -> str:
    """A sentence, of which the one part between asterisks stands out."""
    return _STRONG.sub(r"<b>\1</b>", render_text(text), count=1)


def _render_change(view: View, why: Explanation) -> str:
    said = "" if is_put(view.trace, why.cell) else describe_change(view, why)  # that is said beside its symbol
    return _render_moved(said)


def _render_moved(said: str) -> str:
    return f'<p class="bv-changed"><b>What if</b> {escape(said)}.</p>' if said else ""


def _show(view: View, kind: str, text: str) -> None:
    if text:
        st.html(_wrap(view, kind, text))


def _wrap(view: View, kind: str, text: str) -> str:
    """HTML in the colours of the number's kind."""
    cell, own = (colors.get(kind, view.colors.faint) for colors in (view.colors.cells, view.colors.kinds))
    return f'<div class="bv-explained" style="--cell:{cell};--kind:{own}">{spell_controls(text)}</div>'


_STORY = (
    '<button class="bv-story" data-story="all" title="At every step: the part that counts most of those that are '
    'computed from the token ids.">Shortest story ›</button>'
)


def _render_line(view: View, shown: Explained, card: Card) -> str:
    """The formula with number indices, in letters and with numbers, and what it gives; at most two lines."""
    why = shown.why
    if why.step is None:
        symbol = view.trace.program.symbol(why.cell.path)
        value = int(why.value) if symbol and symbol.kind == INPUT else why.value
        cell = write_html(write_cell(symbol, [str(i) for i in list_indices(why)])) if symbol else ""
        line = f"<span>{cell} = {_render_result(value)}</span>" if cell else ""
        line += _render_before(view.trace, why.cell)
    else:
        line = _render_equation(card.line or write_line(why), why.recomputed)
    below = f"<small>{escape(card.note)}</small>" if card.note else ""
    return f'<div class="bv-formula">{_wrap_line(line)}{below}</div>' if line else ""


def _wrap_line(line: str) -> str:
    """A line that says how wide its widest part is, by which it is written smaller where that has no room."""
    ems = max(map(measure_ems, _PART.split(line)))
    return f'<p class="bv-line" style="--ems:{ems:.1f}">{line}</p>'


def render_lines(formulas: Sequence[str]) -> str:
    """The formulas of a number that is in no pass, a line each. formulas: short LaTeX."""
    lines = "".join(f'<p class="bv-line"><span>{write_html(formula)}</span></p>' for formula in formulas)
    return f'<div class="bv-explained"><div class="bv-formula">{lines}</div></div>'


def _render_before(trace: Trace, cell: Address) -> str:
    """What a number was before somebody put another one in its place."""
    if trace.before is None or not is_put(trace, cell):
        return ""
    before, now = trace.before[cell].item(), trace[cell].item()
    if before == now:
        return ' <span class="bv-was">as it was before</span>'
    told = format_number(before)
    behind = f", by {format_number(now - before)}" if told == format_number(now) else ""  # they differ further behind
    return f' <span class="bv-was">changed from <b>{escape(told)}</b>{behind}</span>'


def _render_equation(line: Line, result: float) -> str:
    """A cell's equation: its symbol and formula, and behind them the numbers."""
    worked = f"= {write_html(line.worked)} " if line.worked else ""
    return (
        f"<span>{write_html(line.left)} = {write_html(line.right)}</span> "
        f"<span>{worked}= {_render_result(result)}</span>"
    )


def _render_result(value: float) -> str:
    return f"<b>{write_html(format_latex(value))}</b>"


def _render_end(view: View, shown: Explained) -> str:
    """What is made from the number next, each a way forward, and the whole way back at once."""
    why = shown.why
    trace, cell = view.trace, why.cell
    paths = (step.address for step in trace.program.readers.get(cell.path, ()))
    made = [(path, count) for path in paths if (count := count_made(trace, cell, path))]
    uses = [_render_use(path, count, len(made) == 1) for path, count in made[:_USES]]
    more = [f"{len(made) - _USES} more"] if len(made) > _USES else []
    listed = f"<span><b>Goes into</b> {join_words([*uses, *more])}</span>" if uses else ""
    told = "" if why.step is None or url.read_page() == "story" else _STORY  # there it is told already
    return f'<p class="bv-into">{listed}{told}</p>'


def _render_use(path: str, count: int, alone: bool) -> str:
    """A button to the number that is made from a cell; to the largest of several, whose count it says."""
    times = f"{count:,} × " if count > 1 and alone else ""
    told = f"{count:,} numbers; the one largest in size is opened" if count > 1 else "Opens the number made from it"
    word = escape(find_noun(path).word)
    return f'<button data-into="{escape(path)}" title="{told}">{times}{word}</button>'
