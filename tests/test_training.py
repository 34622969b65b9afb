"""Training against Hugging Face's model, PyTorch's optimizers and autograd; what it must not touch."""

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

import bertviz_core as bv
from bertviz_core.checkpoint.weights import TIED, is_stored_turned
from bertviz_core.learning import Settings, Training, copy_model, name_head
from bertviz_core.learning import course as course_module
from bertviz_core.learning.passes import compute, measure, prepare_inputs
from bertviz_core.programs.training import ADAMW_EPSILON, BETA_1, BETA_2, DECAY
from tests.factory import random_checkpoint
from tests.learning import SENTENCES, take_all, take_steps

CONFIGS = {
    "one layer": {"num_hidden_layers": 1, "hidden_size": 30, "num_attention_heads": 5, "intermediate_size": 44},
    "three layers, gelu_new, three segments": {
        "num_hidden_layers": 3, "hidden_size": 21, "num_attention_heads": 3, "intermediate_size": 50,
        "hidden_act": "gelu_new", "layer_norm_eps": 1e-3, "type_vocab_size": 3},
    "two layers, relu, untied decoder": {
        "num_hidden_layers": 2, "hidden_size": 24, "num_attention_heads": 4, "intermediate_size": 31,
        "hidden_act": "relu", "tie_word_embeddings": False},
}  # fmt: skip


@pytest.fixture(scope="module", params=CONFIGS)
def folder(request, tmp_path_factory):
    name = request.param
    return random_checkpoint(tmp_path_factory.mktemp("model"), kind="masked-lm", seed=len(name), **CONFIGS[name])


def load_oracle(folder):
    return BertForMaskedLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64).eval()


def ask_oracle(oracle, record):
    """J of a step by Hugging Face's model and loss, which is the mean over the hidden tokens."""
    hidden = torch.zeros(len(record.ids), dtype=torch.bool)
    hidden[list(record.hidden)] = True
    labels = torch.where(hidden, torch.tensor(record.ids), -100)
    return oracle(input_ids=torch.tensor([record.masked_ids]), labels=labels[None]).loss * len(record.hidden)


def find_in_oracle(oracle, symbol):
    """Hugging Face's parameter under our address, with its axes turned as ours are."""
    known = dict(oracle.named_parameters())
    names = (symbol.address, TIED.get(symbol.address, ""))
    parameter = next(known[full] for name in names for full in (name, f"bert.{name}") if full in known)
    return (lambda tensor: tensor.mT if is_stored_turned(symbol) else tensor), parameter


# Against the oracle.


def test_gradients_of_the_loss_equal_hugging_face(folder):
    training = Training(bv.load_model(folder, dtype=torch.float64), SENTENCES, Settings(passes=1))
    record = training.advance()
    oracle = load_oracle(folder)
    loss = ask_oracle(oracle, record)
    loss.backward()
    assert record.loss == pytest.approx(loss.item(), rel=1e-12)
    assert_gradients(training, oracle, record.number)
    assert training.gradients(1)["encoder.layer.0.attention.self.query.weight"].abs().max() > 1e-3


def assert_gradients(training, oracle, number):
    """To 1e-6 relative; a key's bias moves all scores of a row alike, so that its gradient is nothing but rounding."""
    gradients = training.gradients(number)
    rounding = 1e-14 * max(gradient.abs().max().item() for gradient in gradients.values())
    seen = set()
    for address, gradient in gradients.items():
        turn, parameter = find_in_oracle(oracle, training.loss.leaves[address])
        expected = turn(parameter.grad)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=rounding, err_msg=address)
        seen.add(id(parameter))
    learned = {id(p) for p in oracle.parameters() if p.grad is not None and p.grad.abs().max() > 0}
    assert learned <= seen


def test_ten_plain_steps_give_the_losses_of_an_sgd_loop(folder):
    training = take_steps(Training(bv.load_model(folder, dtype=torch.float64), SENTENCES, Settings(passes=4)), 10)
    oracle = load_oracle(folder)
    optimizer = torch.optim.SGD(oracle.parameters(), lr=training.settings.eta)
    expected = run_oracle(oracle, optimizer, training)
    np.testing.assert_allclose([record.loss for record in training.records], expected, rtol=1e-8)


