"""Numbers that no step computes: the entropy of a row and the cosine of two vectors, as NumPy has them."""

import re
from dataclasses import replace

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.documents import DOCUMENTS
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, read_address
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.ui.views.documents_told import find_cosine, tell
from bertviz_core.ui.walk import worked_out
from bertviz_core.ui.walk.card import render_table
from bertviz_core.ui.walk.worked_lengths import find_length, find_taken
from bertviz_core.ui.walk.worked_out import (
    find_angle,
    find_entropy,
    find_worked_out,
    name_worked_out,
    pick_cosines,
)
from bertviz_core.ui.walk.worked_shares import find_share
from tests.canvas import look
from tests.test_drawer_cards import add_up

TEXT = "When in Rome, do as the [MASK] do."
ROW = Address("encoder.layer.2.attention.self.probs").fix(head=0, query=8)
DOT = Address("encoder.layer.2.attention.self.products").fix(head=0, query=8, key=6)
KEY = "key[head=0,key=6]"
LENGTH = find_length(Address("encoder.layer.2.attention.self.key").fix(head=0, key=6))
PAIR = "embeddings.LayerNorm.cosine[token=8,other=7]"


def find(trace, where):
    return find_worked_out(look(trace), read_address(str(where)))


def test_the_entropy_of_a_row_is_that_of_its_weights(rome):
    told, weights = find(rome, find_entropy(ROW)), rome[ROW].astype(np.float64)
    assert told.number == pytest.approx(-(weights * np.log2(weights)).sum(), abs=1e-9)
    assert told.value == format_number(told.number) and told.unit == "bits"
    assert add_up(told.card.table)[0] == pytest.approx(told.number, abs=1e-3)
    assert f"as if over **{2**told.number:.2f} of 12 tokens** evenly" in str(told.card.sentence)
    assert f"{np.log2(12):.2f} all alike" in str(told.card.sentence)


def test_padding_is_none_of_the_tokens_that_attention_could_be_spread_over(bundled):
    padded = bv.run(bundled, TEXT, pad_to=20)
    told = find(padded, find_entropy(ROW))
    assert f"as if over **{2**told.number:.2f} of 12 tokens** evenly" in str(told.card.sentence)
    assert f"{np.log2(12):.2f} all alike" in str(told.card.sentence)
    even = find(padded.with_changes({str(ROW): 0.05}), find_entropy(ROW))
    assert "of 20 tokens** evenly" in str(even.card.sentence)  # a change has it look at padding too


@pytest.mark.parametrize("vectors", ["embeddings.LayerNorm", "encoder.layer.4.output.LayerNorm", "embeddings.sum"])
@pytest.mark.parametrize("other", [7, 8])
def test_the_cosine_of_two_tokens_is_that_of_their_vectors(rome, vectors, other):
    told = find(rome, f"{vectors}.cosine[token=8,other={other}]")
    x, y = (rome[f"{vectors}[token={i}]"].astype(np.float64) for i in (8, other))
    cosine = x @ y / np.sqrt((x @ x) * (y @ y))
    assert told.number == pytest.approx(cosine, abs=1e-9)
    assert add_up(told.card.table)[0] == pytest.approx(cosine, abs=1e-3)
    assert f"**{np.degrees(np.arccos(min(1, cosine))):.{0 if other == 7 else 1}f}°**" in str(told.card.sentence)


def test_the_angle_of_a_query_and_a_key_is_that_of_their_vectors(rome):
    told = find(rome, find_angle(DOT))
    q, k = (rome[f"encoder.layer.2.attention.self.{row}"].astype(np.float64) for row in ("query[head=0,query=8]", KEY))
    cosine = q @ k / np.sqrt((q @ q) * (k @ k))
    assert told.number == pytest.approx(cosine, abs=1e-9) and told.unit == f"cosine {cosine:.2f}"
    assert told.value == f"{np.degrees(np.arccos(cosine)):.2f}°"
    assert add_up(told.card.table)[0] == pytest.approx(cosine, abs=1e-3)


def test_the_length_of_a_row_is_that_of_its_vector(rome):
    told = find(rome, LENGTH)
    assert told.number == pytest.approx(np.linalg.norm(rome[f"encoder.layer.2.attention.self.{KEY}"]), rel=1e-6)
    assert add_up(told.card.table)[0] == pytest.approx(told.number**2, abs=1e-3)


@pytest.mark.parametrize(
    ("of", "named"),
    [
        ("attention.output.dense", "Length of an attention output"),
        ("output.dense", "Length of a feed-forward output"),
        ("intermediate.activation", "Length of an activation"),
    ],
)
def test_a_length_has_the_article_of_what_it_is_of(rome, of, named):
    assert find(rome, find_length(Address(f"encoder.layer.2.{of}").fix(token=8))).name == named


def test_every_operand_can_be_walked_to(rome):
    for where, least in ((find_entropy(ROW), 20), (PAIR, 20), (find_angle(DOT), 20), (LENGTH, 9)):
        steps = re.findall(r'data-step="([^"]*)"', render_table(find(rome, where).card.table))
        assert len(steps) > least and all(not rome.dims(step) for step in steps)


def test_a_zeroed_head_has_no_entropy_and_a_zeroed_vector_no_cosine(bundled):
    for changes, where in (({str(ROW): 0.0}, find_entropy(ROW)), ({"embeddings.LayerNorm[token=8]": 0.0}, PAIR)):
        with pytest.raises(AddressError):
            find(bv.run(bundled, TEXT, changes=changes), where)


