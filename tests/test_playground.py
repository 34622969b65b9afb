"""The playground: the encoder article's numbers computed anew, edits good and bad, and what scaling does."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from bertviz_core.analysis import playground, positions
from bertviz_core.analysis.printed import Verdict, judge_cut
from bertviz_core.documents import examples
from bertviz_core.errors import InputError
from tests.test_pages import decoded

APP = str(Path(__file__).parent.parent / "app.py")
SCORES = np.array(examples.SCORES)


def softmax(scores):
    return torch.softmax(torch.tensor(np.asarray(scores), dtype=torch.float64), -1).numpy()


def test_one_entry_of_the_printed_softmax_is_wrong():
    verdicts = {
        (i, j): judge_cut(text, value)
        for i, (texts, values) in enumerate(zip(examples.SHARES, softmax(SCORES), strict=True))
        for j, (text, value) in enumerate(zip(texts, values, strict=True))
    }
    assert {place: found for place, found in verdicts.items() if found is not Verdict.CUT} == {
        (0, 0): Verdict.DIFFERS,
        (1, 0): Verdict.SAME,
    }
    assert softmax(SCORES)[1, 0] < 1 == float(examples.SHARES[1][0])  # cut, it would be 9.99e-01
    assert judge_cut(examples.SHARES[0][0].removeprefix("7"), softmax(SCORES)[0, 0]) is Verdict.CUT
    assert [text for row in examples.SHARES for text in row if text.index(".") > 1] == [examples.SHARES[0][0]]
    assert examples.ONES == 7 and SCORES.shape == (6, 6)


def test_the_right_entries_are_cut_after_two_decimals_and_not_rounded():
    """Each is NumPy's print with eight decimals up to the second; rounded to it, 17 would read otherwise."""
    texts, values = sum(examples.SHARES, ())[1:], softmax(SCORES).ravel()[1:]
    prints = [np.format_float_scientific(value, precision=8, unique=False, exp_digits=2) for value in values]
    assert list(texts) == [f"{long[:4]}{long[-4:]}" for long in prints]
    assert sum(f"{value:.2e}" != text for text, value in zip(texts, values, strict=True)) == 17
    sums = np.array(examples.SHARES, dtype=float)[1:].sum(axis=1)
    assert [f"{total:.5f}" for total in sums] == ["1.00000", "0.99900", "0.99986", "0.99903", "0.99900"]


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("9.99e-01", 0.99999756, Verdict.CUT),
        ("1.00e+00", 0.9999999999, Verdict.SAME),  # rounded up to a one before anything is cut
        ("1.00e+00", 1.0000000001, Verdict.CUT),
        ("1.00e+00", 0.99999756, Verdict.DIFFERS),
        ("1.24e-21", 1.2389751e-21, Verdict.DIFFERS),
        ("-1.23e-21", -1.2389751e-21, Verdict.CUT),
        ("72.40e-06", 2.4000945e-06, Verdict.DIFFERS),
        ("1.00e+00", float("nan"), Verdict.DIFFERS),
    ],
)
def test_a_print_that_is_cut_has_no_digit_rounded(text, value, expected):
    assert judge_cut(text, value) is expected


def test_the_examples_of_the_article_add_up():
    assert sum(examples.ONE_HOT) == 1 and sum(examples.MIXED) == pytest.approx(1)
    place = examples.ONE_HOT.index(1) + 1
    assert examples.WORDS[place - 1] == examples.CALLED_WORD and place != examples.CALLED_PLACE
    head = sum(w * np.array(e) for w, e in zip(examples.MIXED, examples.EMBEDDINGS, strict=True))
    np.testing.assert_allclose(head, np.array(examples.MIXED) @ np.array(examples.EMBEDDINGS))


@pytest.mark.parametrize("d", [4, 7, 768])
def test_the_printed_matrix_of_six_positions(d):
    matrix = positions.compute_sinusoids(6, d)
    for i in range(6):
        row = [math.sin(i), math.cos(i), math.sin(i / 10000 ** (2 / d)), math.cos(i / 10000 ** (2 / d))]
        np.testing.assert_allclose(matrix[i, :4], row, atol=1e-15)


def test_softmax_rows_agree_with_torch_and_do_not_overflow():
    for scores in (SCORES, np.full((2, 3), 1e6), np.array([[-1e6, 1e6], [0.0, 0.0]])):
        np.testing.assert_allclose(playground.apply_softmax(scores), softmax(scores), rtol=1e-12)


def test_slopes_are_the_softmax_derivatives():
    scores = torch.tensor(SCORES[0] / 20, requires_grad=True)
    jacobian = torch.autograd.functional.jacobian(lambda s: torch.softmax(s, -1), scores).numpy()
    found = playground.compute_slopes(playground.apply_softmax(SCORES[0] / 20))
    np.testing.assert_allclose(found, jacobian.diagonal(), atol=1e-14)


