"""Every text that the lessons on tokens, embeddings and a layer can say is said somewhere, and is filled."""

import numpy as np
import pytest

from bertviz_core.formula.address import Address
from bertviz_core.lessons.catalogue import LESSONS, find_lesson
from bertviz_core.lessons.lesson import Choose, Number, Pick, Tried, Write
from bertviz_core.lessons.marking import is_ready, mark_index, mark_number, tell_key, work_out
from tests.lessons.opened_a import ROME, TEXTS, open_scene, read_texts
from tests.lessons.oracles_a import EXAMPLES, cosine, cut, lens, read, rows
from tests.often import one_in

NAMES = ("tokens", "embeddings", "layer")
STEPS = [(name, step) for name in NAMES for step in find_lesson(name).steps]
GUESSED = (  # what is hidden there follows from the rest, for a model that was trained
    "The man put his hands in his pockets.",
    "The United States of America",
    "He was born in the city of New York.",
    "It is one of the most important parts of the world.",
)


@pytest.fixture(scope="module")
def scenes(bundled, small, cased):
    asked = [(bundled, (*TEXTS, *GUESSED)), (small, TEXTS), (cased, ("the cat", "the cat sat", "on the mat"))]
    return [open_scene(model, text) for model, texts in asked for text in texts]


def list_ready(step, scenes):
    return [scene for scene in scenes if is_ready(step, scene)]


def list_answers(step, scene, worked):
    """Answers of every kind: all that can be picked, or numbers, those of usual mistakes among them."""
    if isinstance(step.ask, Choose):
        return range(len(step.ask.options))
    if isinstance(step.ask, Pick):
        return range(len(scene.tokens))
    width = scene.model.config.hidden_size
    parts = rows(scene)[:, np.abs(rows(scene).sum(axis=0)).argmax()]
    return [*range(60), width, 3 * width, 0.5, *(parts.sum() - parts), np.abs(parts).sum(), worked.key]


def mark(step, scene, worked, answer):
    if isinstance(step.ask, Number):
        return mark_number(step, scene, worked, f"{answer:.6f}")
    return mark_index(step, scene, worked, int(answer))


def test_the_order_of_the_lessons():
    assert [lesson.name for lesson in LESSONS][:4] == ["tokens", "embeddings", "attention", "layer"]


@pytest.mark.parametrize("asked", one_in(3, STEPS, lambda each: f"{each[0]}-{each[1].name}"))
def test_every_text_is_filled_and_every_mistake_is_made_somewhere(scenes, asked):
    lesson, step = asked
    made, wrong_options = set(), set()
    for scene in list_ready(step, scenes):
        worked = work_out(lesson, step, scene)
        assert not [text for text in read_texts(step, scene, worked) if not text or set("{}") & set(text)]
        if isinstance(step.ask, Write):
            continue
        assert tell_key(step, scene, worked)
        for answer in list_answers(step, scene, worked):
            verdict = mark(step, scene, worked, answer)
            assert verdict.says
            assert verdict.counted
            assert not set("{}") & set(verdict.says)
            if isinstance(step.ask, Choose):
                option = step.ask.options[answer]
                assert option.right if verdict.right else option.wrong
                wrong_options |= set() if verdict.right else {answer}
            elif not verdict.right:
                tried = Tried(scene, worked, round(float(answer), 6))
                made.add(next(i for i, each in enumerate(step.wrong) if each.is_so(tried)))
    if isinstance(step.ask, Choose):
        assert wrong_options == {i for i, option in enumerate(step.ask.options) if option.wrong}
    assert made == set(range(len(step.wrong)))


@pytest.mark.parametrize(("lesson", "step"), STEPS, ids=lambda each: getattr(each, "name", each))
def test_the_lessons_own_sentence_has_what_its_steps_need(bundled, lesson, step):
    assert is_ready(step, open_scene(bundled, find_lesson(lesson).text))


def test_a_model_without_an_lm_head_is_not_asked_for_words(headless):
    scene = open_scene(headless, ROME)
    unready = {(name, step.name) for name, step in STEPS if not is_ready(step, scene)}
    heads = {("tokens", "hidden"), ("embeddings", "order"), ("layer", "skip"), ("layer", "when"), ("layer", "own")}
    assert heads <= unready
    for name, step in STEPS:
        if is_ready(step, scene):
            assert read_texts(step, scene, work_out(name, step, scene))


@pytest.mark.parametrize(("text", "key"), [("the cat", 1), ("on the mat", 2), ("the cat sat", 3)])
def test_capitals_in_a_model_that_keeps_them(cased, text, key):
    step = find_lesson("tokens").steps[2]
    assert work_out("tokens", step, open_scene(cased, text)).key == key


CELLS = [
    ("tokens", "same", "input_ids[token=9]", 9),
    ("tokens", "same", "embeddings.sum[token=9,hidden=0]", None),
    ("layer", "most", "input_ids[token=3]", 3),
    ("layer", "most", "encoder.layer.{layer}.attention.output.residual[token=3,hidden=7]", 3),
    ("layer", "most", "encoder.layer.{layer}.output.residual[token=3,hidden=7]", None),
    ("layer", "most", "encoder.layer.{layer}.attention.output.dense.bias[hidden=7]", None),
]


@pytest.mark.parametrize(("lesson", "name", "cell", "index"), CELLS)
def test_what_a_click_proposes(rome_scene, lesson, name, cell, index):
    step = next(step for step in find_lesson(lesson).steps if step.name == name)
    path, _, fixed = cell.format(layer=rome_scene.layer).partition("[")
    at = {axis: int(i) for axis, i in (pair.split("=") for pair in fixed.rstrip("]").split(","))}
    assert step.ask.find(rome_scene, Address(path).fix(**at)) == index


