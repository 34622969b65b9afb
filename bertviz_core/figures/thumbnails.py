"""Small pictures of matrices, one pixel a cell, for places where a whole chart would be too much."""

from __future__ import annotations

import base64
import io

import numpy as np
from PIL import Image, ImageColor

from bertviz_core.figures.palette import Palette


def draw_thumbnail(
    values: np.ndarray, colors: Palette, *, share: bool = False, end: float | None = None, kind: str = ""
) -> str:
    """A matrix as a PNG in a data URL, on the heat maps' colour scales: signed from -end to end, or from 0.

    kind: of vector, whose colour signed numbers above 0 have, if not that of all.
    """
    limit = float(end if end is not None else np.abs(values).max(initial=0.0)) or 1.0
    low = 0.0 if share else -limit
    place = np.clip((values - low) / (limit - low), 0.0, 1.0)
    stops, tints = zip(*_choose_scale(colors, share, kind), strict=True)
    channels = np.array([ImageColor.getrgb(tint) for tint in tints], dtype=float).T
    pixels = np.stack([np.interp(place, stops, channel) for channel in channels], axis=-1).round().astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def _choose_scale(colors: Palette, share: bool, kind: str) -> tuple[tuple[float, str], ...]:
    if share:
        return colors.share
    return colors.shade(kind) if kind else colors.signed
