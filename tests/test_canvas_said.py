"""What canvas and stops say after a change is what the changed program does: formulas, counts, names, claims."""

import re

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.canvas import WHOLE, Spot
from bertviz_core.formula.functions import Apply
from bertviz_core.formula.markup import write_html
from bertviz_core.formula.short import write_short
from bertviz_core.formula.steps import walk_nodes
from bertviz_core.showing.canvas_stops import list_stops
from bertviz_core.showing.canvas_strips import TITLES
from bertviz_core.ui.frame.view import SHOWN
from tests.canvas import Drawn, draw, look, pick
from tests.factory import random_checkpoint
from tests.often import one_in
from tests.test_canvas import read_count
from tests.test_short import see
from tests.test_what_if import CASES, KINDS, PAIR

LAYER = "encoder.layer.1"
MORE = {
    "a zeroed context": {f"{LAYER}.attention.self.context": 0.0},
    "zeroed neurons": {f"{LAYER}.intermediate.activation": 0.0},
    "a neuron that is put": {f"{LAYER}.intermediate.activation[token=3,intermediate=7]": 9.0},
    "a sum that is put": {f"{LAYER}.attention.output.residual[token=3]": 1.0},
    "a mean that is put": {f"{LAYER}.attention.output.LayerNorm.mean": 1.0},
    "probabilities that are put": {"cls.predictions.probs[token=3]": 0.25},
    "a LayerNorm that is put": {"embeddings.LayerNorm.normalized": 0.5, f"{LAYER}.output.LayerNorm": 0.5},
    "all attention to one": {f"{LAYER}.attention.self.probs": "uniform"},
}  # fmt: skip
CHANGES = {
    "nothing": {},
    **{name: {key: value for one in each for key, value in KINDS[one][0].items()} for name, each in CASES.items()},
    **MORE,
}
FUNCTIONS = {"gelu": "GELU", "relu": "ReLU", "gelu_new": "GELU tanh"}


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    folder = random_checkpoint(tmp_path_factory.mktemp("said"), num_hidden_layers=3)
    return bv.run(bv.load_model(folder), *PAIR, pad_to=19)


@pytest.fixture(params=one_in(3, CHANGES))
def after(request, before):
    return before.with_changes(CHANGES[request.param])


def agree(one, other):
    return np.allclose(one, other, rtol=1e-4, atol=1e-4)


def tell(trace, before, layer=1, head=1, token=3, **more):
    return Drawn(draw(look(before, trace, token=token, head=(layer, head)), **more))


def say(stop):
    return "".join(text for text, _ in stop["sentence"])


def test_a_strip_says_what_its_step_does_and_from_how_many_numbers(before, after):
    for layer in range(3):
        drawn = tell(after, before, layer, strip=WHOLE[layer])
        for name, stage in drawn.stages.items():
            step = after.step(stage["address"].partition("[")[0])
            if name.startswith("ribbons."):
                assert (see(stage["formula"]), stage["from"]) == ("mean_head(a)", "3 numbers")
                continue
            assert see(stage["formula"]) == see(write_html(write_short(step))), name
            assert stage["reads"] == [leaf.address for leaf in step.leaves], name
            called = [see(write_html(node.function.tex)) for node in walk_nodes(step.expr) if isinstance(node, Apply)]
            assert re.findall(r"[A-Z]\w+_?\w*(?=\()", see(stage["formula"])) == called, name
        for name, place, address in pick(drawn, 60, seed=layer):
            why = after.explain(address)
            put = drawn.data["stages"] and drawn.puts(name)
            assert (why.step is None) == (put is not None and bool(put.ravel()[place])), (name, address)
            if why.step:
                assert read_count(drawn.stages[name]["from"]) == len(why.operands), (name, address)


