"""Small pictures of matrices, one pixel a cell, for places where a whole chart would be too much."""

from __future__ import annotations

import base64
import io
import math

import numpy as np
from PIL import Image, ImageColor

from bertviz_core.figures.palette import GREY, Palette


def split_signs(values: np.ndarray) -> np.ndarray:
    """Every row as two, what is above 0 over what is below: of a kind that is grey itself, colours do not tell."""
    return np.stack([values.clip(min=0), values.clip(max=0)], axis=1).reshape(-1, values.shape[-1])


def draw_thumbnail(
    values: np.ndarray, colors: Palette, kind: str, *, share: bool = False, end: float | None = None
) -> str:
    """A matrix as a PNG in a data URL, on the heat maps' colour scales: signed from -end to end, or from 0.

    A signed row of a grey kind is two pixels high. What is not finite has the colour of an end, or of 0 if it is no
    number.
    """
    values = values.astype(np.float64)  # where no difference of two numbers of a pass overflows
    if end is None or not math.isfinite(end):
        end = float(np.abs(values).max(initial=0.0, where=np.isfinite(values)))
    limit = end or 1.0
    values = np.nan_to_num(values, posinf=limit, neginf=-limit)
    low = 0.0 if share else -limit
    if not share and kind in GREY:
        values = split_signs(values)
    place = np.clip((values - low) / (limit - low), 0.0, 1.0)
    stops, tints = zip(*colors.rise(kind) if share else colors.shade(kind), strict=True)
    channels = np.array([ImageColor.getrgb(tint) for tint in tints], dtype=float).T
    pixels = np.stack([np.interp(place, stops, channel) for channel in channels], axis=-1).round().astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
