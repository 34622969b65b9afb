"""Numbers of a trace set by hand: what follows from them, in which order, and what cannot be set."""

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.sharing.lru import ByteLRU
from tests.factory import random_checkpoint

PAIR = ("The cat sat on the mat.", "Playing in Rome?")
PROBS, DENSE = "encoder.layer.0.attention.self.probs", "encoder.layer.1.intermediate.dense"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("changes")))


@pytest.fixture(scope="module")
def trace(model):
    return bv.run(model, *PAIR, pad_to=21)


def test_setting_one_slice_to_a_number(model, trace):
    changed = bv.run(model, *PAIR, pad_to=21, changes={f"{PROBS}[head=1]": 0.0})
    assert (changed[f"{PROBS}[head=1]"] == 0).all()
    np.testing.assert_array_equal(changed[f"{PROBS}[head=0]"], trace[f"{PROBS}[head=0]"])
    context = changed["encoder.layer.0.attention.self.context"]
    assert (context[:, 8:16] == 0).all()
    np.testing.assert_array_equal(context[:, :8], trace["encoder.layer.0.attention.self.context"][:, :8])
    assert not np.allclose(changed["cls.predictions.decoder"], trace["cls.predictions.decoder"])


@pytest.mark.parametrize(
    "address",
    [PROBS, DENSE, "embeddings.LayerNorm", "encoder.layer.0.output.LayerNorm", "cls.predictions.probs", "pooler.dense"],
)
def test_setting_a_tensor_to_what_it_was_changes_nothing(model, trace, address):
    same = bv.run(model, *PAIR, pad_to=21, changes={address: trace[address]})
    assert all(np.array_equal(same[a], trace[a]) for a in trace.addresses)


@pytest.mark.parametrize("address", ["embeddings.sum", "encoder.layer.1.output.LayerNorm", "pooler.activation"])
def test_setting_a_tensor_to_an_array(model, trace, address):
    numbers = np.linspace(-1, 1, trace[address].size).reshape(trace.shape(address))
    changed = bv.run(model, *PAIR, pad_to=21, changes={address: numbers})
    np.testing.assert_array_equal(changed[address], numbers.astype(np.float32))
    before = trace.addresses[: trace.addresses.index(address)]
    assert all(np.array_equal(changed[a], trace[a]) for a in before)
    head = "cls.seq_relationship"
    expected = changed["pooler.activation"] @ changed[f"{head}.weight"] + changed[f"{head}.bias"]
    np.testing.assert_allclose(changed[head], expected, rtol=1e-5)


def test_changes_are_made_in_the_order_given(model):
    changes = {"embeddings.sum": 1.0, "embeddings.sum[token=2]": 2.0, "embeddings.sum[hidden=3,token=2]": 3.0}
    result = bv.run(model, PAIR[0], changes=changes)["embeddings.sum"]
    assert result[2, 3] == 3 and result[2, 4] == 2 and result[1, 3] == 1


def test_a_place_that_is_changed_again_has_its_new_value_after_what_was_changed_meanwhile(trace):
    """It had got it where it stood at first: a cell in a head that was set to 0 kept its number."""
    head, cell = f"{PROBS}[head=1]", f"{PROBS}[head=1,query=2,key=1]"
    before = trace.with_changes({head: "uniform", cell: 0.5})
    assert before[cell] == 0.5
    after = before.with_changes({head: 0.0})
    assert not after[head].any() and [str(where) for where in after.changes] == [cell, head]


@pytest.mark.parametrize(
    ("handed_on", "rule", "comes_from"),
    [
        ("encoder.layer.1.output.LayerNorm", "skip", "encoder.layer.0.output.LayerNorm"),
        ("encoder.layer.0.output.residual", "no-residual", "encoder.layer.0.output.dense"),
    ],
)
def test_numbers_put_into_a_tensor_that_is_handed_on_are_not_put_where_it_comes_from(
    model, handed_on, rule, comes_from
):
    trace = bv.run(model, PAIR[0])
    before = trace[comes_from].copy()
    changed = trace.with_changes({handed_on: rule, f"{handed_on}[token=2]": 7.0})
    assert (changed[f"{handed_on}[token=2]"] == 7).all()
    np.testing.assert_array_equal(np.delete(changed[handed_on], 2, axis=0), np.delete(before, 2, axis=0))
    np.testing.assert_array_equal(changed[comes_from], before)
    np.testing.assert_array_equal(trace[comes_from], before)


def test_what_was_handed_in_can_be_changed_afterwards(model):
    numbers = np.zeros(24)
    changed = bv.run(model, PAIR[0], changes={"embeddings.sum[token=1]": numbers}, cache=ByteLRU(0))
    numbers[:] = 7
    assert (changed["embeddings.sum[token=1]"] == 0).all()