def test_without_scaling_padding_stays_hidden():
    products = np.array([3.0, -1.0, 2.0, 9.0], dtype=np.float32)
    scaled = products / 2
    scores = scaled + np.array([0, 0, 0, np.finfo(np.float32).min], dtype=np.float32)
    found = playground.leave_unscaled(products, scaled, scores)
    np.testing.assert_allclose(found[:3], softmax(products[:3]), rtol=1e-12)
    assert found[3] == 0


@pytest.mark.parametrize(
    ("text", "value"), [("12", 12), (" −60.94 ", -60.94), ("1e3", 1000), (".5", 0.5), ("+7.", 7), ("-1E-3", -0.001)]
)
def test_a_score_is_read(text, value):
    assert playground.read_score(text) == value


BAD = [
    ("", "empty"), ("  ", "empty"), ("abc", "not a number"), ("1,5", "not a number"), ("1_0", "not a number"),
    ("0x10", "not a number"), ("٣", "not a number"), ("<b>9</b>", "not a number"), ("1 2", "not a number"),
    ("nan", "not a finite"), ("-inf", "not a finite"), ("Infinity", "not a finite"), ("1e7", "too large"),
    ("−1000001", "too far below 0"), ("1e999", "too large"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "why"), BAD)
def test_a_bad_score_is_explained(text, why):
    with pytest.raises(InputError, match=why):
        playground.read_score(text)


def test_edits_survive_the_link():
    edits = {(0, 4): "12", (5, 5): "a;b=c d%", (2, 0): ""}
    assert playground.read_edits(playground.write_edits(edits), (6, 6)) == edits
    assert playground.read_edits("9.9=1;0.6=2;x;1.2;1.3=4;;-1.0=3", (6, 6)) == {(1, 3): "4"}


def test_a_bad_edit_leaves_all_others_in_place():
    found = playground.apply_edits(SCORES, {(0, 0): "5", (1, 1): "nan", (2, 2): "−3"})
    expected = SCORES.copy()
    expected[0, 0], expected[2, 2] = 5, -3
    assert np.array_equal(found.scores, expected) and list(found.problems) == [(1, 1)]
    assert SCORES[0, 0] == 78.49


def opened(**query):
    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"open": "all", **query})
    at.run()
    at.switch_page("pages/playground.py").run()
    assert not at.exception and not at.error
    return at


def chart(at, name):
    found = next(chart for chart in at.get("plotly_chart") if chart.proto.id.endswith(f"chart-{name}"))
    return json.loads(found.proto.spec)["data"][0]


@pytest.mark.parametrize(("scores", "told"), [
    ("", "The article gives these numbers as an example; no model computed them."),
    ("0.2=5", "as an example, but for 1 that was typed here; no model"),
    ("0.2=5;1.1=7", "as an example, but for 2 that were typed here; no model"),
    (";".join(f"{i}.{j}=1" for i in range(6) for j in range(6)), "All of these numbers were typed here; no model"),
])  # fmt: skip
def test_numbers_that_were_typed_are_not_called_the_articles(scores, told):
    assert any(told in caption.value for caption in opened(scores=scores).caption)


@pytest.mark.parametrize(("text", "why"), [BAD[i] for i in (0, 2, 7, 9, 11, 14)])
def test_a_bad_field_gets_a_message_and_nothing_is_lost(text, why):
    at = opened(scores="0.0=33", score_row="how")
    at.text_input(key="score-2-1").set_value(text).run()
    assert not at.exception and len(at.warning) == 1
    warning = at.warning[0].value.replace("\\", "")
    assert why in warning and "the article's −52.16 is used" in warning
    assert at.text_input(key="score-2-1").value == text
    expected = SCORES.copy()
    expected[0, 0] = 33
    assert np.array_equal(decoded(chart(at, "playground-scores")["z"]), expected.astype(np.float32))
    again = opened(scores=at.session_state["scores"], score_row="how")
    assert len(again.warning) == 1 and again.text_input(key="score-2-1").value == text


def test_an_edit_changes_what_is_computed_and_can_be_taken_back():
    at = opened()
    at.text_input(key="score-0-4").set_value("78.49").run()
    expected = SCORES.copy()
    expected[0, 4] = 78.49
    drawn = decoded(chart(at, "playground-shares")["z"])
    np.testing.assert_allclose(drawn, softmax(expected / 8), rtol=1e-6, atol=1e-30)
    powers = decoded(chart(at, "playground-softmax")["x"])
    np.testing.assert_allclose(powers, np.exp((expected[0] - 78.49) / 8), rtol=1e-5)
    assert at.session_state["scores"] == "0.4=78.49"
    np.testing.assert_array_equal(  # the article's own table stays what it is
        decoded(chart(at, "playground-printed")["z"]), decoded(chart(opened(), "playground-printed")["z"])
    )
    at.text_input(key="score-0-4").set_value("91.43").run()
    assert at.session_state["scores"] == ""


