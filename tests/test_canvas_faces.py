"""The three faces of the first page's canvas: the pass before the changes, after them, and their difference."""

import numpy as np
import pytest

import bertviz_core as bv
from tests.often import seldom

pytestmark = pytest.mark.rare

TEXT = "When in Rome, do as the [MASK] do."
PROBS = "encoder.layer.{}.attention.self.probs[head=1,query=8,key=3]"
CHANGED, UNCHANGED = PROBS.format(2), PROBS.format(1)
CELLS = [
    CHANGED, "encoder.layer.1.output.LayerNorm[token=8,hidden=3]", "encoder.layer.2.output.LayerNorm[token=8,hidden=3]",
    "encoder.layer.2.attention.output.residual[token=8,hidden=3]", "encoder.layer.5.output.LayerNorm[token=4,hidden=0]",
    "encoder.layer.2.attention.self.value[head=1,key=3,head_dim=2]",
]  # fmt: skip
# The colour at the lower edge of the cell that is explained, and in its middle.
LOOK = """cell => {
    const [x, y, w, h] = ['x', 'y', 'width', 'height'].map(
        name => Number(document.querySelector(`[data-ring="${cell}"]`).getAttribute(name)));
    const pen = document.querySelector('.bvc-cells').getContext('2d');
    return [y + h - 2.5, y + h / 2].map(height => [...pen.getImageData(x + w / 2, height, 1, 1).data].join());
}"""


@pytest.fixture(scope="module")
def passes(bundled):
    return bv.run(bundled, TEXT), bv.run(bundled, TEXT, changes={CHANGED: 0.9})


def show_cell(app, face, cell, layer):
    app.open(changes=f"{CHANGED}:0.9", show=face, level="head", layer=layer, head=1, walk=cell)
    app.page.wait_for_selector(f'[data-ring="{cell}"]')
    app.page.wait_for_timeout(600)  # the picture gives way to the drawer


@pytest.mark.parametrize("face", [seldom("Before"), "After", seldom("Difference")])
def test_every_face_shows_its_own_numbers_and_marks_what_was_changed(app, passes, face):
    before, after = passes
    show_cell(app, face, CHANGED, 2)
    read = app.page.evaluate("cells => cells.map(cell => document.querySelector('.bvc').readCell(cell))", CELLS)
    expected = {
        "Before": lambda cell: before[cell],
        "After": lambda cell: after[cell],
        "Difference": lambda cell: after[cell] - before[cell],
    }[face]
    assert [np.float32(value) for value in read] == [expected(cell) for cell in CELLS]
    assert sum(before[cell] != after[cell] for cell in CELLS) >= 3
    edge, middle = app.page.evaluate(LOOK, CHANGED)
    assert edge != middle
    assert "Underlined numbers were changed." in app.page.locator(".bvc-drawn").text_content()


def test_what_was_not_changed_is_not_marked(app):
    show_cell(app, "After", UNCHANGED, 1)
    edge, middle = app.page.evaluate(LOOK, UNCHANGED)
    assert edge == middle


def test_printed_shares_of_attention_are_underlined_where_a_change_moved_them(app):
    app.open(changes="encoder.layer.2.attention.self.probs[head=1]:0", layer=2, head=1, token=8)
    app.page.wait_for_selector('line[data-changed="2"]', state="attached")
    keys = app.page.evaluate(
        """layers => layers.map(layer => [
        [...document.querySelectorAll(`line[data-changed="${layer}"]`)].map(({dataset}) => Number(dataset.key)),
        [...document.querySelectorAll(`path[data-layer="${layer}"]`)].map(({dataset}) => Number(dataset.weight)),
    ])""",
        [1, 2],
    )
    (before, _), (after, weights) = keys
    assert before == [] and sum(weights) == pytest.approx(11 / 12, abs=1e-3)  # a mean over heads, of which one gives 0
    strongest = np.argsort(weights)[::-1][: len(after)].tolist()
    assert sorted(after) == sorted(strongest)
