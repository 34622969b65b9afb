"""A head whose weights are all 0 looks nowhere: no line is drawn, nothing is said of sums, and the page stays whole."""

import base64
import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.heads import Sentence, compute_statistics, has_shares, is_silent, summarize
from bertviz_core.analysis.token_lines import choose_strongest
from bertviz_core.figures.palette import PALETTES
from bertviz_core.ui.panels.looks import ALL_ZERO
from tests.menus import read_plain
from tests.test_pages import APP

LAYER, HEAD = 3, 5
PROBS = f"encoder.layer.{LAYER}.attention.self.probs[head={HEAD}]"
ZEROED = {"layer": str(LAYER), "head": str(HEAD), "changes": f"{PROBS}:0"}
LIGHT, WORDS = PALETTES["light"], ["0 a", "1 b", "2 c"]


def opened(page, **query):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update(query)
    at.run()
    at.switch_page(f"pages/{page}.py").run()
    at.session_state["open"] = "all"
    at.run()
    assert not at.exception and not at.error
    return at


def read_lines(at):
    """What is drawn from token to token, as the component is given it."""
    found = [json.loads(each.proto.json) for each in at.get("bidi_component") if "captions" in each.proto.json]
    assert len(found) == 1
    return found[0]


def captions(at):
    return " ".join(caption.value for caption in at.caption)


def test_the_keys_stay_where_no_weight_is_left():
    shown = choose_strongest(np.zeros((4, 4)), [False, False, False, True], 1, 16, 16)
    assert shown.queries == shown.keys == [0, 1, 2] and not shown.weights.any() and not shown.hidden.any()


@pytest.mark.parametrize("weights", [np.eye(3), np.eye(3)[::-1], np.full((3, 3), 1e-6), np.eye(3, k=1)])
def test_only_a_head_without_any_weight_is_silent(weights):
    sentence = Sentence(["a", "b", "c"], frozenset())
    for probs in (weights, 0 * weights):
        numbers = {name: float(found[0]) for name, found in compute_statistics(probs[None], sentence).items()}
        assert is_silent(numbers) == (not probs.any())


def test_the_heads_page_says_that_all_weights_are_0():
    at, before = opened("heads", **ZEROED), opened("heads", layer=str(LAYER), head=str(HEAD))
    told = captions(at)
    assert ALL_ZERO in told and "shared the attention evenly" not in told
    assert ALL_ZERO not in captions(before)
    assert "No lines: all of these weights are 0." in told


def test_the_reason_for_a_head_names_the_pass_that_the_rule_read():
    """Zeroed, the head that the page opens at still stands there, with the weight that it had."""
    first = opened("heads").session_state["view"].chosen
    address = f"encoder.layer.{first.layer}.attention.self.probs[head={first.head}]"
    told = captions(opened("heads", changes=f"{address}:0"))
    assert f"Before your change: Layer {first.layer}\\, head {first.head} is shown" in told


def test_the_attention_page_keeps_both_columns_and_says_no_false_sum():
    at = opened("attention", **ZEROED)
    lines, told = read_lines(at), captions(at)
    tokens = at.session_state["view"].trace.tokens
    assert [token["text"] for token in lines["query"]] == [token["text"] for token in lines["key"]] == tokens
    assert not any(base64.b64decode(lines["shares"]))
    assert "No line but that of the pair explained, dashed: all of these weights are 0." in told
    assert ALL_ZERO in told and "sums to 1" not in told
    assert "A change put other attention weights there" in told and "the largest attention weight" not in told


def test_rows_that_a_change_broke_are_summed():
    trace = opened("attention", layer=str(LAYER), head=str(HEAD)).session_state["view"].trace
    assert np.allclose(trace[PROBS].sum(axis=1), 1, atol=1e-5)
    told = captions(opened("attention", layer=str(LAYER), head=str(HEAD), changes=f"{PROBS[:-1]},query=2]:0"))
    assert "as changed, a row sums to 0 to 1.0000" in told and "each row sums to 1" not in told
    plain = opened("attention", layer=str(LAYER), head=str(HEAD))
    assert "row sums to" not in captions(plain)  # the card's own sentence says it
    assert "each row sums to 1" in read_plain(plain)


def test_what_a_zeroed_head_takes_together_is_nothing():
    at = opened("attention_output", **ZEROED)
    body = captions(at)
    assert "the attention weights sum to 1" not in body and "the attention weights sum to 0" in body
    (taken,) = [json.loads(chart.proto.spec) for chart in at.get("plotly_chart") if chart.proto.id.endswith("-taken")]
    texts = [note["text"] for note in taken["layout"]["annotations"]]
    assert not any("100" in text for text in texts if "0 to 100" not in text)


def test_a_head_with_weights_on_padding_alone_is_not_silent(bundled):
    text, pad = "Go home.", 8
    on_padding = {PROBS: 0.0, f"{PROBS[:-1]},query=2,key={pad - 1}]": 0.5}
    trace = bv.run(bundled, text, pad_to=pad, changes=on_padding)
    numbers = summarize(trace, 8).of(LAYER, HEAD)
    assert not is_silent(numbers) and not has_shares(numbers) and is_silent(summarize_zeroed(bundled, text, pad))
    told = opened("heads", layer=str(LAYER), head=str(HEAD), text=text, pad=str(pad), changes=write(on_padding))
    assert ALL_ZERO not in captions(told) and "all its weights are 0" not in json.dumps(read_plain(told))


def summarize_zeroed(bundled, text, pad):
    return summarize(bv.run(bundled, text, pad_to=pad, changes={PROBS: 0.0}), 8).of(LAYER, HEAD)


def write(changes):
    return "~".join(f"{address}:{value}" for address, value in changes.items())