SEEN = {
    "nothing": {"sum": "u = x + o", "sum2": "z = y + d", "neurons.1": "g = GELU(f)", "output.1": "x = γ_Z · ẑ + β_Z"},
    "attention without its residual": {"sum": "u = o", "sum2": "z = y + d"},
    "feed-forward without its residual": {"sum": "u = x + o", "sum2": "z = d"},
    "ReLU for GELU": {"neurons.0": "g = GELU(f)", "neurons.1": "g = ReLU(f)"},
    "a skipped layer": {"output.0": "x = γ_Z · ẑ + β_Z", "output.1": "x^(2) = x^(1)"},
}
MADE = {
    ("attention without its residual", "sum"): "1 number",
    ("a skipped layer", "output.1"): "1 number",
    ("nothing", "sum"): "2 numbers",
    ("nothing", "query"): "49 numbers",
    ("nothing", "context"): "38 numbers",
    ("nothing", "weights"): "19 numbers",
    ("nothing", "neurons.1"): "1 number",
}


@pytest.mark.parametrize("name", SEEN)
def test_formulas_of_the_canvas_as_a_reader_sees_them(before, name):
    drawn = tell(before.with_changes(CHANGES[name]), before)
    assert {stage: see(drawn.stages[stage]["formula"]) for stage in SEEN[name]} == SEEN[name]
    for (change, stage), count in MADE.items():
        assert change != name or drawn.stages[stage]["from"] == count


def test_a_face_has_its_own_programs_formulas(before):
    after = before.with_changes(CHANGES["ReLU for GELU"])
    faces = {show: Drawn(draw(look(before, after, show, token=3, head=(1, 0)))) for show in SHOWN}
    seen = {show: see(drawn.stages["neurons.1"]["formula"]) for show, drawn in faces.items()}
    assert seen == {"After": "g = ReLU(f)", "Before": "g = GELU(f)", "Difference": "g = ReLU(f)"}


@pytest.mark.parametrize("name", ["nothing", "attention without its residual", "a skipped layer", "a zeroed head"])
def test_uses_are_counted_as_the_changed_program_has_them(tmp_path, name):
    """By brute force: every cell of every step is explained, and whatever it names is counted."""
    changes = {address.replace("layer.1", "layer.0"): value for address, value in CHANGES[name].items()}
    folder = random_checkpoint(tmp_path, kind="masked-lm", hidden_size=6, num_attention_heads=2, intermediate_size=5)
    before = bv.run(bv.load_model(folder), "the cat")
    after, uses = before.with_changes(changes), {}
    for address in after.addresses:
        if address.startswith(("embeddings", "encoder")):
            for place in np.ndindex(after.shape(address)):
                at = ",".join(f"{axis}={i}" for axis, i in zip(after.dims(address), place, strict=True))
                for operand in dict(after.explain(f"{address}[{at}]").operands):
                    uses[operand] = uses.get(operand, 0) + 1
    untold = set()
    for layer, head in np.ndindex(2, 2):
        drawn = tell(after, before, layer, head, token=1)
        for stage_name, stage in drawn.stages.items():
            told = {uses.get(cell, 0) for cell in drawn.cells(stage_name)}
            if stage_name.startswith("ribbons."):
                continue
            if stage["used"] or told == {0}:
                assert {read_count(stage["used"])} == told, stage_name
            else:
                untold.add(stage["address"].partition("[")[0].rpartition(".")[2])
    assert untold == ({"scores"} if name == "a zeroed head" else set())  # one head's scores are used by nothing


def test_every_stage_has_a_title_and_every_title_a_stage(before):
    drawn = tell(before, before)
    names = {
        name.partition(".")[0] if stage["level"] == "pass" else name.rpartition(".")[2]
        for name, stage in drawn.stages.items()
    }
    assert names == set(TITLES)
    assert not any("+" in title.title for title in TITLES.values())  # what is added is the formula's to say


def normalize(trace, path, x):
    step = trace.step(f"{path}.normalized")
    (epsilon,) = (node.amount for node in walk_nodes(step.expr) if getattr(node, "tex", "") == r"\varepsilon")
    gamma, beta = ((trace.before or trace)[f"{path}.{name}"] for name in ("weight", "bias"))  # a skipped layer has none
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon) + beta


def read_layer(trace, layer, token):
    """The vectors of a layer at a token, by their leaf; `x` what came in."""
    own = f"encoder.layer.{layer}"
    leaves = (
        "attention.output.dense",
        "attention.output.residual",
        "attention.output.LayerNorm",
        "output.dense",
        "intermediate.dense",
        "intermediate.activation",
        "output.residual",
        "output.LayerNorm",
    )
    came = f"encoder.layer.{layer - 1}.output.LayerNorm" if layer else "embeddings.LayerNorm"
    return {"x": trace[came][token], **{leaf: trace[f"{own}.{leaf}"][token] for leaf in leaves}}


