"""Tables whose columns are the stages of a token's way, and small drawings in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels import table_html

STYLE = read_css(Path(__file__).with_name("layers_columns.css"))


def name_columns(view: View) -> list[str]:
    """The stages, as the ladder's columns are called."""
    return ["Embedding", *(f"Layer {i}" for i in range(view.trace.model.config.num_hidden_layers))]


def render_stages(view: View, corner: str, rows: Iterable[str]) -> str:
    """A table whose columns are the stages, the chosen layer's tinted. corner: what the rows are."""
    heads = "".join(f'<th scope="col"{_mark(view, i)}>{name}</th>' for i, name in enumerate(name_columns(view)))
    return table_html.write_table(f'<th scope="col"><span class="bv-hidden">{corner}</span></th>{heads}', rows)


def _mark(view: View, stage: int) -> str:
    return ' class="bv-at"' if stage == view.chosen.layer + 1 else ""


def render_row(view: View, name: str, cells: Sequence[str]) -> str:
    """One row of cells, as HTML."""
    return table_html.write_row(name, (f"<td{_mark(view, i)}>{cell}</td>" for i, cell in enumerate(cells)))
