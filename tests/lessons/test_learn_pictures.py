"""The pictures on the lessons' cards: what they say is of the pass, and a model without its numbers says so."""

import re

import numpy as np

import bertviz_core as bv
from bertviz_core.formula.numbers import format_percent
from bertviz_core.lessons.catalogue import LESSONS
from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.ui.views.learn_pictures import render_picture
from tests.factory import random_checkpoint
from tests.lessons.scenes import SENTENCES, make_scene

TOLD = re.compile('aria-label="([^"]*)"')


def test_the_words_and_weights_of_the_pictures_are_those_of_the_pass(bundled):
    scene = make_scene(bundled, SENTENCES["usual"])
    trace, token = scene.trace, scene.token
    shares = trace[f"cls.predictions.probs[token={token}]"]
    weights = trace[ATTENTION_WEIGHTS.in_layer(scene.layer).fix(head=scene.head, query=token)]
    for name, row, names in (
        ("words", shares, bundled.tokenizer.token),
        (
            "attention",
            weights,
            lambda i: f"{trace.tokens[i]} {i}" if trace.tokens.count(trace.tokens[i]) > 1 else trace.tokens[i],
        ),
    ):
        picture = render_picture(name, scene)
        for i in np.argsort(-row.astype(np.float64), kind="stable")[:5].tolist():
            assert f"{names(i)} {format_percent(float(row[i]))}" in TOLD.search(picture)[1]
    cells = np.stack([trace[ATTENTION_WEIGHTS.in_layer(i).fix(query=token)].max(-1) for i in range(6)])
    drawn = [float(part) for part in re.findall(r"(\d+)%,var\(--bv-track\)", render_picture("whatif", scene))]
    assert np.abs(np.array(drawn) - 100 * cells.ravel()).max() <= 0.5


def test_every_lesson_has_a_picture_for_every_sentence_and_for_a_model_without_words(bundled, tmp_path):
    plain = bv.load_model(random_checkpoint(tmp_path, kind="base"))
    for text in SENTENCES.values():
        for lesson in LESSONS:
            assert TOLD.search(render_picture(lesson.name, make_scene(bundled, text)))[1]
    assert "no such numbers" in render_picture("words", make_scene(plain, SENTENCES["usual"]))
