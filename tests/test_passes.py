"""Every forward pass that a page has made has a turn: no more run side by side than the store allows."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.ablation import run_without_cell
from bertviz_core.analysis.hiding import measure_hidden
from bertviz_core.formula.address import parse
from bertviz_core.learning.hosted import Hosted
from bertviz_core.tracing.stacked import _Stack
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame.resources import get_line, get_queue, get_store, take_turn
from bertviz_core.ui.frame.site import PAGES
from tests.often import often
from tests.settling import settle
from tests.test_pages import APP

NAMES = [info.name for info in PAGES]
SENTENCE = "the cat sat on the [MASK]"
START = "cls.predictions.probs[token=6,vocab=1996]"


class Watched:
    """How many passes run at once, and those that were begun without a turn."""

    def __init__(self, monkeypatch):
        self.lock, self.now, self.most, self.made, self.loose = threading.Lock(), 0, 0, 0, []

        def count(what, name):
            begin = getattr(what, name)

            def counted(passes, *given):
                with self.lock:
                    self.now, self.made = self.now + 1, self.made + 1
                    self.most = max(self.most, self.now)
                if not get_store()._line._mine.turn:
                    self.loose.append((name, given))
                time.sleep(0.01)
                try:
                    return begin(passes, *given)
                finally:
                    with self.lock:
                        self.now -= 1

            monkeypatch.setattr(what, name, counted)

        count(Trace, "_begin")
        count(_Stack, "read")
        count(_Stack, "read_rows")


@pytest.fixture
def watched(monkeypatch):
    return Watched(monkeypatch)


def opened(page, **query):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update({"text": SENTENCE, **query})
    at.run()
    at.switch_page(f"pages/{page}.py").run()
    at.session_state["open"] = "all"
    at.run()
    assert not at.exception
    return at


@pytest.mark.parametrize("page", often(NAMES, ["overview", "attention", "heads", "predictions", "documents"], str))
def test_no_page_makes_a_pass_without_a_turn(page, watched):
    """With everything open, of a sentence that nobody has asked for before."""
    text = f"{SENTENCE} {NAMES.index(page)}"
    opened(page, text=text, changes="encoder.layer.1.attention.self.probs[head=2]:0")
    least = {"tokenization": 4, "story": 7, "heads": 3, "documents": 3}.get(page, 2)  # the two that are compared
    assert settle()
    assert watched.made >= least and watched.loose == []


def test_passes_of_many_pages_run_no_more_at_once_than_the_store_allows(bundled, monkeypatch):
    store = bv.TraceStore(at_once=2)
    traces = [bv.run(bundled, text) for text in (SENTENCE, "a dog ran in the [MASK]", "we sat by the [MASK]")]
    monkeypatch.setattr("tests.test_passes.get_store", lambda: store)
    watched = Watched(monkeypatch)
    cell = parse("encoder.layer.2.output.LayerNorm[token=6,hidden=3]")

    def take(job):
        with store.turn(costly=True):
            job()

    jobs = [
        job
        for trace in traces
        for job in (
            *(partial(take, partial(measure_hidden, trace, parse(START), i)) for i in (1, 2, 3, 4)),
            partial(take, partial(run_without_cell, trace, parse(START), cell)),
            partial(store.get, trace.model, trace.tokens[2]),
        )
    ]
    with ThreadPoolExecutor(len(jobs)) as pool:
        for done in [pool.submit(job) for job in jobs]:
            done.result(60)
    assert 1 <= watched.most <= 2 and watched.made >= 3 * len(traces)  # those with a token hidden run together


def test_what_the_process_that_trains_is_asked_for_by_passes_has_a_turn(monkeypatch):
    """From before it is asked; what is known already needs none."""
    asked = []

    class Asked(Hosted):
        def __init__(self):
            self._host, self._records = get_queue().host, ()
            self._forget()

        def _fetch(self, what, *given):
            asked.append((what, get_store()._line._mine.turn))
            return what

    training = Asked()
    for _ in range(2):
        assert training.rank_words(1, 2, 3) == "rank_words" and training.find_moved_head() == "find_moved_head"
    assert asked == [("rank_words", True), ("find_moved_head", True)]
    assert not get_store()._line._mine.turn


def test_a_page_that_waits_for_the_process_that_trains_keeps_nobody_from_a_turn():
    """It holds a turn for passes; whoever holds that of a page meanwhile and wants one too must come to an end."""
    host, both = get_queue().host, threading.Barrier(2, timeout=10)

    def ask():
        with get_line().turn():
            both.wait()
            with host.passes(), host._wait():
                time.sleep(0.05)

    def work():
        with get_line().turn():
            both.wait()
            with take_turn():
                time.sleep(0.05)

    with ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            both.reset()
            for done in [pool.submit(job) for job in (ask, work)]:
                done.result(20)
