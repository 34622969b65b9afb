"""What the page Training says of its steps: true of their numbers, also where two are alike or nothing moves."""

import dataclasses
import math
import re
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.formula.address import Address, read_address
from bertviz_core.formula.numbers import format_number, format_percent, format_short
from bertviz_core.learning import Settings, Training, make_small_model
from bertviz_core.learning.plan import Plan
from bertviz_core.learning.updates import Rule
from bertviz_core.ui.views.training import say_line
from bertviz_core.ui.views.training_fields import suggest
from bertviz_core.ui.views.training_folds import tell_rates
from bertviz_core.ui.views.training_lead import choose_risen, tell_unasked
from bertviz_core.ui.views.training_lines import list_besides, say_line_5
from bertviz_core.ui.views.training_step import count_hidden, render_terms, say_after
from bertviz_core.ui.views.training_still import say_still
from bertviz_core.ui.views.training_told import list_parts, name_term, say_moved, say_step, say_which, tell, tell_worst
from tests.learning import SENTENCES, take_all

WORST = re.compile(r"(The worst predicted is |None is predicted worse than |)“(.+)”(?:,| is predicted) with (.+)\.")


@pytest.fixture(scope="module", params=["definition", "bert", "practised"])
def training(request, bundled):
    program = "definition" if request.param == "definition" else "bert"
    settings = Settings(passes=3, eta=0.05, practised=request.param == "practised", program=program)
    return take_all(Training(make_small_model(bundled, SENTENCES, program=program), SENTENCES, settings))


def test_the_worst_predicted_word_is_the_worst(training):
    for record in training.records:
        tokens = training.encodings[record.sentence - 1].tokens
        how, word, share = WORST.fullmatch(tell_worst(record, tokens).text.replace("\\", "")).groups()
        shares = sorted(record.before)
        assert share == format_percent(shares[0])
        assert word == tokens[record.hidden[record.before.index(shares[0])]]
        if len(shares) == 1:  # there is nothing to compare
            assert not how
        else:
            alone = format_percent(shares[1]) != share
            assert how == ("The worst predicted is " if alone else "None is predicted worse than ")
    only = dataclasses.replace(training.records[0], before=(0.25,), hidden=training.records[0].hidden[:1])
    tokens = training.encodings[only.sentence - 1].tokens
    said = tell_worst(only, tokens).text.replace("\\", "")
    assert said.startswith(f"“{tokens[only.hidden[0]]}” is predicted with 25")
    record = next(record for record in training.records if len(record.hidden) > 1)
    alike = dataclasses.replace(record, before=tuple(0.25 for _ in record.before))
    said = tell_worst(alike, training.encodings[record.sentence - 1].tokens).text
    assert said.startswith("None is predicted worse than “") and "with 25" in said


def test_whether_j_is_lower_after_a_step(training):
    record, practised = training.records[-1], training.settings.practised
    for after, said in (
        (record.loss * 0.9, "is lower"),
        (record.loss * 1.1, "is higher"),
        (record.loss, "same digits"),
        (record.loss * (1 + 1e-9), "same digits"),
    ):
        text = say_after(dataclasses.replace(record, loss_after=after), practised)
        assert said in text and ("AdamW" in text) == (practised and said != "same digits")
        assert ("gradient" in text) == (not practised and said != "same digits")
    for record in training.records:
        said = say_after(record, practised)
        assert ("lower after" in said) == (record.loss_after < record.loss) or "same digits" in said


def test_only_a_probability_that_rose_is_bold(training):
    record = training.records[-1]
    tokens = training.encodings[record.sentence - 1].tokens
    for by, bold in ((1.5, True), (1.0, False), (0.5, False)):
        after = tuple(by * share for share in record.before)
        table = render_terms(tokens, dataclasses.replace(record, after=after))
        for share in map(format_percent, after):
            assert f"<td>{f'<b>{share}</b>' if bold else share}</td>" in table
        assert ("<b>" in table) == bold


