"""What a step of a training says: its records, and each of its numbers worked out."""

import math
import re

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.training import average_each, average_per_token, rank_risen
from bertviz_core.formula.address import parse
from bertviz_core.learning import Settings, Training
from bertviz_core.learning.draws import Draw
from bertviz_core.learning.passes import compute, prepare_inputs
from tests.latex import balanced, evaluated
from tests.learning import SENTENCES, take_all


def test_a_record_is_what_the_pass_before_and_after_gives(trained):
    for record in trained.records:
        before, after = (trained.trace(record.number, after=after) for after in (False, True))
        assert before.encoding.ids == record.masked_ids
        own = [(token, record.ids[token]) for token in record.hidden]
        for trace, recorded in ((before, record.before), (after, record.after)):
            np.testing.assert_allclose([trace["cls.predictions.probs"][cell] for cell in own], recorded, rtol=1e-9)
        assert record.terms == pytest.approx(-np.log(record.before))
        assert record.loss == pytest.approx(sum(record.terms))
        assert record.loss_after == pytest.approx(-np.log(record.after).sum())
        best = after["cls.predictions.probs"][list(record.hidden)]
        assert [answer.id for answer in record.answers] == best.argmax(-1).tolist()
        assert [answer.probability for answer in record.answers] == pytest.approx(best.max(-1))


def test_steps_go_through_the_sentences_in_order(trained):
    assert [(r.number, r.turn, r.sentence) for r in trained.records] == [
        (1, 1, 1),
        (2, 1, 2),
        (3, 1, 3),
        (4, 2, 1),
        (5, 2, 2),
        (6, 2, 3),
    ]
    assert [record.ids for record in trained.records[:3]] == [encoding.ids for encoding in trained.encodings]


def test_after_each_pass_every_word_is_asked_for_alone(trained):
    assert [(p.turn, p.number) for p in trained.passes] == [(0, 0), (1, 3), (2, 6)]
    assert len(trained.words) == sum(len(trained.before.tokenizer.maskable(e)) for e in trained.encodings)
    for passed in trained.passes:
        for place in (0, 7, len(trained.words) - 1):
            sentence, position = trained.words[place]
            trace = bv.run(trained.model_at(passed.number + 1), SENTENCES[sentence - 1], masked=[position])
            word = trained.encodings[sentence - 1].ids[position]
            expected = trace[f"cls.predictions.probs[token={position},vocab={word}]"]
            assert passed.probabilities[place] == pytest.approx(float(expected), rel=1e-9)


def test_gradient_lengths_by_layer_and_kind_add_up_to_the_whole(trained):
    lengths = trained.record(2).gradient_norms
    assert list(lengths) == ["embeddings + decoder", "layer 0 attention", "layer 0 feed-forward", "LM head"]
    gradients = trained.gradients(2)
    whole = sum(gradient.square().sum().item() for gradient in gradients.values()) ** 0.5
    assert trained.record(2).gradient_norm == pytest.approx(whole)
    inside = [g for name, g in gradients.items() if name.startswith("encoder.layer.0.attention.")]
    assert lengths["layer 0 attention"] == pytest.approx(sum(g.square().sum().item() for g in inside) ** 0.5)


def test_the_loss_and_its_terms_are_worked_out(trained, precise):
    record = trained.record(4)
    why = trained.explain("J", 4)
    assert why.value == pytest.approx(record.loss) == why.recomputed
    assert evaluated(last_formula(why.latex)) == pytest.approx(record.loss, rel=1e-6)
    for token, term in zip(record.hidden, record.terms, strict=True):
        why = trained.explain(f"J.term[token={token}]", 4)
        assert (why.value, why.recomputed) == (pytest.approx(term), pytest.approx(term))
        assert evaluated(last_formula(why.latex)) == pytest.approx(term, rel=1e-6)
        (cell, _), _ = why.operands
        assert cell == f"J.log_probs[token={token},vocab={record.ids[token]}]"
        assert trained.explain(cell, 4).recomputed == pytest.approx(-term)


def last_formula(latex):
    """The right side of the first equation of a worked formula: with numbers, before its result."""
    return re.split(r"(?<![a-z]) = ", latex)[-2]


@pytest.mark.parametrize("practised", [False, True])
def test_one_weights_update_is_worked_out_as_the_optimizer_makes_it(learner, practised, precise):
    training = take_all(Training(learner, SENTENCES, Settings(passes=2, eta=0.01, practised=practised)))
    for number in (1, 4, 6):
        where = training.largest_gradient(number)
        why = training.explain(where.replace("grad:", "update:"), number)
        index = tuple(why.cell.at.values())
        name = why.parameter.path
        assert why.old == training.model_at(number).parameters[name][index]
        assert why.new == why.value == training.model_at(number + 1).parameters[name][index]
        assert evaluated(last_formula(why.latex)) == pytest.approx(why.new, abs=1e-9)
        assert balanced(why.latex)
        assert why.measured == pytest.approx(why.gradient, rel=1e-6)
        assert abs(why.gradient) == max(g.abs().max().item() for g in training.gradients(number).values())
        if not practised:
            assert why.new == why.old - why.rate * why.gradient
        assert len(why.moved) == (2 if practised else 0)
        every = torch.cat([g.flatten() for g in training.gradients(number).values()])
        assert (why.median, why.zeros) == (every.abs().median().item(), int((every == 0).sum()))
        assert training.explain(where, number).value == why.gradient


