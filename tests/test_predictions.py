"""The running denominator, the place of any word, and the first choices, against plain references."""

import math

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis import predictions
from bertviz_core.analysis.layers import Lens, list_winners
from tests.factory import random_checkpoint

MASK = 8


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """A checkpoint whose vocabulary matrix has more rows than the vocabulary has entries."""
    return bv.run(bv.load_model(random_checkpoint(tmp_path_factory.mktemp("predictions"))), "The [MASK] sat in Rome.")


def test_masks_are_found_however_the_checkpoint_spells_them(trace, tmp_path):
    assert predictions.find_masks(trace) == [2]
    folder = random_checkpoint(tmp_path)
    for file in folder.glob("*.[tj][xs]*"):
        file.write_text(file.read_text(encoding="utf-8").replace("[MASK]", "<mask>"), encoding="utf-8")
    other = bv.run(bv.load_model(folder), "The <mask> sat in <mask>.")
    assert other.tokens.count("<mask>") == 2
    assert predictions.find_masks(other) == [i for i, token in enumerate(other.tokens) if token == "<mask>"]


def test_the_running_denominator_adds_every_term_up():
    scores = np.array([0.5, 3.0, -1.0, 3.0, 2.0], dtype=np.float32)
    found = predictions.run_softmax(scores)
    assert found.ids.tolist() == [1, 3, 4, 0, 2]
    np.testing.assert_allclose(found.terms, [1, 1, math.exp(-1), math.exp(-2.5), math.exp(-4)])
    np.testing.assert_allclose(found.sums, [1, 2, *(2 + np.cumsum(np.exp([-1, -2.5, -4])))])
    assert found.shares[-1] == 1
    half = 2 / (2 + math.exp(-1) + math.exp(-2.5) + math.exp(-4))
    assert [found.needed(share) for share in (half / 2, half - 1e-9, half + 1e-9, 1)] == [1, 2, 3, 5]


def test_the_running_shares_are_the_cumulated_probabilities(rome):
    found = predictions.run_softmax(rome[predictions.SCORES.fix(token=MASK)])
    probs = rome[predictions.PROBS.fix(token=MASK)].astype(np.float64)
    assert sorted(found.ids.tolist()) == list(range(30522))
    np.testing.assert_allclose(np.cumsum(probs[found.ids]), found.shares, atol=1e-6)
    for share in (0.5, 0.9, 0.99):
        count = found.needed(share)
        assert probs[found.ids[:count]].sum() >= share - 1e-6 > probs[found.ids[: count - 1]].sum() - 2e-6


def test_top_words_are_the_most_probable(rome):
    probs = rome[f"cls.predictions.probs[token={MASK}]"]
    found = predictions.rank_words(rome, MASK, 7)
    assert [share for _, share, _ in found] == sorted(probs.tolist(), reverse=True)[:7]
    assert all(rome.model.tokenizer.token(i) == word and probs[i] == share for word, share, i in found)


@pytest.mark.parametrize(("text", "tokens"), [
    ("people", ["people"]), ("  PEOPLE ", ["people"]), ("##ing", ["##ing"]), ("[MASK]", ["[MASK]"]), ("!", ["!"]),
    ("", []), ("   ", []), ("\u200b\u0000", []), ("☃", ["[UNK]"]), ("<b>", ["<", "b", ">"]), ("do as", ["do", "as"]),
    ("électro", ["electro"]), ("electroencephalography", ["electro", "##ence", "##pha", "##log", "##raphy"]),
])  # fmt: skip
def test_a_word_is_found_as_the_tokenizer_cuts_it(rome, text, tokens):
    found = predictions.find_places(rome, MASK, text)
    assert [entry.token for entry in found] == tokens
    scores, probs = (rome[f"{address}[token={MASK}]"] for address in (predictions.SCORES, predictions.PROBS))
    for entry in found:
        assert rome.model.tokenizer.token(entry.id) == entry.token
        assert (entry.score, entry.probability) == (scores[entry.id], probs[entry.id])
        assert entry.rank == 1 + sum(share > probs[entry.id] for share in probs.tolist())


def test_the_rank_is_that_of_the_probabilities_also_where_a_change_put_them(rome):
    first, second, word = (i for _, _, i in predictions.rank_words(rome, MASK, 3))
    put = rome.with_changes({f"{predictions.PROBS}[token={MASK},vocab={word}]": 0.9})
    for trace, ranks in ((rome, [1, 2, 3]), (put, [2, 3, 1])):
        found = [predictions.find_places(trace, MASK, trace.model.tokenizer.token(i)) for i in (first, second, word)]
        assert [entry.rank for (entry,) in found] == ranks
        lens = Lens(trace, MASK)
        assert [int(lens.ranks(i)[-1]) for i in (first, second, word)] == ranks
        assert list_winners(trace, MASK)[-1].final_rank == 1


def test_a_lone_surrogate_is_refused(rome):
    with pytest.raises(bv.BertvizError, match="half a character"):
        predictions.find_places(rome, MASK, "caf\ud800")


def test_first_choices_are_the_best_entry_of_every_row(rome, trace):
    for run in (rome, trace):
        rows = run["cls.predictions.decoder"].tolist()
        assert predictions.choose_first(run) == tuple(row.index(max(row)) for row in rows)
        assert isinstance(run.model.tokenizer.decode(predictions.choose_first(run)), str)


def test_ids_are_decoded_as_the_notebook_prints_them(bundled):
    """The last line of the notebook: what bert-base-uncased answers to the sentence about Rome."""
    words = [".", "when", "in", "rome", ",", "do", "as", "the", "romans", "do", ".", "."]
    ids = [bundled.tokenizer.id(word) for word in words]
    assert None not in ids
    assert bundled.tokenizer.decode(ids) == ". when in rome, do as the romans do.."


def test_rows_without_an_entry_can_be_ranked_and_decoded(trace):
    tokenizer = trace.model.tokenizer
    assert tokenizer.token(100) == "" and tokenizer.id("") is None and tokenizer.id("nonsense") is None
    assert tokenizer.decode([100, tokenizer.id("cat")]).strip() == "cat"
    assert len(predictions.rank_words(trace, 2, 101)) == 101


def test_no_word_is_listed_without_those_that_are_as_probable(rome):
    """Of the third to the sixth, which tie, none stands among the first five; of six that all tie, five do."""
    at = {
        f"cls.predictions.decoder[token=8,vocab={i}]": 90.0 - max(0, 2 - n)
        for n, i in enumerate((30, 20, 50, 40, 60, 70))
    }
    some = rome.with_changes({where: 90.0 + max(0, 2 - n) for n, where in enumerate(at)})
    assert [i for _, _, i in predictions.list_likeliest(some, 8, 5)] == [30, 20]
    assert [i for _, _, i in predictions.list_likeliest(some, 8, 6)] == [30, 20, 40, 50, 60, 70]
    alike = rome.with_changes(dict.fromkeys(at, 90.0))
    assert [i for _, _, i in predictions.list_likeliest(alike, 8, 5)] == [20, 30, 40, 50, 60]
