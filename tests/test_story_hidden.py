"""What the shortest story says of its token: where the way leads, no cause; and what hiding a token does, measured."""

import json
import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.hiding import hide_each, list_hideable, measure_hidden
from bertviz_core.analysis.walk import choose_stops, tell_story
from bertviz_core.formula.address import parse
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.texts import name_token
from bertviz_core.sharing.findings import Findings, Found
from bertviz_core.ui.views.story_hidden import _tell_hidden, _tell_marked, tell_change
from bertviz_core.ui.views.story_way import Story
from tests.derived.reading import find_numbers
from tests.settling import settle
from tests.test_pages import APP

ROME = "When in Rome, do as the [MASK] do."
TYPED = ["[CLS]", "When", "in", "Rome", ",", "do", "as", "the", "[MASK]", "do", ".", "[SEP]"]


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update(query)
    at.run()
    at.switch_page("pages/story.py").run()
    assert settle()
    at.run()
    assert not at.exception and not at.error
    return at


def hide(model, position, vocab):
    """The word's probability where the sentence is typed with [MASK] at a position."""
    words = [*TYPED[1:position], "[MASK]", *TYPED[position + 1 : -1]]
    trace = bv.run(model, " ".join(words))
    assert (
        trace.tokens
        == [word.lower() if word[0] != "[" else word for word in TYPED[:position]] + trace.tokens[position:]
    )
    return float(trace["cls.predictions.probs"][8, vocab])


def find_start(trace):
    return parse(f"cls.predictions.probs[token=8,vocab={int(trace['cls.predictions.probs'][8].argmax())}]")


def test_a_number_with_a_token_hidden_is_that_of_the_sentence_typed_so(bundled, rome):
    start = find_start(rome)
    assert list_hideable(rome) == tuple(i for i, word in enumerate(TYPED) if word[0] != "[")
    for position in (1, 3, 5, 7):
        expected = hide(bundled, position, start.at["vocab"])
        assert measure_hidden(rome, start, position) == pytest.approx(expected, rel=1e-4), position


def test_each_token_is_hidden_in_turn(rome):
    start = find_start(rome)
    steps = list(hide_each(rome, start, [5, 6, 8]))
    assert [done for done, _ in steps] == pytest.approx([1 / 3, 2 / 3, 1]) and list(steps[0][1]) == [5]
    for position in (5, 6):
        assert steps[-1][1][position] == pytest.approx(hide(rome.model, position, start.at["vocab"]), rel=1e-4)
    assert steps[-1][1][8] == pytest.approx(float(rome[start]), rel=1e-5)  # hidden already


def read_fall(said):
    """The two percentages of `“people” goes from 6.6 % to 6.9 %` or `6.6 % becomes 6.9 %`, as shares."""
    found = re.search(r"(?:“people” goes from )?([\d.]+).% (?:to|becomes) ([\d.]+).%", said)
    return [float(number) / 100 for number in found.groups()]


def test_the_page_says_no_cause_and_measures_one():
    """At the default sentence the way ends at one token, and the number depends on another one more."""
    at = opened()
    trace = at.session_state["view"].trace
    start = find_start(trace)
    token = tell_story(trace, start)[-1].at["token"]
    before, hidden = float(trace[start]), {i: hide(trace.model, i, start.at["vocab"]) for i in list_hideable(trace)}
    title = at.title[0].value.replace("?*", "?")  # the end of the question, which is set apart
    assert " lead back to? Over " in title and f"**“{trace.tokens[token]}”**; hide it, and" in title
    np.testing.assert_allclose(read_fall(title), [before, hidden[token]], atol=6e-4)
    told = next(said.value for said in at.caption if "The largest operand at each step is not the cause." in said.value)
    most = max(hidden, key=lambda i: abs(hidden[i] - before))
    assert f"Of the {len(hidden)} tokens hidden in turn **{name_token(trace.tokens, most)} moves it most: " in told
    np.testing.assert_allclose(read_fall(told), [before, hidden[most]], atol=6e-4)


def read_line(at):
    (line,) = (each for each in at.get("bidi_component") if '"stops"' in each.proto.json)
    return json.loads(line.proto.json)


def test_under_each_token_of_the_line_stands_the_number_with_it_hidden(bundled):
    at = opened()
    trace = at.session_state["view"].trace
    start = find_start(trace)
    lanes = {lane["name"]: lane["hidden"] for lane in read_line(at)["lanes"]}
    assert any(said.startswith("hidden: ") for said in lanes.values())
    for name, said in lanes.items():
        i = int(name.split()[0]) if name[0].isdigit() else None
        expected = f"hidden: {format_percent(hide(bundled, i, start.at['vocab']))}" if i in list_hideable(trace) else ""
        assert said == expected, name


