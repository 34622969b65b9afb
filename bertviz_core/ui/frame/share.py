"""Sharing what is on screen: its link to copy, and as a code for the phones in a room."""

from __future__ import annotations

import io
from html import escape
from urllib.parse import urlencode

import segno
import streamlit as st

from bertviz_core.ui.frame import menu, state

_LONGEST_CODE = 1800  # characters; a code of more cannot be read from the back of a room


def show_menu() -> None:
    """A menu of the URL as it is when that is opened."""
    menu.show_menu("Share", "share", _show_link, icon=":material/ios_share:",
                   help="Copy the link, or show it as a code")  # fmt: skip


def _write_link() -> str:
    says = state.list_query()
    return f"{st.context.url or ''}" + (f"?{urlencode(says)}" if says else "")


def _show_link() -> None:
    link = _write_link()
    st.markdown("All that you see stands in this link: the sentence, the place, the changes, the explained number.")
    st.code(link, language=None, wrap_lines=True)
    if len(link) > _LONGEST_CODE:
        st.caption("The sentence is too long for a code that a phone could read.")
        return
    picture = io.BytesIO()
    segno.make(link, error="m").save(picture, kind="svg", scale=4, border=2, light="#fff", nl=False)
    st.image(picture.getvalue().decode(), width=240)
    st.html(f'<span class="bv-hidden">QR code of {escape(link)}</span>')
