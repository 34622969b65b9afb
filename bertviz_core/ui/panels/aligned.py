"""Rows of tokens with several numbers each, aligned in columns, bars beside the numbers that are to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.labels import is_numbered
from bertviz_core.formula.address import Address
from bertviz_core.formula.texts import write_count
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame.keys import KEY_TOKEN
from bertviz_core.ui.frame.style import render_token
from bertviz_core.ui.panels import table_html

_STYLE = read_css(Path(__file__).with_name("aligned.css"))


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column: its name and a line of what it is, what stands in every row, and the cell that a click there explains.

    values: where a bar is drawn beside each text, as long as its value, from 0; end: the value of a full bar, to either
    side if any is below 0; color: of the bars; ghosts: the values before a change, a thin line below each bar;
    pictures: drawn in place of texts, as data URLs.
    """

    name: str
    about: str
    texts: Sequence[str]
    cells: Sequence[Address]
    values: Sequence[float] = ()
    end: float = 1.0
    color: str = ""
    ghosts: Sequence[float] = ()
    pictures: Sequence[str] = ()

    def write(self) -> list[str]:
        """The column as HTML, cell by cell."""
        signed = any(value < 0 for value in (*self.values, *self.ghosts))
        both = zip(self.values, self.ghosts or [None] * len(self.values), strict=True)
        bars = [self._bar(value, ghost, signed) for value, ghost in both] or [""] * len(self.texts)
        drawn = [f'<img src="{picture}" alt="{escape(self.name)}">' for picture in self.pictures]
        inside = drawn or [escape(text) for text in self.texts]
        return [
            f'<td><div><button data-cell="{escape(str(cell))}">{shown}</button>{bar}</div></td>'
            for cell, shown, bar in zip(self.cells, inside, bars, strict=True)
        ]

    def _bar(self, value: float, ghost: float | None, signed: bool) -> str:
        color = "var(--bv-negative)" if value < 0 else self.color
        bar = f'<b style="{self._place(value, signed)};background:{color}"></b>' if value else ""
        if ghost is None:
            return f"<i>{bar}</i>"
        return f'<i class="bv-two">{bar}<u style="{self._place(ghost, signed)}"></u></i>'

    def _place(self, value: float, signed: bool) -> str:
        """From zero to a value, as parts of what a bar has."""
        part = min(abs(value) / self.end, 1.0) if self.end else 0.0
        whole, zero = (50.0, 50.0) if signed else (100.0, 0.0)
        left = zero - (part * whole if value < 0 else 0.0)
        return f"left:{left:.2f}%;width:{part * whole:.2f}%"


def show_rows(
    trace: Trace,
    what: str,
    tokens: Sequence[int],
    columns: Sequence[Numbers],
    chosen: int,
    first: Sequence[int] | None = None,
) -> None:
    """Show a row a token; a click on a token chooses it as the key.

    what: the name of the rows; chosen: the token whose row is marked; first: those that a low window shows beside it,
    the others when they are asked for.
    """
    st.html(_STYLE)
    names = (f"<b>{escape(column.name)}</b><br><small>{escape(column.about)}</small>" for column in columns)
    rows = zip(tokens, *(column.write() for column in columns), strict=True)
    late = [] if first is None else [i for i in tokens if i not in first and i != chosen]
    body = [
        table_html.write_row(
            _name(trace, i, i == chosen), cells, "bv-picked" if i == chosen else "bv-late" * (i in late)
        )
        for i, *cells in rows
    ]
    body += [_offer_more(len(late), 1 + len(columns))] if late else []
    table = table_html.write_table(table_html.write_heads((escape(what), *names)), body)
    numbered = " bv-numbered" * all(is_numbered(trace, i) for i in tokens)
    st.html(table_html.write_region(escape(f"Table by {what}"), table, f"bv-aligned{numbered}"))


def _offer_more(count: int, columns: int) -> str:
    offered = write_count(count, "more row")
    button = f'<button data-more="rows">{offered}</button>'
    return f'<tr class="bv-more"><td colspan="{columns}">{button}</td></tr>'


def _name(trace: Trace, token: int, marked: bool) -> str:
    does = f'data-choose="{KEY_TOKEN.name}={token}" aria-pressed="{str(marked).lower()}"'
    return render_token(trace, token, does=does, before=f"<small>{token}</small> " * is_numbered(trace, token))
