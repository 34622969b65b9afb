"""What stands more than once, or is as large as something else, is told from it and not put above it."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.answers import Span
from bertviz_core.analysis.heads import summarize
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.texts import join_words
from bertviz_core.tracing.inputs import encode
from bertviz_core.ui.frame.view import Selection
from bertviz_core.ui.views import (
    attention_output_bringing,
    attention_output_taken,
    heads_numbers,
    layers_ladder,
    overview,
    predictions_words,
    sentence_answer,
    tokenization_lead,
)
from tests.canvas import draw
from tests.canvas import look as see
from tests.factory import random_checkpoint
from tests.test_put import opened, read

PROBS = "cls.predictions.probs"


def look(trace, layer, head, token):
    return SimpleNamespace(trace=trace, chosen=Selection(layer, head, token))


def find_head_on(trace, keys):
    """Where [MASK] looks hardest at one of these tokens, and takes most from it: layer, head, token."""
    found = []
    for layer in range(trace.model.config.num_hidden_layers):
        own = f"encoder.layer.{layer}.attention.self"
        weights, scores = trace[f"{own}.probs"][:, 8], trace[f"{own}.scores"][:, 8]
        taken = weights * np.linalg.norm(trace[f"{own}.value"], axis=-1)
        for head, rows in enumerate(zip(weights, scores, taken, strict=True)):
            key, *others = {int(row.argmax()) for row in rows}
            if key in keys and not others:
                found.append((weights[head, key], layer, head, key))
    return max(found)[1:]


def test_the_headline_tells_a_word_from_its_like(rome):
    alike = [i for i, text in enumerate(rome.tokens) if text == "do"]
    layer, head, key = find_head_on(rome, alike)
    assert len(alike) == 2
    place = {"layer": str(layer), "head": str(head)}
    said, _ = read(opened("attention", {}, "When in Rome, do as the [MASK] do.", **place))
    assert f"“[MASK]” looks hardest at **“do” at position {key}: " in said
    for page in ("query_key_value", "attention_output"):
        said, _ = read(opened(page, {}, "When in Rome, do as the [MASK] do.", **place))
        assert f"“do” at position {key}" in said


def tell_at(model, page, text, token, pair=None, masked=()):
    """The headline of a page at a token of a text, as it is read."""
    trace = bv.run(model, text, pair, masked=masked)
    view = replace(see(trace, token=token, head=(0, 0)), text=text, pair=pair, typed=encode(model, text, pair))
    return page.write_headline(view).text.replace("\\", "")


@pytest.mark.parametrize(("page", "text", "token", "told"), [
    (overview, "do as I do", 4, "What does BERT expect at “do” at position 4? "),
    (overview, "do as I do", 2, "What does BERT expect at “as”? "),
    (predictions_words, "do as I do", 1, "Which word fits in place of “do” at position 1? "),
    (predictions_words, "do as I do", 3, "Which word fits in place of “i”? "),
    (predictions_words, "a [MASK] is a [MASK]", 5, "Which word fits the blank at position 5? "),
    (predictions_words, "a [MASK] is a cat", 2, "Which word fits the blank? "),
])  # fmt: skip
def test_what_is_asked_at_a_word_that_stands_twice_says_where(bundled, page, text, token, told):
    assert tell_at(bundled, page, text, token).startswith(told)


def test_a_hidden_word_that_stands_twice_is_told_with_its_position(bundled):
    told = [tell_at(bundled, tokenization_lead, "do as I do", i, masked=(i,)) for i in (1, 2)]
    assert told[0].startswith("Hidden: “do” at position 1. ") and told[1].startswith("Hidden: “as”. ")


def test_two_documents_are_compared_at_the_one_of_two_words():
    for text, name in (("do as I do", "“do” at position 4"), ("do as I say", "“say”")):
        (title,) = opened("documents", {}, text, token="4").title
        assert re.match(
            rf"\*?Do BERT and the forward-pass note agree\?\*? No: cosine \*\*\S+\*\* at {name}; ", title.value
        )


def test_without_an_lm_head_the_one_of_two_words_is_asked_about(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, kind="base"))
    assert tell_at(model, layers_ladder, "the cat the", 3).startswith("How does “the” at position 3 move? ")
    assert tell_at(model, overview, "the cat the", 3).startswith("How does BERT read “the” at position 3? ")


def test_an_answer_that_stands_twice_is_told_with_its_position(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, kind="question-answering"))
    view = see(bv.run(model, "the cat", "the cat sat on the cat"), token=0, head=(0, 0))
    spans = {
        Span(5, 5): "“cat” at position 5,",
        Span(4, 5): "“the cat” at positions 4 to 5,",
        Span(6, 6): "“sat”,",
        Span(5, 6): "“cat sat”,",
    }
    assert view.trace.tokens[4:7] == ["the", "cat", "sat"]
    for span, told in spans.items():
        said = sentence_answer.write_headline(replace(view, text="the cat", pair="the cat sat on the cat"), [span]).text
        assert said.partition("**")[2].startswith(told.replace(",", "**,"))


def test_where_several_bring_as_much_none_brings_most(bundled):
    trace, told = bv.run(bundled, "Hi there you", changes={"embeddings.LayerNorm": 0.25}), []
    for head in range(12):
        said = attention_output_taken.write_headline(look(trace, 0, head, 3)).text
        named = re.findall("“([^”]+)”", said)[1:]
        assert len(named) == len(set(named)), "the same token is not set against itself"
        told.append("takes from no token more than from **“" in said)
    assert any(told)


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
    assert said == "In every head it is 0. The frame marks the chosen head."


def test_words_are_listed_as_a_sentence_has_them():
    assert [join_words("abc"[:n]) for n in (1, 2, 3)] == ["a", "a and b", "a, b and c"]


def test_what_is_taken_of_padding_by_a_change_is_said_and_drawn(bundled):
    put = {
        "encoder.layer.1.attention.self.probs[head=2,query=3]": 0.0,
        "encoder.layer.1.attention.self.probs[head=2,query=3,key=14]": 1.0,
    }
    trace = bv.run(bundled, "The early bird catches the [MASK].", pad_to=16).with_changes(put)
    view = look(trace, 1, 2, 3)
    said = attention_output_taken.write_headline(view).text
    length = np.linalg.norm(trace["encoder.layer.1.attention.self.value[head=2,key=14]"].astype(float))
    assert f"**{format_short(length)}** from **“\\[PAD\\]” at position 14** in head 2" in said
    assert 14 in attention_output_bringing.read_bringing(view).shown


@pytest.mark.parametrize(("put", "tied", "listed"), [
    ({}, 1, 5), ({PROBS: 0.0}, 30_522, 5), ({PROBS: 0.0, f"{PROBS}[vocab=7]": 0.9}, 1, 1),
    ({PROBS: 0.0, f"{PROBS}[vocab=7]": 0.9, f"{PROBS}[vocab=9]": 0.9}, 2, 2),
])  # fmt: skip
def test_words_of_the_canvas_are_likelier_than_those_left_out_or_are_said_to_tie(rome, put, tied, listed):
    words = draw(see(rome.with_changes(put) if put else rome, token=8, head=(0, 0)))["words"]
    assert (words["tied"], words["top"][8]["tied"], len(words["best"])) == (tied, tied, listed)
