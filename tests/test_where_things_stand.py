"""What is drawn stands where it belongs: a token's letters, two tokens that are matched, a row on a scale of its own,
what is listed and what is left out."""

import re
from base64 import b64decode
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.add_norm import Sums
from bertviz_core.analysis.attribution import Question, attribute
from bertviz_core.analysis.carried import read_carried
from bertviz_core.analysis.parts import TERM
from bertviz_core.analysis.walk import find_beginnings, list_turns
from bertviz_core.figures.carried import Row as Carried
from bertviz_core.formula.address import read_address
from bertviz_core.formula.numbers import format_number
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.views import where_from, where_from_carried
from bertviz_core.ui.views.add_norm_sums import Ink, _draw_bars
from bertviz_core.ui.views.layers_flow import _tell_starts, show_rollout_of_token
from bertviz_core.ui.views.patch_sentences import _draw_lines
from bertviz_core.ui.views.predictions_words import _render_words
from bertviz_core.ui.views.query_key_value import measure_fit
from bertviz_core.ui.views.query_key_value_fit import _list_fit
from bertviz_core.ui.views.story import _make_stop
from bertviz_core.ui.views.story_words import _compare
from bertviz_core.ui.views.tokenization_lead import _BETWEEN, _LETTER, _render_lines
from bertviz_core.ui.walk.templates.reads import _draw_tokens, _list_uses
from tests.canvas import look

TEXT, PAIR = "the cat sat", "on a mat"
MANY = "the cat sat on the mat and the dog sat on the old red mat by the door of the big house"


@pytest.fixture(scope="module")
def many(bundled):
    return bv.run(bundled, MANY)


@pytest.mark.parametrize("pair", [PAIR, ""])
def test_a_band_leads_from_a_tokens_own_letters_also_in_the_second_sentence(bundled, pair):
    trace = bv.run(bundled, TEXT, pair or None)
    letters, size = _BETWEEN.join(filter(None, (TEXT, pair))), 2.0
    drawn = _render_lines(replace(look(trace), text=TEXT, pair=pair or None), len(letters), size)
    width, words = _LETTER * size, [*TEXT.split(), *pair.split()]
    bands = [[float(x) for x in re.findall(r"([-\d.]+)% \d+%", band)] for band in re.findall("clip-path:[^)]*", drawn)]
    assert len(bands) == len(words)
    end = 0
    for word, band in zip(words, bands, strict=True):
        start = letters.index(word, end)
        end = start + len(word)
        above = [50 + (i - len(letters) / 2) * width for i in (start, end)]
        assert [band[0], band[-1]] == pytest.approx(above, abs=0.01), word
        token = trace.tokens.index(word)
        assert (
            token / len(trace.tokens)
            < min(band[10:12]) / 100
            < max(band[10:12]) / 100
            < (token + 1) / len(trace.tokens)
        )


def test_a_line_joins_two_tokens_that_are_matched_the_source_above():
    source, target = ["the", "old", "nurse", "said", "so"], ["the", "nurse", "said"]
    pairs = tuple((i, source.index(word)) for i, word in enumerate(target))
    wide = [20, 31, 44, 27, 12]
    picture = _draw_lines(look_of_colors(), SimpleNamespace(pairs=pairs, differing=()), wide)
    lines = re.findall(r"M([\d.]+) 0L([\d.]+) ", b64decode(picture.partition("base64,")[2]).decode())
    assert len(lines) == len(target)
    middles = [sum(wide[:i]) + each / 2 for i, each in enumerate(wide)]
    assert all(source[middles.index(float(a))] == target[middles.index(float(b))] for a, b in lines)


def look_of_colors():
    return SimpleNamespace(colors=SimpleNamespace(kinds={"attention": "#111"}, line="#222"))


def draw_ends(was, added, shown):
    """Where each row's bars end, of 1000: row by row, those of what was and is added, and of the sum."""
    sums = Sums(*(np.array(each, dtype=float) for each in (was, added, was, np.zeros(len(was)))))
    svg = b64decode(_draw_bars(sums, shown, [Ink("", name) for name in "abc"]).partition("base64,")[2]).decode()
    bars = [(float(x), float(w)) for x, w in re.findall(r'x="([\d.]+)" y=.*? width="([\d.]+)"', svg)]
    return [x + w for x, w in bars[1::3]]


