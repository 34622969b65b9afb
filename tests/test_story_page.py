"""The shortest story as a page: the stops of the walk in order, each number as in the trace, shared by its URL."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis.parts import TERM
from bertviz_core.analysis.walk import choose_stops, list_turns, tell_story
from bertviz_core.formula.address import parse
from bertviz_core.formula.numbers import format_number
from bertviz_core.ui.frame.cell_names import shorten
from tests.factory import random_checkpoint
from tests.test_pages import APP

SENTENCE = "the cat sat on the [MASK]"


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": SENTENCE, "open": "stop", **query})
    at.run()
    at.switch_page("pages/story.py").run()
    assert not at.exception and not at.error
    return at


def opened_stop(at):
    """The heading of the stop that is open: what it says, and its address."""
    bodies = [element.proto.body for element in at.get("html")]
    found = [re.search(r'data-of="([^"]*)".*?<b>\d+\. (.+?)</b>', body) for body in bodies]
    (match,) = [match for match in found if match]
    return match[2], match[1].strip()


def agrees(at, start, number=0):
    """One stop is open, and says what the trace holds there; all of them are in the table of steps."""
    trace = at.session_state["view"].trace
    way = tell_story(trace, parse(start))
    expected = [str(way[i]) for i in choose_stops(trace, way)]
    assert len(expected) < 25
    said, address = opened_stop(at)
    assert address == expected[number]
    assert said.endswith(f" is {format_number(trace.explain(address).value)}")
    drawn = [chart.proto.id for chart in at.get("plotly_chart")]
    assert len(drawn) == (trace.explain(address).step is not None)
    assert all(json.loads(chart.proto.spec)["data"] for chart in at.get("plotly_chart"))
    return expected


@pytest.mark.parametrize("number", [1, 4])
def test_a_link_opens_a_stop(number):
    at = opened(stop=str(number))
    row = at.session_state["view"].trace["cls.predictions.probs[token=6]"]
    agrees(at, f"cls.predictions.probs[token=6,vocab={row.argmax()}]", number)
    assert at.session_state["stop"] == number


def test_the_buttons_walk_from_stop_to_stop():
    at = opened()
    assert at.button("stop-back").disabled
    at.button("stop-next").click().run()
    at.button("stop-next").click().run()
    assert opened_stop(at)[1] == opened_stop(opened(stop="2"))[1]
    at.button("stop-back").click().run()
    assert opened_stop(at)[1] == opened_stop(opened(stop="1"))[1]
    last = opened(stop="999")
    assert last.session_state["stop"] == 0


def test_another_story_begins_at_its_first_stop():
    at = opened(stop="2")
    other = at.selectbox("story-of").options[1]
    at.selectbox("story-of").select(other).run()
    word = re.fullmatch(r"“(.+)” at position 6", other)[1]
    assert at.session_state["stop"] == 0
    agrees(at, f"cls.predictions.probs[token=6,vocab={at.session_state['view'].trace.model.tokenizer.id(word)}]")


def test_it_begins_at_the_likeliest_word_of_the_chosen_token():
    at = opened()
    row = at.session_state["view"].trace["cls.predictions.probs[token=6]"]
    agrees(at, f"cls.predictions.probs[token=6,vocab={row.argmax()}]")


def test_each_stop_says_why_the_way_led_there_and_what_is_the_same_for_every_sentence():
    at = opened(text="When in Rome, do as the [MASK] do.", token="0")
    trace = at.session_state["view"].trace
    best = trace["cls.predictions.probs[token=0]"].argmax()
    turns = list_turns(trace, parse(f"cls.predictions.probs[token=0,vocab={best}]"))
    stops = choose_stops(trace, [turn.cell for turn in turns])
    said = ""
    for number in range(len(stops)):
        at.session_state["stop"] = number
        said += " ".join(caption.value for caption in at.run().caption).replace("\\", "")
    passed = [turn.choice.passed for turn in turns if turn.choice and turn.choice.passed]
    assert passed and said.count("is the same") == len(passed)
    for part in passed:
        name = shorten(trace, part.operands[0])
        always = "for every sentence" if part.operands[0].path in trace.model.parameters else "whatever the words are"
        assert f"is the same {always}: {name}, {format_number(part.amount)}." in said
    assert "without this one it would be 0" in said
    terms = [turns[stop - 1].choice for stop in stops[1:] if turns[stop - 1].choice.measure is TERM]
    assert len(terms) > 3
    for choice in terms:
        assert re.search(rf"Of the terms of [^:]+ the largest[^:]*: {format_number(choice.part.amount)}\.", said)


def test_another_word_and_another_token_by_the_url():
    first = opened(token="2")
    options = first.selectbox("story-of").options
    assert len(options) == 12  # ten words, and the two answers of the next sentence head
    other = opened(token="2", **{"story-of": options[3]})
    assert other.selectbox("story-of").value == options[3]
    word = re.fullmatch(r"“(.+)” at position 2", options[3])[1]
    vocab = other.session_state["view"].trace.model.tokenizer.id(word)
    agrees(other, f"cls.predictions.probs[token=2,vocab={vocab}]")


def test_it_is_told_of_the_pass_as_changed():
    at = opened(changes="encoder.layer.5.attention.self.probs[head=2]:0~input_ids[token=1]:2051")
    row = at.session_state["view"].trace["cls.predictions.probs[token=6]"]
    assert at.session_state["view"].trace.changes
    agrees(at, f"cls.predictions.probs[token=6,vocab={row.argmax()}]")


def test_a_way_that_ends_at_what_a_change_put_is_not_said_to_come_from_the_token_ids():
    rules = {}
    for changes in ("", "cls.predictions.decoder:1.0", "cls.predictions.probs:0.0"):
        at = opened(changes=changes, open="steps,stop")
        rules[changes] = at.title[0].value, " ".join(said.value for said in at.caption)
    ids = "of those computed from the token ids"
    assert [ids in told for _, told in rules.values()] == [True, False, False]
    headline, told = rules["cls.predictions.decoder:1.0"]
    assert headline.endswith("lead back to?* To **logit**, put there by a change")
    headline, told = rules["cls.predictions.probs:0.0"]
    assert headline.endswith(" come from?* It is put there by a change")
    assert "The way ends where it begins: this number is put there by a change." in told


@pytest.mark.parametrize("kind", ["base-without-pooler", "sequence-classification"])
def test_without_a_language_model_head(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind=kind)))
    at = opened(token="2")
    trace = at.session_state["view"].trace
    if kind == "base-without-pooler":
        vector = abs(trace["encoder.layer.1.output.LayerNorm[token=2]"])
        agrees(at, f"encoder.layer.1.output.LayerNorm[token=2,hidden={vector.argmax()}]")
    else:
        agrees(at, f"classifier.probs[label={trace['classifier.probs'].argmax()}]")
