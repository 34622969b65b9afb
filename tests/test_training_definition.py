"""E-Training of the definition's own E-Transformer, against NumPy: its parameters, gradients, records and page."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.errors import TrainingError
from bertviz_core.formula.address import parse
from bertviz_core.learning import Settings, Training, make_small_model, name_head, save_safetensors, suggest_settings
from bertviz_core.learning.parcel import pack_model, unpack_model
from bertviz_core.ui.views.training_fields import SENTENCES as SHOWN
from bertviz_core.ui.views.training_lines import list_besides, say_line_5
from bertviz_core.ui.views.training_still import say_still
from tests.documents import Weights, definition
from tests.factory import random_checkpoint
from tests.learning import SENTENCES, take_all, take_steps
from tests.often import seldom
from tests.test_training_page import errors, opened, page, press, texts  # noqa: F401

STEP = 1e-5  # of a weight to each side, where its derivative is measured
DEFINED = Settings(passes=2, eta=0.01, program="definition")


@pytest.fixture(scope="module", params=[True, False], ids=["tied in the file", "two matrices in the file"])
def folder(request, tmp_path_factory):
    kind = {"kind": "masked-lm", "num_hidden_layers": 2, "tie_word_embeddings": request.param}
    return random_checkpoint(tmp_path_factory.mktemp("defined"), **kind)


@pytest.fixture(scope="module")
def small(bundled):
    return make_small_model(bundled, SHOWN, program="definition")


def read_weights(folder):
    """A file's tensors; the text has two matrices, W_e and W_u, even where the file holds one for both."""
    weights = Weights(folder)
    decoder = "cls.predictions.decoder.weight"
    weights.tensors[decoder] = weights.tensors[decoder].copy()
    return weights


@dataclass(frozen=True)
class Pass:
    """What the transcription asks of a trace: the model's sizes, and what it reads."""

    model: bv.Model
    ids: tuple[int, ...]

    def __getitem__(self, name):
        return {"input_ids": np.array(self.ids)}[name]


def predict(weights, model, ids):
    """(token, vocab) P of E-Transformer in NumPy."""
    return definition(weights, Pass(model, ids))["cls.predictions.probs"]


def sum_loss(weights, model, record):
    """J of line 6 in NumPy."""
    probs = predict(weights, model, record.masked_ids)
    return -sum(np.log(probs[i, record.ids[i]]) for i in record.hidden)


def list_theta(layers):
    """The parameters that the text lists, and those of its attention, W^l, which it does not spell out."""
    attention = [f"attention.{name}" for name in ("self.query", "self.key", "self.value", "output.dense")]
    modules = [*attention, "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"]
    every = [f"encoder.layer.{i}.{module}" for i in range(layers) for module in modules]
    every += [f"cls.predictions.transform.{module}" for module in ("dense", "LayerNorm")]
    tables = ("embeddings.word_embeddings", "embeddings.position_embeddings", "cls.predictions.decoder")
    return {f"{module}.{leaf}" for module in every for leaf in ("weight", "bias")} | {f"{t}.weight" for t in tables}


# What is trained.


def test_theta_is_what_the_definition_lists(small):
    training = Training(small, SHOWN, DEFINED)
    assert set(training.learned) == list_theta(2) and len(training.learned) == len(list_theta(2))
    words, places, d, neurons = len(small.tokenizer.vocabulary), 64, 32, 64
    layer = 4 * (d * d + d) + 2 * 2 * d + 2 * d * neurons + neurons + d
    count = 2 * words * d + places * d + 2 * layer + d * d + d + 2 * d
    assert f" of {count:,} weights learn. " in say_still(training)
    assert not training.ties and next(iter(training.groups.values())) == "embeddings"


def test_what_only_bert_has_adds_nothing_and_stays(small):
    training = take_steps(Training(small, SHOWN, DEFINED), 2)
    besides = {symbol.address for symbol in small.program.parameters} - list_theta(2)
    for name in besides:
        ones = name == "embeddings.LayerNorm.weight"
        assert bool((training.model.parameters[name] == float(ones)).all())
    assert {name.rpartition(".")[0] for name in besides} == {
        "embeddings.token_type_embeddings",
        "embeddings.LayerNorm",
        "cls.predictions.decoder",
    }


