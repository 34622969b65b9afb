"""What the shortest story says of its way: true of each number's parts, also where two count alike, as numbers here."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.parts import SUMMAND, TERM, WITHOUT, take_apart
from bertviz_core.analysis.walk import find_beginnings, list_turns
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.views.story_words import name_part, tell_choice, tell_passed
from tests.claims.states import list_states
from tests.factory import random_checkpoint

KINDS = ("pretraining", "base-without-pooler", "token-classification")
LEADS = re.compile(r"Of the (?:term|summand)s of .+ the largest in size(?: computed .+)?: |No other score .+ as much: ")
SHARES = re.compile(r"No (?:term|summand) of .+ is larger in size than this: |No other score .+ more: ")


@pytest.fixture(scope="module")
def models(bundled, tmp_path_factory):
    folders = (random_checkpoint(tmp_path_factory.mktemp("story"), kind=kind, seed=i) for i, kind in enumerate(KINDS))
    return [bundled, *map(bv.load_model, folders)]


@pytest.fixture(scope="module")
def turns(models):
    """Every step of the stories of 60 random states, each with its trace."""
    found = []
    for shown in list_states(models, 60, 29):
        trace = shown.view.trace
        start = next(iter(find_beginnings(trace, shown.view.chosen.token).values()))
        found += [(trace, turn) for turn in list_turns(trace, start)]
    return found


def mark_put(trace, cell):
    """Whether a change put a number there, whatever was computed."""
    put = np.zeros(trace.shape(cell.path), dtype=bool)
    for override in trace.overrides(cell.path):
        if not override.times and not override.plus:
            put[override.index] = True
    return bool(put[tuple(cell.at[axis] for axis in trace.dims(cell.path))])


def list_sizes(trace, turn):
    """How much each part counts, worked out from the operands: of what can be followed, and of all else."""
    depending, fixed, changing = [], [], trace.program.reached(("input_ids",))
    found = take_apart(trace, trace.explain(turn.cell))
    if found.measure is WITHOUT:
        (block,) = found.groups[0].blocks
        row = np.asarray(trace[block.path])[np.ix_(*(indices for _, indices in block.sides))].ravel()
        powers = np.exp(row.astype(np.float64) - row.max())
        own = int(turn.cell.index[-1][1])
        without = powers[own] / np.maximum(powers.sum() - powers, 1e-300)
        without[own] = 0
        return np.abs(without - powers[own] / powers.sum()).tolist(), []
    for part in found:
        factors = [float(trace[operand]) for operand in part.operands]
        size = abs(float(np.prod(factors))) if found.measure is TERM else abs(part.amount)
        zero = {operand for operand in part.operands if not trace[operand] and mark_put(trace, operand)}
        depends = any(operand.path in changing and operand not in zero for operand in part.operands)
        (depending if depends else fixed).append(size)
    return depending or fixed, fixed if depending else []


@pytest.mark.rare
@pytest.mark.slow
def test_what_is_said_of_a_way_is_true_of_the_parts(turns):
    seen = set()
    for trace, turn in turns:
        said, choice = tell_choice(trace, turn), turn.choice
        if not said:
            continue
        sizes, others = list_sizes(trace, turn)
        sizes.sort(reverse=True)
        leads, shares = LEADS.match(said), SHARES.match(said)
        assert bool(leads) != bool(shares), said
        assert choice.weight == pytest.approx(sizes[0], rel=1e-5, abs=1e-12), said
        if leads and len(sizes) > 1:
            assert sizes[1] < sizes[0] * (1 + 1e-6) and format_number(choice.weight) != format_number(sizes[1]), said
        if shares:
            assert format_number(sizes[0]) == format_number(sizes[1]), said
        passed = bool(others) and max(others) > sizes[0] * (1 + 1e-6)
        assert passed <= ("computed from the token ids" in said) <= bool(others), said
        assert bool(tell_passed(trace, turn)) == ("computed from the token ids" in said)
        assert f" {format_number(choice.part.amount)}." in said
        seen.add((choice.measure.heading, bool(leads), passed))
    assert {heading for heading, *_ in seen} == {TERM.heading, SUMMAND.heading, WITHOUT.heading}
    assert {leads for _, leads, _ in seen} == {passed for *_, passed in seen} == {True, False}


def test_the_table_of_steps_says_the_same_in_short(turns):
    for trace, turn in turns:
        said = tell_choice(trace, turn)
        if said and turn.choice.measure.sums:
            short = name_part(turn)
            assert short.startswith("the largest ") or SHARES.match(said), (short, said)
            assert ("computed from the token ids" in short) == ("computed from the token ids" in said)


def test_a_story_passes_a_put_0_and_says_of_what_else_a_change_put_there_that_it_is_put(bundled):
    """It had told of a put 0 as the largest term computed from the token ids."""
    norm = "encoder.layer.5.output.LayerNorm"
    trace = bv.run(bundled, "Iron rusts, gold [MASK] not.", changes={f"{norm}[token=3]": 0.0, f"{norm}[token=4]": 3.0})
    said = {}
    for token in (3, 4):
        for i in range(384):
            cell = Address("cls.predictions.transform.dense").fix(token=token, transform=i)
            (turn, *rest) = list_turns(trace, cell)
            said.setdefault((token, bool(turn.choice.passed)), []).append(tell_choice(trace, turn))
            followed = rest[0].cell.path
            assert followed == norm if token == 4 else followed in trace.model.parameters
    assert (3, True) not in said and not any("token ids" in each for each in said[3, False])
    assert all("computed from the token ids or put there by a change" in each for each in said.get((4, True), ()))
