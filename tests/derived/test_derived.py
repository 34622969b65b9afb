"""Every derived number on every page against its own calculation; a panel, column or number without one fails."""

import re
from functools import cache

import numpy as np
import pytest

from bertviz_core.checkpoint.hub import BUNDLED_FOLDER
from tests.derived import (  # noqa: F401 - they register
    answers,
    articles,
    attention,
    checkpoint,
    embeddings,
    heads,
    neurons,
    notebook,
    origins,
    pairs,
    patches,
    playground,
    questions,
    stages,
    training,
    vectors,
    weights,
    words,
)
from tests.derived.checks import RECORDED, check_cell, check_table, check_texts
from tests.derived.reading import Panel, find_numbers, open_pages
from tests.derived.truth import ELSEWHERE, Map, Scene, Truth, assert_near, find_truth, points
from tests.factory import random_checkpoint
from tests.worked import Chain, find_chains

LONG = (
    "When the river rose in the spring, the people of the town carried all of their books to the church on the hill, "
    "and there they stayed until the water was [MASK] and the roads were dry."
)
SCENES = {
    "a pair": {
        "text": "He sat by the river.", "pair": "The [MASK] was cold.", "layer": "3", "head": "7", "key_token": "4",
        "statistic": "distance", "projection": "value", "document": "formula-post", "mix": "mixed",
        "article_ids": "0.2=684", "article_rows": "3.1=5.5",
        "tensor": "encoder.layer.2.intermediate.dense.weight", "row": "7", "column": "40", "cell": "49",
    },
    "a long sentence": {
        "text": LONG, "layer": "2", "head": "4", "token": "20", "key_token": "11", "projection": "key",
        "statistic": "evenness", "document": "definition", "beside": "notebook",
        "where": "feed-forward", "normed": "7", "side": "before", "followed": "2111", "rows": "all",
        "length": "100", "width": "30", "at_component": "7",
        "tensor": "encoder.layer.4.output.LayerNorm.weight", "scores": "1.2=60;0.4=78", "score_row": ",",
        "numbers": "0.0=-3.5;0.2=12",
        "mix": "your row",
    },
    "padding": {
        "text": "the cat sat on the [MASK]", "pair": "playing in rome?", "pad": "16", "layer": "1", "head": "2",
        "token": "3", "statistic": "same_word",
    },
    "classes": {"text": "the cat sat", "layer": "1", "head": "1", "token": "2"},
    "token classes": {"text": "the cat sat", "layer": "1", "head": "1", "token": "2"},
    "an answer": {
        "text": "Where do the romans play?", "pair": "The cat sat on the mat, as romans do in Rome.", "pad": "64",
        "layer": "1", "head": "1", "token": "12",
    },
}  # fmt: skip
MODELS = {
    "padding": {"seed": 3},
    "classes": {"kind": "sequence-classification", "num_labels": 4},
    "token classes": {"kind": "token-classification", "num_labels": 3},
    "an answer": {"kind": "question-answering", "seed": 2},
}


SELDOM = {"a long sentence", "a pair", "classes"}


def grouped(name):
    """All that looks at one scene runs in one process, where it is made once; the dearest seldom."""
    return pytest.param(
        name,
        marks=[pytest.mark.xdist_group(f"derived: {name}"), *([pytest.mark.rare] if name in SELDOM else [])],
    )


@pytest.fixture(scope="module", params=map(grouped, SCENES))
def found(request, tmp_path_factory):
    """Every panel of a scene with what it should show."""
    name, asked = request.param, SCENES[request.param]
    with pytest.MonkeyPatch.context() as patch:
        if name in MODELS:
            folder = random_checkpoint(tmp_path_factory.mktemp("derived"), **MODELS[name])
            patch.setenv("BERTVIZ_MODELS", str(folder))
        scene = Scene(open_pages(asked, ["sentence"] if MODELS.get(name, {}).get("kind") else None), asked)
        return scene, [
            (panel, find_truth(scene, *place) or recorded(scene, panel)) for place, panel in scene.shown.panels.items()
        ]


def recorded(scene: Scene, panel: Panel) -> Truth:
    """A tensor of the trace as it is, or a page's loose text without a number of its own."""
    if panel.name == "page":
        return Truth()
    path = panel.name.partition("[")[0]
    assert path in scene.trace, f"{panel.page}: no calculation for the panel {panel.name!r}"
    values = scene[panel.name]
    return Truth([Map(values) if "z" in panel.traces[0] else points(x=values)])


