"""What a head is worth, as the drawer works it out: from the scores of two passes, by NumPy."""

from dataclasses import replace

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.ui.views.heads_told import tell
from tests.canvas import look

MASK, LAYER, HEAD = 8, 5, 5
WHERE = Address("heads.worth").fix(layer=LAYER, head=HEAD, token=MASK, answer=0)


def read_shares(trace):
    scores = trace[f"cls.predictions.decoder[token={MASK}]"].astype(np.float64)
    powers = np.exp(scores - scores.max())
    return scores, powers / powers.sum()


def test_it_is_the_share_with_the_head_less_that_without_and_its_logits_are_listed(rome):
    told = tell(look(rome, token=MASK), WHERE)
    without = rome.with_changes({f"encoder.layer.{LAYER}.attention.self.probs[head={HEAD}]": 0.0})
    (scores, shares), (others, left) = read_shares(rome), read_shares(without)
    best = int(scores.argmax())
    assert told.number == pytest.approx(shares[best] - left[best], abs=1e-6)
    assert told.unit == f"{100 * told.number:.1f} points"
    said = str(told.card.sentence)
    assert f"has **{format_percent(shares[best])}**" in said and f"at 0, {format_percent(left[best])}" in said
    first, *_ = told.card.table.rows
    name, *numbers = (cell.text for cell in first.cells)
    assert name == rome.model.tokenizer.token(best) and first.own
    assert numbers == [format_number(float(x)) for x in (scores[best], others[best], scores[best] - others[best])]
    sums = [np.log(np.exp(each).sum()) for each in (scores, others)]
    (end,) = told.card.table.ends
    assert [cell.text for cell in end.cells][1:3] == [format_number(float(x)) for x in sums]
    assert shares[best] == pytest.approx(np.exp(scores[best] - sums[0]))


def test_a_head_that_is_left_out_already_is_worth_the_same(rome):
    changed = rome.with_changes({f"encoder.layer.{LAYER}.attention.self.probs[head={HEAD}]": 0.0})
    view = replace(look(rome, changed, token=MASK), text="When in Rome, do as the [MASK] do.")
    assert tell(view, WHERE).number == pytest.approx(tell(look(rome, token=MASK), WHERE).number, abs=1e-7)


def test_a_probability_that_a_change_put_there_is_not_made_from_scores_and_tells_nothing_of_the_others(rome):
    path = f"cls.predictions.probs[token={MASK},vocab=3000]"
    view = look(rome, rome.with_changes({path: 0.9}), token=MASK)
    put = tell(view, WHERE)
    assert put.number == 0 and put.card.table is None
    (end,) = tell(view, Address("heads.worth").fix(**{**WHERE.at, "answer": 1})).card.table.ends
    assert end.cells[1].text == format_number(float(np.log(np.exp(read_shares(rome)[0]).sum())))


@pytest.mark.parametrize("wrong", [{"layer": 6}, {"head": 12}, {"token": 99}, {"answer": 50}, {}])
def test_an_address_that_names_no_head_is_refused(rome, wrong):
    view = look(rome, token=MASK)
    assert tell(view, Address("cls.predictions.probs")) is None
    where = Address("heads.worth").fix(**{**WHERE.at, **wrong}) if wrong else Address("heads.worth")
    with pytest.raises(bv.AddressError, match="names no layer, head, token and answer"):
        tell(view, where)
