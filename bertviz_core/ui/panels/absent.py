"""What a checkpoint does not have."""

from __future__ import annotations

import streamlit as st

from bertviz_core.formula.texts import join_words
from bertviz_core.ui.frame.view import View


def note_absent_heads(view: View) -> None:
    """Say which heads this checkpoint does not have."""
    absent = view.trace.model.absent_heads
    if absent:
        missing = join_words([f"no {head}" for head in absent])
        st.caption(f"This checkpoint has {missing}; its forward pass lacks those steps.")
