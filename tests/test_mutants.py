"""The list of planted mistakes is fresh: each can be planted, and is a mistake."""

import ast

import pytest

from benchmarks.mutants import CORE, MUTANTS, ROOT, find_fault

ROOMS = ("analysis/", "formula/", "tracing/")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.what}")
def test_a_mistake_can_be_planted(mutant):
    assert find_fault(mutant) == ""
    assert mutant.old != mutant.new and mutant.what and mutant.tests
    ast.parse((ROOT / CORE / mutant.file).read_text(encoding="utf-8").replace(mutant.old, mutant.new))


def test_there_are_many_and_no_two_alike():
    assert len(MUTANTS) >= 60 and len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)
    assert all(any(mutant.file.startswith(room) for mutant in MUTANTS) for room in ROOMS)
