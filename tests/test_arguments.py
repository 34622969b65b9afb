"""What the public face does with arguments of the wrong kind: a clear error of the one family, and Python's own one."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.formula.address import Address
from tests.factory import random_checkpoint

PROBS = "encoder.layer.0.attention.self.probs"
TEXT = "The cat sat."


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("arguments")))


@pytest.fixture(scope="module")
def trace(model):
    return bv.run(model, TEXT)


STRANGE = [5, None, 2.5, b"embeddings.sum", ("embeddings", "sum"), slice(0, 2), ["embeddings.sum"], {}]
BY_ADDRESS = (
    "__getitem__",
    "dims",
    "axes",
    "shape",
    "step",
    "explain",
    "derivatives",
    "recomputed",
    "reached",
    "overrides",
)


@pytest.mark.parametrize("method", BY_ADDRESS)
@pytest.mark.parametrize("address", STRANGE, ids=repr)
def test_what_is_no_address_is_refused_as_one(trace, method, address):
    with pytest.raises(bv.AddressError, match="is not an address: expected text"):
        getattr(trace, method)(address)


@pytest.mark.parametrize("method", BY_ADDRESS)
@pytest.mark.parametrize("address", ["embeddings.nowhere", Address("embeddings.sum", (("token", -1),)), ""], ids=str)
def test_an_address_that_is_not_there_is_refused(trace, method, address):
    if method == "step" and isinstance(address, Address):
        return  # a whole tensor has the step, whatever the indices
    with pytest.raises(bv.AddressError):
        getattr(trace, method)(address)


@pytest.mark.parametrize("address", STRANGE, ids=repr)
def test_what_is_no_address_is_not_in_a_trace(trace, address):
    assert address not in trace


def test_a_trace_goes_through_its_addresses_as_a_mapping_does(trace):
    assert list(trace) == list(trace.addresses) and len(trace) == len(trace.addresses) > 20
    assert list(reversed(trace)) == list(trace.addresses)[::-1]
    assert isinstance(trace, Iterable) and all(address in trace for address in trace)
    assert {address: trace[address].shape for address in trace} == {a: trace.shape(a) for a in trace.addresses}


RUNS = {
    "no text": lambda model: bv.run(model, None),
    "a number": lambda model: bv.run(model, 5),
    "bytes": lambda model: bv.run(model, b"The cat sat."),
    "several texts": lambda model: bv.run(model, [TEXT, TEXT]),
    "a second text that is none": lambda model: bv.run(model, TEXT, 5),
    "several second texts": lambda model: bv.run(model, TEXT, [TEXT]),
    "no model": lambda model: bv.run(None, TEXT),
    "a model's name": lambda model: bv.run("bundled", TEXT),
    "the text first": lambda model: bv.run(TEXT, model),
    "a length as text": lambda model: bv.run(model, TEXT, pad_to="16"),
    "a broken length": lambda model: bv.run(model, TEXT, pad_to=16.5),
    "one position": lambda model: bv.run(model, TEXT, masked=2),
    "positions as text": lambda model: bv.run(model, TEXT, masked="2"),
    "broken positions": lambda model: bv.run(model, TEXT, masked=[1.5]),
    "a list of changes": lambda model: bv.run(model, TEXT, changes=[PROBS]),
    "changes as text": lambda model: bv.run(model, TEXT, changes=f"{PROBS}:0"),
    "a number as changes": lambda model: bv.run(model, TEXT, changes=0),
    "an array as changes": lambda model: bv.run(model, TEXT, changes=np.zeros(3)),
    "a dict as a cache": lambda model: bv.run(model, TEXT, cache={}),
    "a trace of a text": lambda model: bv.Trace(model, TEXT),
    "a trace of a model's name": lambda model: bv.Trace("bundled", bv.run(model, TEXT).encoding),
    "no model in a store": lambda model: bv.TraceStore().get("bundled", TEXT),
    "several texts in a store": lambda model: bv.TraceStore().get(model, [TEXT]),
    "an array in a store": lambda model: bv.TraceStore().get(
        model, TEXT, changes={f"{PROBS}[head=0]": np.ones((6, 6))}
    ),
    "no changes in a store": lambda model: bv.TraceStore().get(model, TEXT, changes=5),
    "a store without a turn": lambda model: bv.TraceStore(at_once=0),
    "a store of words": lambda model: bv.TraceStore("much"),
    "a number as a model": lambda model: bv.load_model(5),
    "no model's name": lambda model: bv.load_model(None),
    "a name in bytes": lambda model: bv.load_model(b"bundled"),
    "a dtype as text": lambda model: bv.load_model(dtype="float64"),
    "half a float": lambda model: bv.load_model(dtype=torch.float16),
    "a script of nothing": lambda model: bv.write_script(None),
    "a notebook of a text": lambda model: bv.write_ipynb(TEXT),
    "a script of weights that are no file": lambda model: bv.write_script(bv.run(model, TEXT), 5),
    "a notebook of weights that are no file": lambda model: bv.write_ipynb(bv.run(model, TEXT), {}),
    "a lens on nothing": lambda model: bv.lens(None, 0),
    "a lens on a word": lambda model: bv.lens(bv.run(model, TEXT), "cat"),
    "many texts that are one": lambda model: bv.run_many(model, TEXT),
    "many texts that are none": lambda model: bv.run_many(model, None),
    "many texts that are a number": lambda model: bv.run_many(model, 5),
    "many texts in no model": lambda model: bv.run_many(None, [TEXT]),
    "progress of many in words": lambda model: bv.run_many(model, [TEXT], progress="loud"),
    "a trace of no path": lambda model: bv.load_trace(5),
    "a trace of nothing": lambda model: bv.load_trace(None),
    "a trace by a model's name": lambda model: bv.load_trace("trace.safetensors", "bundled"),
    "a trace to no path": lambda model: bv.run(model, TEXT).save(5),
    "roles of a number": lambda model: bv.roles(5),
    "roles of nothing": lambda model: bv.roles(None),
    "roles of texts": lambda model: bv.roles([TEXT]),
    "roles of one text": lambda model: bv.roles(TEXT),
    "an ablation of a text": lambda model: bv.ablation(TEXT, PROBS),
    "progress of a number": lambda model: bv.ablation(
        bv.run(model, TEXT), f"{PROBS}[head=0,query=0,key=0]", progress=5
    ),
    "neighbours in no model": lambda model: bv.neighbours("bundled", "cat"),
    "neighbours of nothing": lambda model: bv.neighbours(model, None),
    "neighbours of half an id": lambda model: bv.neighbours(model, 2.5),
    "half a neighbour": lambda model: bv.neighbours(model, 5, 1.5),
    "parts of no trace": lambda model: bv.attribute(None, PROBS),
    "a patch of texts": lambda model: bv.patch(TEXT, TEXT, PROBS, PROBS),
    "a picture of nothing": lambda model: bv.show_pass(None),
    "a text as several by the tokenizer": lambda model: model.tokenizer.encode([TEXT]),
    "pieces of nothing": lambda model: model.tokenizer.pieces(None),
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_an_argument_of_the_wrong_type_is_refused(model, run):
    """As an InputError, which says what came and what to do, and as Python's TypeError."""
    with pytest.raises(bv.ArgumentError, match=r"must|needs|made of|can only|takes|is attributed") as refused:
        run(model)
    assert isinstance(refused.value, bv.InputError) and isinstance(refused.value, TypeError)
    assert " not " in str(refused.value) and str(refused.value).endswith(".") and len(str(refused.value)) < 320


