"""What heads do, in numbers: against loops in plain Python, on known patterns, and over whole traces."""

import math

import numpy as np
import pytest
from transformers import BertTokenizer

import bertviz_core as bv
from bertviz_core.analysis.heads import (
    ROLES,
    STATISTICS,
    Sentence,
    compute_by_query,
    compute_statistics,
    find_roles,
    pool_blocks,
    summarize,
)
from bertviz_core.analysis.token_lines import choose_links, choose_strongest, combine_heads
from tests.factory import random_checkpoint

TOKENS = ("[CLS]", "the", "play", "##ing", ",", "the", "[SEP]", "!?", "[SEP]")
SPECIAL = frozenset({"[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]"})
CLS, SEP = "[CLS]", "[SEP]"
SENTENCE = Sentence(TOKENS, SPECIAL, cls=CLS, sep=SEP)
N = len(TOKENS)


def random_shares(heads=3, size=N):
    powers = np.exp(2 * np.random.default_rng(0).standard_normal((heads, size, size)))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)


def pattern(targets):
    """One head that looks at one token a query."""
    return np.eye(N, dtype=np.float32)[list(targets)][None]


def looked_at(rows, wanted):
    """The mean over the queries of what falls on their wanted keys; queries that want nothing are left out."""
    sums = [sum(float(row[k]) for k in keys) for row, keys in zip(rows, wanted, strict=True) if keys]
    return sum(sums) / len(sums)


SAME = [[], [5], [3], [2], [], [1], [], [], []]  # the other piece of a word, and the same word elsewhere
EXPECTED = {
    "previous": lambda rows: looked_at(rows, [[q - 1] if q else [] for q in range(N)]),
    "next": lambda rows: looked_at(rows, [[q + 1] if q + 1 < N else [] for q in range(N)]),
    "self": lambda rows: looked_at(rows, [[q] for q in range(N)]),
    "cls": lambda rows: looked_at(rows, [[0]] * N),
    "sep": lambda rows: looked_at(rows, [[6, 8]] * N),
    "punctuation": lambda rows: looked_at(rows, [[4, 7]] * N),
    "same_word": lambda rows: looked_at(rows, SAME),
    "entropy": lambda rows: -sum(float(a) * math.log2(a) for row in rows for a in row) / N,
    "evenness": lambda rows: -sum(float(a) * math.log(a) for row in rows for a in row) / N / math.log(N),
    "distance": lambda rows: sum(float(rows[q][k]) * abs(q - k) for q in range(N) for k in range(N)) / N,
}


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_against_loops(name):
    shares = random_shares()
    numbers = compute_statistics(shares, SENTENCE)
    assert [name for name in numbers if name != "any"] == list(EXPECTED)
    np.testing.assert_allclose(numbers[name], [EXPECTED[name](rows) for rows in shares], rtol=1e-12)


def test_what_a_sentence_does_not_have_cannot_be_measured():
    numbers = compute_statistics(random_shares(size=3), Sentence(("[CLS]", "the", "[SEP]"), SPECIAL, cls=CLS, sep=SEP))
    assert {name for name, values in numbers.items() if np.isnan(values).any()} == {"punctuation", "same_word"}
    numbers = compute_statistics(random_shares(size=1), Sentence(("the",), SPECIAL))
    assert numbers["entropy"] == pytest.approx([0, 0, 0])
    assert np.isnan(numbers["evenness"]).all() and np.isnan(numbers["previous"]).all()


def test_one_token_has_no_entropy_and_even_attention_has_all():
    one, even = pattern([0] * N), np.full((1, N, N), 1 / N, dtype=np.float32)
    assert compute_statistics(one, SENTENCE)["entropy"][0] == 0
    numbers = compute_statistics(even, SENTENCE)
    assert numbers["entropy"][0] == pytest.approx(math.log2(N), abs=1e-6)
    assert numbers["evenness"][0] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "targets"),
    [
        ("previous token", [0, *range(N - 1)]),
        ("next token", [*range(1, N), 0]),
        ("itself", range(N)),
        ("[CLS]", [0] * N),
        ("[SEP]", [6, 8] * 4 + [6]),
        ("punctuation", [4, 7] * 4 + [4]),
        ("same word", [0, 5, 3, 2, 0, 1, 0, 0, 0]),
    ],
)
def test_a_pattern_has_its_role(name, targets):
    numbers = {key: float(value[0]) for key, value in compute_statistics(pattern(targets), SENTENCE).items()}
    assert name in [role.name for role in find_roles(numbers)]


