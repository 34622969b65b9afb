"""A page that outlives the process that drew it."""

from __future__ import annotations

import streamlit as st

_DAY_S = 86_400


@st.fragment(run_every=_DAY_S)
def run_anew_on_reconnect() -> None:
    """Have the browser ask for a full run whenever it connects again; draws nothing.

    Streamlit's own page asks for one only where a fragment runs by itself. Without, a process that takes over knows
    none of the page's fragments, and passes over every click in them.
    """
