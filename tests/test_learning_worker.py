"""The process that trains: nobody waits for it, it keeps to its memory, and it goes when nobody needs it any more."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.learning import Host, Hosted, Queue, Settings, Standing, Training, make_small_model, presence
from bertviz_core.learning import host as host_module
from bertviz_core.learning.link import Link, start_process
from bertviz_core.learning.wire import Wire
from tests.learning import SENTENCES, take_steps

WAIT_S = 120.0  # for what comes soon; the processes are at the lowest priority of a machine that may be busy
LONG = "the cat sat on a mat and saw many dogs " * 40
ROOT = Path(__file__).parents[1]


def wait_until(holds):
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def lives(pid):
    """Whether a process is there and at work, and no zombie."""
    with suppress(OSError):
        return not re.search(r"^State:\s+Z", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"), re.MULTILINE)
    return False


def read_sockets(pid):
    folder = Path(f"/proc/{pid}/fd")
    return [link for file in folder.iterdir() if (link := str(file.readlink())).startswith("socket")]


@contextmanager
def stopped(pid):
    """A process that does nothing, as one in the middle of a step that never ends."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


class Clock:
    """The time, and what is added to it."""

    def __init__(self):
        self.more = 0.0

    def __call__(self):
        return time.monotonic() + self.more


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def paused():
    """How often somebody who waited gave a turn back."""
    return []


@pytest.fixture
def host(clock, paused, monkeypatch):
    monkeypatch.setattr(host_module, "TEND_S", 0.1)
    monkeypatch.setattr(host_module, "IDLE_S", 0.1)

    @contextmanager
    def wait():
        paused.append(True)
        yield

    host = Host(wait, clock=clock)
    yield host
    if host.pid:
        host._link.end()


