"""The small model that is made on the spot, and trained models as files."""

import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertForMaskedLM

import bertviz_core as bv
from bertviz_core.learning import (
    Settings,
    Training,
    make_small_model,
    name_head,
    pack_zip,
    save_safetensors,
    suggest_settings,
)
from tests.factory import random_checkpoint
from tests.learning import SENTENCES, take_steps


@pytest.fixture(scope="module")
def small(bundled):
    return make_small_model(bundled, SENTENCES)


def test_the_small_model_reads_the_sentences_as_the_large_one_does(bundled, small):
    for text in SENTENCES:
        assert bv.run(small, text).tokens == bv.run(bundled, text).tokens
    pieces = {token for text in SENTENCES for token in bundled.tokenizer.encode(text).tokens}
    assert set(small.tokenizer.vocabulary) == pieces | {"[PAD]", "[UNK]", "[MASK]"}
    assert small.parameter_count < 30_000
    assert small.revision == make_small_model(bundled, SENTENCES).revision
    assert small.revision != make_small_model(bundled, SENTENCES, seed=1).revision


def read_loss(record):
    """The loss per hidden token."""
    return record.loss / len(record.hidden)


@pytest.mark.rare
def test_the_small_model_learns_its_sentences(small):
    training = Training(small, SENTENCES, suggest_settings(small))
    start = [read_loss(training.advance()) for _ in range(9)]
    while sum(end := [read_loss(r) for r in training.records[-9:]]) > sum(start) / 10 and not training.finished:
        training.advance()
    assert sum(end) <= sum(start) / 10


def test_the_bundled_model_learns_in_few_steps(bundled):
    settings = suggest_settings(bundled, head_alone=True)
    training = Training(bundled, SENTENCES[1:2], settings, only=name_head(bundled))
    start = read_loss(training.advance())
    while not training.finished and read_loss(training.record()) > start / 10:
        training.advance()
    assert read_loss(training.record()) <= start / 10
    assert settings != suggest_settings(bundled) != suggest_settings(bundled, practised=True)


@pytest.mark.parametrize("which", ["small", "learner", "bundled"])
def test_a_trained_model_is_opened_again_by_us_and_by_transformers(which, request, tmp_path):
    start = request.getfixturevalue(which)
    trained = take_steps(Training(start, SENTENCES[:1], Settings(passes=1, eta=0.001)), 1).model
    save_safetensors(trained, tmp_path)
    again = bv.load_model(tmp_path, dtype=trained.dtype)
    assert again.heads == trained.heads and again.unused == ()
    assert all(torch.equal(tensor, again.parameters[name]) for name, tensor in trained.parameters.items())
    trace = bv.run(again, SENTENCES[0])
    library = AutoTokenizer.from_pretrained(tmp_path)
    assert library(SENTENCES[0])["input_ids"] == list(trace.encoding.ids)
    oracle = BertForMaskedLM.from_pretrained(tmp_path, attn_implementation="eager", dtype=trained.dtype).eval()
    with torch.no_grad():
        logits = oracle(torch.tensor([trace.encoding.ids])).logits[0]
    np.testing.assert_allclose(trace["cls.predictions.decoder"], logits, rtol=0, atol=1e-4)


def test_an_untied_checkpoint_stays_one(tmp_path):
    untied = bv.load_model(
        random_checkpoint(tmp_path / "a", kind="masked-lm", tie_word_embeddings=False), dtype=torch.float64
    )
    save_safetensors(untied, tmp_path / "b")
    again = bv.load_model(tmp_path / "b", dtype=torch.float64)
    assert all(torch.equal(tensor, again.parameters[name]) for name, tensor in untied.parameters.items())


def test_a_zip_holds_the_checkpoint(small, tmp_path):
    with zipfile.ZipFile(BytesIO(pack_zip(small))) as archive:
        assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(archive.namelist())
        archive.extractall(tmp_path)
    assert bv.load_model(tmp_path).parameter_count == small.parameter_count


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="This system has no folder in memory.")
def test_a_zip_is_made_without_the_disk(small, monkeypatch, tmp_path):
    """It holds the words that the model has learned from, and the disk may be full."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert zipfile.is_zipfile(BytesIO(pack_zip(small)))
