"""What is said of numbers outside of the app, in an exported notebook and in one's own, is true after changes, too."""

import json
from html import unescape

import pytest

import bertviz_core as bv
from bertviz_core.export.ipynb import write_ipynb

OWN = "encoder.layer.1.attention.self.probs"
SUMS = "each row sums to 1"
PUT = {
    "none": "A change ",
    "put": "A change puts other numbers there than this formula gives. Without it: ",
    "multiplied": "A change multiplies what this formula gives. Without it: ",
}
CHANGES = {
    "none": {},
    "put": {f"{OWN}[head=1]": 0.0},
    "multiplied": {f"{OWN}[head=1]": "scale=-1"},
}


@pytest.mark.parametrize("kind", CHANGES)
def test_an_exported_notebook_does_not_say_of_put_numbers_what_their_formula_gives(bundled, kind):
    trace = bv.run(bundled, "Go home.", changes=CHANGES[kind])
    cells = ["".join(cell["source"]) for cell in json.loads(write_ipynb(trace))["cells"] if "markdown" in cell.values()]
    said = [line for cell in cells for line in cell.split("\n") if SUMS in line]
    assert [line.startswith(PUT[kind]) for line in said] == [bool(CHANGES[kind]) and layer == 1 for layer in range(6)]
    assert cells[0].startswith("# BERT's forward pass, as released, with changes\n") == bool(CHANGES[kind])


@pytest.mark.parametrize("kind", CHANGES)
def test_a_trace_and_a_picture_in_a_notebook_do_not_either(bundled, kind):
    trace = bv.run(bundled, "Go home.", changes=CHANGES[kind])
    assert unescape(trace._repr_html_()).count(f"{PUT[kind]}The attention weights") == bool(CHANGES[kind])
    for head in (0, 1):
        shown = unescape(trace.show(f"{OWN}[head={head}]")._repr_html_())
        assert SUMS in shown and (PUT[kind] in shown) == (bool(CHANGES[kind]) and head == 1)


def test_cells_that_a_change_put_below_0_are_written_and_those_that_are_all_0_are_drawn(bundled):
    for value, written in ((-0.75, 16), (0.0, 0)):
        trace = bv.run(bundled, "Go.", changes={f"{OWN}[head=1]": value})
        picture = trace.show(f"{OWN}[head=1]")._repr_html_()
        assert picture.count(">−0.75</text>") == written and picture.count("<rect") > 16
