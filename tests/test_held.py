"""What a process holds: counted once, whoever holds it, and bounded with what was dropped and is held still."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis import layers
from bertviz_core.analysis.ablation import zero_heads
from bertviz_core.analysis.heads import Summary, summarize
from bertviz_core.checkpoint import shelf as shelf_module
from bertviz_core.checkpoint.shelf import ModelShelf
from bertviz_core.errors import BusyError
from bertviz_core.formula.address import Address
from bertviz_core.programs import PROGRAMS
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.pool import Pool
from bertviz_core.tracing.remember import measure_bytes, remember
from tests.factory import random_checkpoint

TEXT = "The cat sat on the mat."
FIRST, LAST = {"embeddings.sum[token=1]": 0.5}, {"pooler.dense": 0.0}
EVERYWHERE = {"embeddings.sum[token=2]": 0.5}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("held")))


@pytest.fixture(scope="module")
def size(model):
    """Bytes of one pass; passes of other words with as many tokens have as many."""
    return bv.run(model, TEXT).nbytes


@pytest.fixture
def counting():
    """Garbage collection off: what has to go does so at once, by its count of references."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Thing:
    def __init__(self, weight):
        self.weight = weight


def pool(max_bytes, dropped=None):
    return Pool(max_bytes, lambda thing: thing.weight, dropped)


def test_a_pool_drops_what_was_used_longest_ago(counting):
    dropped = []
    found = pool(10, lambda thing: dropped.append(thing.weight))
    for name, weight in (("a", 3), ("b", 4)):
        found.put(name, Thing(weight))
    assert found.get("a").weight == 3 and found.nbytes == 7
    found.put("c", Thing(5))
    assert found.get("b") is None and dropped == [4]
    assert found.nbytes == 8


def test_what_a_pool_dropped_counts_while_somebody_holds_it_and_is_found_again(counting):
    found, mine = pool(10), Thing(6)
    found.put("mine", mine)
    found.put("other", Thing(5))
    assert found.get("other") is None and found.nbytes == 6  # there is no room beside what is held
    found.put("small", Thing(3))
    assert found.get("mine") is mine
    assert found.nbytes == 9
    del mine
    found.put("other", Thing(5))
    assert found.get("mine") is found.get("small") is None and found.get("other").weight == found.nbytes == 5


def test_a_pool_keeps_its_bound_under_many_threads(counting):
    found = pool(50)

    def work(seed):
        for i in range(500):
            if found.get((i * seed) % 23) is None:
                found.put((i * seed) % 23, Thing(1 + i % 7))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(1, 9)))
    assert 40 < found.nbytes <= 50


def test_a_pass_that_two_changes_are_based_on_is_counted_once(model, size):
    store = bv.TraceStore()
    held = [store.get(model, TEXT, changes=changes) for changes in (None, FIRST, LAST, EVERYWHERE)]
    assert store.runs == len(held) == 4
    store.clear()  # what was recomputed is gone
    assert store.nbytes == 3 * size  # LAST shares all of the pass


def test_a_pass_that_was_dropped_counts_while_a_changed_one_holds_on_to_it(model, size, counting):
    store = bv.TraceStore(trace_bytes=2 * size)
    changed = store.get(model, TEXT, changes=FIRST)
    store.get(model, "A dog sat in the mat.")
    store.clear()
    assert store.nbytes == 2 * size
    assert store.get(model, TEXT) is changed.before and store.runs == 3
    del changed
    store.get(model, TEXT)
    assert store.nbytes == size
    store.clear()
    assert store.nbytes == 0


def test_what_a_session_holds_leaves_less_room_for_others(model, size, counting):
    store = bv.TraceStore(trace_bytes=3 * size)
    views = [store.get(model, f"{word} cat sat on the mat.") for word in ("the", "a", "in", "do")]
    assert store.nbytes == 4 * size
    assert [store.get(model, f"{word} cat sat on the mat.") for word in ("the", "a", "in", "do")] == views
    assert store.runs == 4  # none was run twice, though there is room for three
    views.clear()
    for word in ("the", "a", "in", "do"):
        store.get(model, f"{word} dog sat on the mat.")
        assert store.nbytes <= 3 * size + 1
    store.clear()
    assert store.nbytes == 0


