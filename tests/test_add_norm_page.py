"""Add & Norm: means and standard deviations step by step, and lengths and angles with what they open, by NumPy."""

import json
import re
from html import unescape

import numpy as np
import pytest

from bertviz_core.formula.address import read_address
from bertviz_core.formula.numbers import format_short
from bertviz_core.ui.walk.worked_out import find_worked_out
from tests.test_put import opened

BUTTON = r'<button class="bv-number" data-cell="([^"]+)"[^>]*>(\S+)</button>'
SIGMA = r"<abbr[^>]*>σ</abbr>"
LINE = re.compile(
    rf"<b>sum</b> mean {BUTTON}&ensp;{SIGMA}² {BUTTON}&ensp;{SIGMA} <i>(\S+)</i></span>"
    rf"<span><b>normalized</b> mean <i>(\S+)</i>&ensp;{SIGMA} <i>(\S+)</i></span>"
    rf"<span><b>result</b> mean <i>(\S+)</i>&ensp;{SIGMA} <i>(\S+)</i></span>"
)


@pytest.mark.parametrize(("after", "module"), [("attention", "attention.output"), ("feed-forward", "output")])
def test_the_layernorm_has_its_moments_step_by_step_with_cells_to_open(after, module):
    at = opened("add_norm", {}, "the cat sat on the [MASK]", layer="1", head="0", token="2", where=after)
    (body,) = (
        each.proto.body for each in at.get("html") if "bv-moments" in each.proto.body and "<div" in each.proto.body
    )
    trace, path = at.session_state["view"].trace, f"encoder.layer.1.{module}"
    ((mean_cell, mean, variance_cell, variance, spread, *others),) = LINE.findall(body)
    before, after = (trace[f"{path}.{leaf}[token=2]"].astype(np.float64) for leaf in ("residual", "LayerNorm"))
    assert (mean_cell, variance_cell) == tuple(f"{path}.LayerNorm.{leaf}[token=2]" for leaf in ("mean", "variance"))
    told = [before.mean(), before.var(), before.std(), 0.0, 1.0, after.mean(), after.std()]
    assert [mean, variance, spread, *others] == [format_short(float(value)) for value in told]


@pytest.mark.parametrize("changes", [{}, {"encoder.layer.1.attention.output.residual": "no-residual"}])
def test_every_length_and_angle_opens_the_number_that_stands_there(changes):
    at = opened("add_norm", changes, "the cat sat on the [MASK]", layer="1", head="0", token="2")
    view, own = at.session_state["view"], "encoder.layer.1.attention.output"
    (body,) = (each.proto.body for each in at.get("html") if 'aria-label="Lengths by token"' in each.proto.body)
    rows = [re.findall(r'<button data-cell="([^"]+)">([^<]+)', row) for row in body.split("<tr")[2:]]
    was, added, total = (
        view.trace[path].astype(np.float64)
        for path in ("encoder.layer.0.output.LayerNorm", f"{own}.dense", f"{own}.residual")
    )
    assert len(rows) == len(view.trace.tokens)
    for i, row in enumerate(rows):
        lengths = [np.linalg.norm(each[i]) for each in ((added, total) if changes else (was, added, total))]
        angle = np.degrees(np.arccos(was[i] @ added[i] / np.linalg.norm(was[i]) / np.linalg.norm(added[i])))
        told = lengths if changes else [*lengths, angle]
        assert [float(text.rstrip("°")) for _, text in row] == pytest.approx(told, abs=0.51)
        worked = [find_worked_out(view, read_address(unescape(cell))).number for cell, _ in row]
        assert worked == pytest.approx([*lengths, *([] if changes else [np.cos(np.radians(angle))])], rel=1e-5)
    (spec,) = (json.loads(chart.proto.spec) for chart in at.get("plotly_chart") if "triangle" in chart.proto.id)
    offered = [trace["meta"] for trace in spec["data"] if "meta" in trace]
    assert offered == [[unescape(cell)] for cell, text in rows[2] if "°" not in text]
