"""What stands below the pictures of single pages: which tokens are drawn, between which ends; counted here."""

import base64
import csv
import io
import itertools
import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.add_norm import ATTENTION
from bertviz_core.analysis.token_lines import Links, choose_strongest
from bertviz_core.formula.numbers import format_number, format_percent
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.panels import derived, token_lines
from bertviz_core.ui.views import (
    add_norm_sums,
    attention,
    attention_output,
    attention_output_bringing,
    attention_output_taken,
    attention_said,
    attention_worked,
    embeddings,
    layers,
)
from bertviz_core.ui.views.documents_slips import tell_most_changed
from bertviz_core.ui.views.query_key_value_worked import tell_framed
from tests.canvas import look

LONG = "the old man and the cat sat on the mat near the river and the dog ran to the house on the hill"


@pytest.fixture(scope="module")
def padded(bundled):
    """25 tokens of a text, and seven of padding behind them."""
    trace = bv.run(bundled, LONG, pad_to=32)
    assert (len(trace.tokens), trace.tokens.index("[PAD]")) == (32, 25)
    return trace


def test_with_a_change_the_least_and_the_largest_sum_of_a_row_are_told():
    told = attention_said.tell_rows(np.array([[0.5, 0.5], [0.5, 0.25], [0.5, 0.75]]))
    assert told == "Rows are queries, columns are keys; as changed, a row sums to 0.7500 to 1.2500."
    assert attention_said.tell_rows(np.full((2, 4), 0.25)).endswith("; each row sums to 1.")


@pytest.mark.parametrize(("token", "first", "last"), [(0, 0, 23), (150, 138, 161), (302, 279, 302)])
def test_the_first_and_the_last_token_of_a_window_are_told(bundled, token, first, last):
    view = look(bv.run(bundled, "a " * 300 + "[MASK]"), token=token)
    _, note = attention._draw_weights(view)
    assert f"Shown: tokens {first}–{last} of 303; " in note


def test_keys_that_are_shown_are_counted_without_padding(padded):
    view = look(padded, token=30, head=(1, 2))
    shown = attention_worked.choose_shown(view, 31)
    weights = padded["encoder.layer.1.attention.self.probs"][2, 30]
    assert len(shown) == 18 and {30, 31} <= set(shown)
    held = format_percent(float(weights[shown].sum()))
    assert attention_worked.note_shown(view, shown) == (
        " Shown: 16 of 25 keys, those with the largest weights in the row of “\\[PAD\\]” at position 30, "
        f"together {held}."
    )


def test_what_a_longer_key_does_to_a_product_below_0_is_said_of_its_size(rome):
    """The longer of two keys at one cosine below 0 gives the smaller product, which is larger in size."""
    query, key = np.array([1.0, 0.0]), np.array([-0.5, 1.0])
    assert query @ (2 * key) < query @ key < 0 and abs(query @ (2 * key)) > abs(query @ key)
    view = look(rome)
    note = attention_worked.show_angles.__wrapped__(view, 5).note
    assert "At the same cosine a longer key gives a dot product larger in size, above 0 or below. " in note


@pytest.mark.parametrize(("token", "first", "last"), [(0, 0, 23), (150, 138, 161), (302, 279, 302)])
def test_of_a_long_text_the_rows_of_the_table_of_lengths_are_told(bundled, rome, token, first, last):
    view = look(bv.run(bundled, "a " * 300 + "[MASK]"), token=token)
    assert embeddings.tell_listed(view) == f"Shown: tokens {first}–{last} of 303."
    rows = re.findall(r"<tr[^>]*><th[^>]*>(\d+) ", embeddings._render_lengths(view))
    assert [int(row) for row in rows] == [*range(first, last + 1)]
    assert embeddings.tell_listed(look(rome)) == ""


def test_the_first_and_the_last_row_of_the_positions_are_told(rome):
    told = embeddings._write_finding(look(rome), "position")
    assert told == "Row 0 to row 11 of the table, whatever the tokens are." and len(rome.tokens) == 12


@pytest.mark.parametrize(("layer", "head"), [(0, 3), (1, 2), (2, 7), (4, 0), (5, 11)])
def test_keys_that_are_shown_though_others_have_larger_weights_are_named(bundled, layer, head):
    trace = bv.run(bundled, LONG)
    row = trace[f"encoder.layer.{layer}.attention.self.probs"][head, 5]
    small, least = int(row.argmin()), np.sort(row)[-16]
    view = look(trace, token=5, head=(layer, head))
    said = attention_worked.note_shown(view, attention_worked.choose_shown(view, small))
    named = [name_token(trace.tokens, i) for i in sorted({small, 5}) if row[i] < least]
    row_of = name_token(trace.tokens, 5)
    assert f"largest weights in the row of {row_of} and {' and '.join(named)}, together" in said


def test_keys_that_are_shown_as_the_longest_or_as_taken_most_are_those(bundled):
    trace = bv.run(bundled, LONG)
    for layer, head, token in itertools.product(range(6), (0, 5), (4, 9)):
        view = look(trace, token=token, head=(layer, head))
        found = attention_output_bringing.read_bringing(view)
        sizes = found.taken[head]
        least = np.sort(sizes)[-attention_output_bringing.SHOWN]
        own = f" and {name_token(trace.tokens, token)}" if sizes[token] < least else ""
        said = f"Shown: {len(found.shown)}, those of which head {head} takes most{own}."
        assert attention_output_taken._note_rows(view, found) == said
        note = attention_output.show_brought.__wrapped__(view).note
        assert f", the longest{own}; the others are summed in one row." in note


