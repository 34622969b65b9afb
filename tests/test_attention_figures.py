"""Charts of attention: what they ring, write and line up."""

import numpy as np

from tests.test_figures import CASES, LIGHT, SIZE, TERMS


def test_weights_ring_the_chosen_row_and_write_into_it():
    chart = CASES["draw_weights"]["with numbers"](LIGHT)
    (row,) = ([shape[side] for side in ("x0", "x1", "y0", "y1")] for shape in chart.layout["shapes"])
    assert row == [-0.5, SIZE - 0.5, 1.5, 2.5]
    name, *written = chart.layout["annotations"]
    assert name["text"] == "query" and [(note["x"], note["y"], note["text"]) for note in written] == [
        (3, 2, "63"),
        (0, 2, "2"),
    ]
    shades = [CASES["draw_weights"]["with numbers"](LIGHT).traces[0]["z"][2, note["x"]] for note in written]
    inks = [note["font"]["color"] for note in written]
    assert inks == ["#FFFFFF" if shade > 0.75 else "#000000" for shade in shades] and len({*inks}) == 2
    (row,) = CASES["draw_weights"]["a window"](LIGHT).layout["shapes"]
    assert (row["x0"], row["y0"]) == (99.5, 119.5)


def test_an_overview_stands_over_its_blocks_and_frames_the_window():
    chart = CASES["draw_overview"]["blocks"](LIGHT)
    assert (chart.traces[0]["x0"], chart.traces[0]["dx"]) == (1.5, 4)
    (frame,) = chart.layout["shapes"]
    assert [frame[side] for side in ("x0", "x1", "y0", "y1")] == [3.5, 11.5, 3.5, 11.5]


def test_blocks_share_their_rows_and_ring_one_number():
    chart = CASES["draw_blocks"]["two"](LIGHT)
    first, second = chart.traces
    assert (first["xaxis"], second["xaxis"], first["y0"], first["meta"]) == ("x", "x2", 7, "L.query[x={x}]")
    assert first["colorscale"][-1][1] == LIGHT.cells["query"] and second["colorscale"][-1][1] == LIGHT.cells["key"]
    assert chart.layout["yaxis"]["tickvals"] == list(range(7, 7 + SIZE))
    *rows, ring = chart.layout["shapes"]
    assert [(row["y0"], row["xref"]) for row in rows] == [(7.5, "x"), (7.5, "x2")]
    assert (ring["x0"], ring["x1"], ring["xref"]) == (2.5, 3.5, "x2")


def test_terms_stand_below_their_factors_and_the_largest_is_named():
    chart = CASES["draw_terms"]["a sum"](LIGHT)
    x, w, bars = chart.traces
    assert (x["yaxis"], w["yaxis"], x["x0"], bars["x"][0]) == ("y3", "y2", 3, 3)
    products = TERMS.x.astype(float) * TERMS.weights
    assert np.allclose(bars["y"], products)
    best = int(np.abs(products).argmax())
    said = chart.layout["annotations"][0]
    assert said["x"] == 3 + best and f"= <b>{products[best]:.4f}</b>".replace("-", "−") in said["text"]
    assert (x["meta"], w["meta"]) == TERMS.cells and "meta" not in bars
