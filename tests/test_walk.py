"""The walk back: the story from a prediction to the input, what it follows and what it passes, where it stops."""

from itertools import pairwise

import pytest

import bertviz_core as bv
from bertviz_core.analysis import walk
from bertviz_core.analysis.parts import take_apart
from bertviz_core.analysis.predictions import rank_words
from bertviz_core.analysis.walk import choose_stops, choose_way, find_beginnings, list_turns, tell_story
from bertviz_core.formula.address import Address, parse
from tests.factory import random_checkpoint
from tests.often import seldom
from tests.test_put import opened

PREDICTION = Address("cls.predictions.probs").fix(token=8, vocab=2111)  # people
LAYER = "encoder.layer.2"


def chosen(trace, address):
    return choose_way(trace, take_apart(trace, trace.explain(address)), trace.program.reached(("input_ids",)))


def test_the_story_goes_from_operand_to_operand_down_to_a_token_id(rome):
    told = tell_story(rome, PREDICTION)
    assert told[0] == PREDICTION
    for here, there in pairwise(told):
        assert str(there) in dict(rome.explain(here).operands)
    assert told[-1].path == "input_ids"
    layers = [cell.layer for cell in told if cell.layer is not None]
    assert layers == sorted(layers, reverse=True) and set(layers) == set(range(6))


@pytest.mark.parametrize("token", [i if i % 2 == 0 else seldom(i) for i in range(12)])
def test_the_story_follows_the_largest_part_that_depends_on_the_words(rome, token):
    start = Address("cls.predictions.probs").fix(token=token, vocab=rank_words(rome, token, 1)[0][2])
    turns = list_turns(rome, start)
    assert [turn.cell for turn in turns] == list(tell_story(rome, start)) and turns[-1].choice is None
    constant = {
        *rome.model.parameters,
        "position_ids",
        "token_type_ids",
        "attention_mask",
        "embeddings.position_embeddings",
        "embeddings.token_type_embeddings",
    }
    passed = []
    for here, there in pairwise(turns):
        found, way = take_apart(rome, rome.explain(here.cell)), here.choice
        assert way.operand == there.cell and way.operand in way.part.operands and way.measure is found.measure
        open_to = [part for part in found if not {operand.path for operand in part.operands} <= constant]
        if found.measure.sums:
            assert abs(way.part.amount) == max(abs(part.amount) for part in open_to)
            larger = max(found, key=lambda part: abs(part.amount))
            assert way.passed == (larger if abs(larger.amount) > abs(way.part.amount) else None)
            passed += [way.passed] if way.passed else []
    assert all(operand.path in constant for part in passed for operand in part.operands)


def test_a_larger_bias_is_passed_and_said(rome):
    bias, seen = Address("cls.predictions.transform.dense.bias"), set()
    for column in range(0, 384, 7):
        way = chosen(rome, f"cls.predictions.transform.dense[token=8,transform={column}]")
        amount = float(rome.model.parameters[bias.path][column])
        assert way.operand.path == "encoder.layer.5.output.LayerNorm"
        assert bool(way.passed) == (abs(amount) > abs(way.part.amount))
        if way.passed:
            assert way.passed.operands == (bias.fix(transform=column),) and way.passed.amount == pytest.approx(amount)
        seen.add(bool(way.passed))
    assert seen == {True, False}


def test_through_attention_the_story_takes_the_value_and_not_its_weight(rome):
    for column in range(0, 384, 29):
        way = chosen(rome, f"{LAYER}.attention.self.context[token=8,concat={column}]")
        weight, value = way.part.operands
        assert weight.path == f"{LAYER}.attention.self.probs" and way.operand == value


def test_from_a_weight_the_story_takes_the_score_that_moves_it_most(rome):
    address = f"{LAYER}.attention.self.probs[head=1,query=8,key=3]"
    moves = {i: abs(part.amount - rome[address]) for i, part in enumerate(take_apart(rome, rome.explain(address)))}
    assert chosen(rome, address).operand.at["key"] == max(moves, key=moves.__getitem__)


def test_where_the_words_make_no_difference_the_story_ends_at_a_parameter(rome):
    told = tell_story(rome, parse("embeddings.position_embeddings[token=3,hidden=7]"))
    assert [str(cell) for cell in told[1:]] == ["embeddings.position_embeddings.weight[position=3,hidden=7]"]


@pytest.mark.parametrize("address", ["embeddings.LayerNorm.weight[hidden=3]", "input_ids[token=2]"])
def test_of_what_is_made_from_nothing_there_is_no_story(rome, address):
    assert tell_story(rome, parse(address)) == (parse(address),) and chosen(rome, address) is None


def test_stops_are_few_and_where_the_place_changes(rome):
    told = tell_story(rome, PREDICTION)
    stops = choose_stops(rome, told)
    assert stops[0] == 0 and stops[-1] == len(told) - 1 and len(stops) < len(told) / 3
    for i in range(1, len(told) - 1):
        first = told[i].path.startswith("embeddings.") and not told[i - 1].path.startswith("embeddings.")
        assert (i in stops) == (told[i].at != told[i - 1].at or first)


@pytest.mark.parametrize("layers", [12, seldom(24)])
def test_the_story_of_a_deep_model_is_told_to_its_end(tmp_path, layers):
    """After 80 steps it had stopped amid the layers; its page then failed."""
    model = bv.load_model(random_checkpoint(tmp_path, num_hidden_layers=layers))
    trace = bv.run(model, "the cat sat on the [MASK]")
    told = tell_story(trace, next(iter(find_beginnings(trace, 6).values())))
    assert told[-1].path == "input_ids" and len(told) > 80


def test_a_story_that_is_too_long_says_where_it_stops(monkeypatch):
    monkeypatch.setattr(walk, "LONGEST_STORY", 5)
    at = opened("story", {}, "A way that is cut [MASK].")
    assert not at.error and at.title[0].value.endswith(", after 5 steps")
