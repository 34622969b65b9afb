"""The colours of a theme as the components are given them."""

from __future__ import annotations

from bertviz_core.figures.palette import Palette


def list_colors(palette: Palette) -> dict[str, str]:
    """The theme's colours, by the names that the components' styles give them."""
    first, second = palette.segments
    return {
        "text": palette.text,
        "faint": palette.faint,
        "line": palette.line,
        "surface": palette.surface,
        "accent": palette.kinds["attention"],
        "first": first,
        "second": second,
    }


def list_all_colors(palette: Palette) -> dict[str, object]:
    """The same, with those of cells: each kind of vector has one for its texts and one for its numbers."""
    return {
        **list_colors(palette),
        "paper": palette.paper,
        "zero": palette.zero,
        "negative": palette.negative,
        "kinds": {kind: [color, palette.cells[kind]] for kind, color in palette.kinds.items()},
    }
