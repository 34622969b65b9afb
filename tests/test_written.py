"""One number is written one way: in the drawer, on the canvas, in a chart, at the pointer and for the ear."""

import json
import re
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import plotly
import pytest
from playwright.sync_api import TimeoutError as TooLate

import bertviz_core as bv
from bertviz_core.figures.bars import draw_bars
from bertviz_core.figures.base import to_plotly
from bertviz_core.formula.numbers import FULL_WIDTH, WORTH, format_number
from bertviz_core.ui.components.selectors import expand
from tests.browser import PHONE, visit
from tests.canvas import BLEMISHES, open_canvas
from tests.listener import cell_box, chart, heard, scroll_to
from tests.test_figures import CASES, INK, LIGHT, VARIANTS, sent

TEXT = "When in Rome, do as the [MASK] do."
FORM = re.compile(r"%\{[^}:]+:([^}]*)\}")
COUNTED = {",", ",.0f"}  # how whole numbers are filled in
# Texts of a drawn chart that hold a digit and stick out of it at the right or left.
STICK_OUT = expand("""async ([specs, width]) => {
    const found = [];
    for (const [name, spec] of specs) {
        const place = document.body.appendChild(document.createElement('div'));
        place.style.width = `${width}px`;
        await Plotly.newPlot(place, spec.data, {...spec.layout, width}, {displayModeBar: false});
        const { left, right } = place.querySelector('svg').getBoundingClientRect();
        for (const text of place.querySelectorAll('.bartext, :--annotation')) {
            const own = text.getBoundingClientRect();
            if (/\\d/.test(text.textContent) && (own.left < left - 1 || own.right > right + 1))
                found.push(`${name}: ${text.textContent}`);
        }
        Plotly.purge(place);
        place.remove();
    }
    return found;
}""")
# Elements that hold a number, are seen, and show less than they hold.
CUT = """where => [...document.querySelectorAll(where)].flatMap(root => [root, ...root.querySelectorAll('*')])
    .filter(e => e.checkVisibility() && [...e.childNodes].some(node => node.nodeType === 3 && /\\d/.test(node.data)))
    .filter(e => getComputedStyle(e).overflow !== 'visible' && e.scrollWidth > e.clientWidth + 1)
    .map(e => e.textContent)"""


def templates(part):
    """All that Plotly fills in, of a chart."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key in ("hovertemplate", "texttemplate"):
                yield value
            else:
                yield from templates(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from templates(value)


@pytest.mark.parametrize("draw", VARIANTS)
def test_what_a_chart_has_plotly_fill_in_is_a_number_in_full_or_a_count(draw):
    spec = draw(LIGHT).spec
    assert {form for each in templates(spec) for form in FORM.findall(each)} <= {WORTH, *COUNTED}
    printed = [trace["texttemplate"] for trace in spec["data"] if "texttemplate" in trace]
    assert not any(map(FORM.search, printed))  # there Plotly writes before anybody can tell it how


@pytest.mark.xdist_group("listener")
def point_until(seen, box):
    """Rest the pointer on a cell; where the chart was not ready for that, move it a little."""
    x, y, width, height = box
    for step in range(6):
        seen.page.mouse.move(x + width / 2 + step / 2, y + height / 2)
        with suppress(TooLate):
            return seen.wait_for(timeout=5_000)
    raise AssertionError(f"nothing is said of the cell at {box}")


@pytest.mark.rare
def test_what_is_pointed_at_and_what_is_read_out_is_the_number_in_full(calm):
    """Also what is tiny: of it, six decimals would leave three digits, or none."""
    numbers = np.random.default_rng(0)
    numbers.dirichlet(np.ones(6), 6)
    values = numbers.standard_normal((6, 8))
    values[5, :4] = 0.000512, -7.577e-05, 0.0, 23.456789
    scroll_to(calm, "vectors")
    for row, column in (*product((0, 3), (0, 7)), *product((5,), range(8))):
        wanted = format_number(float(np.float32(values[row, column])))
        place = chart(calm, "vectors").locator(".hovertext", has_text=re.compile(rf"key {row} .*head_dim {column}"))
        point_until(place, cell_box(calm, "vectors", row, column))
        assert place.locator("tspan.line").last.text_content() == wanted
    calm.page.keyboard.press("Shift")
    chart(calm, "vectors").focus()
    calm.page.keyboard.press("Control+End")
    for column in (7, 6, 5, 4, 3, 2, 1, 0):
        wanted = format_number(float(np.float32(values[5, column])))
        assert heard(calm).endswith(f"head_dim {column}: {wanted}")
        calm.page.keyboard.press("ArrowLeft")


@pytest.mark.slow
def test_no_number_beside_a_bar_is_cut_on_a_phone(window):
    """A power of ten is longer than what usually stands there."""
    page = window.new_page()
    page.set_content("<body></body>")
    page.add_script_tag(path=str(Path(plotly.__file__).parent / "package_data" / "plotly.min.js"))
    tiny = {
        f"{sign} {name}": draw_bars(np.array(values) * sign, ["rome", "##ing", "[SEP]"], LIGHT, INK, name="weight")
        for sign in (1, -1)
        for name, values in {
            "all tiny": [7.577e-05, 6.1e-05, 1e-06],
            "large": [-12345.678, 99999.9999, 5e4],
            "usual": [0.2, 0.31, 0.4],
            "huge": [1e38, 3.4e38, 2e37],
        }.items()
    }
    kinds = ("draw_bars", "draw_counts", "draw_sum_of_parts", "draw_denominator", "draw_pairs")
    drawn = {f"{kind} {name}": draw(LIGHT) for kind in kinds for name, draw in CASES[kind].items()}
    specs = [[name, sent(to_plotly(one))] for name, one in {**tiny, **drawn}.items()]
    found = page.evaluate(STICK_OUT, [json.loads(json.dumps(specs)), PHONE["width"] - 24])
    page.close()
    assert found == []


@pytest.mark.slow
def test_a_tiny_number_is_the_same_on_the_canvas_and_in_the_drawer_and_nowhere_cut(chromium, server, bundled):
    trace = bv.run(bundled, TEXT)
    path = "encoder.layer.3.attention.self.probs"
    head, query, key = np.unravel_index(trace[path].argmin(), trace[path].shape)
    cell = f"{path}[head={head},query={query},key={key}]"
    full = format_number(float(trace[cell]))
    assert "·10⁻" in full and len(full) <= FULL_WIDTH
    with visit(chromium, server, PHONE, motion="reduce", touch=True) as phone:
        open_canvas(phone, level="head", layer=3, head=int(head), token=int(query), walk=cell)
        phone.page.wait_for_selector(".st-key-drawer .bv-operands")
        value = phone.page.locator(".st-key-drawer .bv-value")
        assert value.locator("b").inner_text() == full
        assert full in phone.page.locator(".st-key-drawer").inner_text()
        assert phone.page.evaluate(CUT, ".st-key-drawer") == []
        assert value.evaluate("e => e.scrollWidth <= e.clientWidth")
        read = phone.page.evaluate("cell => document.querySelector('.bvc').readCell(cell)", cell)
        assert np.isclose(read, trace[cell], rtol=1e-5)  # another process, whose sums may round otherwise
        with phone.rerun():
            phone.page.locator("[data-close]").first.click()
        phone.page.locator(".bvc-stage").scroll_into_view_if_needed()
        assert not [each for each in phone.page.evaluate(BLEMISHES) if re.search(r"\d", each)]
        assert phone.page.evaluate(CUT, ".bvc-readout") == []
