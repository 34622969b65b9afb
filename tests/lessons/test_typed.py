"""What is typed as an answer, what is clicked, and the runs that a prediction is checked by."""

from dataclasses import replace

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.errors import InputError
from bertviz_core.formula.address import parse
from bertviz_core.lessons import attention_keys, marking, whatif_keys, words_keys
from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.lesson import Choose, otherwise
from bertviz_core.lessons.sentences import find_token
from bertviz_core.ui.frame.site import PAGES
from tests.factory import random_checkpoint
from tests.lessons.scenes import find_scene, make_scene
from tests.lessons.truths_whatif import PROBS, predict


@pytest.fixture(scope="module")
def small(models):
    return find_scene(models, "random", "usual")


@pytest.fixture(scope="module")
def best(small):
    """The small model's entries at the place that is looked at, the likeliest first."""
    order = np.argsort(-predict(small.trace, small.token))
    return [small.model.tokenizer.name(int(i)) for i in order]


def test_an_expected_word_is_right_among_the_first_ten(small, best):
    named = [(i, word) for i, word in enumerate(best) if small.model.tokenizer.id(word) is not None]
    for place, word in named:
        verdict = words_keys.check_expected(small, word, "")
        assert verdict.counted and verdict.right == (place < 10)
        assert f"“{word}” is number {place + 1} of {len(best)}" in verdict.says
        assert place < 10 or f"“{best[0]}”" not in verdict.says  # the answer is not given away


@pytest.mark.parametrize("word", ["", "  ", "\u200b", "zzqq rome", "unheard", "漢"])
def test_what_is_no_entry_is_no_try(small, word):
    for verdict in (
        words_keys.check_expected(small, word, ""),
        words_keys.check_own(small, "the [MASK] sat.", word),
    ):
        assert not verdict.counted and not verdict.right and verdict.says


@pytest.mark.parametrize("text", ["the cat sat.", "the [MASK] sat on [MASK].", "a"])
def test_a_sentence_without_one_mask_is_no_try(small, text):
    for verdict in (
        words_keys.check_own(small, text, "cat"),
        whatif_keys.check_own(small, text, "0.0"),
        attention_keys.check_own(small, text, "the"),
    ):
        assert not verdict.counted and "[MASK]" in verdict.says


def test_an_empty_sentence_is_refused_by_the_model(small):
    with pytest.raises(InputError):
        words_keys.check_own(small, "", "cat")


def test_a_sure_sentence_and_its_word(small):
    seen = set()
    for text in (
        "the [MASK] sat.",
        "in [MASK] do",
        "[MASK]",
        "a [MASK]!",
        "play [MASK] ?",
        "do [MASK] do",
        "b [MASK] z",
    ):
        shares = predict(bv.run(small.model, text), (trace := bv.run(small.model, text)).tokens.index("[MASK]"))
        top, share = small.model.tokenizer.name(int(shares.argmax())), shares.max()
        other = "cat" if top != "cat" else "mat"
        assert words_keys.check_own(small, text, top).right == (share > 0.5)
        verdict = words_keys.check_own(small, text, other)
        assert not verdict.right and verdict.counted and trace
        assert (f"“{top}”" in verdict.says) == (share <= 0.5)
        seen.add(bool(share > 0.5))
    assert seen == {True, False}


@pytest.mark.parametrize("guess", ["", "5", "two.three", "9.0", "0.3", "1.1.1", "layer 7, head 0"])
def test_what_names_no_head_is_no_try(small, guess):
    verdict = whatif_keys.check_own(small, "the [MASK] sat.", guess)
    assert not verdict.counted and "layers 0 to 1, heads 0 to 2" in verdict.says


def test_a_head_without_which_another_word_leads(small):
    text, seen = "the [MASK] sat.", set()
    trace = bv.run(small.model, text)
    before = int(predict(trace, 2).argmax())
    for layer, head in np.ndindex(2, 3):
        after = int(predict(trace.with_changes({PROBS.format(layer, head): 0.0}), 2).argmax())
        for guess in (f"{layer}.{head}", f"layer {layer}, head {head}", f" {layer},{head} ", f"{layer} {head}"):
            verdict = whatif_keys.check_own(small, text, guess)
            assert verdict.counted and verdict.right == (after != before)
        seen.add(verdict.right)
    assert seen == {True, False}