def test_which_way_a_weight_goes_and_j_with_it(training):
    number = len(training.records)
    best = training.largest_gradient(number)
    why = training.explain(best, number)
    move = why.new - why.old
    assert move and why.gradient
    raises = "raises" if why.gradient > 0 else "lowers"
    way = "raised" if move > 0 else "lowered"
    assert say_moved(why) == f"More of it {raises} J; it is {way} by {format_number(abs(move))}."
    if not training.settings.practised:
        assert (move > 0) == (why.gradient < 0)
    for gradient in (-0.5, 0.5, 0.0):
        text = say_moved(dataclasses.replace(why, gradient=gradient))
        assert text.startswith(
            "Its gradient is 0; it" if not gradient else f"More of it {'raises' if gradient > 0 else 'lowers'} J; it"
        )
    assert say_moved(dataclasses.replace(why, new=why.old)).endswith("J; it stays.")


def test_a_term_is_told_with_what_was_before_the_step_and_after_it(training):
    told = re.compile(r"Hidden as token (\d+)\. Before the step (.+) has (.+), after it (.+); answered first is")
    for record in training.records[-2:]:
        losses = []
        for place, token in enumerate(record.hidden):
            term = tell(None, training, read_address(name_term(record, token)))
            before, after = (math.exp(-record.terms[place]), record.after[place])
            at, _, first, then = told.match(term.words.replace("\N{NO-BREAK SPACE}", " ")).groups()
            written = [format_percent(share).replace("\N{NO-BREAK SPACE}", " ") for share in (before, after)]
            assert (int(at), first, then) == (token, *written)
            assert [value for name, value, _ in term.parts[:2]] == [format_number(x) for x in (before, after)]
            losses.append(-math.log(after))
        assert sum(losses) == pytest.approx(record.loss_after, rel=1e-4)


def test_what_a_step_did_to_a_weight_adds_up(training):
    number = len(training.records)
    why = training.explain(training.largest_gradient(number), number)
    parts = {name: value for name, value, _ in list_parts(why, "")}
    names = "θ, the weight before", "θ′, the weight after", "step, θ′ − θ"
    assert [parts[name] for name in names] == [format_number(x) for x in (why.old, why.new, why.new - why.old)]
    assert why.new != why.old
    if not training.settings.practised:
        assert why.new - why.old == pytest.approx(-why.rate * why.gradient, rel=1e-2)


@pytest.mark.parametrize(("text", "of"), [("Hi", "1 token that is"), ("Hi, you", "3 tokens that are")])
def test_one_token_is_one_that_is_not_special(bundled, text, of):
    training = Training(make_small_model(bundled, [text]), [text], Settings(passes=1))
    training.advance()
    record = training.records[0]
    assert count_hidden(training, record) == f"{len(record.hidden)} hidden of {of} not special"


def test_of_many_words_only_the_first_are_asked_for_and_it_is_said(bundled):
    """A researcher looks for the line of a word that none of the curves is."""
    few, many = SENTENCES, [" ".join(["a cat sat on the mat in rome"] * 3)] * 4
    for sentences, said in ((few, ""), (many, " Only the first 64 of all 96 words are asked for.")):
        plan = Plan(make_small_model(bundled, sentences), sentences)
        assert tell_unasked(plan) == said
        typed = [encoding.tokens for encoding in plan.encodings]
        assert len(plan.words) == min(64, sum(map(len, typed)) - 2 * len(typed))


def test_what_rose_most_is_a_word_that_rose_and_stands_once():
    shares = np.array([[0.1, 0.2, 0.3, 0.4, 0.1], [0.5, 0.2, 0.9, 0.1, 0.6]])
    assert choose_risen(shares, ["cat", "dog", "cat", "sat", "."], 3) == [2]
    assert choose_risen(shares[::-1], ["cat", "dog", "cat", "sat", "."], 3) == [3]
    assert choose_risen(shares[[0, 0]], ["cat", "dog", "cat", "sat", "."], 3) == []


def test_a_word_that_stands_twice_rose_as_much_as_where_it_rose_most():
    """Where it rose less as well, it comes before what rose less than that."""
    shares = np.array([[0.0] * 5, [0.9, 0.5, 0.1, 0.3, 0.95]])
    assert choose_risen(shares, ["the", "in", "the", "sat", "."], 3) == [0, 1, 3]
    assert choose_risen(shares, ["the", "in", "the", "sat", "."], 1) == [0]


