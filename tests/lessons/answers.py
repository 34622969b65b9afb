"""The right answer to every step: from its key, or the first of many that a step marks as right."""

from itertools import chain, product

from bertviz_core.errors import BertvizError
from bertviz_core.lessons.lesson import Choose, Number, Pick, Slide
from bertviz_core.lessons.marking import list_options, mark_index, mark_number, mark_slide, work_out
from tests.lessons.scenes import SENTENCES, make_scene


def list_right(model, lesson):
    """For each step an index, a number as it is typed, where the slider is to stand, or what is written."""
    scene = make_scene(model, lesson.text)
    return [_find_right(lesson, step, scene) for step in lesson.steps]


def find_wrong(lesson, step, scene):
    """An answer to a step that counts, and is wrong."""
    worked, ask = work_out(lesson.name, step, scene), step.ask
    if isinstance(ask, Choose | Pick):
        return (int(worked.key) + 1) % len(list_options(step, scene, worked))
    if isinstance(ask, Number):
        return f"{worked.key + 10 * ask.within + 1:.2f}"
    if isinstance(ask, Slide):
        return ask.ends(scene)[1]
    return next(
        each
        for each in _list_written(ask, scene)
        if ask.check(scene, *each).counted and not _is_right(ask, scene, *each)
    )


def _find_right(lesson, step, scene):
    worked, ask = work_out(lesson.name, step, scene), step.ask
    if isinstance(ask, Choose | Pick):
        said, verdict = int(worked.key), mark_index(step, scene, worked, int(worked.key))
    elif isinstance(ask, Number):
        said = f"{worked.key:.2f}".rstrip("0").rstrip(".")
        verdict = mark_number(step, scene, worked, said)
    elif isinstance(ask, Slide):
        said, verdict = worked.key, mark_slide(step, scene, worked, worked.key)
    else:
        tried = chain(ask.samples(scene), _list_written(ask, scene))
        return next(each for each in tried if _is_right(ask, scene, *each))
    assert verdict.right, (lesson.name, step.name, said)
    return said


def _list_written(ask, scene):
    """Texts with what may be foretold of them: numbers, heads and the tokens of the text."""
    words = [token for token in scene.tokens if token.isalpha()]
    texts = [text for text, _ in ask.samples(scene)]
    texts += [*SENTENCES.values()] if ask.runs else map("".join, product(words, repeat=3))
    if not ask.guess:
        return ((text, "") for text in texts)
    config = scene.model.config
    heads = product(range(config.num_hidden_layers), range(config.num_attention_heads))
    guesses = [*map(str, range(20)), *(f"{layer}.{head}" for layer, head in heads)]
    return ((text, guess) for text in texts for guess in chain(guesses, text.lower().split()))


def _is_right(ask, scene, text, guess):
    try:
        return ask.check(scene, text, guess).right
    except BertvizError:
        return False
