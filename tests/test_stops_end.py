"""The last stop: which heads go on without an LM head, and which word is called the likeliest."""

import pytest

import bertviz_core as bv
from tests.canvas import draw, look
from tests.factory import random_checkpoint
from tests.test_stops import say


@pytest.mark.parametrize(("kind", "heads"), [
    ("base", "piece, read by its head: pooler. "), ("base-without-pooler", "piece. "),
    ("sequence-classification", "piece, read by its heads: pooler, classifier. "),
    ("token-classification", "piece, read by its head: token classifier. "),
    ("question-answering", "piece, read by its head: question answering. "),
])  # fmt: skip
def test_without_an_lm_head_the_other_heads_are_named(tmp_path, kind, heads):
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind=kind)), "the cat sat on")
    assert heads in say(draw(look(trace))["stops"][-1])


RIVALS = {
    "all tie": ({"cls.predictions.probs": 0.0}, "its share 0 %; 30,522 of 30,522 words have as much, "),
    "all scores tie": ({"cls.predictions.decoder": 1.0}, "share of 0.003 %; 30,522 of 30,522 words have as much, "),
    "others tie": ({"cls.predictions.probs": 0.25, "cls.predictions.probs[vocab=2111]": 0.0},
                   "its share 0 %; 30,521 of 30,522 words have 25 %, and none has more"),
    "another is likelier": ({"cls.predictions.probs[vocab=7]": 0.9}, "; the likeliest word is “[unused6]” with 90 %."),
    "none": ({}, "; then “"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIVALS)
def test_the_word_of_the_highest_score_is_not_called_the_likeliest_where_a_change_decides(rome, name):
    changes, told = RIVALS[name]
    after = rome.with_changes(changes) if changes else rome
    assert after["cls.predictions.decoder[token=8]"].argmax() in (0, 2111)  # the word “people”, unless all are equal
    said = say(draw(look(rome, after, token=8))["stops"][-1]).replace("\N{NO-BREAK SPACE}", " ")
    assert told in said
