"""What both passes answer: the likeliest words at the blank, or classes, or spans, as paired bars on one scale."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis.compared_answers import BLANK, CLASS, FOLLOWS, READING, SPAN, Answers
from bertviz_core.analysis.comparing import tell_answers
from bertviz_core.figures.compared import Side, draw_mirrored
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import name_token, shorten
from bertviz_core.ui.frame.chart import show_chart
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.derived import Values, show_values
from bertviz_core.ui.views.compare import has_more_blanks
from bertviz_core.ui.views.compare_both import Both

_ROWS, _LONGEST, _ROW = 9, 14, 17  # answers; characters of one, and its pixels
_TITLES = {
    BLANK: "Which word fits the blank",
    CLASS: "Which class it is",
    SPAN: "Which span answers",
    FOLLOWS: "Does B follow A",
    READING: "Which word is read",
}


def show_answers(view: View, both: Both) -> None:
    """The likeliest answers of either pass; where there are none, why."""
    answers = both.answers
    if answers is None:
        why = tell_answers(both.one, both.other) or "The two passes have no answer to the same question."
        st.info(escape_markdown(why), icon=":material/info:")
        return
    named = answers.at is not None and (answers.kind != BLANK or has_more_blanks(both))
    place = f"at {_tell_place(both, answers)}" if named else ""
    says = ", ".join(filter(None, (place, _tell_divergence(answers))))
    heading = Heading(_TITLES[answers.kind], says, *_write_formula(answers))
    listed = answers.list_likeliest(_ROWS)
    names = [shorten(answers.name(i), _LONGEST) for i in listed]
    left, right = (
        Side(name, shares[listed], cells)
        for name, shares, cells in (
            ("first", answers.one, [str(answers.find_cells(i)[0] or "") for i in listed]),
            ("second", answers.other, ""),
        )
    )
    with open_card(view, PREDICTION, heading, str(answers.rows[0]), name="answers") as tools:
        with tools:
            values = np.stack([answers.one[listed], answers.other[listed]], axis=1)
            show_values("answers", Values(values, [answers.name(i) for i in listed], ["first", "second"]))
        chart = draw_mirrored(names, left, right, view.colors, view.colors.kinds[PREDICTION], _ROW)
        show_chart(chart, "answers", "Probabilities of the same answers in both passes")
        if told := tell_answers(both.one, both.other):
            st.caption(escape_markdown(told))


def _tell_place(both: Both, answers: Answers) -> str:
    assert answers.at is not None
    return name_token(both.one.tokens, answers.at[0])


def _tell_divergence(answers: Answers) -> str:
    """Jensen and Shannon's divergence, where it has a number."""
    bits = answers.divergence
    return "" if np.isnan(bits) else f"JS = {format_short(bits)} bit"


def _write_formula(answers: Answers) -> tuple[str, str]:
    """The divergence in letters, and where it is printed; nothing where it has no number."""
    if np.isnan(answers.divergence):
        return "", ""
    return r"\mathrm{JS} = (\mathrm{KL}(P | M) + \mathrm{KL}(P' | M)) / 2", "Lin 1991"
