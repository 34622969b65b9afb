"""The keys and numbers of the lessons on tokens, embeddings and a layer, worked out once more in plain NumPy."""

import pytest

from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.marking import is_ready, work_out
from tests.lessons.opened_a import TEXTS, open_scene
from tests.lessons.oracles_a import ORACLES

ALWAYS = {"three", "own", "size", "component", "longest", "norm", "neurons"}
STEPS = [(lesson, step) for lesson, oracles in ORACLES.items() for step in oracles]


@pytest.fixture(scope="module")
def scenes(bundled, small):
    return [(open_scene(model, text), text) for model in (bundled, small) for text in TEXTS]


def find_step(lesson, name):
    return next(step for step in find_lesson(lesson).steps if step.name == name)


def test_every_step_has_an_oracle():
    assert [(name, step.name) for name in ORACLES for step in find_lesson(name).steps] == STEPS


@pytest.mark.parametrize(("lesson", "name"), STEPS)
def test_the_key_and_every_number_are_what_the_recorded_tensors_give(scenes, lesson, name):
    step = find_step(lesson, name)
    ready = [(scene, text) for scene, text in scenes if is_ready(step, scene)]
    assert len(ready) == len(scenes) if name in ALWAYS else len(ready) >= 4
    for scene, text in ready:
        worked = work_out(lesson, step, scene)
        key, numbers = ORACLES[lesson][name](scene, text)
        assert worked.key == pytest.approx(key, rel=1e-4, abs=1e-4), text
        assert dict(worked.numbers) == numbers, text
        assert worked.why in scene.trace
