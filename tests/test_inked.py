"""Texts in the cells of a heat map: each can be read on its cell, and none is left to Plotly."""

import numpy as np
import pytest
from plotly.colors import sample_colorscale

from bertviz_core.figures.base import write_spec
from bertviz_core.figures.heatmap import Side, draw_heatmap
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.softmax import draw_all_scores

NUMBERS = np.linspace(-1, 1, 42).reshape(6, 7)


def luminance(color):
    """Of a colour such as rgb(1, 2, 3), as WCAG 2 defines it."""
    parts = [int(each) / 255 for each in color.strip("rgb()").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def read(color):
    return "rgb({}, {}, {})".format(*(int(color[i : i + 2], 16) for i in (1, 3, 5))) if color[0] == "#" else color


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("kind", PALETTES["light"].cells)
@pytest.mark.parametrize("share", [False, True])
def test_every_text_in_a_cell_has_a_contrast_of_4_5(theme, kind, share):
    numbers = np.abs(NUMBERS) if share else NUMBERS
    texts = [[f"{number:.2f}" for number in row] for row in numbers]
    side = Side("row"), Side("column")
    spec = write_spec(draw_heatmap(numbers, *side, PALETTES[theme], kind, share=share, end=1.0, texts=texts))
    (trace,) = spec["data"]
    assert "texttemplate" not in trace and "text" not in trace
    written = [each for each in spec["layout"]["annotations"] if each.get("yref") == "y"]
    assert [each["text"] for each in written] == [text for row in texts for text in row]
    scale = [[place, read(color)] for place, color in trace["colorscale"]]
    for each in written:
        number = numbers[int(each["y"]), int(each["x"])]
        part = (number - trace["zmin"]) / (trace["zmax"] - trace["zmin"])
        (back,) = sample_colorscale(scale, [float(part)])
        dark, light = sorted((luminance(read(each["font"]["color"])), luminance(back)))
        assert (light + 0.05) / (dark + 0.05) >= 4.45, (number, back)  # Plotly rounds the colour between


def test_a_text_of_no_number_is_left_out():
    numbers = np.array([[np.nan, 0.5]])
    spec = write_spec(draw_heatmap(numbers, Side("a"), Side("b"), PALETTES["light"], "key", texts=[["gone", "kept"]]))
    written = [each["text"] for each in spec["layout"]["annotations"] if each.get("yref") == "y"]
    assert written == ["kept"]


@pytest.mark.parametrize("theme", PALETTES)
def test_the_bars_behind_marked_scores_stand_out_from_the_card(theme):
    colors = PALETTES[theme]
    counts, edges = np.array([3, 1, 5]), np.linspace(-1, 1, 4)
    bars = write_spec(draw_all_scores(counts, edges, {"a": 0.9}, "a", colors, colors.text))["data"][0]["marker"]
    part = bars.get("opacity", 1.0)
    ground, over = (list(map(int, read(each).strip("rgb()").split(","))) for each in (colors.surface, bars["color"]))
    seen = [round(part * top + (1 - part) * below) for top, below in zip(over, ground, strict=True)]
    dark, light = sorted(map(luminance, ("rgb({}, {}, {})".format(*each) for each in (seen, ground))))
    assert (light + 0.05) / (dark + 0.05) >= 1.9
