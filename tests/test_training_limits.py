"""What a training draws, and what it refuses."""

import re

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.learning import Settings, Training, check_settings, room
from bertviz_core.learning.draws import Drawer
from bertviz_core.learning.plan import Plan
from bertviz_core.learning.settings import MAX_STEPS
from bertviz_core.sharing.memory import read_budget
from tests.factory import random_checkpoint
from tests.learning import SENTENCES, take_all

# Draws.


def draws(training):
    return [(record.hidden, record.masked_ids) for record in training.records]


def test_the_same_seed_draws_the_same_and_another_one_others(learner, trained):
    again = take_all(Training(learner, SENTENCES, Settings(passes=2, eta=0.5)))
    assert draws(again) == draws(trained)
    other = take_all(Training(learner, SENTENCES, Settings(passes=2, seed=1)))
    assert draws(other) != draws(trained)
    again.reset()
    assert again.records == () and again.passes == ()
    assert draws(take_all(again)) == draws(trained)


def test_special_tokens_are_never_hidden_and_something_always_is(learner):
    encoding = learner.tokenizer.encode("The cat [MASK] on the mat. [PAD]")
    drawer = Drawer(learner.tokenizer, Settings(p_mask=0.1))
    drawn = [drawer.draw(encoding).hidden for _ in range(300)]
    allowed = {i for i, token in enumerate(encoding.tokens) if token not in learner.tokenizer.special_tokens}
    assert set().union(*drawn) == allowed == {1, 2, 4, 5, 6, 7}
    assert all(drawn)
    expected = 0.1 / (1 - 0.9 ** len(allowed))  # of the draws that hide something
    assert np.mean([len(hidden) / len(allowed) for hidden in drawn]) == pytest.approx(expected, abs=0.02)


def test_a_hidden_token_is_masked_and_no_other_is_changed(trained, learner):
    for record in trained.records:
        for i, (own, seen) in enumerate(zip(record.ids, record.masked_ids, strict=True)):
            assert seen == (learner.tokenizer.mask_id if i in record.hidden else own)


def test_as_practised_eight_of_ten_are_masked_one_replaced_one_left(learner):
    encoding = learner.tokenizer.encode(SENTENCES[0])
    drawer = Drawer(learner.tokenizer, Settings(p_mask=0.5, practised=True))
    kinds = []
    for _ in range(600):
        draw = drawer.draw(encoding)
        for i, (own, seen) in enumerate(zip(encoding.ids, draw.masked_ids, strict=True)):
            assert i in draw.hidden or own == seen
            assert seen == learner.tokenizer.mask_id or learner.tokenizer.token(seen) not in ("[PAD]", "[UNK]")
            if i in draw.hidden:
                kinds.append("masked" if seen == learner.tokenizer.mask_id else "left" if seen == own else "replaced")
    shares = {kind: kinds.count(kind) / len(kinds) for kind in ("masked", "replaced", "left")}
    assert shares == pytest.approx({"masked": 0.8, "replaced": 0.1, "left": 0.1}, abs=0.02)


def test_as_practised_the_rate_rises_and_falls(learner):
    training = Training(learner, SENTENCES, Settings(passes=10, eta=0.01, practised=True))
    rates = [training.rule.rate(number) for number in range(1, 31)]
    assert rates[:3] == pytest.approx([0.01 / 3, 0.02 / 3, 0.01])
    assert max(rates) == pytest.approx(0.01) and rates[3:] == sorted(rates[3:], reverse=True) and rates[-1] > 0


# Limits.

