"""Charts of the pages about vectors: what they say is what they draw. `test_figures` holds them to what all share."""

import numpy as np
import pytest

from bertviz_core.figures.add_norm import Strip, draw_aligned, draw_triangle
from bertviz_core.figures.feed_forward import draw_neurons, draw_parts
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.resemblance import draw_resemblance
from bertviz_core.formula.numbers import format_degrees
from bertviz_core.ui.views.add_norm_sums import name_direction

SIZE = 6
WORDS = [f"{i} word" for i in range(SIZE)]
INK = "#123456"
LIGHT = PALETTES["light"]


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


SIGNED, MATRIX, LINE = numbers(SIZE), numbers(SIZE, 8), np.linspace(-3, 3, 50)
SHARE = np.exp(SIGNED.astype(float)) / np.exp(SIGNED.astype(float)).sum()
STRIPS = [Strip("sum", SIGNED, "L.a[i={n}]", INK, (0.5, 1.0)), Strip("γ", SHARE, "L.w[i={n}]", INK)]
FUNCTION, LENGTHS = (LINE, LINE**2), np.array([1.0, 0.25, 0.0, 4.0, 2.0, 3.0])

VECTORS = {
    "draw_triangle": {
        "at an angle": lambda c: draw_triangle(3.0, 4.0, 5.0, 90.0, c, (INK, INK, INK)),
        "nothing added": lambda c: draw_triangle(3.0, 0.0, 3.0, float("nan"), c, (INK, INK, INK)),
    },
    "draw_aligned": {"two": lambda c: draw_aligned(STRIPS, 2, c)},
    "draw_neurons": {
        "named": lambda c: draw_neurons(FUNCTION, SIGNED, SIGNED**2, LENGTHS, [3, 5], c, INK, "square"),
        "far below": lambda c: draw_neurons(FUNCTION, np.append(numbers(60), -9), np.ones(61), np.ones(61), [0, 1], c,
                                            INK, "one"),
    },
    "draw_parts": {"of a sum": lambda c: draw_parts(MATRIX, WORDS, WORDS, 1.0, c)},
    "draw_resemblance": {"of all": lambda c: draw_resemblance(MATRIX, WORDS, list("abcdefgh"), 2, 1, c, INK)},
}  # fmt: skip


def test_a_triangle_is_true_to_length_and_angle():
    skip, added, total, *arc = VECTORS["draw_triangle"]["at an angle"](LIGHT).traces
    assert (skip["x"], skip["y"]) == ([0.0, 3.0], [0.0, 0.0]) and len(arc) == 2
    assert added["x"] == pytest.approx([3.0, 3.0]) and added["y"] == pytest.approx([0.0, 4.0])
    assert total["x"][1] == pytest.approx(added["x"][1]) and total["y"][1] == pytest.approx(added["y"][1])
    flat = VECTORS["draw_triangle"]["nothing added"](LIGHT)
    assert len(flat.traces) == 3 and [note["text"] for note in flat.layout["annotations"]] == [
        "skip <b>3.00</b>", "added <b>0.00</b>", "sum <b>3.00</b>"]  # fmt: skip


def test_aligned_strips_write_the_chosen_numbers_and_offer_each_its_own_cells():
    chart = VECTORS["draw_aligned"]["two"](LIGHT)
    assert [trace["meta"] for trace in chart.spec["data"]] == ["L.a[i={n}]", "L.w[i={n}]"]
    bold = [note["text"] for note in chart.layout["annotations"] if "<b>" in note["text"]]
    assert bold == [f"<b>{float(x):.4f}</b>".replace("-", "−") for x in (SIGNED[2], SHARE[2])]
    aside = [note for note in chart.layout["annotations"] if note.get("xref") == "paper"]
    assert [note["x"] for note in aside] == [1, 1, 1] and aside[-1]["text"] == "at 2"
    band = chart.layout["shapes"][0]
    assert (band["y0"], band["y1"]) == (-0.5, 1.5) and chart.layout["yaxis2"]["range"][0] == 0.0


def test_a_circles_area_is_the_length_that_its_neuron_writes():
    bars, _, circles = VECTORS["draw_neurons"]["named"](LIGHT).offer("L.a[i={n}]").spec["data"]
    sizes = circles["marker"]["size"].astype(float)
    large = LENGTHS > 0.1
    assert np.allclose(sizes[large] ** 2 / sizes[3] ** 2, LENGTHS[large] / LENGTHS[3], rtol=1e-4)
    assert "meta" not in bars and circles["meta"] == "L.a[i={n}]" and bars["y"].sum() == SIZE
    notes = VECTORS["draw_neurons"]["far below"](LIGHT).layout["annotations"]
    assert [note["text"] for note in notes] == ["<b>0, 1</b>", "◂ 1 to −9.00"]


def test_the_shares_of_parts_stand_at_their_rows():
    notes = VECTORS["draw_parts"]["of a sum"](LIGHT).layout["annotations"]
    assert [(note["y"], note["text"]) for note in notes] == list(enumerate(WORDS))


def test_angles_that_are_written_alike_are_called_alike():
    called = {}
    for hundredth in range(18_001):
        angle = hundredth / 100
        called.setdefault(format_degrees(angle), set()).add(name_direction(angle))
    assert all(len(names) == 1 for names in called.values()) and len(set().union(*called.values())) == 5
    assert {angle for angle, names in called.items() if names == {"almost a right angle"}} == {
        f"{angle}°" for angle in range(85, 96)
    }
    assert called["25°"] == {"almost the same way"} and called["26°"] == {"partly the same way"}