def test_the_tokens_around_a_text_are_those_of_the_tokenizer(tmp_path):
    """A checkpoint may call them otherwise."""
    folder = random_checkpoint(tmp_path / "named")
    BertTokenizer(vocab=str(folder / "vocab.txt"), cls_token="rome", sep_token="mat").save_pretrained(folder)
    trace = bv.run(bv.load_model(folder), "the cat")
    assert trace.tokens == ["rome", "the", "cat", "mat"]
    probs, numbers = trace["encoder.layer.1.attention.self.probs"], summarize(trace, 32).numbers
    for name, key in (("cls", 0), ("sep", 3)):
        np.testing.assert_allclose(numbers[name][1], probs[:, :, key].mean(axis=1), rtol=1e-5)


def test_a_rule_holds_above_its_threshold_and_not_at_it():
    for role in ROLES:
        numbers = {**dict.fromkeys(STATISTICS, math.nan), "distance": 1.0}
        for value, holds in ((math.nan, False), (role.above, False), (math.nextafter(role.above, 1), True)):
            assert (role in find_roles({**numbers, role.statistic.name: value})) == holds
        assert role.statistic.meaning in role.rule and str(role.above) in role.rule


def test_pooling_keeps_rows_together_one():
    shares = random_shares(heads=2, size=7)
    small = pool_blocks(shares, 3)  # blocks of 2, 2 and 3 tokens
    for head, i, j in np.ndindex(2, 3, 3):
        queries, keys = ([(0, 1), (2, 3), (4, 5, 6)][block] for block in (i, j))
        block = [float(shares[head, q, k]) for q in queries for k in keys]
        assert small[head, i, j] == pytest.approx(sum(block) / len(queries))
    np.testing.assert_allclose(small.sum(axis=-1), 1, atol=1e-6)
    assert pool_blocks(shares, 7) is shares


def test_a_summary_holds_all_heads_of_all_layers(rome):
    told = []
    whole = summarize(rome, 32, told.append)
    config = rome.model.config
    assert told == list(range(config.num_hidden_layers))
    assert whole.tokens == len(rome.tokens)
    assert whole.pictures.shape == (config.num_hidden_layers, config.num_attention_heads, 12, 12)
    probs = rome["encoder.layer.4.attention.self.probs[head=7]"]
    assert np.abs(whole.pictures[4, 7] / 255 - probs).max() <= 0.5 / 255 + 1e-6
    alone = compute_statistics(
        probs[None], Sentence(rome.tokens, rome.model.tokenizer.special_tokens, cls=CLS, sep=SEP)
    )
    assert whole.of(4, 7) == pytest.approx({name: float(value[0]) for name, value in alone.items()})


@pytest.mark.parametrize(("put", "drawn"), [(1.5, 255), (1e30, 255), (0.2, 51), (-1.0, 0)])
def test_weights_that_are_no_shares_are_drawn_as_the_nearest_share(rome, put, drawn):
    """A change can put any number in place of a weight."""
    changed = rome.with_changes({"encoder.layer.4.attention.self.probs[head=7,query=3,key=5]": put})
    assert summarize(changed, 32).pictures[4, 7, 3, 5] == drawn


def test_the_terms_of_a_statistic_have_it_as_their_mean(rome):
    numbers = summarize(rome, 32).of(2, 11)
    for name, statistic in STATISTICS.items():
        assert compute_by_query(rome, 2, 11, statistic).mean() == pytest.approx(numbers[name])


def test_what_is_masked_out_inside_a_sentence_leaves_its_place_empty(bundled):
    trace = bv.run(bundled, "the playing cat the playing", changes={"attention_mask[token=2]": 0})
    assert trace.tokens == ["[CLS]", "the", "playing", "cat", "the", "playing", "[SEP]"]
    real, probs = [0, 1, 3, 4, 5, 6], trace["encoder.layer.3.attention.self.probs[head=3]"].astype(np.float64)
    found = summarize(trace, 32).of(3, 3)
    for name, step in (("previous", -1), ("next", 1)):
        assert found[name] == pytest.approx(np.mean([probs[q, q + step] for q in real if q + step in real]))
    assert found["distance"] == pytest.approx(np.mean([sum(probs[q, k] * abs(q - k) for k in real) for q in real]))
    assert found["same_word"] == pytest.approx((probs[1, 4] + probs[4, 1]) / 2)


