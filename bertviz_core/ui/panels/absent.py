"""What a checkpoint does not have."""

from __future__ import annotations

import streamlit as st

from bertviz_core.ui.frame.view import View


def note_absent_heads(view: View) -> None:
    """Say which heads this checkpoint does not have."""
    absent = view.trace.model.absent_heads
    if absent:
        st.caption(f"This checkpoint has no {' and no '.join(absent)}; its forward pass lacks those steps.")
