"""The sentence page of a question answering model: the answer marked in the text, and every bar that of its cell."""

import re

import numpy as np
import pytest
import torch
from transformers import BertForQuestionAnswering

from bertviz_core.analysis.answers import find_answer
from bertviz_core.formula.numbers import format_percent
from bertviz_core.ui.views.sentence_answer import QUESTION
from tests.factory import random_checkpoint
from tests.test_answer_pages import html, opened

ASKED = {"text": "Where do the romans play?", "pair": "The cat sat on the mat, as romans do in Rome."}
SPOT = re.compile(
    r'<div class="bv-spot([^"]*)"><button data-cell="([^"]*)"[^>]*><i style="height:([\d.]+)%"></i></button>'
    r'<button data-token="(\d+)">([^<]*)</button>'
    r'<button data-cell="([^"]*)"[^>]*><i style="height:([\d.]+)%"></i></button>'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return random_checkpoint(
        tmp_path_factory.mktemp("answers"), kind="question-answering", seed=2, max_position_embeddings=160
    )


@pytest.fixture(autouse=True)
def only_this_model(folder, monkeypatch):
    monkeypatch.setenv("BERTVIZ_MODELS", str(folder))


@torch.inference_mode()
def read_probabilities(folder, encoding):
    """(2, token) of the start and of the end, from Hugging Face's model."""
    model = BertForQuestionAnswering.from_pretrained(folder, dtype=torch.float32).eval()
    found = model(torch.tensor([encoding.ids]), token_type_ids=torch.tensor([encoding.segments]))
    return torch.stack([found.start_logits[0], found.end_logits[0]]).softmax(-1).numpy()


def test_every_token_of_the_text_stands_between_its_two_probabilities(folder):
    at = opened("sentence", **ASKED)
    view = at.session_state["view"]
    start, end = read_probabilities(folder, view.trace.encoding)
    spots = SPOT.findall(html(at))
    inside = [i for i, segment in enumerate(view.trace.encoding.segments) if segment][:-1]
    assert [int(token) for *_, token, _, _, _ in spots] == inside
    largest, best = max(start[inside].max(), end[inside].max()), find_answer(view.trace)
    for i, (kinds, above, high, _, word, below, low) in zip(inside, spots, strict=True):
        assert (above, below) == (f"qa_outputs.start.probs[start={i}]", f"qa_outputs.end.probs[end={i}]")
        assert word == view.trace.tokens[i]
        np.testing.assert_allclose(
            [float(high), float(low)], [100 * p / largest for p in (start[i], end[i])], atol=0.06
        )
        expected = ["in"] * (best.start <= i <= best.end) + ["first"] * (i == best.start) + ["last"] * (i == best.end)
        assert kinds.split() == [f"bv-spot-{kind}" for kind in expected]
    assert at.title[0].value.startswith(r"*Where do the romans play\?* **“")
    (told,) = (caption.value for caption in at.caption if "The bar above" in caption.value)
    assert "above a token: the probability that the answer starts with it. Below: that it ends" in told
    rows = re.findall(r'<td[^>]*>(\d+)(?:–(\d+))?</td>.*?data-cell="qa_outputs\.start\[start=(\d+)\]', html(at))
    assert len(rows) > 4 and all(first == of and (not last or int(first) < int(last)) for first, last, of in rows)


def test_of_a_long_text_the_part_around_the_answer_is_drawn(folder):
    at = opened("sentence", text="who?", pair="a b c d e f g h " * 15)
    view = at.session_state["view"]
    drawn = [int(token) for _, _, _, token, *_ in SPOT.findall(html(at))]
    assert drawn == list(range(drawn[0], drawn[-1] + 1)) and find_answer(view.trace).start in drawn
    assert len(drawn) == 28 and not at.exception
    told = f"Tokens {drawn[0]}–{drawn[-1]} of {len(view.trace.tokens):,} are shown."
    assert [told in caption.value for caption in at.caption if "are shown" in caption.value] == [True]


def test_a_change_is_shown_in_both_passes(folder):
    at = opened("sentence", **ASKED, changes="qa_outputs[token=14,bound=0]:30", show="Difference")
    found = at.session_state["view"].outcome
    marked = [int(token) for kinds, _, _, token, *_ in SPOT.findall(html(at)) if "bv-spot-first" in kinds]
    assert marked == [find_answer(found.before).start, find_answer(found.after).start] and marked[1] == 14 != marked[0]
    assert not at.exception and not at.error
    spots, (told,) = SPOT.findall(html(at)), (one.value for one in at.caption if "The bar above" in one.value)
    heights = [[float(high), float(low)] for _, _, high, _, _, _, low in spots]
    inside = [int(token) for *_, token, _, _, _ in spots[: len(spots) // 2]]
    shares = np.array([[trace[f"qa_outputs.{bound}.probs"][inside] for bound in ("start", "end")]
                       for trace in (found.before, found.after)]).transpose(0, 2, 1)  # fmt: skip
    assert f"A full bar is {format_percent(float(shares.max()))}." in told
    np.testing.assert_allclose(np.reshape(heights, shares.shape), 100 * shares / shares.max(), atol=0.06)


def test_of_a_long_text_each_pass_is_drawn_around_its_own_answer(folder):
    at = opened("sentence", text="who?", pair="a b c d e f g h " * 15, changes="qa_outputs[token=100,bound=0]:60",
                show="Difference")  # fmt: skip
    drawn = [int(token) for _, _, _, token, *_ in SPOT.findall(html(at))]
    before, after = drawn[: len(drawn) // 2], drawn[len(drawn) // 2 :]
    assert 100 in after and 100 not in before
    count = len(at.session_state["view"].trace.tokens)
    told = f"Tokens {before[0]}–{before[-1]} before and {after[0]}–{after[-1]} after of {count} are shown."
    assert any(told in caption.value for caption in at.caption)


def test_scores_that_a_change_put_are_not_said_to_be_sums(folder):
    without = "A change puts other numbers there than this formula gives. Without it: "
    for changes, told in (("qa_outputs.spans[start=14,end=15]:30", 1), ("qa_outputs[token=14,bound=0]:30", 0)):
        at = opened("sentence", **ASKED, changes=changes)
        assert html(at).count(without) == told


@pytest.mark.parametrize(("asked", "offers"), [
    ({"text": "Where do the romans play?"}, 1), ({"text": QUESTION.text, "pair": QUESTION.pair}, 0),
])  # fmt: skip
def test_a_question_without_a_text_is_offered_one(asked, offers):
    at = opened("sentence", **asked)
    assert sum(button.label == "ask about a text" for button in at.button) == offers
    assert ("no text yet" in at.title[0].value) == bool(offers) != bool(SPOT.search(html(at)))
    assert not at.exception and not at.error


def test_other_models_are_told_what_answers_need(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTVIZ_MODELS", str(random_checkpoint(tmp_path, kind="sequence-classification")))
    at = opened("sentence", **ASKED, open="all")
    assert any("`qa_outputs`" in caption.value for caption in at.caption) and not at.exception


@pytest.mark.parametrize(("page", "told"), [("story", "an answer from “"), ("heads", "an answer from “")])
def test_the_ends_of_the_answer_have_a_story_and_heads_that_matter_to_them(page, told):
    at = opened(page, **ASKED, open="all")
    texts = [*(element.value for element in (*at.caption, *at.markdown)), *(str(box.options) for box in at.selectbox)]
    assert any(told in text for text in texts) and not at.exception


def test_the_part_of_a_long_text_begins_and_ends_with_whole_words(folder):
    at = opened("sentence", text="who?", pair="xyzzyxw qrst " * 12)
    tokens = at.session_state["view"].trace.tokens
    drawn = [int(token) for _, _, _, token, *_ in SPOT.findall(html(at))]
    assert 28 <= len(drawn) < 28 + 7 + 4 and "##" in "".join(tokens[i] for i in drawn)
    assert not tokens[drawn[0]].startswith("##") and not tokens[drawn[-1] + 1].startswith("##")
