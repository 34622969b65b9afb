"""The strips of the methods on *Where from* in a browser: a click on a cell opens its number, which is what it says."""

import pytest

from bertviz_core.ui.components.selectors import expand
from tests.calm import await_findings

pytestmark = pytest.mark.slow

# The middle of a cell of the strips, and the number that is written for it at the pointer.
CELL = expand("""([row, column]) => {
    const plot = document.querySelector('.st-key-chart-methods :--plot'), {xaxis, yaxis} = plot._fullLayout;
    const box = plot.getBoundingClientRect();
    return [box.left + xaxis._offset + xaxis.c2p(column), box.top + yaxis._offset + yaxis.c2p(row),
        plot.data[0].text[row][column]];
}""")
LAST = "encoder.layer.5.attention"
OPENED = {
    0: "cls.predictions.decoder.fall[token=8,vocab=2111,source=3]",
    2: "cls.predictions.decoder.integrated[token=8,vocab=2111,source=3]",
    5: f"{LAST}.output.dense.brought[token=8,source=3]",
    7: f"{LAST}.self.probs.rollout[query=8,key=3]",
}


@pytest.mark.rare
def test_a_click_on_a_strip_opens_the_number_that_the_cell_says(app):
    app.open("where_from")
    await_findings(app)
    for row, address in OPENED.items():
        x, y, told = app.page.evaluate(CELL, [row, 3])
        with app.rerun():
            app.page.mouse.click(x, y)
        assert app.explained == address
        assert told in app.drawer.inner_text(), (address, told)
