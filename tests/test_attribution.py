"""Where numbers come from: parts that add up, against plain NumPy, Hugging Face's model and their definitions."""

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM

import bertviz_core as bv
from bertviz_core.analysis.attribution import METHODS, Question, attribute, attribute_gradients
from bertviz_core.analysis.carried import carry_forward, measure_carried, pull_back, read_carried
from bertviz_core.analysis.components import split_components
from bertviz_core.analysis.value_weighted import read_attention
from bertviz_core.formula.address import read_address
from bertviz_core.formula.carry import find_slope, passes_zero
from bertviz_core.formula.functions import GELU, GELU_TANH, RELU, SIGMOID, TANH
from bertviz_core.tracing.changes import Override
from tests.factory import random_checkpoint
from tests.often import one_in
from tests.token_parts import transcribe_parts

TEXT, PAIR = "the cat sat on [MASK] mat", "do as romans do"
LAST = "encoder.layer.1.output.LayerNorm"
TARGETS = {
    "masked-lm": "cls.predictions.decoder[token=5,vocab=9]",
    "pretraining": "cls.seq_relationship[relation=1]",
    "sequence-classification": "classifier[label=1]",
    "token-classification": "classifier[token=3,label=0]",
    "question-answering": "qa_outputs.end[end=4]",
    "base": f"{LAST}[token=2,hidden=7]",
}
CHECKPOINTS = [
    *((kind, {"seed": i, "hidden_act": act}) for i, kind in enumerate(TARGETS) for act in ("gelu", "gelu_new", "relu")),
    ("masked-lm", {"seed": 31, "num_attention_heads": 4, "hidden_act": "relu"}),
    ("base", {"seed": 32, "num_hidden_layers": 3, "intermediate_size": 17}),
]
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4}


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = random_checkpoint(tmp_path_factory.mktemp("plain"), kind="masked-lm", seed=5)
    return folder, bv.run(bv.load_model(folder, dtype=torch.float64), TEXT)


@pytest.mark.parametrize("dtype", one_in(2, TOLERANCE))
@pytest.mark.parametrize("kind, settings", CHECKPOINTS, ids=str)
def test_parts_and_biases_are_the_number(tmp_path, kind, settings, dtype):
    model = bv.load_model(random_checkpoint(tmp_path, kind=kind, **settings), dtype=dtype)
    trace = bv.run(model, TEXT, PAIR, pad_to=16)
    for target in {TARGETS[kind], f"{LAST}[token=3,hidden=1]"}:
        found = attribute(trace, target).check()
        np.testing.assert_allclose(found.parts.sum() + found.biases, trace[target], atol=TOLERANCE[dtype])
        parts = split_components(trace, {read_address(target): 1.0})
        np.testing.assert_allclose(parts.total, trace[target], atol=TOLERANCE[dtype])
    states = [address for address in trace.program.carried if "LayerNorm" in address and "layer" in address]
    for address, parts in carry_forward(read_carried(trace), states):
        np.testing.assert_allclose(parts.sum(dim=0), trace[address], atol=TOLERANCE[dtype])


def test_what_taking_a_pass_apart_holds_is_known_before(plain):
    trace = plain[1]
    held = read_carried(trace)
    assert measure_carried(trace) == sum(tensor.nbytes for tensor in held.values())
    assert measure_carried(bv.run(trace.model, "cat " * 40)) > 4 * measure_carried(trace)


def test_both_ways_give_the_same_parts(plain):
    _, trace = plain
    target = read_address(f"{LAST}[token=5,hidden=3]")
    ((_, forward),) = carry_forward(read_carried(trace), {LAST})
    found = attribute(trace, target)
    np.testing.assert_allclose([*found.parts, found.biases], forward[:, 5, 3], atol=1e-12)


def test_parts_are_those_of_a_transcription(plain):
    _, trace = plain
    found = attribute(trace, TARGETS["masked-lm"])
    np.testing.assert_allclose([*found.parts, found.biases], transcribe_parts(trace, 5, 9), atol=1e-11)


def test_instead_of_another_word_is_the_difference(plain):
    _, trace = plain
    one, other = TARGETS["masked-lm"], "cls.predictions.decoder[token=5,vocab=12]"
    lead, mine, theirs = attribute(trace, one, other), attribute(trace, one), attribute(trace, other)
    np.testing.assert_allclose(lead.parts, mine.parts - theirs.parts, atol=1e-12)
    np.testing.assert_allclose(lead.check().recorded, trace[one] - trace[other], atol=1e-12)


def test_gradients_are_those_of_hugging_face(plain):
    folder, trace = plain
    model = BertForMaskedLM.from_pretrained(folder).double().eval()
    ids = torch.tensor([trace.encoding.ids])
    table = model.get_input_embeddings().weight.detach()
    here, base = table[ids], table[trace.model.tokenizer.mask_id].expand(1, ids.shape[1], -1)
    total = torch.zeros_like(here)
    for step in range(64):
        words = (base + (step + 0.5) / 64 * (here - base)).requires_grad_()
        logit = model(inputs_embeds=words, attention_mask=torch.ones_like(ids)).logits[0, 5, 9]
        total += torch.autograd.grad(logit, words)[0]
    expected = ((here - base) * total / 64).sum(dim=-1)[0]
    found = attribute(trace, TARGETS["masked-lm"], method="gradients", steps=64)
    np.testing.assert_allclose(found.parts, expected, atol=1e-10)


