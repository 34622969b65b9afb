"""Add & Norm: the line of means and standard deviations before and after both LayerNorms, by NumPy."""

import re

import numpy as np

from bertviz_core.formula.numbers import format_short
from tests.test_put import opened

BUTTON = r'<button class="bv-number" data-cell="([^"]+)"[^>]*>(\S+)</button>'
LINE = re.compile(
    rf"mean {BUTTON} → <i>(\S+)</i></span><span><abbr[^>]*>σ</abbr> <i>(\S+)</i> → <i>(\S+)</i></span>"
    rf"<span><abbr[^>]*>σ</abbr>² was {BUTTON}"
)


def test_both_layernorms_have_their_moments_before_and_after_with_cells_to_open():
    at = opened("add_norm", {}, "the cat sat on the [MASK]", layer="1", head="0", token="2")
    (body,) = (
        each.proto.body for each in at.get("html") if "bv-moments" in each.proto.body and "<div" in each.proto.body
    )
    trace, found = at.session_state["view"].trace, LINE.findall(body)
    assert len(found) == 2
    for module, (mean_cell, mean, new_mean, spread, new_spread, variance_cell, variance) in zip(
        ("attention.output", "output"), found, strict=True
    ):
        path = f"encoder.layer.1.{module}"
        before, after = (trace[f"{path}.{leaf}[token=2]"].astype(np.float64) for leaf in ("residual", "LayerNorm"))
        assert (mean_cell, variance_cell) == tuple(f"{path}.LayerNorm.{leaf}[token=2]" for leaf in ("mean", "variance"))
        told = [before.mean(), after.mean(), before.var(), before.std(), after.std()]
        assert [mean, new_mean, variance, spread, new_spread] == [format_short(float(value)) for value in told]
