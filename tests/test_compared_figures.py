"""Charts of two passes, and of parts: names lead to what they name, a cell of the heads says which head it is, and what
is drawn has the length, the sign and the share that it stands for."""

import numpy as np
import pytest

from bertviz_core.figures.areas import draw_areas
from bertviz_core.figures.compared import Run, draw_angles, draw_sorted
from bertviz_core.figures.palette import DARK, LIGHT, choose_palette
from bertviz_core.figures.patched import draw_grid, draw_way
from bertviz_core.figures.written import draw_written
from bertviz_core.formula.numbers import format_percent

ENDS = [12.0, 12.1, 12.2, 31.0, 8.0]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_line_leads_from_every_end_to_its_name(theme):
    runs = [Run(f"token {i}", np.array([0.0, 20.0, end]), [""] * 3) for i, end in enumerate(ENDS)]
    chart = draw_angles(runs, 3, ["embed", "0", "1"], choose_palette(theme), "#123456", 200)
    leads = {shape["y0"]: shape for shape in chart.layout["shapes"]}
    assert sorted(leads) == sorted(ENDS)
    for note in chart.layout["annotations"]:
        end = ENDS[int(note["text"].removesuffix("</b>")[-1])]
        assert leads[end]["y1"] == note["y"] and leads[end]["x1"] == note["x"] > leads[end]["x0"] > 2
    names = sorted(note["y"] for note in chart.layout["annotations"])
    low, high = chart.layout["yaxis"]["range"]
    assert np.diff(names).min() * 150 / (high - low) > 14  # pixels from one to the next


def test_a_cell_of_the_heads_says_head():
    grids = [
        draw_grid(np.eye(2), ["layer 0", "layer 1"], ["0", "1"], choose_palette(LIGHT), "query", 1.0, of_way=True,
                  slanted=slanted)
        for slanted in (False, True)
    ]  # fmt: skip
    assert [", head %{x}<" in grid.traces[0]["hovertemplate"] for grid in grids] == [True, False]


@pytest.mark.parametrize(("into", "zero"), [(-2.0, True), (0.5, False)])
def test_the_way_says_where_it_is_patched_and_where_0_is(into, zero):
    chart = draw_way({"from": 3.0, "into": into, "drawer": 1.0}, choose_palette(LIGHT), "#123456")
    (patched,) = (note for note in chart.layout["annotations"] if "patched" in note["text"])
    assert patched["x"] == 1.0
    assert [shape["x0"] for shape in chart.layout.get("shapes", [])] == [0] * zero


def test_of_many_columns_of_a_grid_as_many_are_named_as_have_room():
    for count in (12, 40, 70, 300):
        words = [f"{i} lighthouse" for i in range(count)]
        grid = draw_grid(np.zeros((2, count)), ["a", "b"], words, choose_palette(LIGHT), "query", 1.0, of_way=True)
        axis = grid.layout["xaxis"]
        apart = np.diff(axis["tickvals"]) * 230 / count  # pixels of the narrowest grid
        assert axis["ticktext"] == [words[i] for i in axis["tickvals"]]
        assert (apart >= 15).all() and len(axis["tickvals"]) >= min(count, 10)


@pytest.mark.parametrize("marks", [{"from": 3.0, "into": -2.0}, {"from": 3.0, "into": -2.0, "drawer": 1.0}])
def test_the_way_is_drawn_from_where_it_begins_to_where_the_patch_goes(marks):
    chart = draw_way(marks, choose_palette(LIGHT), "#123456")
    (way,) = (trace for trace in chart.traces if trace.get("line", {}).get("color") == "#123456")
    assert way["x"] == [marks["into"], marks.get("drawer", marks["from"])]


def test_as_many_bars_are_dark_as_there_are_maps():
    chart = draw_sorted(
        np.linspace(0.9, 0.1, 20), [str(i) for i in range(20)], 8, choose_palette(LIGHT), "#123456", 150
    )
    inks = chart.traces[0]["marker"]["color"]
    assert inks[:8] == ["#123456"] * 8 and "#123456" not in inks[8:]


def test_what_a_head_took_away_has_its_sign_in_its_cell():
    chart = draw_written(np.array([[0.31, -0.28], [0.3, 0.02]]), "", choose_palette(LIGHT))
    notes = {
        (each["y"], each["x"]): each["text"] for each in chart.layout["annotations"] if each.get("xref") != "paper"
    }
    assert [notes.get((layer, head)) for layer in (0, 1) for head in (0, 1)] == [".3", "−.3", ".3", None]


def test_a_tile_says_its_share_of_the_whole_not_of_its_column():
    columns = {"layers": {"attention": 3, "feed-forward": 1}, "embeddings": {"words": 4}}
    inks = dict.fromkeys(("attention", "feed-forward", "words"), "#123456")
    (tiles,) = draw_areas(columns, inks, choose_palette(LIGHT)).traces
    said = [str(each).rpartition("· ")[2] for each in tiles["customdata"]]
    assert said == [format_percent(share) for share in (3 / 8, 1 / 8, 1 / 2)]
