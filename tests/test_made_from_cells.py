"""The way forward: which number of a step is made from a number, checked against the step's own operands."""

import random

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.made_from import count_made, find_made
from bertviz_core.formula.address import Address, read_address
from bertviz_core.programs import PROGRAMS
from tests.test_explain import random_cell

LAYER = "encoder.layer.2"
SELF = f"{LAYER}.attention.self"


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_made_from_a_number_has_it_among_its_operands(bundled, program):
    trace = bv.run(bundled, "When in Rome, do as the [MASK] do.", program=program)
    chance, found = random.Random(3), 0
    for path in trace.addresses:
        if ".layer." in path and ".layer.2." not in path:
            continue
        cell = read_address(random_cell(trace, path, chance))
        for step in trace.program.readers.get(path, ()):
            made = find_made(trace, cell, step.address)
            if made is not None:
                assert str(cell) in dict(trace.explain(made).operands), (str(cell), str(made))
                found += 1
    assert found > 20


@pytest.mark.parametrize(("cell", "path", "axis"), [
    (f"{SELF}.query[head=3,query=8,head_dim=7]", f"{SELF}.products", "key"),
    (f"{SELF}.key[head=3,key=5,head_dim=7]", f"{SELF}.products", "query"),
    (f"{SELF}.value[head=3,key=5,head_dim=7]", f"{SELF}.context", "token"),
    (f"{SELF}.context[token=8,concat=103]", f"{LAYER}.attention.output.dense", "hidden"),
    (f"{LAYER}.intermediate.activation[token=8,intermediate=572]", f"{LAYER}.output.dense", "hidden"),
    ("cls.predictions.decoder[token=8,vocab=2111]", "cls.predictions.probs", ""),
])  # fmt: skip
def test_of_several_the_one_largest_in_size_is_found(rome, cell, path, axis):
    where = read_address(cell)
    made = find_made(rome, where, path)
    assert made is not None
    if axis:
        row = np.abs(rome[made.without(axis)])
        assert made.at[axis] == row.argmax() and count_made(rome, where, path) == len(row)
    else:
        assert count_made(rome, where, path) == 1


def test_an_attention_weight_goes_into_the_numbers_of_its_own_head(rome):
    weight = Address(f"{SELF}.probs").fix(head=3, query=8, key=5)
    assert count_made(rome, weight, f"{SELF}.context") == 32
    row = np.abs(rome[f"{SELF}.context[token=8]"])[96:128]
    assert find_made(rome, weight, f"{SELF}.context").at == {"token": 8, "concat": 96 + row.argmax()}


def test_a_weight_of_another_column_makes_nothing_of_it(rome):
    assert find_made(rome, Address(f"{SELF}.query.weight").fix(hidden=3, concat=40), f"{SELF}.query") is not None
    assert find_made(rome, Address("input_ids").fix(token=3), "embeddings.word_embeddings").at["token"] == 3
