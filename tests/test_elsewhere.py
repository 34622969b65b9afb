"""What pages of one pass say of a second sentence, and the button that shows the difference on them."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv

APP = str(Path(__file__).parents[1] / "app.py")
DOCTOR, NURSE = (f"The {who} said that [MASK] was late." for who in ("doctor", "nurse"))


def opened(page="predictions", **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception and not at.error
    return at


def told(at):
    return next((each.value.replace("\\", "") for each in at.caption if "Beside it" in each.value), "")


def has_button(at):
    return any(each.key == "second-here" for each in at.button)


def pressed(at):
    """The page as the link leads to it that the button makes."""
    at.button(key="second-here").click().run()
    assert not at.exception
    after = opened(**{name: at.session_state[name] for name in ("text", "with", "changes", "show")})
    assert not told(after) and after.session_state["with"] == ""
    return after


def test_a_sentence_of_as_many_tokens_becomes_changes_that_every_page_shows():
    at = opened(text=DOCTOR, **{"with": NURSE})
    assert "It differs in 1 token." in told(at) and len(at.get("page_link")) >= 2
    model, outcome = bv.load_model(), pressed(at).session_state["view"].outcome
    assert outcome.compared and [*map(str, outcome.after.changes)] == ["input_ids[token=2]"]
    for path in ("cls.predictions.probs", "encoder.layer.3.attention.self.probs"):
        np.testing.assert_array_equal(outcome.before[path], bv.run(model, DOCTOR)[path])
        np.testing.assert_array_equal(outcome.after[path], bv.run(model, NURSE)[path])


def test_changes_that_are_set_beside_become_those_of_every_page():
    line = "encoder.layer.2.attention.self.probs[head=3]:0"
    outcome = pressed(opened("attention", text=DOCTOR, **{"with": f"changes:{line}"})).session_state["view"].outcome
    assert outcome.compared and [*map(str, outcome.after.changes)] == [line.rpartition(":")[0]]


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ({"text": DOCTOR, "with": f"{NURSE} Too late."}, "10 tokens here and 13 there do not pair up"),
        ({"text": DOCTOR, "with": NURSE, "pair": "so", "changes": "embeddings.sum:0"}, "besides are the changes"),
        ({"text": DOCTOR, "with": DOCTOR.upper()}, "the same tokens"),
        ({"text": "a " * 30, "with": "the " * 30}, "30 of 32 tokens differ"),
        ({"text": DOCTOR, "with": "late " * 700}, "at most"),
    ],
)
def test_where_there_is_no_difference_to_show_the_page_says_why(query, why):
    at = opened(**query)
    assert why in told(at) and not has_button(at)


@pytest.mark.parametrize("page", ["compare", "learn"])
def test_pages_of_two_passes_and_of_none_do_not_speak_of_it(page):
    assert not told(opened(page, text=DOCTOR, **{"with": NURSE}))
