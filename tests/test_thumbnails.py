"""Thumbnails: one pixel a cell, in the colours of the heat maps' scales."""

import base64
import io

import numpy as np
import pytest
from PIL import Image, ImageColor

from bertviz_core.figures.palette import GREY, PALETTES
from bertviz_core.figures.thumbnails import draw_thumbnail


def pixels(url):
    head, data = url.split(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


@pytest.mark.parametrize("theme", PALETTES)
def test_ends_and_middle_have_the_colours_of_the_scale(theme):
    colors = PALETTES[theme]
    values = np.array([[-2.0, 0.0, 2.0], [1.0, -1.0, 5.0]])
    drawn = pixels(draw_thumbnail(values, colors, "key", end=2.0))
    assert drawn.shape == (2, 3, 3)
    low, zero, high = (np.array(ImageColor.getrgb(c)) for c in (colors.negative, colors.zero, colors.cells["key"]))
    expected = np.array([[low, zero, high], [(zero + high) / 2, (zero + low) / 2, high]])
    assert np.abs(drawn - expected).max() <= 0.5


def test_probabilities_begin_at_zero():
    colors = PALETTES["light"]
    drawn = pixels(draw_thumbnail(np.array([[0.0, 0.5, 1.0]]), colors, "attention", share=True, end=1.0))
    zero, high = (np.array(ImageColor.getrgb(tint)) for tint in (colors.zero, colors.cells["attention"]))
    assert np.abs(drawn[0] - [zero, (zero + high) / 2, high]).max() <= 0.5


@pytest.mark.parametrize("kind", sorted(GREY))
def test_a_kind_that_is_grey_itself_has_what_is_above_nothing_over_what_is_below(kind):
    colors = PALETTES["light"]
    drawn = pixels(draw_thumbnail(np.array([[-1.0, 0.0, 1.0]]), colors, kind))
    low, zero, high = map(ImageColor.getrgb, (colors.negative, colors.zero, colors.cells[kind]))
    assert drawn.tolist() == [[list(zero), list(zero), list(high)], [list(low), list(zero), list(zero)]]


@pytest.mark.parametrize("end", [None, np.inf, np.nan, 3e38])
def test_numbers_that_overflow_have_the_colours_of_the_ends(end):
    """Of a pass in which somebody has put a number near the largest that there is."""
    colors = PALETTES["light"]
    values = np.array([[-np.inf, -3e38, 0.0, np.nan, 3e38, np.inf]], dtype=np.float32)
    low, zero, high = map(ImageColor.getrgb, (colors.negative, colors.zero, colors.cells["key"]))
    assert (
        np.abs(pixels(draw_thumbnail(values, colors, "key", end=end))[0] - [low, low, zero, zero, high, high]).max()
        <= 1
    )
