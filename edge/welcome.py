"""What the terminal says to whoever starts the app."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st

from edge.guard import LOCAL
from edge.package import PACKAGE

_IS_CLONE = Path(__file__).parents[1] == PACKAGE.parent  # else installed, and the app lies inside the package
_OTHERS = (
    "BERTVIZ_MODELS=bundled streamlit run app.py --server.address=0.0.0.0"
    if _IS_CLONE
    else "bert-explorer --model bundled --address 0.0.0.0"
)


@asynccontextmanager
async def welcome(_app: st.App) -> AsyncIterator[None]:
    """Say who can open the app, and how to let others in."""
    if st.get_option("server.address") in LOCAL:
        sys.stderr.write(f"  Only this machine can open it. For others too, with the bundled model:\n  {_OTHERS}\n\n")
    yield