def tell_row(at):
    (told,) = (caption.value for caption in at.caption if caption.value.startswith("Where does “"))
    return told.replace("\N{NO-BREAK SPACE}", " ").partition(". ")[0]


def test_it_begins_with_a_softmax_of_four_numbers_that_is_worked_beside_them():
    at = opened()
    assert [at.text_input(key=f"number-0-{i}").value for i in range(4)] == ["2", "1", "0", "−1"]
    assert at.text_input[0].key == "number-0-0" and at.get("plotly_chart")[0].proto.id.endswith("playground-own")
    np.testing.assert_allclose(decoded(chart(at, "playground-own")["x"]), softmax([2, 1, 0, -1]), rtol=1e-6)
    total = math.e**2 + math.e + 1 + 1 / math.e
    assert f"{math.e**2:.4f}}}{{{total:.4f}}} ={math.e**2 / total:.4f}" in at.latex[0].value
    assert "gives 2 the largest share of your numbers: **64" in at.title[0].value


def test_a_number_of_ones_own_is_changed_kept_in_the_link_and_taken_back():
    at = opened()
    at.text_input(key="number-0-3").set_value("2.5").run()
    np.testing.assert_allclose(decoded(chart(at, "playground-own")["x"]), softmax([2, 1, 0, 2.5]), rtol=1e-6)
    assert at.session_state["numbers"] == "0.3=2.5" and "gives 2.5 the largest" in at.title[0].value
    again = opened(numbers="0.3=2.5")
    assert again.text_input(key="number-0-3").value == "2.5" and again.title[0].value == at.title[0].value
    at.button(key="reset-numbers").click().run()
    np.testing.assert_allclose(decoded(chart(at, "playground-own")["x"]), softmax([2, 1, 0, -1]), rtol=1e-6)


@pytest.mark.parametrize(("text", "why"), [
    ("101", "too large. Type a number from −100 to 100"), ("−100.5", "from −100 to 100"), ("x", "not a number"),
])  # fmt: skip
def test_a_number_of_which_no_power_can_be_read_is_refused(text, why):
    at = opened()
    at.text_input(key="number-0-1").set_value(text).run()
    assert not at.exception and len(at.warning) == 1
    told = at.warning[0].value.replace("\\", "")
    assert why in told and "until then the example's 1 is used" in told
    np.testing.assert_allclose(decoded(chart(at, "playground-own")["x"]), softmax([2, 1, 0, -1]), rtol=1e-6)


def test_numbers_that_share_the_largest_share_are_not_told_apart():
    at = opened(numbers="0.1=2")
    assert "none of your numbers more than 2: **" in at.title[0].value


def test_it_opens_on_shares_that_can_be_compared_and_the_switch_leaves_one_key_all():
    """Six scores of 1 to 91 leave one key everything; by the root of 64 three keys of “Hello” have a share to see."""
    at = opened()
    shares = decoded(chart(at, "playground-shares")["z"])
    np.testing.assert_allclose(shares, softmax(SCORES / 8), rtol=1e-6)
    told = tell_row(at)
    assert (shares[0] > 0.05).sum() == 3 and f"**{100 * shares[0, 4]:.0f} %**" in told
    assert "> 99.9 % if not divided again" in told
    at.toggle(key="divided").set_value(False).run()
    np.testing.assert_allclose(decoded(chart(at, "playground-shares")["z"]), softmax(SCORES), rtol=1e-6, atol=1e-30)
    assert "**> 99.9" in tell_row(at) and "divided again" not in tell_row(at)
    assert not at.exception


def test_the_printed_table_marks_the_wrong_entry_only():
    at = opened()
    grid = next(e.proto.body for e in at.get("html") if 'aria-label="Table by printed, computed"' in e.proto.body)
    framed = re.findall(r"<td class=bv-chosen>(.*?)<br>(.*?)<br>", grid)
    assert framed == [("72.40e−06", f"{softmax(SCORES)[0, 0]:.6e}".replace("-", "−"))]
    ratios = decoded(chart(at, "playground-printed")["z"])
    assert np.unravel_index(np.abs(ratios).argmax(), (6, 6)) == (0, 0) and np.sort(np.abs(ratios).ravel())[-2] < 0.01


