"""The cells of the notebook that print a tensor, each as a small picture of what it prints, to choose from."""

from __future__ import annotations

from functools import lru_cache
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis import notebook
from bertviz_core.documents.printed import TENSORS, PrintedTensor
from bertviz_core.figures.thumbnails import draw_thumbnail
from bertviz_core.formula.steps import Program
from bertviz_core.programs.bert import MOST_HEADS, write_bert
from bertviz_core.programs.config import BertConfig
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import site, state, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.view import View

_CELL = Key("cell", TENSORS[0].cell)
_STYLE = read_css(Path(__file__).with_name("notebook_cells.css"))


def read_chosen() -> PrintedTensor:
    """The printed tensor that is shown in full."""
    cells = [printed.cell for printed in TENSORS]
    url.bind(_CELL, cells)
    return TENSORS[cells.index(state.read(_CELL))]


def choose_printed(view: View, chosen: PrintedTensor) -> None:
    """Every cell that prints a tensor, in the notebook's order; the chosen one's page is a link away."""
    tiles = "".join(_render(view, printed, printed is chosen) for printed in TENSORS)
    st.html(f'{_STYLE}<div class="bv-printed" role="group" aria-label="Cells of the notebook">{tiles}</div>')


def show_page(printed: PrintedTensor) -> None:
    """The page on which our values of a printed tensor stand."""
    info = site.find_page(write_program().by_address[printed.address].stage)
    site.show_link(info, f"Our value: {info.title}", info.icon)


def _render(view: View, printed: PrintedTensor, pressed: bool) -> str:
    picture = draw_thumbnail(
        notebook.read_printed(printed), view.colors, write_program().by_address[printed.address].kind
    )
    does = f'data-choose="{_CELL.name}={printed.cell}" aria-pressed="{str(pressed).lower()}"'
    return (
        f'<button {does}><b>In [{printed.cell}]</b><img src="{picture}" alt="">'
        f"<small>{escape(printed.what)}</small></button>"
    )


@lru_cache(maxsize=1)
def write_program() -> Program:
    """BERT base with every head: formulas for addresses that the loaded model may not have."""
    return write_bert(BertConfig(), MOST_HEADS)