def test_the_lines_of_code_compute_what_the_formulas_say(trained, learner):
    inputs = prepare_inputs(
        trained.encodings[0], Draw(trained.record(1).hidden, trained.record(1).masked_ids), learner.dtype
    )
    tape = {**inputs, **compute(trained.loss, learner.parameters, inputs)}
    assert_code(trained.loss.steps[-3:], tape, trained.loss.symbol)
    for practised in (False, True):
        rule = Training(learner, SENTENCES, Settings(practised=practised)).rule
        name = "encoder.layer.0.output.dense.weight"
        state = rule.start({name: learner.parameters[name]})
        if practised:
            state = rule.apply(state, {name: trained.gradients(1)[name]}, 1)
        tape = rule.tape(state, {name: trained.gradients(2)[name]}, name, 2)
        assert_code(rule.updates[name].steps, tape, rule.updates[name].symbol)


def assert_code(steps, tape, symbol):
    """Each line runs on the tensors before it, and gives the recorded one; it says what it is and from where."""
    known = {"torch": torch, "math": math}
    known |= {found.variable: tensor for address, tensor in tape.items() if (found := symbol(address))}
    for step in steps:
        expected = known.pop(step.output.variable)
        exec(step.code, known)
        np.testing.assert_allclose(known[step.output.variable], expected, rtol=1e-12, atol=1e-15)
        assert step.meaning.endswith(".") and step.source and balanced(step.latex)
        assert str(parse(step.address)) == step.address


def test_the_formulas_are_those_of_the_document(trained):
    formulas = {step.address: step.latex for step in trained.loss.steps[-3:]}
    assert formulas["J.term"] == r"\ell = -{\log P}_{x}"
    assert formulas["J"] == (r"J = \sum_{j=1}^{n} {\ell}_{j} \, {\llbracket \hat{x} = \mathtt{mask} \rrbracket}_{j}")
    update = trained.rule.updates["embeddings.LayerNorm.bias"].steps[-1]
    assert update.latex == r"{\beta_{E}}' = \beta_{E} - \eta \cdot \frac{\partial J}{\partial \beta_{E}}"


def test_along_one_weight_the_loss_falls_as_its_gradient_says(trained):
    where = trained.largest_gradient(2)
    why = trained.explain(where, 2)
    weights, losses = trained.curve_along(where, 2)
    assert 19 <= len(weights) == len(losses) <= 21 and (np.diff(weights) > 0).all()
    assert weights[0] < min(why.old, why.new) < max(why.old, why.new) < weights[-1]
    along = dict(zip(weights, losses, strict=True))
    assert along[why.old] == pytest.approx(why.loss, rel=1e-12) and along[why.new] < why.loss
    assert not weights.flags.writeable


def test_the_tied_matrix_is_one_weight_under_two_names(trained):
    word = trained.explain("grad:embeddings.word_embeddings.weight[vocab=40,hidden=3]", 1)
    decoder = trained.explain("grad:cls.predictions.decoder.weight[transform=3,vocab=40]", 1)
    assert (word.gradient, word.parameter) == (decoder.gradient, decoder.parameter)
    assert "cls.predictions.decoder.weight" not in trained.learned
    parameters = trained.model.parameters
    assert torch.equal(parameters["cls.predictions.decoder.weight"], parameters["embeddings.word_embeddings.weight"].T)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("J[token=1]", "no axis"),
        ("J.term", "not one cell"),
        ("J.term[token=99]", "out of range"),
        ("grad:pooler.dense.weight[hidden=0,pooled=0]", "not in this trace"),
        ("grad:embeddings.word_embeddings.weight[vocab=1]", "not one cell"),
        ("first:embeddings.LayerNorm.bias[hidden=1]", "no number of a step by itself"),
        ("embeddings.sum[token=0,hidden=0]", "in the trace of the step"),
        ("grad:", "not an address"),
    ],
)
def test_what_no_step_has_a_number_for_is_refused(trained, address, says):
    with pytest.raises(bv.AddressError, match=says):
        trained.explain(address)


def test_addresses_of_a_step_are_read_and_written():
    for text in ("J", "J.term[token=3]", "grad:embeddings.LayerNorm.bias[hidden=1]"):
        assert str(parse(text)) == text
    where = parse("update:encoder.layer.1.output.dense.weight[intermediate=2,hidden=1]")
    assert (where.made, str(where.parameter)) == (
        "update",
        "encoder.layer.1.output.dense.weight[intermediate=2,hidden=1]",
    )
    with pytest.raises(bv.AddressError):
        parse("other:embeddings.LayerNorm.bias")


def test_the_loss_per_token_is_the_sum_of_losses_by_the_sum_of_tokens():
    losses, hidden = [3.0, 8.0, 1.0, 5.0], [1, 4, 1, 2]
    np.testing.assert_allclose(average_per_token(losses, hidden, 2), [3, 11 / 5, 9 / 5, 6 / 3])
    np.testing.assert_allclose(average_per_token(losses, hidden, 99), [3, 11 / 5, 12 / 6, 17 / 8])
    assert len(average_per_token([], [])) == 0


def test_a_words_probability_is_averaged_over_the_last_times_that_it_was_asked_for():
    shares = np.random.default_rng(5).random((9, 2))
    expected = [shares[max(0, i - 3) : i + 1].mean(axis=0) for i in range(len(shares))]
    np.testing.assert_allclose(average_each(shares, 4), expected)


def test_what_rose_is_ranked_and_what_fell_is_not_among_it():
    assert rank_risen(np.array([0.5, 0.1, 0.2, 0.3]), np.array([0.4, 0.3, 0.25, 0.3]), 3) == [1, 2]
