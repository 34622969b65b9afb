"""Many texts: each trace as `run` gives it alone, few held at a time, in order, and what cannot be read is named."""

import weakref

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.programs import PROGRAMS
from bertviz_core.tracing import many
from tests.factory import random_checkpoint

TEXTS = ["The cat sat.", "A dog!", "Hi", "It didn't purr, said Ann, and then it slept.", "?", "Two words"] * 3
CLOSE = 1e-4  # of the largest number of a tensor: what the order of float32 sums may do


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("many")))


def gaps(here, there):
    """By address, how far two traces are apart, as a part of the largest number."""
    assert here.addresses == there.addresses and here.tokens == there.tokens and here.computed == there.computed
    for address in here:
        one, other = here[address].astype(np.float64), there[address].astype(np.float64)
        yield np.abs(one - other).max() / np.abs(other).max(initial=1e-30)


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_trace_is_that_of_its_text_alone(model, program):
    """At every address, of every program; texts of three tokens too, whose products are computed differently."""
    found = list(bv.run_many(model, TEXTS[:6], program=program))
    assert [len(trace.tokens) for trace in found][4] == 3
    for text, trace in zip(TEXTS[:6], found, strict=True):
        assert max(gaps(trace, bv.run(model, text, program=program))) < CLOSE


def test_in_float64_they_are_the_same_but_for_its_last_digits(tmp_path):
    precise = bv.load_model(random_checkpoint(tmp_path), dtype=torch.float64)
    for text, trace in zip(TEXTS, bv.run_many(precise, TEXTS), strict=True):
        assert max(gaps(trace, bv.run(precise, text))) < 1e-13


@pytest.mark.xdist_group("rome")
def test_of_the_bundled_model_no_number_differs_by_more_than_rounding(bundled):
    texts = ["When in Rome, do as the [MASK] do.", "The king walked to the river.", "She never saw the war."]
    for text, trace in zip(texts, bv.run_many(bundled, texts), strict=True):
        assert max(gaps(trace, bv.run(bundled, text))) < CLOSE


def test_pairs_encodings_and_changes_run_as_alone(model):
    encoding = bv.run(model, "A dog!", pad_to=9).encoding
    pair, padded = bv.run_many(model, [("The cat sat.", "A dog!"), encoding])
    assert max(gaps(pair, bv.run(model, "The cat sat.", "A dog!"))) < CLOSE
    assert padded.encoding is encoding and max(gaps(padded, bv.run(model, encoding))) < CLOSE
    changes = {"encoder.layer.1.attention.self.probs[head=0]": 0.0}
    alone = bv.run(model, "The cat sat.", "A dog!", changes=changes)
    assert max(gaps(pair.with_changes(changes), alone)) < CLOSE


def test_few_texts_are_read_ahead_and_few_traces_held(model, monkeypatch):
    monkeypatch.setattr(many, "AHEAD", 20)
    read, alive = [], []

    def texts():
        for text in TEXTS:
            read.append(text)
            yield text

    for trace in bv.run_many(model, texts()):
        alive.append(weakref.ref(trace))
        assert len(read) - len(alive) <= 6
        del trace
        assert not any(ref() for ref in alive)
    assert len(alive) == len(TEXTS)


def test_a_trace_holds_no_more_than_its_own_text(model):
    together = list(bv.run_many(model, TEXTS))
    assert [trace.nbytes for trace in together] == [bv.run(model, text).nbytes for text in TEXTS]


def test_a_text_that_cannot_be_read_is_named_after_those_before_it(model):
    traces = bv.run_many(model, ["The cat sat.", "A dog!", "", "Hi"])
    assert [len(next(traces).tokens), len(next(traces).tokens)] == [6, 6]
    with pytest.raises(bv.InputError, match="Text 2, counted from 0: The sentence is empty"):
        next(traces)
    for strange in ([None], [5], [["A", "b", "c"]], [("A dog!", 5)], [b"A dog!"]):
        with pytest.raises(bv.ArgumentError, match="Text 0"):
            list(bv.run_many(model, strange))


def test_no_text_gives_no_trace(model):
    assert list(bv.run_many(model, [])) == [] == list(bv.run_many(model, iter(())))


def test_progress_is_told(model, capsys):
    told = []
    list(bv.run_many(model, TEXTS[:3], progress=lambda done, total: told.append((done, total))))
    assert told == [(1, 3), (2, 3), (3, 3)]
    list(bv.run_many(model, iter(TEXTS[:2]), progress=True))
    assert capsys.readouterr().err.startswith("\r1 texts, ")
