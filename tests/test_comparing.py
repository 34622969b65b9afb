"""Two passes side by side against plain NumPy: tokens, angles, maps, answers; what is not comparable is told."""

import difflib
import random

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis import compared_answers
from bertviz_core.analysis.answers import Span
from bertviz_core.analysis.comparing import measure_by_layer
from bertviz_core.formula.address import Address
from bertviz_core.tracing.matching import _match_equal
from bertviz_core.ui.frame import second as beside
from tests.factory import random_checkpoint

ONE, OTHER = "The cat sat on a [MASK].", "Do as the cat on the [MASK]."
LAYERS, HEADS = 2, 3


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Loads a random checkpoint, made once for each kind and size."""
    made = {}

    def load(kind="pretraining", seed=0, **config):
        key = (kind, seed, *map(repr, config.items()))
        if key not in made:
            folder = random_checkpoint(tmp_path_factory.mktemp("comparing"), kind=kind, seed=seed, **config)
            made[key] = bv.load_model(folder, dtype=torch.float64)
        return made[key]

    return load


@pytest.fixture(scope="module")
def passes(make):
    return bv.run(make(), ONE), bv.run(make(), OTHER)


def equal_pieces(one, other):
    blocks = difflib.SequenceMatcher(None, one.tokens, other.tokens, autojunk=False).get_matching_blocks()
    return tuple((b.a + i, b.b + i) for b in blocks for i in range(b.size))


def test_equal_texts_are_matched_as_difflib_does():
    draw = random.Random(0)
    for _ in range(500):
        kinds = draw.choice([1, 2, 3, 8])
        own, other = ([str(draw.randrange(kinds)) for _ in range(draw.randrange(20))] for _ in range(2))
        blocks = difflib.SequenceMatcher(None, own, other, autojunk=False).get_matching_blocks()
        expected = [(block.a + i, block.b + i) for block in blocks for i in range(block.size)]
        assert list(_match_equal(own, other)) == expected


def test_what_is_pressed_to_match_a_token_by_hand_does_not_match_all_anew(passes, monkeypatch):
    """It runs before the page does, which stands in line with others'."""
    beside._match(*passes)
    monkeypatch.setattr(beside, "match_tokens", lambda *_: pytest.fail("matched anew"))
    said = {}
    monkeypatch.setattr(beside.choices, "choose", said.update)
    beside.match_pair(*passes, equal_pieces(*passes), 1, None)
    assert said[beside.PAIRS].startswith("0-0.") and "1-" not in said[beside.PAIRS].split(".")[1]


def test_tokens_are_matched_by_equal_pieces_and_their_vectors_measured_at_every_layer(passes):
    one, other = passes
    found = bv.compare(one, other)
    assert found.pairs == equal_pieces(one, other)
    assert len(found.pairs) < len(one.tokens) and not found.same and not found.said
    assert found.tokens == (tuple(one.tokens), tuple(other.tokens))
    assert [*map(str, found.stages)] == [
        "embeddings.LayerNorm",
        *(f"encoder.layer.{i}.output.LayerNorm" for i in (0, 1)),
    ]
    for row, stage in enumerate(found.stages):
        for column, (i, j) in enumerate(found.pairs):
            x, y = one[stage][i], other[stage][j]
            cosine = x @ y / np.sqrt((x @ x) * (y @ y))
            assert found.cosines[row, column] == pytest.approx(cosine, abs=1e-12)
            assert found.angles[row, column] == pytest.approx(np.degrees(np.arccos(cosine)), abs=1e-5)


def folded(weights, side, row):
    """A row of attention by hand: the matched keys, then the rest in one number."""
    rest = [float(weights[row, k]) for k in range(weights.shape[1]) if k not in side]
    return [float(weights[row, k]) for k in side] + [sum(rest)]


