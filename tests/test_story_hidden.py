"""What the shortest story says of its token: where the way leads, no cause; and what hiding a token does, measured."""

import re
from itertools import count

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.hiding import list_hideable, measure_hidden
from bertviz_core.analysis.walk import tell_story
from bertviz_core.formula.address import parse
from tests.test_pages import APP

ROME = "When in Rome, do as the [MASK] do."
TYPED = ["[CLS]", "When", "in", "Rome", ",", "do", "as", "the", "[MASK]", "do", ".", "[SEP]"]


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update(query)
    at.run()
    at.switch_page("pages/story.py").run()
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


def test_a_number_with_a_token_hidden_is_measured_once(bundled):
    trace, turns = bv.run(bundled, ROME), count()

    class Turn:
        def __enter__(self):
            next(turns)

        def __exit__(self, *_):
            pass

    found = [measure_hidden(trace, find_start(trace), 6, Turn) for _ in range(3)]
    assert found[0] == found[1] == found[2] and next(turns) == 1


def test_the_page_says_no_cause_and_measures_one():
    """At the default sentence the way ends at “as”, whose absence changes less than that of “do” or “the”."""
    at = opened()
    trace = at.session_state["view"].trace
    start = find_start(trace)
    token = tell_story(trace, start)[-1].at["token"]
    word = trace.tokens[token]
    title = at.title[0].value
    assert "One way back of very many" in title and f"“{word}”" in title and "lead back" not in title
    told = next(
        caption.value for caption in at.caption if "What the number depends on is another question." in caption.value
    )
    before, after = float(trace[start]), hide(trace.model, token, start.at["vocab"])
    said = re.search(rf"Hide “{word}” behind \\\[MASK\\\], and “people” goes from ([\d.]+).% to ([\d.]+).%", told)
    np.testing.assert_allclose([float(number) / 100 for number in said.groups()], [before, after], atol=6e-4)


def test_every_token_is_hidden_in_a_fold():
    at = opened()
    at.session_state["open"] = "without"
    at.run()
    assert not at.exception
    trace = at.session_state["view"].trace
    bodies = "".join(element.proto.body for element in at.get("html"))
    table = bodies[bodies.index("token hidden") :]
    rows = [re.sub(r"<[^>]*>", " ", row).split() for row in re.findall(r"<tr.*?</tr>", table)]
    found = {int(row[0]): float(row[2].replace("−", "-")) for row in rows if row and row[0].isdecimal()}
    start = find_start(trace)
    assert set(found) == set(list_hideable(trace))
    for position in (5, 6, 7):
        assert found[position] == pytest.approx(hide(trace.model, position, start.at["vocab"]), abs=6e-5)


@pytest.mark.parametrize("query", [{"text": "word " * 200}, {"text": "[MASK]"}])
def test_nothing_is_measured_where_that_is_costly_or_there_is_no_word(query):
    told = " ".join(caption.value for caption in opened(**query).caption)
    assert "What the number depends on is another question." in told and "Hide “" not in told
