"""Keys and numbers of the lesson on changes. All heads of the bundled model are left out in one sentence only."""

import pytest

from tests.lessons.scenes import SENTENCES, check_lesson, find_scene
from tests.lessons.truths_whatif import TRUTHS

QUICK = ("looks", "without", "own")


@pytest.mark.parametrize("kind", SENTENCES)
def test_whatif_says_what_runs_do(models, kind):
    assert set(QUICK) <= set(check_lesson("whatif", find_scene(models, "random", kind), TRUTHS))


@pytest.mark.parametrize("kind", SENTENCES)
def test_whatif_says_what_runs_of_a_larger_model_do(models, kind):
    steps = QUICK if kind in ("long", "forty tokens") else (*QUICK, "token")  # which runs once a word
    assert set(QUICK) <= set(check_lesson("whatif", find_scene(models, "bundled", kind), TRUTHS, steps))


def test_the_usual_sentence_has_all_that_is_needed(models):
    assert check_lesson("whatif", find_scene(models, "bundled", "usual"), TRUTHS) == list(TRUTHS)
