"""Numbers that read alike are not said to differ, and of what is all alike no order is said."""

import re
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

from bertviz_core.figures.palette import LIGHT, PALETTES
from bertviz_core.formula.address import parse
from bertviz_core.formula.numbers import choose_percent, read_alike
from bertviz_core.lessons.words_keys import _write_fall
from bertviz_core.sharing.findings import Found
from bertviz_core.ui.panels.moved import _write_arrow
from bertviz_core.ui.panels.said import tell_percents
from bertviz_core.ui.views.story_hidden import _tell_hidden, tell_change
from bertviz_core.ui.views.story_way import Story
from bertviz_core.ui.views.where_from_carried import tell_near_ties
from bertviz_core.ui.views.where_from_written import _render_sum
from tests.test_put import opened
from tests.test_said_of_two_passes import open_page, read, small  # noqa: F401 - a fixture

OWN = "encoder.layer.3.attention.self"
LONG = "the old cat sat on the mat in the house by the sea and saw a small bird fly over the high green hill"
SPACE = "\N{NO-BREAK SPACE}"

# Two percentages that are compared, and how they are written.
PAIRS = [
    (0.9904, 0.9896, "99.04 %", "98.96 %"),
    (0.9896, 0.9904, "98.96 %", "99.04 %"),
    (0.09951, 0.09962, "9.95 %", "9.96 %"),
    (0.52, 0.48, "52 %", "48 %"),
    (0.9904, 0.97, "99.0 %", "97 %"),
    (0.5, 0.5, "50 %", "50 %"),
    (0.5, 0.5 + 1e-9, "50 %", "50 %"),
]


@pytest.mark.parametrize(("one", "other", "first", "second"), PAIRS)
def test_percentages_that_are_compared_are_written_apart_where_they_are(one, other, first, second):
    expected, write = [text.replace(" ", SPACE) for text in (first, second)], choose_percent(one, other)
    assert [write(one), write(other)] == [part.text for part in tell_percents(one, other)] == expected


def test_a_percentage_without_decimals_reads_as_one_with_zeros():
    assert read_alike(["99.0 %", "99 %"]) and not read_alike(["99.0 %", "99.1 %"]) and not read_alike(["10 %", "1 %"])


def test_an_arrow_leads_to_another_number(rome):
    where = parse("cls.predictions.probs[token=8]")
    assert _write_arrow(where, 0.9904, 0.9896) == f"99.04{SPACE}% → 98.96{SPACE}%"


def test_a_share_falls_in_the_digits_shown():
    assert _write_fall(0.002504, 0.002496) == ("0.2504 %", "0.2496 %")
    assert _write_fall(0.3, 0.2) == ("30.00 %", "20.00 %")


def test_of_a_story_what_reads_alike_has_not_moved(rome):
    story = Story(rome, "“people”", parse("cls.predictions.probs[token=8,vocab=2111]"), ())
    told = _tell_hidden(story, Found({1: story.value + 1e-9, 3: story.value - 2e-9}, 1.0, over=True))
    assert re.match(r"Of the 2 tokens hidden in turn none moves it in the digits shown: \*\*“people” stays near", told)
    alone = _tell_hidden(story, Found({3: 0.5}, 1.0, over=True))
    assert alone.startswith("With **“rome” hidden “people” goes from ") and "most" not in alone


def test_of_a_story_99_0_percent_does_not_become_99(rome, monkeypatch):
    monkeypatch.setattr(Story, "value", 0.9904)
    story = Story(rome, "“people”", parse("cls.predictions.probs[token=8,vocab=2111]"), ())
    assert tell_change(story, 0.9896) == f"“people” stays near 99.0{SPACE}%"


NONE, ALIKE = ({f"{OWN}.probs[head=7]": rule} for rule in (0.0, "uniform"))
EVEN = {
    "nothing taken": ("attention_output", NONE, r"Shown: 16; of each token head 7 takes 0\.", "takes most"),
    "nothing long": ("attention_output", NONE, r"Shown: 16, all as long; the others", "the longest"),
    "even weights": ("attention", ALIKE, r" keys, all with the same weight in the row of", "largest weights in"),
}  # fmt: skip