def test_heads_differ_by_the_attention_that_moves_between_matched_keys_and_all_others(passes):
    one, other = passes
    found = bv.compare(one, other)
    here, there = ([pair[side] for pair in found.pairs] for side in (0, 1))
    for layer, head in np.ndindex(LAYERS, HEADS):
        weights = Address(f"encoder.layer.{layer}.attention.self.probs").fix(head=head)
        rows = []
        for i, j in found.pairs:
            first, second = folded(one[weights], here, i), folded(other[weights], there, j)
            rows.append(sum(abs(a - b) for a, b in zip(first, second, strict=True)) / 2)
        assert found.moved[layer, head] == pytest.approx(rows, abs=1e-12)
        assert found.heads[layer, head] == pytest.approx(sum(rows) / len(rows), abs=1e-12)
    order = [found.heads[place] for place in found.sort_heads()]
    assert order == sorted(found.heads.ravel(), reverse=True) and len(order) == LAYERS * HEADS


def test_a_part_of_the_layers_is_known_before_all_are(passes):
    first, last = measure_by_layer(*passes, bv.compare(*passes).pairs)
    assert first[0] == 0.5 and np.isnan(first[1][1]).all() and not np.isnan(first[1][0]).any()
    assert last[0] == 1 and np.array_equal(last[1], bv.compare(*passes).moved)


def test_nothing_moves_between_a_pass_and_itself_and_all_between_maps_with_nothing_in_common(passes):
    one, _ = passes
    same = bv.compare(one, one)
    assert same.same and not same.angles.any() and not same.moved.any() and same.answers.divergence == 0
    weights = "encoder.layer.1.attention.self.probs"
    pairs = ((1, 1), (2, 2))
    apart = bv.compare(
        one.with_changes({weights: 0.0, f"{weights}[key=1]": 1.0}),
        one.with_changes({weights: 0.0, f"{weights}[key=2]": 1.0}),
        pairs,
    )
    assert (apart.heads[1] == 1).all() and not apart.heads[0].any()


def test_answers_at_the_blank_are_paired_and_their_divergence_is_in_bits(passes):
    one, other = passes
    answers = bv.compare(one, other).answers
    i, j = one.tokens.index("[MASK]"), other.tokens.index("[MASK]")
    assert answers.kind == "blank" and answers.at == (i, j)
    p, q = (trace[f"cls.predictions.probs[token={k}]"] for trace, k in ((one, i), (other, j)))
    assert answers.one == pytest.approx(p) and answers.other == pytest.approx(q)
    mean = (p + q) / 2
    bits = (p * np.log2(p / mean)).sum() / 2 + (q * np.log2(q / mean)).sum() / 2
    assert answers.divergence == pytest.approx(bits, abs=1e-12) and 0 < bits < 1
    shown = answers.list_likeliest(5)
    assert set(shown) == set(np.argsort(-np.maximum(p, q), kind="stable")[:5])
    assert [p[k] for k in shown] == sorted(p[shown], reverse=True)
    for answer in shown:
        cells = answers.find_cells(answer)
        assert [float(trace[cell]) for trace, cell in zip(passes, cells, strict=True)] == [p[answer], q[answer]]
        assert answers.name(answer) == one.model.tokenizer.name(answer)


def test_a_blank_before_the_matched_one_is_not_what_both_are_asked(make):
    one, other = bv.run(make(), "The cat sat on a [MASK]."), bv.run(make(), "The cat sat on [MASK] [MASK].")
    asked, before = one.tokens.index("[MASK]"), other.tokens.index("[MASK]")
    assert before == asked - 1
    for first, second in ((one, other), (other, one)):
        answers = bv.compare(first, second).answers
        assert answers.kind == "blank" and answers.at == (asked, asked)
        assert answers.one == pytest.approx(first[f"cls.predictions.probs[token={asked}]"])
    by_hand = bv.compare(one, other, pairs=[(asked, before)]).answers
    assert by_hand.at == (asked, before)
    alone = bv.compare(other, one, pairs=[(0, 0)]).answers
    assert alone.at == (before, asked)