@pytest.mark.parametrize("mix", ["one-hot", "mixed", "your row"])
def test_the_weighted_sum(mix):
    at = opened(mix=mix)
    weights = {"one-hot": examples.ONE_HOT, "mixed": examples.MIXED, "your row": softmax(SCORES / 8)[0]}[mix]
    expected = np.array(weights) @ np.array(examples.EMBEDDINGS)
    np.testing.assert_allclose(decoded(chart(at, "playground-weighted")["z"])[-1], expected, rtol=1e-6)


VECTORS = np.array(
    [
        [123.4, 0.32, 94, 32],
        [83, 34, 77, 19],
        [0.2, 50, 33, 30],
        [289, 432.98, 150, 92],
        [80, 46, 23, 32],
        [41, 21, 74, 33],
    ]
)
WEIGHTS = {"one-hot": [0, 0, 0, 0, 1, 0], "mixed": [0.1, 0, 0.06, 0.1, 0.6, 0.14]}


def test_a_component_a_weight_and_an_id_are_changed_and_all_is_added_up_again():
    """By hand: the table's rows, which row each token has, and the two examples' weights."""
    at = opened(mix="mixed", article_row="55")
    at.text_input(key="article-row-4-2").set_value("−7").run()  # E[55], which is “you”
    vectors = VECTORS.copy()
    vectors[4, 2] = -7
    drawn = decoded(chart(at, "playground-weighted")["z"])
    np.testing.assert_allclose(drawn[-1], np.array(WEIGHTS["mixed"]) @ vectors, rtol=1e-6)
    at.text_input(key="article-weight-1-0").set_value("0.5").run()
    weights = np.array(WEIGHTS["mixed"])
    weights[0] = 0.5
    np.testing.assert_allclose(decoded(chart(at, "playground-weighted")["z"])[-1], weights @ vectors, rtol=1e-6)
    at.text_input(key="article-id-0-0").set_value("193").run()  # “Hello” with the row of “?”
    read = vectors[[5, 1, 2, 3, 4, 5]]
    np.testing.assert_allclose(decoded(chart(at, "playground-weighted")["z"])[-1], weights @ read, rtol=1e-6)
    assert (at.session_state["article_rows"], at.session_state["article_weights"], at.session_state["article_ids"]) == (
        "4.2=%E2%88%927",
        "1.0=0.5",
        "0.0=193",
    )
    assert any("The weights as edited sum to 1.4000; a " in element.proto.body for element in at.get("html"))
    for key in ("rows", "weights", "ids"):
        at.button(key=f"reset-article_{key}").click().run()
    np.testing.assert_allclose(
        decoded(chart(at, "playground-weighted")["z"])[-1], np.array(WEIGHTS["mixed"]) @ VECTORS, rtol=1e-6
    )


@pytest.mark.parametrize(("key", "text", "why"), [
    ("article-id-0-3", "7", "There is nothing under 7. Type one of 15, 34, 55, 90, 193, 684"),
    ("article-id-0-3", "34.5", "nothing under 34.5"), ("article-row-0-1", "x", "not a number"),
    ("article-weight-0-4", "", "empty"),
])  # fmt: skip
def test_what_cannot_be_read_leaves_the_articles_number(key, text, why):
    at = opened()
    at.text_input(key=key).set_value(text).run()
    assert not at.exception and len(at.warning) == 1 and why in at.warning[0].value.replace("\\", "")
    np.testing.assert_allclose(decoded(chart(at, "playground-weighted")["z"])[-1], VECTORS[4], rtol=1e-6)


def test_an_edited_sum_survives_the_link():
    at = opened(article_ids="0.4=684", article_rows="3.0=1;9.9=4;x", article_weights="0.4=2")
    row = VECTORS[3].copy()
    row[0] = 1
    np.testing.assert_allclose(decoded(chart(at, "playground-weighted")["z"])[-1], 2 * row, rtol=1e-6)


@pytest.mark.parametrize(("length", "width"), [(1, 1), (6, 7), (1024, 1024), (65, 97)])
def test_positions_of_any_size(length, width):
    at = opened(length=str(length), width=str(width), at_position="1000", at_component="1000")
    drawn, matrix = chart(at, "playground-positions"), positions.compute_sinusoids(length, width)
    rows, columns = drawn["dy"], drawn["dx"]
    assert np.array_equal(decoded(drawn["z"]), matrix[::rows, ::columns].astype(np.float32))
    assert len(at.get("plotly_chart")) == 9


def test_real_scores_without_the_division():
    at = opened(layer="3", head="7", token="2")
    trace, here = at.session_state["view"].trace, "encoder.layer.3.attention.self.{}[head=7,query=2]"
    without = decoded(chart(at, "playground-unscaled")["x"])
    np.testing.assert_allclose(without, softmax(trace[here.format("products")]), rtol=1e-5)