def test_only_what_is_over_twice_as_long_as_all_others_has_a_scale_of_its_own():
    assert draw_ends([3.0, 6.0], [1.0, 1.0], [0, 1]) == pytest.approx([1000 * 4 / 7, 1000], abs=0.2)
    assert draw_ends([3.0, 8.0], [1.0, 1.0], [0, 1]) == pytest.approx([1000, 1000], abs=0.2)


def test_the_scale_of_its_own_is_the_tokens_wherever_its_row_stands():
    """Of many tokens those around one have rows, so that the first row is not token 0."""
    was, added = [9.0, 9.0, 2.0, 30.0, 1.0], [1.0, 1.0, 2.0, 5.0, 1.0]
    assert draw_ends(was, added, [2, 3, 4]) == pytest.approx([1000, 1000, 500], abs=0.2)


@pytest.mark.parametrize("token", [0, 3, 10, 20, 21])
def test_tokens_that_are_not_shown_are_counted_on_either_side(many, token):
    drawn = _draw_tokens(many.tokens, np.arange(len(many.tokens)), token)
    shown = [int(i) for i in re.findall(r"<sub>(\d+)</sub>", drawn)]
    assert shown == list(range(shown[0], shown[0] + 11)) and token in shown
    left = [int(count) for count in re.findall(r"<small>(\d+) more</small>", drawn)]
    assert left == [count for count in (shown[0], len(many.tokens) - 1 - shown[-1]) if count]


def test_of_what_a_weight_does_the_products_largest_in_size_are_listed(many):
    """At a component at which most of these are negative."""
    inputs = many["embeddings.LayerNorm"].astype(np.float64)
    component = int((inputs < 0).sum(axis=0).argmax())
    cell = read_address(f"encoder.layer.0.attention.self.query.weight[hidden={component},concat=5]")
    table = _list_uses(many, cell)
    products = inputs[:, component] * float(many[cell])
    largest = sorted(sorted(range(len(products)), key=lambda i: -abs(products[i]))[:12])
    assert len(products) > 12 and [row.amount for row in table.rows] == pytest.approx(list(products[largest]))


def test_the_line_beside_the_bars_is_at_the_number_as_it_is():
    start = read_address("cls.predictions.probs[token=8,vocab=7]")
    assert [_compare("without it", start, [0.5, "…"], value, 1.0, "").mark for value in (0.2, 0.9)] == [0.2, 0.9]


def test_a_link_of_the_story_is_as_thick_as_the_size_of_what_is_followed(rome):
    """Also where what is followed has another sign than the number that it is a part of."""
    view, apart = look(rome, token=8), 0
    turns = [turn for start in find_beginnings(rome, 8).values() for turn in list_turns(rome, start)]
    for turn in turns:
        if turn.choice and turn.choice.measure is TERM:
            factors = [float(rome[operand]) for operand in turn.choice.part.operands]
            part = float(np.prod(factors)) / float(rome[turn.cell])
            apart += part < 0
            assert _make_stop(view, turn)["share"] == pytest.approx(min(abs(part), 1.0), rel=1e-5)
    assert apart


@pytest.mark.parametrize("token", [0, 8])
def test_the_likeliest_word_has_rank_1_and_every_other_as_many_before_it_as_are_likelier(rome, token):
    probs = rome["cls.predictions.probs"][token]
    shown = [int(i) for i in np.argsort(-probs)[[0, 1, 7, 100]]]
    ranks = re.findall(r'<th scope="row">([\d,]+)</th>', _render_words(look(rome, token=token), shown))
    assert ranks == [f"{sum(probs > probs[i]) + 1}" for i in shown] and ranks[0] == "1"


def test_a_tokens_own_weight_is_told_after_the_first_and_after_the_last_layer(rome):
    rolled = np.eye(len(rome.tokens))
    owns = []
    for layer in range(6):
        mean = rome[f"encoder.layer.{layer}.attention.self.probs"].astype(np.float64).mean(axis=0)
        rolled = (mean + np.eye(len(mean))) / 2 @ rolled
        owns.append(format_number(rolled[8, 8]))
    note = show_rollout_of_token.__wrapped__(look(rome, token=8)).note
    assert note.endswith(f"Its own weight is {owns[0]} after layer 0 and {owns[5]} after layer 5.")