def test_of_a_long_input_the_lines_that_are_drawn_are_told(bundled):
    trace = bv.run(bundled, LONG)
    room, tell = trace["encoder.layer.2.attention.self.probs"][0], attention.tell_drawn
    drawn = choose_strongest(room, [False] * 25, 12, 16, 5)
    best = [set(np.argsort(-room[q], kind="stable")[:5].tolist()) for q in drawn.queries]
    assert [set(np.array(drawn.keys)[~np.isnan(row)].tolist()) for row in drawn.weights] == [
        keys & set(drawn.keys) for keys in best
    ]
    fits = all(keys <= set(drawn.keys) for keys in best)
    assert not fits and tell(drawn, room) == f"those of the 5 largest weights each that lie on {len(drawn.keys)} keys"
    rising = np.tile(np.arange(25.0), (25, 1))
    alike = choose_strongest(rising, [False] * 25, 12, 16, 5)
    assert alike.keys == [20, 21, 22, 23, 24] and tell(alike, rising) == "the 5 largest weights each"
    even = np.full((25, 25), 0.04)
    assert tell(choose_strongest(even, [False] * 25, 12, 16, 5), even) == (
        "the 5 largest weights each, of equal ones the first"
    )


def test_sums_that_are_shown_are_counted_without_padding(padded):
    view = look(padded, token=3)
    shown = add_norm_sums._choose_rows(view)
    sums = add_norm_sums.measure_sums(padded, view.chosen.layer, ATTENTION)
    note = add_norm_sums._note_rows(view, sums, shown, "", None)
    assert len(shown) == 12 and f"Shown: tokens {shown[0]}–{shown[-1]} of 25." in note
    for token in (0, 5, 24):
        assert set(add_norm_sums._choose_rows(look(padded, token=token))) <= {*padded.encoding.real}
    last = len(padded.tokens) - 1
    assert last not in padded.encoding.real and last in add_norm_sums._choose_rows(look(padded, token=last))


def test_a_column_of_turns_is_named_after_the_layer_that_turned(rome, monkeypatch):
    found = []
    monkeypatch.setattr(derived, "show_downloads", lambda name, as_csv, as_npy: found.append(as_csv()))
    derived.show_values("turns", layers.show_turns.__wrapped__(look(rome)).values)
    head, *rows = csv.reader(io.StringIO(found[0].decode(), newline=""))
    assert head == ["", *(f"L{i}" for i in range(6))]
    states = [rome["embeddings.LayerNorm"], *(rome[f"encoder.layer.{i}.output.LayerNorm"] for i in range(6))]
    units = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in np.array(states, np.float64)]
    expected = np.stack([(one * other).sum(axis=1) for one, other in zip(units[1:], units, strict=False)], axis=1)
    np.testing.assert_allclose(np.array([row[1:] for row in rows], float), expected, atol=1e-5)


@pytest.mark.parametrize("whole", [True, False])
def test_the_rest_of_a_query_is_told_where_its_weights_have_a_sum(rome, monkeypatch, whole):
    drawn = {}
    monkeypatch.setattr(token_lines, "_lines", lambda **given: drawn.update(given["data"]))
    rest = np.array([0.25, 0.5])
    token_lines.show_lines(look(rome), Links([1, 2], [3], np.array([[0.75], [0.5]]), rest), whole=whole)
    told = np.frombuffer(base64.b64decode(drawn["hidden"]), "<f4")
    np.testing.assert_array_equal(told, rest if whole else [0, 0])
    assert drawn["part"]  # of twelve tokens


def test_that_weights_are_left_out_is_told(rome, monkeypatch):
    drawn, every = {}, list(range(12))
    monkeypatch.setattr(token_lines, "_lines", lambda **given: drawn.update(given["data"]))
    for lost, part in ((0.0, False), (np.nan, True)):
        token_lines.show_lines(look(rome), Links(every, every, np.full((12, 12), lost), np.zeros(12)))
        assert drawn["part"] is part


def test_the_framed_component_is_the_largest_in_size_only_where_no_other_is_as_large():
    said = {values: tell_framed("Q", np.array(values)).text for values in ((1.0, -3.0, 2.0), (2.0, -2.0), (0.0, 0.0))}
    assert list(said.values()) == [
        f"Framed: component 1, the largest in size, Q = {format_number(-3.0)}.",
        f"Framed: component 0; none is larger in size. Q = {format_number(2.0)}.",
        f"Framed: component 0; none is larger in size. Q = {format_number(0.0)}.",
    ]


def test_where_another_epsilon_changes_most_is_told_where_it_is_one_place():
    assert tell_most_changed(np.array([1e-6, 3e-6]), ["L0", "L1"]).text == ": here most at L1"
    assert tell_most_changed(np.array([2e-6, 2e-6]), ["L0", "L1"]).text == ": here nowhere more than at L0"