def test_adamw_gives_the_losses_and_weights_of_pytorchs(folder):
    settings = Settings(passes=4, eta=0.003, practised=True)
    training = take_steps(Training(bv.load_model(folder, dtype=torch.float64), SENTENCES, settings), 10)
    oracle = load_oracle(folder)
    groups = [
        {"params": [p for p in oracle.parameters() if p.dim() > 1], "weight_decay": DECAY},
        {"params": [p for p in oracle.parameters() if p.dim() == 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=1.0, betas=(BETA_1, BETA_2), eps=ADAMW_EPSILON)
    expected = run_oracle(oracle, optimizer, training)
    np.testing.assert_allclose([record.loss for record in training.records], expected, rtol=1e-7)
    for address in training.learned:
        turn, parameter = find_in_oracle(oracle, training.loss.leaves[address])
        np.testing.assert_allclose(
            training.model.parameters[address], turn(parameter.detach()), rtol=1e-6, atol=1e-8, err_msg=address
        )


def run_oracle(oracle, optimizer, training):
    losses = []
    for record in training.records:
        for group in optimizer.param_groups:
            group["lr"] = record.rate
        optimizer.zero_grad()
        loss = ask_oracle(oracle, record)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_only_the_rows_that_are_asked_for_give_the_same_loss(learner, trained):
    record = trained.record(1)
    inputs = prepare_inputs(trained.encodings[0], course_module._draw(record), learner.dtype)
    whole = compute(trained.loss, learner.parameters, inputs)
    rows = measure(trained.loss, learner.parameters, inputs, record.hidden)
    assert rows.value.item() == pytest.approx(whole["J"].item(), rel=1e-12)
    np.testing.assert_allclose(rows.terms, whole["J.term"][list(record.hidden)], rtol=1e-12)
    assert len(whole["J.term"]) == len(trained.encodings[0]) > len(rows.terms)


@pytest.mark.parametrize("practised", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_step_by_rows_is_its_program_bit_for_bit(learner, bundled, dtype, practised):
    start = learner if dtype == torch.float64 else bundled
    training = take_steps(Training(start, SENTENCES[:1], Settings(passes=1, eta=0.003, practised=practised)), 1)
    gradients = training.gradients(1)
    for name in (
        "embeddings.word_embeddings.weight",
        "encoder.layer.0.output.dense.weight",
        "cls.predictions.decoder.bias",
    ):
        tape = training.rule.tape(training.state_before(1), gradients, name, 1)
        assert torch.equal(tape[f"update:{name}"], training.model.parameters[name])


# What stays as it is.


def test_it_learns_the_same_where_gradients_are_switched_off(learner, trained):
    with torch.inference_mode():
        off = take_steps(Training(learner, SENTENCES, Settings(passes=2, eta=0.01)), 2)
        assert torch.equal(
            off.gradients(1)["embeddings.LayerNorm.bias"], trained.gradients(1)["embeddings.LayerNorm.bias"]
        )
    take_all(off)
    assert [record.loss for record in off.records] == [record.loss for record in trained.records]


def test_the_model_that_it_starts_from_is_never_touched(bundled):
    before = {name: tensor.clone() for name, tensor in bundled.parameters.items()}
    training = take_steps(Training(bundled, SENTENCES[:1], Settings(passes=2, eta=0.001)), 2)
    assert all(torch.equal(before[name], tensor) for name, tensor in bundled.parameters.items())
    assert not any(
        tensor.requires_grad for tensor in (*bundled.parameters.values(), *training.model.parameters.values())
    )
    assert not torch.equal(training.model.parameters["embeddings.LayerNorm.bias"], before["embeddings.LayerNorm.bias"])
    assert training.before is bundled


def test_a_copy_has_weights_of_its_own_tied_as_they_were(learner):
    copy = copy_model(learner)
    assert all(torch.equal(tensor, copy.parameters[name]) for name, tensor in learner.parameters.items())
    shared = {tensor.data_ptr() for tensor in learner.parameters.values()}
    assert shared.isdisjoint(tensor.data_ptr() for tensor in copy.parameters.values())
    assert copy.parameter_count == learner.parameter_count


def test_a_model_that_was_handed_out_stays_as_it_is(learner):
    training = take_steps(Training(learner, SENTENCES, Settings(passes=1)), 1)
    early = training.model
    numbers = bv.run(early, SENTENCES[0])["cls.predictions.decoder"].copy()
    training.advance()
    np.testing.assert_array_equal(bv.run(early, SENTENCES[0])["cls.predictions.decoder"], numbers)
    assert (early.name, training.model.name) == ("yours, 1 step", "yours, 2 steps")
    assert early.revision != training.model.revision


def test_the_head_alone_learns(learner):
    training = take_steps(Training(learner, SENTENCES, Settings(passes=1), only=name_head(learner)), 3)
    changed = {
        name for name, tensor in learner.parameters.items() if not torch.equal(tensor, training.model.parameters[name])
    }
    assert changed == set(training.learned) == name_head(learner)
    assert all(name.startswith("cls.predictions.") for name in changed)
    assert set(training.record().gradient_norms) == {"LM head"}


def test_what_reads_no_loss_cannot_learn(learner):
    with pytest.raises(bv.TrainingError, match="is no parameter that the loss is made from"):
        Training(learner, SENTENCES, only=["pooler.dense.weight"])
    with pytest.raises(bv.TrainingError, match="No parameter is left"):
        Training(learner, SENTENCES, only=[])


def test_weights_that_had_to_go_are_made_again_the_same(learner, monkeypatch):
    settings = Settings(passes=3, eta=0.01, practised=True)
    whole = take_all(Training(learner, SENTENCES, settings))
    monkeypatch.setattr(course_module, "HISTORY_BYTES", 0)
    forgetful = take_all(Training(learner, SENTENCES, settings))
    for number in (1, 5, 9, 10):
        kept, again = whole.state_before(number), forgetful.state_before(number)
        assert all(torch.equal(tensor, again.weights[name]) for name, tensor in kept.weights.items())
        assert all(torch.equal(tensor, again.second[name]) for name, tensor in kept.second.items())