def test_pieces_whose_beginning_is_masked_out_belong_to_no_other_word():
    sentence = Sentence(("cat", "play", "##ing", "##s", "cat"), SPECIAL, (0, 2, 3, 4))
    assert np.argwhere(sentence.same_word).tolist() == [[0, 3], [1, 2], [2, 1], [3, 0]]


def test_padding_changes_no_statistic(bundled):
    plain, padded = (summarize(bv.run(bundled, "She opened the door.", pad_to=size), 32) for size in (None, 12))
    assert plain.tokens == padded.tokens < 12
    for name, values in plain.numbers.items():
        np.testing.assert_allclose(values, padded.numbers[name], atol=1e-6)


def test_heads_together():
    shares = random_shares()
    assert np.array_equal(combine_heads(shares, "head", 1), shares[1])
    for q, k in np.ndindex(N, N):
        three = [float(shares[head, q, k]) for head in range(3)]
        assert combine_heads(shares, "mean", 1)[q, k] == pytest.approx(sum(three) / 3)
        assert combine_heads(shares, "max", 1)[q, k] == max(three)


WEIGHTS = np.arange(36, dtype=np.float64).reshape(6, 6)
SEGMENTS = (0, 0, 0, 1, 1, 1)
NONE = [False] * 6


@pytest.mark.parametrize(
    ("between", "queries", "keys"),
    [("all", range(6), range(6)), ("AA", range(3), range(3)), ("AB", range(3), range(3, 6)),
     ("BA", range(3, 6), range(3)), ("BB", range(3, 6), range(3, 6))],
)  # fmt: skip
def test_links_between_two_sentences(between, queries, keys):
    shown = choose_links(WEIGHTS, SEGMENTS, NONE, between, 0, 64)
    assert (shown.queries, shown.keys) == (list(queries), list(keys))
    assert shown.weights.tolist() == [[6 * q + k for k in keys] for q in queries]
    assert shown.hidden.tolist() == [sum(6 * q + k for k in range(6) if k not in keys) for q in queries]


def test_hidden_tokens_are_left_out_on_both_sides():
    shown = choose_links(WEIGHTS, SEGMENTS, [True, False, True, False, False, True], "all", 3, 64)
    assert shown.queries == shown.keys == [1, 3, 4]
    assert shown.hidden.tolist() == [sum(6 * q + k for k in (0, 2, 5)) for q in (1, 3, 4)]


@pytest.mark.parametrize(("center", "expected"), [(0, [0, 1]), (3, [2, 3]), (5, [4, 5])])
def test_of_many_tokens_those_around_one_are_shown(center, expected):
    shown = choose_links(WEIGHTS, SEGMENTS, NONE, "all", center, 2)
    assert shown.queries == shown.keys == expected
    assert shown.weights.tolist() == [[6 * q + k for k in expected] for q in expected]


def test_a_window_of_the_other_sentence_begins_where_it_is_nearest():
    shown = choose_links(WEIGHTS, SEGMENTS, NONE, "AB", 5, 2)
    assert (shown.queries, shown.keys) == ([1, 2], [4, 5])


def test_nothing_may_be_left():
    assert not choose_links(WEIGHTS, SEGMENTS, [True] * 6, "all", 0, 64).weights.size
    assert not choose_links(WEIGHTS, (0,) * 6, NONE, "AB", 0, 64).weights.size


def test_of_each_query_the_strongest_links_are_kept():
    weights = np.array([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1], [0.3, 0.3, 0.4]])
    shown = choose_strongest(weights, [False] * 3, 1, 3, 1)
    assert (shown.queries, shown.keys) == ([0, 1, 2], [0, 2])
    np.testing.assert_array_equal(shown.weights, [[np.nan, 0.7], [0.5, np.nan], [np.nan, 0.4]])
    assert shown.hidden == pytest.approx([0.3, 0.5, 0.6])


def test_the_strongest_keys_of_the_query_in_the_centre_come_first():
    weights = np.array([[0.9, 0.0, 0.1, 0.0], [0.0, 0.2, 0.0, 0.8], [0.2, 0.1, 0.5, 0.2], [1.0, 0.0, 0.0, 0.0]])
    shown = choose_strongest(weights, [False] * 4, 2, 2, 2)
    assert shown.queries == [1, 2] and shown.keys == [2, 3]
    hidden = choose_strongest(weights, [False, False, True, False], 1, 2, 2)
    assert 2 not in hidden.queries and 2 not in hidden.keys
    assert not choose_strongest(weights, [True] * 4, 1, 2, 2).weights.size