def test_dropping_a_trace_frees_it_at_once(model, size, counting):
    store = bv.TraceStore(trace_bytes=2 * size)
    first = store.get(model, TEXT, changes=FIRST)
    for address in first.addresses:
        first[address], first.recomputed(address)
    first.explain("encoder.layer.1.output.LayerNorm[token=1,hidden=2]")
    layers.roll_out_attention(first)
    gone = weakref.ref(first), weakref.ref(first.before)
    del first
    for word in ("dog", "man"):
        store.get(model, f"the {word} sat on the mat.")
    assert [each() for each in gone] == [None, None]


def test_a_model_that_is_dropped_takes_its_traces_along(tmp_path, monkeypatch, counting):
    monkeypatch.setattr(shelf_module, "_settle", lambda: None)  # it would collect garbage
    names = [str(random_checkpoint(tmp_path / str(seed), seed=seed)) for seed in range(3)]
    store = bv.TraceStore()
    nbytes = bv.load_model(names[0]).nbytes
    shelf = ModelShelf(
        int(2.5 * nbytes), dropped=store.forget_model
    )  # a file is somewhat larger than what is read of it
    for name in names:
        assert store.get(shelf.get(name), TEXT).tokens
        assert shelf.nbytes <= 2 * nbytes
    assert store.nbytes == 2 * bv.run(shelf.get(names[2]), TEXT).nbytes
    trace = store.get(shelf.get(names[1]), TEXT)
    shelf.get(names[0])
    assert shelf.get(names[1]) is trace.model


def test_a_model_that_finds_no_room_beside_those_that_are_looked_at_is_refused(tmp_path, monkeypatch, counting):
    monkeypatch.setattr(shelf_module, "_settle", lambda: None)
    monkeypatch.setattr(shelf_module, "RETRY_AFTER_S", 0.0)
    names = [str(random_checkpoint(tmp_path / str(seed), seed=seed)) for seed in range(3)]
    nbytes = bv.load_model(names[0]).nbytes
    shelf = ModelShelf(int(2.5 * nbytes))
    held = [shelf.get(name) for name in names[:2]]
    with pytest.raises(bv.CheckpointError, match=r"There is no room for .* beside the models that others look at now"):
        shelf.get(names[2])
    assert shelf.nbytes == 2 * nbytes
    held.pop()
    assert shelf.get(names[2]).nbytes == nbytes
    monkeypatch.setenv("BERTVIZ_MAX_MODEL_GB", "0.000001")
    with pytest.raises(bv.CheckpointError, match=r"the limit here is 0\.0 GB"):
        ModelShelf().get(names[0])


def test_what_is_read_out_is_worked_out_once_counted_and_bounded(model):
    store = bv.TraceStore()
    trace = store.get(model, TEXT)
    trace["encoder.layer.1.attention.self.probs"], trace["encoder.layer.0.attention.self.probs"]
    before = store.nbytes
    found = layers.roll_out_attention(trace)
    assert layers.roll_out_attention(trace) is found and store.nbytes >= before + found.nbytes
    small = bv.run(model, TEXT, cache=ByteLRU(found.nbytes - 1))
    assert layers.roll_out_attention(small) is not layers.roll_out_attention(small)
    np.testing.assert_array_equal(layers.roll_out_attention(small), found)


def test_two_traces_in_one_cache_do_not_mix_what_is_read_out(model):
    store = bv.TraceStore()
    one, other = store.get(model, TEXT), store.get(model, TEXT, changes=FIRST)
    assert not np.array_equal(layers.roll_out_attention(one), layers.roll_out_attention(other))


def test_what_several_ask_for_at_once_is_made_once(model):
    trace, calls = bv.run(model, TEXT), []

    def make():
        calls.append(1)
        return np.zeros(3)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: remember(trace, "test", make), range(50)))
    assert len(calls) == 1 and all(each is found[0] for each in found)


