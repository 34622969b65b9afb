"""A card: what every picture of the app stands in. Its head says what is seen, a line below by which formula."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.figures.printed import FONT, ONE_COLUMN, TWO_COLUMNS
from bertviz_core.formula.address import Address, Where
from bertviz_core.ui.frame.lesson import cover, is_covered
from bertviz_core.ui.frame.menu import show_menu
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.words import render_text
from bertviz_core.ui.panels.formula_line import show_formula, show_letters

_SIZES = (6.0, FONT, 8.0, 9.0, 10.0)  # points of the letters of a picture for a paper
_PLACE = re.compile(r"(\b(?:layer|head|query|key|token)[ .]?|=)\d+")


def leave_place_out(name: str) -> str:
    """A name of a part of the page without the layer, head and token that it shows: it stays the same one, with what
    the browser has drawn of it, when it shows another place."""
    return _PLACE.sub(r"\1", name)


@dataclass(frozen=True)
class Heading:
    """What a card says of its picture.

    see: a title that says what to see; says: one plain sentence beside it; formula: LaTeX in symbols, by which the
    numbers came about; source: where that is printed, or what it cost where the app works something out itself; worked:
    the cell that a click on the formula opens in the drawer, which is the page's own number if it is the first offered;
    numbers: LaTeX of the formula with its numbers, of what is no step's, in the menu of the code; drawn: the addresses
    or the definition of what is drawn, where that is another number than what it is about: below a saved picture.
    """

    see: str
    says: str = ""
    formula: str = ""
    source: str = ""
    worked: Address | None = None
    numbers: str = ""
    drawn: str = ""


@contextmanager
def open_card(
    view: View,
    kind: str,
    heading: Heading | str,
    where: Where,
    shape: str = "",
    name: str = "",
    code: Callable[[], object] | None = None,
    chooses: bool = False,
) -> Generator[DeltaGenerator]:
    """A box with a head, and a line with the formula if it has one.

    kind: of vector, whose colour the card has; heading: a title alone will do; where: the addresses of what is shown;
    shape: of it, with names; name: of a card that stays the same one, with its focus, when it shows another place;
    code: draws more behind the sign of the code; chooses: a menu or a choice will stand among the signs of the head.
    Gives the place for the menu of values, among the signs of the head.
    """
    told = Heading(heading) if isinstance(heading, str) else heading
    key = leave_place_out(f"{name or where}-{told.see}")
    color = view.colors.kinds.get(kind, view.colors.faint)
    covered = is_covered(str(where))
    with cover(str(where)) if covered else nullcontext(), st.container(border=True, key=f"panel-{key}", gap=None):
        with st.container(horizontal=True, gap=None, wrap=False, key=f"card-head-{'chooses-' * chooses}{key}"):
            st.html(_render_head(told, f"{where}  {shape}".strip(), color))
            tools = st.container(horizontal=True, width="content", gap=None, wrap=False)
        if told.formula:
            show_formula(told.formula, key, view.trace.program, told.source, told.worked)
        if told.worked and not covered:
            offer_number(told.worked)
        yield tools
        with tools:  # the last sign of all, behind those that were put there meanwhile
            show_menu(
                "Address and code",
                f"code-{key}",
                partial(_show_about, view, told, str(where), shape, code),
                icon=":material/code:",
                help="Address and code",
            )


def _render_head(told: Heading, where: str, color: str) -> str:
    of = escape(where)
    drawn = f' data-drawn="{escape(told.drawn)}"' if told.drawn else ""
    pictures = render_pictures(f'data-address="{of}"{drawn}')
    says = f'<span class="bv-says">{render_text(told.says)}</span>' if told.says else ""
    return (
        f'<div class="bv-panel-title" data-of="{of}" style="--kind:{color}">'
        f'<span class="bv-said"><b>{escape(told.see)}</b>{says}</span><span class="bv-icons">'
        f'<button class="bv-icon" data-copy="link" title="Copy the link" aria-label="Copy the link">{_sign("link")}'
        '</button><details class="bv-save"><summary class="bv-icon" title="Save the picture" '
        f'aria-label="Save the picture">{_sign("image")}</summary><span>{pictures}</span></details></span></div>'
    )


def render_pictures(of: str, *, sized: bool = True) -> str:
    """Buttons that save a picture: as it is on screen, and as wide as one or two columns of a paper.

    of: attributes that say of what; sized: it is laid out for a paper with letters that can be chosen.
    """
    plain = "".join(f'<button data-save="{kind}" {of}>{kind.upper()}</button>' for kind in ("svg", "pdf", "png"))
    columns = "".join(
        f'<button data-save="{kind}" data-width="{wide:g}" {of}>{kind.upper()}, {wide:g} mm</button>'
        for wide in (ONE_COLUMN, TWO_COLUMNS)
        for kind in ("svg", "pdf")
    )
    sizes = "".join(f"<option{' selected' if size == FONT else ''}>{size:g}</option>" for size in _SIZES)
    letters = f"<label>with letters of <select data-letters>{sizes}</select> pt</label>" if sized else ""
    return f"{plain}{columns}{letters}"


def _sign(name: str) -> str:
    """An icon of the font of Streamlit's own."""
    return f'<span class="bv-sign" aria-hidden="true">{name}</span>'


def _show_about(view: View, told: Heading, where: str, shape: str, code: Callable[[], object] | None) -> None:
    """What stands behind the sign of the code: where the numbers are, how they come about, and what letters mean."""
    more = f" {escape(shape)}" if shape else ""
    worked = (
        f'<button class="bv-button" data-cell="{escape(str(told.worked))}">Worked with numbers ›</button>'
        if told.worked
        else ""
    )
    st.html(
        f'<code class="bv-address">{escape(where)}{more}</code><p class="bv-buttons">'
        f'<button class="bv-button" data-copy="{escape(where)}">Copy address</button>{worked}</p>'
    )
    if told.numbers:
        st.latex(told.numbers)
    if told.formula:
        show_letters(told.formula, view.trace.program)
    if told.source:
        st.markdown(f":small[:gray[{told.source}]]")
    if code is not None:
        code()
