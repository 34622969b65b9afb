"""A signed number as the colour of its cell, and that of the text in it, where HTML and not a chart draws it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
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
    end = np.array(ImageColor.getrgb(colors.cells[kind] if part > 0 else colors.negative))
    zero = np.array(ImageColor.getrgb(colors.zero))
    back = "#" + bytes(np.rint(zero + min(abs(part), 1.0) * (end - zero)).astype(int).tolist()).hex()
    return Tint(back, max(_INKS, key=lambda ink: measure_contrast(ink, back)))


def measure_contrast(one: str, other: str) -> float:
    """How much two colours stand out from each other, 1 to 21, as WCAG 2 defines it."""
    low, high = sorted(map(_measure_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _measure_luminance(color: str) -> float:
    channels = np.array(ImageColor.getrgb(color)) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))