@pytest.mark.parametrize(
    "where",
    [
        "encoder.layer.2.attention.self.probs.entropy[head=0]",
        "encoder.layer.2.attention.self.scores.entropy[head=0,query=8]",
        "encoder.layer.2.attention.self.probs.entropy[head=0,query=99]",
        "embeddings.LayerNorm.cosine[token=8]",
        "embeddings.LayerNorm.cosine[token=8,other=99]",
        "encoder.layer.2.attention.self.probs.cosine[token=8,other=7]",
        "encoder.layer.2.attention.self.products.angle[head=0,query=8]",
        "encoder.layer.2.attention.self.probs.angle[head=0,query=8,key=6]",
        "encoder.layer.2.attention.self.key.norm[head=0]",
        "encoder.layer.2.attention.self.probs.norm[head=0,query=8]",
        "encoder.layer.2.attention.self.probs.taken[head=0,query=8]",
        "encoder.layer.2.attention.self.scores.taken[head=0,query=8,key=6]",
        "encoder.layer.2.attention.output.dense.share[head=3]",
        "encoder.layer.2.attention.output.dense.share[token=8,head=12]",
        "encoder.layer.2.attention.output.dense.share[token=99,head=3]",
        "encoder.layer.2.output.dense.share[token=8,head=3]",
        "encoder.layer.2.attention.output.residual.angle[hidden=8]",
        "encoder.layer.2.attention.output.residual.angle[token=99]",
    ],
)
def test_what_names_no_such_number_is_refused(rome, where):
    with pytest.raises(AddressError):
        find(rome, where)


def test_other_addresses_are_left_to_others(rome):
    for where in (str(ROW), "documents.cosine[document=0,token=8]", "input_ids[token=8]"):
        assert find(rome, where) is None
    assert (name_worked_out(ROW), name_worked_out(find_entropy(ROW))) == ("", "entropy")


def test_no_name_means_two_such_numbers():
    assert not worked_out.MAKERS.keys() & worked_out._OF_PARTS.keys()


def test_the_cells_of_a_map_of_cosines_have_their_addresses():
    assert pick_cosines(Address("embeddings.LayerNorm")).format(y=8, x=7) == PAIR


def test_a_document_is_compared_with_bert_component_by_component(rome):
    told = tell(replace(look(rome), text=TEXT), find_cosine(DOCUMENTS[0], 8))
    x = rome["encoder.layer.5.output.LayerNorm[token=8]"].astype(np.float64)
    y = bv.run(rome.model, TEXT, program=DOCUMENTS[0].program)
    last = [address for address in y.program.spine if ".layer.5." in address][-1]
    y = y[f"{last}[token=8]"].astype(np.float64)
    assert told.number == pytest.approx(x @ y / np.sqrt((x @ x) * (y @ y)), abs=1e-6)
    assert add_up(told.card.table)[0] == pytest.approx(told.number, abs=1e-3)
    up, down = (x * y > 0).sum(), (x * y < 0).sum()
    assert f"Of {len(x)} products {up} raise the cosine, {down} lower it." in str(told.card.sentence) and up and down


def test_what_a_token_takes_is_its_weight_times_the_length_of_the_value(rome):
    told = find(rome, find_taken(ROW.fix(key=6)))
    weight = float(rome[ROW.fix(key=6)])
    value = rome["encoder.layer.2.attention.self.value[head=0,key=6]"].astype(np.float64)
    assert told.number == pytest.approx(weight * np.sqrt((value**2).sum()), rel=1e-9)
    listed = [[cell.text for cell in row.cells] for row in told.card.table.rows if not row.lead]
    assert [int(row[0]) for row in listed] == np.argsort(-(value**2), kind="stable")[: len(listed)].tolist()
    assert listed[0][1:] == [format_number(float(x)) for i in [int(listed[0][0])]
                             for x in (value[i], weight * value[i], (weight * value[i]) ** 2)]  # fmt: skip
    assert add_up(told.card.table)[0] == pytest.approx(told.number**2, abs=1e-3)


@pytest.mark.parametrize("head", [11, 2, None])
def test_the_share_of_a_head_is_the_part_of_what_attention_adds_that_it_makes_up_along_it(rome, head):
    output = Address("encoder.layer.2.attention.output.dense")
    told = find(rome, find_share(output.fix(token=8), head))
    context, weight, bias = (
        rome[f"encoder.layer.2.attention.{leaf}"].astype(np.float64)
        for leaf in ("self.context[token=8]", "output.dense.weight", "output.dense.bias")
    )
    rows = slice(0, 0) if head is None else slice(32 * head, 32 * head + 32)
    part, total = bias if head is None else context[rows] @ weight[rows], context @ weight + bias
    assert told.number == pytest.approx(part @ total / (total @ total), rel=1e-6)
    assert told.unit == format_percent(told.number) and told.unit in told.card.sentence.text
    assert add_up(told.card.table)[0] == pytest.approx(told.number, abs=1e-3)


@pytest.mark.parametrize("module", ["attention.output", "output"])
def test_the_angle_of_what_is_added_is_that_between_a_sublayers_input_and_its_output(rome, module):
    layer = "encoder.layer.2"
    told = find(rome, find_angle(Address(f"{layer}.{module}.residual").fix(token=8)))
    was = "encoder.layer.1.output.LayerNorm" if module == "attention.output" else f"{layer}.attention.output.LayerNorm"
    x, y = (rome[f"{path}[token=8]"].astype(np.float64) for path in (was, f"{layer}.{module}.dense"))
    cosine = x @ y / np.sqrt((x @ x) * (y @ y))
    assert told.number == pytest.approx(cosine, abs=1e-9)
    assert told.value == f"{np.degrees(np.arccos(cosine)):.2f}°" and told.unit == f"cosine {cosine:.2f}"
    assert add_up(told.card.table)[0] == pytest.approx(cosine, abs=1e-3)
    assert [title.text for title in told.card.table.columns[1:3]] == ["was", "added"]
