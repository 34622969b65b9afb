"""What the model guesses where a token is hidden, against a pass over the sentence with [MASK] typed there."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.hiding import guess_token, guess_tokens, list_hideable, read_hidden
from bertviz_core.formula.address import Address
from tests.factory import random_checkpoint
from tests.test_put import opened


def guess_all(trace, positions):
    *_, (done, (found,)) = guess_tokens([trace], positions)
    assert done == 1
    return found


def test_a_guess_is_that_of_the_sentence_with_the_word_hidden(bundled, rome):
    typed = bv.run(bundled, "When in [MASK], do as the [MASK] do.")
    probs = typed["cls.predictions.probs[token=3]"]
    best = int(probs.argmax())
    guess = guess_all(rome, [3])[3]
    assert guess.word == bundled.tokenizer.token(best)
    np.testing.assert_allclose(guess.probability, probs[best], rtol=1e-5)
    own = rome.encoding.ids[3]
    assert guess.rank == 1 + sum(p > probs[own] for p in probs.tolist())
    assert guess == guess_token(typed, 3, own) or abs(guess.probability - probs[best]) < 1e-6


def test_each_position_is_hidden_by_itself(bundled, rome):
    found = guess_all(rome, [1, 2])
    for position, text in ((1, "[MASK] in Rome, do as the [MASK] do."), (2, "When [MASK] Rome, do as the [MASK] do.")):
        alone = bv.run(bundled, text)[f"cls.predictions.probs[token={position}]"]
        assert found[position].word == bundled.tokenizer.token(int(alone.argmax()))
    assert rome.tokens[1:3] == ["when", "in"]


def test_guesses_of_two_passes_come_one_by_one(bundled, rome):
    other = rome.with_changes({"encoder.layer.2.attention.self.probs[head=3]": 0.0})
    steps = list(guess_tokens([rome, other], [1, 2]))
    assert [done for done, _ in steps] == [0.5, 1]
    assert [[*map(list, found)] for _, found in steps] == [[[1, 2], []], [[1, 2], [1, 2]]]
    text = "When [MASK] Rome, do as the [MASK] do."
    alone = bv.run(bundled, text, changes=other.changes)["cls.predictions.probs[token=2]"]
    np.testing.assert_allclose(steps[-1][1][1][2].probability, alone.max(), rtol=1e-5)


def test_a_token_that_is_masked_out_is_none_to_hide(rome):
    """Nothing attends to it, whatever stands there."""
    assert list_hideable(rome) == (1, 2, 3, 4, 5, 6, 7, 9, 10)
    assert list_hideable(rome.with_changes({"attention_mask[token=3]": 0})) == (1, 2, 4, 5, 6, 7, 9, 10)


@pytest.mark.parametrize("which", ["start", "end"])
def test_where_an_answer_begins_and_ends_is_told_with_each_token_hidden(tmp_path, which):
    model = bv.load_model(random_checkpoint(tmp_path, kind="question-answering"))
    trace = bv.run(model, "the cat sat on the mat", "in rome")
    cells = [Address(f"qa_outputs.{which}").fix(**{which: i}) for i in (2, 5)]
    for position in list_hideable(trace):
        ids = list(trace.encoding.ids)
        ids[position] = model.tokenizer.mask_id
        hidden = trace.with_changes({f"input_ids[token={position}]": ids[position]})
        found = read_hidden(trace, cells, position)
        np.testing.assert_allclose(found, [hidden[cell] for cell in cells], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("changes", "told", "head"),
    [({}, "cat", "rank of what was typed"), ({"input_ids[token=2]": 3899}, "dog", "rank of the word")],
    ids=["as typed", "another word put there"],
)
def test_a_row_is_named_by_the_word_whose_rank_it_tells(changes, told, head):
    at = opened("predictions", changes, "The cat chased the [MASK].")
    table = next(e.proto.body for e in at.get("html") if "What is guessed where a token is hidden" in e.proto.body)
    named = re.findall(r'title="Hide “([^”]*)” behind \[MASK\]">([^<]*)<', table)
    assert [each for each in named if {*each} & {"cat", "dog"}] == [(told, told)]
    assert head in table
