"""A trace in a file and in a pickle: the same to the bit; nothing of a file is believed that the model does not say."""

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import bertviz_core as bv
from bertviz_core.analysis.patching import give_source
from bertviz_core.checkpoint import known
from bertviz_core.tracing.matching import match_tokens
from bertviz_core.tracing.taken import take_head
from tests.factory import random_checkpoint

TEXT = "The cat sat."
PROBS = "encoder.layer.0.attention.self.probs"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("saved")))


def changed(trace):
    put = np.linspace(0, 1, trace[PROBS][1].size).reshape(trace[PROBS][1].shape)
    rules = {"encoder.layer.1.intermediate.activation": "relu", f"{PROBS}[head=2]": "uniform"}
    return trace.with_changes({"input_ids[token=2]": 7, f"{PROBS}[head=0]": 0.0, f"{PROBS}[head=1]": put, **rules})


def patched(trace):
    other = bv.run(trace.model, "A dog!")
    return bv.patch(other, trace, ["encoder.layer.0.output.LayerNorm"], f"{PROBS}[head=0,query=0,key=0]").trace


KINDS = {
    "a text": lambda model: bv.run(model, TEXT),
    "a pair, padded": lambda model: bv.run(model, TEXT, "A dog!", pad_to=20, masked=[2]),
    "with changes": lambda model: changed(bv.run(model, TEXT)),
    "with another pass's numbers": lambda model: patched(bv.run(model, TEXT)),
    "by a document": lambda model: bv.run(model, TEXT, program="notebook"),
    "without heads": lambda model: bv.run(model.keep_heads([]), TEXT),
    "one of many": lambda model: next(bv.run_many(model, [TEXT, "A dog!"])),
}


def assert_same(one, other):
    assert one.addresses == other.addresses and one.encoding == other.encoding and one.computed == other.computed
    for address in one:
        np.testing.assert_array_equal(one[address], other[address], address)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_file_gives_the_same_trace(model, make, tmp_path):
    trace = make(model)
    trace.save(tmp_path / "trace.safetensors")
    again = bv.load_trace(tmp_path / "trace.safetensors", model)
    assert_same(trace, again)
    assert (trace.before is None) == (again.before is None)
    if trace.before:
        assert_same(trace.before, again.before)
        assert_same(trace.with_changes({f"{PROBS}[head=2]": 0.0}), again.with_changes({f"{PROBS}[head=2]": 0.0}))


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_pickle_gives_the_same_trace_and_does_not_hold_the_model(model, make):
    trace = make(model)
    packed = pickle.dumps(trace)
    assert len(packed) < 30_000 + 3 * trace.nbytes < model.nbytes * 3
    again = pickle.loads(packed)
    assert_same(trace, again)
    assert (again.model.whole or again.model) is model and list(again.changes) == list(trace.changes)
    assert_same(trace, copy.deepcopy(trace))


def test_the_numbers_are_those_of_the_file_where_this_machine_has_others(model, tmp_path):
    """As another machine rounds: what was published is what is read, at every address."""
    file = tmp_path / "trace.safetensors"
    bv.run(model, TEXT).save(file)
    rewrite(file, lambda tensors: {name: each * np.float32(1 + 1e-6) for name, each in tensors.items()})
    again, here = bv.load_trace(file, model), bv.run(model, TEXT)
    written = load_file(file)
    assert all((again[path] == each).all() for path, each in written.items())
    assert any((again[path] != here[path]).any() for path in written)
    assert (again["encoder.layer.1.attention.self.query"] != here["encoder.layer.1.attention.self.query"]).any()


def test_another_process_loads_the_model_by_its_name(model, tmp_path):
    (tmp_path / "trace").write_bytes(pickle.dumps(bv.run(model, TEXT)))
    script = (
        "import pickle, sys, numpy as np; trace = pickle.load(open(sys.argv[1], 'rb')); "
        f"np.save(sys.argv[2], trace[{PROBS!r}]); print(trace.model.digest)"
    )
    command = [sys.executable, "-c", script, tmp_path / "trace", tmp_path / "probs.npy"]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == model.digest
    # That process may have more threads, which sum a product in another order.
    np.testing.assert_allclose(np.load(tmp_path / "probs.npy"), bv.run(model, TEXT)[PROBS], rtol=1e-4, atol=1e-9)


