"""What the drawer's small pictures are drawn with: shapes and texts of SVG, with classes of the style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH = 372  # pixels between the drawer's margins
LETTER = 6.6  # pixels of a small letter, at most


def make_svg(height: int, body: Sequence[str], label: str) -> str:
    """A picture of the drawer's width. label: what it shows, for who does not see it."""
    return (
        f'<svg class="bv-picture" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">'
        f"{''.join(body)}</svg>"
    )


def draw_rect(x: float, y: float, width: float, height: float, look: str) -> str:
    """A rectangle. look: its class."""
    return f'<rect class="{look}" x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}" rx="1.5"/>'


def draw_line(x0: float, y0: float, x1: float, y1: float, look: str) -> str:
    """A straight line from one point to another."""
    return f'<path class="{look}" d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>'


def write_text(x: float, y: float, text: str, look: str) -> str:
    """A text beside a point on its line."""
    return f'<text class="{look}" x="{x:.1f}" y="{y:g}">{escape(text)}</text>'


def fit(text: str, width: float) -> str:
    """As much of a text as so many pixels have room for."""
    longest = int(width / LETTER)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