def test_how_many_weights_never_move(training):
    moved = {
        name: np.zeros(tuple(tensor.shape), dtype=bool)
        for name, tensor in training.before.parameters.items()
        if name in training.learned
    }
    after = training.model_at(len(training.records) + 1).parameters
    for name in moved:
        moved[name] = np.asarray(after[name] != training.before.parameters[name])
    said = say_still(training)
    weights, found = sum(part.size for part in moved.values()), re.search(r"The other ([\d,]+) never move", said)
    still = int(found[1].replace(",", "")) if found else 0
    learn = f"{weights - still:,} of {weights:,}" if still else f"{weights:,}"
    assert said.startswith(f"{learn} weights learn.")
    unmoved = sum(int((~part).sum()) for part in moved.values())
    if training.settings.practised:
        assert still == 0  # without a gradient they shrink all the same, by AdamW's decay
    else:
        assert still <= unmoved
        for one in training.still:
            assert not moved[one.parameter][list(one.rows)].any()


def test_a_weight_that_never_moves_is_none_of_those_that_learn(training):
    """The drawer counts as the page does."""
    number = len(training.records)
    learn = say_still(training).split(" ")[0]
    best = training.explain(training.largest_gradient(number), number)
    assert say_which(training, best, best=True).startswith(
        f"It is the one with the gradient that is largest in size, of {learn} weights that learn"
    )
    for one in training.still:
        cell = Address(one.parameter).fix(
            **{training.loss.leaves[one.parameter].axes[0].name: one.rows[-1], "hidden": 3}
        )
        why = training.explain(f"update:{cell}", number)
        assert why.gradient == 0 and why.new == why.old
        said = say_which(training, why, best=False)
        assert said.startswith(f"It is none of {learn} weights that learn: no sentence reads its row")
    assert bool(training.still) != training.settings.practised


def test_what_line_5_runs(training):
    said = say_line_5(training)
    assert all(name in said for name in list_besides(training.before))
    assert said.startswith(
        "Line 5 runs E-Transformer as" if training.settings.program == "definition" else "Line 5 runs BERT as released"
    )
    assert ("learns by itself" in said) == (training.settings.program == "definition")


def test_the_last_steps_are_told_from_all_steps():
    assert say_line(np.arange(12.0)) == "was **0** in the first and **11.00** over all of them"
    assert say_line(np.arange(1.0) + 2) == "was **2.00**"  # the first is all of them
    assert say_line(np.arange(13.0)) == "went from **0** to **12.00**"
    assert say_line(np.full(13, 2.0)) == "was **2.00** at both ends"


def test_a_step_that_moves_no_digit_of_j_takes_it_nowhere(training):
    record = dataclasses.replace(training.records[0], number=4, loss=2.0, loss_after=2.00001)
    assert say_step(record) == "Step 4 left J near **2.0000**"
    assert say_step(dataclasses.replace(record, loss_after=1.5)) == "Step 4 took J from **2.0000** to **1.5000**"


@pytest.mark.parametrize(("learner", "practised"), [("copy", False), ("heads", True), ("small", True)])
def test_another_model_or_way_begins_with_the_numbers_tried_with_it(bundled, learner, practised):
    at = AppTest.from_file(str(Path(__file__).parents[1] / "app.py"), default_timeout=60).run()
    at.query_params.update({"eta": "0.5", "passes": "7"})
    at.switch_page("pages/training.py").run()
    at.session_state["open"] = "learns"
    at.run()
    (menu,) = [one for one in at.selectbox if one.label == "Which model learns"]
    menu.set_value(learner).run()
    if practised:
        at.toggle[0].set_value(True).run()
    tried = suggest(bundled, learner, practised)
    fields = {one.label: one.value for one in at.text_input if one.label in ("T", "η")}
    assert fields == {"T": str(tried.passes), "η": f"{tried.eta:g}"}


@pytest.mark.parametrize("steps", [1, 2, 6, 20, 60, 240])
def test_the_rates_that_are_told_are_those_of_the_steps(steps):
    """The last step has a rate as well: it does not come to 0."""
    rule = Rule(Settings(eta=0.003, practised=True), {}, steps)
    rates = [rule.rate(number) for number in range(1, steps + 1)]
    said = re.findall(r"(\S+) in step ([\d,]+)", tell_rates(rule))
    told = {int(number.replace(",", "")): rate for rate, number in said}
    assert all(rate == format_short(rates[number - 1]) for number, rate in told.items())
    peak = int(np.argmax(rates))
    assert told.keys() == ({1, peak + 1, steps} if steps > 1 else set())
    assert all(np.allclose(np.diff(part, 2), 0) for part in (rates[: peak + 1], rates[peak:]))