def test_too_few_steps_are_refused_with_the_remedy(plain):
    _, trace = plain
    with pytest.raises(bv.BertvizError, match=r"may miss 1% of that\. Take more steps: steps=4\."):
        attribute(trace, TARGETS["masked-lm"], method="gradients", steps=1)
    rough = attribute_gradients(trace, Question(read_address(TARGETS["masked-lm"])), steps=1)
    hidden = trace.with_changes({f"input_ids[token={i}]": trace.model.tokenizer.mask_id for i in range(8)})
    difference = float(trace[TARGETS["masked-lm"]] - hidden[TARGETS["masked-lm"]])
    assert rough.recorded == pytest.approx(difference, abs=1e-10)
    assert rough.gap == pytest.approx(rough.parts.sum() - difference, abs=1e-10)
    assert abs(rough.gap) > 0.01 * abs(difference)
    fine = attribute(trace, TARGETS["masked-lm"], method="gradients", steps=256)
    assert abs(fine.parts.sum() - difference) <= 0.01 * abs(difference)
    assert fine.steps == 256


def test_where_no_steps_are_enough_another_method_is_the_remedy(plain, monkeypatch):
    monkeypatch.setattr("bertviz_core.analysis.attribution.MOST_STEPS", 1)
    with pytest.raises(bv.BertvizError, match="Choose another method"):
        attribute(plain[1], TARGETS["masked-lm"], method="gradients", steps=1)


def test_a_text_of_the_baseline_itself_has_nothing_to_explain(plain):
    trace = plain[1].with_changes({f"input_ids[token={i}]": plain[1].model.tokenizer.mask_id for i in range(8)})
    found = attribute(trace, TARGETS["masked-lm"], method="gradients")
    np.testing.assert_allclose([*found.parts, found.recorded], 0, atol=1e-12)


def test_hiding_is_a_pass_with_the_mask_typed(plain):
    _, trace = plain
    target = TARGETS["masked-lm"]
    found = attribute(trace, target, method="hiding")
    typed = bv.run(trace.model, "the [MASK] sat on [MASK] mat")
    fall = np.log(trace["cls.predictions.probs[token=5,vocab=9]"] / typed["cls.predictions.probs[token=5,vocab=9]"])
    np.testing.assert_allclose(found.parts[2], fall, atol=1e-9)
    assert np.isnan(found.parts[5]), "[MASK] itself"
    with pytest.raises(bv.BertvizError, match="does not add up"):
        found.check()


def test_other_methods_are_their_definitions(plain):
    _, trace = plain
    weights = [trace[f"encoder.layer.{layer}.attention.self.probs"].mean(axis=0) for layer in (0, 1)]
    mixed = [0.5 * a + 0.5 * np.eye(len(a)) for a in weights]
    answers = {name: attribute(trace, TARGETS["masked-lm"], method=name).parts for name in METHODS}
    np.testing.assert_allclose(answers["attention"], weights[1][5], atol=1e-12)
    np.testing.assert_allclose(answers["rollout"], (mixed[1] @ mixed[0])[5], atol=1e-12)
    ((_, forward),) = carry_forward(read_carried(trace), {LAST})
    np.testing.assert_allclose(answers["lengths"], np.sqrt((forward[:-1, 5].numpy() ** 2).sum(axis=-1)), atol=1e-12)
    weighed = read_attention(trace, 1)
    np.testing.assert_array_equal(answers["values"], weighed.values[5])
    np.testing.assert_array_equal(answers["residual"], weighed.residual[5])


def test_a_slope_is_that_of_a_line_through_zero():
    z = torch.tensor([-2.0, -1e-9, -1e-320, 0.0, 1e-320, 1e-200, 3.0], dtype=torch.float64)
    for function, limit in ((GELU, 0.5), (GELU_TANH, 0.5), (TANH, 1.0)):
        slope = find_slope(function, z)
        np.testing.assert_allclose(slope[[0, 6]], function.of(z[[0, 6]]) / z[[0, 6]], rtol=1e-14)
        np.testing.assert_allclose(slope[1:6], limit, atol=1e-8)
    assert find_slope(RELU, z).tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert not passes_zero(SIGMOID)


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder.layer.0.output.dense[token=2]": 0.3},
        {"encoder.layer.1.attention.self.probs[head=1]": 0.0},
        {"encoder.layer.1.attention.output.dense": "scale=0.5"},
        {"encoder.layer.0.intermediate.activation": "relu"},
        {"encoder.layer.1.output.residual": "no-residual"},
        {"input_ids[token=1]": 9},
        {"embeddings.LayerNorm[token=4,hidden=2]": 3.0},
        {"embeddings.LayerNorm[token=2]": "noise=7"},
    ],
    ids=str,
)
def test_after_a_change_parts_still_add_up(plain, changes):
    trace = plain[1].with_changes(changes)
    found = attribute(trace, TARGETS["masked-lm"]).check()
    np.testing.assert_allclose(found.total, trace[TARGETS["masked-lm"]], atol=1e-11)
    for address, parts in carry_forward(read_carried(trace), {LAST}):
        np.testing.assert_allclose(parts.sum(dim=0), trace[address], atol=1e-11)


