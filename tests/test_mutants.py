"""The list of planted mistakes is fresh: each can be planted, and is a mistake that its language can read."""

import ast
import json

from benchmarks.mutants import MUTANTS, ROOT, find_fault, plant
from tests.scripts import run_node

ROOMS = (
    "analysis/",
    "checkpoint/",
    "documents/",
    "export/",
    "formula/",
    "learning/",
    "tracing/",
    "ui/components/",
    "ui/frame/",
    "ui/panels/",
    "ui/views/",
    "ui/walk/",
)
_READ = "new (await import('node:vm')).SourceTextModule(source)"  # reads a module and runs nothing of it


def find_python_fault(mutant):
    try:
        ast.parse(plant(mutant, ROOT))
    except SyntaxError as error:
        return f"is no Python: {error}"
    return ""


def test_every_mistake_can_be_planted_and_is_one():
    faults = {f"{mutant.file}, {mutant.what}": find_fault(mutant) for mutant in MUTANTS}
    assert {name: fault for name, fault in faults.items() if fault} == {}


def test_what_is_planted_can_be_read():
    sound = [mutant for mutant in MUTANTS if not find_fault(mutant)]
    python = {mutant.what: find_python_fault(mutant) for mutant in sound if mutant.file.endswith(".py")}
    assert {name: fault for name, fault in python.items() if fault} == {}
    scripts = [plant(mutant, ROOT) for mutant in sound if mutant.file.endswith(".js")]
    script = "".join(f"{{ const source = {json.dumps(text)}; {_READ}; }}\n" for text in scripts)
    assert run_node(f"{script}console.log('read')", "--experimental-vm-modules").strip() == "read"


def test_there_are_many_in_every_room_and_no_two_alike():
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS) >= 180
    assert [room for room in ROOMS if not any(mutant.file.startswith(room) for mutant in MUTANTS)] == []
