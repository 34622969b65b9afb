"""Charts of the pages about vectors: what they say is what they draw. `test_figures` holds them to what all share."""

import re
from base64 import b64decode

import numpy as np
import pytest

from bertviz_core.analysis.add_norm import Sums
from bertviz_core.figures.add_norm import Strip, draw_aligned
from bertviz_core.figures.feed_forward import draw_neurons, draw_parts
from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.resemblance import draw_resemblance
from bertviz_core.figures.strips import Strip as Enlarged
from bertviz_core.figures.strips import draw_enlarged_strips
from bertviz_core.figures.triangle import draw_triangle
from bertviz_core.formula.numbers import format_degrees
from bertviz_core.ui.views.add_norm_sums import Ink, _draw_bars, name_direction

SIZE = 6
WORDS = [f"{i} word" for i in range(SIZE)]
INK = "#123456"
LIGHT = PALETTES["light"]


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


SIGNED, MATRIX, LINE = numbers(SIZE), numbers(SIZE, 8), np.linspace(-3, 3, 50)
SHARE = np.exp(SIGNED.astype(float)) / np.exp(SIGNED.astype(float)).sum()
STRIPS = [
    Strip("sum", SIGNED, "L.a[i={n}]", INK, band=(0.5, 1.0)),
    Strip("γ", SHARE, "L.w[i={n}]", INK, "×", learned=True),
]
FUNCTION, LENGTHS = (LINE, LINE**2), np.array([1.0, 0.25, 0.0, 4.0, 2.0, 3.0])

VECTORS = {
    "draw_triangle": {
        "at an angle": lambda c: draw_triangle(3.0, 4.0, 5.0, 90.0, c, (INK, INK, INK)),
        "another before": lambda c: draw_triangle(3.0, 4.0, 5.0, 90.0, c, (INK, INK, INK), (), (3.0, 3.0, 0.0, 180.0)),
        "nothing added": lambda c: draw_triangle(3.0, 0.0, 3.0, float("nan"), c, (INK, INK, INK)),
    },
    "draw_aligned": {"two": lambda c: draw_aligned(STRIPS, 1, c)},
    "draw_neurons": {
        "named": lambda c: draw_neurons(FUNCTION, SIGNED, SIGNED**2, LENGTHS, [3, 5], c, "square"),
        "far below": lambda c: draw_neurons(FUNCTION, np.append(numbers(60), -9), np.ones(61), np.ones(61), [0, 1], c,
                                            "one"),
    },
    "draw_parts": {"of a sum": lambda c: draw_parts(MATRIX, WORDS, 1.0, c)},
    "draw_resemblance": {"of all": lambda c: draw_resemblance(MATRIX, WORDS, list("abcdefgh"), 2, 1, c, INK)},
}  # fmt: skip


def test_the_tokens_that_end_nearest_are_named_from_the_highest_down_each_joined_to_the_end_of_its_line():
    cosines = np.array([[0.1, 0.2], [0.0, 0.9], [0.3, 0.1], [0.2, 0.89], [0.5, 0.4], [0.5, np.nan]])
    names = ["when", "in", "rome", "as", "the", "zero"]
    for nearest, shown in ((2, ["in", "as", "the", "<b>rome</b>"]), (3, ["in", "<b>as</b>", "the"])):
        layout = draw_resemblance(cosines, names, ["E", "0"], nearest, 1, LIGHT, INK).layout
        notes = {note["text"]: note["y"] for note in layout["annotations"]}
        assert (
            sorted(notes, key=lambda text: -notes[text]) == shown and len({x["x"] for x in layout["annotations"]}) == 1
        )
        assert min(-np.diff(sorted(notes.values(), reverse=True))) > 0.05, "no name covers another"
        ends = {text: cosines[names.index(text.removeprefix("<b>").removesuffix("</b>")), -1] for text in notes}
        joined = {(line["y0"], line["y1"]) for line in layout["shapes"] if line["type"] == "line"}
        assert joined == {(ends[text], notes[text]) for text in notes}
        assert all(abs(notes[text] - ends[text]) < 0.05 for text in notes), "near its line's end"


def test_a_triangle_is_true_to_length_and_angle():
    was, added, total, _, _, *reach = VECTORS["draw_triangle"]["at an angle"](LIGHT).traces
    assert (was["x"], was["y"]) == ([0.0, 3.0], [0.0, 0.0])
    assert added["x"] == pytest.approx([3.0, 3.0]) and added["y"] == pytest.approx([0.0, 4.0])
    assert total["x"][1] == pytest.approx(added["x"][1]) and total["y"][1] == pytest.approx(added["y"][1])
    along, opposed, right, same, here = reach
    assert (along["x"], opposed["x"], right["x"], same["x"], here["x"]) == ([1, 7], [1, 1], [5, 5], [7, 7], [5])
    flat = VECTORS["draw_triangle"]["nothing added"](LIGHT)
    assert len(flat.traces) == 3 and [note["text"] for note in flat.layout["annotations"]] == [
        "was <b>3.00</b>",
        "added <b>0</b>",
        "sum <b>3.00</b>",
    ]