def test_without_a_blank_the_chosen_words_are_read(make):
    one, other = bv.run(make(), "The cat sat."), bv.run(make(), "A cat sat.")
    assert bv.compare(one, other).answers.at == (2, 2)
    answers = bv.compare(one, other, at=(3, 3)).answers
    assert answers.kind == "reading" and answers.at == (3, 3)
    assert answers.other == pytest.approx(other["cls.predictions.probs[token=3]"])


def test_two_pairs_of_sentences_are_asked_whether_b_follows_a(make):
    one, other = bv.run(make(), "The cat sat.", "Do as the cat."), bv.run(make(), "The cat sat.", "The mat.")
    answers = bv.compare(one, other).answers
    assert answers.kind == "next sentence"
    assert answers.one == pytest.approx(one["cls.seq_relationship.probs"])


@pytest.mark.parametrize("kind", ["sequence-classification", "token-classification"])
def test_classes_are_paired(make, kind):
    model = make(kind, id2label={0: "a", 1: "b", 2: "c"}, label2id={"a": 0, "b": 1, "c": 2})
    one, other = bv.run(model, "The cat sat."), bv.run(model, "The mat sat.")
    answers = bv.compare(one, other).answers
    row = "classifier.probs" + ("[token=1]" if kind.startswith("token") else "")
    assert answers.kind == "class" and [*answers.names] == ["a", "b", "c"]
    assert answers.one == pytest.approx(one[row]) and answers.other == pytest.approx(other[row])
    assert answers.find_cells(1)[1] == Address(*_of(row, label=1))


def _of(row, **at):
    where = bv.formula.address.parse(row).fix(**at)
    return where.path, where.index


def test_an_answer_is_carried_over_to_the_tokens_that_its_ends_are_matched_with_unless_they_stand_turned_round():
    matched = {2: 5, 3: 4, 4: 7}
    ends = [(2, 2), (2, 4), (2, 3), (4, 6)]
    carried = [compared_answers._carry(Span(*each), matched) for each in ends]
    assert carried == [Span(5, 5), Span(5, 7), None, None]


def test_spans_are_paired_by_their_matched_ends(make):
    model = make("question-answering")
    one = bv.run(model, "Do as?", "The cat sat on the mat.")
    other = bv.run(model, "Do as the romans?", "The cat sat on a mat.")
    found = bv.compare(one, other)
    answers, there = found.answers, dict(found.pairs)
    assert answers.kind == "span" and len(answers.names) >= 5
    for k, (first, second) in enumerate(answers.places):
        for trace, span, value in ((one, first, answers.one[k]), (other, second, answers.other[k])):
            if span is None:
                assert np.isnan(value)
            else:
                start, end = (trace[f"qa_outputs.{bound}.probs"] for bound in ("start", "end"))
                assert value == pytest.approx(start[span.start] * end[span.end])
        if first and second:
            assert (there[first.start], there[first.end]) == (second.start, second.end)
    assert any(a and b for a, b in answers.places) and np.isnan(answers.divergence)


def test_what_two_checkpoints_of_one_encoder_have_in_common_is_compared(make):
    one, other = bv.run(make("masked-lm"), ONE), bv.run(make("pretraining", 1), ONE)
    found = bv.compare(one, other)
    assert found.pairs == tuple((i, i) for i in range(len(one.tokens))) and not found.same
    assert found.angles.any() and found.heads.shape == (LAYERS, HEADS) and found.answers.kind == "blank"
    told = " ".join(found.said)
    assert "only the second has a head for “pooler and next sentence”" in told.lower()
    assert "says something only where one was trained on from the other" in told


