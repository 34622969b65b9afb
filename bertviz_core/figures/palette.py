"""Colours: one per kind of vector, the same in formulas, charts and text; and the two scales for heat maps.

From the Okabe-Ito set, darkened (light theme) or lightened (dark theme) until text in them has a contrast of 4.5 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

LIGHT, DARK = "light", "dark"


@dataclass(frozen=True)
class Palette:
    """The colours of one theme. kinds: by kind of vector; signed, share: colour scales from low to high.

    cells: by kind, of a cell as large as its scale goes; negative: of one as far below 0; surface, paper: of panels and
    of the page behind them; notice: of the line that says what was changed.
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
    signed: tuple[tuple[float, str], ...]
    share: tuple[tuple[float, str], ...]
    segments: tuple[str, str]

    @property
    def zero(self) -> str:
        """Of a cell that is 0, and of the track behind a bar, as long as the scale: nearly the surface."""
        return self.share[0][1]

    def shade(self, kind: str) -> tuple[tuple[float, str], ...]:
        """A signed scale from grey below 0 to a kind's own colour above it."""
        return (0.0, self.faint), (0.5, self.zero), (1.0, self.kinds[kind])


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
        signed=((0.0, "#7A4206"), (0.25, "#D5A55B"), (0.5, "#F0EFEB"), (0.75, "#5DB3A6"), (1.0, "#00584F")),
        share=((0.0, "#F0EFEB"), (0.25, "#CFC2E0"), (0.6, "#9579BC"), (1.0, "#66449C")),
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
        signed=((0.0, "#FFC57A"), (0.25, "#A8742F"), (0.5, "#1C2027"), (0.75, "#2E8F83"), (1.0, "#7FF0DF")),
        share=((0.0, "#1C2027"), (0.25, "#47366B"), (0.6, "#8465C4"), (1.0, "#D9C7FF")),
        segments=("#2A2438", "#1D2F2A"),
    ),
}  # fmt: skip


def choose_palette(theme: str | None) -> Palette:
    """The colours of a theme; light where the theme is not known."""
    return PALETTES.get(theme or LIGHT, PALETTES[LIGHT])
