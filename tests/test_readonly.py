"""What a trace hands out cannot be written to: not the array, not its base, not by turning a flag back."""

import warnings

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.formula.address import parse
from bertviz_core.tracing.readonly import lock
from tests.factory import random_checkpoint

PAIR = ("The cat sat on the mat.", "Playing in Rome?")
PROBS = "encoder.layer.0.attention.self.probs"
QUERY = "encoder.layer.1.attention.self.query"
HIDDEN = "encoder.layer.1.output.LayerNorm"
CHANGES = {
    f"{PROBS}[head=1]": "uniform",
    f"{QUERY}[head=0,query=2]": np.ones(8),
    "token_type_ids[token=3]": 1,
    "pooler.dense": 0.5,
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("read-only")))


@pytest.fixture(scope="module")
def trace(model):
    return bv.run(model, *PAIR, pad_to=21)


@pytest.fixture(scope="module")
def changed(trace):
    return trace.with_changes(CHANGES)


def turn_back(array):
    """Turn the flag back where it has to be, and write."""
    if not array.flags.writeable:
        array.flags.writeable = True
    array[...] = 7


def bases(array):
    """The array and what lies below it, down to what is no array."""
    while isinstance(array, np.ndarray):
        yield array
        array = array.base


# Every way to write that NumPy offers to somebody who has an array.
WAYS = {
    "an assignment": lambda array: array.__setitem__(..., 7),
    "in place": lambda array: np.add(array, 7, out=array, casting="unsafe"),
    "the flag": turn_back,
    "setflags": lambda array: (array.setflags(write=True), array.fill(7)),
    "the flag of a view": lambda array: turn_back(array.view()),
    "the flag of a part": lambda array: turn_back(array[..., :1] if array.ndim else array[...]),
    "the flag of the transposed": lambda array: turn_back(array.T),
    "the flag of another shape": lambda array: turn_back(np.broadcast_to(array, (2, *array.shape))[0]),
    "the flag of the same as an array": lambda array: turn_back(np.asarray(array)),
    "the flag of other bytes": lambda array: turn_back(array.view(np.ndarray)),
    "the flag through DLPack": lambda array: turn_back(np.from_dlpack(array)),
    "the flag of its memory": lambda array: turn_back(np.asarray(memoryview(array))),
    "its memory": lambda array: memoryview(array).cast("B").__setitem__(0, 7),
    "other strides": lambda array: np.lib.stride_tricks.as_strided(array, writeable=True).__setitem__(..., 7),
    "copyto": lambda array: np.copyto(array, 7),
}


def assert_locked(array):
    assert isinstance(array, np.ndarray)
    before = array.copy()
    for part in bases(array):
        for name, write in WAYS.items():
            with pytest.raises((ValueError, TypeError)):
                write(part)
                pytest.fail(f"written by {name}")
    np.testing.assert_array_equal(array, before)


def test_each_way_writes_where_nothing_is_locked():
    for name, write in WAYS.items():
        array = np.zeros(1)
        write(array)
        assert array[0], name


@pytest.mark.parametrize("which", ["trace", "changed"])
def test_no_array_of_a_trace_can_be_written_to(which, request):
    trace = request.getfixturevalue(which)
    for address in [*trace.addresses, *trace.program.leaves]:
        assert_locked(trace[address])


@pytest.mark.parametrize(
    "address",
    [f"{PROBS}[head=1]", f"{PROBS}[head=1,query=2,key=3]", f"{HIDDEN}[token=2]", f"{HIDDEN}[hidden=2]",
     "input_ids[token=1]", "embeddings.word_embeddings.weight[vocab=7]", f"{QUERY}.weight", f"{QUERY}.weight[hidden=1]",
     f"{QUERY}.bias", "cls.predictions.probs[token=3]"],
)  # fmt: skip
def test_no_part_of_an_array_can_be_written_to(trace, changed, address):
    for each in (trace, changed):
        assert_locked(each[address])
        assert_locked(each.recomputed(address))


def test_numbers_in_double_precision_cannot_be_written_to(model):
    """There a recomputed number can be the stored one itself, with nothing to convert."""
    trace = bv.run(bv.load_model(model.name, dtype=torch.float64), *PAIR, changes={HIDDEN: "skip"})
    for address in (HIDDEN, f"{PROBS}[head=1]", f"{QUERY}.weight"):
        assert_locked(trace[address])
        assert_locked(trace.recomputed(address))


def test_what_was_changed_cannot_be_written_to(changed):
    assert_locked(changed.changes[parse(f"{QUERY}[head=0,query=2]")])
    with pytest.raises(TypeError):
        changed.changes[parse("pooler.dense")] = 1.0
    overrides = [override for address in changed.addresses for override in changed.overrides(address)]
    assert len(overrides) == 3
    for override in overrides:
        assert_locked(override.numbers)


def test_an_array_that_was_handed_in_stays_the_callers(trace):
    mine = np.zeros(8)
    changed = trace.with_changes({f"{QUERY}[head=0,query=2]": mine})
    mine[:] = 5.0
    put = parse(f"{QUERY}[head=0,query=2]")
    assert not changed[put].any() and not changed.changes[put].any()
    assert not changed.with_changes({"pooler.dense": 0.5})[f"{QUERY}[head=0,query=2]"].any()


def test_pytorch_is_warned_that_it_must_not_write(trace):
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="not writable"):
            torch.from_numpy(trace[HIDDEN])
    finally:
        torch.set_warn_always(False)


def test_a_change_is_made_without_a_warning(trace):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (trace.with_changes(CHANGES)[f"{QUERY}[head=0,query=2]"] == 1).all()


@pytest.mark.parametrize("address", ["embeddings.word_embeddings.weight", f"{QUERY}.weight", HIDDEN, "input_ids"])
def test_nothing_is_copied(trace, address):
    assert np.shares_memory(trace[address], trace[address])
    held = trace.model.parameters.get(address)
    assert held is None or trace[address].ctypes.data == held.data_ptr()


def test_a_locked_array_keeps_its_memory_alive():
    locked = lock(torch.arange(100_000))
    others = [torch.full((100_000,), -1) for _ in range(5)]
    assert locked.sum() == 4_999_950_000 and len(others) == 5


def test_uniform_attention_takes_one_row_of_memory(trace):
    changed = trace.with_changes({PROBS: "uniform"})
    (override,) = changed.overrides(PROBS)
    low, high = np.lib.array_utils.byte_bounds(override.numbers)
    assert override.numbers.shape == changed.shape(PROBS) and high - low == 8 * len(trace.tokens)