BAD = {
    "eta without bound": ({"eta": 1e9}, "η must be above 0 and at most 10; it is 1000000000.0"),
    "eta 0": ({"eta": 0}, "η must be above 0"),
    "eta not a number": ({"eta": float("nan")}, "η must be above 0"),
    "eta infinite": ({"eta": float("inf")}, "η must be above 0"),
    "nothing hidden": ({"p_mask": 0}, "or nothing is hidden"),
    "all hidden": ({"p_mask": 1}, "or nothing is left to read"),
    "half a pass": ({"passes": 0.5}, "must be a whole number"),
    "no pass": ({"passes": 0}, "T, the number of passes, must be"),
    "too many steps": ({"passes": MAX_STEPS // 3 + 1}, r"at most 2,000 steps.*Choose a T of at most 666"),
    "no seed": ({"seed": -1}, "The seed must be"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_settings_are_refused_with_the_rule_what_came_and_the_remedy(learner, case):
    settings, says = BAD[case]
    with pytest.raises(bv.TrainingError, match=says):
        check_settings(learner, SENTENCES, Settings(**settings))


@pytest.mark.parametrize(
    ("sentences", "says"),
    [
        ((), "1 to 8 sentences, not 0"),
        (("the cat",) * 9, "1 to 8 sentences, not 9"),
        (("the cat", ""), "Sentence 2: The sentence is empty"),
        (("[MASK]", "the cat"), "Nothing in sentence 1 can be hidden"),
        (("the cat " * 40,), "reads at most 64"),
    ],
)
def test_sentences_that_teach_nothing_are_refused(learner, sentences, says):
    with pytest.raises(bv.TrainingError, match=says):
        check_settings(learner, sentences, Settings())


def plan_within(model, room, monkeypatch, tokens=12, **settings):
    """A plan for one sentence of so many tokens, where trainings may take `room` bytes together."""
    monkeypatch.setattr("bertviz_core.learning.room.read_limit", lambda: room)
    return Plan(model, ["the " * (tokens - 2)], Settings(passes=1, **settings))


def test_what_takes_too_much_memory_is_refused_with_what_would_fit(learner, monkeypatch):
    fits = Plan(learner, ["the " * 18], Settings(passes=1)).room.peak
    with pytest.raises(
        bv.TrainingError, match=r"would take .* 30 tokens .* At most (\d+) tokens a sentence"
    ) as refused:
        plan_within(learner, fits, monkeypatch, tokens=30)
    longest = int(re.search(r"At most (\d+) tokens", str(refused.value))[1])
    assert longest >= 20
    assert plan_within(learner, fits, monkeypatch, tokens=longest).room.peak <= fits
    with pytest.raises(bv.TrainingError):
        plan_within(learner, fits, monkeypatch, tokens=longest + 1)


def test_amounts_that_differ_are_written_so(learner, monkeypatch):
    needed = Plan(learner, ["the " * 18], Settings(passes=1)).room.peak
    with pytest.raises(bv.TrainingError) as refused:
        plan_within(learner, needed - 1, monkeypatch, tokens=20)
    most, asked = re.search(r"may take (.+) of memory here\. This one would take (.+?):", str(refused.value)).groups()
    assert most != asked and float(most.split()[0]) < float(asked.split()[0])
    assert room.write_apart(1_100_000_000, 1_120_000_000) == ("1.10 GB", "1.12 GB")
    assert room.write_apart(500_000_000, 1_120_000_000) == ("500 MB", "1.1 GB")


def test_where_no_sentence_fits_another_way_is_named(bundled, monkeypatch):
    printed, practised = (
        Plan(bundled, ["the cat"], Settings(passes=1, practised=way)).room.peak for way in (False, True)
    )
    with pytest.raises(bv.TrainingError, match="As printed, with no AdamW, it would fit"):
        plan_within(bundled, (printed + practised) // 2, monkeypatch, tokens=4, practised=True)
    with pytest.raises(bv.TrainingError, match="small model, or the LM head alone"):
        plan_within(bundled, 50_000_000, monkeypatch)


def test_the_room_follows_from_what_the_process_may_take(learner, monkeypatch):
    monkeypatch.setattr(room, "PROCESS_BYTES", read_budget().training)
    with pytest.raises(bv.TrainingError, match="may take 0 MB of memory here"):
        Training(learner, SENTENCES)


def test_a_model_without_a_head_cannot_learn(tmp_path):
    headless = bv.load_model(random_checkpoint(tmp_path, kind="base"))
    with pytest.raises(bv.TrainingError, match="no LM head"):
        Training(headless, SENTENCES)


def test_draws_that_hide_nothing_come_to_an_end(learner):
    with pytest.raises(bv.TrainingError, match="too small"):
        Training(learner, SENTENCES, Settings(p_mask=1e-12)).advance()


def test_weights_that_run_away_end_the_training_and_are_not_kept(learner):
    training = Training(learner, SENTENCES, Settings(eta=10))
    good = training.advance()
    state = training.state_before(2)
    inner = "encoder.layer.0.intermediate.dense.weight"
    training._state = type(state)({**state.weights, inner: torch.full_like(state.weights[inner], 1e308)})
    with pytest.raises(bv.TrainingError, match=r"Step 2 gave a number that is not finite: with η 10 .* smaller η"):
        training.advance()
    with pytest.raises(bv.TrainingError, match="Step 2"):
        training.advance()
    assert training.records == (good,)
    training.reset()
    assert training.advance().loss == good.loss


def test_there_are_no_more_steps_than_n_times_t(trained):
    with pytest.raises(bv.TrainingError, match="All 6 steps"):
        trained.advance()
    with pytest.raises(bv.TrainingError, match="Step 7 has not been taken"):
        trained.explain("J", 7)


@pytest.mark.parametrize(("steps", "name"), [(1, "yours, 1 step"), (2, "yours, 2 steps"), (21, "yours, 21 steps")])
def test_a_trained_model_is_named_by_its_steps(learner, steps, name):
    plan = Plan(learner, SENTENCES)
    assert plan.name(steps) == name and plan.name(0) == learner.name


@pytest.mark.parametrize(("count", "text"), [(5e6, "5 MB"), (999e6, "999 MB"), (1e9, "1.0 GB"), (2.5e9, "2.5 GB")])
def test_an_amount_of_memory_is_written_in_powers_of_ten(count, text):
    assert room.write_bytes(count) == text
