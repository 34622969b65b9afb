"""A softmax of numbers that are typed by hand, worked beside them: what the playground begins with."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from bertviz_core.analysis import attention
from bertviz_core.analysis.claims import Part, Said, say, say_largest
from bertviz_core.figures.bars import SHARES, draw_bars
from bertviz_core.formula.numbers import format_latex, format_short_latex
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.packing import LONGEST
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.panels.said import tell_percent
from bertviz_core.ui.panels.tables import Column, render_table
from bertviz_core.ui.views.playground_sheet import Sheet, write_typed

_FIRST = (2.0, 1.0, 0.0, -1.0)
_NAMES = [f"x{i}" for i in range(len(_FIRST))]
_SHEET = Sheet(
    Key("numbers", "", LONGEST),
    Key("number", ""),
    "numbers",
    np.array([_FIRST]),
    ["Your numbers"],
    _NAMES,
    largest=100.0,  # e to that can still be read
    owner="the example's",
)
_SOFTMAX = r"p_i = \frac{e^{x_i}}{\sum_{v} e^{x_v}}"
_SEE = "Softmax of your numbers"


def _read() -> tuple[np.ndarray, attention.SoftmaxRow]:
    """The numbers as edited, and their softmax."""
    numbers = _SHEET.read().scores[0]
    return numbers, attention.work_softmax(numbers)


def write_headline(_: View) -> Said:
    """Which of the numbers gets the largest share."""
    numbers, steps = _read()
    best = int(steps.shares.argmax())
    return say(
        say_largest(
            ("own softmax", "The softmax gives {number} the largest share of your numbers: **{share}**"),
            ("own softmax, shared", "The softmax gives none of your numbers more than {number}: **{share}**"),
            {"share": tell_percent(steps.shares[best]), "number": Part(float(numbers[best]), write_typed)},
            steps.shares,
            (best,),
        ),
        "; change one and see",
    )


def show_own(view: View) -> None:
    """The fields of the numbers, their softmax worked, and the shares as bars."""
    numbers, steps = _read()
    says = "e to the power of each, by the sum of these: all shares are above 0, and they add up to 1"
    with open_card(view, ATTENTION, Heading(_SEE, says, _SOFTMAX), "from your numbers") as tools:
        fields, table, drawn = st.columns([4, 4, 3], gap="medium")
        with fields:
            _SHEET.show_grid("", ["<b>x</b>"], _NAMES, view.colors)
            st.latex(_write_worked(numbers, steps))
        columns = _list_columns(numbers, steps)
        with table, st.container(key="wide-own-softmax"):
            st.html(render_table("number", [*_NAMES, "sum"], columns))
        with drawn:
            color = view.colors.kinds[ATTENTION]
            chart = draw_bars(steps.shares, _NAMES, view.colors, color, name="share", ends=SHARES)
            show_chart(chart, "playground-own", _SEE)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.caption(f"1 more multiplies the power of a number by e = {math.e:.4f}; 1 more in all changes no share.")
            _SHEET.show_status()
        with tools:
            held = np.stack([numbers, steps.plain, steps.shares], axis=1)
            show_values("playground-own", Values(held, _NAMES, [column.name for column in columns]))


def _list_columns(numbers: np.ndarray, steps: attention.SoftmaxRow) -> list[Column]:
    return [
        Column("x", [*numbers.tolist(), None], write=write_typed),
        Column("e to that", [*steps.plain.tolist(), float(steps.plain.sum())]),
        Column("share of the sum", [*steps.shares.tolist(), float(steps.shares.sum())]),
    ]


def _write_worked(numbers: np.ndarray, steps: attention.SoftmaxRow) -> str:
    """The largest share, worked with all numbers."""
    best = int(steps.shares.argmax())
    raised = [f"e^{{{_write_power(float(x))}}}" for x in numbers]
    powers = [format_latex(float(power)) for power in steps.plain]
    total, share = format_latex(float(steps.plain.sum())), format_latex(float(steps.shares[best]))
    return style.break_lines(
        rf"p_{{{best}}} =\frac{{{raised[best]}}}{{{' + '.join(raised)}}}"
        rf" = \frac{{{powers[best]}}}{{{' + '.join(powers)}}} = \frac{{{powers[best]}}}{{{total}}} ={share}"
    )


def _write_power(x: float) -> str:
    typed = write_typed(x)
    return format_short_latex(x) if "·" in typed else typed.replace("−", "-")
