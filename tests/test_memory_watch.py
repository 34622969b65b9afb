"""The watch over the memory of a process: what goes as it fills up, what is refused, and what a page then says."""

import gc
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.checkpoint.shelf import ModelShelf
from bertviz_core.sharing.lru import ByteLRU
from bertviz_core.sharing.memory import SETTING, Budget
from bertviz_core.sharing.watch import Watch
from bertviz_core.ui.frame import resources, shell
from tests.factory import random_checkpoint

ROOT = Path(__file__).parents[1]
TEXT = "The cat sat on the mat."
MB = 1_000_000
FULL = "memory is full"


class Gauge:
    """Says how full the memory is, in percent of the bound."""

    def __init__(self, percent=0):
        self.percent = percent

    def __call__(self):
        return self.percent


def watch_over(gauge, emptied):
    watch = Watch(100, gauge, lambda: emptied.append("given back"))
    watch.empty_with(lambda: emptied.append("emptied"))
    return watch


@pytest.mark.parametrize(("percent", "emptied", "refused"), [(84, 0, False), (86, 1, False), (96, 1, True)])
def test_a_full_memory_is_emptied_first_and_then_new_work_is_refused(percent, emptied, refused):
    done = []
    watch = watch_over(Gauge(percent), done)
    if refused:
        with pytest.raises(bv.BusyError, match=rf"^This server's {FULL}: .* Try again in a minute"):
            watch.refuse_if_full()
    else:
        watch.refuse_if_full()
    assert done == ["emptied", "given back"] * emptied


def test_what_emptying_frees_is_not_refused():
    gauge = Gauge(96)
    watch = Watch(100, gauge, lambda: None)
    watch.empty_with(lambda: setattr(gauge, "percent", 40))
    watch.refuse_if_full()
    assert gauge.percent == 40