REFUSED = {
    "a lens behind the end": lambda model, trace: bv.lens(trace, len(trace.tokens)),
    "a lens before the beginning": lambda model, trace: bv.lens(trace, -1),
    "an ablation of a tensor": lambda model, trace: bv.ablation(trace, PROBS),
    "an ablation of a number": lambda model, trace: bv.ablation(trace, 5),
    "an ablation of numbers": lambda model, trace: bv.ablation(trace, [5]),
    "an ablation of nothing": lambda model, trace: bv.ablation(trace, []),
    "neighbours of no entry": lambda model, trace: bv.neighbours(model, "no such entry"),
    "neighbours of an id too high": lambda model, trace: bv.neighbours(model, 10**6),
    "no neighbours": lambda model, trace: bv.neighbours(model, 5, 0),
}


@pytest.mark.parametrize("ask", REFUSED.values(), ids=REFUSED)
def test_what_is_not_there_is_refused(model, trace, ask):
    with pytest.raises(bv.BertvizError) as refused:
        ask(model, trace)
    assert len(str(refused.value)) < 320


VALUES = {
    "nothing": None, "a dict": {}, "an object": object(), "ragged": [[1.0], [1.0, 2.0]], "complex": 1j,
    "too long a number": 10**400, "NaN": float("nan"), "no rule": "loudly",
}  # fmt: skip


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_that_no_number_can_be_is_refused(trace, value):
    with pytest.raises(bv.InputError):
        trace.with_changes({f"{PROBS}[head=0,query=0,key=0]": value})


@pytest.mark.parametrize("program", [5, ["bert"], "loud", None], ids=repr)
def test_a_program_that_there_is_not_is_refused(model, program):
    with pytest.raises(bv.InputError, match="There is no program"):
        bv.run(model, TEXT, program=program)


def test_an_encoding_that_does_not_fit_is_refused(model, trace):
    ids = trace.encoding.ids
    for wrong in (
        {"ids": ids[:-1]},
        {"ids": (model.config.vocab_size, *ids[1:])},
        {"ids": (-1, *ids[1:])},
        {"mask": (0,) * len(ids)},
        {"mask": (1,)},
    ):
        with pytest.raises(bv.InputError):
            bv.run(model, replace(trace.encoding, **wrong))


def test_a_tensor_is_an_array_of_numbers(trace):
    """Also one that learns, and in half precision."""
    row = torch.linspace(0, 1, len(trace.tokens), dtype=torch.bfloat16, requires_grad=True)
    changed = trace.with_changes({f"{PROBS}[head=0,query=0]": row})
    np.testing.assert_array_equal(changed[PROBS][0, 0], row.detach().float().numpy())


def test_a_path_may_be_a_path(model, trace):
    assert "read('weights.safetensors'," in bv.write_script(trace, Path("weights.safetensors"))
    assert "files = ['weights.safetensors']" in bv.write_ipynb(trace, Path("weights.safetensors"))


def test_numbers_of_numpy_are_numbers(model, trace):
    padded = bv.run(model, TEXT, pad_to=np.int64(8), masked=np.array([1, 2]))
    assert len(padded.tokens) == 8 and padded.tokens[1:3] == ["[MASK]", "[MASK]"]
    store = bv.TraceStore()
    changed = store.get(model, TEXT, changes={f"{PROBS}[ head=0 ]": np.float32(0.0)})
    assert changed is store.get(model, TEXT, changes={f"{PROBS}[head=0]": 0})
    assert trace.with_changes({}) is trace