def test_noise_in_a_layer_came_from_no_token(plain, monkeypatch):
    """None can be asked for there: what is added counts as what is put does, and leaves the parts below it."""
    where = "encoder.layer.0.output.dense"
    trace = plain[1].with_changes({f"{where}[token=2,hidden=5]": float(plain[1][where][2, 5]) + 0.5})
    added = Override((2, 5), np.array(0.5), plus=True)
    monkeypatch.setattr(trace, "overrides", lambda address: (added,) if str(address) == where else ())
    found, put = attribute(trace, TARGETS["masked-lm"]), trace[TARGETS["masked-lm"]]
    np.testing.assert_allclose(found.parts.sum() + found.biases, put, atol=1e-11)
    ((_, parts),) = carry_forward(read_carried(trace), {where})
    np.testing.assert_allclose(parts.sum(dim=0), trace[where], atol=1e-11)
    assert abs(parts[:-1, 2, 5]).min() > 0


@pytest.mark.parametrize("program", ["forward-pass-note", "definition", "formula-post", "encoder-article"])
def test_documents_programs_are_taken_apart_too(plain, program):
    trace = bv.run(plain[1].model, TEXT, program=program)
    last = [address for address in trace.program.carried if "encoder.layer.1" in address][-1]
    ((_, parts),) = carry_forward(read_carried(trace), {last})
    np.testing.assert_allclose(parts.sum(dim=0), trace[last], atol=1e-10)


@pytest.mark.parametrize(
    "target, error, text",
    [
        ("encoder.layer.0.attention.self.probs[head=0,query=1,key=2]", bv.InputError, "no sum of parts"),
        (
            "cls.predictions.probs[token=5,vocab=9]",
            bv.InputError,
            r"no sum of parts .* such as cls\.predictions\.decoder\[token=5,vocab=9\]\.",
        ),
        ("input_ids[token=1]", bv.InputError, "no sum of parts"),
        ("cls.predictions.decoder[token=5]", bv.AddressError, "vocab"),
        ("classifier[label=0]", bv.AddressError, "classifier"),
        ("nonsense", bv.AddressError, "nonsense"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(plain, target, error, text):
    with pytest.raises(error, match=text):
        attribute(plain[1], target)


def test_what_is_advised_in_place_of_a_share_can_be_asked(tmp_path):
    """Also of a classifier, which has no words."""
    trace = bv.run(bv.load_model(random_checkpoint(tmp_path, kind="sequence-classification")), TEXT)
    for target in ("classifier.probs[label=1]", "encoder.layer.0.attention.self.probs[head=0,query=1,key=2]"):
        with pytest.raises(bv.InputError, match="no sum of parts") as told:
            attribute(trace, target)
        advised = str(told.value).rpartition(" ")[2].removesuffix(".")
        assert advised == ("classifier[label=1]" if "classifier" in target else "classifier[label=0]")
        assert attribute(trace, advised).check()


def test_what_is_no_trace_or_method_is_refused(plain):
    with pytest.raises(bv.ArgumentError, match=r"bv\.run"):
        attribute("a text", TARGETS["masked-lm"])
    with pytest.raises(bv.InputError, match="Choose one of these: parts"):
        attribute(plain[1], TARGETS["masked-lm"], method="magic")


def test_what_a_change_puts_is_told_from_biases(plain):
    """A change of one number of what attention adds: its amount is that number times the slope."""
    where = "encoder.layer.0.attention.output.dense[token=2,hidden=5]"
    trace, target = plain[1].with_changes({where: 0.75}), TARGETS["masked-lm"]
    found, none = attribute(trace, target), attribute(plain[1], target)
    path = read_address(where).path
    slope = float(pull_back(read_carried(trace), {read_address(target): 1.0}, {path}).slopes[path][2, 5])
    assert (found.rest, none.rest, none.changed) == ("biases, changes", "biases", 0.0)
    np.testing.assert_allclose(found.changed, 0.75 * slope, atol=1e-11)


def test_a_value_that_a_change_put_is_its_head_s_alone(plain):
    """No bias is left in it: a head whose values are 0 writes nothing."""
    layer = "encoder.layer.0.attention.self.value"
    trace = plain[1].with_changes({f"{layer}[head=1]": 0.0})
    before, after = (split_components(one, {read_address(TARGETS["masked-lm"]): 1.0}) for one in (plain[1], trace))
    assert abs(before.heads[0, 1]).min() > 0 and not after.heads[0, 1].any()
    np.testing.assert_allclose(after.total, trace[TARGETS["masked-lm"]], atol=1e-11)
