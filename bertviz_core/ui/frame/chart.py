"""A chart on screen: the one place that hands charts to Streamlit."""

from __future__ import annotations

import streamlit as st

from bertviz_core.figures.base import Chart, to_plotly

_CONFIG = {"displayModeBar": False, "scrollZoom": False}  # the wheel moves the page, over a turning map too


def show_chart(chart: Chart, key: str, alt: str) -> None:
    """A chart as it stands everywhere. alt: what it shows, for those who cannot see it."""
    st.plotly_chart(  # pyright: ignore[reportUnknownMemberType] - it names a type of Matplotlib, which is not installed
        to_plotly(chart), theme=None, key=f"chart-{key}", config=_CONFIG, alt=alt
    )
