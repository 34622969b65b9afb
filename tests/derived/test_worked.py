"""Every worked formula on every page, with all its terms, is calculated: all members of a chain are one number."""

import re

import pytest

from bertviz_core.analysis.heads import ROLES
from bertviz_core.formula import numbers, tex
from bertviz_core.ui.views import heads_numbers
from tests.derived.reading import open_pages
from tests.derived.test_derived import SCENES
from tests.factory import random_checkpoint
from tests.often import together
from tests.worked import calculate, find_chains

EVERY_TERM = 100_000
# Formulas with digits in which nothing is worked: constants of a definition, and what a document should have printed.
DEFINITIONS = (
    r"0.044715\,x^3",  # GELU by tanh: Hendrycks & Gimpel's own constant
    "0.14v_{?}",  # a term without a value
    *(rf" \; > \; {role.above}" for role in ROLES),  # from where on a head has a role
)
ASKED = {
    "bundled": {**SCENES["a pair"], "text": "The [MASK] ran.", "pair": "It sat."},
    "padding": {**SCENES["padding"], "mix": "mixed", "scores": "0.4=12", "tensor": "pooler.dense.weight"},
}  # fmt: skip
LEAST = 67  # chains on all pages together


@pytest.fixture(scope="module", params=together("worked", ASKED, ["padding"]))
def panels(request, tmp_path_factory):
    """Every panel, with formulas that leave nothing out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tex, "_SHOWN_TERMS", EVERY_TERM)
        patch.setattr(heads_numbers, "_TERMS", EVERY_TERM)
        patch.setattr(numbers, "DECIMALS", 12)
        if request.param == "padding":
            patch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path_factory.mktemp("worked"), seed=4)))
        return list(open_pages(ASKED[request.param]).panels.values())


def test_all_members_of_a_chain_are_one_number(panels):
    wrong, count = [], 0
    for panel in panels:
        for chain in (chain for formula in panel.formulas for chain in find_chains(formula)):
            *before, last = [calculate(member) for member in chain.numeric]
            count += bool(before)
            if not all(member.meets(last) for member in before):
                wrong.append(f"{panel.page}, {panel.name}: {before} = {last}: {[m[:80] for m in chain.numeric]}")
            if any(member.slack > 1e-3 * max(1.0, abs(member.value)) for member in before):
                wrong.append(f"{panel.page}, {panel.name}: too coarse to tell: {before} = {last}")
    assert not wrong, "\n".join(wrong)
    assert count > LEAST


def test_a_formula_with_digits_is_worked_or_a_definition(panels):
    for panel in panels:
        for formula in panel.formulas:
            known = any(constant in formula for constant in DEFINITIONS)
            assert find_chains(formula) or known or not re.search(r"\d\.\d", formula), (panel.name, formula)


@pytest.mark.parametrize(("formula", "equal"), [
    (r"x = \frac{6.0000}{\sqrt{4.0000}} = 3.0000", True),
    (r"x = \frac{6.0000}{\sqrt{4.0000}} = 3.0100", False),
    (r"x = e^{0.5000 - 1.2500} = 0.4724", True),
    (r"x = e^{1.2500 - 0.5000} = 0.4724", False),
    (r"\footnotesize\begin{aligned} & x \\[4pt] &= \left.\begin{aligned} & 2.0000\cdot \left(-1.5000\right) \\ & + "
     r"4.0000 \end{aligned}\right\} + 0.5000 \\[4pt] &= 1.5000 \end{aligned}", True),
    (r"x = \frac{1}{2}\bigl(1.0000 + 3.0000\bigr) = 2.0000", True),
    (r"x = \sin\!\left(\frac{5}{10000^{2/64}}\right) = \sin(3.7495) = -0.5711", True),
    (r"x = \mathrm{GELU}(-3.1348) = -0.0026955", True),
    (r"x = 1.000\times 10^{-3} - 2.000\times 10^{-3} = -1.000\times 10^{-3}", True),
    (r"x = 1.000\times 10^{-3} - 2.000\times 10^{-3} = 1.000\times 10^{-3}", False),
])  # fmt: skip
def test_the_calculator_tells_equal_from_unequal(formula, equal):
    (chain,) = find_chains(formula)
    first, *_, last = (calculate(member) for member in chain.numeric)
    assert first.meets(last) == equal
