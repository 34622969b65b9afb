"""What numbers were before a change is drawn below what they are after it, and only where that pass is shown alone."""

import re
from base64 import b64decode

import numpy as np
import pytest

from bertviz_core.analysis.add_norm import Sums
from bertviz_core.analysis.attribution import Question
from bertviz_core.analysis.origins import find_origins
from bertviz_core.figures.palette import LIGHT, PALETTES
from bertviz_core.figures.tints import mix
from bertviz_core.figures.triangle import draw_triangle
from bertviz_core.formula.address import parse
from bertviz_core.ui.frame.view import AFTER, BEFORE, DIFFERENCE
from bertviz_core.ui.panels.passes import read_ghost, tell_ghosts
from bertviz_core.ui.views import add_norm_sums, attention, attention_output_taken, attention_worked, where_from_carried
from bertviz_core.ui.views.attention_output_bringing import read_bringing
from bertviz_core.ui.walk.what_if_cell import describe_worked_out
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


def test_the_map_keeps_in_each_cell_how_dark_it_was_as_a_grey(rome, zeroed):
    chart, note = attention._draw_weights(view(rome, zeroed))
    filled = [shape for shape in chart.layout["shapes"] if "fillcolor" in shape]
    drawn = {(round(s["y1"] - 0.5), round((s["x0"] + s["x1"]) / 2)): s for s in filled}
    weights = rome[HEAD]
    assert set(drawn) == {(q, k) for q in range(12) for k in range(12) if weights[q, k] >= 0.02}
    assert all(s["fillcolor"] == mix(COLORS.zero, COLORS.faint, float(weights[at])) for at, s in drawn.items())
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


def test_the_triangle_before_is_dashed(rome, zeroed, monkeypatch):
    """Of lengths and an angle worked out anew: the sum of the two sides before ends where the dashes turn back."""
    monkeypatch.setattr(add_norm_sums, "read_where", lambda: "attention.output")
    seen = view(rome, zeroed)
    before = add_norm_sums._measure_triangle(seen, seen.ghost)
    received, added = "encoder.layer.4.output.LayerNorm", "encoder.layer.5.attention.output.dense"
    one, two = (rome[name][8].astype(float) for name in (received, added))
    outline = draw_triangle(*add_norm_sums._measure_triangle(seen, zeroed), COLORS, ("", "", ""), (), before).traces[0]
    assert outline["x"][1] == pytest.approx(np.linalg.norm(one), rel=1e-5)
    assert np.hypot(outline["x"][2], outline["y"][2]) == pytest.approx(np.linalg.norm(one + two), rel=1e-5)


def test_parts_before_lie_end_to_end_and_reach_the_number_before(rome, zeroed):
    seen = view(rome, zeroed)
    question = Question(parse("cls.predictions.decoder[token=8,vocab=2111]"))
    now = find_origins(zeroed, question).parts
    before = where_from_carried._list_before(seen, question, range(12), now)
    assert sum(before) == pytest.approx(float(rome[question.target]), abs=1e-4)
    assert where_from_carried._list_before(seen.unchanged, question, range(12), now) == []
    aside = view(rome, rome.with_changes({"cls.seq_relationship": 0.0}))  # which moves no word's logit
    same = find_origins(rome, question).parts
    assert where_from_carried._list_before(aside, question, range(12), same) == []


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("encoder.layer.5.attention.output.residual.angle[token=8]", r"before \d+\.\d\d°, after \d+\.\d\d°"),
        ("encoder.layer.0.attention.output.residual.angle[token=8]", ""),  # the change does not reach it
        ("encoder.layer.5.attention.self.probs.entropy[head=5,query=8]", ""),  # no entropy after it
        ("encoder.layer.5.output[token=8,hidden=0]", ""),  # which a step computes
    ],
)
def test_a_number_that_no_step_computes_has_its_before_in_the_drawer(rome, zeroed, where, told):
    assert re.fullmatch(told, describe_worked_out(view(rome, zeroed), parse(where)))
    assert describe_worked_out(view(rome, rome), parse(where)) == ""


def test_sums_before_have_room_on_the_scale_of_those_after():
    """A sum that was longer than all bars of now ends where the scale does, and these are the shorter."""
    sums, before = Sums(*map(np.array, ([1.0, 1.0], [1.0, 0.5], [1.5, 1.2], [60.0, 60.0]))), np.array([2.5, 1.0])
    assert add_norm_sums._find_end(sums, [0, 1], before) == (2.5, None)
    inks = (add_norm_sums.Ink("", "was"), add_norm_sums.Ink("", "added"), add_norm_sums.Ink("", "sum"))
    svg = b64decode(add_norm_sums._draw_bars(sums, [0, 1], inks, before, "faint").partition("base64,")[2]).decode()
    widths = [(float(wide), ink) for wide, ink in re.findall(r'width="([\d.]+)" height="\d" fill="(\w+)"', svg)]
    assert [wide for wide, ink in widths if ink == "faint"] == pytest.approx([1000, 400], abs=0.1)
    assert [wide for wide, ink in widths if ink == "sum"] == pytest.approx([600, 480], abs=0.1)
