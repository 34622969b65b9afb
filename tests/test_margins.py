"""The words beside rows have room before Plotly measures them: none is cut, and little is left over."""

import json
import re
from base64 import b64encode
from pathlib import Path
from string import printable

import numpy as np
import plotly
import pytest

from bertviz_core.figures.base import LETTER, make_chart, name_rows, set_axis, to_plotly
from bertviz_core.figures.blocks import Terms, draw_terms
from bertviz_core.figures.head_sums import HeadSums, draw_head_sums
from bertviz_core.figures.margins import measure_text, settle
from edge.streamlit_files import find_static
from tests.often import seldom
from tests.test_figures import CASES, LIGHT, numbers, sent

PLOT = 332  # pixels of a chart on a phone
PHONE_CARD = 326  # of one in the card of a narrower one
SHARES = np.array([0.303, -0.14, 0.003, 0.069, -0.001, 0.003, 0.027, -0.003, 0.285, 0.001, 0.03, 0.134, 0.016, 1.0])
LETTERS = [letter for letter in printable if letter.isprintable()]
FONT = """@font-face {{ font-family: "Source Sans"; font-weight: 200 900; src: url(data:font/woff2;base64,{}) }}
body {{ font-family: "Source Sans" }}"""
MEASURE = """([letters, size]) => {
    const drawn = document.createElement('canvas').getContext('2d');
    drawn.font = `${size}px "Source Sans"`;
    return letters.map(letter => drawn.measureText(letter).width);
}"""
# Of a drawn chart: pixels from its left edge to the word of a row that begins first, and where Plotly left room for it.
DRAW = """async ([spec, width]) => {
    const place = document.body.appendChild(document.createElement('div'));
    await Plotly.newPlot(place, spec.data, {...spec.layout, width}, {displayModeBar: false});
    const edge = place.querySelector('svg').getBoundingClientRect().left;
    const words = [...place.querySelectorAll('.ytick text')].map(word => word.getBoundingClientRect().left - edge);
    const left = place._fullLayout._size.l;
    Plotly.purge(place);
    place.remove();
    return [Math.min(...words), left];
}"""
# Of a drawn chart: pixels below what it draws; and of each text where it begins and ends, and its top and bottom.
DRAW_ALL = """async ([spec, width]) => {
    const place = document.body.appendChild(document.createElement('div'));
    await Plotly.newPlot(place, spec.data, {...spec.layout, width}, {displayModeBar: false});
    const edge = place.querySelector('svg').getBoundingClientRect(), below = place._fullLayout._size.b;
    const boxes = [...place.querySelectorAll('.annotation text, .ytick text, .xtick text')].map(each => {
        const {left, right, top, bottom} = each.getBoundingClientRect();
        return [each.textContent, left - edge.left, right - edge.left, top - edge.top, bottom - edge.top];
    });
    Plotly.purge(place);
    place.remove();
    return [below, boxes];
}"""


@pytest.fixture
def page(window):
    page = window.new_page()
    font = next(find_static().rglob("SourceSansVF-Upright*.woff2"))
    page.set_content(f"<style>{FONT.format(b64encode(font.read_bytes()).decode())}</style><body>words</body>")
    page.add_script_tag(path=str(Path(plotly.__file__).parent / "package_data" / "plotly.min.js"))
    page.evaluate("document.fonts.ready")
    yield page
    page.close()


@pytest.mark.rare
def test_no_letter_is_wider_than_it_is_taken_for_nor_much_narrower(page):
    for letter, width in zip(LETTERS, page.evaluate(MEASURE, [LETTERS, 100]), strict=True):
        assert width <= measure_text(letter, 100) < width + 8, letter


@pytest.mark.rare
def test_no_word_beside_a_row_is_cut(page):
    drawn = {f"{kind} {name}": draw(LIGHT) for kind, looks in CASES.items() for name, draw in looks.items()}
    words = ["[MASK]", "WWWWWW", "illicit", "日本語", "<b>mild</b>", "мир", "@%&", "a much longer word than usual"]
    drawn |= {word: make_chart([], 200, LIGHT, yaxis=name_rows([word, "a"], LIGHT)) for word in words}
    found = 0
    for name, chart in drawn.items():
        spec = json.loads(json.dumps(sent(to_plotly(chart))))
        rows = spec["layout"].get("yaxis", {})
        asked = chart.layout.get("yaxis", {}).get("automargin") and rows.get("showticklabels", True)
        if asked and rows.get("ticktext") and rows["automargin"] is False:
            first, left = page.evaluate(DRAW, [spec, 600])
            given = spec["layout"]["margin"]["l"]
            assert first >= 0 and left >= given, name  # more where another axis needs more
            assert left > given or first < 12 + 0.25 * left, name
            found += left == given
    assert found > 20


@pytest.mark.rare
def test_no_line_is_kept_free_for_an_axis_that_says_nothing(page):
    found = 0
    for kind, looks in CASES.items():
        for name, draw in looks.items():
            spec = json.loads(json.dumps(sent(to_plotly(draw(LIGHT)))))
            across = [axis for key, axis in spec["layout"].items() if key.startswith("xaxis")]
            beside = any("colorbar" in trace or trace.get("showscale") for trace in spec["data"])
            if (
                across
                and not beside
                and all(not axis.get("showticklabels", True) and not axis["title"]["text"] for axis in across)
            ):
                below, _ = page.evaluate(DRAW_ALL, [spec, 600])
                assert below == spec["layout"]["margin"]["b"], f"{kind} {name}"
                found += 1
    assert found > 1


@pytest.mark.slow
@pytest.mark.parametrize("width", [PHONE_CARD, seldom(900)])
def test_what_every_head_adds_is_whole_on_a_phone_and_no_text_meets_another(page, width):
    sums = HeadSums(
        numbers(12, 32), numbers(12, 32, 384), numbers(14, 384), SHARES, (1.9, 0.17, 0.8), ["L.a[x={x}]"] * 14
    )
    chart = draw_head_sums(sums, [*(f"head {i}" for i in range(12)), "bias", "sum"], [2], LIGHT)
    _, boxes = page.evaluate(DRAW_ALL, [json.loads(json.dumps(sent(to_plotly(chart)))), width])
    assert len(boxes) > 50
    for i, (text, left, right, top, bottom) in enumerate(boxes):
        assert left >= 0 and right <= width, text
        for other, start, end, above, below in boxes[i + 1 :]:
            assert right <= start or end <= left or bottom <= above + 3 or below <= top + 3, f"{text} {other}"


def test_rows_of_numbers_are_left_to_plotly():
    numbers = make_chart([], 200, LIGHT, yaxis=set_axis(LIGHT)).layout
    assert settle(numbers) == numbers


@pytest.mark.parametrize("at", [0, 70, 97, 160, 191, 200, 240, 383])
def test_what_a_product_is_worked_out_as_is_whole_on_a_phone(at):
    x, weights = np.zeros(384), np.full(384, 0.2097)
    x[at] = -1.2897
    chart = draw_terms(Terms(x, weights, ("x", "w"), (1.3, 0.21), 0), ("x", "W", "x · W"), LIGHT, "query")
    told, margin = chart.layout["annotations"][0], chart.layout["margin"]
    wide = len(re.sub("<[^>]*>", "", told["text"])) * LETTER
    begins = {"left": 0.0, "center": -wide / 2, "right": -wide}[told["xanchor"]] + told["xshift"]
    cells = PLOT - margin["l"] - margin["r"]
    left = margin["l"] + (at + 1) / 385 * cells + begins
    assert left >= 0 and left + wide <= PLOT
