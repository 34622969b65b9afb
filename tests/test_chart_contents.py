"""What charts offer, mark and say is what they draw."""

import numpy as np
import pytest

from bertviz_core.figures.attention import draw_denominator
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.head_grid import draw_head_grid
from bertviz_core.figures.heatmap import Side, draw_heatmap
from tests.test_figures import CASES, INK, LIGHT, MATRIX, SHARE, SIDES, SIGNED, SIZE, WORDS, numbers


def test_what_a_chart_offers_is_part_of_it():
    cells = ["L.a[i=0]", "L.a[i=1]"]
    plain = draw_bars(SIGNED, WORDS, LIGHT, INK, name="value")
    offering = plain.offer(cells)
    assert (plain.cells, offering.cells) == ("", cells)
    assert [trace.get("meta") for trace in (*plain.spec["data"], *offering.spec["data"])] == [None, cells]
    with pytest.raises(AttributeError):
        offering.cells = ""
    both = draw_denominator(SHARE, SHARE.cumsum(), WORDS, LIGHT).offer(cells)
    assert [trace["meta"] for trace in both.spec["data"]] == [cells, cells]


@pytest.mark.parametrize(("variant", "lines"), [("alone", 1), ("beside others", 3)])
def test_only_the_points_on_a_curve_are_cells(variant, lines):
    *rest, points = CASES["draw_curve"][variant](LIGHT).offer("L.a[i={n}]").spec["data"]
    assert points["mode"] == "markers" and points["meta"] == "L.a[i={n}]"
    assert len(rest) == lines and not any("meta" in line for line in rest)


def test_signed_maps_are_symmetric_and_shares_begin_at_nothing():
    (signed,), (share,) = (
        draw_heatmap(values, *SIDES, LIGHT, "key", share=share, end=end).traces
        for values, share, end in ((MATRIX, False, None), (np.abs(MATRIX), True, 0.5))
    )
    largest = float(np.abs(MATRIX).max())
    assert (signed["zmin"], signed["zmax"], signed["colorscale"]) == (-largest, largest, LIGHT.shade("key"))
    assert (share["zmin"], share["zmax"], share["colorscale"]) == (0.0, 0.5, LIGHT.rise("key"))
    assert share["colorbar"]["ticktext"] == ["≥ 0.5", "0"] and share["colorbar"]["tickvals"] == [0.5, 0.0]
    assert not any(text[0] in "≥≤" for text in signed["colorbar"]["ticktext"])
    assert np.array_equal(signed["z"], MATRIX)


def test_a_map_frames_what_is_marked_where_it_is_drawn():
    rows, columns = Side("token", WORDS, 10), Side("hidden", None, 100)
    for selected, drawn in ((9, 0), (10, 1), (15, 1), (16, 0)):
        shapes = draw_heatmap(MATRIX, rows, columns, LIGHT, "key", selected=selected).layout.get("shapes", [])
        assert len(shapes) == drawn
    frame = draw_heatmap(MATRIX, rows, columns, LIGHT, "key", selected=12).layout["shapes"][0]
    assert [frame[key] for key in ("x0", "x1", "y0", "y1")] == [99.5, 107.5, 11.5, 12.5]
    (frame,) = draw_head_grid(MATRIX, 1.0, (2, 3), LIGHT).layout["shapes"]
    assert [frame[key] for key in ("x0", "x1", "y0", "y1")] == [2.5, 3.5, 1.5, 2.5]


def test_the_words_beside_a_map_stand_at_their_rows():
    words = [f"{i} word" for i in range(7, 107)]
    axis = draw_heatmap(numbers(100, 3), Side("token", words, 7), Side("b"), LIGHT, "key").layout["yaxis"]
    assert axis["ticktext"] == [f"{i} word" for i in axis["tickvals"]]
    assert axis["tickvals"][0] == 7 and len(axis["tickvals"]) < 50 and axis["autorange"] == "reversed"


def test_sums_are_laid_end_to_end():
    bars, line = CASES["draw_denominator"]["a row"](LIGHT).traces
    assert np.allclose(bars["base"] + bars["x"], SHARE.cumsum(), atol=1e-6)
    assert np.array_equal(line["x"], SHARE.cumsum().astype(np.float32))
    chart = CASES["draw_sum_of_parts"]["three"](LIGHT)
    bars, line = chart.traces
    assert bars["x"].tolist() == [1.0, -2.5, 0.5, -1.0] and bars["base"] == [0.0, 1.0, -1.5, 0.0]
    assert line["x"].tolist() == [1.0, 1.0, -1.5, -1.5, -1.0, -1.0] and line["y"].tolist() == [0, 1, 1, 2, 2, 3]
    assert [(note["y"], note["text"]) for note in chart.layout["annotations"]] == [
        (0, "1.0000"),
        (1, "−2.5000"),
        (2, "0.5000"),
        (3, "−1.0000"),
    ]


def test_what_a_chart_says_is_what_it_draws():
    (end,) = CASES["draw_products"]["all terms"](LIGHT).layout["annotations"]
    assert (end["x"], end["text"]) == (SIZE - 1, f"sum {SIGNED.cumsum()[-1]:.4f}".replace("-", "−"))
    (some,) = CASES["draw_products"]["some terms"](LIGHT).layout["annotations"]
    assert some["text"] == f"{SIZE} of 1,234 terms: −1.0000; all: −4.0000" and some["yref"] == "paper"
    bars = CASES["draw_bars"]["signed"](LIGHT).traces[0]
    assert bars["text"] == [f"{x:.4f}".replace("-", "−") for x in SIGNED] and np.array_equal(bars["x"], SIGNED)
    half, most = CASES["draw_growing_sum"]["marks"](LIGHT).layout["annotations"]
    assert (half["text"], most["text"]) == ("50\N{NO-BREAK SPACE}%: 3", "99\N{NO-BREAK SPACE}%: 4,000")
    assert [10 ** note["x"] for note in (half, most)] == pytest.approx([3, 4_000])
    counts = CASES["draw_histogram"]["sizes"](LIGHT).traces[0]
    edges = np.stack([counts["x"] - counts["width"] / 2, counts["x"] + counts["width"] / 2])
    assert np.allclose(edges, [[-1, -1 / 3, 1 / 3], [-1 / 3, 1 / 3, 1]]) and counts["y"].tolist() == [3, 0, 5]


def test_a_spread_is_a_line_and_one_deviation_to_each_side():
    chart = CASES["draw_row"]["with its spread"](LIGHT)
    band, line = chart.layout["shapes"]
    assert (band["y0"], band["y1"], line["y0"], line["y1"]) == (-1.5, 2.5, 0.5, 0.5)
    assert chart.layout["annotations"][0]["text"] == "μ 0.5000   σ² 4.0000"


@pytest.mark.parametrize(("variant", "head"), [("cut", 2), ("merged", 0)])
def test_a_cut_vector_is_the_matrix_row_by_row(variant, head):
    chart = CASES["draw_cut"][variant](LIGHT)
    strip, rows = chart.traces
    assert np.array_equal(rows["z"].ravel(), strip["z"][0]) and rows["z"].shape == MATRIX.shape
    *cuts, long, row = chart.layout["shapes"]
    assert [cut["x0"] for cut in cuts] == [7.5, 15.5, 23.5, 31.5, 39.5]
    assert (long["x0"], long["x1"], row["y0"], row["y1"]) == (8 * head - 0.5, 8 * head + 7.5, head - 0.5, head + 0.5)
    above, below = chart.layout["yaxis2"]["domain"], chart.layout["yaxis"]["domain"]
    assert (above[0] > below[1]) == (variant == "cut")
