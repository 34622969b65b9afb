"""Everything that a lesson can say is said in some scene, has its numbers, and is never said where it is not so."""

from dataclasses import replace

import pytest

from bertviz_core.lessons import marking
from bertviz_core.lessons.attention_divisor import find_ends
from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.lesson import Choose, Number, Pick, Slide, Tried
from bertviz_core.tracing.rewrites import Rule
from tests.lessons.scenes import SENTENCES, find_scene

LESSONS = ("attention", "words", "whatif")


@pytest.fixture(scope="module")
def scenes(models):
    """All places of some sentences of the small model, also with scores so far apart that weights become 0, and with
    logits so near one another that all words are nearly alike; of the bundled one, in which that are many."""
    found = []
    for kind in SENTENCES:
        scene = find_scene(models, "random", kind)
        found.append(scene)
        found += [replace(scene, token=i) for i in range(1, len(scene.tokens), 2)] if kind == "usual" else []
    usual, large = find_scene(models, "random", "usual"), find_scene(models, "bundled", "shortest")
    return [
        *found,
        scale(usual, f"encoder.layer.{usual.layer}.attention.self.scaled", 100),
        scale(usual, "cls.predictions.decoder", 0.01),
        scale(large, "cls.predictions.decoder", 0.01),
    ]


def scale(scene, address, factor):
    return replace(scene, trace=scene.trace.with_changes({address: Rule(f"scale={factor}")}))


def try_answers(step, scene, worked):
    """What is said to every answer that can be given, and to numbers that a mistake leads to."""
    if isinstance(step.ask, Choose | Pick):
        for i in range(len(marking.list_options(step, scene, worked))):
            yield i, marking.mark_index(step, scene, worked, i)
    elif isinstance(step.ask, Number):
        numbers = [marking.read_number(text) for text in worked.numbers.values()]
        known = [number for number in numbers if number is not None]
        sums = {a + b + c for a in known[:5] for b in (0.0, *known[:5]) for c in (0.0, *known[:5])}
        for value in {worked.key, 1 / worked.key, 98765.0, *known, *sums, *(worked.key - 2 * a for a in known[:5])}:
            yield value, marking.mark_number(step, scene, worked, f"{value:.4f}")
    elif isinstance(step.ask, Slide):
        low, high = find_ends(scene)
        for i in range(41):
            value = low + (high - low) * i / 40
            yield value, marking.mark_slide(step, scene, worked, value)


def check_texts(step, worked):
    """What is said before an answer names no number that the step does not work out."""
    for text in (step.place, step.text, step.task, *step.hints):
        said = marking.fill(text, worked.numbers)
        assert said.strip() and not {"{", "}"} & set(said)


def list_texts(step):
    """What can be said of an answer, by what it is said to."""
    if isinstance(step.ask, Choose):
        return {
            (i, kind) for i, one in enumerate(step.ask.options) for kind in ("right", "wrong") if getattr(one, kind)
        }
    return set(range(len(step.wrong)))


@pytest.mark.parametrize("name", LESSONS)
def test_everything_is_said(scenes, name):
    left = {step.name: list_texts(step) for step in find_lesson(name).steps}
    for step in find_lesson(name).steps:
        for scene in scenes:
            if marking.is_ready(step, scene):
                worked = marking.work_out(name, step, scene)
                check_texts(step, worked)
                for answer, verdict in try_answers(step, scene, worked):
                    assert verdict.says.strip() and verdict.counted
                    if isinstance(step.ask, Choose):
                        left[step.name].discard((answer, "right" if verdict.right else "wrong"))
                    elif not verdict.right:
                        tried = Tried(scene, worked, answer)
                        left[step.name].discard(next(i for i, one in enumerate(step.wrong) if one.is_so(tried)))
    assert {step: texts for step, texts in left.items() if texts} == {}
