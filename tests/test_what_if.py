"""What-if runs: every kind of change against the same change made in Hugging Face's model by a hook."""

import numpy as np
import pytest
import torch
from torch.nn.functional import gelu, layer_norm, relu
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.formula.steps import RESIDUAL
from bertviz_core.programs import DOCUMENT_PROGRAMS
from bertviz_core.tracing import changes as what_if
from bertviz_core.tracing import planning
from tests.factory import random_checkpoint
from tests.products import Products

PAIR, PAD_TO = ("The cat sat on the mat.", "Do as Romans do in Rome."), 19
LAYER = "encoder.layer.1"
SELF, HEADS, WIDTH = f"{LAYER}.attention.self", 3, 8
VECTOR = np.linspace(-1, 1, HEADS * WIDTH)


def output(path, new):
    """A change of what a module puts out."""
    return lambda hf: hf.get_submodule(path).register_forward_hook(lambda _, given, out: new(given, out))


def setting(path, index, value):
    def new(_, out):
        out = out.clone()
        out[(0, *index)] = torch.as_tensor(value, dtype=out.dtype)
        return out

    return output(path, new)


def context(head, number):
    """A change of one head's average before the heads are mixed: `number` times the uniform average of its values."""
    cut = slice(head * WIDTH, (head + 1) * WIDTH)

    def register(hf):
        seen = {}
        value = hf.get_submodule(f"bert.{SELF}.value")
        value.register_forward_hook(lambda _, __, out: seen.update(value=out))

        def new(_, given):
            merged = given[0].clone()
            visible = hf.visible
            merged[..., cut] = number * seen["value"][:, visible, cut].mean(dim=1, keepdim=True)
            return (merged,)

        return hf.get_submodule(f"bert.{LAYER}.attention.output.dense").register_forward_pre_hook(new)

    return register


def strength(head, factor):
    """A change of one head's average before the heads are mixed: so many times what it was."""
    factors = torch.ones(HEADS, WIDTH, dtype=torch.float64)
    factors[head] = factor
    return lambda hf: hf.get_submodule(f"bert.{LAYER}.attention.output.dense").register_forward_pre_hook(
        lambda _, given: (given[0] * factors.flatten().to(given[0].dtype),)
    )


def noise(path, token, seed):
    """What causal tracing adds: three times as wide as all word embeddings spread."""

    def register(hf):
        spread = np.std(hf.bert.embeddings.word_embeddings.weight.detach().double().numpy())
        drawn = np.random.default_rng(seed).normal(0, 3 * spread, HEADS * WIDTH)

        def new(_, __, out):
            out = out.clone()
            out[0, token] += torch.tensor(drawn, dtype=out.dtype)
            return out

        return hf.get_submodule(path).register_forward_hook(new)

    return register


def without_residual(path):
    def register(hf):
        seen = {}
        hf.get_submodule(f"bert.{path}.dense").register_forward_hook(lambda _, __, out: seen.update(dense=out))
        normal = hf.get_submodule(f"bert.{path}.LayerNorm")
        return normal.register_forward_pre_hook(lambda _, __: (seen["dense"],))

    return register


def epsilon(path, number):
    def register(hf):
        module = hf.get_submodule(f"bert.{path}")
        return module.register_forward_hook(
            lambda _, given, __: layer_norm(given[0], module.normalized_shape, module.weight, module.bias, number)
        )

    return register


def inputs(name, index, number):
    def register(hf):
        def new(_, nothing, given):
            row = given[name].clone()
            row[0, index] = number
            return nothing, {**given, name: row}

        if name == "attention_mask":
            hf.visible[index] = bool(number)
        return hf.register_forward_pre_hook(new, with_kwargs=True)

    return register