def test_a_pickle_of_a_model_that_became_another_one_is_refused(tmp_path, monkeypatch):
    first = bv.load_model(random_checkpoint(tmp_path))
    packed = pickle.dumps(bv.run(first, TEXT))
    random_checkpoint(tmp_path, seed=5)
    monkeypatch.setattr(known, "_KNOWN", {})
    with pytest.raises(bv.CheckpointError, match=r"has the weights .* now, not"):
        pickle.loads(packed)


def rewrite(file, turn=lambda tensors: tensors, **told):
    with safe_open(file, framework="numpy") as opened:
        metadata = {**opened.metadata(), **told}
    save_file(turn(load_file(file)), file, metadata=metadata)


def told(file, name):
    with safe_open(file, framework="numpy") as opened:
        return json.loads(opened.metadata()[name])


def read_input(**more):
    return lambda file: {"input": json.dumps({**told(file, "input"), **more})}


FORGED = {
    "of another format": (lambda file: {"format": "something else"}, "its format is 'something else'"),
    "of other weights": (lambda file: {"weights": "0123456789ab"}, "of other weights: '0123456789ab'"),
    "of a program that there is not": (lambda file: {"program": "loud"}, "There is no program 'loud'"),
    "of no input": (lambda file: {"input": "{}"}, "whole numbers for each token"),
    "of broken text": (lambda file: {"input": "{" * 50_000}, "its input cannot be read"),
    "of deep text": (lambda file: {"changes": "[" * 900_000}, "its changes cannot be read"),
    "of much text": (lambda file: {"more": "x" * 5_000_000}, "more than 4000000 letters"),
    "of unknown ids": (read_input(ids=[10**6] * 6), "numbers that the model does not know"),
    "of negative positions": (read_input(positions=[-1, 1, 2, 3, 4, 5]), "numbers that the model does not know"),
    "of true and false": (read_input(mask=[True] * 6), "whole numbers for each token"),
    "of other words": (read_input(tokens=["[CLS]", "a", "lie", "is", "told", "[SEP]"]), "not those of its ids"),
    "of fewer tokens": (read_input(ids=[1, 2]), "numbers that the model does not know"),
    "of a change that is none": (lambda file: {"changes": '[["x", "loud", 1]]'}, "one of its changes cannot be read"),
    "of a change of nothing": (lambda file: {"changes": '[["nowhere", "number", 1]]'}, "nowhere is not in this trace"),
    "of a change without end": (lambda file: {"changes": f'[["{PROBS}", "number", NaN]]'}, "only be set to finite"),
    "of an array that is not there": (lambda file: {"changes": f'[["{PROBS}", "array", "change:0"]]'}, "is not in it"),
    "of heads that are numbers": (lambda file: {"heads": "[1]"}, "its heads are no words"),
}


@pytest.mark.parametrize(("forge", "says"), FORGED.values(), ids=FORGED)
def test_a_file_that_tells_something_else_is_refused(model, tmp_path, forge, says):
    file = tmp_path / "trace.safetensors"
    bv.run(model, TEXT).save(file)
    rewrite(file, **forge(file))
    with pytest.raises(bv.InputError, match=says) as refused:
        bv.load_trace(file, model)
    assert len(str(refused.value)) < 500 + len(str(file))


LAYER = "encoder.layer.1.output.LayerNorm"
TENSORS = {
    "other numbers": (lambda t: {**t, LAYER: t[LAYER] + np.float32(0.1)}, "are not what the model computes"),
    "one other number": (
        lambda t: {**t, LAYER: t[LAYER] + (np.arange(24) == 3) * np.float32(0.1)},
        "are not what",
    ),
    "no numbers": (lambda t: {**t, LAYER: t[LAYER] * np.float32("nan")}, "are not what the model computes"),
    "another shape": (lambda t: {**t, LAYER: t[LAYER][:-1]}, "has another shape"),
    "another kind": (lambda t: {**t, LAYER: t[LAYER].astype(np.float64)}, "has another shape"),
    "a tensor less": (lambda t: {name: each for name, each in t.items() if name != LAYER}, "is not in it"),
    "a tensor more": (lambda t: {**t, "payload": np.zeros(3)}, "'payload', which is nothing of the trace"),
}


