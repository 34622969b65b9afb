"""What a change does to numbers is said as it is, and what is no share of a whole is not called one."""

from dataclasses import replace

import pytest

import bertviz_core as bv
from bertviz_core.formula.address import Address, parse, read_address
from bertviz_core.ui.panels.put import tell_put, tell_skipped, tell_way
from bertviz_core.ui.views import feed_forward, overview
from bertviz_core.ui.walk.templates.curves import tell_curve
from bertviz_core.ui.walk.templates.share import tell_share
from bertviz_core.ui.walk.worked_out import find_worked_out
from tests.canvas import look

OWN = "encoder.layer.2.attention.self"
NORM = "encoder.layer.2.output.LayerNorm"
SCORES, PROBS = Address(f"{OWN}.scores"), Address(f"{OWN}.probs")


@pytest.fixture(scope="module")
def king(bundled):
    return bv.run(bundled, "The king is in the [MASK].")


@pytest.mark.parametrize(
    ("place", "change", "put", "way"),
    [
        (SCORES, 0.5, " A change puts other numbers there.", "put there by a change"),
        (SCORES, "scale=0", " A change multiplies these numbers.", "so, multiplied by a change"),
        (SCORES, "scale=2", " A change multiplies these numbers.", "so, multiplied by a change"),
        (parse("embeddings.sum"), "noise=3", " A change adds to these numbers.", "so; a change puts some"),
    ],
)
def test_what_a_change_does_is_said(king, place, change, put, way):
    view = look(king.with_changes({str(place): change}))
    assert (tell_put(view, place), tell_way(view, place, "so")) == (put, way)


def test_another_formula_puts_no_number_and_may_skip_the_layer(king):
    plain, skipped, put = (look(king.with_changes({NORM: change} if change else {})) for change in ("", "skip", 0.5))
    assert ["put there" in overview.tell_more(view) for view in (plain, skipped, put)] == [False, False, True]
    said = [tell_skipped(view.trace, layer) for view in (plain, skipped, put) for layer in (1, 2)]
    assert [bool(each) for each in said] == [False, False, False, True, False, False]


def test_active_neurons_that_add_nothing_are_not_told_from_the_others(king):
    view = look(king.with_changes({"encoder.layer.2.intermediate.activation": "scale=0"}), head=(2, 0))
    assert feed_forward.tell_quiet(view).text.endswith(" None of the 1,536 adds to the sum.")


@pytest.mark.parametrize(("change", "said"), [(1.0, "% of its attention"), (2.0, "gives “in” the weight ")])
def test_what_is_no_share_of_a_whole_is_called_a_weight(king, change, said):
    trace = king.with_changes({str(PROBS): f"scale={change}"})
    for name in ("taken[head=1,query=3,key=4]", "averaged[query=3,key=4]"):
        found = find_worked_out(look(trace), read_address(f"{PROBS}.{name}"))
        assert said in found.card.sentence.text.replace("*", "")
    cell = PROBS.fix(head=1, query=3, key=4)
    told = str(tell_share(trace, trace.explain(cell), trace[cell.without("key")], "key"))
    assert ("the weight" in told) == (change == 2) and ("of its attention" in told) == (change == 1)


def test_what_is_written_otherwise_does_not_go_through_a_gate_whole(king):
    cell = Address("encoder.layer.2.intermediate.activation").fix(token=3, intermediate=0)
    why, gelu = king.explain(cell), king.step(cell).expr
    for x, y, whole in [(3.2068, 3.2047, False), (6.5, 6.5, True)]:
        assert ("through whole" in str(tell_curve(king, replace(why, value=y), gelu, x))) == whole
