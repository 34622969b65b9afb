"""The store of traces: each input is run once, failures leave nothing behind, memory stays bounded."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.programs import PROGRAMS
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.threads import Shares
from bertviz_core.tracing import store as store_module
from bertviz_core.tracing.changes import read_changes, take_changes
from tests.factory import random_checkpoint

TEXT = "The cat sat on the mat."
READERS = 8


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    return [bv.load_model(random_checkpoint(folder / str(seed), seed=seed)) for seed in (1, 2)]


class SlowRun:
    """A forward pass that starts and then waits until `go`; then `outcome` happens. Counts who waits for it."""

    def __init__(self):
        self.outcome = store_module.run
        self.started, self.waiting, self.go = threading.Semaphore(0), threading.Semaphore(0), threading.Event()
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, *arguments, **options):
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.started.release()
        assert self.go.wait(10)
        with self._lock:
            self.now -= 1
        return self.outcome(*arguments, **options)

    def pending(self, number):
        run = self

        class Done(threading.Event):
            def wait(self, timeout=None):
                run.waiting.release()
                return super().wait(timeout)

        return PENDING(number, done=Done())


PENDING = store_module._Pending


@pytest.fixture
def slow_run(monkeypatch):
    run = SlowRun()
    monkeypatch.setattr(store_module, "run", run)
    monkeypatch.setattr(store_module, "_Pending", run.pending)
    return run


def at_once(store, calls, run, waiting):
    """The results of several calls of `get`, when `waiting` of them wait for a pass that another has begun."""

    def call(arguments):
        try:
            return store.get(*arguments)
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(call, arguments) for arguments in calls]
        assert run.started.acquire(timeout=10)
        assert all(run.waiting.acquire(timeout=10) for _ in range(waiting))
        run.go.set()
        return [future.result(10) for future in futures]


def test_the_same_text_from_many_threads_is_run_once(models, slow_run):
    store = bv.TraceStore()
    traces = at_once(store, [(models[0], TEXT)] * READERS, slow_run, waiting=READERS - 1)
    assert len({id(trace) for trace in traces}) == 1 and store.runs == 1
    assert isinstance(traces[0], bv.Trace)
    assert store.get(models[0], TEXT) is traces[0] and store.runs == 1


def test_a_stored_trace_is_the_trace_of_a_run(models):
    stored, alone = bv.TraceStore().get(models[0], TEXT, "In Rome?", 24), bv.run(models[0], TEXT, "In Rome?", pad_to=24)
    assert stored.tokens == alone.tokens
    assert all(np.array_equal(stored[address], alone[address]) for address in alone.addresses)


def test_passes_run_one_after_another_where_one_is_allowed(models, slow_run):
    texts = ["cat", "mat", "the cat", "the mat"]
    store = bv.TraceStore(at_once=1)
    traces = at_once(store, [(models[0], text) for text in texts], slow_run, waiting=0)
    assert slow_run.most == 1 and store.runs == len(texts)
    assert [trace.tokens[1:-1] for trace in traces] == [text.split() for text in texts]


def test_as_many_passes_as_allowed_run_side_by_side(models, slow_run):
    store = bv.TraceStore(at_once=2)
    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(store.get, models[0], text) for text in ("cat", "mat", "rome")]
        assert slow_run.started.acquire(timeout=10) and slow_run.started.acquire(timeout=10)
        assert not slow_run.started.acquire(timeout=0.1)
        slow_run.go.set()
        assert all(future.result(10) for future in futures)
    assert slow_run.most == 2


def test_a_run_that_fails_fails_for_all_who_wait_and_leaves_nothing_behind(models, slow_run):
    def fail(*_, **__):
        raise MemoryError("no room")

    good, slow_run.outcome = slow_run.outcome, fail
    store = bv.TraceStore()
    errors = at_once(store, [(models[0], TEXT)] * READERS, slow_run, waiting=READERS - 1)
    assert all(isinstance(error, MemoryError) for error in errors)
    assert store.nbytes == 0 and store.runs == 1
    slow_run.outcome = good
    assert isinstance(store.get(models[0], TEXT), bv.Trace)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((" ",), "is empty"), (("a", ""), "second sentence is empty"), (("a " * 99,), "reads at most 64"),
     (("a", None, 65), "padded to between 1 and 64"), (("a", None, 0), "padded to between 1 and 64")],
)  # fmt: skip
def test_bad_input_is_refused_whether_or_not_the_text_is_stored(models, arguments, message):
    store = bv.TraceStore()
    for _ in range(2):
        with pytest.raises(bv.InputError, match=message):
            store.get(models[0], *arguments)
        store.get(models[0], "a")
    assert store.runs == 1


def test_different_inputs_are_different_entries(models):
    store = bv.TraceStore()
    one, other = models
    double = bv.load_model(one.name, dtype=torch.float64)
    calls = [
        (one, TEXT),
        (one, TEXT, None, 20),
        (one, TEXT, None, 21),
        (one, TEXT, TEXT),
        (other, TEXT),
        (double, TEXT),
        (one, f"{TEXT} [SEP] {TEXT}"),
    ]
    traces = [store.get(*call) for call in calls]
    assert len({id(trace) for trace in traces}) == store.runs == len(calls)
    assert [store.get(*call) for call in calls] == traces and store.runs == len(calls)
    assert traces[3].encoding.ids == traces[6].encoding.ids  # the same tokens, in other segments


def test_every_program_has_an_entry_of_its_own(models):
    store = bv.TraceStore()
    traces = {name: store.get(models[0], TEXT, program=name) for name in PROGRAMS}
    assert {name: trace.program.name for name, trace in traces.items()} == {name: name for name in PROGRAMS}
    assert all(store.get(models[0], TEXT, program=name) is trace for name, trace in traces.items())
    assert store.runs == len(PROGRAMS)


def test_every_change_of_the_same_place_has_an_entry_of_its_own(models):
    store, place = bv.TraceStore(), "embeddings.sum[token=1]"
    changes = [{place: 0.0}, {place: 1.0}, {place: 1.0, "input_ids[token=2]": 5}]
    traces = [store.get(models[0], TEXT, changes=each) for each in changes]
    assert [trace[place].tolist() for trace in traces] == [[0.0] * 24, [1.0] * 24, [1.0] * 24]
    assert [trace["input_ids[token=2]"] == 5 for trace in traces] == [False, False, True]
    assert all(store.get(models[0], TEXT, changes=each) is trace for each, trace in zip(changes, traces, strict=True))
    assert store.runs == 1 + len(changes)  # the pass without changes, and one each


def test_who_writes_minus_zero_gives_nobody_else_its_sign(models):
    store, place = bv.TraceStore(), "embeddings.sum[token=1]"
    for zero in ("-0", "-0.0", "0", "-1e-400"):
        trace = store.get(models[0], TEXT, changes=take_changes(read_changes(f"{place}:{zero}")))
        assert not np.signbit(trace[place]).any()
    assert store.runs == 2


def test_texts_with_the_same_tokens_are_one_entry(models):
    store = bv.TraceStore()
    assert store.get(models[0], "The  CAT sat") is store.get(models[0], "the cat sat", pad_to=3)
    assert store.runs == 1


def test_the_traces_stay_within_their_bound(models):
    size = bv.run(models[0], TEXT).nbytes
    store = bv.TraceStore(trace_bytes=3 * size, cache_bytes=50_000)
    for i in range(12):
        trace = store.get(models[i % 2], f"{'abcdefghijkl'[i]} cat sat on the mat")
        for address in trace.addresses:
            trace[address]
            assert store.nbytes <= 3 * size + 50_000
    assert store.nbytes > 2 * size
    assert store.runs == 12
    assert store.get(models[1], "l cat sat on the mat") is trace and store.runs == 12  # the last is still there
    store.get(models[0], "a cat sat on the mat")
    assert store.runs == 13  # the first had to go


def test_a_trace_above_the_bound_is_given_but_not_kept(models):
    store = bv.TraceStore(trace_bytes=10)
    for runs in (1, 2):
        trace = store.get(models[0], TEXT)
        assert trace.tokens and store.runs == runs and store.nbytes == trace.nbytes
        del trace
        assert store.nbytes == 0


def test_traces_that_sessions_hold_stay_within_the_bound_and_are_the_same_when_they_are_read(models):
    size = bv.run(models[0], TEXT).nbytes
    store = bv.TraceStore(trace_bytes=3 * size, cache_bytes=50_000, unread_s=0.0)
    texts = [f"{letter} cat sat on the mat" for letter in "abcdefghijkl"]
    change = {"encoder.layer.0.attention.self.probs[head=0]": 0.0}
    held = [store.get(models[i % 2], text, changes=change if i % 3 else None) for i, text in enumerate(texts)]
    assert store.nbytes <= 3 * size + 50_000
    assert sum(trace.is_held for trace in held) < len(held)
    runs = store.runs
    for i, trace in enumerate(held):
        alone = bv.run(models[i % 2], texts[i], changes=change if i % 3 else None)
        for address in alone.addresses:
            np.testing.assert_array_equal(trace[address], alone[address])
        assert store.nbytes <= 3 * size + 50_000
    assert store.runs == runs
    assert store.get(models[1], texts[-1], changes=change) is held[-1] and store.runs == runs


def test_a_trace_that_was_let_go_comes_back_for_all_who_read_it_at_once(models):
    trace = bv.run(models[0], TEXT)
    told = []
    trace.on_return = told.append
    addresses = sorted(trace.program.spine)
    numbers = {address: trace[address] for address in addresses}
    with ThreadPoolExecutor(READERS) as pool:
        for _ in range(20):
            trace.let_go()
            for address, found in zip(addresses, pool.map(trace.__getitem__, addresses), strict=True):
                np.testing.assert_array_equal(found, numbers[address])
    assert told and set(told) == {trace} and trace.is_held


def test_nobody_loses_what_they_are_reading(models):
    size = bv.run(models[0], TEXT).nbytes
    store = bv.TraceStore(trace_bytes=size, unread_s=60.0)
    first, second = store.get(models[0], TEXT), store.get(models[1], TEXT)
    store.clear()
    assert first.is_held and second.is_held
    first.read_at -= 61.0
    store.clear()
    assert not first.is_held and second.is_held


def test_a_cache_drops_what_was_used_longest_ago():
    cache = ByteLRU(10)
    cache.put("a", 1, 4)
    cache.put("b", 2, 4)
    assert cache.get("a") == 1
    cache.put("c", 3, 4)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (1, None, 3) and cache.nbytes == 8


def test_a_cache_counts_a_replaced_value_once_and_refuses_what_is_too_large():
    cache = ByteLRU(10)
    cache.put("a", 1, 4)
    cache.put("a", 2, 6)
    assert cache.get("a") == 2 and cache.nbytes == 6 and len(cache) == 1
    cache.put("a", 3, 11)
    assert cache.get("a") is None and cache.nbytes == 0


def test_a_cache_keeps_its_count_under_many_threads():
    cache = ByteLRU(50)

    def work(seed):
        for i in range(2000):
            cache.put((i * seed) % 23, seed, 1 + i % 7)
            cache.get((i + seed) % 23)

    with ThreadPoolExecutor(READERS) as pool:
        list(pool.map(work, range(1, READERS + 1)))
    assert 0 < cache.nbytes <= 50
    assert cache.nbytes == sum(size for _, size in cache._held.values())


def test_passes_that_run_side_by_side_share_the_cores():
    cores, threads = Shares(cores=4, load=lambda: 0.4), torch.get_num_threads()
    entered, leave, shares = threading.Semaphore(0), threading.Semaphore(0), []

    def work():
        with cores.take() as share:
            shares.append((share, torch.get_num_threads()))
            entered.release()
            leave.acquire()

    others = [threading.Thread(target=work) for _ in range(3)]
    for other in others:
        other.start()
        assert entered.acquire(timeout=10)
    for _ in others:
        leave.release()
    for other in others:
        other.join()
    assert shares == [(4, 4), (2, 2), (1, 1)]
    with cores.take() as share:
        assert share == torch.get_num_threads() == 4  # alone again
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize(("load", "share"), [(0.0, 4), (0.9, 4), (1.2, 3), (3.0, 1), (20.0, 1)])
def test_a_pass_leaves_the_busy_cores_to_others(load, share):
    with Shares(cores=4, load=lambda: load).take() as threads:
        assert threads == share
