"""What is drawn of a pass, drawn of both where a change is asked to show its difference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import streamlit as st

from bertviz_core.analysis.labels import label_tokens, tell_tokens_apart
from bertviz_core.figures.base import Chart
from bertviz_core.figures.differences import is_same, subtract_charts
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.view import AFTER, BEFORE, View


def show_passes_chart(view: View, charts: Sequence[Chart], key: str, alt: str) -> None:
    """A chart of every one of `view.passes`: as it is, or as the difference of two, and a line that says so.

    Where the two charts draw different places, such as rankings or histograms do, both are drawn.
    """
    *earlier, after = charts
    if not earlier:
        show_chart(after, key, alt)
        return
    (before,) = earlier
    tried = (subtract_charts(before, after, view.colors, names) for names in _list_renamed(view))
    found = next((one for one in tried if one is not None), None)
    if is_same(before, after):
        show_chart(after, key, alt)
        st.caption(f"{_capitalize(view.outcome.say_unreached('this'))}: it is the same before and after.")
    elif found is not None:
        chart, largest = found
        show_chart(chart, key, f"{alt}, after minus before")
        st.caption(f"After − before: all that is drawn is at most {format_number(largest)} in size.")
    else:
        st.caption("The two draw different things, so there is no difference to draw.")
        with st.container(horizontal=True, gap="small", key=f"both-passes-{key}"):
            for name, chart, place in ((BEFORE, before.silent, f"{key}-before"), (AFTER, after, key)):
                with st.container(gap=None):
                    st.markdown(f"**{name} {view.outcome.yours}**")
                    show_chart(chart, place, f"{alt}, {name.lower()}")


def show_passes(view: View, draw: Callable[[View], object]) -> None:
    """What is no chart, drawn of every one of `view.passes`: where these are two, one under the other, named."""
    for one in view.passes:
        if one.outcome.half:
            st.markdown(f"**{one.outcome.half}**")
        draw(one)


def show_passes_html(view: View, bodies: Sequence[str]) -> None:
    """HTML of every one of `view.passes`; once, where the changes do not reach it."""
    if len(set(bodies)) == 1:
        st.html(bodies[-1])
        return
    for one, body in zip(view.passes, bodies, strict=True):
        st.markdown(f"**{one.outcome.half}**")
        st.html(body)


def write_passes(values: Iterable[float]) -> str:
    """A number of every one of `view.passes`: as it is, or what it became, `1.9107 → 2.0208`."""
    return " → ".join(format_number(value) for value in values)


def read_ghost(view: View, place: Address) -> np.ndarray | None:
    """The numbers of a place before the changes, to be drawn faintly below those after them; None where no change
    reaches them, or another pass is shown."""
    if view.ghost is None or np.array_equal(view.ghost[place], view.trace[place]):
        return None
    return view.ghost[place]


def tell_ghosts(*ghosts: np.ndarray | None) -> str:
    """To stand in the caption of what has ghosts; nothing where none has."""
    return "Below, grey: before. " if any(one is not None for one in ghosts) else ""


def tell_pass(view: View) -> str:
    """To stand in the caption of what is drawn of the pass after the changes only, also where a difference is asked."""
    return f"Drawn of the pass after {view.outcome.yours}. " if view.outcome.compared else ""


def tell_words(view: View) -> str:
    """To stand before what is said in words and formulas beside a chart, where this shows a difference."""
    return f"In words and in the formula: after {view.outcome.yours}. " if view.outcome.compared else ""


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


def _list_renamed(view: View) -> tuple[dict[str, str], ...]:
    """What tokens are called after the changes that are others before them: where all have their positions, and where
    those do that stand more than once, which a change may make more or fewer."""
    always, told = (
        {one: other for one, other in zip(*(name(each.trace) for each in view.passes), strict=True) if one != other}
        for name in (label_tokens, tell_tokens_apart)
    )
    return always, always | told
