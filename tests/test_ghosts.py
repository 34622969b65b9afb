"""What numbers were before a change is drawn below what they are after it, and only where that pass is shown alone."""

import re

import numpy as np
import pytest

from bertviz_core.figures.palette import LIGHT, PALETTES
from bertviz_core.figures.tints import tint_cell
from bertviz_core.formula.address import parse
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.ui.frame.view import AFTER, BEFORE, DIFFERENCE
from bertviz_core.ui.panels.passes import read_ghost, tell_ghosts
from bertviz_core.ui.views import attention, attention_output_taken, attention_worked
from bertviz_core.ui.views.attention_output_bringing import read_bringing
from tests.canvas import look

COLORS = PALETTES[LIGHT]
HEAD = "encoder.layer.5.attention.self.probs[head=5]"
WEIGHTS = parse(HEAD)


@pytest.fixture(scope="module")
def zeroed(rome):
    return rome.with_changes({HEAD: 0})


def view(before, after, show=AFTER):
    return look(before, after, show, token=8, head=(5, 5))


def bars(column):
    """Where the ghosts of a column end, as parts of the room of a bar."""
    cells = column.write()
    return [float(re.search(r"<u style=\"left:0.00%;width:([\d.]+)%", cell)[1]) for cell in cells]


def test_only_the_pass_after_a_change_has_ghosts_and_only_of_what_it_reaches(rome, zeroed):
    np.testing.assert_array_equal(read_ghost(view(rome, zeroed), WEIGHTS), rome[HEAD])
    for seen in (view(rome, rome), view(rome, zeroed, BEFORE), view(rome, zeroed, DIFFERENCE)):
        assert read_ghost(seen, WEIGHTS) is None
    assert read_ghost(view(rome, zeroed), WEIGHTS.without("head").fix(head=4)) is None
    assert tell_ghosts(None, None) == "" != tell_ghosts(None, rome[HEAD])


def test_a_row_of_weights_has_a_line_as_long_as_each_was(rome, zeroed):
    seen = view(rome, zeroed)
    rows = {name: attention_worked.read_row(seen, name) for name in ("products", "scaled", "scores", "probs")}
    *before, last = attention._list_steps(seen, list(range(12)), rows)
    np.testing.assert_allclose(bars(last), 100 * rome[HEAD][8], atol=0.006)
    assert not any("<b " in cell for cell in last.write())  # no bar where the weight is 0
    assert not any("<u " in cell for column in before for cell in column.write())


def test_the_map_keeps_in_each_cell_the_colour_that_it_had(rome, zeroed):
    chart, note = attention._draw_weights(view(rome, zeroed))
    filled = [shape for shape in chart.layout["shapes"] if "fillcolor" in shape]
    drawn = {(round(s["y1"] - 0.5), round((s["x0"] + s["x1"]) / 2)): s for s in filled}
    weights = rome[HEAD]
    assert set(drawn) == {(q, k) for q in range(12) for k in range(12) if weights[q, k] >= 0.02}
    assert all(s["fillcolor"] == tint_cell(float(weights[at]), ATTENTION, COLORS).back for at, s in drawn.items())
    assert note.endswith(tell_ghosts(weights).strip())


def test_what_was_taken_lies_below_what_is(rome, zeroed):
    seen = view(rome, zeroed)
    found, was = read_bringing(seen), read_bringing(seen.unchanged)
    chart = attention_output_taken._draw_one(seen, found)
    lines = [s for s in chart.layout["shapes"] if s.get("opacity")]
    ends = {name: [s["x1"] for s in lines if s["xref"] == name] for name in ("x", "x2", "x3", "x4")}
    np.testing.assert_allclose(ends["x"], was.found.weights[5], rtol=1e-6)
    np.testing.assert_allclose(ends["x3"], was.taken[5], rtol=1e-6)
    assert ends["x2"] == [] != ends["x4"]  # the lengths of values are what they were
    assert chart.layout["xaxis3"]["range"][1] == pytest.approx(was.taken[5].max())