def test_what_is_written_alike_with_a_token_hidden_is_said_to_stay_near(rome):
    story = Story(rome, "“people”", find_start(rome), ())
    now = format_percent(story.value)
    assert f"“people” stays near {now}" in tell_change(story, story.value + 1e-7)
    assert f"“people” stays at {now}" in tell_change(story, story.value)
    assert f"“people” goes from {now}" in tell_change(story, story.value + 0.1)
    assert f"“people” goes from {now} to 0" in tell_change(story, 0.0)


def test_of_many_tokens_only_those_on_the_way_are_hidden_and_it_says_so(bundled):
    start = "cls.predictions.probs[token=8,vocab=2111]"
    for text, marked in (
        (ROME, "Marked: the tokens on the way."),
        (f"{ROME} {'a ' * 60}", "Only the tokens on the way, of 69 that can be hidden."),
    ):
        story = Story(bv.run(bundled, text), "“people”", parse(start), ())
        assert _tell_marked(story) == marked


def test_tokens_that_move_the_number_alike_are_not_told_apart(rome):
    story = Story(rome, "“people”", find_start(rome), ())
    by = {1: 0.25, 3: -0.25, 5: 0.125}
    told = _tell_hidden(story, Found({i: story.value + change for i, change in by.items()}, 1.0, over=True))
    assert told.startswith("Of the 3 tokens hidden in turn none moves it more than **“when”: ")
    assert _tell_hidden(story, Found({1: 0.5}, 0.3)) == "…"


def read_rows(at, name):
    """The words of each row of a table."""
    body = next(body for element in at.get("html") if f"Table by {name}" in (body := element.proto.body))
    return [re.sub(r"<[^>]*>", " ", row).split() for row in re.findall(r"<tr.*?</tr>", body)[1:]]


def read_share(row):
    """The percentage that a row of a table ends in."""
    return find_numbers(" ".join(row))[-1]


def test_every_token_is_hidden_without_being_asked_for():
    at = opened()
    trace = at.session_state["view"].trace
    rows = read_rows(at, "token hidden")
    found = {int(row[0]): read_share(row) for row in rows}
    start = find_start(trace)
    assert set(found) == set(list_hideable(trace))
    for position in (5, 6, 7):
        assert found[position].tells(hide(trace.model, position, start.at["vocab"]), near=1e-5)


def test_every_stop_is_set_to_0_without_being_asked_for():
    at = opened()
    trace = at.session_state["view"].trace
    start = find_start(trace)
    way = tell_story(trace, start)
    stops = [way[i] for i in choose_stops(trace, way)]
    rows = read_rows(at, "stop set to 0")
    assert [row[0] for row in rows] == [f"{i + 1}." for i in range(len(stops))]
    assert [row[-1] for row in (rows[0], rows[-1])] == ["–"] * 2  # the number itself, and a token's id
    for row, stop in zip(rows[1:-1], stops[1:-1], strict=True):
        plain = bv.run(trace.model, ROME, changes={str(stop): 0.0})[str(start)]
        assert read_share(row).tells(float(plain), near=1e-5)


def test_what_is_not_known_yet_keeps_its_room_and_what_fails_is_said(monkeypatch):
    known = [len(read_rows(opened(), name)) for name in ("stop set to 0", "token hidden")]
    for found, told in ((Found(), ""), (Found(error="There is [no] room.", over=True), "There is [no] room.")):
        monkeypatch.setattr(Findings, "ask", lambda *_, found=found: found)
        at = opened()
        for name, count in zip(("stop set to 0", "token hidden"), known, strict=True):
            rows = read_rows(at, name)
            assert len(rows) == count and all(row[-1] == "…" for row in rows)
        captions = [caption.value.replace("\\", "") for caption in at.caption]
        assert sum(bool(told) and told in caption for caption in captions) == 3 * bool(told)


@pytest.mark.parametrize("query", [{"text": "word " * 200}, {"text": "[MASK]"}])
def test_nothing_is_measured_where_that_is_costly_or_there_is_no_word(query):
    told = " ".join(caption.value for caption in opened(**query).caption)
    assert "The largest operand at each step is not the cause." in told and "hidden in turn" not in told
