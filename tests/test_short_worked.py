"""The seventh reading: a cell's formula with its numbers in one line, read back and worked out."""

import math
import random
import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.short import write_short_cell
from bertviz_core.formula.steps import walk_nodes
from bertviz_core.formula.tex import write_largest
from bertviz_core.programs import PROGRAMS
from tests.latex import balanced, evaluated
from tests.often import one_in
from tests.test_explain import random_cell, scale

LAYER = "encoder.layer.2."
GOLDEN = {
    "embeddings.sum[token=3,hidden=7]": "{} + {} + {}",
    f"{LAYER}attention.self.scores[head=1,query=8,key=3]": "{} + 0",
}


@pytest.fixture(scope="module", params=one_in(3, PROGRAMS))
def trace(request, bundled):
    return bv.run(bundled, "When in Rome, do as the [MASK] do.", program=request.param)


def test_what_stands_between_symbol_and_result_works_out_to_it(trace, precise):
    chance = random.Random(7)
    for path in trace.addresses:
        why = trace.explain(random_cell(trace, path, chance))
        if not why.short or any(isinstance(node, Lookup) for node in walk_nodes(why.step.expr)):
            continue
        found = evaluated(why.short.replace(r"\dfrac", r"\frac"))
        assert balanced(why.short)
        assert abs(found.item() - why.recomputed) <= 1e-7 * max(1.0, scale(trace, why)), (why.address, why.short)


def test_it_is_one_line_that_can_be_written_as_html(trace):
    chance = random.Random(8)
    for path in trace.addresses:
        why = trace.explain(random_cell(trace, path, chance))
        left, right = write_short_cell(why.step, (i for _, i in why.cell.index))
        assert write_html(left) and write_html(right)
        assert "aligned" not in why.short and len(write_html(why.short)) < 400, why.address
        assert why.short != format_latex(why.recomputed)


def test_a_sum_has_its_parts_and_a_mask_that_hides_nothing_adds_0(rome):
    for cell, form in GOLDEN.items():
        why = rome.explain(cell)
        numbers = [format_latex(source.values[0]) for source in why.sources][: form.count("{}")]
        assert why.short == form.format(*numbers).replace("+ -", "- ")


def test_a_fraction_is_stacked_where_a_line_has_room(rome):
    step = rome.step(f"{LAYER}attention.self.probs")
    left, right = write_short_cell(step, (8, 5))
    assert (left, right) == (r"{a}_{8,5}", r"\dfrac{e^{s - \max\, s}}{\sum_{\mathrm{key}}\, e^{s - \max\, s}}")
    assert write_html(right).startswith('<span class="bv-fraction"><span><i>e</i><sup>')


BEFORE, SELF = "encoder.layer.1.output.LayerNorm[token=8]", f"{LAYER}attention.self"
PRODUCTS = {
    f"{SELF}.products[head=0,query=8,key=3]": (f"{SELF}.query[head=0,query=8]", f"{SELF}.key[head=0,key=3]", ""),
    f"{SELF}.context[token=8,concat=35]": (f"{SELF}.probs[head=1,query=8]", f"{SELF}.value[head=1,head_dim=3]", ""),
    f"{SELF}.query[head=1,query=8,head_dim=3]": (
        BEFORE, f"{SELF}.query.weight[concat=35]", f"{SELF}.query.bias[concat=35]"),
    f"{LAYER}output.dense[token=8,hidden=7]": (
        f"{LAYER}intermediate.activation[token=8]", f"{LAYER}output.dense.weight[hidden=7]",
        f"{LAYER}output.dense.bias[hidden=7]"),
}  # fmt: skip


def write_operand(x):
    """With two decimals; with two digits where these are none."""
    return float(f"{x:.{max(2, 1 - math.floor(math.log10(abs(x))))}f}")


@pytest.mark.parametrize("cell", PRODUCTS)
def test_a_product_of_vectors_shows_the_operands_of_its_two_largest_terms(rome, cell):
    """As NumPy finds them; what follows them makes up the number that is recorded."""
    short, (*vectors, bias) = rome.explain(cell).short, PRODUCTS[cell]
    left, right = (rome[each].astype(np.float64).ravel() for each in vectors)
    order = np.argsort(-np.abs(left * right), kind="stable")[:2]
    shown, dots, added = short.partition(r" + \dots")
    assert dots and [float(each) for each in re.findall(r"-?[\d.]+", shown)] == [
        write_operand(x) for i in order for x in (left[i], right[i])
    ]
    more = float(rome[bias]) if bias else 0.0
    assert (left * right).sum() + more == pytest.approx(float(rome[cell]), abs=1e-5)
    assert added == (f" {'-' if more < 0 else '+'} {abs(more):.4f}" if bias else "")


def test_two_negative_factors_stand_side_by_side_and_one_behind_its_dot():
    assert write_largest([-1.5, 2.0, 0.1], [-2.0, 1.25, 3.0]) == (
        r"\left(-1.50\right)\left(-2.00\right) + 2.00 \cdot 1.25 + \dots"
    )
    assert write_largest([3.0], [-0.25]) == r"3.00\left(-0.25\right)"


def test_an_input_has_no_line_of_its_own(rome):
    assert rome.explain("input_ids[token=2]").short == ""