@pytest.mark.parametrize("name", EVEN)
def test_of_what_is_all_alike_no_most_is_shown(name):
    page, changes, said, not_said = EVEN[name]
    at = opened(page, changes, LONG, layer="3", head="7", token="2")
    text = "\n".join(each.value for kind in (at.caption, at.markdown) for each in kind)
    assert re.search(said, text) and not_said not in text


# Two passes.


HEAD, SAT = "encoder.layer.1.attention.self.probs[head=0]", {"text": "the cat sat", "with": "the cat sat"}


@pytest.mark.parametrize(
    ("rule", "said", "not_said"),
    [
        ("scale=-1", "not all attention weights are shares of 1", "counts half"),
        ("0", "What is missing counts half", "are shares of 1"),
        ("uniform", "Which heads look elsewhere", "As changed"),
    ],
)
def test_weights_below_0_are_not_called_missing(small, rule, said, not_said):  # noqa: F811
    text = read(open_page("compare", model=small, changes=f"{HEAD}:{rule}", **SAT))
    assert said in text and not_said not in text


def test_of_two_passes_that_are_equal_no_token_ends_apart_and_no_head_looks_elsewhere(small):  # noqa: F811
    """They differ in a number that reaches none of what is compared."""
    text = read(open_page("compare", model=small, changes=f"{HEAD}:scale=1", **SAT))
    assert "All matched tokens end alike." in text and "No head looks elsewhere." in text
    assert "farther apart than" not in text


def test_a_mean_norm_that_does_not_move_goes_nowhere(bundled):
    text = read(opened("layers", {"encoder.layer.5.output.LayerNorm": 0.25, "embeddings.LayerNorm": 0.25}, "Go home."))
    norm = np.linalg.norm(np.full(bundled.config.hidden_size, 0.25))
    assert f"The mean norm is {norm:.2f} at both ends." in text


# Orders compared.


def test_amounts_that_count_as_equal_in_an_order_are_said_to():
    near = np.array([0.3, 0.3 + 2e-7, 1.0])
    said = f" Amounts that differ by less than 0.001{SPACE}% of the largest, or by less than 5·10⁻⁶, count as equal."
    assert tell_near_ties(near, np.arange(3.0)) == tell_near_ties(np.arange(3.0), near) == said
    assert tell_near_ties(np.arange(3.0), np.zeros(3)) == ""


@pytest.mark.parametrize(("text", "said"), [("the cat sat", "Of equal amounts"), ("", "Of so few tokens")])
def test_why_there_is_no_order_to_compare(small, text, said):  # noqa: F811
    text = read(open_page("where_from", model=small, changes="embeddings.LayerNorm:0.25", text=text or "[MASK]"))
    assert f"{said} there is no order to compare." in text


def test_the_sums_of_who_wrote_a_number_work_out_as_printed():
    """With four decimals each they would not: −0.1051 + 0.4480 + 7.1523 + 1.7600 is not 9.2553."""
    wrote = {"embeddings": -0.10514, "biases": 1.76004, "heads": np.array([[0.44804]]), "blocks": np.array([7.15234])}
    found = SimpleNamespace(**wrote, changed=0.0, total=sum(float(np.sum(part)) for part in wrote.values()))
    rendered = _render_sum(found, PALETTES[LIGHT])
    said = re.search(
        r"embeddings (\S+) \+ 1 head (\S+) \+ 1 feed-forward (\S+) \+ biases (\S+) = (\S+)\. ",
        re.sub(r"<style>.*?</style>|<[^>]*>", "", rendered, flags=re.DOTALL),
    )
    assert [float(width) for width in re.findall(r"flex:(\S+) 0 0", rendered)] == [0.10514, 0.44804, 7.15234, 1.76004]
    assert re.findall(r"\"( data-below)?></i>", rendered) == [" data-below", "", "", ""]
    *terms, total = (Decimal(number.replace("−", "-")) for number in said.groups())
    assert sum(terms).quantize(total) == total