def test_in_a_small_training_the_process_does_what_this_one_does(bundled, host):
    settings = Settings(passes=3, practised=True)
    small = make_small_model(bundled, SENTENCES)
    hosted = Hosted(host, small, SENTENCES, settings)
    ticket = Queue(host).submit("a", hosted, lambda: True)
    with pytest.raises(bv.TrainingError, match="has not been taken"):
        hosted.explain("J")
    ticket.resume()
    wait_until(lambda: ticket.standing is Standing.DONE)
    alone = take_steps(Training(small, SENTENCES, settings), 9)
    assert [record.loss for record in ticket.records] == [record.loss for record in alone.records]
    assert ticket.passes == alone.passes and hosted.finished
    largest = hosted.largest_gradient(5)
    assert largest == alone.largest_gradient(5)
    assert hosted.explain(largest, 5) == alone.explain(largest, 5)
    for ours, theirs in zip(hosted.curve_along(largest, 5), alone.curve_along(largest, 5), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    lengths = hosted.gradient_lengths(9)
    assert np.hypot.reduce(list(lengths.values())) == pytest.approx(alone.record().gradient_norm)
    assert_looks(hosted, alone)
    pid = host.pid
    assert os.getpriority(os.PRIO_PROCESS, pid) == 19 and read_sockets(pid) == []
    ticket.reset()
    wait_until(lambda: not lives(pid))  # it holds nothing any more
    assert ticket.records == () and host.pid is None


def assert_looks(hosted, alone):
    """What is read off passes, against passes here."""
    model, mine = hosted.fetch_model(), alone.model
    assert (model.name, model.revision) == (mine.name, mine.revision)
    traces = [bv.run(one, SENTENCES[1]) for one in (model, mine)]
    np.testing.assert_array_equal(*(trace["cls.predictions.decoder"] for trace in traces))
    for ranked, one in zip(hosted.rank_words(1, 2, 3), (alone.before, mine), strict=True):
        probs = bv.run(one, SENTENCES[0], masked=[2])["cls.predictions.probs[token=2]"]
        words = [(one.tokenizer.token(int(i)), pytest.approx(float(probs[i]))) for i in np.argsort(-probs)[:3]]
        assert list(ranked) == words
    found = hosted.find_moved_head()
    before, now = (bv.run(one, SENTENCES[0]) for one in (alone.before, mine))
    changes = [np.abs(now[name] - before[name]).max() for name in before.addresses if name.endswith("self.probs")]
    assert found.moved == pytest.approx(max(changes)) == pytest.approx(np.abs(found.now - found.before).max())


@pytest.mark.slow
def test_nobody_waits_for_a_step_that_does_not_end_and_its_process_is_killed(bundled, host, clock, paused, monkeypatch):
    queue = Queue(host, clock)
    there = [True]
    long = queue.submit("a", Hosted(host, bundled, [LONG], Settings(passes=2)), lambda: there[0])
    long.resume()
    wait_until(lambda: long.training.asked > 0)  # in the middle of its first step
    first = host.pid
    monkeypatch.setattr(host_module, "ASK_S", 0.2)
    with stopped(first):
        assert_nobody_waits(queue, bundled, long)
        with pytest.raises(bv.TrainingError, match="did not come in time"):
            long.training._fetch("weights")
        assert paused == [True]
        there[0] = False
        clock.more += presence.GONE_S + 1
        wait_until(lambda: long.standing is Standing.FAILED)
        assert "Nobody looked on" in long.error and lives(first)
        time.sleep(2 * host_module.TEND_S)  # it was told to drop it, and does not
        clock.more += host_module.GRACE_S
        wait_until(lambda: not lives(first))
    there[0] = True
    assert_starts_again(host, long, first)


def assert_nobody_waits(queue, bundled, long):
    done = []

    def visit():
        small = make_small_model(bundled, SENTENCES)
        ticket = queue.submit("b", Hosted(queue.host, small, SENTENCES), lambda: True)
        ticket.resume()
        done.append((ticket.standing, ticket.place, ticket.records, long.standing, long.place, long.passes))
        ticket.stop()
        ticket.reset()

    visitor = threading.Thread(target=visit, daemon=True)
    visitor.start()
    visitor.join(WAIT_S)
    assert done == [(Standing.WAITING, 1, (), Standing.RUNNING, 0, ())]


def assert_starts_again(host, ticket, first):
    """After its process has gone, and once more after that was killed in a step."""
    ticket.resume()
    assert (ticket.error, ticket.records) == ("", ())
    wait_until(lambda: ticket.training.asked > 0)
    second = host.pid
    assert second not in (first, None)
    os.kill(second, signal.SIGKILL)
    wait_until(lambda: ticket.standing is Standing.FAILED)
    assert "The process that trains has ended" in ticket.error and ticket.lost
    with pytest.raises(bv.TrainingError, match="has ended"):
        ticket.training._fetch("weights")
    wait_until(lambda: ticket.place is None)


@pytest.mark.slow
@pytest.mark.rare
def test_a_step_that_takes_more_than_its_memory_fails_with_a_sentence(bundled):
    """The limit is the system's; the process that is held to it has no estimate that would refuse the training."""
    host = Host(start=lambda: Link(lambda: start_process(500_000_000)))
    ticket = Queue(host).submit("a", Hosted(host, bundled, SENTENCES[:1], Settings(passes=1)), lambda: True)
    ticket.step()
    wait_until(lambda: ticket.standing is Standing.FAILED)
    assert re.search(r"more memory than trainings may take here, 500 MB\. Shorten", ticket.error)
    assert not ticket.lost and lives(host.pid)
    host._link.end()


@pytest.mark.rare
def test_it_ends_with_the_process_that_started_it():
    script = (
        "import time; from subprocess import *; import sys;"
        "p = Popen([sys.executable, '-m', 'bertviz_core.learning.worker', '4000000000'], stdin=PIPE, stdout=PIPE);"
        "print(p.pid, flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, text=True)
    with parent:
        worker = int(parent.stdout.readline())
        wait_until(lambda: os.getpriority(os.PRIO_PROCESS, worker) == 19)  # it has begun
        parent.kill()
    wait_until(lambda: not lives(worker))


def test_a_pipe_that_was_closed_here_is_one_that_nobody_reads():
    (unread, _), (_, pipe) = os.pipe(), os.pipe()
    with os.fdopen(unread, "rb") as reader, os.fdopen(pipe, "wb") as writer:
        wire = Wire(reader, writer)
        wire.send("to be closed")
        writer.close()
        with pytest.raises(OSError, match="closed"):
            wire.send("too late")