# What is changed, and the same by a hook.
KINDS = {
    "a cell of the queries": ({f"{SELF}.query[head=2,query=3,head_dim=1]": 2.5},
                              setting(f"bert.{SELF}.query", (3, 2 * WIDTH + 1), 2.5)),
    "a token's row": ({f"{LAYER}.output.dense[token=2]": VECTOR}, setting(f"bert.{LAYER}.output.dense", (2,), VECTOR)),
    "a whole tensor": ({"embeddings.LayerNorm": 0.25}, setting("bert.embeddings.LayerNorm", (), 0.25)),
    "the last logits": ({"cls.predictions.decoder[vocab=7]": 3.0}, setting("cls.predictions.decoder", (..., 7), 3.0)),
    "a zeroed head": ({f"{SELF}.probs[head=1]": 0.0}, context(1, 0.0)),
    "a head with uniform attention": ({f"{SELF}.probs[head=1]": "uniform"}, context(1, 1.0)),
    "a head at a part of its strength": ({f"{SELF}.probs[head=2]": "scale=0.3"}, strength(2, 0.3)),
    "embeddings with noise": ({"embeddings.LayerNorm[token=4]": "noise=7"}, noise("bert.embeddings.LayerNorm", 4, 7)),
    "another token": ({"input_ids[token=4]": 9}, inputs("input_ids", 4, 9)),
    "a masked token": ({"input_ids[token=2]": 4}, inputs("input_ids", 2, 4)),
    "another segment": ({"token_type_ids[token=3]": 1}, inputs("token_type_ids", 3, 1)),
    "another position": ({"position_ids[token=3]": 11}, inputs("position_ids", 3, 11)),
    "a token that nobody sees": ({"attention_mask[token=5]": 0}, inputs("attention_mask", 5, 0)),
    "attention without its residual": ({f"{LAYER}.attention.output.residual": "no-residual"},
                                       without_residual(f"{LAYER}.attention.output")),
    "feed-forward without its residual": ({f"{LAYER}.output.residual": "no-residual"},
                                          without_residual(f"{LAYER}.output")),
    "ReLU for GELU": ({f"{LAYER}.intermediate.activation": "relu"},
                      output(f"bert.{LAYER}.intermediate.intermediate_act_fn", lambda given, _: relu(given[0]))),
    "GELU by tanh": ({"cls.predictions.transform.activation": "gelu_new"},
                     output("cls.predictions.transform.transform_act_fn",
                            lambda given, _: gelu(given[0], approximate="tanh"))),
    "another epsilon": ({f"{LAYER}.output.LayerNorm.normalized": "epsilon=0.1"},
                        epsilon(f"{LAYER}.output.LayerNorm", 0.1)),
    "a skipped layer": ({f"{LAYER}.output.LayerNorm": "skip"}, output(f"bert.{LAYER}", lambda given, _: given[0])),
}  # fmt: skip
STACKED = (
    "a token's row",
    "a zeroed head",
    "a head at a part of its strength",
    "another token",
    "ReLU for GELU",
    "a token that nobody sees",
    "feed-forward without its residual",
    "another epsilon",
)
CASES = {**{name: (name,) for name in KINDS}, "several at once": STACKED}
OBSERVED = {
    "embeddings.LayerNorm": "bert.embeddings",
    **{f"encoder.layer.{i}.output.LayerNorm": f"bert.encoder.layer.{i}" for i in range(3)},
    "cls.predictions.decoder": "cls.predictions.decoder", "pooler.activation": "bert.pooler",
    "cls.seq_relationship": "cls.seq_relationship",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_checkpoint(tmp_path_factory.mktemp("what-if"), num_hidden_layers=3)


@pytest.fixture(scope="module", params=[torch.float64, torch.float32], ids=str)
def trace(request, folder):
    return bv.run(bv.load_model(folder, dtype=request.param), *PAIR, pad_to=PAD_TO)


@torch.inference_mode()
def observed(folder, trace, registers):
    hf = BertForPreTraining.from_pretrained(folder, dtype=trace.model.dtype, attn_implementation="eager").eval()
    hf.visible = torch.tensor(trace.encoding.mask, dtype=torch.bool)
    seen = {}
    for register in registers:
        register(hf)
    for address, path in OBSERVED.items():
        hf.get_submodule(path).register_forward_hook(lambda _, __, out, address=address: seen.update({address: out}))
    row = trace.encoding
    hf(
        input_ids=torch.tensor([row.ids]),
        attention_mask=torch.tensor([row.mask]),
        token_type_ids=torch.tensor([row.segments]),
        position_ids=torch.tensor([row.positions]),
    )
    return {address: out[0].numpy() for address, out in seen.items()}


@pytest.mark.parametrize("names", CASES.values(), ids=CASES)
def test_each_kind_of_change_equals_the_same_one_made_in_hugging_face(folder, trace, names):
    changes, registers = zip(*(KINDS[name] for name in names), strict=True)
    changed = trace.with_changes({address: value for each in changes for address, value in each.items()})
    theirs = observed(folder, trace, registers)
    assert set(theirs) == set(OBSERVED)
    tolerance = 1e-10 if trace.model.dtype == torch.float64 else 1e-5
    for address, numbers in theirs.items():
        scale = max(1.0, float(np.abs(numbers).max()))
        np.testing.assert_allclose(changed[address], numbers, rtol=0, atol=tolerance * scale, err_msg=address)
    moved = float(np.abs(changed["cls.predictions.decoder"] - trace["cls.predictions.decoder"]).max())
    assert moved > 1e-3


@pytest.mark.parametrize(
    ("address", "value", "first", "products"),
    [
        ("cls.predictions.decoder[token=2]", 1.0, None, 0),  # computed when somebody looks
        ("cls.predictions.transform.dense", 1.0, "cls.predictions.transform.dense", 1),
        ("encoder.layer.2.output.dense", 0.0, "encoder.layer.2.output.dense", 9),  # and the layer's 8
        ("encoder.layer.2.intermediate.activation", "relu", "encoder.layer.2.intermediate.activation", 9),
        ("encoder.layer.1.intermediate.activation", "relu", "encoder.layer.1.intermediate.activation", 17),
        ("input_ids[token=1]", 5, "embeddings.word_embeddings", 25),
    ],
)
def test_only_what_a_change_reaches_is_computed_again(folder, address, value, first, products):
    trace = bv.run(bv.load_model(folder), *PAIR)
    with Products() as counted:
        changed = trace.with_changes({address: value})
    assert next(iter(changed.computed), None) == first
    assert set(changed.computed) == set(trace.computed) & trace.program.reached([address.partition("[")[0]])
    assert counted.count == products


@pytest.mark.parametrize(
    "leaf", ["query", "products", "scaled", "scores", "probs", "context", "mean", "variance", "normalized", "dense"]
)
def test_a_change_without_effect_moves_nothing_and_writes_over_nothing(folder, leaf):
    trace = bv.run(bv.load_model(folder), *PAIR)
    layer = [step.address for step in trace.program.steps if step.layer == 1]
    first = {address: trace[address].copy() for address in layer}  # and is cached, where a later pass reads it
    for address in layer:
        if address.rpartition(".")[2] == leaf:
            changed = trace.with_changes({address: first[address]})
            assert changed.computed
            for each in (*layer, "encoder.layer.2.output.LayerNorm", "cls.predictions.decoder"):
                np.testing.assert_array_equal(changed[each], trace[each], err_msg=each)
    for address in layer:
        np.testing.assert_array_equal(trace[address], first[address], err_msg=address)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_change_does_not_reach_is_bit_for_bit_what_it_was_and_undoing_restores_all(folder, name):
    model = bv.load_model(folder)
    trace = bv.run(model, *PAIR, pad_to=PAD_TO)
    first = {address: trace[address].copy() for address in trace.addresses}
    changed = trace.with_changes(KINDS[name][0])
    assert changed.before is trace and trace.before is None and not trace.changes
    for address in trace.addresses:
        if not changed.reached(address):
            np.testing.assert_array_equal(changed[address], first[address])
    undone = changed.before.with_changes({})
    for address in undone.addresses:
        np.testing.assert_array_equal(undone[address], first[address])
        assert undone.step(address) == bv.run(model, *PAIR).step(address)


def test_changes_stack_on_changes(folder):
    model = bv.load_model(folder)
    one, two = {f"{SELF}.probs[head=1]": 0.0}, {"encoder.layer.0.intermediate.activation": "relu"}
    trace = bv.run(model, *PAIR)
    stacked, at_once = trace.with_changes(one).with_changes(two), bv.run(model, *PAIR, changes={**one, **two})
    assert stacked.before is trace and stacked.changes == what_if.take_changes({**one, **two})
    for address in trace.addresses:
        np.testing.assert_array_equal(stacked[address], at_once[address])


def test_uniform_attention_sees_what_the_input_shows_whichever_was_said_first(folder):
    trace = bv.run(bv.load_model(folder), *PAIR)
    uniform, hidden = {f"{SELF}.probs[head=1]": "uniform"}, {"attention_mask[token=5]": 0}
    for changes in ({**uniform, **hidden}, {**hidden, **uniform}):
        row = trace.with_changes(changes)[f"{SELF}.probs[head=1,query=2]"]
        assert row[5] == 0 and row.sum() == pytest.approx(1, rel=1e-6) and len(set(row.tolist())) == 2


def test_a_changed_trace_counts_what_it_does_not_share_with_the_pass_before(folder):
    trace = bv.run(bv.load_model(folder), *PAIR)
    late = trace.with_changes({"pooler.dense": 0.0})
    assert not late.computed and late.nbytes == 0
    early = trace.with_changes({"embeddings.sum": 0.5})
    assert early.nbytes == trace.nbytes
    assert trace.with_changes({"cls.predictions.decoder[token=2]": 1.0}).nbytes == 0
    head = trace.with_changes({"cls.predictions.transform.dense": 1.0})
    assert head.nbytes == trace["cls.predictions.transform.LayerNorm"].nbytes
    skipped = trace.with_changes({"encoder.layer.2.output.LayerNorm": "skip"})  # its result is the layer's input itself
    assert skipped.nbytes == head.nbytes


def test_a_formula_that_is_changed_is_changed_in_every_reading(folder):
    trace = bv.run(bv.load_model(folder), *PAIR)
    address = f"{LAYER}.intermediate.activation"
    step = trace.with_changes({address: "relu"}).step(address)
    assert r"\mathrm{ReLU}" in step.latex and "torch.relu(" in step.code and step.source == "What if: relu"
    dropped = trace.with_changes({f"{LAYER}.output.residual": "no-residual"}).step(f"{LAYER}.output.residual")
    assert dropped.latex == "Z^{(1)} = D^{(1)}" and dropped.code == "Z_1 = D_1"
    normal = trace.with_changes({f"{LAYER}.output.LayerNorm.normalized": "epsilon=0.5"})
    assert "0.5" in normal.step(f"{LAYER}.output.LayerNorm.normalized").code


@pytest.mark.parametrize("program", DOCUMENT_PROGRAMS)
def test_a_document_can_be_changed_as_well(folder, program):
    trace = bv.run(bv.load_model(folder), *PAIR, program=program)
    for step in trace.program.steps:
        for rule, fits in (("no-residual", step.kind == RESIDUAL), ("epsilon=0.25", r"\epsilon" in step.latex)):
            if not fits:
                continue
            changed = trace.with_changes({step.address: rule})
            assert changed.step(step.address).expr != step.expr, step.address
            fewer = set(changed.step(step.address).leaves) < set(step.leaves)
            assert fewer == (rule == "no-residual")
            assert not np.array_equal(changed[step.address], trace[step.address]), step.address


def test_an_explanation_ends_at_a_number_that_was_put_there(folder):
    trace = bv.run(bv.load_model(folder), *PAIR).with_changes({f"{SELF}.probs[head=1,query=2]": 0.5})
    why = trace.explain(f"{SELF}.probs[head=1,query=2,key=0]")
    assert (why.value, why.recomputed, why.operands, why.step) == (0.5, 0.5, (), None)
    assert trace.explain(f"{SELF}.probs[head=1,query=1,key=0]").step is not None


def test_tokens_are_those_of_the_changed_input(folder):
    trace = bv.run(bv.load_model(folder), PAIR[0])
    changed = trace.with_changes({"input_ids[token=2]": trace.model.tokenizer.id("rome")})
    assert changed.tokens == ["[CLS]", "the", "rome", *trace.tokens[3:]] and trace.tokens[2] == "cat"


@pytest.mark.parametrize("changes", [{}, *(dict(KINDS[name][0]) for name in STACKED if name != "a token's row")])
def test_a_line_of_text_holds_the_changes(changes):
    taken = what_if.take_changes(changes)
    assert what_if.read_changes(what_if.write_changes(taken)) == taken and list(map(str, taken)) == list(changes)


def test_of_changes_read_from_a_line_the_good_ones_are_made_and_the_others_named(folder):
    trace = bv.run(bv.load_model(folder), PAIR[0])
    line = (
        "embeddings.sum:1~nonsense~~encoder.layer.99.output.dense:0~embeddings.sum[token=1]:nan~:3~"
        "encoder.layer.0.output.LayerNorm:skip~embeddings.LayerNorm:1e39"
    )
    good, wrong = planning.check_changes(trace.layout, trace.encoding, what_if.read_changes(line))
    assert good == what_if.take_changes({"embeddings.sum": 1.0, "encoder.layer.0.output.LayerNorm": "skip"})
    assert len(wrong) == 5 and all(wrong.values())


def test_the_store_runs_each_list_of_changes_once(folder):
    model, store = bv.load_model(folder), bv.TraceStore()
    changes = {f"{SELF}.probs[head=1]": 0.0, "input_ids[token=1]": 5}
    changed = store.get(model, PAIR[0], changes=changes)
    assert store.runs == 2 and changed.before is store.get(model, PAIR[0])
    assert store.get(model, PAIR[0], changes=dict(changes)) is changed and store.runs == 2
    assert store.get(model, PAIR[0], changes=dict(list(changes.items())[:1])) is not changed and store.runs == 3
