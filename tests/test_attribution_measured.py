"""How methods of attribution are measured: experiments against traces, the document against the model."""

import re
from pathlib import Path

import attribution
import experiments
import numpy as np
import pytest
from transformers import BertForPreTraining

import bertviz_core as bv
from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from bertviz_core.tracing.trace import Trace

DOCUMENT = Path(__file__).parents[1] / "docs" / "attribution.md"
TOKEN = 8


@pytest.fixture(scope="module")
def case(rome):
    word = int(rome[f"cls.predictions.probs[token={TOKEN}]"].argmax())
    return experiments.Case(rome, TOKEN, word, tuple(i for i in range(1, 11) if i != TOKEN))


@pytest.fixture(scope="module")
def passes(case):
    return experiments.Passes(BertForPreTraining.from_pretrained(BUNDLED_FOLDER).float().eval(), case)


def fall(case, changed: Trace):
    return np.log(case.trace[f"cls.predictions.probs[token={TOKEN},vocab={case.word}]"]) - np.log(
        changed[f"cls.predictions.probs[token={TOKEN},vocab={case.word}]"]
    )


def test_the_experiments_are_passes_with_the_token_changed(case, passes):
    done, trace, tokenizer = passes.experiment(), case.trace, case.trace.model.tokenizer
    for i in (0, 3, 5):
        hidden = trace.with_changes({f"input_ids[token={i}]": tokenizer.mask_id})
        assert done.hidden[i] == pytest.approx(fall(case, hidden), abs=1e-4)
        deleted = trace.with_changes({f"attention_mask[token={i}]": 0})
        assert done.deleted[i] == pytest.approx(fall(case, deleted), abs=1e-4)
        shares = hidden[f"cls.predictions.probs[token={i}]"].copy()
        shares[[trace.encoding.ids[i], *map(tokenizer.id, tokenizer.special_tokens)]] = 0
        other = trace.with_changes({f"input_ids[token={i}]": int(shares.argmax())})
        assert np.isnan(done.replaced[i]) if i == 0 else done.replaced[i] == pytest.approx(fall(case, other), abs=1e-4)
    assert np.isnan([done.hidden[TOKEN], done.deleted[TOKEN], done.replaced[TOKEN]]).all()


def test_sets_of_tokens_are_deleted_together(case, passes):
    sets = [frozenset({1, 3}), frozenset({2}), frozenset(case.words)]
    for deleted, probability in passes.delete_sets(sets).items():
        changed = case.trace.with_changes({f"attention_mask[token={i}]": 0 for i in deleted})
        expected = changed[f"cls.predictions.probs[token={TOKEN},vocab={case.word}]"]
        assert probability == pytest.approx(float(expected), rel=1e-4)


def test_the_first_sets_are_the_words_with_the_largest_amounts(case):
    amounts = np.zeros(12)
    amounts[[0, 5, 9, 1]] = [9, 3, 2, 1]
    first, others = experiments.list_cuts(case, amounts)
    assert first[:4] == [{5}, {5}, {5}, {5, 9}] and len(first[4]) == 5
    assert all(one | other == set(case.words) and not one & other for one, other in zip(first, others, strict=True))


def test_the_document_is_of_the_bundled_model_and_names_every_method():
    written = DOCUMENT.read_text(encoding="utf-8")
    assert re.search(r"digest (\w+)\)", written)[1] == bv.load_model().digest
    assert all(f"\n| {name} |" in written for name in attribution.NAMES.values())
    assert attribution.put_between(written, "new").count("new\n\n<!-- measured: end -->") == 1
    with pytest.raises(bv.BertvizError, match="Add them"):
        attribution.put_between("no marks", "new")
