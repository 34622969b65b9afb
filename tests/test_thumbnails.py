"""Thumbnails: one pixel a cell, in the colours of the heat maps' scales."""

import base64
import io

import numpy as np
import pytest
from PIL import Image, ImageColor

from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.thumbnails import draw_thumbnail


def pixels(url):
    head, data = url.split(",")
    assert head == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


@pytest.mark.parametrize("theme", PALETTES)
def test_ends_and_middle_have_the_colours_of_the_scale(theme):
    colors = PALETTES[theme]
    values = np.array([[-2.0, 0.0, 2.0], [1.0, -1.0, 5.0]])
    drawn = pixels(draw_thumbnail(values, colors, end=2.0))
    assert drawn.shape == (2, 3, 3)
    tints = dict(colors.signed)
    expected = {(0, 0): tints[0.0], (0, 1): tints[0.5], (0, 2): tints[1.0], (1, 0): tints[0.75], (1, 1): tints[0.25],
                (1, 2): tints[1.0]}  # fmt: skip
    assert {place: tuple(map(int, drawn[place])) for place in expected} == {
        place: ImageColor.getrgb(tint) for place, tint in expected.items()
    }


def test_probabilities_begin_at_zero():
    colors = PALETTES["light"]
    drawn = pixels(draw_thumbnail(np.array([[0.0, 0.6, 1.0]]), colors, share=True, end=1.0))
    tints = dict(colors.share)
    assert [tuple(map(int, pixel)) for pixel in drawn[0]] == [ImageColor.getrgb(tints[at]) for at in (0.0, 0.6, 1.0)]


def test_signed_numbers_of_a_kind_have_its_colour_above_nothing_and_grey_below():
    colors = PALETTES["light"]
    drawn = pixels(draw_thumbnail(np.array([[-1.0, 0.0, 1.0]]), colors, kind="key"))[0]
    tints = (colors.faint, colors.share[0][1], colors.kinds["key"])
    assert [tuple(map(int, pixel)) for pixel in drawn] == [ImageColor.getrgb(tint) for tint in tints]
