"""What stands more than once, or is as large as something else, is told from it and not put above it."""

from types import SimpleNamespace

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.heads import summarize
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.texts import join_words
from bertviz_core.ui.frame.view import Selection
from bertviz_core.ui.views import attention_output_taken, heads_numbers
from bertviz_core.ui.views.add_norm_sums import tell_reach
from tests.test_put import opened, read


def look(trace, layer, head, token):
    return SimpleNamespace(trace=trace, chosen=Selection(layer, head, token))


def test_the_headline_tells_a_word_from_its_like(rome):
    assert [i for i, text in enumerate(rome.tokens) if text == "do"] == [5, 9]
    said, _ = read(opened("attention", {}, "When in Rome, do as the [MASK] do.", head="0"))
    assert "“[MASK]” looks hardest at **“do” at position 5: 55" in said
    for page in ("heads", "query_key_value", "attention_output"):
        said, _ = read(opened(page, {}, "When in Rome, do as the [MASK] do.", head="0"))
        assert "**“do” at position 5" in said


def test_where_several_bring_as_much_none_brings_most(bundled):
    trace = bv.run(bundled, "Hi there you", changes={"embeddings.LayerNorm": 0.25})
    said = attention_output_taken.write_headline(look(trace, 0, 2, 3)).text
    assert "take? From no token more than from **“\\[CLS\\]”: " in said
    for head in range(12):
        said = attention_output_taken.write_headline(look(trace, 0, head, 3)).text
        assert said.count("\\[CLS\\]") == 1, "the same token is not set against itself"


@pytest.mark.parametrize("chosen", [15, 12, 0])
def test_of_tokens_that_repeat_the_chosen_one_is_told(bundled, chosen):
    pair = "Привет, мир"
    tokens = bv.run(bundled, "我爱北京", pair).tokens
    said, _ = read(opened("embeddings", {}, "我爱北京", pair=pair, token=str(chosen), vectors="word"))
    count = sum(tokens.count(text) > 1 for text in set(tokens))
    name = tokens[chosen] if tokens.count(tokens[chosen]) > 1 else next(t for t in tokens if tokens.count(t) > 1)
    assert f"“{name}” stands at {tokens.count(name)} positions: the same row," in said
    assert f"It is one of {count} tokens that repeat." in said and count > 1


def test_one_number_of_all_heads_is_said_once(rome):
    trace = rome.with_changes({f"encoder.layer.{i}.attention.self.probs": 0.0 for i in range(6)})
    said = heads_numbers.tell_extremes(summarize(trace, 8).numbers["self"]).text
    assert said == "In every head it is 0.0000. The frame marks the chosen head."


def test_a_sum_with_nothing_has_one_length_only():
    assert tell_reach(0.0, 6.25, 6.25) == tell_reach(6.25, 0.0, 6.25)
    assert "anything" not in tell_reach(0.0, 6.25, 6.25) and tell_reach(0.0, 6.25, 6.25).endswith("here 6.25.")
    assert "from 1.00 (opposed) through 5.00 (at a right angle) to 7.00 (the same way)" in tell_reach(3.0, 4.0, 5.0)


def test_words_are_listed_as_a_sentence_has_them():
    assert [join_words("abc"[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_what_is_taken_of_padding_by_a_change_is_said_and_drawn(bundled):
    put = {"encoder.layer.1.attention.self.probs[head=2,query=3]": 0.0,
           "encoder.layer.1.attention.self.probs[head=2,query=3,key=14]": 1.0}  # fmt: skip
    trace = bv.run(bundled, "The early bird catches the [MASK].", pad_to=16).with_changes(put)
    view = look(trace, 1, 2, 3)
    said = attention_output_taken.write_headline(view).text
    length = np.linalg.norm(trace["encoder.layer.1.attention.self.value[head=2,key=14]"].astype(float))
    assert f"**{format_short(length)}** from **“\\[PAD\\]” at position 14** in head 2" in said
    assert 14 in attention_output_taken.read_bringing(view).shown