@pytest.mark.parametrize("layer", range(3))
def test_what_the_stops_claim_of_a_layer_is_so(before, after, layer):
    """Each claim is worked out anew with NumPy from recorded vectors, whatever the change is called."""
    for token in (3, 5):
        stops = {stop["name"]: stop for stop in tell(after, before, layer, token=token).data["stops"]}
        seen, own = read_layer(after, layer, token), f"encoder.layer.{layer}"
        check_sum(stops["add & normalize"], seen, after, own)
        check_neurons(say(stops["neurons"]), seen, after, own)
        check_end(say(stops["neurons"]), seen, after, own)


def check_sum(stop, seen, trace, own):
    said, c, total = say(stop), stop["worked"]["component"], seen["attention.output.residual"]
    added, alone = seen["x"] + seen["attention.output.dense"], seen["attention.output.dense"]
    assert ("add " in said and ", which makes " in said) == agree(added[c], total[c]), said
    reads = {leaf.address for leaf in trace.step(f"{own}.attention.output.residual").leaves}
    assert ("which a change leaves out" in said) == (reads == {f"{own}.attention.output.dense"})
    assert "which alone makes" not in said or agree(alone[c], total[c])
    norm = normalize(trace, f"{own}.attention.output.LayerNorm", total)
    changed = re.search(
        r"but a change puts there|which a change makes the (mean|result)|as a change makes the variance", said
    )
    assert bool(changed) == (not agree(norm, seen["attention.output.LayerNorm"])), said


FUNCTION = {
    "GELU": torch.nn.functional.gelu,
    "ReLU": torch.relu,
    "GELU tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
}
NEURON = r"(\d+) is {}: (\S+) becomes \S"


def check_neurons(said, seen, trace, own):
    into, out = seen["intermediate.dense"], seen["intermediate.activation"]
    name = re.search(r", (.+?) leaves? ", said)[1]
    given = {key: agree(of(torch.tensor(into)).numpy(), out) for key, of in FUNCTION.items()}
    if name.endswith(" and a change"):  # at some neurons, not at all
        same = np.isclose(FUNCTION[name.removesuffix(" and a change")](torch.tensor(into)).numpy(), out, atol=1e-5)
        assert 0.5 < same.mean() < 1, said
    else:
        assert given.get(name, False) if any(given.values()) else name == "a change", (said, given)
    damped, shut = (re.search(NEURON.format(role), said) for role in ("damped", "shut off"))
    taken = np.where((out > 0) & (into > 0), into - out, 0)
    if damped:  # it is above 0 on both sides
        assert int(damped[1]) == taken.argmax() and 0 < out[int(damped[1])] < into[int(damped[1])]
    if shut:
        assert int(shut[1]) == into.argmin() and into.min() < 0 and abs(out[into.argmin()]) < 0.005
    strongest = re.search(r"Number (\d+)", said)
    assert abs(out[int(strongest[1])]) == np.abs(out).max()
    assert ("as all others, is 0" in said) == (not out.any())
    if name.endswith("a change"):
        assert not damped and not shut


def check_end(said, seen, trace, own):
    total = seen["attention.output.LayerNorm"] + seen["output.dense"]
    norm = normalize(trace, f"{own}.output.LayerNorm", seen["output.residual"])
    weights = (trace[f"{own}.output.dense.{name}"] for name in ("weight", "bias"))
    weight, bias = weights
    written = agree(seen["intermediate.activation"] @ weight + bias, seen["output.dense"])
    added = agree(total, seen["output.residual"])
    normalized = agree(norm, seen["output.LayerNorm"])
    ends = {
        " with their bias: added to ": (True, True, True),
        "What they write is not added to anything": (True, False, True),
        "What they write is lost": (True, True, False),
    }
    found = [so for text, so in ends.items() if text in said]
    assert found in ([(written, added, normalized)], []), said
    assert found or "a change puts numbers there" in said, said


