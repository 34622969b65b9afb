"""What the drawer says of a number where a change, a small model or the choice of a token makes the usual untrue."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.made_from import count_made, find_made
from bertviz_core.formula.address import read_address
from bertviz_core.formula.numbers import format_percent, format_short
from bertviz_core.ui.views.heads_numbers import tell_extremes
from bertviz_core.ui.walk.explain import work_out
from bertviz_core.ui.walk.rendering import _render_end, _render_line
from bertviz_core.ui.walk.templates.choosing import explain_number
from bertviz_core.ui.walk.what_if_cell import describe_change
from tests.canvas import look
from tests.factory import random_checkpoint
from tests.latex import evaluated
from tests.test_put import RED

L2 = "encoder.layer.2"
SELF, NORM = f"{L2}.attention.self", f"{L2}.output.LayerNorm"
ROW = f"{SELF}.probs[head=1,query=2"


@pytest.fixture(scope="module")
def red(bundled):
    return bv.run(bundled, RED)


def open_drawer(trace, cell):
    view = look(trace.before or trace, trace)
    shown = work_out(view, cell)
    return view, shown, explain_number(view, shown.why, shown.found)


def tell(trace, cell):
    return str(open_drawer(trace, cell)[2].sentence)


def test_tokens_that_are_written_alike_have_rows_of_different_names(bundled):
    trace = bv.run(bundled, "the cat saw the dog")
    rows = open_drawer(trace, f"{ROW},key=4]")[2].table.rows
    assert sorted(row.cells[0].text for row in rows) == ["1 the", "4 the", "[CLS]", "[SEP]", "cat", "dog", "saw"]
    assert [row.cells[0].text for row in rows if row.own] == ["4 the"]


def list_uses(trace, cell):
    view, shown, _ = open_drawer(trace, cell)
    return re.findall(r">([^<>]*)</button>", _render_end(view, shown).partition("bv-story")[0].partition("</span>")[0])


SAID = {
    "a quotient of a change": (
        {f"{NORM}.normalized[token=2]": 5.0}, f"{NORM}[token=2,hidden=7]",
        "γ and β put on scale what a change put there", "standard deviations",
    ),
    "a mean of a change": (
        {f"{NORM}.mean[token=2]": 5.0}, f"{NORM}[token=2,hidden=7]",
        "; LayerNorm makes it {normalized}, and γ and β put that on scale.", "384; γ and β put that on scale",
    ),
    "another epsilon": (
        {f"{NORM}.normalized": "epsilon=2.0"}, f"{NORM}[token=2,hidden=7]",
        "; LayerNorm makes it {normalized}, and γ and β put that on scale.", "384; γ and β put that on scale",
    ),
    "distances from a put mean": (
        {f"{NORM}.mean[token=2]": 5.0}, f"{NORM}.variance[token=2]",
        "The mean of the squared distances from what a change put in place of their mean.", "distances from their mean",
    ),
    "equal numbers": (
        {f"{L2}.output.residual[token=2]": 1.0}, f"{NORM}.mean[token=2]",
        "of which none lies farther from the middle than component 0", "lies farthest",
    ),
    "the largest weight put to 0": (
        {f"{ROW},key=4]": 0.0}, f"{ROW},key=1]",
        "The largest is to “[CLS]”, {first}", "to “red”",
    ),
    "the only weight left": (
        {f"{ROW},key={i}]": 0.0 for i in range(6)}, f"{ROW},key=6]",
        "gives the weight **{last}**", "all of it",
    ),
    "a learned vector put": (
        {"embeddings.word_embeddings[token=2]": 0.5}, "embeddings.sum[token=2,hidden=5]",
        "What stands for “[MASK]” at the start: 3 numbers added up. Largest in size: **word**, 0.50.", "learned",
    ),
    "a product scaled": (
        {f"{SELF}.products[head=1]": "scale=-1"}, f"{SELF}.scaled[head=1,query=2,key=1]",
        "made from this alone", "taken as it is",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_what_a_change_makes_untrue_is_not_said(red, name):
    changes, cell, said, not_said = SAID[name]
    changed = red.with_changes(changes)
    sentence = tell(changed, cell)
    numbers = {
        "normalized": format_short(float(changed[f"{NORM}.normalized[token=2,hidden=7]"])),
        "first": format_percent(float(changed[f"{ROW},key=0]"])),
        "last": format_percent(float(changed[f"{ROW},key=6]"])),
    }
    assert said.format_map(numbers) in sentence and not_said not in sentence


def test_the_formula_of_an_output_has_the_quotient_that_a_change_put(red):
    trace = red.with_changes({f"{NORM}.normalized[token=2]": 5.0})
    _, shown, card = open_drawer(trace, f"{NORM}[token=2,hidden=7]")
    assert card.line is None and evaluated(shown.why.short.replace("dfrac", "frac")).item() == pytest.approx(
        shown.why.value, abs=1e-3
    )
    assert [row.cells[1].text for row in card.table.rows] == ["n", "γ", "β"]
    assert card.table.heading == "Made from 3 numbers"


def test_the_part_of_a_sum_that_a_change_put_comes_from_it(red):
    trace = red.with_changes({"embeddings.word_embeddings[token=2]": 0.5})
    _, _, card = open_drawer(trace, "embeddings.sum[token=2,hidden=5]")
    assert [row.cells[1].text for row in card.table.rows] == ["a change", "position 2", "segment 0"]


def test_shares_that_a_change_put_beside_one_are_told_of(red):
    trace = red.with_changes({f"{ROW},key=4]": 0.0})
    assert "a change puts other numbers beside this one" in open_drawer(trace, f"{ROW},key=1]")[2].note
    assert "change" not in open_drawer(red, f"{ROW},key=1]")[2].note


def test_of_two_largest_shares_none_is_called_the_largest(bundled):
    scores = f"{SELF}.scores[head=1,query=2"
    trace = bv.run(bundled, RED).with_changes({f"{scores}]": 1.0, f"{scores},key=0]": 0.0})
    assert "None is larger than to “the”, 16" in tell(trace, f"{ROW},key=0]")


def test_a_mask_that_a_change_sets_on_padding_is_not_said_to_find_none(bundled):
    trace = bv.run(bundled, RED, pad_to=9).with_changes({"attention_mask[token=8]": 1})
    ends = open_drawer(trace, f"{SELF}.scores[head=1,query=2,key=8]")[2].table.ends
    assert ends[-1].cells[0].text == "mask: hides nothing here"


def test_an_id_in_a_change_is_a_whole_number_and_nothing_is_said_where_it_stays(red):
    view, shown, _ = open_drawer(red.with_changes({"input_ids[token=2]": 2000}), "input_ids[token=2]")
    assert describe_change(view, shown.why) == "before 103, after 2,000, difference 1,897"
    view, shown, _ = open_drawer(red.with_changes({f"{NORM}": 0.0}), "input_ids[token=2]")
    assert describe_change(view, shown.why) == ""


def test_only_what_is_made_of_a_number_itself_is_said_to_be(red):
    last = "encoder.layer.5.output.LayerNorm"
    assert list_uses(red, f"{last}[token=0,hidden=3]") == ["projected", "projected"]
    assert list_uses(red, f"{last}[token=2,hidden=3]") == ["384 × projected"]  # the pooler reads [CLS] alone
    table = "embeddings.word_embeddings.weight"
    assert list_uses(red, f"{table}[vocab=103,hidden=3]") == ["word embedding"]  # the row of one token
    twice = bv.run(red.model, "red or red")
    (word,) = {int(i) for i in twice["input_ids"] if (twice["input_ids"] == i).sum() == 2}
    assert list_uses(twice, f"{table}[vocab={word},hidden=3]") == ["2 × word embedding"]
    assert list_uses(twice, f"{table}[vocab=5,hidden=3]") == []


def test_what_a_change_put_is_not_made_of_anything(red):
    cell = read_address(f"{L2}.intermediate.activation[token=2,intermediate=9]")
    dense = f"{L2}.output.dense"
    trace = red.with_changes({f"{dense}[token=2,hidden=7]": 99.0})
    assert count_made(red, cell, dense) == 384 and count_made(trace, cell, dense) == 383
    assert find_made(trace, cell, dense).at["hidden"] != 7
    assert list_uses(red.with_changes({dense: 0.0}), str(cell)) == []


def test_a_weight_of_the_pooler_works_at_cls_alone(red):
    _, _, card = open_drawer(red, "pooler.dense.weight[pooled=3,hidden=2]")
    assert card.table.heading == "What it does at “[CLS]” alone" and len(card.table.rows) == 1
    product = float(red["encoder.layer.5.output.LayerNorm[token=0,hidden=2]"]) * float(
        red["pooler.dense.weight[pooled=3,hidden=2]"]
    )
    assert card.table.rows[0].amount == pytest.approx(product)


@pytest.fixture(scope="module")
def smallest(tmp_path_factory):
    """A model with one head, one layer, one neuron, and two numbers a token."""
    sizes = {"num_attention_heads": 1, "num_hidden_layers": 1, "hidden_size": 2, "intermediate_size": 1}
    return bv.run(bv.load_model(random_checkpoint(tmp_path_factory.mktemp("smallest"), seed=3, **sizes)), "a")


def test_the_bias_beside_one_product_is_no_product(smallest):
    cell = "encoder.layer.0.output.dense[token=1,hidden=1]"
    _, _, card = open_drawer(smallest, cell)
    assert card.table.heading == "Made from 1 product and a bias, largest first"
    assert [row.cells[0].text for row in (*card.table.rows, *card.table.ends)] == ["0", "bias"]
    assert re.search(r"1 of 1 product.* 0 lower|0 of 1 product.* 1 lower", tell(smallest, cell))


def test_of_two_numbers_none_is_farther_from_their_mean(smallest):
    assert "none lies farther" in tell(smallest, "embeddings.LayerNorm.mean[token=1]")
    assert "1 of its 2 numbers is larger" in tell(smallest, "embeddings.word_embeddings[token=1,hidden=1]")


def test_the_two_logits_of_an_answer_have_names_of_their_own(tmp_path):
    folder = random_checkpoint(tmp_path, kind="question-answering", seed=1)
    trace = bv.run(bv.load_model(folder), "what?", "the cat sat")
    _, _, card = open_drawer(trace, "qa_outputs.spans[start=7,end=8]")
    assert [row.cells[0].text for row in card.table.rows] == ["start logit", "end logit"]
    assert list_uses(trace, "qa_outputs[token=4,bound=1]") == ["end logit"]
    logits = np.array([trace["qa_outputs.start[start=7]"], trace["qa_outputs.end[end=8]"]]).ravel()
    assert ("**start logit**" if np.abs(logits).argmax() == 0 else "**end logit**") in tell(
        trace, "qa_outputs.spans[start=7,end=8]"
    )


def test_every_drawer_after_a_put_vector_has_its_line(red):
    for part in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
        trace = red.with_changes({f"embeddings.{part}": 0.25})
        view, shown, card = open_drawer(trace, "embeddings.sum[token=1,hidden=0]")
        assert "0.2500" in _render_line(view, shown, card)


def test_of_one_neuron_and_of_one_head_there_are_not_all(smallest):
    activation = "encoder.layer.0.intermediate.activation[token=1,intermediate=0]"
    assert "its only number on GELU" in open_drawer(smallest, activation)[2].picture
    assert tell_extremes(np.array([[0.5]])).text.startswith("In the only head it is 0.5000")


def test_a_largest_score_below_0_is_taken_off_with_one_sign(smallest):
    cell = "encoder.layer.0.attention.self.probs[head=0,query=0,key=1]"
    top = float(smallest["encoder.layer.0.attention.self.scores[head=0,query=0]"].max())
    assert top < 0
    assert f"e^(s + {-top:.2f})" in open_drawer(smallest, cell)[2].table.columns


@pytest.mark.parametrize("program", ["bert", "notebook"])
def test_a_residual_sum_tells_what_is_brought_along_from_what_is_added(bundled, program):
    """Also where a document writes the two the other way round."""
    trace = bv.run(bundled, "When in Rome, do as the [MASK] do.", program=program)
    paths = [path for path in trace.addresses if path.endswith("output.residual") and "attention" not in path]
    for path in (paths[0], paths[-1]):
        row = f"{path}[token=8"
        names = [name.partition("[")[0] for name, _ in trace.explain(f"{row},hidden=0]").operands]
        brought, added = (trace[f"{name}[token=8]"] for name in sorted(names, key=lambda name: "output.dense" in name))
        for i, way in list_ways(brought, added):
            said = tell(trace, f"{row},hidden={i}]")
            lead = f"brings along, {format_short(brought[i])}, plus what the feed-forward network adds"
            assert f"{lead}, {format_short(added[i])}. {way}" in said


def list_ways(brought, added):
    """A component of a residual sum for each of the ways in which its parts go together, and what is said of that."""
    apart = brought * added < 0
    ways = (~apart, apart & (abs(added) < abs(brought)), apart & (abs(added) > abs(brought)))
    same, less, more = (int(np.flatnonzero(way)[0]) for way in ways)
    part = format_percent(abs(float(added[less] / brought[less])))
    return (
        (same, "Both go the same way."),
        (less, f"The addition takes **{part}** of it away."),
        (more, "What is added outweighs it."),
    )


def test_what_attention_adds_is_not_brought_along_where_a_document_has_no_output_matrix(bundled):
    trace = bv.run(bundled, RED, program="forward-pass-note")
    cell = f"{L2}.attention.output.residual[token=2,hidden=2]"
    _, _, card = open_drawer(trace, cell)
    assert [row.cells[0].text for row in card.table.rows] == ["brought along", "added"]
    added = float(trace[f"{SELF}.context[token=2,concat=2]"])
    assert f"plus what attention adds, {format_short(added)}." in tell(trace, cell)


def test_of_three_parts_of_a_residual_sum_each_has_a_name_of_its_own(bundled):
    trace = bv.run(bundled, RED, program="formula-post")
    for cell in (f"{L2}.attention.output.residual", f"{L2}.output.residual"):
        names = [row.cells[0].text for row in open_drawer(trace, f"{cell}[token=2,hidden=2]")[2].table.rows]
        assert len({*names}) == 3 and not {"brought along", "added"} & {*names}


@pytest.mark.parametrize(
    ("cell", "owner"),
    [
        ("pooler.dense.bias[pooled=3]", "pooler"),
        ("cls.predictions.transform.dense.bias[transform=3]", "LM head"),
        ("cls.predictions.decoder.bias[vocab=3]", "LM head"),
        ("cls.seq_relationship.bias[relation=1]", "next-sentence classifier"),
        ("encoder.layer.1.attention.self.query.bias[concat=3]", "query of layer 1"),
        ("embeddings.LayerNorm.weight[hidden=3]", "LayerNorm"),
    ],
)
def test_a_parameter_is_one_of_what_has_it(red, cell, owner):
    assert f"A parameter of the {owner}: " in tell(red, cell)


def test_one_product_raises_and_one_lowers(tmp_path):
    folder = random_checkpoint(tmp_path, num_attention_heads=2, hidden_size=2, intermediate_size=2)
    trace = bv.run(bv.load_model(str(folder)), "the cat sat")
    for token in range(len(trace.tokens)):
        said = tell(trace, f"encoder.layer.1.attention.self.query[head=1,query={token},head_dim=0]")
        assert said.startswith("The only number that says what ")
        assert "1 products" not in said and ", 1 lower it" not in said and " 1 product raise " not in said


@pytest.mark.parametrize(("leaf", "ends"), [
    ("scaled", [("Dot product", "products"), ("÷ √32", "scaled")]),
    ("scores", [("Dot product", "products"), ("Scaled dot product ÷ √32", "scaled")]),
])  # fmt: skip
def test_what_products_add_up_to_is_led_on_to_the_number(rome, leaf, ends):
    _, _, card = open_drawer(rome, f"{SELF}.{leaf}[head=0,query=8,key=5]")
    rows = [row for row in card.table.ends if row.lead]
    at = f"{SELF}.{{}}[head=0,query=8,key=5]"
    values = [rome[at.format(name)].item() for _, name in ends]
    assert [row.cells[0].text for row in rows] == [told for told, _ in ends]
    assert [row.cells[-1].value for row in rows] == pytest.approx(values)
    assert values[1] == pytest.approx(values[0] / 32**0.5, rel=1e-6)
