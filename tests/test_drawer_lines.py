"""The drawer's equations that take several steps in one go: their numbers give the number that is explained."""

import random
import re

import pytest

import bertviz_core as bv
from bertviz_core.formula.address import Address
from bertviz_core.formula.markup import write_html
from bertviz_core.programs import PROGRAMS
from bertviz_core.ui.walk.explain import work_out
from bertviz_core.ui.walk.templates.choosing import explain_number
from tests.canvas import look
from tests.latex import evaluated
from tests.often import one_in
from tests.test_explain import random_cell, scale

LAYER = "encoder.layer.2"


def write(trace, cell):
    shown = work_out(look(trace), cell)
    return shown.why, explain_number(look(trace), shown.why, shown.found)


@pytest.mark.parametrize("program", one_in(3, PROGRAMS))
def test_what_is_worked_in_one_go_gives_the_number(bundled, precise, program):
    trace = bv.run(bundled, "When in Rome, do as the [MASK] do.", program=program)
    chance, seen = random.Random(5), 0
    for path in trace.addresses:
        why, card = write(trace, random_cell(trace, path, chance))
        if card.line is None:
            continue
        assert write_html(card.line.right)
        if card.line.worked:
            found = evaluated(card.line.worked.replace(r"\dfrac", r"\frac").replace(r"\times 0", r"\cdot 0")).item()
            assert found == pytest.approx(why.recomputed, abs=1e-6 * max(1.0, scale(trace, why))), (path, card.line)
            seen += 1
    assert seen > trace.model.config.num_hidden_layers


def test_a_layernorm_is_one_formula_and_each_of_its_steps_can_be_walked_to(rome):
    _, card = write(rome, f"{LAYER}.output.LayerNorm[token=8,hidden=267]")
    plain = re.sub(r"\\htmlClass\{[^}]*\}", "", card.line.right)
    assert plain == r"{\gamma_{Z}} \cdot \dfrac{{z} - {\mu_{Z}}}{\sqrt{{\sigma^{2}_{Z}} + \varepsilon}} + {\beta_{Z}}"
    steps = {row.cells[0].step.path.removeprefix(f"{LAYER}.output.") for row in card.table.rows}
    assert steps == {
        "residual",
        "LayerNorm.mean",
        "LayerNorm.variance",
        "LayerNorm.normalized",
        "LayerNorm.weight",
        "LayerNorm.bias",
    }


def test_only_the_exact_gelu_is_a_share_of_a_normal_distribution(rome):
    cell = f"{LAYER}.intermediate.activation[token=8,intermediate=572]"
    _, card = write(rome, cell)
    assert r"\Phi(" in card.line.right and "normal distribution" in card.note
    for other in ("relu", "gelu_new"):
        changed = rome.with_changes({Address(cell).path.partition("[")[0]: other})
        assert write(changed, cell)[1].line is None


def test_a_score_is_a_product_of_two_vectors_over_a_root(rome):
    _, card = write(rome, f"{LAYER}.attention.self.scores[head=0,query=8,key=5]")
    assert card.line.right.count(r"\cdot") == 1 and r"\sqrt{d_k}" in card.line.right and "top" not in card.line.right
    mask = card.table.ends[-1]
    assert [cell.text for cell in mask.cells] == ["mask: hides nothing here", "", "", "adds 0"]
