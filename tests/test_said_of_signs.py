"""Which way a part pulls is said as its sign has it, and of padding none is named as the largest."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.canvas import Spot, find_most
from bertviz_core.analysis.token_lines import choose_links, choose_strongest
from bertviz_core.formula.address import read_address
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.walk.explain import work_out
from bertviz_core.ui.walk.templates.choosing import explain_number
from bertviz_core.ui.walk.worked_out import find_worked_out
from tests.canvas import look
from tests.test_put import opened, read, tell

SCORE = "cls.predictions.decoder"


def headline(text, token, **query):
    at = opened("where_from", {}, text, layer="0", head="0", token=str(token), **query)
    return re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", at.title[0].value)


def name_cell(token, word):
    return f"{SCORE}[token={token},vocab={word}]"


# A lead whose parts have all the same sign: the text, the token, the words, and what is said.
SEP = r"\*\*no token speaks for it\*\*; “\[SEP\]” most against, −1\.69$"
LEADS = {
    "all for": ("b [MASK]", 1, "b", ":", r"“b” speaks most for it, \+14\.3\d\*\*; none against it$"),
    "all against": ("la la", 0, "everything", "string", SEP),
    "both": ("b [MASK]", 2, ".", "the", r" speaks most for it, \+[\d.]+\*\*; .+ most against, −[\d.]+$"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEADS)
def test_of_a_lead_no_part_is_called_for_or_against_that_has_not_that_sign(bundled, name):
    text, token, word, other, said = LEADS[name]
    cells = [name_cell(token, bundled.tokenizer.id(one)) for one in (word, other)]
    parts = bv.attribute(bv.run(bundled, text), cells[0], against=cells[1]).parts
    assert {*np.sign(parts)} == {"all for": {1}, "all against": {-1}, "both": {1, -1}}[name]
    assert re.search(said, headline(text, token, instead=cells[1]))


def test_of_a_sum_below_0_the_part_that_is_named_is_below_0(bundled):
    """Not the largest, which pulls the other way."""
    trace = bv.run(bundled, "The sun rises in the [MASK].")
    word = int(np.asarray(trace[f"{SCORE}[token=3]"]).argmin())
    found = bv.attribute(trace, name_cell(3, word))
    assert found.total < 0 < found.parts.max()
    least = int(found.parts.argmin())
    said = (
        f"Of the tokens most from **{name_token(trace.tokens, least)}: {format_short(found.parts[least])} in a sum of"
    )
    assert f"{said} {format_short(found.total)}**" in headline("The sun rises in the [MASK].", 3, of=name_cell(3, word))


@pytest.mark.parametrize("choose", [np.argmin, np.argmax])
def test_the_token_that_goes_the_other_way_is_named_with_its_sign(bundled, choose):
    """Of a sum below 0 the one that raises it most, of one above 0 the one that lowers it most."""
    trace = bv.run(bundled, "The sun rises in the [MASK].")
    word = int(choose(np.asarray(trace[f"{SCORE}[token=3]"])))
    found = bv.attribute(trace, name_cell(3, word))
    raised = found.total < 0
    other = int(found.parts.argmax() if raised else found.parts.argmin())
    assert raised == (choose is np.argmin) and (found.parts[other] > 0) == raised and found.parts[other]
    said = f"; {name_token(trace.tokens, other)} {'raises' if raised else 'lowers'} it most: {'+' * raised}"
    assert f"{said}{format_short(found.parts[other])}" in headline(
        "The sun rises in the [MASK].", 3, of=name_cell(3, word)
    )


def test_a_token_that_is_masked_out_is_not_named_as_the_largest_part(bundled):
    """Also where the number is its own, of which it carried the most itself."""
    trace, where = bv.run(bundled, "Go home.", pad_to=7), name_cell(6, bundled.tokenizer.id("salesman"))
    parts = bv.attribute(trace, where).parts
    assert parts.argmin() == 6 and not parts[5] and parts.sum() < 0
    most = int(parts[:5].argmin())
    said = f"Of the tokens not masked out most from **{name_token(trace.tokens, most)}: {format_short(parts[most])} in"
    assert said in headline("Go home.", 6, pad="7", of=where)
    assert "not masked out" not in headline("Go home.", 1, pad="7")


# A head whose weights a change multiplies by −1: none is above 0, and none of padding is named as the largest.

OWN = "encoder.layer.3.attention.self"
MINUS = {f"{OWN}.probs[head=7]": "scale=-1"}
PADDED = {"layer": "3", "head": "7", "token": "2", "pad": "9"}


def test_weights_that_a_change_turns_below_0_are_not_said_to_be_0(bundled):
    """Where those of padding, which are 0, are the largest of the row."""
    trace = bv.run(bundled, "Go home.", pad_to=9, changes=MINUS)
    row = trace[f"{OWN}.probs[head=7,query=2]"]
    best = int(row[:5].argmax())
    assert row.max() == 0 > row[best] and not row[5:].any()
    at = opened("attention", MINUS, "Go home.", **PADDED)
    title, name = read(at)[0], name_token(trace.tokens, best)
    assert f"has 5 of 5 weights below 0, which a change puts there; the largest is that on **{name}: " in title
    assert "are 0" not in title and f"“{trace.tokens[best]}” at position {best} is shown, with " in title
    assert "No line but that of the pair explained, dashed: none of these weights is above 0." in read(at)[0]
    assert f" has no larger weight than one below 0, that on {name}. " in tell(trace, 3, 7, 2)["ask / offer"]
    found = find_most(trace, Spot(3, 7, 2, None, range(9)))
    assert found.share == 0 and not found.nowhere


def test_what_is_not_drawn_of_weights_below_0_is_below_0():
    weights = np.array([[-0.6, 0.0, -0.4, 0.0], [0.0, 0.0, 0.0, 0.0], [-0.1, -0.2, -0.7, 0.0], [0.0] * 4])
    hide = [False, False, False, True]
    assert choose_links(weights, [0] * 4, [True, False, False, True], "all", 1, 4).hidden.tolist() == [0.0, -0.1]
    shown = choose_strongest(weights, hide, 0, 4, 1)
    assert shown.keys == [0, 1, 2] and np.nansum(shown.weights, axis=1).tolist() == [0.0, 0.0, -0.1]
    assert shown.hidden.tolist() == pytest.approx([-1.0, 0.0, -0.9])


def read_drawer(trace, cell):
    view = look(trace.before or trace, trace)
    told = find_worked_out(view, read_address(cell))
    shown = None if told else work_out(view, cell)
    card = told.card if told else explain_number(view, shown.why, shown.found)
    return str(card.sentence)


def test_what_a_change_multiplies_is_not_said_to_be_replaced(bundled):
    cell = f"{OWN}.probs[head=7,query=2,key=1]"
    once = bv.run(bundled, "Go home.", changes=MINUS)
    assert read_drawer(once, cell) == "A what-if change multiplies what the step computes. A walk back ends here."
    put = bv.run(bundled, "Go home.", changes={**MINUS, cell: 0.5})
    assert (
        read_drawer(put, cell) == "Set by a what-if change; it replaces what the step computes. A walk back ends here."
    )
    noise = bv.run(bundled, "Go home.", changes={"embeddings.word_embeddings[token=2]": "noise=7"})
    said = read_drawer(noise, "embeddings.word_embeddings[token=2,hidden=3]")
    assert said == "A what-if change adds to what the step computes. A walk back ends here."


def test_of_weights_that_do_not_sum_to_1_no_half_is_counted(bundled):
    cell = "encoder.layer.{}.attention.self.probs.rollout[query=2,key=1]"
    half, halves = "Each layer counts half", "As changed, not all attention weights sum to 1: in each layer half of"
    changed = bv.run(bundled, "Go home.", changes=MINUS)  # in layer 3, and not below it
    assert half in read_drawer(changed, cell.format(2)) and halves in read_drawer(changed, cell.format(4))
    assert half in read_drawer(bv.run(bundled, "Go home."), cell.format(4))


def test_the_largest_weight_beside_padding_is_none_of_padding(bundled):
    at = opened("tokenization", MINUS, "Go home.", **PADDED)
    text = "".join(re.sub("<[^>]*>", " ", each.proto.body) for each in at.get("html"))
    assert "(largest weight, " in text and not re.search(r"\[PAD\] \(largest weight", text)


@pytest.mark.parametrize(("factor", "added"), [(-1, ", none is above 0"), (1, "")])
def test_a_largest_weight_below_0_is_said_to_be_below(factor, added):
    scaled = {"encoder.layer.2.attention.self.probs[head=1]": f"scale={factor}"}
    at = opened("tokenization", scaled, "Go home.", layer="2", head="1", pad="9")
    text = "".join(re.sub("<[^>]*>", " ", each.proto.body) for each in at.get("html"))
    assert re.search(rf"\(largest weight{added}\)", text)
