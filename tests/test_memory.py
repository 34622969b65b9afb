"""One number for the memory of a process, and what follows from it; what of that is in use."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.checkpoint import hub
from bertviz_core.sharing import machine, memory
from bertviz_core.sharing.memory import BUNDLED, FIXED, SETTING, VISIT, Bounds, Budget, read_budget
from bertviz_core.ui.frame import resources
from deploy import __main__ as deploy_main
from deploy.machine import BESIDE_BYTES, PROCESS_BYTES, count_bytes, count_cores, count_processes, count_share
from tests.factory import random_checkpoint

ROOT = Path(__file__).parents[1]
TEXT = "The cat sat on the mat."
MB = 1_000_000
FULL = "memory is full"


# What follows from the number.


@pytest.mark.parametrize("megabytes", [900, 901, 1000, 1500, 2000, 4000, 6553, 12800, 100_000])
def test_all_bounds_together_are_at_most_the_number(megabytes):
    budget = Budget(megabytes * MB)
    assert all(part > 0 for part in vars(budget.bounds).values())
    assert FIXED + sum(vars(budget.bounds).values()) + budget.training <= budget.whole
    assert budget.bounds.models >= BUNDLED + 20 * MB and budget.bounds.passes_at_once >= 1


def test_the_bounds_use_what_there_is_and_grow_with_it():
    small, large = Budget(1000 * MB), Budget(1500 * MB)
    assert FIXED + small.bounds.total > 0.999 * small.server
    assert all(vars(large.bounds)[use] > part for use, part in vars(small.bounds).items())


def test_a_laptop_has_room_for_all_that_is_of_use():
    bounds = Budget(int(0.8 * 16e9)).bounds
    assert (bounds.models, bounds.traces, bounds.recomputed, bounds.drawn) == (4000 * MB, 1000 * MB, 500 * MB, 100 * MB)
    assert Budget(int(0.8 * 64e9)).bounds == bounds


@pytest.mark.parametrize(
    ("given", "says"), [("500", "but BERTVIZ_MEMORY_MB is 500"), ("", "but this machine or its container leaves 480")]
)
def test_too_little_memory_is_said(monkeypatch, given, says):
    monkeypatch.setenv(SETTING, given)
    monkeypatch.setattr(memory, "count_bytes", lambda: 600 * MB)
    with pytest.raises(bv.InputError, match=rf"at least 900 megabytes of memory, {says}"):
        read_budget()


def test_the_machine_and_the_containers_limit_of_either_kind_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1 << 20}.get)
    old, new = tmp_path / "memory" / "memory.limit_in_bytes", tmp_path / "memory.max"
    assert machine.count_bytes(tmp_path) == 4 << 30
    old.parent.mkdir()
    old.write_text("9223372036854771712\n")
    assert machine.count_bytes(tmp_path) == 4 << 30
    old.write_text("2000000000\n")
    assert machine.count_bytes(tmp_path) == 2_000_000_000
    new.write_text("max\n")
    assert machine.count_bytes(tmp_path) == 2_000_000_000
    new.write_text("1500000000\n")
    assert machine.count_bytes(tmp_path) == 1_500_000_000


def test_no_larger_model_is_loaded_than_there_is_room_for(monkeypatch):
    monkeypatch.delenv("BERTVIZ_MAX_MODEL_GB", raising=False)
    monkeypatch.setenv(SETTING, "1000")
    assert hub.read_limit() == Budget(1000 * MB).bounds.models < 0.2e9
    monkeypatch.setenv("BERTVIZ_MAX_MODEL_GB", "0.05")
    assert hub.read_limit() == 50 * MB
    monkeypatch.setenv(SETTING, "12800")
    monkeypatch.setenv("BERTVIZ_MAX_MODEL_GB", "9")
    assert hub.read_limit() == 4000 * MB


def test_what_all_sessions_share_is_bounded_by_the_number(monkeypatch, tmp_path):
    rest = dict.fromkeys(("files", "findings", "sessions", "passes"), 0)
    bounds = Bounds(models=10**9, traces=100_000, recomputed=50_000, drawn=30_000, **rest)
    monkeypatch.setattr(resources, "read_budget", lambda: SimpleNamespace(server=10**10, bounds=bounds))
    store, drawn = resources.get_store.__wrapped__(), resources.get_drawn.__wrapped__()
    model, held = bv.load_model(random_checkpoint(tmp_path)), []
    for number in range(50):
        trace = store.get(model, f"the cat sat on the mat{' mat' * number}")
        trace["encoder.layer.0.intermediate.activation"], trace["encoder.layer.0.attention.self.probs"]
        held.append(store.nbytes)
        drawn.put((number,), number, 2_000)
    assert 100_000 < max(held) <= 150_000
    assert 0 < drawn.nbytes <= 30_000


# Several processes of one machine.


def test_processes_are_as_many_as_cores_and_memory_carry(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 64 << 18}.get)
    assert (count_cores(tmp_path), count_bytes(tmp_path), count_processes(tmp_path)) == (8, 64 << 30, 8)
    (tmp_path / "cpu.max").write_text("250000 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert count_processes(tmp_path) == 3
    (tmp_path / "memory.max").write_text(f"{2 * PROCESS_BYTES + BESIDE_BYTES}\n")
    assert count_processes(tmp_path) == 2 and count_share(2, tmp_path) == PROCESS_BYTES
    (tmp_path / "memory.max").write_text("1000000\n")
    assert count_processes(tmp_path) == 1 and count_share(1, tmp_path) == 0


def test_a_container_that_is_too_small_is_said_at_the_start(monkeypatch, capsys):
    monkeypatch.delenv(SETTING, raising=False)
    monkeypatch.setattr(sys, "argv", ["deploy", "--processes=2"])
    monkeypatch.setattr(deploy_main, "NEEDED", {})
    monkeypatch.setattr(deploy_main, "count_share", lambda processes: machine.LEAST - processes)
    with pytest.raises(SystemExit):
        deploy_main.main()
    assert "has too little memory for 2 of the app's processes: each takes at least 900 MB" in capsys.readouterr().err


# The process's memory, as it is.


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_what_is_in_use_is_what_this_process_has_taken_and_is_given_back():
    machine.give_back()  # what other tests left free would be taken first
    before = machine.read_used()
    taken = np.ones(30 * MB, dtype=np.uint8)
    assert 29 * MB < machine.read_used() - before < 60 * MB
    shared = taken.nbytes
    del taken
    machine.give_back()
    assert machine.read_used() - before < shared / 2
    assert machine.read_used(Path("/no/such/file")) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_what_shares_no_file_with_others_counts_and_a_mapped_file_does_not(tmp_path):
    status = tmp_path / "status"
    status.write_text("VmRSS:\t 900 kB\nRssAnon:\t  100 kB\nRssFile:\t 777 kB\nRssShmem:\t   23 kB\nThreads:\t4\n\n")
    assert machine.read_used(status) == 123 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_freed_tensors_go_back_to_the_machine_by_themselves():
    """As it comes, glibc keeps them once a large one was freed; what is measured is the difference of the two."""
    script = """