def read_cell(scene: Scene, panel: Panel, chain: Chain) -> float | None:
    """The recorded number that a panel of a tensor works out."""
    path = panel.name.partition("[")[0]
    if path not in scene.trace or panel.page == "parameters":
        return None
    return float(scene[path][tuple(chain.cell[axis] for axis in scene.trace.dims(path))])


def list_chains(panel: Panel) -> list[Chain]:
    return [chain for formula in panel.formulas for chain in find_chains(formula)]


def check_each(found, check) -> None:
    """Check every panel; all that is wrong is told together."""
    wrong = []
    for panel, truth in found[1]:
        try:
            check(found[0], panel, truth)
        except AssertionError as error:
            wrong.append(f"{panel.page}, {panel.name}: {str(error).strip()[:600]}")
    assert not wrong, f"{len(wrong)} panels:\n" + "\n".join(wrong)


def test_charts(found):
    check_each(found, check_chart)


def check_chart(scene, panel, truth):
    assert len(panel.traces) == len(truth.drawn)
    for i, (part, expected) in enumerate(zip(panel.traces, truth.drawn, strict=True)):
        if expected is not ELSEWHERE:
            expected.check(panel, part, f"part {i}")


def test_downloads(found):
    check_each(found, check_download)


def check_download(scene, panel, truth):
    name = re.sub(r"[\[,]", "-", panel.name).replace("]", "").replace("=", "")
    if f"{name}.npy" not in scene.shown.files:
        assert truth.held is None
        return
    assert truth.held is not None or panel.name.partition("[")[0] in scene.trace
    held = truth.held if truth.held is not None else scene[panel.name]
    assert_near(scene.shown.held(name), held, "npy")
    head, *rows = scene.shown.written(name)
    width = held.shape[-1]
    assert all(len(row) == len(head) for row in rows)
    assert_near(np.array([row[-width:] for row in rows], dtype=float), held.reshape(-1, width), "csv")


@cache
def read_card_lines() -> tuple[str, ...]:
    """What the bundled model's card says of how it was trained, which is quoted."""
    card = (BUNDLED_FOLDER / "MODEL_CARD.md").read_text(encoding="utf-8")
    text = re.sub(r"\[([^\]]+)\]\((?!http)[^)]+\)", r"\1", card)  # of links to files beside it the text
    return tuple(line for line in text.splitlines() if find_numbers(line))


def test_numbers_in_texts(found):
    check_each(found, check_numbers)


def check_numbers(scene, panel, truth):
    check_texts(panel, truth, scene.known, (*read_card_lines(), scene.trace.model.name, scene.trace.model.revision))
    for text in panel.texts:
        if text.startswith(RECORDED):
            value = read_cell(scene, panel, list_chains(panel)[-1])
            value = truth.worked[-1] if value is None else value
            told = re.split(r"Recorded: |operands?: |Difference: ", text)[1:4]
            ours, again, apart = (find_numbers(part)[0] for part in told)
            assert ours.tells(value) and again.tells(value) and abs(apart.value) < 1e-5 * max(1, abs(value)), text


def test_tables(found):
    check_each(found, check_tables)


def check_tables(scene, panel, truth):
    assert len(panel.tables) == len(truth.tables) and len(panel.frames) == len(truth.frames)
    for shown, columns in zip([*panel.tables, *panel.frames], [*truth.tables, *truth.frames], strict=True):
        check_table(shown, columns)
    if truth.rows and panel.tables:
        assert panel.tables[0].rows == list(truth.rows)


def test_words_with_probabilities(found):
    check_each(found, check_answers)


def check_answers(scene, panel, truth):
    assert len(panel.answers) == len(truth.answers)
    for shown, expected in zip(panel.answers, truth.answers, strict=True):
        assert [word for word, _ in shown] == [word for word, _ in expected]
        for (word, number), (_, share) in zip(shown, expected, strict=True):
            check_cell(number, float(share), word)


def test_worked_formulas_end_in_the_number_that_they_should(found):
    check_each(found, check_results)


def check_results(scene, panel, truth):
    chains = list_chains(panel)
    expected = truth.worked or [read_cell(scene, panel, chain) for chain in chains]
    assert len(chains) == len(expected), ([chain.members[-1] for chain in chains], expected)
    for chain, value in zip(chains, expected, strict=True):
        assert value is not None, "no calculation for a worked formula"
        off = abs(chain.result.value - value)  # a logit near 10 is rounded by some 1e-6, and its power by as much of it
        assert off <= chain.result.slack * (1 + 1e-6) + 1e-5 * abs(value), (chain.members[-1], value)
