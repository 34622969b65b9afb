"""Documents whose input is longer than BERT's: padding before the text, and a pass of 512 tokens."""

import math

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.analysis.alignment import (
    guess_words,
    measure_difference,
    measure_end,
    measure_layers,
    read_ordered,
)
from bertviz_core.analysis.slip_numbers import Spot, _measure_padding
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_number
from bertviz_core.tracing.store import TraceStore
from tests.factory import random_checkpoint
from tests.menus import read_plain
from tests.test_documents_page import chosen, opened

TEXT = "When in Rome, do as the [MASK] do."
END = "encoder.layer.{}.output.LayerNorm"
ORDER = [*range(4, 16), *range(4)]  # where the article has what BERT reads: 12 tokens, then 4 of padding


def cosine(x, y):
    x, y = x.astype(np.float64), y.astype(np.float64)
    return x @ y / np.linalg.norm(x) / np.linalg.norm(y)


@pytest.fixture(scope="module")
def padded(bundled):
    return [bv.run(bundled, TEXT, pad_to=16, masked=[3], program=name) for name in ("bert", "encoder-article")]


def read_by_head(model, row):
    """BERT's own scores of one row of a last layer: the LM head written out."""
    of = {name: tensor.double().numpy() for name, tensor in model.parameters.items() if name.startswith("cls.")}
    at = "cls.predictions.transform"
    x = row.astype(np.float64) @ of[f"{at}.dense.weight"] + of[f"{at}.dense.bias"]
    x = x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2
    x = (x - x.mean()) / np.sqrt(x.var() + model.config.layer_norm_eps)
    x = x * of[f"{at}.LayerNorm.weight"] + of[f"{at}.LayerNorm.bias"]
    return x @ of["cls.predictions.decoder.weight"] + of["cls.predictions.decoder.bias"]


def test_the_article_pads_before_the_text(padded):
    bert, article = padded
    assert article.tokens == ["[PAD]"] * 4 + bert.tokens[:12] and bert.tokens[12:] == ["[PAD]"] * 4
    assert article.encoding.mask == (0,) * 4 + (1,) * 12 and article.tokens[7] == bert.tokens[3] == "[MASK]"
    row = [(math.cos if j % 2 else math.sin)(7 / 10000 ** ((j - j % 2) / 384)) for j in range(384)]
    np.testing.assert_allclose(article["embeddings.position_embeddings"][7], row, atol=1e-6)


def test_the_store_pads_as_a_run_does(bundled, padded):
    found = TraceStore().get(bundled, TEXT, None, 16, [3], "encoder-article")
    assert found.encoding == padded[1].encoding


def test_traces_with_padding_on_either_side_are_compared_token_by_token(padded):
    bert, article = padded
    for distance in measure_layers(bert, article):
        x, y = bert[END.format(distance.layer)], article[END.format(distance.layer)][ORDER]
        np.testing.assert_allclose(distance.cosines, [cosine(*rows) for rows in zip(x, y, strict=True)], atol=1e-9)
        assert distance.largest == pytest.approx(np.abs(x.astype(np.float64) - y)[:12].max())
        assert distance.lowest == distance.cosines[:12].min()
    probs = "encoder.layer.2.attention.self.probs"
    apart = np.abs(bert[probs] - article[probs][:, ORDER][:, :, ORDER].astype(np.float64))[:, :12, :12].max()
    assert measure_difference(bert, article, probs) == pytest.approx(apart)
    np.testing.assert_array_equal(
        read_ordered(article, Address(probs).fix(head=1, query=3)), article[probs][1, 7, ORDER]
    )
    assert measure_end(bert, article, 3) == pytest.approx(cosine(bert[END.format(5)][3], article[END.format(5)][7]))


def test_the_length_of_a_padded_sentence_is_said_to_have_its_padding(bundled, padded):
    """16 tokens are more than the sentence has by itself, which has 12."""
    bert, plain = padded[0], bv.run(bundled, TEXT)
    for trace, told in ((bert, "cosine as the sentence is, with its padding"), (plain, "cosine as the sentence is")):
        note = bv.run(bundled, TEXT, pad_to=len(trace.tokens), program="forward-pass-note")
        assert told in dict(_measure_padding(Spot(trace, 2, 8, lambda name, more, note=note: note)))


def test_the_words_of_a_token_are_its_own_wherever_the_padding_stands(padded):
    bert, article = padded
    scores = read_by_head(bert.model, article[END.format(5)][7])
    probs = torch.tensor(scores).softmax(0).numpy()
    found = guess_words(article, 3)
    assert [guess.id for guess in found] == np.argsort(-probs)[:5].tolist()
    np.testing.assert_allclose([guess.probability for guess in found], np.sort(probs)[:-6:-1], rtol=1e-3)


def test_the_page_compares_the_article_with_padding_token_by_token(padded):
    at = opened(text=TEXT, mask="3", pad="16", token="3", document="encoder-article", beside="bert")
    bert, article = padded
    assert [element.value for element in (*at.exception, *at.error)] == []
    table = read_plain(at)
    turned = format_number(float(cosine(bert[END.format(5)][3], article[END.format(5)][7])))
    assert f"No: cosine **{turned}** at “[MASK]” at position 3; " in at.title[0].value.replace("\\", "")
    assert format_number(measure_layers(bert, article)[-1].largest) in table


@pytest.mark.parametrize(("document", "beside"), [("forward-pass-note", "bert"), ("definition", "forward-pass-note")])
def test_the_note_is_shown_at_both_lengths(bundled, document, beside):
    """With 512 tokens another word comes first, and the vector turns further away."""
    at = opened(document=document, beside=beside, token="8", open="lengths")
    told = "\n".join(element.value for element in at.caption)
    pages = "\n".join(element.proto.body for element in at.get("html"))
    own = bv.run(bundled, TEXT)[END.format(5)][8]
    for length in (12, 512):
        note = bv.run(bundled, TEXT, pad_to=length, program="forward-pass-note")
        row = note[END.format(5)][8]
        assert f"{format_number(float(cosine(own, row)))} at {length} tokens" in told
        probs = torch.tensor(read_by_head(bundled, row)).softmax(0).numpy()
        best = int(probs.argmax())
        words = pages.partition(f"<b>{length} tokens</b>")[2].partition("<b>")[0]
        assert f"<span>{bundled.tokenizer.token(best)}</span>" in words and f"{probs[best]:.4f}" in words


def test_a_model_that_reads_less_is_not_said_to_read_what_the_note_prints(tmp_path, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path)))
    at = opened(document="forward-pass-note", text="the cat sat", open="lengths")
    pages = "\n".join(element.proto.body for element in at.get("html"))
    assert "<b>64 tokens</b> as many as this model reads" in pages and "as the note prints it" not in pages
    assert any("Every input of the note has 512 tokens" in element.value for element in at.caption)


@pytest.mark.parametrize(("words", "told"), [(61, True), (62, False)])
def test_of_a_sentence_as_long_as_the_model_reads_there_is_one_length(tmp_path, monkeypatch, words, told):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path)))
    at = opened(document="forward-pass-note", text="the " * words, open="lengths")
    assert not at.exception and any("at 64 tokens" in element.value for element in at.caption) is told


def test_of_other_documents_there_is_one_length(bundled):
    told = "\n".join(element.value for element in chosen(opened(), "definition", "notebook").caption)
    assert "at 512 tokens" not in told
