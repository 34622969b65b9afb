"""What a chart leaves out on a phone, as it tells the browser."""

import numpy as np
import pytest

from bertviz_core.figures.add_norm import Strip, draw_aligned
from bertviz_core.figures.blocks import Block, draw_blocks
from bertviz_core.figures.head_sums import HeadSums, draw_head_sums
from bertviz_core.figures.palette import LIGHT, PALETTES


def read_narrow(chart):
    return chart.spec["layout"]["meta"]["narrow"]


def test_heads_are_drawn_without_what_their_sums_are_the_product_of():
    draw, heads = np.random.default_rng(0).normal, 3
    sums = HeadSums(draw(size=(heads, 8)), draw(size=(heads, 8, 24)), draw(size=(5, 24)), draw(size=5), (1, 1, 1), "")
    chart = draw_head_sums(sums, list("abcde"), [0], PALETTES[LIGHT])
    narrow, texts = read_narrow(chart), chart.layout["annotations"]
    assert [chart.traces[i]["name"] for i in narrow["hidden"]] == ["z", "W"]
    left_out = [texts[i]["text"] for i in range(len(texts)) if f"annotations[{i}].visible" in narrow["layout"]]
    assert left_out[0].startswith("<b>z<") and left_out[1].startswith("<b>W<") and left_out[2:] == ["·", "="] * heads
    assert texts[2]["text"].startswith("<b>adds<") and texts[2]["xref"] == "paper"
    assert narrow["layout"]["annotations[2].x"] == narrow["layout"]["xaxis3.domain"][0] == 0
    assert narrow["layout"]["xaxis3.domain"][1] < narrow["layout"]["xaxis4.domain"][0]


@pytest.mark.parametrize(
    ("width", "chosen", "first", "last"),
    [(384, 130, 98, 161), (384, 3, 0, 63), (384, 383, 320, 383), (20, 7, 0, 19)],
    ids=["between", "at the beginning", "at the end", "few"],
)
def test_strips_show_the_components_around_the_chosen_one(width, chosen, first, last):
    chart = draw_aligned([Strip("sum", np.arange(width, dtype=float), "", "#123456")], chosen, PALETTES[LIGHT])
    layout = read_narrow(chart)["layout"]
    assert layout["xaxis.range"] == [first - 1, last + 1] and layout["xaxis.tickvals"] == [first, chosen, last]
    assert layout["xaxis.title.text"].startswith(f"components {first} to {last} of {width};")


def test_blocks_show_the_components_around_the_one_that_is_worked_out():
    kinds, numbers = ("query", "key", "value"), np.random.default_rng(0).normal(size=(4, 32))
    blocks = [Block(kind.capitalize(), kind, numbers, "") for kind in kinds]
    chart = draw_blocks(blocks, list("abcd"), 0, PALETTES[LIGHT], end=1.0, at=(2, "key", 30))
    layout, texts = read_narrow(chart)["layout"], chart.layout["annotations"]
    for i, kind in enumerate(kinds):
        assert layout[f"xaxis{i + 1 if i else ''}.range"] == [21.5, 31.5]
        names = [texts[5 * i + k]["text"] for k in range(3)]
        assert kind.capitalize() in names[0] and names[1:] == ["0", "31"]
        assert [layout[f"annotations[{5 * i + k}].text"] for k in (1, 2)] == ["22–31 of 32", ""]


@pytest.mark.parametrize(("rows", "chosen", "named"), [(12, 5, range(12)), (38, 33, range(1, 38, 2))])
def test_of_many_rows_every_second_one_is_named_and_the_chosen_one(rows, chosen, named):
    words = [f"word {i}" for i in range(rows)]
    block = Block("Query", "query", np.zeros((rows, 4)), "")
    axis = draw_blocks([block], words, 10, PALETTES[LIGHT], end=1.0, at=(10 + chosen, "query", 0)).layout["yaxis"]
    assert axis["tickvals"] == [10 + i for i in named] and axis["ticktext"] == [words[i] for i in named]
    assert 10 + chosen in axis["tickvals"]
