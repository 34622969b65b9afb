"""Colours: one per kind of vector, the same in formulas, charts and text; and the scales for heat maps.

From the Okabe-Ito set, darkened (light theme) or lightened (dark theme) until text in them has a contrast of 4.5 to 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LIGHT, DARK = "light", "dark"
GREY = frozenset({"residual", "prediction"})  # kinds whose hue hardly differs from that below 0
Scale = tuple[tuple[float, str], ...]  # colours from low to high, and where from 0 to 1 each stands


@dataclass(frozen=True)
class Palette:
    """The colours of one theme. kinds: by kind of vector, of texts and lines.

    cells: by kind, of a cell or bar as large as its scale goes; negative: of one as far below 0; zero: of one that is
    0, and of the track behind a bar, as long as the scale; surface, paper: of panels and of the page behind them;
    notice: of the line that says what was changed.
    """

    kinds: dict[str, str]
    cells: dict[str, str]
    negative: str
    text: str
    faint: str
    line: str
    surface: str
    paper: str
    notice: str
    zero: str
    segments: tuple[str, str]

    def shade(self, kind: str) -> Scale:
        """A signed scale from slate below 0 to a kind's own colour above it."""
        return (0.0, self.negative), (0.5, self.zero), (1.0, self.cells[kind])

    def rise(self, kind: str) -> Scale:
        """A scale from 0 up to a kind's own colour."""
        return (0.0, self.zero), (1.0, self.cells[kind])

    def ink(self, values: Iterable[float], color: str) -> list[str]:
        """Of bars, one a number: their own colour, or slate below 0."""
        return [self.negative if value < 0 else color for value in values]


PALETTES = {
    LIGHT: Palette(
        kinds={
            "embedding": "#A8437D", "query": "#0069A5", "key": "#B54F00", "value": "#00795A", "attention": "#66449C",
            "residual": "#5F656E", "norm": "#0E7082", "ffn": "#8A5D00", "prediction": "#1B1D21",
        },
        cells={
            "embedding": "#BE6497", "query": "#0072B2", "key": "#D55E00", "value": "#008A64", "attention": "#66449C",
            "residual": "#666C75", "norm": "#147E8E", "ffn": "#B87A00", "prediction": "#1B1D21",
        },
        negative="#484E5A",
        text="#1B1D21", faint="#5A6069", line="#DEDDD8", surface="#FFFFFF", paper="#FAFAF8", notice="#FFF7E0",
        zero="#F0EFEB",
        segments=("#EFEAF6", "#E3F1EC"),
    ),
    DARK: Palette(
        kinds={
            "embedding": "#E59AC6", "query": "#62B8EE", "key": "#FF9450", "value": "#3FCCA0", "attention": "#BB9FF5",
            "residual": "#A3AAB4", "norm": "#52C5D3", "ffn": "#F0B63A", "prediction": "#F2F3F5",
        },
        cells={
            "embedding": "#E59AC6", "query": "#56B4E9", "key": "#FF8A3D", "value": "#35C79B", "attention": "#BB9FF5",
            "residual": "#A3AAB4", "norm": "#52C5D3", "ffn": "#F0B63A", "prediction": "#F2F3F5",
        },
        negative="#6F7A8F",
        text="#F2F3F5", faint="#A3AAB4", line="#333842", surface="#171A20", paper="#0F1115", notice="#2B2615",
        zero="#1C2027",
        segments=("#2A2438", "#1D2F2A"),
    ),
}  # fmt: skip


def choose_palette(theme: str | None) -> Palette:
    """The colours of a theme; light where the theme is not known."""
    return PALETTES.get(theme or LIGHT, PALETTES[LIGHT])