def test_line_5_says_which_program_runs(small, bundled, learner):
    besides = ("segments", "LayerNorm on the embeddings", "a bias in the decoder")
    assert list_besides(small) == list_besides(bundled) == besides
    told = say_line_5(Training(small, SHOWN, DEFINED))
    assert told.startswith("Line 5 runs E-Transformer as the definition has it: without segments, LayerNorm on")
    released = say_line_5(Training(learner, SENTENCES, Settings(passes=1)))
    assert released.startswith("Line 5 runs BERT as released, not E-Transformer") and released.endswith("matrix.")


def test_a_program_that_is_none_is_refused(small):
    with pytest.raises(TrainingError, match="must be one of definition, bert; it is 'gpt'"):
        Training(small, SHOWN, Settings(program="gpt"))


# Against NumPy.


def test_gradients_are_those_that_numpy_measures(folder):
    """Of every parameter the weight with the largest gradient and one drawn at random."""
    model = bv.load_model(folder, torch.float64)
    training = Training(model, SENTENCES, DEFINED)
    record, weights, random = training.advance(), read_weights(folder), np.random.default_rng(0)
    assert record.loss == pytest.approx(sum_loss(weights, model, record), rel=1e-9)
    gradients = training.gradients(1)
    assert set(gradients) == list_theta(2)
    for name, gradient in gradients.items():
        stored = weights.tensors[name]
        turned = gradient.numpy() if name.startswith("embeddings.") else gradient.numpy().T
        assert turned.shape == stored.shape
        for place in (int(np.abs(turned).argmax()), int(random.integers(stored.size))):
            index = np.unravel_index(place, stored.shape)
            old, ends = stored[index], []
            for move in (STEP, -STEP):
                stored[index] = old + move
                ends.append(sum_loss(weights, model, record))
            stored[index] = old
            assert turned[index] == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5, abs=1e-8), name


def test_records_are_those_of_the_pass_in_numpy_with_the_weights_of_each_step(folder, tmp_path):
    training = take_all(Training(bv.load_model(folder, torch.float64), SENTENCES, DEFINED))
    for record in training.records[1::2]:
        for shares, number in ((record.before, record.number), (record.after, record.number + 1)):
            saved = tmp_path / str(number)
            save_safetensors(training.model_at(number), saved)
            probs = predict(Weights(saved), training.before, record.masked_ids)
            assert shares == pytest.approx([probs[i, record.ids[i]] for i in record.hidden], rel=1e-6)
        assert training.trace(record.number).program.name == "definition"
        np.testing.assert_allclose(
            [training.trace(record.number)["cls.predictions.probs"][i, record.ids[i]] for i in record.hidden],
            record.before,
            rtol=1e-9,
        )


def test_w_u_learns_by_itself(folder):
    """In a file both may be one matrix; after a step they are two, each moved by its own gradient."""
    model = bv.load_model(folder, torch.float64)
    training = take_steps(Training(model, SENTENCES, DEFINED), 1)
    for name in ("embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"):
        moved = model.parameters[name] - 0.01 * training.gradients(1)[name]
        assert torch.equal(training.model.parameters[name], moved)
    assert not training.model.config.tie_word_embeddings
    assert "cls.predictions.decoder.weight" in name_head(model, "definition")


def test_rows_that_no_sentence_reads_stay_and_all_others_move(small):
    training = take_all(Training(small, SHOWN, Settings(passes=4, program="definition")))
    read = {i for encoding in training.encodings for i in encoding.ids} | {small.tokenizer.mask_id}
    longest = max(map(len, training.encodings))
    still = {one.parameter: set(one.rows) for one in training.still}
    assert still == {
        "embeddings.word_embeddings.weight": set(range(len(small.tokenizer.vocabulary))) - read,
        "embeddings.position_embeddings.weight": set(range(longest, 64)),
    }
    for name in training.learned:
        same = training.model.parameters[name] == small.parameters[name]
        rows = [row for row in range(len(same)) if bool(same[row].all())]
        if same.dim() > 1:
            assert set(rows) == still.get(name, set()) and int(same.sum()) == len(rows) * same.shape[1]
        elif name.endswith(
            "key.bias"
        ):  # adds the same to all scores of a row: softmax is as before, only rounding moves it
            assert max(training.gradients(step)[name].abs().max() for step in range(1, 5)) < 1e-15
        else:
            assert not rows


