"""The drawer: the one place of the app where a number is explained, beside what it was clicked in.

Its head says where one came from and what number it is, its foot what can be done with it; what lies between is by the
template of the number's formula. While nothing was clicked it explains the page's own number, where there is room.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from bertviz_core.analysis.parts import list_lit
from bertviz_core.analysis.targets import find_target
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import LONGEST_ADDRESS, Address, Where
from bertviz_core.tracing.hints import find_meant
from bertviz_core.ui.frame import choices, site, state, url
from bertviz_core.ui.frame.bar import NOTHING_BESIDE
from bertviz_core.ui.frame.findings import look_again
from bertviz_core.ui.frame.keys import ORIGIN_OF, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.lesson import KEPT, find_answer, find_proposed, is_coming, is_covered
from bertviz_core.ui.frame.overflow import kept_usable
from bertviz_core.ui.frame.told import Told, find_told, read_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.walked import LONGEST, find_other_page, is_cut, read_cell, read_walk
from bertviz_core.ui.frame.words import show_text
from bertviz_core.ui.walk.card import count_first, render_more
from bertviz_core.ui.walk.explain import Explained, work_out
from bertviz_core.ui.walk.rendering import render_head, render_lines, render_title, show_body, show_worked_out
from bertviz_core.ui.walk.table_file import write_table, write_told
from bertviz_core.ui.walk.templates.choosing import explain_number
from bertviz_core.ui.walk.way import is_cell, listen, render_crumbs
from bertviz_core.ui.walk.what_if_cell import describe_worked_out, show_button
from bertviz_core.ui.walk.worked_across import explain_across
from bertviz_core.ui.walk.worked_number import UnfinishedError, WorkedOut
from bertviz_core.ui.walk.worked_out import find_worked_out, name_worked_out

_ANOTHER = Key("another", "", LONGEST_ADDRESS)
_ORIGIN = "where_from"  # the page that takes answers apart


@st.fragment
def show_drawer(view: View) -> None:
    """Explain the number that was clicked last, or the page's own; and listen to what is clicked next.

    Everything is worked out before anything is sent: what arrives together, the browser draws at once.
    """
    choices.rerun_if_asked()
    covered = is_covered("drawer")
    walked = () if covered else read_walk()
    own = None if walked or covered else find_answer() or read_number(view.trace)
    proposed = find_proposed()
    way = walked or ((own,) if own else ())
    shown = _try(view, way[-1]) if way else None
    with st.container(key="drawer", gap=None):
        lit = list_lit(shown.found) if isinstance(shown, Explained) else []
        listen(view, (proposed,) if proposed else way, lit, own=own is not None or proposed is not None)
        if isinstance(shown, Explained):
            with kept_usable(view.trace):  # also where only the drawer runs
                _show(view, shown, way, own is not None)
        elif isinstance(shown, Told):
            _show_told(view, shown, way, own is not None)
            if isinstance(shown, WorkedOut) and shown.awaits and not shown.awaits.look().over:
                look_again("drawer")
        elif shown is not None:
            _show_refused(view, way, shown)
            if isinstance(shown, UnfinishedError):
                look_again("drawer")
        else:
            st.html(KEPT if is_coming() and read_number(view.trace) else NOTHING_BESIDE)
        if is_cut():
            st.caption(f"This link holds more than the {LONGEST} numbers that a walk may have. The rest was left out.")
    url.publish()


def _try(view: View, cell: Where) -> Explained | Told | AddressError:
    """What a URL asks to be explained, or why it cannot be."""
    elsewhere = find_other_page(url.read_page(), cell)
    if elsewhere:
        title = site.get_page(elsewhere).title
        return AddressError(f"{cell} is a number of the page {title}, of a step that was taken there.")
    try:
        return find_told(cell) or find_worked_out(view, cell) or explain_across(view, cell) or work_out(view, cell)
    except AddressError as error:
        return error


def _show(view: View, shown: Explained, way: tuple[Where, ...], own: bool) -> None:
    why = shown.why
    steps = tuple((i, cell) for i, cell in enumerate(way[:-1], 1) if is_cell(cell, view.trace))
    card = explain_number(view, why, shown.found, steps)
    st.html(render_head(view, shown, render_crumbs(view.trace, way, own)))
    _show_address_menu(why.address)
    if why.step is not None:
        _show_page_link(view, why.cell)
    with st.container(key="drawer-body"):
        show_body(view, shown, card)
    with st.container(horizontal=True, key="drawer-actions", gap=None):
        show_button(view, why)
        st.html(_render_copy(), width="content")
        _show_download(why.address, partial(write_table, shown))


def _show_page_link(view: View, cell: Address) -> None:
    """Beside the number's name: the page that shows its stage; on that page, the one that says where it comes from."""
    link, place = site.find_link(view.trace, cell), site.name_place(cell, view.chosen)
    page, label, query = link.page, f"{link.page.title} ›", {**place, **link.query}
    if page.name == url.read_page():
        target = find_target(view.trace, cell)
        if target is None:
            return
        page, label, query = site.get_page(_ORIGIN), "Where from ›", {**place, ORIGIN_OF: str(target)}
    with st.container(key="drawer-page"):
        site.show_link(page, label, query=query)


