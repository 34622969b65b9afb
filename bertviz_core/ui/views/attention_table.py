"""One head's attention weights as numbers: queries around the chosen one, the keys that this one looks at most."""

from __future__ import annotations

from html import escape

import streamlit as st

from bertviz_core.analysis.labels import label_tokens
from bertviz_core.analysis.ranking import center_range
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.passes import show_passes_html
from bertviz_core.ui.views.attention_worked import choose_shown, locate, note_shown

_QUERIES = 16  # rows, at least


def show_table(view: View, key: int) -> None:
    """The attention weights as numbers: queries around the chosen one, the keys that this one looks at most."""
    keys, count = choose_shown(view, key), len(view.trace.tokens)
    queries = center_range(view.chosen.token, max(_QUERIES, len(keys)), count)
    left_out = f" Shown: queries {queries.start}–{queries.stop - 1} of {count}." if len(queries) < count else ""
    step = view.trace.step(locate(view, "probs"))
    heading = Heading("The attention weights in numbers", "", view.typeset(step), step.source)
    with open_card(view, ATTENTION, heading, locate(view, "probs")):
        show_passes_html(view, [_render_table(one, queries, keys) for one in view.passes])
        st.caption(f"Rows are queries, columns are keys.{left_out}{note_shown(view, keys)}")


def _render_table(view: View, queries: range, keys: list[int]) -> str:
    weights, names = view.trace[locate(view, "probs")], label_tokens(view.trace)
    heads = table_html.write_heads(("query", *(escape(names[i]) for i in keys)))
    rows = (
        table_html.write_row(
            escape(names[q]),
            (
                f'<td><button data-cell="{escape(str(locate(view, "probs", query=q, key=k)))}">'
                f"{format_percent(float(weights[q, k]))}</button></td>"
                for k in keys
            ),
            "bv-chosen" if q == view.chosen.token else "",
        )
        for q in queries
    )
    table = table_html.write_table(heads, rows)
    return table_html.write_region("Attention weights as a table", table, "bv-table bv-cells")
