"""Colours: one per kind of vector, the same in formulas, charts and text; and the two scales for heat maps.

From the Okabe-Ito set, darkened (light theme) or lightened (dark theme) until text in them has a contrast of 4.5 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass

LIGHT, DARK = "light", "dark"


@dataclass(frozen=True)
class Palette:
    """The colours of one theme. kinds: by kind of vector; signed, share: colour scales from low to high."""

    kinds: dict[str, str]
    text: str
    faint: str
    line: str
    surface: str
    signed: tuple[tuple[float, str], ...]
    share: tuple[tuple[float, str], ...]
    segments: tuple[str, str]


PALETTES = {
    LIGHT: Palette(
        kinds={
            "embedding": "#B02A6B", "query": "#0061A8", "key": "#B8430A", "value": "#00734F", "attention": "#7A3E9D",
            "residual": "#5F6368", "norm": "#0B6E84", "ffn": "#8A5F00", "prediction": "#1A1B22",
        },
        text="#1A1B22", faint="#5F6368", line="#D9D8E0", surface="#FFFFFF",
        signed=((0.0, "#7A4206"), (0.25, "#D5A55B"), (0.5, "#F7F6F3"), (0.75, "#5DB3A6"), (1.0, "#00584F")),
        share=((0.0, "#FAF8FC"), (0.25, "#D9C3EA"), (0.6, "#9A5FC0"), (1.0, "#3F1259")),
        segments=("#EFEAF6", "#E3F1EC"),
    ),
    DARK: Palette(
        kinds={
            "embedding": "#F2A0C4", "query": "#6CB8F0", "key": "#FF8F66", "value": "#4FD1A5", "attention": "#C9A0EE",
            "residual": "#A9B0B8", "norm": "#5CC9DC", "ffn": "#F0C04C", "prediction": "#F5F5F7",
        },
        text="#E9EAF0", faint="#A9B0B8", line="#3A3E4A", surface="#101218",
        signed=((0.0, "#FFC57A"), (0.25, "#A8742F"), (0.5, "#1C1F28"), (0.75, "#2E8F83"), (1.0, "#7FF0DF")),
        share=((0.0, "#171A22"), (0.25, "#4A2F66"), (0.6, "#9A63C7"), (1.0, "#F0DEFF")),
        segments=("#2A2438", "#1D2F2A"),
    ),
}  # fmt: skip


def choose_palette(theme: str | None) -> Palette:
    """The colours of a theme; light where the theme is not known."""
    return PALETTES.get(theme or LIGHT, PALETTES[LIGHT])
