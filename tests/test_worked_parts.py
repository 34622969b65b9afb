"""The drawer's numbers of where a number comes from, as a transcription in NumPy and passes of their own have them."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from bertviz_core.analysis.attribution import COMPLETE
from bertviz_core.analysis.methods import Methods
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import read_address
from bertviz_core.formula.numbers import format_percent, format_short
from bertviz_core.ui.walk import worked_parts
from bertviz_core.ui.walk.card import render_table
from bertviz_core.ui.walk.origin import MOST_ROWS, ROWS, choose_rows
from bertviz_core.ui.walk.worked_out import find_worked_out
from tests.canvas import look
from tests.token_parts import transcribe, transcribe_components, transcribe_last

LOGIT = "cls.predictions.decoder{}[token=8,vocab=2111{}]"
LAST = "encoder.layer.5.output.LayerNorm"


def find(trace, where):
    return find_worked_out(look(trace), read_address(where))


@pytest.fixture(scope="module")
def parts(rome):
    return transcribe(rome, LOGIT.format("", ""))


def test_a_part_and_the_biases_are_those_of_a_transcription(rome, parts):
    for j in (3, 9):
        told = find(rome, LOGIT.format(".part", f",source={j}"))
        assert told.number == pytest.approx(parts[j], abs=1e-5)
    assert find(rome, LOGIT.format(".biases", "")).number == pytest.approx(parts[-1], abs=1e-5)
    assert find(rome, LOGIT.format(".parts", "")).number == pytest.approx(float(rome[LOGIT.format("", "")]), abs=1e-4)


def test_instead_of_another_word_is_the_difference_of_two_parts(rome, parts):
    other = transcribe(rome, LOGIT.format("", "").replace("2111", "2273"))
    told = find(rome, LOGIT.format(".part", ",against=2273,source=9"))
    assert told.number == pytest.approx(parts[9] - other[9], abs=1e-5)


def test_with_a_token_hidden_it_is_the_number_of_another_pass(rome):
    hidden = rome.with_changes({"input_ids[token=9]": rome.model.tokenizer.mask_id})
    told = find(rome, LOGIT.format(".hidden", ",source=9"))
    assert told.number == pytest.approx(float(hidden["cls.predictions.probs[token=8,vocab=2111]"]), rel=1e-5)


def test_heads_and_blocks_are_those_of_a_transcription(rome):
    _, heads, blocks, _ = transcribe_components(rome, LOGIT.format("", ""))
    for layer, head in ((5, 8), (2, 0)):
        told = find(rome, LOGIT.format(".head", f",layer={layer},head={head}"))
        assert told.number == pytest.approx(heads[layer, head], abs=1e-5)
    assert find(rome, LOGIT.format(".block", ",layer=4")).number == pytest.approx(blocks[4], abs=1e-5)


def test_a_share_of_lengths_is_that_of_a_transcription(rome):
    states = transcribe_last(rome)
    lengths = np.linalg.norm(states[8], axis=-1)
    told = find(rome, f"{LAST}.length[token=8,source=12]")
    assert told.number == pytest.approx(lengths[12] / lengths.sum(), abs=1e-5)


def test_every_operand_that_is_a_button_is_a_number(rome):
    for where in (LOGIT.format(".part", ",source=3"), LOGIT.format(".head", ",layer=5,head=8")):
        steps = re.findall(r'data-step="([^"]*)"', render_table(find(rome, where).card.table))
        assert len(steps) > 9 and all(not rome.dims(step) for step in steps)


@pytest.mark.parametrize(
    "where",
    [
        LOGIT.format(".part", ""),
        LOGIT.format(".part", ",source=12"),
        LOGIT.format(".head", ",layer=5,head=99"),
        LOGIT.format(".block", ",layer=6"),
        f"{LAST}.length[token=12,source=0]",
        f"{LAST}.part[source=1]",
    ],
)
def test_what_names_no_part_is_refused_in_words(rome, where):
    with pytest.raises(AddressError):
        find(rome, where)


def test_a_head_has_its_place_by_size_also_where_it_takes_away(rome):
    _, heads, *_ = transcribe_components(rome, LOGIT.format("", ""))
    layer, head = np.unravel_index(heads.argmin(), heads.shape)
    (claim,) = find(rome, LOGIT.format(".head", f",layer={layer},head={head}")).card.sentence.claims
    assert claim.parts["rank"].value == int((np.abs(heads) >= abs(heads.min())).sum()) < heads.size // 2


def test_a_product_of_a_part_is_of_what_the_token_starts_as_and_of_how_much_that_counts(rome):
    start = rome["embeddings.LayerNorm"][3]
    table = find(rome, LOGIT.format(".part", ",source=3")).card.table
    assert table.columns[:3] == ("component", "starts as", "counts")
    for row in table.rows:
        counts = float(row.cells[2].text.replace("−", "-"))
        assert counts * float(start[int(row.cells[0].text)]) == pytest.approx(row.amount, rel=0.01)


def test_one_token_alone_is_said_to_have_carried_the_most(rome, parts):
    said = [find(rome, LOGIT.format(".part", f",source={j}")).card.sentence.text for j in range(12)]
    assert [j for j, each in enumerate(said) if ", the most of 12 tokens" in each] == [int(np.argmax(parts[:-1]))]


def test_what_the_sum_of_all_parts_misses_is_said_with_the_sum(rome, parts):
    (claim,) = find(rome, LOGIT.format(".parts", "")).card.sentence.claims
    assert claim.parts["gap"].value == pytest.approx(abs(parts.sum() - float(rome[LOGIT.format("", "")])), abs=1e-4)


@pytest.mark.parametrize("leaf", [".parts", ".biases"])
def test_a_waterfall_ends_at_its_sum_also_where_few_of_its_pieces_are_named(rome, monkeypatch, leaf):
    drawn = []
    monkeypatch.setattr(worked_parts, "draw_waterfall", lambda pieces, result: drawn.append((pieces, result)) or "")
    number = find(rome, LOGIT.format(leaf, "")).number
    ((pieces, result),) = drawn
    assert any("other" in piece.name for piece in pieces)
    assert (result.amount, sum(piece.amount for piece in pieces)) == pytest.approx((number, number))


def test_words_with_a_token_hidden_stand_beside_what_they_are_without_that(rome):
    hidden = rome.with_changes({"input_ids[token=9]": rome.model.tokenizer.mask_id})
    now, then = (trace["cls.predictions.probs[token=8]"] for trace in (rome, hidden))
    table = find(rome, LOGIT.format(".hidden", ",source=9")).card.table
    assert table.columns == ("", "as it is", "hidden") and len(table.rows) > 6
    for row in table.rows:
        word = rome.model.tokenizer.id(row.cells[0].text)
        shown = [cell.text for cell in row.cells[1:]]
        assert shown == [format_percent(float(probs[word])) for probs in (now, then)]


def test_of_many_tokens_those_have_rows_whose_parts_are_largest_in_size():
    parts = np.random.default_rng(1).normal(size=MOST_ROWS + 5)
    rows = choose_rows(parts)
    others = np.delete(parts, rows)
    assert rows == sorted(rows) and len(rows) == ROWS
    assert parts[rows].min() < 0 and np.abs(parts[rows]).min() >= np.abs(others).max()


def test_who_looks_takes_and_who_is_looked_at_gives(rome):
    taken = find(rome, "encoder.layer.2.attention.self.probs.taken[head=1,query=8,key=3]")
    share = format_percent(float(rome["encoder.layer.2.attention.self.probs[head=1,query=8,key=3]"]))
    assert f"“[MASK]” gives “rome” {share} of its attention" in taken.card.sentence.text.replace("*", "")


def test_what_rises_with_a_token_hidden_is_not_said_to_fall(rome):
    cell, falls = "cls.predictions.probs[token=8,vocab=2111]", {}
    for j in (1, 2, 3, 4, 5, 6, 7, 9):
        hidden = rome.with_changes({f"input_ids[token={j}]": rome.model.tokenizer.mask_id})
        falls[j] = float(np.log(rome[cell]) - np.log(hidden[cell]))
    assert min(falls.values()) < 0 < max(falls.values())
    for j, way in ((min(falls, key=falls.get), "rise"), (max(falls, key=falls.get), "fall")):
        told = find(rome, LOGIT.format(".fall", f",source={j}"))
        assert told.number == pytest.approx(falls[j], abs=1e-4)
        assert f": a {way} of **{format_short(abs(told.number))}**" in told.card.sentence.text


@pytest.mark.parametrize(("total", "gap"), [(1.5, 0.5), (0.5, 0.5), (0.995, 0.005)])
def test_a_sum_that_is_too_small_misses_as_much_as_one_that_is_too_large(total, gap):
    found = Methods(gradients=SimpleNamespace(parts=np.array([total]), difference=1.0))
    assert found.gap == pytest.approx(gap) and found.complete == (gap < COMPLETE)