@pytest.mark.rare
def test_it_learns_with_the_settings_that_are_suggested(small):
    training = take_all(Training(small, SHOWN, suggest_settings_of(small)))
    first, last = training.passes[0].probabilities, training.passes[-1].probabilities
    assert np.mean(first) < 0.1 and np.mean(last) > 0.6


def suggest_settings_of(model):
    found = suggest_settings(model)
    return Settings(found.passes, found.eta, program="definition")


# Every number worked out.


@pytest.mark.parametrize("practised", [False, True])
def test_a_weight_of_each_kind_is_worked_out(small, practised):
    settings = Settings(passes=2, eta=0.01, program="definition", practised=practised)
    training = take_steps(Training(small, SHOWN, settings), 3)
    for name in (
        "embeddings.word_embeddings.weight",
        "encoder.layer.1.intermediate.dense.weight",
        "encoder.layer.0.attention.output.LayerNorm.bias",
        "cls.predictions.decoder.weight",
    ):
        gradient = training.gradients(3)[name]
        index = np.unravel_index(int(gradient.abs().argmax()), gradient.shape)
        axes = training.loss.leaves[name].axes
        cell = ",".join(f"{axis.name}={i}" for axis, i in zip(axes, index, strict=True))
        why = training.explain(f"update:{name}[{cell}]", 3)
        assert why.measured == pytest.approx(gradient[index].item(), rel=1e-5)
        assert why.new == training.model.parameters[name][index].item()
        if not practised:
            assert why.new == why.old - 0.01 * why.gradient


def test_the_update_stands_in_the_texts_own_letters(small):
    """W_1 of the text is the transpose of ours: in rows its letter says so, in columns it is the text's."""
    update = Training(small, SHOWN, DEFINED).rule.updates["encoder.layer.0.intermediate.dense.weight"].steps[0]
    slope = r"\frac{\partial J}{\partial W_1^{(1)}}"
    assert update.typeset(notation="column") == rf"{{W_1^{{(1)}}}}' = W_1^{{(1)}} - \eta \cdot {slope}"
    assert r"{W_1^{(1)}}^{\top} - \eta" in update.latex


def test_it_is_the_same_in_another_process(small):
    there = unpack_model(pack_model(small))
    here = [take_steps(Training(model, SHOWN, DEFINED), 2).records[-1].loss for model in (small, there)]
    assert here[0] == here[1]


# The page.


def test_the_definitions_program_is_trained_unless_the_link_says_bert():
    usual, released = opened(open="open"), opened(program="bert", open="open")
    told = {"definition": "Line 5 runs E-Transformer", "bert": "Line 5 runs BERT as released, not E-Transformer"}
    for at, name in ((usual, "definition"), (released, "bert")):
        run = at.session_state["training-run"]
        assert run.asked.settings.program == run.training.settings.program == name
        assert told[name] in "\n".join(element.value for element in at.markdown).replace("\\", "")
    assert "program" not in usual.query_params and released.query_params["program"] == "bert"
    assert opened(program="gpt").session_state["training-run"].asked.settings.program == "definition"


def test_another_program_is_another_training_and_stands_in_the_link():
    at = press(opened(passes="1", texts="A cat sat.", open="learns"), "training-step")
    before = at.session_state["training-run"]
    at.selectbox(key="program").set_value("bert").run()
    at.run()
    after = at.session_state["training-run"]
    assert after is not before and not after.records and at.query_params["program"] == "bert" and not errors(at)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["definition", seldom("bert")])
@pytest.mark.parametrize("learner", [seldom("small"), "heads"])
def test_the_largest_gradient_is_explained_whatever_is_trained(name, learner):
    at = press(opened(passes="1", texts="A cat sat.", program=name, learner=learner), "training-step")
    address = re.search(r'<button data-cell="([^"]*)"[^>]*>Largest gradient', texts(at))[1]
    assert parse(address).made == "update"
    at.query_params["walk"] = address
    at.run()
    assert not errors(at) and "gradient, by autograd" in texts(at)


def test_what_is_used_elsewhere_says_what_did_not_learn():
    at = press(opened(passes="1", texts="A cat sat.", open="use"), "training-step")
    told = "\n".join(element.value for element in at.markdown)
    assert "with segments, LayerNorm on the embeddings and a bias in the decoder, which did not learn" in told
