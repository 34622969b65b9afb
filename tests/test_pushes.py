"""Which words a neuron pushes: those that move most where it is set to 0, by whole passes without it."""

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.pushes import push_each
from bertviz_core.formula.address import Address
from tests.factory import random_checkpoint

TEXT = "When in Rome, do as the [MASK] do."
NEURONS = Address("encoder.layer.2.intermediate.activation").fix(token=8)


def test_each_neuron_pushes_up_what_falls_most_without_it_and_down_what_rises_most(bundled, rome):
    cells = [NEURONS.fix(intermediate=i) for i in (572, 868)]
    here = rome["cls.predictions.probs[token=8]"].astype(np.float64)
    best = int(here.argmax())
    *_, (done, (found,)) = push_each([rome], Address("cls.predictions.probs").fix(token=8, vocab=best), cells)
    assert done == 1 and list(found) == cells
    for cell in cells:
        row = bv.run(bundled, TEXT, changes={str(cell): 0.0})["cls.predictions.probs[token=8]"].astype(np.float64)
        push, moved = found[cell], here - row
        assert push.without == pytest.approx(row[best], abs=1e-6)
        assert (push.up, push.down) == (moved.argmax(), moved.argmin()) and moved[push.up] > 0 > moved[push.down]
    assert found[cells[0]] != found[cells[1]]


def test_a_neuron_that_is_0_already_pushes_no_word(rome):
    cell = NEURONS.fix(intermediate=572)
    trace = rome.with_changes({cell: 0.0})
    answer = Address("cls.predictions.probs").fix(token=8, vocab=5)
    *_, (_, found) = push_each([rome, trace], answer, [cell])
    assert found[0][cell].up is not None and found[1][cell].up is found[1][cell].down is None


def test_of_an_answer_that_is_no_word_it_is_known_what_that_is_without_each(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, kind="sequence-classification", num_labels=4))
    trace = bv.run(model, "the cat sat")
    answer = Address("classifier.probs").fix(label=2)
    cell = Address("encoder.layer.1.intermediate.activation").fix(token=0, intermediate=3)
    *_, (_, (found,)) = push_each([trace], answer, [cell])
    plain = bv.run(model, "the cat sat", changes={str(cell): 0.0})["classifier.probs"][2]
    assert found[cell].without == pytest.approx(float(plain), abs=1e-6) and found[cell].up is None
