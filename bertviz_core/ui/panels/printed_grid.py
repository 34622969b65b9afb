"""Printed numbers in a grid as their document has them, with the computed ones and a verdict under each."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from bertviz_core.analysis.printed import Verdict
from bertviz_core.ui.panels import table_html

_SIGNS = {
    Verdict.SAME: "✓", Verdict.CUT: "✓ cut off", Verdict.NEAR: "≈ digit", Verdict.SINGLE: "≈ rounding",
    Verdict.DIFFERS: "✗",
}  # fmt: skip
KEY = (
    "In each cell: the printed number; the computed one; whether they agree, and their difference. ✓: same digits; "
    "≈: off by one in the last digit, or by single-precision rounding; ✗, framed: a different number."
)


def render_grid(
    what: str,
    rows: Sequence[str],
    columns: Sequence[str],
    printed: Sequence[Sequence[str]],
    computed: np.ndarray | None = None,
    verdicts: Sequence[Sequence[Verdict]] | None = None,
) -> str:
    """A table as HTML; what differs is framed. what: the name of the rows."""
    heads = table_html.write_heads(map(escape, (what, *columns)))
    lines: list[str] = []
    for i, (name, texts) in enumerate(zip(rows, printed, strict=True)):
        cells = (
            _render_cell(
                text, None if computed is None else float(computed[i, j]), verdicts[i][j] if verdicts else None
            )
            for j, text in enumerate(texts)
        )
        lines.append(table_html.write_row(escape(name), cells))
    return table_html.write_region(escape(f"Table by {what}"), table_html.write_table(heads, lines))


def _render_cell(text: str, value: float | None, verdict: Verdict | None) -> str:
    if value is None or verdict is None:
        return f"<td>{set_minus(text)}</td>"
    frame = " class=bv-chosen" if verdict is Verdict.DIFFERS else ""
    ours = f"{value:.6e}" if "e" in text else f"{value:.6f}"
    note = f"{_SIGNS[verdict]} {abs(float(text) - value):.0e}"
    return f"<td{frame}>{set_minus(text)}<br>{set_minus(ours)}<br><small>{set_minus(note)}</small></td>"


def set_minus(text: str) -> str:
    """A true minus for every hyphen of a number."""
    return text.replace("-", "\N{MINUS SIGN}")
