"""Sentences that hold of most states, but not where a change reaches a part only, or a model has one of something."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from tests.factory import random_checkpoint
from tests.menus import code_open, read_plain  # noqa: F401 - opened for the whole module
from tests.test_pages import APP
from tests.test_put import RED, opened, read, tell

TWO = "encoder.layer.2"
MOVED = {"position_ids[token=2]": 4}
EVEN = {f"{TWO}.attention.self.scores[head=1]": 0.0}  # over padding too
PADDED = {"token": "2", "pad": "9"}


def read_html(at):
    return [re.sub(r"\s+", " ", drop_tags(each.proto.body, " ")) for each in at.get("html")]


def drop_tags(text, between=""):
    """Without what is said of a term when that is pointed at."""
    return re.sub("<[^>]*>", between, re.sub(r'<span role="tooltip">[^<]*</span>', "", text))


def test_a_token_with_the_position_of_another_has_that_row(bundled):
    trace = bv.run(bundled, RED, changes=MOVED)
    assert trace.encoding.positions == (0, 1, 4, 3, 4, 5, 6) == tuple(trace["position_ids"].tolist())
    np.testing.assert_array_equal(
        trace["embeddings.position_embeddings[token=2]"], trace["embeddings.position_embeddings.weight[position=4]"]
    )
    at = opened("embeddings", MOVED, token="2")
    said, _ = read(at)
    pages = " ".join([said, *read_html(at)])
    assert "word 103, position 4, segment 0." in said and "position 2, segment" not in said
    assert "Position 4 is row 4 of" in pages and "Cosine of position 4 with" in pages


def test_the_numbers_of_each_token_have_its_changed_position():
    shown = read_html(opened("tokenization", MOVED, token="2"))
    table = next(each for each in shown if "position_ids" in each)
    assert re.search(r"2 \[MASK\] 103 4 0 1 ", re.sub(r"\s+", " ", table))
    cut = next(each for each in shown if "token id segment position" in each)
    assert re.search(r"\[MASK\] 103 0 4 ", cut)


def test_one_neuron_that_a_change_puts_is_not_all_of_them(bundled):
    one = {f"{TWO}.intermediate.activation[token=2,intermediate=100]": 30.0}
    pages = " ".join(read_html(opened("feed_forward", one, token="2")))
    assert "A change puts some of them there, not the function whose curve is drawn." in pages
    assert "A change puts them there" not in pages
    said = tell(bv.run(bundled, RED, changes=one))["neurons"]
    assert "GELU and a change leave " in said
    every = tell(bv.run(bundled, RED, changes={f"{TWO}.intermediate.activation[token=2]": 1.0}))["neurons"]
    assert ", a change leaves 1,536 above 0" in every


def test_what_is_taken_of_padding_is_among_the_rows_whose_sum_is_shown():
    at = opened("attention_output", EVEN, **PADDED)
    table = next(each for each in read_html(at) if "fraction of the sum" in each)
    rows = re.findall(r" 0\.1111 [\d.]+ [\d.]+ (\S+)", table)
    assert len(rows) == 9
    assert sum(float(part.replace("−", "-")) for part in rows) == pytest.approx(1, abs=1e-3)


def test_padding_that_tokens_attend_to_is_not_said_to_be_left_out_of_what_they_take():
    even, plain = (" ".join(read_html(opened("attention_output", each, **PADDED))) for each in (EVEN, {}))
    assert "left out of every mean, largest and nearest." in plain and "As changed, tokens attend" not in plain
    assert "largest and nearest" not in even
    assert "left out of every mean and nearest. As changed, tokens attend to some" in even


def test_rows_that_sum_to_1_with_padding_alone_are_no_shares_without(bundled):
    trace = bv.run(bundled, RED, pad_to=9, changes=EVEN)
    rows = trace[f"{TWO}.attention.self.probs[head=1]"]
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-6)
    said, _ = read(opened("heads", EVEN, **PADDED))
    said = drop_tags(said)
    assert "none is below 0 and each row, padding left out, sums to 1" in said


def test_a_token_whose_weights_are_all_below_0_looks_at_nothing_most(bundled):
    below = bv.run(bundled, RED, changes={f"{TWO}.attention.self.probs[head=1]": "scale=-1"})
    said = tell(below)["ask / offer"]
    assert "has no larger weight than one below 0, that on " in said and "looks" not in said


@pytest.fixture(scope="module")
def single(tmp_path_factory):
    """One layer of one head, and no LM head."""
    return random_checkpoint(
        tmp_path_factory.mktemp("single"), kind="base-without-pooler", num_hidden_layers=1, num_attention_heads=1
    )


def test_one_head_is_not_said_to_be_several(single):
    said = tell(bv.run(bv.load_model(single), "the cat sat"), 0, 0, 1)
    told = " ".join(said.values())
    assert "makes, in its only head, a query" in told and "The only head of layer 0 hands over 24 numbers" in told
    assert "the only head of layer 0 with the bias behind it adds " in told and "1 heads" not in told


def test_a_model_without_an_lm_head_is_not_said_to_ask_it(single):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update({"text": "the cat sat", "model": str(single), "open": "all"})
    at.run()
    at.switch_page("pages/layers.py").run()
    pages = " ".join([read(at)[0], *read_html(at)])
    assert "This checkpoint has no LM head" in pages and "is asked after" not in pages
    assert re.search(r"Its own weight is [\d.]+ after layer 0\.", pages)