def test_of_other_sizes_it_is_told_what_is_not_compared(make):
    one = bv.run(make(), ONE)
    deeper = bv.compare(one, bv.run(make(num_hidden_layers=3), ONE))
    assert deeper.angles.shape[0] == LAYERS + 1 and not deeper.moved.size and deeper.sort_heads() == ()
    assert "compared up to layer 1" in deeper.said[0] and "heads are paired only" in deeper.said[1]
    wider = bv.compare(one, bv.run(make(hidden_size=36), ONE))
    assert not wider.angles.size and wider.moved.size and "24 numbers in the first model and 36" in wider.said[0]
    more = bv.compare(one, bv.run(make(num_attention_heads=4), ONE))
    assert more.angles.size and not more.moved.size and "3 heads in each of 2 layers, the second 4" in more.said[0]
    without = bv.compare(one, bv.run(make("base"), ONE))
    assert without.answers is None and "Only the first model has a head for" in without.said[-1]


def test_tokens_of_two_vocabularies_are_matched_by_the_letters_that_they_cover(make):
    whole = make()
    parts = bv.load_model("bundled", dtype=torch.float64)
    text = "The mats sat on a zebra [MASK]."
    one, other = bv.run(whole, text), bv.run(parts, text)
    found = bv.compare(one, other)
    covered = [letters(trace.tokens) for trace in (one, other)]
    assert found.pairs == tuple(
        sorted((covered[0].index(place), covered[1].index(place)) for place in {*covered[0]} & {*covered[1]})
    )
    assert len(found.pairs) < min(len(one.tokens), len(other.tokens))
    assert "other vocabularies" in found.said[0] and not found.angles.size
    answers = found.answers
    cat = answers.names.index("cat")
    assert answers.one[cat] == pytest.approx(
        one[f"cls.predictions.probs[token={answers.at[0]}]"][whole.tokenizer.id("cat")]
    )
    assert answers.other[cat] == pytest.approx(
        other[f"cls.predictions.probs[token={answers.at[1]}]"][parts.tokenizer.id("cat")]
    )
    river = answers.names.index("river")
    assert np.isnan(answers.one[river]) and answers.find_cells(river)[0] is None and np.isnan(answers.divergence)


def letters(tokens):
    """From which letter of the whole text to before which each token goes."""
    places, end = [], 0
    for token in tokens:
        start, end = end, end + len(token.removeprefix("##"))
        places.append((start, end))
    return places


def test_pairs_made_by_hand_are_used_and_wrong_ones_refused(passes):
    one, other = passes
    found = bv.compare(one, other, pairs=[(3, 4), (1, 2)])
    assert found.pairs == ((1, 2), (3, 4)) and found.angles.shape == (LAYERS + 1, 2)
    for wrong in ([(0, 0), (0, 1)], [(0, 99)], [(-1, 0)]):
        with pytest.raises(bv.BertvizError, match="can be matched once"):
            bv.compare(one, other, pairs=wrong)
    with pytest.raises(bv.ArgumentError, match="Two traces are compared"):
        bv.compare(one, "text")


def test_without_a_token_in_common_only_the_answers_are_left(make):
    one, other = bv.run(make(), ONE), bv.run(make(), OTHER)
    found = bv.compare(one, other, pairs=())
    assert found.said == ("The two texts have no token in common. Match tokens by hand.",)
    assert found.angles.shape == (LAYERS + 1, 0) and found.sort_heads() == () and found.answers.kind == "blank"


def test_padding_is_matched_with_nothing(make):
    one, other = bv.run(make(), ONE, pad_to=14), bv.run(make(), ONE)
    found = bv.compare(one, other)
    assert found.pairs == tuple((i, i) for i in range(len(other.tokens)))
    assert found.angles == pytest.approx(0, abs=1e-5) and found.heads == pytest.approx(0, abs=1e-9)


def test_what_comes_back_cannot_be_written_to(passes):
    found = bv.compare(*passes)
    for array in (found.cosines, found.angles, found.moved, found.heads, found.answers.one, found.answers.other):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
