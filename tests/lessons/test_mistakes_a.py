"""Which mistake is answered with which text, in the lessons on tokens, embeddings and a layer."""

import numpy as np
import pytest

from bertviz_core.lessons.catalogue import find_lesson
from bertviz_core.lessons.lesson import Number
from bertviz_core.lessons.marking import is_ready, mark_index, mark_number, work_out
from tests.lessons.opened_a import TEXTS, open_scene
from tests.lessons.oracles_a import count, lens, repeated, rows, sums


def make_count(scene, text):
    n, words = len(scene.tokens), int(count(scene, text)[1]["words"].split()[0])
    return {n: None, words: "counts the words", n - 2: "the text alone", n + 1: "at both ends", -words: "at both ends"}


def make_same(scene, _):
    first, second, *later = repeated(scene)
    return {first: "itself", second: None, **dict.fromkeys(later, "another such token"), 0: "has the id"}


def make_size(scene, _):
    width = scene.trace["embeddings.sum"].shape[1]
    return {len(scene.tokens): "rows or tokens", 3 * width: "one behind another", width + 1: "sums", width: None}


def make_component(scene, _):
    c = int(np.abs(scene.trace[f"embeddings.sum[token={scene.token}]"]).argmax())
    parts = rows(scene)[:, c]
    told = {float(parts.sum() - part): "One row is missing" for part in parts}
    if (parts < 0).any():
        told[float(np.abs(parts).sum())] = "adds their sizes"
    return {float(parts.sum()) + 10: "each with its sign", **told, float(parts.sum()): None}


def make_most(scene, _):
    was, added = (np.linalg.norm(each, axis=1) for each in sums(scene))
    told = dict.fromkeys(range(len(added)), "Another one gets more")
    return {**told, int((was + added).argmax()): "longest bar", int(added.argmax()): None}


def make_norm(scene, _):
    width = scene.trace["embeddings.sum"].shape[1]
    return {1: "under the root", width: "the length squared", 2 * width: "Add up all squares", width**0.5: None}


def make_when(scene, _):
    leaders = lens(scene).argmax(axis=1).tolist()
    key, name = leaders.index(leaders[-1]) - 1, scene.model.tokenizer.name
    told = {layer: f"leads: “{name(leaders[layer + 1])}”" for layer in range(key)}
    late = dict.fromkeys(range(key + 1, len(leaders) - 1), "earlier than that")
    return {**told, **late, key: None, len(leaders) - 1: "The layers are 0 to", 0.5: "The layers are 0 to"}


MISTAKES = {
    ("tokens", "count"): make_count,
    ("tokens", "same"): make_same,
    ("embeddings", "size"): make_size,
    ("embeddings", "component"): make_component,
    ("layer", "most"): make_most,
    ("layer", "norm"): make_norm,
    ("layer", "when"): make_when,
}


@pytest.mark.parametrize("model", ["bundled", "small"])
@pytest.mark.parametrize(("lesson", "name"), MISTAKES)
def test_each_mistake_is_answered_by_what_is_behind_it(request, model, lesson, name):
    step = next(step for step in find_lesson(lesson).steps if step.name == name)
    mark = mark_number if isinstance(step.ask, Number) else mark_index
    for text in TEXTS:
        scene = open_scene(request.getfixturevalue(model), text)
        if not is_ready(step, scene):
            continue
        worked = work_out(lesson, step, scene)
        for answer, says in MISTAKES[lesson, name](scene, text).items():
            verdict = mark(step, scene, worked, f"{answer:.6f}" if mark is mark_number else answer)
            assert verdict.right == (says is None), (text, answer, verdict)
            assert says is None or says in verdict.says, (text, answer, verdict)