def _show_download(address: str, make: Callable[[], bytes]) -> None:
    """What the number was made from as a file, which is written only when it is asked for."""
    name = re.sub(r"\W+", "-", address).strip("-")
    st.download_button(
        "Download",
        data=make,
        file_name=f"{name}.csv",
        mime="text/csv",
        key="drawer-download",
        on_click="ignore",
        help="All that it was made from, with every digit (.csv)",
    )


def _show_refused(view: View, way: tuple[Where, ...], error: AddressError) -> None:
    """Why a number is not explained here, and the page that explains it, if there is one."""
    cell = way[-1]
    st.html(
        f"{render_crumbs(view.trace, way)}"
        '<h2 id="bv-drawer-title" tabindex="-1">This number cannot be explained here</h2>'
    )
    with st.container(key="drawer-body"), st.container(gap="small"):
        meant = _find_meant(view, cell)
        said = "There is no number at this address, but at one spelled like it." if meant else str(error)
        st.info(escape_markdown(said), icon=":material/info:")
        if meant:
            label = escape_markdown(f"Show {meant}")
            st.button(label, type="primary", on_click=choices.open_drawer, args=([*way[:-1], meant],))
        st.button("Back to the page’s number", on_click=choices.open_drawer, args=([],))
        elsewhere = find_other_page(url.read_page(), cell)
        if elsewhere:
            site.show_link(site.get_page(elsewhere), f"Page: {site.get_page(elsewhere).title}")
        _show_address_field(str(cell))


def _find_meant(view: View, cell: Where) -> Address | None:
    """The number whose address is spelled most like one that is in no pass."""
    trace = view.trace
    if not isinstance(cell, Address):
        return None
    of = cell.path.rpartition(".")[0] if name_worked_out(cell) else cell.path
    if of in trace.addresses:
        return None
    near = (Address(path).fix(**dict(cell.index)) for path in find_meant(cell.path, trace.addresses))
    return next((each for each in near if is_cell(each, trace)), None)


def _show_told(view: View, told: Told, way: tuple[Where, ...], own: bool) -> None:
    """A number that is in no pass, or that no step of it computes."""
    address = str(way[-1])
    unit = f" <small>{escape(told.unit)}</small>" if told.unit else ""
    value = f"<b>{escape(told.value)}</b>{unit}"
    st.html(render_crumbs(view.trace, way, own) + render_title(view, told.kind, told.name, value, address))
    _show_address_menu(address)
    with st.container(key="drawer-body"):
        if isinstance(told, WorkedOut):
            show_worked_out(view, told, describe_worked_out(view, way[-1]))
        else:
            _show_words(told)
    with st.container(horizontal=True, key="drawer-actions", gap=None):
        if told.act is not None:
            told.act()
        st.html(_render_copy(), width="content")
        _show_download(address, partial(write_told, told, address))


def _show_words(told: Told) -> None:
    show_text(told.words)
    st.html(render_lines(told.formulas))
    if told.draw is not None:
        with st.container(key="drawer-picture"):
            told.draw()
    st.html(_render_parts(told))
    if told.note:
        st.caption(told.note)


def _render_parts(told: Told) -> str:
    """What the number was made from, each part that has an address a step of the walk."""
    first = count_first(len(told.parts))
    looks = [" class=bv-late" * (i >= first) for i in range(len(told.parts))]
    rows = "".join(
        f"<tr{look}><td>{_render_part(name, address)}</td><td>{escape(value)}</td></tr>"
        for look, (name, value, address) in zip(looks, told.parts, strict=True)
    )
    more = render_more(len(told.parts) - first, 2)
    return f'<h3 class="bv-made">Made from</h3><table class="bv-operands"><tbody>{rows}{more}</tbody></table>'


def _render_part(name: str, address: str) -> str:
    return f'<button data-step="{escape(address)}">{escape(name)}</button>' if address else escape(name)


def _render_copy() -> str:
    return '<button class="bv-button" data-copy="link">Copy link</button>'


def _show_address_menu(address: str) -> None:
    """Behind a sign in the drawer's head: the address, to be copied, and a field for another one."""
    with st.container(key="drawer-address"), st.popover("Address", icon=":material/code:"):
        st.html(
            f'<code class="bv-address">{escape(address)}</code>'
            f'<button class="bv-button" data-copy="{escape(address)}">Copy address</button>'
        )
        _show_address_field(address)


def _show_address_field(cell: str) -> None:
    """A field for the address of any other number: the way to each cell without a pointer."""
    key = _ANOTHER.of(cell)

    def explain_another() -> None:
        text = state.read(key)
        if text != cell:  # the field of a drawer that was closed a moment ago still says its own cell
            choices.open_drawer([read_cell(text)])

    st.text_input(
        "Explain another number",
        cell,
        max_chars=key.longest,
        key=key.name,
        on_change=explain_another,
        help="The address of a cell: any tensor of the forward pass, with an index for each of its axes.",
    )
