"""Sharing what is on screen: its link to copy, and as a code for the phones in a room."""

from __future__ import annotations

import io
from html import escape
from urllib.parse import urlencode

import segno
import streamlit as st

from bertviz_core.ui.frame import state

_LONGEST_CODE = 1800  # characters; a code of more cannot be read from the back of a room


@st.fragment
def show_menu() -> None:
    """A menu whose contents are made when it is opened, of the URL as it is then."""
    menu = st.popover("Share", icon=":material/ios_share:", key="share", on_change="rerun", type="tertiary",
                      help="Copy the link, or show it as a code")  # fmt: skip
    if menu.open:
        with menu:
            _show_link(_write_link())


def _write_link() -> str:
    says = state.list_query()
    return f"{st.context.url or ''}" + (f"?{urlencode(says)}" if says else "")


def _show_link(link: str) -> None:
    st.markdown("All that you see stands in this link: the sentence, the place, the changes, the explained number.")
    st.code(link, language=None, wrap_lines=True)
    if len(link) > _LONGEST_CODE:
        st.caption("The sentence is too long for a code that a phone could read.")
        return
    picture = io.BytesIO()
    segno.make(link, error="m").save(picture, kind="svg", scale=4, border=2, light="#fff", nl=False)
    st.image(picture.getvalue().decode(), width=240)
    st.html(f'<span class="bv-hidden">QR code of {escape(link)}</span>')
