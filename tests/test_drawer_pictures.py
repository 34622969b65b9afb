"""The drawer's pictures, read back: lengths and places are those of the numbers."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.analysis.walk import sample_function
from bertviz_core.formula.functions import GELU
from bertviz_core.ui.walk.pictures import (
    Piece,
    Share,
    draw_angle,
    draw_curve,
    draw_shares,
    draw_strip,
    draw_terms,
    draw_waterfall,
)
from bertviz_core.ui.walk.rendering import _wrap
from bertviz_core.ui.walk.spreads import draw_components, draw_histogram, draw_moments, draw_spread, draw_way
from bertviz_core.ui.walk.svg import WIDTH
from tests.canvas import look

RECT = re.compile(r'<rect class="([^"]*)" x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)"')
TEXT = re.compile(r'<text class="([^"]*)" x="([-\d.]+)" y="([-\d.]+)">([^<]*)<')
NEGATIVE, RULE = re.compile(r"\.bv-(minus|neg|neg-line|hinders)\b"), re.compile(r"([^{}]+)\{([^{}]*)\}")
UI = Path(__file__).parent.parent / "bertviz_core/ui"
BARS = re.compile(r"M([-\d.]+) ([-\d.]+)h([-\d.]+)v([-\d.]+)")


def rects(picture):
    return [(look, *map(float, numbers)) for look, *numbers in RECT.findall(picture)]


def texts(picture):
    return [text for _, _, _, text in TEXT.findall(picture)]


def test_what_is_below_0_has_the_colour_of_that_in_every_style():
    rules = [rule for file in UI.rglob("*.css") for rule in RULE.findall(file.read_text(encoding="utf-8"))]
    found = {place.strip(): re.findall(r"var\((.*?)\)", said) for place, said in rules if NEGATIVE.search(place)}
    assert len(found) >= 6 and {place: used for place, used in found.items() if used != ["--bv-negative"]} == {}


def test_shares_stand_end_to_end_as_long_as_they_are():
    picture = draw_shares([Share("a", 0.5, own=True), Share("b", 0.3), Share("8 others", 0.2, rest=True)])
    found = rects(picture)
    assert [look for look, *_ in found] == ["bv-own", "bv-own bv-pale", "bv-zero"]
    for (_, left, _, width, _), (start, part) in zip(found, ((0, 0.5), (0.5, 0.3), (0.8, 0.2)), strict=True):
        assert (left, width) == (pytest.approx(start * WIDTH + 0.5, abs=0.1), pytest.approx(part * WIDTH - 1, abs=0.1))
    assert "a: 50\N{NO-BREAK SPACE}%" in texts(picture) and "8 others" in texts(picture)


def test_a_share_too_narrow_for_its_name_has_none():
    assert "narrow" not in texts(draw_shares([Share("a", 0.99, own=True), Share("narrow", 0.01)]))


def test_terms_are_bars_in_order_up_and_down():
    terms = np.array([1.0, -2.0, 3.0])
    picture = draw_terms(terms, -0.5)
    up, down = (
        BARS.findall(re.search(rf'<path class="{look}" d="([^"]*)"', picture)[1]) for look in ("bv-own", "bv-neg")
    )
    heights = [float(height) for *_, height in (*up, *down)]
    assert np.allclose(np.array(heights) / heights[0], [1, 1 / 3, 2 / 3], atol=0.01)
    bottoms = [float(top) + float(height) for _, top, _, height in up]
    assert len(set(np.round(bottoms, 0))) == 1 and float(down[0][1]) == pytest.approx(bottoms[0], abs=0.2)
    said = texts(picture)
    assert "2 raise it  +4.00" in said and "1 lower it  −2.00" in said and "left over +2.00, bias −0.50" in said


def test_for_and_against_are_lengths_of_one_scale():
    against = [width for look, *_, width, _ in rects(draw_terms(np.array([1.0, -4.0]), None)) if "half" in look]
    assert against == [pytest.approx(WIDTH / 4, abs=0.1), pytest.approx(WIDTH, abs=0.1)]


def test_of_many_terms_as_many_bars_stand_as_have_room():
    picture = draw_terms(np.linspace(-1, 1, 30_522), None)
    assert 100 <= len(BARS.findall(picture)) <= 124
    assert "15,261 raise it" in picture and len(picture) < 8000


def test_a_waterfall_begins_where_the_part_before_ended():
    picture = draw_waterfall([Piece("a", 2.0), Piece("b", -3.0)], Piece("sum", -1.0))
    (_, a, _, a_wide, _), (look, b, _, b_wide, _), (last, total, _, total_wide, _) = rects(picture)
    assert a + a_wide == pytest.approx(b + b_wide, abs=0.2) and b_wide / a_wide == pytest.approx(1.5, abs=0.02)
    assert total == pytest.approx(b, abs=0.2) and total + total_wide == pytest.approx(a, abs=0.2)
    assert "bv-neg" in look and "bv-neg" in last
    assert texts(picture)[-2:] == ["sum", "−1.0000"]


def test_a_part_has_the_colour_of_its_kind():
    (first, *_), _ = rects(draw_waterfall([Piece("a", 2.0, "value")], Piece("sum", 2.0)))
    assert "bv-of-value" in first


def test_a_number_is_as_far_from_the_mean_as_it_is():
    values = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    picture = draw_spread(values, "residual", 4.0)
    (_, band, _, wide, _), *_ = rects(picture)
    own = float(re.search(r'bv-strongmark" d="M([\d.]+) ', picture)[1])
    assert (own - (band + wide / 2)) / (wide / 2) == pytest.approx(2 / values.std(), abs=0.02)
    assert f"this one: {2 / values.std():.2f} σ" in texts(picture)


@pytest.mark.parametrize("spread", [None, 0.5])
def test_a_mean_stands_at_its_place_on_an_axis_with_its_ends(spread):
    values = np.array([-1.0, -0.5, 0.0, 0.25, 3.0])
    picture = draw_moments(values, "residual", float(values.mean()), spread)
    places = [float(x) for x in re.findall(r'bv-strongmark" d="M([\d.]+) ', picture)]
    expected = values.mean() + (np.array([0.0]) if spread is None else np.array([-spread, spread]))
    assert places == pytest.approx((expected + 1) / 4 * WIDTH, abs=0.1)
    assert texts(picture)[1:3] == ["−1.00", "3.00"]
    assert texts(picture)[0] == (f"the mean: {values.mean():.4f}" if spread is None else "± σ: 0.5000")


def test_a_vectors_numbers_stand_in_their_order_each_as_high_as_it_is_large():
    values = np.array([2.0, -1.0, 0.5])
    bars = re.findall(r"M([\d.]+) 34v(-?[\d.]+)h", draw_components(values, "{} numbers"))
    found = sorted((float(x), -float(height)) for x, height in bars)
    assert [height for _, height in found] == pytest.approx((30 * values / 2).tolist())
    assert [x for x, _ in found] == pytest.approx([i * WIDTH / 3 for i in range(3)], abs=0.1)
    assert "3 numbers, ± 2.00" in texts(draw_components(values, "{} numbers"))


def test_a_curve_reaches_as_far_as_its_last_neighbour():
    picture = draw_curve(lambda x: sample_function(GELU, x), 0.5, np.array([-9.0, 0.1, 7.0]), "note")
    curve = [float(x) for x in re.findall(r"[ML]([\d.]+) ", re.search(r'bv-curve" d="([^"]*)"', picture)[1])]
    dots = [float(x) for x in re.findall(r"M([\d.]+) [\d.]+h0", picture)]
    assert len(dots) == 3 and min(curve) < min(dots) and max(dots) < max(curve)


@pytest.mark.parametrize("degrees", [5.0, 79.0, 90.0, 140.0, 178.0])
def test_two_directions_enclose_their_angle_and_stay_in_the_picture(degrees):
    picture = draw_angle(degrees, ("was", "residual"), ("added", ""))
    ways = re.findall(r'bv-direction"[^>]*d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)', picture)
    one, two = (complex(float(x1) - float(x), float(y) - float(y1)) for x, y, x1, y1 in ways)
    assert np.degrees(np.angle(two / one)) == pytest.approx(degrees, abs=0.3)
    assert abs(one) == pytest.approx(abs(two), abs=0.2) and abs(one) > 90
    assert all(0 <= float(each) <= WIDTH for way in ways for each in way)
    assert {"was", "added", f"{degrees:.0f}°" if degrees >= 10 else f"{degrees:.1f}°"} <= {*texts(picture)}


def test_a_curve_leads_from_the_input_to_the_result():
    picture = draw_curve(lambda x: sample_function(GELU, x), 2.0, np.linspace(-3, 3, 50), "note")
    x, y = map(float, re.search(r'cx="([\d.]+)" cy="([\d.]+)"', picture).groups())
    lead = re.search(r'bv-lead" d="M([\d.]+) ([\d.]+)V([\d.]+)H([\d.]+)"', picture).groups()
    assert (float(lead[0]), float(lead[2])) == (x, y)
    assert texts(picture)[:2] == ["2.00", "1.95"]


@pytest.mark.parametrize("at", [-8.0, -1.44, -0.3, 0.0, 0.2, 0.9, 2.6])
def test_numbers_on_a_curve_lie_neither_on_each_other_nor_on_its_ring_or_axis(at):
    picture = draw_curve(lambda x: sample_function(GELU, x), at, np.linspace(-8, 4, 50), "note")
    x, y = map(float, re.search(r'cx="([\d.]+)" cy="([\d.]+)"', picture).groups())
    axis = float(re.search(r'bv-axis" d="M[\d.]+ ([\d.]+)L', picture)[1])
    boxes = [(x - 5.5, x + 5.5, y - 5.5, y + 5.5)]
    for kinds, left, base, text in re.findall(r'<text class="(bv-mono[^"]*)" x="(\S+)" y="(\S+)">([^<]*)', picture):
        wide = 7.3 * len(text)
        start = float(left) - wide * (0.5 if "middle" in kinds else 1 if "end" in kinds else 0)
        boxes.append((start, start + wide, float(base) - 9, float(base)))
    assert len(boxes) == 3
    assert all(top > axis or bottom < axis for _, _, top, bottom in boxes[1:])
    for (a, b, c, d), (e, f, g, h) in combinations(boxes, 2):
        assert b <= e or f <= a or d <= g or h <= c


def test_the_number_is_ringed_at_its_place_in_its_row():
    strip = draw_strip("data:,", 96, 384, "the numbers")
    assert "calc(25.00% - 4px)" in strip and ">383<" in strip


@pytest.mark.parametrize("own", [0.5, -0.5])
def test_a_parameter_stands_among_those_of_its_table(own):
    picture = draw_histogram(np.linspace(-1, 1, 1001), own)
    x = float(re.search(r'bv-strongmark" d="M([\d.]+) ', picture)[1])
    assert x == pytest.approx(WIDTH * (0.5 + own / 2), abs=1)


@pytest.mark.parametrize(
    "values", [np.zeros(4), np.full(4, 2.0), np.array([1e30, -1e30])], ids=["zeros", "equal", "huge"]
)
def test_what_has_no_spread_is_drawn_without_a_warning(values):
    pieces = [Piece("a", float(value)) for value in values]
    with np.errstate(all="raise"):
        pictures = [
            draw_terms(values, 0.0),
            draw_spread(values, "value", float(values[0])),
            draw_moments(values, "value", float(values.mean()), float(values.std())),
            draw_components(values, "{} numbers"),
            draw_histogram(values, 0.0),
            draw_waterfall(pieces, Piece("sum", float(values.sum()))),
        ]
    assert all("nan" not in picture and "inf" not in picture for picture in pictures)


def test_a_name_that_holds_a_line_break_splits_no_picture(rome):
    """What is drawn goes through Markdown, in which an empty line ends the HTML."""
    view = look(rome)
    body = _wrap(
        view, rome.explain("embeddings.sum[token=1,hidden=1]"), draw_shares([Share("x\n\n# y", 1.0, own=True)])
    )
    assert "\n" not in body and "␊␊# y" in body


@pytest.mark.parametrize("reached", [-1.12, 3.11, -4.0, 5.0])
def test_a_patch_lies_as_far_along_the_way_as_it_moves_the_measure(reached):
    start, end = -2.373, 3.1111
    picture = draw_way([("into", start), ("from", end)], reached, "patched")
    into, there = (float(x) for x in re.findall(r'strongmark" d="M([\d.]+) ', picture))
    at = float(re.search(r'circle class="bv-own" cx="([\d.]+)"', picture)[1])
    assert (at - into) / (there - into) == pytest.approx((reached - start) / (end - start), abs=2e-3)
    ((_, x, _, width, _),) = rects(picture)
    assert [x, x + width] == pytest.approx(sorted([into, at]), abs=0.15)
    assert {"into", "from", "patched", "\u22122.37", "3.11"} <= set(texts(picture))
