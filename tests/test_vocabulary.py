"""The vocabulary's search, its census, and the nearest neighbours in its matrix, against plain references."""

import gc
import math
import weakref

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis import vocabulary
from bertviz_core.analysis.vocabulary import CONTAINS, IDS, PREFIX
from bertviz_core.ui.views.tokenization_vocabulary import _write_places
from tests.factory import VOCABULARY, random_checkpoint

ENTRIES = ("[PAD]", "[unused0]", "Rome", "the", "other", "##he", "the", "he", "", "theatre")


@pytest.fixture
def model(tmp_path):
    """A checkpoint whose vocabulary matrix has more rows than the vocabulary has entries."""
    return bv.load_model(random_checkpoint(tmp_path))


@pytest.mark.parametrize(("text", "how", "ids"), [
    ("the", PREFIX, [3, 6, 9]), ("THE", CONTAINS, [3, 6, 4, 9]), ("he", PREFIX, [7]), ("##", PREFIX, [5]),
    ("rome", PREFIX, [2]), (" Rome ", CONTAINS, [2]), ("he", CONTAINS, [7, 3, 4, 5, 6, 9]), ("[", PREFIX, [0, 1]),
    ("", PREFIX, []), ("  ", CONTAINS, []), ("xyz", CONTAINS, []), ("<b>", CONTAINS, []), (".*", PREFIX, []),
    ("3", IDS, [3]), ("2-4", IDS, [2, 3, 4]), ("2 – 4", IDS, [2, 3, 4]), ("8-99", IDS, [8, 9]), ("99", IDS, []),
    ("4-2", IDS, []), ("8", IDS, [8]), ("999999999", IDS, []),
])  # fmt: skip
def test_search(text, how, ids):
    assert vocabulary.search_vocabulary(ENTRIES, text, how) == ids


@pytest.mark.parametrize("text", ["", "the", "1.5", "-3", "1-2-3", "²", "9999999999"])
def test_what_is_no_id_is_refused(text):
    with pytest.raises(bv.BertvizError, match="whole number such as 2003"):
        vocabulary.search_vocabulary(ENTRIES, text, IDS)


def test_census_counts_every_row_once(bundled):
    small = vocabulary.count_kinds(ENTRIES, {"[PAD]"})
    assert list(small.values()) == [6, 1, 1, 1, 1]
    counts = vocabulary.count_kinds(bundled.tokenizer.vocabulary, bundled.tokenizer.special_tokens)
    assert sum(counts.values()) == 30522 and counts[vocabulary.EMPTY] == 0
    entries = bundled.tokenizer.vocabulary
    assert counts[vocabulary.PIECE] == sum(entry[:2] == "##" and len(entry) > 2 for entry in entries)
    assert counts[vocabulary.SPECIAL] == 5 and counts[vocabulary.UNUSED] == sum("[unused" in e for e in entries)


def test_nearest_are_the_largest_cosines_of_all_rows(bundled):
    matrix = bundled.parameters[vocabulary.WORDS].numpy().astype(np.float64)
    for token_id in (2003, 103, 0):
        row = matrix[token_id]
        cosines = [float(row @ other) / math.sqrt(float(row @ row) * float(other @ other)) for other in matrix]
        expected = sorted((i for i in range(len(matrix)) if i != token_id), key=lambda i: -cosines[i])[:10]
        found = vocabulary.find_nearest(bundled, token_id, 10)
        assert [entry.id for entry in found] == expected
        for entry in found:
            assert entry.token == bundled.tokenizer.vocabulary[entry.id]
            assert entry.cosine == pytest.approx(cosines[entry.id], rel=1e-12)
            assert entry.product == pytest.approx(float(row @ matrix[entry.id]), rel=1e-12)
            assert entry.length == pytest.approx(math.sqrt(float(matrix[entry.id] @ matrix[entry.id])), rel=1e-12)


def test_six_positions_are_written_out_and_more_are_cut_short():
    assert _write_places(7, (7, 8, 7)) == "position 0, 2"
    assert _write_places(7, (7,) * 6) == "position 0, 1, 2, 3, 4, 5"
    assert _write_places(7, (7,) * 7) == "position 0, 1, 2, 3, 4, 5 …"
    assert _write_places(7, (8,)) == ""


def test_rows_of_zeros_have_no_direction(model):
    """As a padding row has in checkpoints that were trained with a padding index."""
    rows = model.parameters[vocabulary.WORDS]
    rows[0] = 0
    assert vocabulary.find_nearest(model, 0, 10) == [] and vocabulary.measure_length(model, 0) == 0
    everyone = vocabulary.find_nearest(model, 7, 200)
    assert sorted(entry.id for entry in everyone) == [i for i in range(101) if i != 7]
    assert [entry.cosine for entry in everyone if entry.id == 0] == [0]
    assert all(entry.token == f"id {entry.id}" for entry in everyone if entry.id >= len(VOCABULARY))


def test_two_entries_with_one_vector_are_neighbours(model):
    rows = model.parameters[vocabulary.WORDS]
    rows[50] = 2 * rows[9]
    best = vocabulary.find_nearest(model, 9, 1)
    assert [entry.id for entry in best] == [50] and best[0].cosine == pytest.approx(1)
    assert best[0].length == pytest.approx(float(2 * torch.linalg.vector_norm(rows[9])), rel=1e-6)


def test_lengths_are_worked_out_once_and_go_with_their_model(tmp_path, monkeypatch):
    model, calls = bv.load_model(random_checkpoint(tmp_path)), []
    monkeypatch.setattr(vocabulary, "compute_norms", lambda rows: calls.append(1) or np.ones(len(rows)))
    assert vocabulary.measure_length(model, 3) == vocabulary.measure_length(model, 4) == 1
    assert len(vocabulary.find_nearest(model, 3, 2)) == 2 and calls == [1]
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