def test_bars_of_dot_products_end_at_the_largest_in_size(rome):
    """In a head whose lowest dot product is larger in size than its highest."""
    scores = np.stack([rome[f"encoder.layer.{i}.attention.self.scores"][:, 8] for i in range(6)])
    layer, head = np.unravel_index(int((scores.max(axis=-1) + scores.min(axis=-1)).argmin()), scores.shape[:2])
    view, shown = look(rome, token=8, head=(int(layer), int(head))), list(range(len(rome.tokens)))
    (dots,) = (column for column in _list_fit(view, shown, *measure_fit(view)) if column.name == "Dot product")
    assert -min(dots.values) > max(dots.values) and dots.end == -min(dots.values)


@pytest.mark.parametrize(("cell", "row"), [("L.carried[source=1]", 1), ("L.hidden[source=2]", 2), ("L.other", None)])
def test_the_row_is_marked_of_a_part_and_of_the_number_with_its_token_hidden(monkeypatch, cell, row):
    rows = [Carried(str(i), 0.5, f"L.carried[source={i}]", left_cell=f"L.hidden[source={i}]") for i in range(3)]
    monkeypatch.setattr(where_from_carried, "read_explained", lambda: read_address(cell))
    assert where_from_carried._find_chosen(rows) == row


@pytest.mark.parametrize(("alike", "told"), [
    (0, "none starts as itself"), (1, "one starts as itself"), (3, "3 start as themselves"),
])  # fmt: skip
def test_as_many_tokens_start_as_themselves_as_are_read_so(bundled, alike, told):
    trace = bv.run(bundled, "the cat sat on a mat")
    first = np.array(trace.encoding.ids)
    first[1 + alike : -1] += 1  # behind [CLS], the last ones are read as the next entry
    said = _tell_starts(trace, range(len(first)), first)
    assert said == f"Of 6 tokens shown that are not special {told}. "


@pytest.fixture
def people(rome, monkeypatch):
    """The logit of the word that fits best, its parts, and a page on which nothing is explained."""
    monkeypatch.setattr(where_from_carried, "read_explained", lambda: None)
    word = int(rome["cls.predictions.decoder[token=8]"].argmax())
    question = Question(read_address(f"cls.predictions.decoder[token=8,vocab={word}]"))
    return question, attribute(rome, question.target)


def test_tokens_without_a_row_are_added_up_with_their_signs(rome, people):
    question, found = people
    rest = found.parts[3:]
    drawn = where_from_carried._lay_out(look(rome, token=8), question, [0, 1, 2], Found())
    *_, others, biases = drawn.rows
    assert rest.min() < 0 < rest.max() and others.name == f"{len(rest)} others"
    assert (others.part, biases.part) == pytest.approx((rest.sum(), found.biases))
    assert drawn.total.part == pytest.approx(sum(row.part for row in drawn.rows))


def test_the_biases_and_the_sum_are_saved_under_their_names(rome, people):
    values = where_from._list_values(look(rome, token=8), people[1])
    saved = dict(zip(values.rows, values.matrix[:, 0], strict=True))
    assert (saved["biases"], saved["sum"]) == pytest.approx((people[1].biases, people[1].total))


@pytest.mark.parametrize(("layer", "where"), [(0, "in layer 0"), (4, "in layer 4"), (None, "behind the last layer")])
def test_the_layer_is_named_from_which_on_double_precision_gives_another_pass(rome, monkeypatch, layer, where):
    doubled = {
        f"encoder.layer.{i}.output.LayerNorm": read_carried(rome)[f"encoder.layer.{i}.output.LayerNorm"]
        for i in range(6)
    }
    apart = {path: each + 1 for i, (path, each) in enumerate(doubled.items()) if layer is not None and i >= layer}
    monkeypatch.setattr(where_from_carried, "read_carried", lambda _: doubled | apart)
    assert f"its recorded numbers {where}: " in where_from_carried._tell_departure(look(rome, token=8))
