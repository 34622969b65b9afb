"""The charts of what a number was made from, against plain sums over the recorded tensors."""

import re

import numpy as np
import pytest

from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.walk.explain import work_out
from bertviz_core.ui.walk.operand_charts import choose_chart
from tests.canvas import look


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