def test_after_a_zeroed_head_no_token_looks_anywhere(before):
    after = before.with_changes(CHANGES["a zeroed head"])
    told = {stop["name"]: say(stop) for stop in tell(after, before).data["stops"]}
    assert "looks nowhere, all its attention weights are 0" in told["ask / offer"]
    assert " most " not in told["ask / offer"]
    assert "All that this brings is 0, and so is the result" in told["collect"]
    even = before.with_changes(CHANGES["all attention to one"])
    said = say(tell(even, before).data["stops"][2])
    assert "looks at none more than at" in said


EQUAL = {
    "collect": ("encoder.layer.1.attention.self.context", "the one that moves", "one of those that move component"),
    "neurons": ("encoder.layer.1.intermediate.activation", "is the strongest", "is one of the strongest"),
    "word": ("cls.predictions.decoder", "the highest of", "one of the highest of"),
}


@pytest.mark.parametrize("stop", EQUAL)
def test_of_equal_numbers_none_is_called_the_largest(before, stop):
    address, alone, among = EQUAL[stop]
    value = 0.0 if stop == "collect" else 1.0  # what is equal there are products with weights that are not
    for trace, found in ((before, alone), (before.with_changes({address: value}), among)):
        told = next(say(each) for each in tell(trace, before).data["stops"] if each["name"] == stop)
        assert found in told and (among in told) == (found == among)


def test_who_is_looked_at_most_has_no_rival(before, after):
    for head in range(3):
        for token in range(8):
            stop = list_stops(after, Spot(1, head, token, None, range(8)))[2]
            said, key = say(stop), stop["worked"]["of"]
            row = after[f"{LAYER}.attention.self.probs[head={head},query={token}]"]
            rivals = row if "of words other" not in said else np.where(is_word(after, token), row, -1)
            assert (row[key] == row.max()) == ("of words other" not in said)
            if " looks most at " in said:
                assert (rivals >= row[key]).sum() == 1 and row[key] > 0
            else:
                assert (rivals > row[key] - 1e-4).sum() > 1 or not row.any()  # or another is written alike


def is_word(trace, token):
    special = trace.model.tokenizer.special_tokens
    return np.array([i != token and text not in special for i, text in enumerate(trace.tokens)])


def test_numbers_of_an_equation_that_a_change_breaks_are_not_called_equal(before):
    for name, stop in (("a sum that is put", 7), ("a cell of the queries", 3), ("probabilities that are put", 9)):
        data = tell(before.with_changes(CHANGES[name]), before).data
        worked = data["stops"][stop]["worked"]
        assert isinstance(worked["adds_up"], bool)
        assert worked["adds_up"] == (name != "a sum that is put")
        assert data["stops"][9]["worked"]["logit"]["adds_up"]
    said = say(tell(before.with_changes(CHANGES["probabilities that are put"]), before).data["stops"][9])
    assert "A change makes its share 25" in said and "Softmax" not in said


@pytest.mark.parametrize(("rule", "name"), FUNCTIONS.items())
def test_the_curve_is_the_functions_own(before, rule, name):
    after = before.with_changes({f"{LAYER}.intermediate.activation": rule})
    fired = tell(after, before).data["stops"][8]["worked"]
    points = np.array(fired["curve"])
    assert fired["function"] == name
    expected = FUNCTION[name](torch.tensor(points[:, 0])).numpy()
    np.testing.assert_allclose(points[:, 1], expected, atol=2e-4)
    inputs = [neuron[1] for neuron in (*fired["strongest"], fired["damped"], fired["shut"]) if neuron]
    assert points[0, 0] <= min(inputs) and points[-1, 0] >= max(inputs) and 0 in points[:, 0]


@pytest.mark.parametrize("rule", FUNCTIONS)
def test_the_roles_of_neurons_are_what_became_of_them(rome, rule):
    """In a trained model, where some are damped and some shut off; ReLU damps none."""
    after, roles = rome.with_changes({"encoder.layer.2.intermediate.activation": rule}), set()
    for token in range(len(rome.tokens)):
        said = say(tell(after, rome, 2, 0, token).data["stops"][8])
        check_neurons(said, read_layer(after, 2, token), after, "encoder.layer.2")
        roles |= {role for role in ("damped", "shut off") if f" is {role}: " in said}
    assert roles == ({"shut off"} if rule == "relu" else {"damped", "shut off"})
