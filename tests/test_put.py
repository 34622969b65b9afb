"""What a change puts in place of what a formula gives: every sentence and formula says so, none claims to give it."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.canvas import Spot, choose_rows
from bertviz_core.formula.numbers import format_latex, format_number, format_short, write_fixed
from bertviz_core.showing.canvas_stops import list_stops
from tests.derived.truth import softmax
from tests.menus import code_open, read_plain  # noqa: F401 - opened for the whole module
from tests.test_pages import APP

RED, TWO = "The [MASK] is red.", "encoder.layer.2"
PUT = " A change puts other numbers there."


@pytest.fixture(scope="module")
def red(bundled):
    return bv.run(bundled, RED)


def opened(page, changes, text=RED, **query):
    """A page with changes; without a page's name the app as it opens, with its drawer."""
    at = AppTest.from_file(APP, default_timeout=120)
    written = "~".join(f"{address}:{value}" for address, value in changes.items())
    at.query_params.update({"text": text, "changes": written, "open": "all", "layer": "2", "head": "1", **query})
    at.run()
    if page:
        at.switch_page(f"pages/{page}.py").run()
    assert not at.exception and not at.error
    return at


def read(at):
    """All captions and other Markdown of a page, formulas among it, and the heads of its cards, as they are read."""
    texts = [each.value for kind in (at.caption, at.markdown, at.latex, at.title) for each in kind]
    texts += [re.sub("<[^>]*>", "", each.proto.body) for each in at.get("html") if "bv-panel-title" in each.proto.body]
    return re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", "\n".join(texts)), "\n".join(each.value for each in at.latex)


def tell(trace, layer=2, head=1, token=2):
    """The sentences of the stops, by name."""
    spot = Spot(layer, head, token, None, choose_rows(token, len(trace.tokens)))
    return {stop["name"]: "".join(text for text, _ in stop["sentence"]) for stop in list_stops(trace, spot)}


def test_neurons_sum_to_what_they_sum_to_and_not_to_the_output_that_a_change_put(red):
    said, _ = read(opened("feed_forward", {f"{TWO}.output.dense": 0.0}))
    written = red[f"{TWO}.intermediate.activation[token=2]"] @ red[f"{TWO}.output.dense.weight"]
    long = np.linalg.norm(written + red[f"{TWO}.output.dense.bias"])
    assert f"sum to a vector of length {format_short(long)}, but a change puts another one there, of length 0." in said


def test_heads_and_bias_give_a_sum_beside_which_a_change_puts_the_output(red):
    changes = {f"{TWO}.attention.output.dense": 0.0}
    said, formulas = read(opened("attention_output", changes))
    given = red[f"{TWO}.attention.output.dense[token=2]"]
    most = int(np.abs(given).argmax())
    number = format_latex(float(given[most]))
    assert re.search(rf"= {re.escape(number)}, \\ \\text{{but a change puts }} .*= 0\b", formulas)
    unchanged, _ = read(opened("attention_output", {}))
    assert PUT.strip() in said.splitlines() and PUT not in f" {unchanged}"


def test_the_stop_of_the_sum_tells_what_the_heads_gave_and_what_a_change_put(red):
    said = tell(red.with_changes({f"{TWO}.attention.output.dense": 0.0}))["add & normalize"]
    form = (
        r"At component (\d+) .* the (\d+) heads of layer 2 with the bias behind them would add (\S+), "
        r"but a change puts (\S+) there, which makes"
    )
    at, heads, given, put = re.search(form, said).groups()
    value = float(red[f"{TWO}.attention.output.dense[token=2,hidden={at}]"])
    assert int(heads) == 12 and given == write_fixed(value, len(given.partition(".")[2])) and float(put) == 0
    assert "would add" not in tell(red)["add & normalize"]


