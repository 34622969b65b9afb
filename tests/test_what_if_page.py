"""What-if through the app: changes in the URL, what offers them, what panels show, and changes that cannot be made."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis.strengths import STEPS
from bertviz_core.analysis.what_if import list_scopes, measure_moved
from bertviz_core.formula.address import Address
from bertviz_core.tracing.changes import MOST, take_changes
from bertviz_core.ui.frame import strip
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.site import PAGES
from bertviz_core.ui.frame.what_if import OFFERED, OFFERS, SLID, SLIDER
from tests.test_pages import decoded, title_of

APP = str(Path(__file__).parent.parent / "app.py")
TEXT = "the cat sat on the [MASK]"
PROBS = "encoder.layer.1.attention.self.probs"
HEAD, WORD = f"{PROBS}[head=2]:0", "input_ids[token=2]:3899"
BAD = {
    "an unknown address": ("nonsense:1", "nonsense is not in this trace"),
    "no address": (":1", "'1' is not an address"),
    "no value": ("embeddings.sum", "'' is neither a number nor a rule"),
    "a layer out of range": ("encoder.layer.6.output.dense:0", "is not in this trace"),
    "a head out of range": (f"{PROBS}[head=12]:0", "head 12 is out of range; it runs from 0 to 11"),
    "a token out of range": ("embeddings.sum[token=99]:0", "token 99 is out of range"),
    "no such axis": ("embeddings.sum[head=0]:0", "has no axis 'head'"),
    "NaN": ("embeddings.sum:nan", "finite numbers"),
    "infinity": ("embeddings.sum:inf", "finite numbers"),
    "too large for the type": ("embeddings.sum:1e39", "finite numbers"),
    "too large for the pass": ("embeddings.sum:3e38", "no longer finite"),
    "a shape": ("embeddings.sum:[1,2]", "neither a number nor a rule"),
    "an unknown rule": ("encoder.layer.0.intermediate.activation:swish", "neither a number nor a rule"),
    "a misspelt rule on a slice": (f"{PROBS}[head=5]:unifrom", "Did you mean uniform?"),
    "a rule that does not fit": ("embeddings.sum:relu", "applies no activation function"),
    "no number to scale by": ("embeddings.sum:scale=much", "scale takes a number, not 'much'"),
    "ids that cannot be scaled": ("input_ids:scale=0.5", "holds whole numbers; they cannot be scaled"),
    "a number behind uniform": (f"{PROBS}[head=5]:uniform=3", "uniform takes no number"),
    "a parameter": ("embeddings.word_embeddings.weight[vocab=1,hidden=2]:0", "belongs to the checkpoint"),
    "no token of the vocabulary": ("input_ids[token=1]:99999", "whole numbers from 0 to 30521"),
    "markup": ("<script>alert(1)</script>:0", "is not an address"),
    "an open bracket": ("embeddings.sum[token=1:0", "is not closed"),
    "too many": (
        "~".join(f"embeddings.sum[token=1,hidden={i}]:0" for i in range(MOST + 1)),
        f"can have {MOST} changes; there are {MOST + 1}",
    ),
    "a token that nobody sees, for all": ("attention_mask:0", "at least one token"),
}


def opened(page="overview", **query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"text": TEXT, **query})
    at.run()
    return at if page == "overview" else at.switch_page(f"pages/{page}.py").run()


def opened_with_offers(changes="", **query):
    """The first page with the strip open where it offers changes of the token, the head and the layer."""
    at = AppTest.from_file(APP, default_timeout=60)
    at.session_state[SLID.name], at.session_state[OFFERED.name] = f"{PROBS}[head=0]", OFFERS
    at.query_params.update({"text": TEXT, "changes": changes, **query})
    return at.run()


def view(at):
    return at.session_state["view"]


@pytest.mark.parametrize("name", BAD)
def test_a_change_that_cannot_be_made_is_said_and_the_session_stays_usable(name):
    line, message = BAD[name]
    at = opened(changes=line if name == "too many" else f"{HEAD}~{line}")
    assert not at.exception and not at.error and title_of(at) == "Overview"
    assert any(escape_markdown(message) in warning.value for warning in at.warning), [w.value for w in at.warning]
    assert view(at).outcome.wrong and "undo-0" in [button.key for button in at.button]
    at.switch_page("pages/predictions.py").run()
    assert not at.exception and title_of(at) == "Predictions"


def test_the_good_ones_of_a_list_are_made():
    at = opened(changes=f"{HEAD}~nonsense:1~{WORD}")
    assert view(at).trace.changes == take_changes({f"{PROBS}[head=2]": 0, "input_ids[token=2]": 3899})
    assert (view(at).trace[f"{PROBS}[head=2]"] == 0).all()


@pytest.mark.parametrize("show", ["After", "Before", "Difference"])
def test_every_page_opens_with_changes(show):
    hidden = "encoder.layer.0.output.residual:no-residual~attention_mask[token=3]:0"
    at = opened(changes=f"{HEAD}~{WORD}~{hidden}", show=show, layer="1")
    for info in PAGES:
        at.switch_page(f"pages/{info.name}.py").run()
        assert not at.exception and not at.error and not at.warning, info.name
        assert title_of(at) == info.title
        found = view(at).outcome
        assert view(at).trace is (found.before if show == "Before" else found.after) and found.show == show


@pytest.mark.parametrize(
    ("page", "least"), [("embeddings", 1), ("attention", 3), ("feed_forward", 3), ("predictions", 3)]
)
def test_difference_charts_hold_after_minus_before(page, least):
    at = opened(page, changes=f"{HEAD}~{WORD}", show="Difference", layer="1", head="2", open="all")
    found, compared = view(at).outcome, 0
    for chart in at.get("plotly_chart"):
        address = chart.proto.id.partition("-chart-")[2]
        trace = json.loads(chart.proto.spec)["data"][-1]
        if address.partition("[")[0] not in found.after or len(found.after.dims(address)) != 2:
            continue
        drawn = decoded(trace["z"])
        expected = found.after[address].astype(float) - found.before[address]
        rows, columns = int(trace.get("y0", 0)), int(trace.get("x0", 0))
        part = expected[rows : rows + drawn.shape[0], columns : columns + drawn.shape[1]]
        np.testing.assert_allclose(drawn, part, rtol=0, atol=1e-6)
        compared += bool(np.abs(drawn).max() > 0)
    assert compared >= least


def test_panels_say_how_far_they_moved_and_which_are_not_reached():
    at = opened("query_key_value", changes=HEAD, layer="1", open="all")
    said = [caption.value for caption in at.caption if "What if" in caption.value]
    assert said and all("your change does not reach this tensor" in line for line in said)
    at = opened("attention_output", changes=HEAD, layer="1", open="all")
    found = view(at).outcome
    far = measure_moved(found.before, found.after, Address("encoder.layer.1.attention.output.dense"))
    assert any(f"{far.before:.4f}".replace("-", "\N{MINUS SIGN}") in caption.value for caption in at.caption)
    change = np.abs(
        found.after["encoder.layer.1.attention.output.dense"].astype(float)
        - found.before["encoder.layer.1.attention.output.dense"]
    )
    assert abs(far.after - far.before) == pytest.approx(change.max())
    assert far.mean == pytest.approx(change.mean())


LAYER = "encoder.layer.1"
ACTIONS = {
    "zero a head": (HEAD, "what-if-head-0", f"{HEAD}~{LAYER}.attention.self.probs[head=3]:0"),
    "uniform attention": ("", "what-if-head-1", f"{LAYER}.attention.self.probs[head=3]:uniform"),
    "the same place again": (f"{LAYER}.attention.self.probs[head=3]:0.5~{WORD}", "what-if-head-0",
                             f"{WORD}~{LAYER}.attention.self.probs[head=3]:0"),
    "mask a token": (HEAD, "what-if-token-0", f"{HEAD}~input_ids[token=2]:103"),
    "hide a token": (HEAD, "what-if-token-1", f"{HEAD}~attention_mask[token=2]:0"),
    "another activation": ("", "what-if-layer-0", f"{LAYER}.intermediate.activation:relu"),
    "attention without residual": ("", "what-if-layer-1", f"{LAYER}.attention.output.residual:no-residual"),
    "feed-forward without residual": ("", "what-if-layer-2", f"{LAYER}.output.residual:no-residual"),
    "skip the layer": ("", "what-if-layer-3", f"{LAYER}.output.LayerNorm:skip"),
    "undo the first": (f"{HEAD}~{WORD}", "undo-0", WORD),
    "undo the last": (f"{HEAD}~{WORD}", "undo-1", HEAD),
    "undo one that cannot be made": (f"{HEAD}~nonsense:1~{WORD}", "undo-2", f"{HEAD}~{WORD}"),
    "undo all": (f"{HEAD}~nonsense~{WORD}", "undo-all", ""),
}  # fmt: skip


@pytest.mark.parametrize("shown", ["", f"{PROBS}[head=0]"])
def test_the_bars_button_opens_the_strip_with_the_pages_head_and_closes_it(shown):
    at = AppTest.from_file(APP, default_timeout=60)
    at.session_state[SLID.name] = shown
    at.query_params.update({"text": TEXT, "layer": "1", "head": "3"})
    at.run()
    slid = [each.key for each in at.selectbox if each.key.startswith("what-if-slid-head")]
    assert slid == [f"what-if-slid-head-{shown}"] * bool(shown)
    at.button("what-if-open").click().run()
    assert not at.exception and at.session_state[SLID.name] == ("" if shown else f"{PROBS}[head=3]")
    assert at.session_state[OFFERED.name] == SLIDER


def test_a_word_is_replaced_at_once_where_the_blank_is_chosen():
    """“the cat sat on the [MASK]”: the first word is offered, and any other one can be."""
    at = opened_with_offers(text="the cat sat on the [MASK]", token="6")
    place = next(each for each in at.selectbox if each.label == "Word to replace")
    assert place.value == 1 and place.options[1:4] == ["1 the", "2 cat", "3 sat"]
    place.set_value(2)
    at.text_input("what-if-word").set_value("dog").run()
    assert not at.exception and at.session_state["changes"] == "input_ids[token=2]:3899"


def test_what_moved_is_told_of_the_blank_whatever_is_chosen():
    at = opened(text="the cat sat on the [MASK]", token="2", changes="input_ids[token=2]:3899")
    assert any('<div class="bv-moves"><span>at “[MASK]”</span> ' in each.proto.body for each in at.get("html"))
    at = opened(text="[MASK] cat sat on [MASK]", token="5", changes="input_ids[token=2]:3899")
    assert any(
        '<div class="bv-moves"><span>at “[MASK]” at position 5</span> ' in each.proto.body for each in at.get("html")
    )


@pytest.mark.parametrize(("changes", "button", "expected"), ACTIONS.values(), ids=ACTIONS)
def test_a_button_changes_the_list(changes, button, expected):
    at = opened_with_offers(changes, token="2", layer="1", head="3")
    at.button(button).click().run()
    assert not at.exception and at.session_state["changes"] == expected
    again = opened(changes=expected)
    assert not again.exception and not again.warning
    assert len(view(again).trace.changes) == expected.count(":")


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        ("what-if-word", "dog", "input_ids[token=2]:3899"),
        ("what-if-word", " [MASK] ", "input_ids[token=2]:103"),
        ("what-if-word", "electroencephalography", ""),
        ("what-if-word", "  ", ""),
        ("what-if-word", "\u200b", ""),
        ("what-if-epsilon", "1e-3",
         f"{LAYER}.attention.output.LayerNorm.normalized:epsilon=1e-3~{LAYER}.output.LayerNorm.normalized:epsilon=1e-3"),
        ("what-if-epsilon", "", ""),
    ],
)  # fmt: skip
def test_a_field_of_the_menu_changes_the_list(field, text, expected):
    at = opened_with_offers(token="2", layer="1")
    at.text_input(field).set_value(text).run()
    assert not at.exception and at.session_state["changes"] == expected
    refused = text.strip() not in ("", "dog", "[MASK]", "1e-3")
    assert ("what-if-remark" in at.session_state) == refused


def test_a_list_undone_leaves_the_first_trace():
    before = view(opened()).trace
    first = {address: before[address].copy() for address in before.addresses}
    assert view(opened(changes=f"{HEAD}~{WORD}")).trace is not before
    after = view(opened(changes="")).trace
    for address, numbers in first.items():
        np.testing.assert_array_equal(after[address], numbers)


def test_the_strip_applies_every_strength_but_the_full_one(monkeypatch):
    applied, where = [], Address(PROBS).fix(head=2)
    monkeypatch.setattr(strip, "add_changes", lambda changes, **_: applied.append(changes))
    monkeypatch.setattr(strip.choices, "ask_for_rerun", lambda: None)
    for step in (0, 1, STEPS - 1, STEPS, -1, STEPS + 1):
        strip._apply(where, step)
    told = [[f"{address}:{value}" for address, value in changes.items()] for changes in applied]
    assert told == [[f"{PROBS}[head=2]:scale={strength}"] for strength in ("0", "0.1", "0.9")]


def test_what_lies_around_a_cell():
    at = opened()
    found = list_scopes(view(at).trace, Address(PROBS).fix(head=2, query=3, key=1))
    cell = f"{PROBS}[head=2,query=3,key=1]"
    assert list(map(str, found.values())) == [cell, f"{PROBS}[head=2,query=3]", f"{PROBS}[head=2]", PROBS]


def test_a_head_whose_weights_are_set_to_zero_looks_at_nothing():
    at = opened("attention", changes=HEAD, layer="1", head="2", token="3")
    assert not at.exception
    assert "“sat” looks at nothing: **all its weights are 0**" in at.title[0].value
