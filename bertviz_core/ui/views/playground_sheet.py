"""A matrix of an example that is edited by hand; the URL holds what was typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

import numpy as np
import streamlit as st

from bertviz_core.analysis import playground
from bertviz_core.figures.palette import Palette
from bertviz_core.figures.tints import tint_cell
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.labels import escape_markdown

_LONGEST = 24  # characters of a field
_STYLE = read_css(Path(__file__).with_name("playground_sheet.css"))


def write_typed(value: float) -> str:
    """A number as somebody types it, with no more digits than it has."""
    plain = f"{value:g}".replace("-", "−")
    return format_short(value) if "e" in plain else plain


@dataclass(frozen=True, eq=False)
class Sheet:
    """A matrix with its names.

    key: of its edits; field: of each of its fields, by row and column; what: its numbers, as a plural;
    original: as it is before any edit; rows, columns: what each is called in messages; whole: its numbers are whole,
    and only the original ones can be read; largest: number in size that is read; owner: whose the original is.
    """

    key: Key[str]
    field: Key[str]
    what: str
    original: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]
    whole: bool = False
    largest: float = playground.LARGEST
    owner: str = "the article's"

    def read(self) -> playground.Edited:
        """The matrix as it was edited."""
        url.bind(self.key)
        return self._apply(self._read_edits())

    def _read_edits(self) -> dict[tuple[int, int], str]:
        return playground.read_edits(state.read(self.key), self.original.shape)

    def _apply(self, edits: playground.Edits) -> playground.Edited:
        allowed = tuple(map(int, self.original.flat)) if self.whole else ()
        return playground.apply_edits(self.original, edits, allowed, self.largest)

    def show_status(self) -> None:
        """How much of it is edited, and the way back."""
        edits = self._read_edits()
        count, size = len(edits) - len(self._apply(edits).problems), self.original.size
        st.caption(f"Edited: {count} of {size} {self.what}. The URL keeps them.")
        st.button(
            f"Use {self.owner} numbers",
            icon=":material/restart_alt:",
            key=f"reset-{self.key.name}",
            on_click=lambda: state.write(self.key, ""),
            disabled=not edits,
        )

    def show_fields(self, row: int, labels: Sequence[str]) -> None:
        """The fields of one row, and what is wrong with any field of the matrix."""
        for column, (place, label) in enumerate(zip(st.columns(len(labels), gap="small"), labels, strict=True)):
            with place:
                self._show_field(row, column, label, "visible")
        self._explain_all()

    def show_grid(self, what: str, names: Sequence[str], labels: Sequence[str], colors: Palette) -> None:
        """The fields of all rows as a table whose cells have the colours of their numbers, and what is wrong with any.

        what: they are; names: of the rows, as HTML; labels: of the columns.
        """
        heads = "".join(f"<b>{escape(label)}</b>" for label in labels)
        st.html(f"{_STYLE}<style>{''.join(self._tint(colors))}</style>")
        with st.container(key=f"sheet-{self.key.name}", gap=None):
            st.html(f'<div class="bv-sheet"><span>{what}</span>{heads}</div>')
            for row, name in enumerate(names):
                st.html(name)
                for column in range(len(labels)):
                    self._show_field(row, column, f"{self.rows[row]}, {self.columns[column]}", "collapsed")
        self._explain_all()

    def _tint(self, colors: Palette) -> Iterator[str]:
        """Every field's colours, as those of a cell in a heat map."""
        scores = self.read().scores
        end = float(np.abs(scores).max()) or 1.0
        for (row, column), value in np.ndenumerate(scores):
            tint = tint_cell(float(value) / end, ATTENTION, colors)
            yield f".st-key-{self.field.of(row, column).name}{{--back:{tint.back};--ink:{tint.ink}}}"

    def _show_field(self, row: int, column: int, label: str, seen: Literal["visible", "collapsed"]) -> None:
        key = self.field.of(row, column)
        state.write(key, self._read_edits().get((row, column), self._write(row, column)))
        st.text_input(
            label,
            key=key.name,
            max_chars=_LONGEST,
            on_change=self._take,
            args=(row, column),
            label_visibility=seen,
        )

    def _explain_all(self) -> None:
        for where, problem in self._apply(self._read_edits()).problems.items():
            self._explain(where, problem)

    def _write(self, row: int, column: int) -> str:
        value = self.original[row, column]
        return str(int(value)) if self.whole else write_typed(value)

    def _take(self, row: int, column: int) -> None:
        """Keep what was typed in a cell; what stands there anyway is no edit."""
        edits = self._read_edits()
        typed = state.read(self.field.of(row, column))
        edits[row, column] = typed
        kept = self._apply({(row, column): typed})
        if not kept.problems and kept.scores[row, column] == self.original[row, column]:
            del edits[row, column]
        state.write(self.key, playground.write_edits(edits))

    def _explain(self, place: tuple[int, int], problem: str) -> None:
        row, column = place
        kept = self._write(row, column)
        st.warning(
            escape_markdown(
                f"{self.rows[row]}, {self.columns[column]}: {problem}; until then {self.owner} {kept} is used."
            ),
            icon=":material/edit:",
        )
