"""Which way a part pulls is said as its sign has it, and of padding none is named as the largest."""

import re

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.formula.numbers import format_short
from bertviz_core.formula.texts import name_token
from tests.test_put import opened

SCORE = "cls.predictions.decoder"


def headline(text, token, **query):
    at = opened("where_from", {}, text, layer="0", head="0", token=str(token), **query)
    return re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", at.title[0].value)


def name_cell(token, word):
    return f"{SCORE}[token={token},vocab={word}]"


# A lead whose parts have all the same sign: the text, the token, the words, and what is said.
LEADS = {
    "all for": ("b [MASK]", 1, "b", ":", r"“b” speaks most for it, \+14\.3\d\*\*; none against it$"),
    "all against": ("la la", 0, "everything", "string", r"\*\*no token speaks for it\*\*; “\[SEP\]” most against, −1\.69$"),
    "both": ("b [MASK]", 2, ".", "the", r" speaks most for it, \+[\d.]+\*\*; .+ most against, −[\d.]+$"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEADS)
def test_of_a_lead_no_part_is_called_for_or_against_that_has_not_that_sign(bundled, name):
    text, token, word, other, said = LEADS[name]
    cells = [name_cell(token, bundled.tokenizer.id(one)) for one in (word, other)]
    parts = bv.attribute(bv.run(bundled, text), cells[0], against=cells[1]).parts
    assert {*np.sign(parts)} == {"all for": {1}, "all against": {-1}, "both": {1, -1}}[name]
    assert re.search(said, headline(text, token, instead=cells[1]))


def test_of_a_sum_below_0_the_part_that_is_named_is_below_0(bundled):
    """Not the largest, which pulls the other way."""
    trace = bv.run(bundled, "The sun rises in the [MASK].")
    word = int(np.asarray(trace[f"{SCORE}[token=3]"]).argmin())
    found = bv.attribute(trace, name_cell(3, word))
    assert found.total < 0 < found.parts.max()
    least = int(found.parts.argmin())
    said = f"Of the tokens most from **{name_token(trace.tokens, least)}: {format_short(found.parts[least])} in a sum of"
    assert f"{said} {format_short(found.total)}**" in headline("The sun rises in the [MASK].", 3, of=name_cell(3, word))


def test_a_token_that_is_masked_out_is_not_named_as_the_largest_part(bundled):
    """Also where the number is its own, of which it carried the most itself."""
    trace, where = bv.run(bundled, "Go home.", pad_to=7), name_cell(6, bundled.tokenizer.id("salesman"))
    parts = bv.attribute(trace, where).parts
    assert parts.argmin() == 6 and not parts[5] and parts.sum() < 0
    most = int(parts[:5].argmin())
    said = f"Of the tokens not masked out most from **{name_token(trace.tokens, most)}: {format_short(parts[most])} in"
    assert said in headline("Go home.", 6, pad="7", of=where)
    assert "not masked out" not in headline("Go home.", 1, pad="7")
