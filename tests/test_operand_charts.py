"""The charts of what a number was made from, against plain sums over the recorded tensors."""

import re

import numpy as np
import pytest

from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.ui.walk.explain import work_out
from bertviz_core.ui.walk.operand_charts import choose_chart
from tests.canvas import look
from tests.derived.reading import decode


@pytest.mark.parametrize("hidden", [3, 100])
def test_a_long_sum_tells_the_sum_of_what_is_drawn_and_of_all(rome, hidden):
    own, view = "encoder.layer.2.output.dense", look(rome)
    shown = work_out(view, f"{own}[token=8,hidden={hidden}]")
    chart, note = choose_chart(view, shown.why, shown.found)
    neurons = rome["encoder.layer.2.intermediate.activation[token=8]"].astype(np.float64)
    terms = np.append(neurons * rome[f"{own}.weight[hidden={hidden}]"], rome[f"{own}.bias[hidden={hidden}]"])
    order = np.argsort(-np.abs(terms), kind="stable")
    (said,) = chart.layout["annotations"]
    drawn, count, part, whole = re.fullmatch(r"(\d+) of ([\d,]+) terms: (\S+); all: (\S+)", said["text"]).groups()
    assert int(drawn) == len(chart.traces[0]["x"]) < int(count.replace(",", "")) == len(terms)
    assert (part, whole) == (format_number(terms[order[: int(drawn)]].sum()), format_number(terms.sum()))
    assert f"The {drawn} largest of {len(terms)} are drawn." in note


@pytest.mark.parametrize(
    ("place", "told"), [(0, "12 largest of {}"), (11, "12 largest of {}"), (40, "11 largest of {} and this one")]
)
def test_of_a_long_softmax_the_largest_are_drawn_and_the_picked_one(rome, place, told):
    probs = rome["cls.predictions.probs[token=8]"].astype(np.float64)
    order = np.argsort(-probs, kind="stable")
    shown = work_out(look(rome), f"cls.predictions.probs[token=8,vocab={order[place]}]")
    chart, note = choose_chart(look(rome), shown.why, shown.found, largest=12)
    drawn = [*order[:12]] if place < 12 else [*order[:11], order[place]]
    bars = [decode(value) for trace in chart.traces for value in (trace.get("x"), trace.get("y")) if value is not None]
    assert any(
        np.shape(bar) == (12,) and np.allclose(sorted(bar), sorted(probs[drawn]), rtol=1e-4)
        for bar in map(as_numbers, bars)
    )
    rest = format_percent(1 - probs[drawn].sum())
    assert f" The {told.format('30,522')}; the others together have {rest}." in note


def as_numbers(values):
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.zeros(0)
