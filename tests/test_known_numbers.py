"""Numbers that others print for well-known checkpoints; skipped, with the reason, where these cannot be had."""

import threading
import urllib.request
from functools import lru_cache
from queue import Empty, Queue

import numpy as np
import pytest
from huggingface_hub import constants

import bertviz_core as bv
from bertviz_core.checkpoint import hub
from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.errors import CheckpointError

BASE, YELP = "google-bert/bert-base-uncased", "textattack/bert-base-uncased-yelp-polarity"
WAIT_S = 2.0  # for the hub to answer at all, its name's look-up included
PART = (slice(1, 4), slice(1, 4))


@lru_cache(maxsize=1)
def find_obstacle() -> str:
    """Why nothing can be downloaded here; empty where it can."""
    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    answers: Queue[str] = Queue()
    threading.Thread(target=lambda: answers.put(ask()), daemon=True).start()  # looking up a name heeds no time-out
    try:
        return answers.get(timeout=WAIT_S)
    except Empty:
        return f"{constants.ENDPOINT} does not answer within {WAIT_S:g} s"


def ask() -> str:
    try:
        with urllib.request.urlopen(constants.ENDPOINT, timeout=WAIT_S):
            return ""
    except OSError as error:
        return f"{constants.ENDPOINT} cannot be reached ({error})"


@lru_cache(maxsize=1)
def load(name: str) -> bv.Model:
    """The checkpoint from the local cache or the hub; the test is skipped where it is in neither."""
    if hub._find_cached(name, None) is None:
        if find_obstacle():
            pytest.skip(f"{name} is not in the local cache, and {find_obstacle()}.")
        try:
            hub.locate(name)
        except CheckpointError as error:
            pytest.skip(str(error))
    return bv.load_model(name)


def run_ids(model: bv.Model, ids: str, *, first: int | None = None, hidden: int = 0) -> bv.Trace:
    """A pass over token ids. first: how many belong to the first segment; hidden: how many at the start are masked."""
    numbers = tuple(map(int, ids.split()))
    count = len(numbers)
    return bv.run(
        model,
        Encoding(
            tokens=tuple(map(model.tokenizer.token, numbers)),
            ids=numbers,
            segments=tuple(int(first is not None and i >= first) for i in range(count)),
            mask=tuple(int(i >= hidden) for i in range(count)),
        ),
    )


def test_words_of_the_model_card():
    trace = bv.run(load(BASE), "Hello I'm a [MASK] model.")
    probs = trace[f"cls.predictions.probs[token={trace.tokens.index('[MASK]')}]"]
    printed = {"fashion": 0.1073, "role": 0.0877, "new": 0.0534, "super": 0.0467}
    best = [trace.model.tokenizer.token(int(i)) for i in np.argsort(-probs)[: len(printed)]]
    assert best == list(printed)
    np.testing.assert_allclose(sorted(probs)[: -len(printed) - 1 : -1], list(printed.values()), atol=5e-4)


def test_the_last_layer_behind_a_hidden_first_token():
    trace = run_ids(load(BASE), "0 345 232 328 740 140 1695 69 6078 1588 2", hidden=1)
    printed = [[0.4249, 0.1008, 0.7531], [0.3771, 0.1188, 0.7467], [0.4152, 0.1098, 0.7108]]
    np.testing.assert_allclose(trace["encoder.layer.11.output.LayerNorm"][PART], printed, atol=1e-4)


def test_the_language_models_scores():
    trace = run_ids(load(BASE), "101 1996 3007 1997 2605 2003 103 1012 102")
    printed = [[-14.7240, -14.2120, -14.6434], [-10.3125, -9.7459, -9.9923], [-15.1105, -14.8048, -14.9276]]
    np.testing.assert_allclose(trace["cls.predictions.decoder"][PART], printed, atol=1e-3)


def test_the_next_sentence():
    first = "101 1999 3304 10733 2003 2366 4895 14540 6610 2094 1012 102"
    second = "2059 1996 8013 20323 2009 2478 9292 1998 5442 1012 102"
    trace = run_ids(load(BASE), f"{first} {second}", first=12)
    np.testing.assert_allclose(trace["cls.seq_relationship"], [6.1459, -5.7820], atol=1e-3)


def test_the_classes_of_a_review():
    trace = run_ids(load(YELP), "101 7592 1010 2026 3899 2003 10140 2002 7317 4747 102")
    np.testing.assert_allclose(trace["classifier"], [-1.3199, 1.5447], atol=1e-3)


def test_ids_are_read_as_they_are_given(bundled):
    trace = run_ids(bundled, "101 2002 102 2016 102", first=3, hidden=1)
    assert trace.tokens == ["[CLS]", "he", "[SEP]", "she", "[SEP]"]
    assert trace.encoding.segments == (0, 0, 0, 1, 1) and trace.encoding.mask == (0, 1, 1, 1, 1)
    assert not trace["encoder.layer.0.attention.self.probs"][:, :, 0].any()
