"""What the page Training says once a training went no further: of its end, and of what did not learn."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from tests.test_training_page import errors, opened, page, press  # noqa: F401 - page runs for every test here

FOUR = ("The cat sat on the mat.", "The mat sat on the cat.", "A dog.", "It sat.")


def read(at):
    """All that the page says, as text."""
    written = [*at.markdown, *at.caption, *at.info, *at.title]
    bodies = [element.proto.body for element in at.get("html")]
    return " ".join([*(element.value for element in written), *bodies]).replace("\\", "")


def test_a_stopped_training_says_what_is_not_taken_and_when_its_words_were_asked_for():
    at = opened(passes="20", texts="\n".join(FOUR), eta="0.05")
    for _ in range(6):
        press(at, "training-step")
    going = read(at)
    assert "80 steps; on grey ground is still to come" in going and "was not taken" not in going
    press(at, "training-stop")
    stopped = read(at)
    assert "80 steps; on grey ground was not taken" in stopped
    assert "still to come" not in re.sub("/[*].*?[*]/", "", stopped)
    training = at.session_state["training-run"].training
    assert [asked.number for asked in training.passes] == [0, 4] and len(training.records) == 6
    told = re.search(r"; “(\w+)” rose from [^;]* to \*\*([^*]*)\*\*, asked after step 4", at.title[0].value)
    # After step 6 it is another number: by a pass of the model as it is now.
    model = training.fetch_model()
    places = [place for place in training.words if training.encodings[place[0] - 1].tokens[place[1]] == told[1]]
    now = []
    for sentence, token in places:
        trace = bv.run(model, FOUR[sentence - 1], masked=[token], program="definition")
        logits = np.asarray(trace["cls.predictions.decoder"], dtype=np.float64)[token]
        now.append(np.exp(logits - np.logaddexp.reduce(logits))[training.encodings[sentence - 1].ids[token]])
    assert all(abs(100 * share - float(told[2].split("\N{NO-BREAK SPACE}")[0])) > 1 for share in now)


def test_a_training_that_ended_with_its_server_is_told_until_another_begins():
    """The browser knows that there was one: the session that it speaks with now does not."""
    at = opened(passes="3", texts="\n".join(FOUR[:2]), eta="0.05")
    assert not at.warning
    at.session_state["training-lost"] = True
    assert "is gone: its server has ended" in at.run().warning[0].value
    assert not press(at, "training-step").warning
    assert not at.button(key="training-reset").click().run().warning


def test_words_asked_for_after_the_last_step_are_not_told_apart():
    at = press(opened(passes="3", texts="\n".join(FOUR[:2]), eta="0.05"), "training-go")
    assert "In 6 steps" in at.title[0].value and "asked after" not in at.title[0].value


@pytest.mark.rare
def test_of_heads_that_do_not_learn_none_moved_and_adamw_goes_no_gradient():
    at = press(opened(passes="3", texts="the cat sat.", learner="heads", practised="True", open="all"), "training-go")
    assert not errors(at)
    said = read(at)
    assert "no head has moved" in said and "the head that moved most" not in said
    assert "η times what AdamW makes of" in said and "goes η times the gradient" not in said


def test_of_heads_that_learn_one_moved_most_and_a_plain_step_follows_the_gradient():
    said = read(press(opened(passes="3", texts="the cat sat.", open="all"), "training-go"))
    assert "the head that moved most" in said and "no head has moved" not in said
    assert "Each step goes η times the gradient." in said and "AdamW makes of" not in said
