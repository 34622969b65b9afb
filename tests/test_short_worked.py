"""The seventh reading: a cell's formula with its numbers in one line, read back and worked out."""

import random

import pytest

import bertviz_core as bv
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.numbers import format_latex
from bertviz_core.formula.shapes import Lookup
from bertviz_core.formula.short import write_short_cell
from bertviz_core.formula.steps import walk_nodes
from bertviz_core.programs import PROGRAMS
from tests.latex import balanced, evaluated
from tests.test_explain import random_cell, scale

LAYER = "encoder.layer.2."
GOLDEN = {
    "embeddings.sum[token=3,hidden=7]": "{} + {} + {}",
    f"{LAYER}attention.self.scores[head=1,query=8,key=3]": "{} + 0",
}


@pytest.fixture(scope="module", params=PROGRAMS)
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


def test_what_is_computed_at_one_go_has_no_line_of_its_own(rome):
    assert rome.explain(f"{LAYER}attention.self.products[head=0,query=1,key=2]").short == ""
    assert rome.explain("input_ids[token=2]").short == ""
