"""Words and columns beside the numbers of a training: which sum is which, what is counted, how far a curve goes."""

import re
from contextlib import nullcontext
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.numbers import format_percent
from bertviz_core.learning import Settings, Training, check_settings
from bertviz_core.learning.looking import rank_words
from bertviz_core.learning.plan import Plan
from bertviz_core.learning.settings import MAX_STEPS
from bertviz_core.ui.views import training_words
from bertviz_core.ui.views.training_lead import list_losses
from bertviz_core.ui.views.training_words import render_choices
from tests.learning import SENTENCES, take_all, take_steps
from tests.test_training_as_printed import typed  # noqa: F401 - a fixture
from tests.test_training_page import errors, opened, page, press, texts  # noqa: F401 - page is a fixture

TOKENS = ("[CLS]", "the", "cat", "sat", "on", "the", "mat", ".", "[SEP]")
RANKED = (("on", 0.5), ("in", 0.25))


def test_of_a_step_tokens_are_counted_marks_too_and_not_special_ones():
    at = press(opened(passes="1", texts="The cat sat."), "training-step")
    (record,) = at.session_state["training-run"].records
    assert not errors(at)
    said = re.sub("<[^>]+>", " ", texts(at))
    assert f"Step 1 sentence 1, {len(record.hidden)} hidden of 4 tokens that are not special" in " ".join(said.split())


def test_both_sums_are_downloaded_under_their_own_names(typed):  # noqa: F811
    records = take_all(typed[0]).records
    found = list_losses(SimpleNamespace(records=records))
    columns = dict(zip(found.columns, found.matrix.T.tolist(), strict=True))
    assert columns == {
        "J as meant": [record.loss for record in records],
        "J as printed": [record.printed for record in records],
        "hidden": [len(record.hidden) for record in records],
    }
    assert columns["J as meant"] != columns["J as printed"]


@pytest.mark.parametrize(("token", "shown"), [
    (1, " <span class=bv-mask>[MASK]</span> cat sat on …"),
    (4, "the cat sat <span class=bv-mask>[MASK]</span> the mat ."),
    (5, "… cat sat on <span class=bv-mask>[MASK]</span> mat ."),
])  # fmt: skip
def test_around_a_hidden_word_stand_the_three_words_on_each_side(token, shown):
    body = render_choices(TOKENS, token, {"before": RANKED, "now": RANKED})
    assert f'<div class="bv-hiding">{shown} <small>was “{TOKENS[token]}”' in body and "[SEP]" not in body


def test_before_is_the_model_as_it_was_and_now_the_model_as_it_is(learner, monkeypatch):
    training, drawn = take_all(Training(learner, SENTENCES, Settings(passes=2, eta=0.05))), []
    sentence, token = training.words[0]
    monkeypatch.setattr(training_words, "open_card", lambda *_, **__: nullcontext())
    monkeypatch.setattr(training_words, "read_words", lambda _: (None, np.zeros((2, 1)), ["on"]))
    monkeypatch.setattr(training_words.st, "html", drawn.append)
    tokens = training.encodings[sentence - 1].tokens
    ahead = SimpleNamespace(records=(), ranked=())
    asked = SimpleNamespace(words=training.words, rank_words=partial(rank_words, training))
    training_words.show_before_and_now(None, SimpleNamespace(training=asked, ahead=ahead, tokens=lambda _: tokens))
    names = re.findall(r"<small>(before|now)</small><p.*?<span>(.*?)</span><span>(.*?)</span>", drawn[0])
    models = {"before": training.before, "now": training.model_at(len(training.records) + 1)}
    how = {"masked": [token], "program": training.settings.program}
    shares = {
        name: bv.run(model, SENTENCES[sentence - 1], **how)["cls.predictions.probs"][token]
        for name, model in models.items()
    }
    likeliest = [(name, row.argmax(), row.max()) for name, row in shares.items()]
    assert names == [(name, learner.tokenizer.name(int(i)), format_percent(share)) for name, i, share in likeliest]
    assert names[0][1:] != names[1][1:]


def test_as_many_steps_as_may_be_are_taken_and_not_one_more(learner):
    check_settings(learner, SENTENCES[:2], Settings(passes=MAX_STEPS // 2))
    with pytest.raises(bv.TrainingError, match=f"are {MAX_STEPS + 2:,}"):
        check_settings(learner, SENTENCES[:2], Settings(passes=MAX_STEPS // 2 + 1))


def test_what_is_left_takes_as_long_as_what_was_taken(learner):
    training = take_steps(Training(learner, SENTENCES, Settings(passes=4)), 4)
    mean = sum(record.seconds for record in training.records) / 4
    assert training.seconds_left == pytest.approx((12 - 4) * mean)
    assert Training(learner, SENTENCES, Settings(passes=4)).seconds_left is None


def test_along_one_weight_as_much_is_shown_on_both_sides_as_the_step_is_long(learner):
    training = take_steps(Training(learner, SENTENCES, Settings(passes=2, eta=0.5)), 2)
    where = training.largest_gradient(2)
    why = training.explain(where, 2)
    step = abs(why.new - why.old)
    weights, _ = training.curve_along(where, 2)
    assert step > 1e-3
    assert (weights[0], weights[-1]) == pytest.approx((min(why.old, why.new) - step, max(why.old, why.new) + step))


def test_adamw_takes_room_for_two_means_before_the_last_step_and_after_it(learner):
    printed, practised = (Plan(learner, SENTENCES, Settings(practised=way)) for way in (False, True))
    learned = sum(learner.parameters[name].nbytes for name in printed.learned)
    assert practised.room.held - printed.room.held == 2 * 2 * learned
