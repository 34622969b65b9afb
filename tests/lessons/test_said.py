"""Everything that a lesson can say is said in some scene, has its numbers, and is never said where it is not so."""

import re
from dataclasses import replace

import pytest

import bertviz_core as bv
from bertviz_core.lessons import marking
from bertviz_core.lessons.attention_divisor import find_ends
from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.lesson import Choose, Number, Pick, Slide, Tried
from bertviz_core.lessons.scene import Scene
from bertviz_core.tracing.rewrites import Rule
from tests.lessons.scenes import SENTENCES, find_scene
from tests.often import one_in

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


@pytest.mark.parametrize("name", one_in(3, LESSONS))
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


def find_step(lesson, name):
    return next(step for step in find_lesson(lesson).steps if step.name == name)


def test_a_share_that_is_there_already_is_no_task(models):
    trace, step = (
        bv.run(models["bundled"], "The dog that bit the dog ran from the dog."),
        find_step("attention", "scale"),
    )
    assert float(trace["encoder.layer.2.attention.self.probs[head=7,query=6]"].max()) == pytest.approx(0.89, abs=0.005)
    assert marking.tell_lack(step, Scene(trace, 2, 7, 6)) == "one token has about 90 % already"


def test_a_small_difference_is_not_said_to_be_none(models):
    """One of the two ways to leave a head out lowers the answer here, the other raises it."""
    trace, step = bv.run(models["bundled"], "Hello"), find_step("whatif", "without")
    scene = Scene(trace, 5, 4, 1)
    worked = marking.work_out("whatif", step, scene)
    answer = int(trace["cls.predictions.probs[token=1]"].argmax())
    address = "encoder.layer.5.attention.self.probs[head=4]"
    zeroed, even = (
        float(trace.with_changes({address: value})[f"cls.predictions.probs[token=1,vocab={answer}]"])
        for value in (0.0, "uniform")
    )
    assert zeroed < float(trace[f"cls.predictions.probs[token=1,vocab={answer}]"]) < even
    assert f"differ by only {100 * (even - zeroed):.2f} points." in marking.mark_index(step, scene, worked, 1).says
    assert marking.mark_index(step, scene, worked, 2).says.startswith(
        "A mean of all values can help, as part of what the head hands on. Here it does not, or not by so much."
    )


def test_a_word_without_which_the_answer_rises_is_not_said_to_cost_anything(models):
    trace = bv.run(models["bundled"], "The teacher thanked the pupils because the [MASK] was quiet.")
    scene, step = Scene(trace, 2, 1, 8), find_step("whatif", "token")
    worked = marking.work_out("whatif", step, scene)
    answer = f"cls.predictions.probs[token=8,vocab={int(trace['cls.predictions.probs[token=8]'].argmax())}]"
    was, without = (float(one[answer]) for one in (trace, trace.with_changes({"attention_mask[token=1]": 0.0})))
    assert without > was
    assert marking.mark_index(step, scene, worked, 1).says.endswith(
        ": it loses nothing. You look for the largest fall."
    )
    assert marking.mark_index(step, scene, worked, 2).says.endswith(". Another word costs more.")


def test_of_things_that_several_surpass_none_is_told_that_just_one_does():
    said = [wrong.says for name in LESSONS for step in find_lesson(name).steps for wrong in step.wrong]
    assert not [text for text in said if re.search(r"\bOne \w+ (costs|gets|has|loses) more", text)]