@pytest.mark.parametrize("value", [0.0, 40.0])
def test_a_query_that_a_change_put_is_not_what_its_weights_give(red, value):
    cell = "[head=1,query=2,head_dim=1]"
    said, formulas = read(opened("query_key_value", {f"{TWO}.attention.self.query{cell}": value}, of_head="1"))
    gives, wrote = float(red[f"{TWO}.attention.self.query{cell}"]), format_latex(value)
    assert "a row, plus b, gives one number, but a change puts others at the right" in said
    assert "A change puts other numbers there than this formula gives. Without it: " in said
    assert re.search(rf"= {re.escape(format_latex(gives))}, \\ \\text{{but a change puts }} .*= {wrote}", formulas)
    if value:  # it is then the largest, which the head's cut of the long vector works out
        assert len(re.findall(r"\\text{but a change puts }", formulas)) == 2
    stop = tell(red.with_changes({f"{TWO}.attention.self.query{cell}": value}))["ask / offer"]
    assert stop.endswith("; a change puts other numbers into the query.")


def test_without_a_change_no_page_speaks_of_one(red):
    for page in ("query_key_value", "attention_output", "feed_forward", "embeddings", "add_norm", "attention"):
        said, _ = read(opened(page, {}))
        assert "a change" not in said.lower() and "Without it" not in said


def test_gamma_and_beta_do_not_give_what_a_change_put(bundled):
    said, _ = read(opened("embeddings", {"embeddings.LayerNorm": 0.25}, "Hi there you"))
    trace = bv.run(bundled, "Hi there you")
    assert "a change puts other numbers into what the LayerNorm that follows makes of it." in said
    before = format_number(np.std(trace["embeddings.sum"][3].astype(np.float64)))
    assert f"the standard deviation of the components goes from {before} in the sum to 0." in said


# changes, what the headline adds and how the caption begins
START = [
    ({"embeddings.sum[token=5]": 0.5}, "; but a change puts other numbers into the sum", "Rows of three "),
    (
        {"embeddings.LayerNorm[token=5]": 0.5},
        "; but a change puts other numbers into what LayerNorm makes of it",
        "Rows of three ",
    ),
    ({"embeddings.LayerNorm": "noise=3"}, "; but a change adds to what LayerNorm makes of it", "Rows of three "),
    ({"embeddings.LayerNorm": "scale=3"}, "; but a change multiplies what LayerNorm makes of it", "Rows of three "),
    ({"embeddings.sum": "scale=3"}, "; but a change multiplies the sum", "Rows of three "),
    (
        {"embeddings.word_embeddings[token=5]": 0.0},
        "",
        "A change puts other numbers in place of the row of the word. Component ",
    ),
    (
        {"embeddings.position_embeddings": "scale=3", "embeddings.token_type_embeddings[token=5]": 0.0},
        "",
        "A change puts other numbers in place of the rows of the position and the segment. Component ",
    ),
]


@pytest.mark.parametrize(("changes", "added", "begun"), START)
def test_a_start_that_a_change_puts_is_not_its_rows(changes, added, begun):
    at = opened("embeddings", changes, token="5")
    said = at.title[0].value
    assert (said.partition("**; but")[1] and "; but" + said.partition("**; but")[2]) == added, said
    captions = [each.value.replace("\\", "") for each in at.caption]
    assert any(each.startswith(begun) for each in captions), captions
    assert any("Rows of three learned tables" in each for each in captions) == begun.startswith("Rows")


def test_what_is_no_sum_of_its_rows_is_not_written_as_one():
    said, _ = read(opened("embeddings", {"embeddings.sum": 0.25}, vectors="normalized"))
    assert re.search(r"Component \d+: .* = \S+, .*; but a change makes the sum 0\.2500\. The sum lies", said)
    assert "Mean 0 and variance 1 in every row." not in said, "of equal numbers the variance stays 0"


def test_rows_that_a_change_put_are_not_said_to_sum_to_1():
    said = read_plain(opened("attention", {f"{TWO}.attention.self.probs[head=1]": 0.0}))
    assert "A change puts other numbers there than this formula gives." in said and "sums to 1" not in said