@pytest.fixture(scope="module")
def rome_scene(bundled):
    return open_scene(bundled, ROME)


WRITTEN = [
    ("tokens", "three", "", "", None, "Write a word"),
    ("tokens", "three", "x" * 41, "", None, "Write a word"),
    ("tokens", "three", "\ud800", "", None, "half a character"),
    ("tokens", "three", "two words", "", None, "Write one word"),
    ("tokens", "three", "[MASK]", "", None, "Write one word"),
    ("tokens", "three", "\u2603\u2602", "", None, "No pieces fit"),
    ("tokens", "own", "Thank you.", "5", True, "5 tokens, as you said: [CLS] thank you . [SEP]"),
    ("tokens", "own", "Thank you.", "3", False, "[CLS] and [SEP] are missing"),
    ("tokens", "own", "Thank you.", "9", False, "5 tokens: [CLS] thank you . [SEP]"),
    ("tokens", "own", "no " * 50, "9", False, "52 tokens."),
    ("tokens", "own", "Thank you.", "five", None, "whole number"),
    ("tokens", "own", "Thank you.", "2.5", None, "whole number"),
    ("tokens", "own", " ", "5", None, "empty"),
    ("tokens", "own", "no " * 600, "5", None, "at most"),
    ("embeddings", "own", "Thank you.", "", None, "No token stands there twice"),
    ("embeddings", "own", "", "", None, "empty"),
    ("layer", "own", "Thank you.", "3", None, "one [MASK]"),
    ("layer", "own", "[MASK] and [MASK]", "3", None, "one [MASK]"),
    ("layer", "own", ROME, "last", None, "from 0 to 5"),
    ("layer", "own", ROME, "6", None, "from 0 to 5"),
    ("layer", "own", "", "3", None, "empty"),
]


@pytest.mark.parametrize(("lesson", "name", "text", "guess", "right", "says"), WRITTEN)
def test_what_is_said_of_ones_own_words(rome_scene, lesson, name, text, guess, right, says):
    step = next(step for step in find_lesson(lesson).steps if step.name == name)
    verdict = step.ask.check(rome_scene, text, guess)
    assert (verdict.right, verdict.counted) == (bool(right), right is not None), verdict.says
    assert says in verdict.says


def test_a_word_is_right_if_it_is_cut_into_three_pieces(rome_scene):
    step, seen = find_lesson("tokens").steps[4], set()
    for word in EXAMPLES:
        pieces = cut(rome_scene, word)
        verdict = step.ask.check(rome_scene, word, "")
        assert verdict.counted
        assert verdict.right == (len(pieces) == 3)
        assert (" ".join(pieces) if len(pieces) > 1 else "as a whole") in verdict.says
        assert ("rarer or longer" in verdict.says) == (len(pieces) == 2)
        assert ("shorter" in verdict.says) == (len(pieces) > 3)
        seen.add(verdict.right)
    assert seen == {True, False}


REPEATED = ("I can open a can.", "We saw a saw.", "Time and time again.", "The cat saw the dog.", "no no")


@pytest.mark.parametrize("model", ["bundled", "small"])
@pytest.mark.parametrize("text", REPEATED)
def test_two_that_come_apart_are_right(request, model, text):
    scene = open_scene(request.getfixturevalue(model), text)
    last = f"encoder.layer.{scene.model.config.num_hidden_layers - 1}.output.LayerNorm"
    drops = []
    for token in {*scene.tokens}:
        places = [i for i, each in enumerate(scene.tokens) if each == token]
        if len(places) > 1:
            drops.append([cosine(read(scene, each), *places[:2]) for each in ("embeddings.LayerNorm", last)])
    before, after = max(drops, key=lambda each: each[0] - each[1])
    verdict = find_lesson("embeddings").steps[-1].ask.check(scene, text, "")
    assert verdict.right == (round(before, 2) - round(after, 2) > 0.199)
    assert f"{before:.2f} before the first layer, {after:.2f} after the last.".replace("-", "−") in verdict.says


@pytest.mark.parametrize("model", ["bundled", "small"])
@pytest.mark.parametrize("text", [ROME, "[MASK]", "the [MASK] sat on the mat."])
def test_the_layer_after_which_ones_own_answer_leads(request, model, text):
    scene = open_scene(request.getfixturevalue(model), text)
    first = lens(scene).argmax(axis=1).tolist()
    lead, name = first.index(first[-1]) - 1, scene.model.tokenizer.name
    where = f"after layer {lead}" if lead >= 0 else "before the first layer"
    for layer in range(len(first) - 1):
        verdict = find_lesson("layer").steps[-1].ask.check(scene, text, str(layer))
        assert verdict.counted
        assert verdict.right == (abs(layer - lead) <= 1)
        late, early = (
            f"leads already {where}; ",
            f"leads only {where}; after layer {layer} it is “{name(first[layer + 1])}”",
        )
        assert (f"leads first {where}; " if verdict.right else late if layer > lead else early) in verdict.says
        assert verdict.says.startswith(f"“{name(first[-1])}” leads")


def test_what_is_asked_to_be_counted_is_named_before(scenes):
    count = find_lesson("tokens").steps[0]
    for scene in list_ready(count, scenes):
        told = count.text.format(**work_out("tokens", count, scene).numbers)
        assert scene.tokens[0] in told and scene.tokens[-1] in told, told
