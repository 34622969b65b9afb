"""The drawer's numbers of what several methods say of a token, each by its definition in NumPy or a pass of its own."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis import methods, origins
from bertviz_core.analysis.attribution import Question
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import read_address
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.numbers import format_percent
from bertviz_core.ui.frame import resources
from bertviz_core.ui.views.where_from_methods import find_cells, list_amounts
from bertviz_core.ui.walk.card import render_table
from bertviz_core.ui.walk.origin import ask_hidden, ask_methods, find_origins_of
from bertviz_core.ui.walk.worked_number import UnfinishedError
from bertviz_core.ui.walk.worked_out import find_worked_out
from tests.canvas import look
from tests.often import one_in
from tests.settling import settle
from tests.test_value_weighted import weigh_by_hand
from tests.worked import calculate, find_chains

LOGIT = "cls.predictions.decoder[token=8,vocab=2111]"
WEIGHTS = "encoder.layer.5.attention.self.probs"
# What is asked of which pass: alone, less another word, and after changes that make rows of weights no shares.
STATES = {
    "alone": (Question(read_address(LOGIT)), {}),
    "a lead": (Question(read_address(LOGIT), read_address(LOGIT.replace("2111", "2273"))), {}),
    "changed": (
        Question(read_address(LOGIT)),
        {"encoder.layer.5.attention.self.probs[head=0]": 0.0, "encoder.layer.2.attention.self.probs[head=3]": 0.0},
    ),
}


@pytest.fixture(scope="module", params=one_in(2, STATES))
def state(request, rome):
    """A pass, a question, and all that the page finds out about it."""
    question, changes = STATES[request.param]
    trace = rome.with_changes(changes) if changes else rome
    asked = [ask_methods(trace, question), ask_hidden(trace, question, find_origins_of(trace, question).parts.parts)]
    for each in asked:
        each.look()
        assert settle()
    return trace, question, asked[0].look().value


def list_oracles(trace, question):
    """(method, token) by definition; of hiding, what a pass with another id gives."""
    logits = [*question.weights.items()]
    now = measure(trace, question)
    mask = trace.model.tokenizer.mask_id
    falls = [
        now - measure(trace.with_changes({f"input_ids[token={i}]": mask}), question) if i != 8 else np.nan
        for i in range(len(trace.tokens))
    ]
    attention = [trace[f"encoder.layer.{i}.attention.self.probs"].astype(float).mean(axis=0) for i in range(6)]
    rolled = np.eye(len(trace.tokens))
    for mean in attention:
        mixed = (mean + np.eye(len(mean))) / 2
        rolled = mixed / mixed.sum(axis=1, keepdims=True) @ rolled
    values, residual = weigh_by_hand(trace, 5)
    against = None if len(logits) == 1 else logits[1][0]
    return {
        "hidden": np.array(falls),
        "gradients": bv.attribute(trace, logits[0][0], against, method="gradients").parts,
        "attention": attention[-1][8],
        "· value, W": values[8],
        "· + residual": residual[8],
        "roll-out": rolled[8],
    }


def measure(trace, question):
    read = [float(trace[cell]) for cell in question.weights]
    if question.against is not None:
        return read[0] - read[1]
    return float(np.log(trace["cls.predictions.probs[token=8,vocab=2111]"]))


def test_every_cell_of_the_strips_is_the_number_of_its_drawer(state):
    trace, question, found = state
    view = look(trace, token=8)
    amounts = list_amounts(view, question, found)
    cells, blank = find_cells(view, question), 8
    assert len(cells) == len(amounts) == 8
    for (name, row), address in zip(amounts.items(), cells, strict=True):
        for j in set(range(len(row))) - {blank}:
            told = find_worked_out(view, read_address(address.replace("{x}", str(j))))
            assert told.number == pytest.approx(row[j], rel=1e-5, abs=1e-7), (name, j)
            assert ("share" in name) == told.name.startswith("Share of "), (name, told.name)
            assert write_html(told.line.left) and write_html(told.line.right) and write_html(told.line.worked)


def test_every_cell_is_what_its_method_is_defined_as(state):
    trace, question, found = state
    amounts, oracles = list_amounts(look(trace, token=8), question, found), list_oracles(trace, question)
    for name, expected in oracles.items():
        np.testing.assert_allclose(amounts[name], expected, atol=2e-5, err_msg=name)


def test_the_worked_lines_give_their_numbers(rome):
    for where in ("averaged[query=8,key=3]", "rollout[query=8,key=3]"):
        told = find_worked_out(look(rome), read_address(f"{WEIGHTS}.{where}"))
        rows = re.findall(r'data-step="([^"]*)"', render_table(told.card.table))
        assert rows, where
    fall = find_worked_out(look(rome), read_address(LOGIT.replace("[", ".fall[").replace("]", ",source=9]")))
    (chain,) = find_chains(f"x = {fall.line.worked} = {fall.number:.4f}")
    one, other = (calculate(member) for member in chain.numeric)
    assert one.meets(other)


def test_every_operand_is_a_number_that_opens(rome):
    view = look(rome)
    todo = [f"{WEIGHTS}.rollout[query=8,key=3]", "encoder.layer.5.attention.output.dense.brought[token=8,source=3]",
            LOGIT.replace("[", ".fall[").replace("]", ",source=9]")]  # fmt: skip
    for where in todo:
        steps = re.findall(r'data-step="([^"]*)"', render_table(find_worked_out(view, read_address(where)).card.table))
        assert steps, where
        for step in steps:
            assert find_worked_out(view, read_address(step)) is not None or not rome.dims(step), step


def test_a_first_layer_s_rollout_is_half_attention_and_half_the_token(rome):
    mean = rome["encoder.layer.0.attention.self.probs"].astype(float).mean(axis=0)
    for key in (3, 8):
        told = find_worked_out(
            look(rome), read_address(f"encoder.layer.0.attention.self.probs.rollout[query=8,key={key}]")
        )
        assert told.number == pytest.approx((mean[8, key] + (key == 8)) / 2, abs=1e-7)


def test_a_later_layers_rollout_goes_by_way_of_the_layer_below(rome):
    rolled = np.eye(len(rome.tokens))
    for layer in range(3):
        mean = rome[f"encoder.layer.{layer}.attention.self.probs"].astype(float).mean(axis=0)
        rolled = (mean + np.eye(len(mean))) / 2 @ rolled
        where = f"encoder.layer.{layer}.attention.self.probs.rollout[query=8,key=3]"
        assert find_worked_out(look(rome), read_address(where)).number == pytest.approx(rolled[8, 3], abs=1e-6)


def test_what_is_brought_is_told_with_the_weight_that_the_token_gives_and_not_with_that_given_back(rome):
    mean = rome[WEIGHTS].astype(float).mean(axis=0)
    assert format_percent(mean[8, 3]) != format_percent(mean[3, 8])
    where = "encoder.layer.5.attention.output.dense.brought[token=8,source=3]"
    said = find_worked_out(look(rome), read_address(where)).card.sentence.text
    assert said.endswith(f"Its mean attention weight is {format_percent(mean[8, 3])}.")


def test_gradients_that_miss_too_much_are_taken_at_more_steps(rome, monkeypatch):
    question, _ = STATES["alone"]
    monkeypatch.setattr(methods, "STEPS", 1)
    done, found = zip(*methods.try_methods(rome, question), strict=True)
    assert [*done] == sorted(done) and done[-1] == 1.0
    assert {each.gradients for each in found[:-1]} == {None}, "what misses too much is never shown"
    assert found[-1].complete and found[-1].gradients.steps > 1


def test_gradients_that_are_not_known_yet_are_asked_for_again(rome):
    fresh = rome.with_changes({"encoder.layer.1.attention.self.probs[head=2]": 0.0})
    where = read_address(LOGIT.replace("[", ".integrated[").replace("]", ",source=9]"))
    with pytest.raises(UnfinishedError):
        find_worked_out(look(fresh), where)
    assert settle()
    expected = bv.attribute(fresh, LOGIT, method="gradients").parts[9]
    assert find_worked_out(look(fresh), where).number == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "where",
    [
        f"{WEIGHTS}.averaged[query=8]",
        f"{WEIGHTS}.averaged[query=8,key=12]",
        f"{WEIGHTS}.rollout[head=1,query=8,key=3]",
        "encoder.layer.5.output.dense.brought[token=8,source=3]",
        "encoder.layer.5.attention.output.dense.brought[token=8,source=12]",
        "embeddings.LayerNorm.brought[token=8,source=3]",
        LOGIT.replace("[", ".fall["),
        LOGIT.replace("[", ".fall[").replace("]", ",source=8]"),
        LOGIT.replace("[", ".integrated[").replace("]", ",source=12]"),
    ],
)
def test_what_names_no_such_number_is_refused_in_words(rome, where):
    with pytest.raises(AddressError):
        find_worked_out(look(rome), read_address(where))


def test_who_asks_for_what_is_known_already_waits_for_no_turn(rome, monkeypatch):
    question, _ = STATES["alone"]
    known = find_origins_of(rome, question)

    def refuse():
        raise AssertionError("a turn was asked for")

    monkeypatch.setattr(resources, "take_turn", refuse)
    assert find_origins_of(rome, question) is known
    with pytest.raises(AssertionError, match="a turn"):
        find_origins_of(rome.with_changes({f"{WEIGHTS}[head=1]": 0.0}), question)


def test_who_is_refused_waits_for_no_turn(rome, monkeypatch):
    monkeypatch.setattr(origins, "MOST_BYTES", 1000)
    monkeypatch.setattr(resources, "take_turn", None)
    with pytest.raises(bv.InputError, match="12 tokens"):
        find_origins_of(rome.with_changes({f"{WEIGHTS}[head=2]": 0.0}), STATES["alone"][0])
