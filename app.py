"""An interactive visual explorer of BERT: `streamlit run app.py`."""

import streamlit as st

st.set_page_config(page_title="BERT, every number", page_icon="bertviz_core/ui/frame/icon.png", layout="wide")

from bertviz_core.ui.frame import shell  # noqa: E402 - the page is configured before the slow imports, so that it paints first

shell.run_app()
