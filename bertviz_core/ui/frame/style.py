"""Colours and HTML that Streamlit has no widget for: symbols in their colour, tokens as chips, a few CSS rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.labels import list_looks
from bertviz_core.figures.base import MONOSPACE, SANS
from bertviz_core.figures.palette import Palette, choose_palette
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.numbers import format_number
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.selectors import read_rules

# In one line: in each run Streamlit looks through all lines of all HTML for what they are indented by.
_RULES = " ".join(
    word
    for name in ("style.css", "markup.css", "card.css", "drawer.css", "lesson.css", "present.css")
    for word in read_rules(Path(__file__).with_name(name)).split()
)
_KEPT = "[data-beside]"  # in the rules: on a page that keeps the drawer's place free
# The sheet itself says whether that is so: no element beside it is sure to be drawn as early.
_RULES_BESIDE = {True: _RULES.replace(_KEPT, ".st-key-frame"), False: _RULES.replace(_KEPT, "#bv-drawer-title")}


def write_css(colors: Palette, more: str = "", *, beside: bool = False) -> str:
    """The app's style sheet, in the colours of a theme.

    beside: whether the drawer's place is kept free before it is there.
    """
    first, second = colors.segments
    names = {
        "text": colors.text,
        "faint": colors.faint,
        "line": colors.line,
        "surface": colors.surface,
        "paper": colors.paper,
        "notice": colors.notice,
        "track": colors.zero,
        "first": first,
        "second": second,
        "accent": colors.kinds["attention"],
        "mono": MONOSPACE,
        "sans": SANS,
        "negative": colors.negative,
        **colors.kinds,
        **{f"{kind}-cell": color for kind, color in colors.cells.items()},
    }
    variables = "".join(f"--bv-{name}:{color};" for name, color in names.items())
    kinds = "".join(
        f":is(.bv-line,.bv-operands) .bv-of-{kind}{{color:var(--bv-{kind})}}"
        f".bv-picture .bv-of-{kind}{{fill:var(--bv-{kind}-cell)}}"
        for kind in colors.kinds
    )
    return f"<style>:root{{{variables}}}{_RULES_BESIDE[beside]}{kinds}{more}</style>"


def read_colors() -> Palette:
    """The palette of the theme that the browser shows."""
    return choose_palette(st.context.theme.type)


def make_painter(colors: Palette) -> Callable[[Symbol], str]:
    """Typesets symbols in the colour of their kind; parameters and inputs in the text's own."""

    def paint(symbol: Symbol) -> str:
        color = colors.kinds.get(symbol.kind)
        return rf"\textcolor{{{color}}}{{{symbol.tex}}}" if color else symbol.tex

    return paint


def render_token(trace: Trace, i: int, *kinds: str, does: str = "", before: str = "", after: str = "") -> str:
    """A token as a chip that looks like what it is. kinds: classes besides; before, after: HTML beside its text.

    does: the attributes of a button, where a click does something.
    """
    classes = " ".join([*kinds, *(f"bv-{look}" for look, has in list_looks(trace, i).items() if has)])
    inside = f"{before}{escape(trace.tokens[i])}{after}"
    return f'<button class="{classes}" {does}>{inside}</button>' if does else f'<span class="{classes}">{inside}</span>'


def mark_mask(trace: Trace, i: int) -> tuple[str, ...]:
    """The class of a token that hides another one: a dark chip, where no other token is dark for being chosen."""
    return ("bv-masked",) if trace.encoding.ids[i] == trace.model.tokenizer.mask_id else ()


def render_token_name(i: int, name: str) -> str:
    """A token beside its own numbers: a click chooses it."""
    return f'<button data-token="{i}">{escape(name)}</button>'


def render_answer(rows: Sequence[tuple[str, float]], color: str) -> str:
    """Words with their probabilities, as bars from 0 to 1 that need no chart."""
    cells = "".join(
        f'<span>{escape(word)}</span><i style="width:{share:.2%};background:{color}"></i>'
        f"<span>{format_number(share)}</span>"
        for word, share in rows
    )
    return f'<div class="bv-answer">{cells}</div>'


def break_lines(latex: str) -> str:
    """An equation chain over several lines, broken at its top-level equality signs, so that it fits beside a chart."""
    left, *rights = latex.split(" = ")
    lines = "".join(rf" \\[9pt] &= {right}" for right in rights)
    return rf"\footnotesize\begin{{aligned}} & {left}{lines} \end{{aligned}}"
