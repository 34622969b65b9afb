"""Charts of what a token takes: columns of bars and squares say what the numbers are."""

import re
from dataclasses import replace

import numpy as np

from bertviz_core.figures.base import write_spec
from bertviz_core.figures.head_sums import draw_head_sums
from bertviz_core.figures.methods import draw_methods
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.taken import BarColumn, draw_bar_columns, draw_taken_squares
from tests.test_figures import COLUMNS, HEAD_SUMS, SQUARES, WORDS

LIGHT = PALETTES["light"]


def test_columns_share_their_rows_and_print_every_number_there_is():
    chart = draw_bar_columns(WORDS, COLUMNS, LIGHT, last=True)
    texts = [one for one in chart.layout["annotations"] if one.get("yref") != "paper"]
    for i, column in enumerate(COLUMNS):
        assert np.array_equal(chart.traces[i]["x"], column.values.astype(np.float32), equal_nan=True)
        printed = {one["y"]: re.sub("</?b>", "", one["text"]) for one in texts[: len([t for t in column.texts if t])]}
        assert printed == {row: text for row, text in enumerate(column.texts) if text}
        texts = texts[len(printed) :]
    assert not texts and list(chart.traces[0]["meta"]) == COLUMNS[0].cells and "meta" not in chart.traces[1]
    first, second = (chart.layout[axis]["domain"] for axis in ("xaxis", "xaxis2"))
    assert 0 <= first[0] < first[1] <= second[0] < second[1] <= 1


def test_bars_have_a_third_of_what_columns_of_numbers_leave_them():
    texts = ["< 0.1", "3.16", "2.14", "\N{MINUS SIGN}0.7"]
    columns = [
        BarColumn(title, np.full(3, 0.5), [text] * 3, "#000000")
        for title, text in zip(("weight", "× length", "= taken", "of the sum"), texts, strict=True)
    ]
    layout = draw_bar_columns(["a", "b", "c"], columns, LIGHT).layout
    domains = [layout[f"xaxis{i or ''}"]["domain"] for i in ("", 2, 3, 4)]
    assert sum(end - start for start, end in domains) > 1 / 3


def test_what_each_head_adds_stands_behind_its_factors_and_has_bars_with_a_cell_each():
    offered = [f"L.share[head={i}]" for i in range(3)]
    chart = draw_head_sums(replace(HEAD_SUMS, offered=offered), WORDS, [2], LIGHT)
    domains = [chart.layout[axis]["domain"] for axis in ("xaxis", "xaxis2", "xaxis3", "xaxis4")]
    ends = [end for domain in domains for end in domain]
    assert ends == sorted(ends) and domains[3][1] - domains[3][0] > 0.2
    shares = chart.traces[-1]
    assert shares["name"] == "share" and shares["meta"] == offered


def test_a_squares_area_is_the_weight_and_the_filled_area_what_is_taken():
    outline, filled = draw_taken_squares(SQUARES, WORDS, 1, LIGHT).traces
    sides = [np.array(trace["marker"]["size"]).reshape(SQUARES.weights.shape) for trace in (outline, filled)]
    plain = sides[1] > 2  # those that are not drawn larger than they are, to be seen
    assert plain.sum() > 9 and np.allclose(sides[0] ** 2 / 17**2, SQUARES.weights, atol=0.01)
    lengths = SQUARES.taken / SQUARES.weights
    np.testing.assert_allclose((sides[1] / sides[0])[plain] ** 2, (lengths / lengths.max())[plain], atol=0.05)
    assert outline["meta"] == filled["meta"] == list(SQUARES.cells)


def test_long_tokens_leave_the_methods_rows_their_room():
    tokens = ["a", "telecommunications", "![a picture](http://example.org/x.png)"]
    spec = write_spec(draw_methods(np.ones((2, 3)), ["hidden", "parts"], tokens, ["", "0.50"], PALETTES["light"]))
    below = spec["layout"]["xaxis"]["ticktext"]
    assert below[0] == "a" and all(len(text) <= 12 for text in below) and below[1] == "telecommuni…"
