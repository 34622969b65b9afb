"""What is worked out once and shared is, at every place asked for in any order, what NumPy gets from the tensors."""

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.alignment import guess_words
from bertviz_core.analysis.layers import Lens, list_stages
from bertviz_core.analysis.predictions import PROBS, rank_words
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.checkpoint.tokenizer import load_tokenizer

TEXT = "the cat sat on the [MASK]"
HEAD = {"encoder.layer.1.attention.self.probs[head=2]": 0.0}
PLACES = [(2, 3), (5, 3), (2, 7), (5, 1), (2, 3)]  # tokens and how many words; the first is asked for again


@pytest.fixture(scope="module")
def traces(bundled):
    """A pass, one with a change, one of another sentence, one as a document describes it."""
    return [
        bv.run(bundled, TEXT),
        bv.run(bundled, TEXT, changes=HEAD),
        bv.run(bundled, "a dog [MASK] in the sun"),
        bv.run(bundled, TEXT, program="definition"),
    ]


ASKED = [
    ("a cat",),
    ("a dog",),
    ("a cat", "a dog"),
    ("a dog", "a cat"),
    ("a cat", None, 9),
    ("a cat", None, 12),
    ("a cat", "a dog", 12),
]


def test_an_input_is_encoded_as_a_tokenizer_does_that_has_read_nothing_else(bundled):
    fresh = {asked: load_tokenizer(BUNDLED_FOLDER, bundled.config.vocab_size).encode(*asked) for asked in ASKED}
    assert len(set(fresh.values())) == len(ASKED)
    for asked in [*ASKED, *reversed(ASKED)]:
        assert bundled.tokenizer.encode(*asked) == fresh[asked], asked


def rank(values, k):
    return np.argsort(-values, kind="stable")[:k].tolist()


def test_words_are_ranked_at_each_token_of_each_pass(traces):
    for token, k in PLACES:
        for trace in traces:
            if PROBS in trace:
                probs = trace[PROBS][token]
                expected = [(trace.model.tokenizer.token(i), float(probs[i]), i) for i in rank(probs, k)]
                assert list(rank_words(trace, token, k)) == expected, (token, k)


def test_words_are_guessed_at_each_token_of_each_pass(traces):
    first = [[guess.id for guess in guess_words(trace, token, k)] for token, k in PLACES for trace in traces]
    for (token, k), found in zip(PLACES, zip(*[iter(first)] * len(traces), strict=True), strict=True):
        assert [len(ids) for ids in found] == [k] * len(traces)
        for trace, ids in zip(traces, found, strict=True):
            if PROBS in trace:
                assert ids == rank(trace[PROBS][token], k), (token, k)
    assert len({tuple(ids) for ids in first}) >= 10  # of 20 places, four of which are asked for twice


def test_the_lens_is_read_at_each_token_of_each_pass(traces):
    for token, k in PLACES:
        for trace in traces[:3]:
            lens = Lens(trace, token)
            np.testing.assert_allclose(lens.probs[-1], trace[PROBS][token], rtol=0, atol=1e-6)
            assert [list(row) for row in lens.list_best(k)] == [rank(row, k) for row in lens.probs]
            assert not lens.probs.flags.writeable and len(lens.probs) == len(list_stages(trace))
            word = lens.list_best(k)[0][-1]
            assert lens.ranks(word).tolist() == [int((row > row[word]).sum()) + 1 for row in lens.probs]
