"""What the changes of a what-if did to the tensor of a panel: in numbers, and as a chart in place of its own."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analysis import naming
from bertviz_core.analysis.ranking import MASKED
from bertviz_core.analysis.what_if import Moved, measure_moved
from bertviz_core.figures.base import Chart
from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.numbers import choose_percent, format_number, format_percent, read_alike
from bertviz_core.formula.texts import name_token
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import DIFFERENCE, View
from bertviz_core.ui.panels import picks
from bertviz_core.ui.panels.charts import draw_difference, draw_moved_bars

_SHARES = "probs"  # ends the name of what is a part of a whole
_HARDLY = 0.05  # of the largest change of the tensor, and of the number itself: a smaller change is hardly any


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
    own = escape_markdown(_name(found.after, start, address))
    arrow = _write_arrow(address, before, after)
    if before == after:
        said = f"{own} stays {'masked' if after <= MASKED else f'at {_write(address, after)}'}."
    elif abs(after - before) < _HARDLY * min(abs(far.after - far.before), abs(before)):
        said = f"{own} hardly changes, {arrow}."
    else:
        said = f"{own}: {arrow}."
    moves = 0.0 if min(before, after) <= MASKED else abs(after - before)
    st.caption(f"**What if:** {said}{_tell_most(found.after, address, far, moves)}")


def _tell_most(trace: Trace, address: Address, far: Moved, own: float) -> str:
    """Which number of the panel changes most, beside one that changes by `own`."""
    if not far.mean:
        return " No score changes that is masked neither before nor now."
    if own >= far.least and not far.masked:
        return {1: "", 2: f" The other {_tell_other(far)}."}.get(far.all, " No other changes more.")
    name, most = escape_markdown(_name(trace, far.largest, address)), _write_arrow(address, far.before, far.after)
    alone = far.alike == 1
    if far.masked:
        changes = f"{name} changes most" if alone else f"none changes more than {name}"
        return f" Of scores masked neither before nor now {changes}: {most}."
    return f" {'Most changes' if alone else 'None changes more than'} {name}: {most}."


def _tell_other(far: Moved) -> str:
    """How much the smaller of two changes is beside the larger one: their mean tells."""
    if far.alike == 2:
        return "changes as much"
    return "changes less" if 2 * far.mean > abs(far.after - far.before) else "stays"


def _name(trace: Trace, cell: Address, panel: Address) -> str:
    """A cell in the sentence's words, without what the panel's address says: `“[MASK]” to “do” at position 5`."""
    own = [(axis, i) for axis, i in cell.index if axis in TOKEN_AXES or axis not in panel.at]
    tokens = " to ".join(name_token(trace.tokens, i) for axis, i in own if axis in TOKEN_AXES)
    rest = [naming.name_index(trace, axis, i) for axis, i in own if axis not in TOKEN_AXES]
    return ", ".join(filter(None, [tokens, *rest])) or naming.name_number(trace, cell)


def _write(panel: Address, value: float) -> str:
    if value <= MASKED:
        return "masked"
    return format_percent(value) if panel.leaf.endswith(_SHARES) else format_number(value)


def _write_arrow(panel: Address, before: float, after: float) -> str:
    """Two numbers with as many digits as tell them apart."""
    texts = [_write(panel, value) for value in (before, after)]
    if all(text.endswith("%") for text in texts) and read_alike(texts):
        texts = [*map(choose_percent(before, after), (before, after))]
        texts = texts if len({*texts}) == 2 else [format_number(value) for value in (before, after)]
    return " → ".join(texts)
