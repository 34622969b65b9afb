"""What the terminal says to whoever starts the app."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from edge.guard import LOCAL


@asynccontextmanager
async def welcome(_app: st.App) -> AsyncIterator[None]:
    """Say who can open the app, and how to let others in."""
    if st.get_option("server.address") in LOCAL:
        sys.stderr.write(
            "  Only this machine can open it. For others too, with the bundled model:\n"
            "  BERTVIZ_MODELS=bundled streamlit run app.py --server.address=0.0.0.0\n\n"
        )
    yield
