"""The frame around every page: sentence and selection above it, its neighbours below it, errors as sentences."""

from __future__ import annotations

from functools import partial

import streamlit as st

from bertviz_core.checkpoint.model import Model
from bertviz_core.errors import BertvizError, CheckpointError
from bertviz_core.tracing.changes import Changes
from bertviz_core.tracing.trace import Trace, encode
from bertviz_core.ui.frame import site, state, style, what_if
from bertviz_core.ui.frame.controls import Asked, show_place_controls, show_sentence_controls, show_token
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.preparation import Preparation, prepare
from bertviz_core.ui.frame.resources import BUNDLED, get_shelf, get_store
from bertviz_core.ui.frame.view import Selection, View
from bertviz_core.ui.frame.what_if import run_changes

_ICON = "bertviz_core/ui/frame/icon.png"


def run_app() -> None:
    """The whole app: one run of it answers one request of one session."""
    page = site.declare_pages()
    st.html(style.CSS)
    asked = show_sentence_controls()
    bar = st.container(horizontal=True, vertical_alignment="bottom", key="selection-bar")
    try:
        model = _load_model(asked.model)
        with bar:
            layer, head, position, remarks = show_place_controls(model.config)
        typed = encode(model, asked.text, asked.pair)
        preparation = prepare(model, typed, asked.pad, asked.mask)
        found = run_changes(
            _run_trace(model, asked, preparation), asked.changes, partial(_run_trace, model, asked, preparation)
        )
    except BertvizError as error:
        st.title(page.title, anchor=False)
        _show_error(error, asked.model)
    else:
        with bar:
            chosen = Selection(layer, head, show_token(found.shown, position, remarks))
            what_if.show_menu(found.after, chosen)
        what_if.show_bar(found, chosen.token)
        for remark in (*preparation.remarks, *remarks):
            st.info(remark, icon=":material/info:")
        state.keep_view(View(asked.text, asked.pair, typed, found, chosen, style.read_colors(), asked.notation))
        page.run()


def open_page(name: str, what_happens: str) -> View:
    """Open a page: its title and what happens there. Returns what to draw from."""
    view = state.read_view()
    if view is None:  # a deep link into a server that has just started: the page was run without the app around it
        st.set_page_config(page_icon=_ICON)  # otherwise the page's own icon, which the browser fetches elsewhere
        site.declare_pages()
        st.rerun()
    info = next(info for info in site.PAGES if info.name == name)
    _show_map(view, info)
    st.title(info.title, anchor=False)
    st.markdown(what_happens)
    if info.section != site.DOCUMENTS:
        return view
    if view.outcome.changed:
        st.caption("The documents are compared with BERT as it is: your changes are left out on this page.")
    return view.unchanged


def _show_map(view: View, here: site.PageInfo) -> None:
    """The pass as a thin line of stages with their shapes; a click goes there, the page's own place is marked."""
    pages = site.list_pages()
    with st.container(horizontal=True, key="pass-map"):
        for info in site.PAGES:
            where = info.find_shape(view.chosen.layer)
            if info.stage and where in view.trace:
                sizes = "×".join(str(size) for size in view.trace.shape(where))
                with st.container(key=f"stage-{'here' if info is here else info.name}", width="content"):
                    st.page_link(pages[info.name], label=f"{info.short} :small[{sizes}]")


def close_page(name: str) -> None:
    """Close a page: links to the ones before and after."""
    before, after = site.find_neighbours(name)
    pages = site.list_pages()
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        if before:
            st.page_link(pages[before.name], label=before.title, icon=":material/arrow_back:")
        if after:
            st.page_link(pages[after.name], label=after.title, icon=":material/arrow_forward:")


def _load_model(name: str) -> Model:
    with st.spinner("Loading the model …", show_time=True):
        return get_shelf().get(name)


def _run_trace(model: Model, asked: Asked, preparation: Preparation, changes: Changes | None = None) -> Trace:
    with st.spinner("Running the forward pass …"):
        return get_store().get(model, asked.text, asked.pair, preparation.pad_to, preparation.masked, changes=changes)


def _show_error(error: BertvizError, model: str) -> None:
    st.error(escape_markdown(str(error)), icon=":material/error:")
    if isinstance(error, CheckpointError):
        with st.container(horizontal=True):
            st.button("Try again", on_click=get_shelf().forget_failure, args=(model,))
            st.button("Use the bundled model", on_click=state.choose_model, args=(BUNDLED,))