import runpy, sys, numpy as np
machine = runpy.run_path(sys.argv[1])
read_used = machine["read_used"]
if sys.argv[2] == "settled": machine["settle_allocator"]()
del_large = np.ones(20_000_000, dtype=np.uint8); del del_large
held = [np.ones(2_000_000, dtype=np.uint8) for _ in range(50)]
before = read_used(); del held[:-1]; print(before - read_used())
"""
    freed = {}
    for how in ("settled", "as it comes"):
        command = [sys.executable, "-c", script, machine.__file__, how]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        freed[how] = int(done.stdout)
    assert freed["settled"] > 90 * MB > 50 * MB > freed["as it comes"]


@pytest.mark.parametrize(
    ("soft", "hard", "asked"),
    [(1024, 4096, 4096), (1024, -1, 65_536), (1024, 10**6, 65_536), (4096, 4096, None), (-1, -1, None),
     (80_000, -1, None)],
)  # fmt: skip
def test_as_many_files_are_open_as_are_allowed(monkeypatch, soft, hard, asked):
    limits, said = [soft, hard], []
    monkeypatch.setattr(machine.resource, "getrlimit", lambda _: tuple(limits))
    monkeypatch.setattr(machine.resource, "setrlimit", lambda _, pair: said.append(pair))
    assert machine.count_files() == (65_536 if soft < 0 else soft)
    machine.ask_for_files()
    assert said == ([] if asked is None else [(asked, hard)])


def test_no_more_visitors_are_let_in_than_files_can_be_open(monkeypatch):
    bounds = Budget(2000 * MB).bounds
    assert bounds.visits == bounds.sessions // VISIT > 100
    monkeypatch.setattr(memory, "count_files", lambda: 1024)
    assert bounds.visits == 102
