"""Head roles over many texts: means as NumPy takes them, arcs as counted by hand, and texts one at a time."""

import gc
import weakref
from itertools import pairwise

import numpy as np
import pytest

import bertviz_core as bv
from tests.factory import random_checkpoint

TEXTS = ("The cat sat.", "It did n't purr, said Ann.", "A dog!")
PROBS = "encoder.layer.{}.attention.self.probs"
WORDS = ["Unbelievably", ",", "don't", "cats", "purr"]
TEXT = "Unbelievably, don't cats purr"
ARCS = [(0, 2, "advmod"), (3, 4, "nsubj"), (2, 4, "aux"), (1, 2, "punct")]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return bv.load_model(random_checkpoint(tmp_path_factory.mktemp("roles")))


def weights(trace):
    return np.stack([trace[PROBS.format(i)] for i in range(trace.model.config.num_hidden_layers)]).astype(np.float64)


def test_means_are_those_of_each_text_and_then_of_all(model):
    traces = [bv.run(model, text, pad_to=16) for text in TEXTS]
    found = bv.roles(iter(traces))
    before, entropy = [], []
    for trace in traces:
        real = sum(trace.encoding.mask)
        shares = weights(trace)[..., :real, :real]
        before.append(np.diagonal(shares, -1, axis1=2, axis2=3).mean(-1))
        entropy.append(-(shares * np.log2(shares)).sum(-1).mean(-1))
    assert found.texts == 3
    np.testing.assert_allclose(found.numbers["previous"], np.mean(before, axis=0), rtol=1e-6)
    np.testing.assert_allclose(found.numbers["entropy"], np.mean(entropy, axis=0), rtol=1e-6)
    layer, head = found.best("previous")
    assert found.numbers["previous"][layer, head] == np.max(np.mean(before, axis=0)[:])


def test_a_statistic_is_the_mean_of_the_texts_that_have_it(model):
    """Only the second text has a comma; a name that no statistic has is refused."""
    alone = bv.roles(bv.run(model, TEXTS[1]))
    pair = bv.roles([bv.run(model, "The cat sat"), bv.run(model, TEXTS[1])])
    np.testing.assert_allclose(pair.numbers["punctuation"], alone.numbers["punctuation"])
    assert np.isnan(bv.roles(bv.run(model, "The cat sat")).numbers["punctuation"]).all()
    with pytest.raises(bv.InputError, match="There is no mean of 'loud'"):
        pair.best("loud")


def test_a_role_is_that_of_a_rule_over_the_means(model):
    trace = bv.run(model, "The cat sat.")
    put = np.eye(len(trace.tokens), k=-1)
    put[0, 0] = 1.0
    looks_back = trace.with_changes({PROBS.format(1) + "[head=1]": put})
    assert bv.roles([looks_back, looks_back]).of(1, 1) == ("previous token",)


def test_arcs_are_found_as_by_hand(model):
    trace = bv.run(model, TEXT)
    words = ["".join(piece.removeprefix("##") for piece in trace.tokens[1:-1])]
    assert words == ["unbelievably,don'tcatspurr"]  # no letter is lost
    starts = np.cumsum([0] + [len(word) for word in WORDS])
    letters = np.concatenate([[i] * len(t.removeprefix("##")) for i, t in enumerate(trace.tokens[1:-1], 1)])
    places = [sorted(set(letters[a:b])) for a, b in pairwise(starts)]
    found = bv.roles(trace, parses=[(WORDS, ARCS)]).labels
    shares = weights(trace)
    for dependent, head, label in ARCS:
        for layer, which in np.ndindex(shares.shape[:2]):
            joined = np.array([[shares[layer, which][np.ix_(a, b)].sum(1).mean() for b in places] for a in places])
            np.fill_diagonal(joined, -1)
            assert found[label].to_head[layer, which] == (joined[dependent].argmax() == head)
            assert found[label].to_dependent[layer, which] == (joined[:, dependent].argmax() == head)
    assert (found["aux"].offset, found["aux"].baseline, found["aux"].arcs) == (2, 1.0, 1)


def test_the_step_along_the_sentence_that_is_right_most_often_stands_beside(model):
    arcs = [(0, 1, "x"), (1, 2, "x"), (4, 2, "x")]
    found = bv.roles([bv.run(model, TEXT)] * 2, parses=[(WORDS, arcs)] * 2).labels["x"]
    assert (found.arcs, found.offset) == (6, 1) and found.baseline == pytest.approx(2 / 3)
    layer, head, share = found.best
    assert share == max(found.to_head.max(), found.to_dependent.max())
    assert share in (found.to_head[layer, head], found.to_dependent[layer, head])


def test_words_are_found_where_the_tokenizer_cuts_elsewhere(model):
    """`do` and `n't` lie in `don`, `'`, `t`; a word may be masked or unknown."""
    parse = ["I", "do", "n't", "[MASK]", "☃"], [(2, 1, "neg")]
    assert bv.roles(bv.run(model, "I don't [MASK] ☃"), parses=[parse]).labels["neg"].arcs == 1


@pytest.mark.parametrize(
    ("parse", "says"),
    [
        ((["Unbelievably", ","], []), "stands where the text has"),
        (([*WORDS, "loudly"], []), "'loudly' stands where the text has the end"),
        ((WORDS, [(0, 9, "x")]), "two of the words 0 to 4"),
        ((WORDS, [(0, 0, "x")]), "two of the words"),
        ((WORDS, [(0, 1)]), "dependent, head, label"),
        ((WORDS, "arcs"), "pair of words and arcs"),
        (5, "pair of words and arcs"),
        (([5], []), "must be texts"),
    ],
)
def test_a_parse_of_something_else_is_refused(model, parse, says):
    with pytest.raises(bv.BertvizError, match=says):
        bv.roles(bv.run(model, TEXT), parses=[parse])


def test_there_are_as_many_parses_as_texts(model):
    trace = bv.run(model, TEXT)
    for parses in ([], [([], [])] * 2):
        with pytest.raises(bv.InputError, match="Give one for each"):
            bv.roles(trace, parses=[(WORDS, []), *parses][1:] if not parses else [(WORDS, [])] * 2)


def test_traces_of_two_models_are_not_mixed(model, bundled):
    with pytest.raises(bv.InputError, match="must be of one model"):
        bv.roles([bv.run(model, "A dog!"), bv.run(bundled, "A dog!")])
    with pytest.raises(bv.InputError, match="no texts"):
        bv.roles([])


def test_one_trace_is_held_at_a_time(model):
    alive = []

    def traces():
        for text in TEXTS:
            gc.collect()
            assert sum(ref() is not None for ref in alive) <= 1
            trace = bv.run(model, text)
            alive.append(weakref.ref(trace))
            yield trace
            del trace

    assert bv.roles(traces()).texts == 3