@pytest.mark.parametrize(("turn", "says"), TENSORS.values(), ids=TENSORS)
def test_a_file_of_other_numbers_is_refused(model, tmp_path, turn, says):
    file = tmp_path / "trace.safetensors"
    bv.run(model, TEXT).save(file)
    rewrite(file, turn)
    with pytest.raises(bv.InputError, match=says):
        bv.load_trace(file, model)


@pytest.mark.parametrize("content", [b"", b"\x80\x04pickle", b"\xff" * 200, b"\x10" + b"\0" * 7 + b"{" * 16], ids=repr)
def test_what_is_no_safetensors_file_is_refused(model, tmp_path, content):
    file = tmp_path / "trace.safetensors"
    file.write_bytes(content)
    with pytest.raises(bv.InputError, match="is no safetensors file that can be read"):
        bv.load_trace(file, model)
    for nothing in (tmp_path, tmp_path / "nowhere", Path("/dev/zero")):
        with pytest.raises(bv.InputError, match="There is no file"):
            bv.load_trace(nothing, model)


def test_a_file_cut_short_is_refused(model, tmp_path):
    file = tmp_path / "trace.safetensors"
    bv.run(model, TEXT).save(file)
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(bv.InputError, match="is no safetensors file"):
        bv.load_trace(file, model)


def test_no_model_is_loaded_because_a_file_names_it(model, tmp_path, monkeypatch):
    file = tmp_path / "trace.safetensors"
    bv.run(model, TEXT).save(file)
    assert_same(bv.load_trace(file), bv.run(model, TEXT))  # it was used in this process
    monkeypatch.setattr(known, "_KNOWN", {})
    with pytest.raises(bv.InputError, match="Load that yourself, and give it"):
        bv.load_trace(file)
    with pytest.raises(bv.InputError, match="of other weights"):
        bv.load_trace(file, bv.load_model(random_checkpoint(tmp_path / "other", seed=5)))


@pytest.mark.xdist_group("rome")
def test_the_bundled_model_is_found_by_itself(rome, tmp_path, monkeypatch):
    rome.save(tmp_path / "rome.safetensors")
    monkeypatch.setattr(known, "_KNOWN", {})
    assert_same(rome, bv.load_trace(tmp_path / "rome.safetensors"))


def test_a_trace_that_let_its_numbers_go_is_saved_too(model, tmp_path):
    trace = bv.run(model, TEXT)
    trace.let_go()
    trace.save(tmp_path / "trace.safetensors")
    assert_same(bv.run(model, TEXT), bv.load_trace(tmp_path / "trace.safetensors", model))


def test_in_float64_too(tmp_path):
    precise = bv.load_model(random_checkpoint(tmp_path), dtype=torch.float64)
    trace = bv.run(precise, TEXT)
    trace.save(str(tmp_path / "trace.safetensors"))
    assert_same(trace, bv.load_trace(str(tmp_path / "trace.safetensors"), precise))


def test_where_it_cannot_be_written_it_says_so(model, tmp_path):
    trace = bv.run(model, TEXT)
    with pytest.raises(bv.InputError, match="cannot be written"):
        trace.save(tmp_path / "nowhere" / "trace.safetensors")
    where, rule = take_head(0, 1)
    other = bv.run(model, "The cat ran.")
    columns = trace.with_changes(give_source({where: rule}, other, match_tokens(trace, other)))
    with pytest.raises(bv.InputError, match="takes columns of another pass"):
        columns.save(tmp_path / "trace.safetensors")
    assert_same(columns, pickle.loads(pickle.dumps(columns)))