def test_tensors_can_be_read_while_something_long_is_read_out(model):
    trace, path = bv.run(model, TEXT), "encoder.layer.0.attention.self.probs"
    with ThreadPoolExecutor(1) as other:
        found = remember(trace, "test", lambda: other.submit(trace.__getitem__, path).result(timeout=10))
    np.testing.assert_array_equal(found, trace[path])


def test_a_document_s_program_is_one_for_all_who_ask_at_once(model, monkeypatch):
    write, together = PROGRAMS["definition"], threading.Barrier(2)

    def write_late(*given):
        together.wait(10)
        return write(*given)

    monkeypatch.setitem(PROGRAMS, "definition", write_late)
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(model.written, ["definition"] * 2)
    assert one is other is model.written("definition")


def test_what_cannot_be_made_leaves_nothing_behind(model):
    trace = bv.run(model, TEXT)
    with pytest.raises(ZeroDivisionError):
        remember(trace, "test", lambda: 1 // 0)
    assert remember(trace, "test", lambda: 5) == 5


def test_what_is_read_out_is_read_only(model):
    trace = bv.run(model, TEXT)
    summary, projection = summarize(trace, 4), layers.project_stages(trace)
    shared = [summary.pictures, *summary.numbers.values(), *vars(projection).values(), layers.roll_out_attention(trace)]
    for array in shared:
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises(TypeError):
        summary.numbers["entropy"] = None


def test_arrays_are_measured_wherever_they_lie(model):
    ten = np.zeros(10)
    assert measure_bytes(ten) == 80 <= measure_bytes({"a": ten, "b": (ten,)}) - 80 < 80 + 4 * 64
    summary = Summary(ten, {"a": ten}, 3)
    assert 160 <= measure_bytes(summary) < 160 + 5 * 64
    trace = bv.run(model, TEXT)
    *_, (_, ablation) = zero_heads(trace, [Address("cls.seq_relationship.probs").fix(relation=0)])
    assert 56 <= measure_bytes(ablation) < 56 + 9 * 64


def test_a_cache_lets_go_of_what_was_used_longest_ago_and_counts_what_is_left():
    cache = ByteLRU[str, int](10)
    for i, name in enumerate("abc"):
        cache.put(name, i, 3)
    assert cache.get("a") == 0  # now the newest
    cache.put("d", 3, 4)
    assert [cache.get(name) for name in "abcd"] == [0, None, 2, 3] and cache.nbytes == 10
    cache.put("d", 4, 1)
    assert cache.get("d") == 4 and cache.nbytes == 7
    cache.put("e", 5, 11)
    assert cache.get("e") is None and len(cache) == 3


def test_a_failure_is_remembered_for_a_while_and_no_lock_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(shelf_module, "_settle", lambda: None)
    shelf, looks, folder = ModelShelf(), [], tmp_path / "model"
    monkeypatch.setattr(shelf_module, "locate", lambda name, own=shelf_module.locate: looks.append(name) or own(name))
    for _ in range(2):
        with pytest.raises(bv.CheckpointError):
            shelf.get(str(folder))
    assert len(looks) == 1
    random_checkpoint(folder)
    monkeypatch.setattr(shelf_module, "RETRY_AFTER_S", 0.0)
    assert shelf.get(str(folder)).name == str(folder)
    assert not shelf._loading


def test_only_so_many_models_are_brought_at_a_time_however_many_are_asked_for_and_left(model, monkeypatch):
    go = threading.Event()
    monkeypatch.setattr(ModelShelf, "_load", lambda *_: go.wait(60) and model)
    monkeypatch.setattr(shelf_module, "_LOOK_S", 0.001)
    shelf = ModelShelf()

    def leave():
        raise InterruptedError

    for i in range(shelf_module.MOST_LOADING):
        with pytest.raises(InterruptedError):
            shelf.get(f"model {i}", leave)
    with pytest.raises(BusyError, match="other models are being loaded"):
        shelf.get("one more")
    go.set()
    assert shelf.get("model 0") is model