def test_many_who_look_at_once_empty_once():
    done = []
    watch = watch_over(Gauge(90), done)
    threads = [threading.Thread(target=watch.look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert done == ["emptied", "given back"]


def test_the_watch_looks_by_itself(monkeypatch):
    monkeypatch.setattr("bertviz_core.sharing.watch.LOOK_S", 0.001)
    emptied = threading.Event()
    watch = Watch(100, Gauge(90), lambda: None)
    watch.empty_with(emptied.set)
    watch.start()
    watch.start()
    assert emptied.wait(10)
    watch._read = Gauge(0)
    assert sum(thread.name == "memory watch" for thread in threading.enumerate()) >= 1


def test_caches_let_go_of_all_that_nobody_holds(tmp_path):
    names = [str(random_checkpoint(tmp_path / str(seed), seed=seed)) for seed in (1, 2)]
    store, shelf, lru = bv.TraceStore(), ModelShelf(), ByteLRU(100)
    loaded, other = shelf.get(names[0]), shelf.get(names[1])
    own = bv.load_model(names[1])
    shelf.adopt("own", own)
    held = store.get(loaded, TEXT)
    store.get(loaded, "Another sentence.")["encoder.layer.0.attention.self.probs"]
    lru.put("a", 1, 60)
    del other
    for cache in (store, shelf, lru):
        cache.clear()
    gc.collect()
    assert (lru.nbytes, len(lru), lru.get("a")) == (0, 0, None)
    assert store.nbytes == held.nbytes and store.get(loaded, TEXT) is held and store.runs == 2
    assert shelf.find(names[0]) is loaded and shelf.find(names[1]) is None and shelf.find("own") is own


def test_nothing_new_is_computed_nor_loaded_while_the_memory_is_full(tmp_path):
    gauge = Gauge(0)
    watch = Watch(100, gauge, lambda: None)
    store, shelf = bv.TraceStore(guard=watch.refuse_if_full), ModelShelf(guard=watch.refuse_if_full)
    names = [str(random_checkpoint(tmp_path / str(seed), seed=seed)) for seed in (1, 2)]
    model = shelf.get(names[0])
    kept = store.get(model, TEXT)
    gauge.percent = 96
    assert store.get(model, TEXT) is kept and shelf.get(names[0]) is model
    assert kept["encoder.layer.0.attention.self.probs"].any(), "what a stored pass holds is read on"
    for new in (
        lambda: store.get(model, "Another sentence."),
        lambda: store.get(model, TEXT, changes={"embeddings.sum[token=1]": 0.5}),
        lambda: store.turn().__enter__(),
        lambda: shelf.get(names[1]),
    ):
        with pytest.raises(bv.BusyError, match=FULL):
            new()
    gauge.percent = 50
    assert store.get(model, "Another sentence.").tokens and shelf.get(names[1]), "nothing of it is remembered"


# On the page.


@pytest.fixture
def gauge(monkeypatch):
    """The memory of the process as a test says it is, for all that a page shares."""
    shared = (resources.get_watch, resources.get_store, resources.get_shelf, resources.get_drawn)
    found = Gauge(0)
    for one in shared:
        one.clear()
    monkeypatch.setattr(resources, "Watch", lambda _: Watch(100, found, lambda: None))
    yield found
    for one in shared:
        one.clear()


def said(at):
    assert at.exception.len == 0, at.exception
    return [error.value for error in at.error]


def follow(text):
    """A visitor who follows a link."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    at.query_params["text"] = text
    return at.run()


def test_a_page_of_a_stored_sentence_goes_on_while_a_new_sentence_is_refused(gauge):
    first = follow(TEXT)
    assert said(first) == [] and first.session_state["view"].text == TEXT
    gauge.percent = 96
    assert said(first.run()) == []
    other = follow(TEXT)
    assert said(other) == [] and other.session_state["view"].trace is first.session_state["view"].trace
    new = follow("Nobody has typed this before.")
    assert len(said(new)) == 1 and FULL in said(new)[0] and "view" not in new.session_state
    gauge.percent = 10
    assert said(new.run()) == [] and new.session_state["view"].text == "Nobody has typed this before."


def test_a_visitor_for_whom_there_is_no_room_reads_so(monkeypatch, gauge):
    monkeypatch.setenv(SETTING, "1000")
    most = Budget(1000 * MB).bounds.visits
    here = SimpleNamespace(dismiss=lambda visitor, session: dismissed.append(session))
    dismissed = []
    here.list_admitted = lambda: ["some"] * (most + 1)
    monkeypatch.setattr(resources, "get_budget", lambda: here)
    at = follow(TEXT)
    assert any("tries again by itself" in caption.value for caption in at.caption)
    (sentence,) = said(at)
    assert sentence.startswith(f"{most} visitors at a time have room") and f"and {most + 1} are here" in sentence
    assert len(dismissed) == 1, "who is refused takes no room"
    here.list_admitted = lambda: ["some"] * most
    assert said(at.run()) == [] and at.session_state["view"].text == TEXT
    here.list_admitted = lambda: ["some"] * (most + 1)
    assert said(at.run()) == [], "who has a page goes on"


def test_one_address_does_not_take_the_room_of_all(monkeypatch, gauge):
    monkeypatch.setenv(SETTING, "1000")
    most = Budget(1000 * MB).bounds.visits
    here = SimpleNamespace(dismiss=lambda visitor, session: None)
    here.list_admitted = lambda: ["a stranger's"] * (most * 3 // 4) + ["mine"]
    monkeypatch.setattr(resources, "get_budget", lambda: here)
    monkeypatch.setattr(resources, "read_network", lambda session="": "192.0.2.7")
    with monkeypatch.context() as here_alone:
        here_alone.setattr(shell, "get_line", pytest.fail)  # who has no room does not stand in others' way
        (sentence,) = said(follow(TEXT))
    assert sentence.startswith(f"{most * 3 // 4} of the {most} visitors") and "from your address" in sentence
    monkeypatch.setattr(
        resources, "read_network", lambda session="": "192.0.2.7" if "stranger" in session else "198.51.100.1"
    )
    assert said(follow(TEXT)) == []
    monkeypatch.setattr(resources, "read_network", lambda session="": "")
    assert said(follow(TEXT)) == [], "nobody says where anybody comes from"
