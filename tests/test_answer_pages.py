"""The pages of the answers: any word that is typed is looked up, and absent heads are told."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.factory import random_checkpoint

APP = str(Path(__file__).parent.parent / "app.py")
MASK = 8


def opened(page, **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update(query)
    at.run()
    return at.switch_page(f"pages/{page}.py").run()


def html(at):
    return "\n".join(element.proto.body for element in at.get("html"))


@pytest.fixture(scope="module")
def predictions():
    return opened("predictions")


@pytest.mark.parametrize(("word", "row"), [("romans", "romans"), ("  Romans", "romans"), ("##ing", "##ing")])
def test_a_typed_word_is_shown_with_its_rank_and_probability(predictions, rome, word, row):
    at = predictions.text_input(key="word").set_value(word).run()
    i, probs = rome.model.tokenizer.id(row), rome[f"cls.predictions.probs[token={MASK}]"]
    scores = rome[f"cls.predictions.decoder[token={MASK}]"].tolist()
    rank = 1 + sum(score > scores[i] for score in scores)
    assert f'<th scope="row">{row}</th><td>{i:,}</td><td>{rank:,}</td>' in html(at)
    assert any(caption.value.startswith(f"Rank {rank:,} of 30,522") for caption in at.caption)
    assert any(rf"\mathrm{{vocab}}={i}" in formula.value for formula in at.latex)
    assert probs[i] > 0 and not at.exception


@pytest.mark.parametrize(("word", "told"), [
    ("☃", "cannot spell this"), ("electroencephalography", "splits it into 5"), ("\u200b", "The text is empty"),
])  # fmt: skip
def test_words_that_the_vocabulary_does_not_have_are_told(predictions, word, told):
    at = predictions.text_input(key="word").set_value(word).run()
    assert any(told in caption.value for caption in at.caption) and not at.exception


def test_markup_stays_text(predictions):
    at = predictions.text_input(key="word").set_value("<img src=x>").run()
    assert "&lt;" in html(at) and "<img" not in html(at) and not at.exception


def test_a_hidden_word_is_looked_up_first():
    at = opened("predictions", text="When in Rome, do as the Romans do.", mask="8")
    assert at.text_input(key="word").placeholder == "romans" and '<th scope="row">romans</th>' in html(at)


def test_the_best_entry_everywhere_is_read_as_one_text(predictions, rome):
    ids = rome["cls.predictions.decoder"].argmax(axis=-1).tolist()
    assert f">{rome.model.tokenizer.decode(ids)}</p>" in html(predictions)


def test_evidence_is_told_of_the_answer_given(rome):
    at = opened("sentence")
    best = ("B follows A", "B is a random sentence")[int(np.argmax(rome["cls.seq_relationship"]))]
    assert f"Components in favour of “{best}”" in html(at)


@pytest.mark.parametrize(("kind", "page", "told"), [
    ("base", "predictions", "no LM head (masked language model head)"),
    ("base", "sentence", "no next sentence and no classifier"),
    ("masked-lm", "sentence", "no pooler"),
    ("base-without-pooler", "layers", "no LM head (masked language model head)"),
])  # fmt: skip
def test_a_head_that_the_checkpoint_does_not_have_is_told(tmp_path, monkeypatch, kind, page, told):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind=kind)))
    at = opened(page, text="the cat sat")
    assert any(told in element.value for element in (*at.caption, *at.info)) and not at.exception
