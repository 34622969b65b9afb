"""Sharing what is on screen: its link to copy, and as a code for the phones in a room."""

from __future__ import annotations

import io
from html import escape
from urllib.parse import urlencode

import segno
import streamlit as st

from bertviz_core.checkpoint.hub import BUNDLED, find_folder
from bertviz_core.ui.frame import menu, state
from bertviz_core.ui.frame.keys import AGAINST, MODEL
from bertviz_core.ui.frame.labels import quote
from bertviz_core.ui.frame.link import list_whole_query
from bertviz_core.ui.frame.resources import OWN, has_model

_LONGEST_CODE = 1800  # characters; a code of more cannot be read from the back of a room


def show_share() -> None:
    """A menu of the URL as it is when that is opened."""
    menu.show_menu(
        "Share", "share", _show_link, icon=":material/ios_share:", help="Copy the link, or show it as a code"
    )


def _write_link() -> str:
    return f"{st.context.url or ''}?{urlencode(list_whole_query())}"


def _tell_limits() -> list[str]:
    """Where the link does not lead to the models whose passes are on screen, as Markdown."""
    named = [name for name in dict.fromkeys((state.read(MODEL), state.read(AGAINST))) if name]
    own = [name for name in named if name.startswith(OWN)]
    said = (
        [
            f"{' and '.join(map(quote, own))}: trained here, and gone when this visit ends. Others find an error "
            "instead. They can train it again on the page Training, where you can also download its weights for them."
        ]
        if own
        else []
    )
    # Only of a model that is here: whoever asks for another one learns nothing about folders.
    folders = [name for name in named if name not in (*own, BUNDLED) and has_model(name) and find_folder(name)]
    return said + [f"{quote(name)} is a folder where this app runs: the link works only there." for name in folders]


def _show_link() -> None:
    _show_code()
    st.html('<button class="bv-button" data-present="page">Present this page, one panel a screen (P)</button>')


def _show_code() -> None:
    """The link, what it leads to, and its code."""
    limits = _tell_limits()
    what = "All that you see stands" if not limits else "All that you see but the model stands"
    st.markdown(f"{what} in this link: the sentence, the place, the changes, the explained number.")
    for limit in limits:
        st.warning(limit, icon=":material/warning:")
    show_code(_write_link())


def show_code(link: str) -> None:
    """A link to copy, and as a code for phones, if it is not too long for one."""
    st.code(link, language=None, wrap_lines=True)
    st.html(f'<button class="bv-button" data-copy="{escape(link)}">Copy link</button>')
    if len(link) > _LONGEST_CODE:
        st.caption("The link is too long for a code that a phone could read.")
        return
    picture = io.BytesIO()
    segno.make(link, error="m").save(picture, kind="svg", scale=4, border=2, light="#fff", nl=False)
    st.image(picture.getvalue().decode(), width=240)
    st.html(f'<span class="bv-hidden">QR code of {escape(link)}</span>')
