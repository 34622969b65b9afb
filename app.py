"""An interactive visual explorer of BERT: `streamlit run app.py`."""

import streamlit as st

st.set_page_config(page_title="BERT, every number", page_icon="bertviz_core/ui/frame/icon.png", layout="wide")

from bertviz_core.ui.frame import ready, shell  # noqa: E402 - configured before the slow imports, a page paints first
from bertviz_core.ui.walk.drawer import show_drawer  # noqa: E402

ready.prepare_process()
shell.run_app(show_drawer)
