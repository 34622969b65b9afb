"""What the changes of a what-if did to the tensor of a panel: in numbers, and as a chart in place of its own."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analysis.what_if import measure_moved
from bertviz_core.figures.base import Chart
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame import cell_names
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import DIFFERENCE, View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import draw_difference, draw_moved_bars


def draw_difference_chart(view: View, address: Address, kind: str) -> tuple[Chart, str] | None:
    """After − before, if that is what panels shall show: the chart and how to read it.

    A single number and a tensor of more than two axes keep their own chart.
    """
    found, axes = view.outcome, len(view.trace.dims(address))
    if found.show != DIFFERENCE or not found.changed or axes not in (1, 2):
        return None
    if axes == 2:
        chart, note = draw_difference(view, found.before, found.after, address)
        return chart.offer(picks.pick_matrix(view.trace, address)), f"After − before. {note}".strip()
    chart = draw_moved_bars(view, found.before, found.after, address, kind)
    return chart, f"After − before: the {len(chart.cells)} largest changes."


def show_moved(view: View, address: Address, start: Address) -> None:
    """How far the tensor moved, and the cell that the panel works out."""
    found = view.outcome
    if not found.changed:
        return
    if not found.after.reached(address):
        st.caption(f"**What if:** {found.say_unreached('this tensor')}; it is the same, bit for bit.")
        return
    far = measure_moved(found.before, found.after, address)
    if not far.mean and not far.masked:
        st.caption(f"**What if:** {found.yours} {found.agree('moves', 'move')} none of the numbers here.")
        return
    before, after = (float(trace[start]) for trace in (found.before, found.after))
    own, name = (escape_markdown(cell_names.shorten(found.after, cell)) for cell in (start, far.largest))
    most = f"{_write_arrow(far.before, far.after)}, at {name}; the mean absolute change is {format_number(far.mean)}"
    rest = f"the largest change {most}"
    if far.masked:
        rest = f"of scores masked neither before nor now the largest change {most}"
        rest = rest if far.mean else "no score changes that is masked neither before nor now"
    st.caption(f"**What if:** {own}: {_write_arrow(before, after)}; {rest}.")


def _write_arrow(before: float, after: float) -> str:
    return f"{format_number(before)} → {format_number(after)} ({format_number(after - before)})"
