"""The epsilon that a page speaks of is the one with which its pass divided, also after a change."""

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.add_norm import follow_direct_path, read_epsilon
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number
from tests.test_passes import opened

NORM = "encoder.layer.2.attention.output.LayerNorm"
CHANGE = f"{NORM}.normalized"
TOKEN = 3


@pytest.fixture(scope="module")
def trace(bundled):
    return bv.run(bundled, "the cat sat on the [MASK]", changes={CHANGE: "epsilon=0.5"})


def test_it_is_read_off_the_program_that_ran(trace, bundled):
    assert read_epsilon(trace, Address(NORM)) == 0.5
    assert read_epsilon(trace.before, Address(NORM)) == bundled.config.layer_norm_eps
    assert read_epsilon(trace, Address("embeddings.LayerNorm")) == bundled.config.layer_norm_eps


def test_the_direct_path_is_divided_by_it(trace):
    _, factors = follow_direct_path(trace, TOKEN)
    variances = []
    for layer in range(6):
        for part in ("attention.output", "output"):
            variances.append(float(trace[f"encoder.layer.{layer}.{part}.LayerNorm.variance"][TOKEN]))
    variances[4] += 0.5
    np.testing.assert_allclose(factors, np.cumprod(1 / np.sqrt(variances)), rtol=1e-6)


def test_the_page_works_with_it(trace):
    at = opened("add_norm", changes=f"{CHANGE}:epsilon=0.5", layer="2", token=str(TOKEN), show="After")
    variance = float(trace[f"{NORM}.variance"][TOKEN])
    root = format_latex(float(np.sqrt(variance + 0.5)))
    worked = rf"\sqrt{{{format_latex(variance)} + {format_latex(0.5)}}} = {root}"
    assert any(worked in each.value for each in at.markdown)
    x = trace["encoder.layer.2.attention.output.residual"][TOKEN].astype(np.float64)
    own, other = ((x - x.mean()) / np.sqrt(x.var() + epsilon) for epsilon in (0.5, 1e-3))
    told = " ".join(str(cell) for each in at.dataframe for cell in each.value.to_numpy().ravel())
    assert format_number(float(np.abs(other - own).max())) in told
