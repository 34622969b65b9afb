"""Add & Norm: the line of means and standard deviations of the sum, normalized, and of the result, by NumPy."""

import re

import numpy as np
import pytest

from bertviz_core.formula.numbers import format_short
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
