"""The drawer: the one place of the app where a number that was clicked is explained, beside what it was clicked in."""

from __future__ import annotations

import time
from html import escape

import streamlit as st

from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.numbers import format_number
from bertviz_core.formula.steps import PARAMETER
from bertviz_core.ui.frame import choices, site, state, url
from bertviz_core.ui.frame.cell_names import shorten
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.told import Told, find_told
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.walked import find_other_page, read_cell, read_walk
from bertviz_core.ui.frame.words import show_text
from bertviz_core.ui.walk.explain import Explained, draw_operands, work_out
from bertviz_core.ui.walk.way import list_lit, listen, render_crumbs, render_onward
from bertviz_core.ui.walk.what_if_cell import show_menu

_ANOTHER = Key("another", "")
_HEAD_START_S = 0.06  # of the text before its chart: what reaches the browser with the chart waits until that is drawn


@st.fragment
def show_drawer(view: View) -> None:
    """Explain the number that was clicked last, if one is open; and listen to what is clicked next.

    Everything is worked out before anything is sent: what arrives together, the browser draws at once.
    """
    choices.rerun_if_asked()
    way = read_walk()
    shown = _try(view, way[-1]) if way else None
    with st.container(key="drawer", gap="small"):
        listen(view, way, list_lit(shown.found) if isinstance(shown, Explained) else [])
        if shown is not None:
            st.html(render_crumbs(view.trace, way))
            if isinstance(shown, Explained):
                _show(view, shown)
            elif isinstance(shown, Told):
                _show_told(view, shown, str(way[-1]))
            else:
                _show_refused(way[-1], shown)
    url.publish()


def _try(view: View, cell: Where) -> Explained | Told | AddressError:
    """What a URL asks to be explained, or why it cannot be."""
    elsewhere = find_other_page(url.read_page(), cell)
    if elsewhere:
        title = site.get_page(elsewhere).title
        return AddressError(f"{cell} is a number of the page {title}, of a step that was taken there.")
    try:
        return find_told(cell) or work_out(view, cell)
    except AddressError as error:
        return error


def _show_refused(cell: Where, error: AddressError) -> None:
    """Why a number is not explained here, and the page that explains it, if there is one."""
    st.html('<h2 id="bv-drawer-title" tabindex="-1">This number cannot be explained here</h2>')
    st.info(escape_markdown(str(error)), icon=":material/info:")
    elsewhere = find_other_page(url.read_page(), cell)
    if elsewhere:
        site.show_link(site.get_page(elsewhere), f"Page: {site.get_page(elsewhere).title}")
    _show_address_field(str(cell))


def _show(view: View, shown: Explained) -> None:
    """The value in words and the formula first; the chart is made and sent while the reader has them already."""
    why = shown.why
    st.html(_render_head(view, shown))
    if shown.words:
        st.markdown(shown.words)
    st.html(f'<code class="bv-address">{escape(why.address)}</code>')
    st.markdown(shown.text)
    picture = st.container(key="drawer-picture")
    st.html(render_onward(view.trace, view.colors, why, shown.found))
    with st.container(horizontal=True, key="drawer-actions"):
        show_menu(view, why)
        st.html(_render_copies(why.address), width="content")
        link = site.find_link(view.trace, why.cell) if why.step is not None else None
        if link:
            place = site.name_place(why.cell, view.chosen)
            site.show_link(link.page, f"Page: {link.page.title}", query={**place, **link.query})
    _show_address_field(why.address)
    if why.step is not None:
        time.sleep(_HEAD_START_S)
        with picture:
            draw_operands(view, "drawer", shown)


def _show_told(view: View, told: Told, address: str) -> None:
    """The same of a number that is in no pass."""
    st.html(_render_title(view, told.kind, told.name, told.value))
    show_text(told.words)
    st.html(f'<code class="bv-address">{escape(address)}</code>')
    for formula in told.formulas:
        st.latex(formula)
    if told.draw is not None:
        with st.container(key="drawer-picture"):
            told.draw()
    st.html(_render_parts(told))
    if told.note:
        st.caption(told.note)
    with st.container(horizontal=True, key="drawer-actions"):
        st.html(_render_copies(address), width="content")
    _show_address_field(address)


def _render_parts(told: Told) -> str:
    """What the number was made from, each part that has an address a step of the walk."""
    rows = "".join(
        f"<tr><td>{_render_part(name, address)}</td><td>{escape(value)}</td></tr>"
        for name, value, address in told.parts
    )
    return f'<div class="bv-onward"><table><caption>Made from</caption>{rows}</table></div>'


def _render_part(name: str, address: str) -> str:
    return f'<button data-step="{escape(address)}">{escape(name)}</button>' if address else escape(name)


def _render_head(view: View, shown: Explained) -> str:
    """What number it is, in the colour of its kind; and its value, large."""
    kind = shown.why.step.kind if shown.why.step else PARAMETER
    return _render_title(view, kind, _name(view, shown.why.cell), format_number(shown.why.value))


def _render_title(view: View, kind: str, name: str, value: str) -> str:
    color = view.colors.kinds.get(kind, view.colors.faint)
    return (
        f'<h2 id="bv-drawer-title" tabindex="-1" style="--kind:{color}">{escape(name)}</h2>'
        f'<p class="bv-value" style="color:{color}">{escape(value)}</p>'
    )


def _name(view: View, cell: Address) -> str:
    return shorten(view.trace, cell)


def _render_copies(address: str) -> str:
    return (
        f'<button class="bv-button" data-copy="{escape(address)}">Copy address</button>'
        '<button class="bv-button" data-copy="link">Copy link</button>'
    )


def _show_address_field(cell: str) -> None:
    """A field for the address of any other number: the way to each cell without a pointer."""
    key = _ANOTHER.of(cell)

    def explain_another() -> None:
        text = state.read(key)
        if text != cell:  # the field of a drawer that was closed a moment ago still says its own cell
            choices.open_drawer([read_cell(text)])

    st.text_input(
        "Explain another number", cell, key=key.name, on_change=explain_another,
        help="The address of a cell: any tensor of the forward pass, with an index for each of its axes.",
    )  # fmt: skip