def test_the_list_of_formulas_says_beside_which_a_change_put_other_numbers():
    without = "A change puts other numbers there than this formula gives. Without it: "
    at = opened("formulas", {f"{TWO}.attention.self.probs[head=1]": 0.0})
    assert read_plain(opened("formulas", {})).count(without) == 0
    html = "".join(each.proto.body for each in at.get("html"))
    rows = dict(re.findall(r'class="bv-row" data-cell="([^"[]+)(.*?)</button>', html))
    assert [path for path, inside in rows.items() if without in inside] == [f"{TWO}.attention.self.probs"]


def test_the_softmax_of_scores_stands_beside_the_weight_that_a_change_put(red):
    at = opened("attention", {f"{TWO}.attention.self.probs[head=1]": 0.0})
    table = next(each.proto.body for each in at.get("html") if "masked score S" in each.proto.body)
    names = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', table)
    shares, weights = names.index("softmax"), names.index("attention weight")
    rows = [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in re.findall(r"<tr.*?</tr>", table)[1:]
    ]
    expected = softmax(red[f"{TWO}.attention.self.scores[head=1,query=2]"].astype(np.float64))
    assert [row[shares].strip() for row in rows] == [format_number(float(share)) for share in expected]
    assert {row[weights].strip() for row in rows} == {"0"}


def test_products_are_told_by_their_size(bundled):
    trace = bv.run(bundled, "I \N{GRINNING FACE} love \N{SLICE OF PIZZA}! <b>*x*</b> $2$")
    word = re.search(r"looks most at “([^”]+)”", tell(trace, 0, 0, 17)["ask / offer"])[1]
    key = trace.tokens.index(word)
    own = "encoder.layer.0.attention.self"
    terms = trace[f"{own}.query[head=0,query=17]"].astype(float) * trace[f"{own}.key[head=0,key={key}]"]
    most = terms[np.abs(terms).argmax()]
    assert f"32 products, the largest in size {write_fixed(most, 2)}, add up to " in tell(trace, 0, 0, 17)["compare"]
    none = trace.with_changes({f"{own}.query": 0.0})
    assert "32 products, all of them 0, add up to 0.00" in tell(none, 0, 0, 17)["compare"]


def test_products_that_a_change_put_are_no_sum(red):
    none = red.with_changes({f"{TWO}.attention.self.products": 0.0})
    query, keys = (red[f"{TWO}.attention.self.{name}[head=1]"].astype(float) for name in ("query", "key"))
    said = tell(none)["compare"]
    total = re.search(r"add up to (\S+), but a change makes the score 0\.0", said)[1]
    assert any(write_fixed(key @ query[2], len(total.partition(".")[2])) == total for key in keys)


def test_an_input_that_a_change_put_was_not_made_by_the_tokenizer():
    changes = {"input_ids[token=3]": 1000, "token_type_ids[token=4]": 1, "position_ids[token=2]": 100}
    for cell in changes:
        page = opened("", changes, "When in Rome, do as the [MASK] do.", walk=cell)
        bodies = "".join(element.proto.body for element in page.get("html"))
        said = re.sub(r'<span role="tooltip">.*?</span>|<[^>]*>', "", bodies)
        assert "the tokenizer made it" not in said
        assert "Set by a what-if change; it replaces what the tokenizer made. A walk back ends here." in said


def test_the_stop_of_the_pieces_tells_an_entry_that_a_change_put(red):
    said = tell(red.with_changes({"input_ids[token=3]": 1000}), token=3)["cut"]
    assert " is entry 1000, put there by a change." in said and "put there" not in tell(red, token=3)["cut"]


def test_a_score_that_a_change_put_is_not_what_the_head_gives(red):
    said = tell(red.with_changes({"cls.predictions.decoder": 1.0}))["word"]
    assert re.search(r"its bias, \S+, would be its score, but a change makes that 1\.00: one of the highest of", said)