@pytest.mark.parametrize(
    ("address", "value", "error", "message"),
    [
        (PROBS, float("nan"), bv.InputError, "finite"),
        (PROBS, float("inf"), bv.InputError, "finite"),
        (f"{PROBS}[head=0,query=0]", [0.0] * 8 + [float("-inf")], bv.InputError, "finite"),
        (PROBS, 1e39, bv.InputError, "finite numbers, up to 3.4e[+]38 in size, not to 1e[+]39. Choose a smaller"),
        (PROBS, "much", bv.InputError, "'much' is neither a number nor a rule. The rules are gelu, .* and uniform.$"),
        (f"{PROBS}[head=1]", "unifrom", bv.InputError, "'unifrom' is neither .* rule. .* Did you mean uniform[?]$"),
        (f"{DENSE}[token=1]", "rellu", bv.InputError, "'rellu' is neither .* Did you mean relu[?]$"),
        (PROBS, "x" * 1000, bv.InputError, "^'x{40}' is neither"),
        (PROBS, None, bv.InputError, "finite"),
        (PROBS, 1j, bv.InputError, "can be set to a number, an array of numbers or a rule; 1j is not one of them"),
        (PROBS, [[1.0], [1.0, 2.0]], bv.InputError, r"\[\[1.0\], \[1.0, 2.0\]\] is not one of them. Give a number"),
        (PROBS, ["a"] * 10_000, bv.InputError, "^.{1,200}$"),
        (f"{PROBS}[head=0]", np.zeros(9), bv.InputError, r"has shape \(9, 9\); .* shape \(9,\)"),
        (PROBS, np.zeros((9, 9)), bv.InputError, r"has shape \(3, 9, 9\)"),
        (f"{PROBS}[head=3]", 0.0, bv.AddressError, "head 3 is out of range; it runs from 0 to 2"),
        (f"{PROBS}[token=0]", 0.0, bv.AddressError, "has no axis 'token'"),
        ("encoder.layer.7.output.dense", 0.0, bv.AddressError, "there is no layer 7: the layers are 0 to 1"),
        (f"{DENSE}.weight", 0.0, bv.InputError, "belongs to the checkpoint"),
        ("embeddings sum", 0.0, bv.AddressError, "is not an address"),
        ("input_ids[token=1]", 0.5, bv.InputError, "whole numbers from 0 to 100, not 0.5. Choose another"),
        ("input_ids[token=1]", -1, bv.InputError, "whole numbers from 0 to"),
        ("input_ids[token=1]", 10**6, bv.InputError, "whole numbers from 0 to"),
        ("token_type_ids", 2, bv.InputError, "whole numbers from 0 to 1"),
        ("attention_mask", 0, bv.InputError, "at least one token"),
        ("embeddings.sum", 3e38, bv.InputError, "no longer finite"),
        ("cls.predictions.transform.LayerNorm", 3e38, bv.InputError, "cls.predictions.decoder is no longer finite"),
        (
            "encoder.layer.0.output.residual",
            "uniform",
            bv.InputError,
            "holds no attention weights; .* ends in attention",
        ),
        ("encoder.layer.0.output.residual", "relu", bv.InputError, "no activation function"),
        (PROBS, "no-residual", bv.InputError, "no residual sum"),
        (f"{PROBS}[head=0]", "relu", bv.InputError, "no activation function"),
        (
            "encoder.layer.1.intermediate.activation[token=0]",
            "relu",
            bv.InputError,
            "Leave out the indices: encoder.layer.1.intermediate.activation.$",
        ),
        ("embeddings.LayerNorm", "skip", bv.InputError, "not the result of an encoder layer"),
        ("encoder.layer.0.attention.output.LayerNorm", "skip", bv.InputError, "not the result of an encoder layer"),
        (
            "embeddings.LayerNorm.normalized",
            "epsilon",
            bv.InputError,
            "neither a number nor a rule. .* Did you mean epsilon=1e-5[?]",
        ),
        ("embeddings.LayerNorm.normalized", "epsilon=0", bv.InputError, "above 0"),
        ("embeddings.LayerNorm.normalized", "epsilon=nan", bv.InputError, "above 0"),
        ("embeddings.LayerNorm", "epsilon=1", bv.InputError, "no epsilon in the formula"),
        ("attention_mask", "relu", bv.AddressError, "not computed by a step"),
    ],
)
def test_a_change_that_cannot_be_made_is_said(model, address, value, error, message):
    with pytest.raises(error, match=message):
        bv.run(model, PAIR[0], changes={address: value})
