"""Keys and numbers of the lesson on attention, on every kind of sentence in two models."""

import pytest

from tests.lessons.scenes import MODELS, SENTENCES, check_lesson, find_scene
from tests.lessons.truths_attention import TRUTHS


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kind", SENTENCES)
def test_attention_says_what_the_weights_do(models, model, kind):
    checked = check_lesson("attention", find_scene(models, model, kind), TRUTHS)
    assert {"row", "direction", "own"} <= set(checked)


def test_the_usual_sentence_has_all_that_is_needed(models):
    assert check_lesson("attention", find_scene(models, "bundled", "usual"), TRUTHS) == list(TRUTHS)
