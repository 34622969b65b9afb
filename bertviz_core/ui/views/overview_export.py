"""The whole pass to take away: as a notebook and as a script, written when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BufferedReader
from pathlib import Path

import streamlit as st

from bertviz_core.checkpoint.hub import BUNDLED, BUNDLED_FOLDER
from bertviz_core.checkpoint.weights import WEIGHTS
from bertviz_core.documents import find_title
from bertviz_core.export.ipynb import write_ipynb
from bertviz_core.export.script import write_script
from bertviz_core.programs import PROGRAMS
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import render_pictures


def show_export(view: View) -> None:
    """A box with the pass on this sentence as .ipynb and .py, and the bundled model's weights."""
    model = view.trace.model
    with st.container(border=True, key="run-this-yourself"):
        st.markdown("## Run this yourself")
        st.markdown(
            "The whole forward pass on your sentence in plain PyTorch, without this app: every step with its formula, "
            "code and shape, as in BERT or as in one of the documents. The notebook's last "
            "cell compares each tensor with the one recorded here."
        )
        name = st.selectbox("Formulas", list(PROGRAMS), key="export-program", format_func=find_title, width=320)
        maker = partial(view.run_as, name or view.trace.program.name, get_store())
        with st.container(horizontal=True):
            _show_download(
                "Notebook (.ipynb)", partial(_write, write_ipynb, maker), f"{name}.ipynb", "application/x-ipynb+json"
            )
            _show_download("Script (.py)", partial(_write, write_script, maker), f"{name}.py", "text/x-python")
            if model.name == BUNDLED:
                _show_download(
                    f"Weights ({_measure(BUNDLED_FOLDER / WEIGHTS)} MB)",
                    _open_weights,
                    WEIGHTS,
                    "application/octet-stream",
                )
        st.caption(_describe(view))
        pictures = render_pictures('data-of="canvas" data-title="The whole pass"', sized=False).replace(
            "<button", '<button class="bv-button"'
        )
        st.html(f'<p class="bv-buttons">The picture above, as it stands: {pictures}</p>')


def _describe(view: View) -> str:
    if view.trace.model.name == BUNDLED:
        where = f"Both read `{WEIGHTS}`: save the weights in the same folder. Both need"
    else:
        where = (
            "The notebook reads the folder that you named, or downloads the model from the Hugging Face hub with "
            f"`huggingface_hub`. The script reads `{WEIGHTS}`: put the model's weights beside it. Besides, both need"
        )
    return f"{where} `torch` and `safetensors`, nothing else."


def _show_download(label: str, make: Callable[[], bytes | BufferedReader], file: str, mime: str) -> None:
    st.download_button(
        label, data=make, file_name=file, mime=mime, key=f"export-{mime}", on_click="ignore", icon=":material/download:"
    )


def _write(write: Callable[[Trace], str], trace: Callable[[], Trace]) -> bytes:
    return write(trace()).encode("utf-8")


def _open_weights() -> BufferedReader:
    return (BUNDLED_FOLDER / WEIGHTS).open("rb")


def _measure(file: Path) -> int:
    return round(file.stat().st_size / 1e6)