@pytest.mark.parametrize("lengths", [
    ([3.0, 1.0, 2.0], [4.0, 1.0, 0.0], [5.0, 2.0, 2.0]),
    ([3.0, 30.0, 2.0], [4.0, 1.0, 0.0], [5.0, 29.0, 2.0]),  # one has a scale of its own
])  # fmt: skip
def test_what_is_added_begins_where_what_was_there_ends_and_the_sum_at_0(lengths):
    sums = Sums(*map(np.array, (*lengths, [90.0, 0.0, 45.0])))
    inks = Ink("", "was"), Ink("", "added"), Ink("", "sum")
    svg = b64decode(_draw_bars(sums, [0, 1, 2], inks).partition("base64,")[2]).decode()
    drawn = [
        (float(x), float(w), fill)
        for x, w, fill in re.findall(r'x="([\d.]+)" y=.*? width="([\d.]+)".*? fill="(\w+)"', svg)
    ]
    assert len(drawn) == 9
    for row, (was, added, total) in enumerate(zip(*lengths, strict=True)):
        bars = {fill: (x, x + w) for x, w, fill in drawn[3 * row : 3 * row + 3]}
        unit = bars["was"][1] / was
        assert bars["was"][0] == bars["sum"][0] == 0 and bars["sum"][1] == pytest.approx(total * unit, abs=0.2)
        assert bars["added"] == pytest.approx((was * unit, (was + added) * unit), abs=0.2)
        assert max(end for _, end in bars.values()) <= 1000.1


def test_aligned_strips_write_the_chosen_numbers_and_offer_each_its_own_cells():
    chart = VECTORS["draw_aligned"]["two"](LIGHT)
    assert [trace["meta"] for trace in chart.spec["data"]] == ["L.a[i={n}]", "L.w[i={n}]"]
    written = {(note["yref"], note["x"]): note["text"] for note in chart.layout["annotations"] if "<b>" in note["text"]}
    strongest = [int(np.abs(row).argmax()) for row in (SIGNED, SHARE)]
    expected = {
        (axis, i): row[i]
        for axis, row, most in zip(("y", "y2"), (SIGNED, SHARE), strongest, strict=True)
        for i in (1, most)
    }
    assert written == {place: f"<b>{float(x):.2f}</b>".replace("-", "−") for place, x in expected.items()}
    assert 1 not in strongest
    ends = [note["text"] for note in chart.layout["annotations"] if note.get("xref") == "paper"]
    highest = [chart.layout[axis]["range"][1] for axis in ("yaxis", "yaxis2")]
    assert ends == [f"±{highest[0]:.2f}", f"{highest[1]:.2f}"]
    bands = [shape for shape in chart.layout["shapes"] if shape.get("yref") == "y"]
    assert [(band["y0"], band["y1"]) for band in bands] == [(-0.5, 1.5)]
    assert chart.layout["yaxis2"]["range"][0] == 0.0


def test_the_numbers_over_enlarged_cells_say_that_they_are_components():
    """Beside them, over the names of the rows."""
    layout = draw_enlarged_strips(
        [Enlarged("word", MATRIX[0], 1.0, "a[hidden={x}]", "embedding")], range(5), 2, LIGHT
    ).layout
    (said,) = (each for each in layout["annotations"] if each["text"] == "component")
    assert (said["xanchor"], said["x"], said["y"]) == ("right", 0, layout["yaxis2"]["domain"][1])
    assert said["yanchor"] == "bottom" and said["yshift"] >= 0


def test_a_circles_area_is_the_length_that_its_neuron_writes():
    curve, circles = VECTORS["draw_neurons"]["named"](LIGHT).offer("L.a[i={n}]").spec["data"]
    sizes = circles["marker"]["size"].astype(float)
    large = LENGTHS > 0.1
    assert np.allclose(sizes[large] ** 2 / sizes[3] ** 2, LENGTHS[large] / LENGTHS[3], rtol=1e-4)
    assert "meta" not in curve and circles["meta"] == "L.a[i={n}]"
    notes = VECTORS["draw_neurons"]["far below"](LIGHT).layout["annotations"]
    assert [note["text"] for note in notes] == ["<b>0, 1</b>", "◂ 1 to −9.00", "activation"]


def test_the_lengths_of_parts_stand_at_their_rows():
    *lengths, name = VECTORS["draw_parts"]["of a sum"](LIGHT).layout["annotations"]
    expected = [f"{np.sqrt((row.astype(float) ** 2).sum()):.2f}" for row in MATRIX]
    assert [(note["y"], note["text"].strip("</b>")) for note in lengths] == list(enumerate(expected))
    assert name["text"] == "length"


def test_angles_that_are_written_alike_are_called_alike():
    called = {}
    for hundredth in range(18_001):
        angle = hundredth / 100
        called.setdefault(format_degrees(angle), set()).add(name_direction(angle))
    assert all(len(names) == 1 for names in called.values()) and len(set().union(*called.values())) == 5
    assert {angle for angle, names in called.items() if names == {"almost a right angle"}} == {
        f"{angle}°" for angle in range(80, 101)
    }
    assert called["25°"] == {"almost the same way"} and called["26°"] == {"partly the same way"}
