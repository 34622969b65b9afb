"""Padding is no token of the sentence: whatever a page says of a padded one, it says of the sentence alone."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import bertviz_core as bv
from bertviz_core.analysis.layers import find_principal_components, project_stages, stack_vectors
from bertviz_core.analysis.what_if import list_moved, measure_moved
from bertviz_core.formula.address import Address
from bertviz_core.ui.frame.labels import tell_padding
from bertviz_core.ui.frame.pages_menu import count
from bertviz_core.ui.frame.site import PAGES
from tests.canvas import look
from tests.often import together
from tests.settling import settle
from tests.test_pages import APP

BIRD = "The early bird catches the [MASK]."
ABOUT = "7 of 16 tokens have attention mask 0, as padding has: drawn, but left out of every mean, largest and nearest."
OF_A_SENTENCE = [info.name for info in PAGES if info.of_sentence]
OFTEN = {"overview", "heads", "layers", "where_from", "sentence", "tokenization", "parameters"}
# What is said of the picture itself, in which padding has rows: which of these are drawn.
_DRAWN = re.compile(
    r" ?Shown: tokens? \d+–\d+ of \d+\.( The download has all values\.)?|; from padding leads none"
    r"|^Padding is left out\.$"  # of the heads of a layer, side by side
    r"|, in the marked row in hundredths| with attention mask 1(?= at all stages)"
    r"| Difference: [^ ]+\.\]"  # of a number in single precision and in double
)
_ROUNDING = re.compile(r"; difference \S+(?=\.)")  # of sums, which another order of them changes
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def test_the_menu_counts_the_tokens_that_the_text_becomes(bundled):
    """Padding is none of them: no text becomes that."""
    plain, padded = bv.run(bundled, BIRD), bv.run(bundled, BIRD, pad_to=16)
    view = replace(look(padded), typed=plain.encoding)
    assert (len(plain.tokens), len(padded.tokens), count(view)["tokens"]) == (9, 16, "9")


def opened(page, **query):
    at = AppTest.from_file(APP, default_timeout=120)
    at.query_params.update({"text": BIRD, **query})
    at.run()
    at.switch_page(f"pages/{page}.py").run()
    at.session_state["open"] = "all"
    at.run()
    assert settle()  # what is worked out meanwhile is said to its end
    at.run()
    assert not at.exception and not at.error, page
    return at


def list_said(at):
    """What stands there in words, in order: the headline, captions and notes."""
    said = [at.title[0].value, *(caption.value for caption in at.caption), *(text.value for text in at.markdown)]
    return list(filter(None, (" ".join(_DRAWN.sub("", text).split()) for text in said)))


def read_html(at):
    """The words of what is written as HTML, without what is said of a term when that is pointed at."""
    bodies = "".join(element.proto.body for element in at.get("html"))
    return re.sub(r"<[^>]*>", "", re.sub(r'<span role="tooltip">[^<]*</span>', "", bodies))


def read_numbers(text):
    return [float(number.replace(",", "")) for number in _NUMBER.findall(text)]


@cache
def read_page(page, pad):
    """What a page says with this padding: in words, as HTML, and of how many tokens."""
    at = opened(page, pad=pad)
    return list_said(at), read_html(at), len(at.session_state["view"].trace.tokens)


def name_pages(pages):
    """Each page is opened once for all tests of it."""
    return pytest.mark.parametrize("page", together("padding", pages, OFTEN & {*pages}))


@name_pages([page for page in OF_A_SENTENCE if page != "tokenization"])  # which is about padding
def test_a_page_says_of_a_padded_sentence_what_it_says_of_the_sentence(page):
    (expected, _, plain), (said, _, padded) = (read_page(page, pad) for pad in ("off", "16"))
    assert (plain, padded) == (9, 16)
    said = [text.replace(r"\, \[SEP\] and \[PAD\]", r" and \[SEP\]") for text in said]  # padding is to be ignored, too
    said, expected = ([_ROUNDING.sub("", text) for text in texts] for texts in (said, expected))
    assert [_NUMBER.sub("#", text) for text in said] == [_NUMBER.sub("#", text) for text in expected]
    for one, other in zip(said, expected, strict=True):
        np.testing.assert_allclose(read_numbers(one), read_numbers(other), rtol=2e-4, atol=2e-3, err_msg=one)


@name_pages(OF_A_SENTENCE)
def test_every_page_that_shows_padded_tokens_says_what_is_done_about_it(page):
    for pad, there in (("16", page != "parameters"), ("off", False)):
        assert (ABOUT in read_page(page, pad)[1]) == there, pad


def test_a_headline_counts_what_was_typed():
    assert "**9 tokens**" in opened("tokenization", pad="16").title[0].value


def test_a_token_that_is_masked_out_counts_no_more_than_padding():
    """The nearest one to “bird” among those that are read."""
    row = opened("layers", token="3").session_state["view"]
    states = row.trace[f"encoder.layer.{row.chosen.layer}.output.LayerNorm"].astype(float)
    states /= np.linalg.norm(states, axis=1, keepdims=True)
    near = int(np.where(np.arange(9) == 3, -2, states @ states[3]).argmax())
    at = opened("layers", token="3", layer=str(row.chosen.layer), changes=f"attention_mask[token={near}]:0")
    said = read_html(at) + "".join(caption.value for caption in at.caption)
    assert f"bold: “{row.trace.tokens[near]}”" not in said
    assert re.search("bold: “[^”]+”(, nearest|; none is nearer) after layer", said)
    assert "1 of 9 tokens has attention mask 0" in read_html(at)


@pytest.fixture(scope="module")
def padded(bundled):
    return bv.run(bundled, BIRD, pad_to=16)


def test_directions_are_those_of_the_tokens_and_padding_is_seen_along_them(padded):
    found, states = project_stages(padded), stack_vectors(padded)
    alone = find_principal_components(states[:, :9], 3)
    np.testing.assert_array_equal(found.directions, alone.directions)
    np.testing.assert_array_equal(found.shares, alone.shares)
    np.testing.assert_allclose(found.points[:, :9], alone.points, atol=1e-9)
    expected = (states.astype(float) - states[:, :9].reshape(-1, states.shape[-1]).mean(axis=0)) @ found.directions.T
    np.testing.assert_allclose(found.points, expected, atol=1e-5)


def test_what_moved_is_measured_on_the_tokens(padded):
    """At the padding, which a change of layer 0 moves as well, nothing is looked for."""
    after = padded.with_changes({"embeddings.LayerNorm[token=12]": 9, "embeddings.LayerNorm[token=3,hidden=5]": 2})
    where = Address("encoder.layer.1.output.LayerNorm")
    size = np.abs(after[where].astype(float) - padded[where])
    assert size[9:].max() > size[:9].max()  # otherwise this could not fail
    moved = measure_moved(padded, after, where)
    token, hidden = (int(i) for i in np.unravel_index(size[:9].argmax(), size[:9].shape))
    assert moved.largest.at == {"token": token, "hidden": hidden}
    assert moved.mean == pytest.approx(size[:9].mean(), rel=1e-9)
    norms = Address("encoder.layer.1.output.LayerNorm.variance")
    size = np.abs(after[norms].astype(float) - padded[norms]).ravel()
    assert list_moved(padded, after, norms, 12) == np.argsort(-size[:9], kind="stable").tolist()


def test_that_a_change_masks_a_token_is_said_where_it_was_read_before(bundled):
    """What moved is measured on it too; padding was none before."""
    plain, filled = bv.run(bundled, BIRD), bv.run(bundled, BIRD, pad_to=16)
    assert tell_padding(plain, plain) == "" and "Of how far" not in tell_padding(filled, filled)
    for before in (plain, filled):
        assert " Of how far numbers moved, " in tell_padding(
            before.with_changes({"attention_mask[token=2]": 0}), before
        )
