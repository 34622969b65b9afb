"""Tables whose columns are the stages of a token's way, and small drawings in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.view import View

STYLE = read_css(Path(__file__).with_name("layers_columns.css"))


def name_columns(view: View) -> list[str]:
    """The stages, as the ladder's columns are called."""
    return ["Embedding", *(f"Layer {i}" for i in range(view.trace.model.config.num_hidden_layers))]


def render_head(view: View, corner: str) -> str:
    """The stages as a table's columns, the chosen layer's tinted. corner: what the rows are."""
    cells = "".join(f'<th scope="col"{_mark(view, i)}>{name}</th>' for i, name in enumerate(name_columns(view)))
    return f'<thead><tr><th scope="col"><span class="bv-hidden">{corner}</span></th>{cells}</tr></thead>'


def _mark(view: View, stage: int) -> str:
    return ' class="bv-at"' if stage == view.chosen.layer + 1 else ""


def render_row(view: View, name: str, cells: Sequence[str]) -> str:
    """One row of cells, as HTML."""
    inside = "".join(f"<td{_mark(view, i)}>{cell}</td>" for i, cell in enumerate(cells))
    return f'<tr><th scope="row">{name}</th>{inside}</tr>'
