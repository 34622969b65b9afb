"""The first step of a training before it is taken: worked in the drawer with real numbers, and taken just so."""

import re

import numpy as np
import pytest
import torch

from bertviz_core.figures.palette import PALETTES
from bertviz_core.figures.training import draw_loss_along
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.views.training_run import ask_ahead
from tests.test_training_page import opened, page, press, texts  # noqa: F401


@pytest.mark.parametrize("practised", [False, True])
def test_before_the_first_step_its_update_of_one_weight_is_worked_and_comes_so(practised):
    at = opened(passes="2", texts="The cat sat.\nA dog sat there.", practised=str(practised))
    run, number = at.session_state["training-run"], str(at.session_state["page-number"])
    assert not run.records and "Step 1, to come" in texts(at) and "still to come: Start" in captions(at)
    value = re.search(r'class="bv-value"[^>]*><b>(.*?)</b>', texts(at))[1]
    parts = dict(re.findall(r"<tr(?: class=bv-late)?><td>([^<]*)</td><td>([^<]*)</td></tr>", texts(at)))
    assert value == parts["θ′, the weight after"]
    press(at, "training-step")
    why = run.training.explain(number.replace("step=1,", ""), 1)
    names = ("θ, the weight before", "gradient, by autograd", "step, θ′ − θ", "θ′, the weight after")
    worked = why.old, why.gradient, why.new - why.old, why.new
    if practised:  # from nothing, by the published rule
        names += ("m, AdamW’s mean of the gradient", "v, AdamW’s mean of its square")
        worked += 0.1 * why.gradient, 0.001 * why.gradient**2
    else:
        np.testing.assert_allclose(why.new, why.old - run.asked.settings.eta * why.gradient, rtol=1e-9)
    assert [parts[name] for name in names] == [format_number(each) for each in worked]
    with torch.no_grad():
        moved = run.training.fetch_model().parameters[why.parameter.path]
        place = tuple(i for _, i in why.parameter.index)
        np.testing.assert_allclose(moved[place].item(), why.new, rtol=1e-6)
    assert "Step 1<" in texts(at) and "Step 1, to come" not in texts(at)


@pytest.mark.parametrize("query", [{"learner": "copy"}, {"learner": "heads"}, {"texts": "a " * 40}])
def test_what_takes_long_is_not_worked_out_beforehand(query):
    at = opened(**query)
    assert "page-number" not in at.session_state and "Step 1, to come" not in texts(at)
    assert "Nothing is trained yet" in at.title[0].value and ask_ahead(at.session_state["training-run"]) is None


def captions(at):
    return " ".join(caption.value for caption in at.caption)


def test_a_weight_that_ran_away_is_drawn_where_numbers_end():
    """Farther from 0 than single precision reaches, which the browser is sent."""
    line = np.array([0.0, 1e200])
    chart = draw_loss_along(line, line * 1e50, (0.0, 0.0), (1e200, 1e250), 1e100, PALETTES["light"])
    drawn = [np.asarray(one[axis], dtype=np.float64) for one in chart.traces for axis in "xy"]
    assert all(np.isfinite(each).all() and np.abs(each).max() <= 1e31 for each in drawn)
