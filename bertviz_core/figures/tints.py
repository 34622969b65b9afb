"""A signed number as the colour of its cell, and that of the text in it, where HTML and not a chart draws it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import mul

from PIL import ImageColor

from bertviz_core.figures.palette import Palette

_INKS = "#000000", "#FFFFFF"  # one of them has a contrast of 4.5 to whatever stands behind it


@dataclass(frozen=True)
class Tint:
    """back: of the cell; ink: of its text."""

    back: str
    ink: str


def tint_cell(part: float, kind: str, colors: Palette) -> Tint:
    """The colours of a number that is so large a part of its scale, from -1 to 1: a kind's own above 0, slate below."""
    back = mix(colors.zero, colors.cells[kind] if part > 0 else colors.negative, float(min(abs(part), 1.0)))
    return Tint(back, choose_ink(back))


def mix(one: str, other: str, part: float) -> str:
    """The colour on the way from one to another. part: of the way, 0 to 1."""
    ends = zip(_read_color(one), _read_color(other), strict=True)
    return "#" + bytes(round(first + part * (last - first)) for first, last in ends).hex()


@lru_cache(maxsize=1 << 12)
def choose_ink(back: str) -> str:
    """Black or white, whichever stands out more from a colour."""
    return max(_INKS, key=lambda ink: measure_contrast(ink, back))


def measure_contrast(one: str, other: str) -> float:
    """How much two colours stand out from each other, 1 to 21, as WCAG 2 defines it."""
    low, high = sorted(map(_measure_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _measure_luminance(color: str) -> float:
    channels = (channel / 255 for channel in _read_color(color))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels)
    return sum(map(mul, linear, (0.2126, 0.7152, 0.0722)))


@lru_cache(maxsize=1 << 8)
def _read_color(color: str) -> tuple[int, ...]:
    """Red, green and blue, 0 to 255."""
    return ImageColor.getrgb(color)
