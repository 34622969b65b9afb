"""How far apart the matched tokens are after every layer, as angles."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.comparing import tell_tokens, tell_vectors
from bertviz_core.analysis.layers import OF_ANGLES
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.figures.compared import Run, draw_angles
from bertviz_core.formula.steps import NORM
from bertviz_core.formula.texts import shorten, write_count
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.views.compare_both import Both

_MOST = 10  # lines, so that each has room for its name
_LONGEST = 12  # characters of a name
_HIGH = 196


def show_angles(view: View, both: Both) -> None:
    """A line a matched token, that which is looked at in colour; where there are no angles, why."""
    why = tell_vectors(both.one, both.other)
    main = both.main
    if main is None or not len(both.last):
        told = why if both.pairs else tell_tokens(both.one, both.other, both.pairs)
        st.info(escape_markdown(told), icon=":material/info:")
        return
    worked = both.find_cosine(both.stages[-1], main)
    offer_number(worked)
    kept = sorted({main, *rank_top(np.nan_to_num(both.last, nan=-1.0), _MOST - 1)})[:_MOST]
    heading = Heading("How far apart, layer by layer", "", _write_formula(view), OF_ANGLES, worked)
    stages = ["embed" if stage.layer is None else str(stage.layer) for stage in both.stages]
    with open_card(view, NORM, heading, "the vectors of both passes", name="apart") as tools:
        with tools:
            show_values("apart", Values(both.angles.T, both.names, [str(stage) for stage in both.stages]))
        runs = [_make_run(both, i) for i in kept]
        chart = draw_angles(runs, kept.index(main), stages, view.colors, view.colors.kinds[NORM], _HIGH)
        show_chart(chart, "apart", "Angle between the two vectors of each matched token, layer by layer")
        left = len(both.pairs) - len(kept)
        more = f"{_tell_drawn(both, kept)}; {write_count(left, 'other')} in the values." if left else ""
        if told := " ".join(filter(None, (more, why))):
            st.caption(escape_markdown(told))


def _tell_drawn(both: Both, kept: list[int]) -> str:
    """Which of many lines are drawn: that of the token that is looked at is not always among the last."""
    main, farthest = both.main, set(rank_top(np.nan_to_num(both.last, nan=-1.0), len(kept)))
    named = "" if main is None or main in farthest else f"“{both.names[main]}” and "
    return f"Drawn: {named}those that end farthest apart"


def _make_run(both: Both, pair: int) -> Run:
    cells = [str(both.find_cosine(stage, pair)) for stage in both.stages]
    return Run(shorten(both.names[pair], _LONGEST), both.angles[:, pair], cells)


def _write_formula(view: View) -> str:
    x = rf"\textcolor{{{view.colors.kinds[NORM]}}}{{x}}"
    return rf"\cos \theta = {x}_i \cdot {x}'_j / (|{x}_i|\,|{x}'_j|)"
