"""Keys and numbers of the lesson on changes. All heads of the bundled model are left out in one sentence only."""

import pytest

import bertviz_core as bv
from bertviz_core.lessons import whatif_keys as keys
from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.handout import Handout, write_handout
from bertviz_core.lessons.marking import is_ready
from bertviz_core.lessons.scene import Scene
from tests.lessons.scenes import SENTENCES, check_lesson, find_scene
from tests.lessons.truths_whatif import TRUTHS
from tests.often import one_in

QUICK = ("looks", "without", "own")


@pytest.mark.parametrize("kind", SENTENCES)
def test_whatif_says_what_runs_do(models, kind):
    assert set(QUICK) <= set(check_lesson("whatif", find_scene(models, "random", kind), TRUTHS))


@pytest.mark.parametrize("kind", one_in(3, SENTENCES))
def test_whatif_says_what_runs_of_a_larger_model_do(models, kind):
    steps = QUICK if kind in ("long", "forty tokens") else (*QUICK, "token")  # which runs once a word
    assert set(QUICK) <= set(check_lesson("whatif", find_scene(models, "bundled", kind), TRUTHS, steps))


def test_the_usual_sentence_has_all_that_is_needed(models):
    assert check_lesson("whatif", find_scene(models, "bundled", "usual"), TRUTHS) == list(TRUTHS)


def test_of_a_long_sentence_nothing_is_tried_head_by_head_or_word_by_word(models, monkeypatch):
    """Whoever sent a link, or asked for a handout, kept all costly work of others waiting for minutes."""
    monkeypatch.setattr(keys, "_measure_heads", lambda *_: pytest.fail("every head is tried"))
    monkeypatch.setattr(keys, "_measure_words", lambda *_: pytest.fail("every word is tried"))
    trace = bv.run(models["bundled"], "cat " * keys.MOST_TOKENS + "[MASK]")
    scene = Scene(trace, 2, 3, len(trace.tokens) - 2)
    lesson = find_lesson("whatif")
    unready = {step.name for step in lesson.steps if not is_ready(step, scene)}
    assert unready == {step.name for step in lesson.steps if step.costly}
    assert "the sentence has more than 64 tokens" in write_handout(Handout(lesson, scene, "cat"), with_key=True)
