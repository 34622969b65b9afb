"""The menu of pages: two columns, a line a page, with the numbers of this pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from bertviz_core.documents import DOCUMENTS
from bertviz_core.formula.numbers import write_size
from bertviz_core.formula.texts import write_count
from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.ui.frame import example, site, state
from bertviz_core.ui.frame.keys import VIEW
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.lesson import is_covered
from bertviz_core.ui.frame.view import View

_COLUMNS = ("Follow the pass", "Two passes"), ("The whole model", "Read and run")  # the sections in each


def list_pages() -> None:
    """Links to all pages, in their sections."""
    view = state.read(VIEW)
    numbers = count(view) if view and not is_covered("tokens") else None
    with st.container(key="page-list", horizontal=True, gap=None):
        for column in _COLUMNS:
            with st.container(gap=None, width="stretch"):
                for section in column:
                    _show_section(section, [info for info in site.PAGES if info.section == section], numbers)


def _show_section(section: str, pages: Sequence[site.PageInfo], numbers: Mapping[str, str] | None) -> None:
    st.caption(section)
    queries = example.list_queries([info.name for info in pages])
    for info in pages:
        line = escape_markdown(info.line.format_map(numbers)) if numbers else ""
        with st.container(key=f"page-of-{info.name}", gap=None):
            site.show_link(info, f"{info.title} *{line}*" if line else info.title, says=queries[info.name])


def count(view: View) -> Mapping[str, str]:
    """The numbers that the lines of pages name."""
    trace = view.trace
    config = trace.model.config
    all_heads = config.num_hidden_layers * config.num_attention_heads
    numbers = {
        "tokens": len(view.typed),
        "hidden": config.hidden_size,
        "neurons": config.intermediate_size,
        "documents": len(DOCUMENTS),
        "lessons": len(LESSONS),
    }
    return {
        **{name: f"{number:,}" for name, number in numbers.items()},
        "heads": write_count(config.num_attention_heads, "head"),
        "every_head": f"each of {all_heads:,} heads" if all_heads > 1 else "the only head",
        "parameters": write_size(trace.model.parameter_count),
    }