def test_clicks_that_are_meant_and_others(small):
    weights = f"encoder.layer.{small.layer}.attention.self.probs"
    cell = parse(f"{weights}[head={small.head},query={small.token},key=1]")
    assert attention_keys.find_key(small, cell) == 1
    assert "there" in attention_keys.find_key(small, cell.fix(query=1))
    assert attention_keys.find_key(small, cell.fix(head=(small.head + 1) % 3)) is None
    assert attention_keys.find_pair(small, cell.fix(query=1, key=2)) == len(small.tokens) + 2
    token = parse("input_ids[token=4]")
    assert attention_keys.find_key(small, token) == 4 and "choose a cell" in attention_keys.find_pair(small, token)
    assert whatif_keys.find_head(small, parse("encoder.layer.1.attention.self.probs[head=2]")) == 5
    assert whatif_keys.find_head(small, parse("encoder.layer.1.attention.self.probs[head=2,query=0,key=0]")) == 5
    assert whatif_keys.name_heads(small)[5] == "layer 1, head 2"
    assert find_token(small, parse("input_ids[token=4]")) == 4
    for other in ("embeddings.sum[token=1,hidden=2]", "encoder.layer.1.attention.self.query[head=2,query=0,d_k=0]"):
        assert find_token(small, parse(other)) is None
        assert whatif_keys.find_head(small, parse(other)) is None
        assert attention_keys.find_key(small, parse(other)) is None


def test_every_prediction_can_be_run(small):
    ran = [
        small.change(step.ask.run(small)).trace.changes
        for lesson in LESSONS
        for step in lesson.steps
        if isinstance(step.ask, Choose) and step.ask.run and marking.is_ready(step, small)
    ]
    assert len(ran) >= 4 and all(ran)


def test_a_model_without_predictions_is_ready_for_none_of_them(tmp_path):
    scene = make_scene(bv.load_model(str(random_checkpoint(tmp_path, kind="base"))), "the [MASK] sat.")
    for name in ("words", "whatif"):
        assert not any(marking.is_ready(step, scene) for step in find_lesson(name).steps)


def test_steps_are_whole():
    pages = {page.name for page in PAGES}
    for lesson in LESSONS:
        assert len({step.name for step in lesson.steps}) == len(lesson.steps)
        for step in lesson.steps:
            assert step.page in pages and step.hints and step.misconception
            assert not step.wrong or step.wrong[-1].is_so is otherwise
            assert lesson.find_step(str(lesson.steps.index(step) + 1)) == lesson.steps.index(step)


def _force(scene, key):
    """The same with nearly all of the chosen row's weight at one key."""
    return scene.change({scene.find_attention("scores", query=scene.token, key=key): 1000.0})


@pytest.mark.parametrize(
    ("before", "top", "text", "own_top", "said"),
    [
        ("the cat sat.", 1, "the [MASK] sat.", 1, "One sentence shows a case"),
        (
            "the [MASK] sat.",
            1,
            "in the [MASK].",
            2,
            "before, too, it was the token 1 place before [MASK]: that speaks for",
        ),
        (
            "the [MASK] sat.",
            0,
            "in the [MASK].",
            1,
            "before, too, it was the token 2 places before [MASK]: that speaks for",
        ),
        (
            "the [MASK] sat.",
            3,
            "in the [MASK].",
            4,
            "before, too, it was the token 1 place behind [MASK]: that speaks for",
        ),
        ("the [MASK] sat.", 2, "in the [MASK].", 3, "before, too, it was [MASK] itself: that speaks for"),
        ("the [MASK] sat.", 0, "in the [MASK].", 0, "before, too, it was “[CLS]”: that speaks for"),
        (
            "the [MASK] sat.",
            2,
            "in the [MASK].",
            1,
            "Here that is the token 2 places before [MASK]; in the sentence before it was [MASK] itself",
        ),
        (
            "the [MASK] sat.",
            1,
            "in the [MASK].",
            1,
            "in the sentence before it was “the”, the token 1 place before [MASK]: that speaks against",
        ),
    ],
)
def test_an_own_sentence_is_compared_with_the_one_before(small, before, top, text, own_top, said):
    scene = make_scene(small.model, before)
    forced = _force(scene, top)
    own = replace(make_scene(small.model, text), layer=scene.layer, head=scene.head)
    forced = replace(forced, runs=lambda *_: _force(own, own_top).trace)
    verdict = attention_keys.check_own(forced, text, str(own_top))
    assert verdict.right and said in verdict.says, verdict.says
