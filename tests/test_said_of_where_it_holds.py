"""Sentences that say of all what holds of some, of a number what another is called, or of a page what it lacks."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.naming import NOUNS
from bertviz_core.formula.address import read_address
from bertviz_core.formula.numbers import format_number, write_fixed
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.panels.put import tell_way
from bertviz_core.ui.views.heads import _write_reason
from bertviz_core.ui.views.layers_flow import _make_origin
from tests.canvas import look
from tests.factory import random_checkpoint
from tests.settling import settle
from tests.test_drawer_said import open_drawer
from tests.test_put import opened, tell
from tests.test_said_after_changes import read_all

OWN = "encoder.layer.2.attention.self"
RAIN, DOGS, HELLO = "Rain fell on us.", "The dog that bit the dog ran from the dog.", "Hello"


@pytest.mark.parametrize("pad", [None, 9, 40])
def test_what_a_weight_does_at_each_token_has_no_padding_among_the_largest(bundled, pad):
    trace = bv.run(bundled, RAIN, pad_to=pad)
    cell = "encoder.layer.3.intermediate.dense.weight[hidden=1,intermediate=2]"
    _, _, card = open_drawer(trace, cell)
    read_by = trace["encoder.layer.3.attention.output.LayerNorm"][:7, 1]
    assert card.table.heading == f"What it does at each token{' but padding' if pad else ''}"
    assert [row.cells[1].text for row in card.table.rows] == [format_number(float(each)) for each in read_by]
    np.testing.assert_allclose([row.amount for row in card.table.rows], read_by * float(trace[cell]))


@pytest.mark.parametrize(("text", "place"), [(DOGS, (2, 7, 6)), (RAIN, (3, 2, 2)), (HELLO, (5, 4, 1))])
def test_what_gamma_and_beta_have_scaled_is_not_called_normalized(bundled, text, place):
    """A token's normalized vector is what LayerNorm has before it scales and shifts."""
    trace = bv.run(bundled, text)
    layer, head, token = place
    told = tell(trace, layer, head, token)
    component = int(re.search(r"At component (\d+)", told["look up"])[1])
    after = r"(−?[\d.]+) after LayerNorm\.$", r"that is −?[\d.]+; LayerNorm makes it (−?[\d.]+)\.$"
    for name, pattern, module in (
        ("look up", after[0], "embeddings.LayerNorm"),
        ("neurons", after[1], f"encoder.layer.{layer}.output.LayerNorm"),
    ):
        said = re.search(pattern, told[name])[1]
        digits = len(said.partition(".")[2])
        assert said == write_fixed(float(trace[f"{module}[token={token},hidden={component}]"]), digits)
        plain = write_fixed(float(trace[f"{module}.normalized[token={token},hidden={component}]"]), digits)
        assert said != plain and "normalized" not in told[name]


def test_a_column_of_which_a_change_puts_some_numbers_is_still_made_as_it_is(bundled):
    before, way = bv.run(bundled, DOGS), "no padding: + 0"
    row = read_address(f"{OWN}.scores[head=7,query=6]")
    for changes, told in (
        ({}, way),
        ({f"{OWN}.scores[head=7,query=6,key=3]": -10000.0}, f"{way}; a change puts some"),
        ({f"{OWN}.scores[head=7,query=6]": 1.0}, "put there by a change"),
        ({f"{OWN}.scores[head=7]": 1.0}, "put there by a change"),
        ({f"{OWN}.scores[head=7,query=5]": 1.0}, way),
    ):
        assert tell_way(look(before, before.with_changes(changes) if changes else before), row, way) == told


@pytest.mark.parametrize("leaf", ["scores", "probs"])
def test_the_heads_of_columns_say_that_a_change_puts_one_number(leaf):
    html = opened("attention", {f"{OWN}.{leaf}[head=1,query=2,key=3]": 0.25}, token="2").get("html")
    table = next(each.proto.body for each in html if "1 · Dot product" in each.proto.body)
    way = {"scores": "no padding: + 0", "probs": "exp(S) over the sum of all exp(S)"}[leaf]
    assert f"{way}; a change puts some" in table and "put there by a change" not in table


def test_that_there_is_one_head_is_so_before_and_after_a_change(tmp_path):
    model = bv.load_model(random_checkpoint(tmp_path, num_attention_heads=1, num_hidden_layers=1, hidden_size=4))
    before = bv.run(model, "the cat sat")
    after = before.with_changes({"encoder.layer.0.attention.self.value[head=0,key=2]": 0.0})
    assert _write_reason(look(before, after)) == escape_markdown(
        "Layer 0, head 0 is shown: this model has no other head."
    )


def test_a_name_keeps_its_capitals_inside_a_sentence():
    at = opened("story", {"encoder.layer.5.output.LayerNorm[token=1,hidden=10]": 20.0}, text=HELLO, token="1")
    assert at.title[0].value.endswith("back to?* To **LayerNorm output**, put there by a change")
    for noun in NOUNS.values():
        names = {"LayerNorm", "LM"} & {*re.findall(r"\w+", noun.title)}
        assert names <= {*re.findall(r"\w+", noun.inside)} and noun.inside.lower() == noun.title.lower()
        assert noun.inside[0].islower() or noun.inside.startswith(tuple(names) or "-")


CUT = {"encoder.layer.2.attention.output.residual": "no-residual"}
WORDS = "In words and in the formula: after your change."


def test_what_no_change_reaches_is_not_said_to_be_after_it():
    shown = {page: opened(page, CUT, show="Difference") for page in ("parameters", "notation", "embeddings", "layers")}
    assert settle(120)
    for page, at in shown.items():
        after = [each.value for each in at.caption if each.value.startswith(WORDS)]
        of_tables = [each for each in after if "Rows are positions" in each or "of direct neighbours" in each]
        assert not of_tables and (bool(after) or page in ("parameters", "notation")), (page, after)
        assert not after or page in ("embeddings", "layers"), (page, after)


def test_two_halves_that_are_divided_by_their_sum_are_no_longer_halves(bundled):
    before = bv.run(bundled, DOGS)
    after = before.with_changes({"encoder.layer.4.attention.self.probs[head=3]": 0.0})
    share = after["encoder.layer.4.attention.self.probs"].mean(axis=0).sum(axis=-1)
    np.testing.assert_allclose((share / 2) / (share / 2 + 0.5), 11 / 23, atol=1e-6)  # of attention
    for trace, told in ((before, False), (after, True)):
        view = look(before, trace)
        assert ("so that they are no longer halves" in _make_origin(view, np.ones((6, 13, 13))).meaning) == told


@pytest.mark.parametrize(("kind", "reads", "lacks"), [
    ("pretraining", "BERT can read and predict only these. ", "BERT's pooler reads the first token."),
    ("question-answering", "BERT can read only these. ",
     "BERT's pooler, which this checkpoint lacks, reads the first token."),
])  # fmt: skip
def test_what_a_checkpoint_lacks_is_not_said_to_do_something(tmp_path, monkeypatch, kind, reads, lacks):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind=kind)))
    place = {"text": "the cat", "pair": "sat on the mat", "layer": "1"}
    for page, said in (("tokenization", reads), ("sentence", lacks)):
        assert said in read_all(opened(page, {}, **place))
