"""Numbers as the app writes them: in Python, in the browser and in formulas, from one table."""

import json
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.formula import numbers
from bertviz_core.formula.numbers import (
    FULL_WIDTH,
    PERCENT_WIDTH,
    SHORT_WIDTH,
    format_latex,
    format_number,
    format_percent,
    format_short,
    format_short_latex,
    write_column,
    write_factor,
    write_fixed,
    write_plain_sum,
)
from tests import scripts

CASES = json.loads((Path(__file__).parent / "numbers.json").read_text(encoding="utf-8"))
VALUES = [float(value) for value, *_ in CASES["number"]]
SPACE = "\N{NO-BREAK SPACE}"
LOWERED = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")


def draw_values():
    """Numbers over all magnitudes; exact halves; numbers of single precision; numbers near where a form changes."""
    draw = np.random.default_rng(7)
    wide = draw.standard_normal(1500) * 10.0 ** draw.integers(-320, 300, 1500)
    near = draw.standard_normal(1500) * 10.0 ** draw.integers(-8, 7, 1500)
    halves = draw.integers(-40_000, 40_000, 1000) / 2.0 ** draw.integers(0, 12, 1000)
    ends = [
        sign * (end + step * 10.0**power)
        for end in (1e-3, 1e-2, 0.1, 1, 10, 1e5)
        for power in range(-9, -3)
        for step in (-5, -1, 0, 1, 5)
        for sign in (-1, 1)
    ]
    return [*map(float, (*wide, *near, *halves, *near.astype(np.float32))), *ends, *VALUES]


def read(text):
    """A written number, and half of its last digit."""
    plain = text.replace("·10", "e").translate(LOWERED)
    assert f"{Decimal(plain.partition('e')[0].replace(',', '')):,}" == plain.partition("e")[0], (
        text
    )  # where commas stand
    value = Decimal(plain.replace(",", ""))
    return value, Decimal(5).scaleb(value.as_tuple().exponent - 1)


@pytest.mark.parametrize(("value", "short"), [(value, short) for value, _, short, _ in CASES["number"]])
def test_a_short_number_in_a_formula_is_the_short_number(value, short):
    written = format_short_latex(float(value))
    plain = written.replace(r"\times 10^", "e").replace("{", "").replace("}", "")
    if r"\infty" in written or "nan" in written:
        assert short.strip("−") in ("∞", "nan")
    else:
        assert float(plain) == float(short.replace("·10", "e").translate(LOWERED).replace(",", "")), written


@pytest.mark.parametrize(("value", "full", "short", "latex"), CASES["number"])
def test_a_number(value, full, short, latex):
    assert (format_number(float(value)), format_short(float(value)), format_latex(float(value))) == (full, short, latex)


@pytest.mark.parametrize(("part", "text"), CASES["percent"])
def test_a_part_of_a_whole(part, text):
    assert format_percent(float(part)) == text.replace(" %", f"{SPACE}%")


@pytest.mark.parametrize(("value", "decimals", "text"), CASES["fixed"])
def test_a_number_of_a_calculation(value, decimals, text):
    assert write_fixed(float(value), decimals) == text


def spaced(text):
    return text.replace(" %", f"{SPACE}%")


@pytest.mark.parametrize(("form", "values", "texts"), CASES["column"])
def test_the_numbers_of_a_column_have_the_same_decimals(form, values, texts):
    assert write_column([*map(float, values)], form) == [*map(spaced, texts)]


@pytest.mark.parametrize("form", ["number", "short", "percent"])
def test_a_column_says_no_more_and_nothing_else_than_each_of_its_numbers(form):
    """Each lies within half a last digit, or is only said to be less; where one has decimals, all have as many, but for
    a small percentage beside negative ones, which has its first digit."""
    draw, decimals = np.random.default_rng(11), set()
    for _ in range(300):
        values = (draw.standard_normal(8) * 10.0 ** draw.integers(-6, 5) * 10.0 ** -draw.integers(0, 6, 8)).tolist()
        values = [value / 100 for value in values] if form == "percent" else values
        texts = write_column(values, form)
        for value, text in zip(values, texts, strict=True):
            number = text.removesuffix(f"{SPACE}%")
            size = Decimal(value) * (100 if form == "percent" else 1)
            said = Decimal(number.lstrip("<> ").translate(LOWERED).replace("·10", "e").replace(",", ""))
            half = Decimal(5).scaleb(said.as_tuple().exponent - 1)
            if number[0] not in "<>":
                assert abs(said - size) <= half * Decimal("1.000001"), (values, texts)
            else:
                assert abs(size) < abs(said) or abs(said) == Decimal("99.9") < abs(size) < 100, (values, texts)
        signed = form == "percent" and min(values) < 0 and max(map(abs, values)) < 10
        assert not signed or not any(text[0] in "<>" and "99.9" not in text for text in texts), (values, texts)
        plain = [text for text in texts if "·" not in text and text[0] not in "<>"]
        plain = [text for text in plain if not signed or not re.match(r"−?0\.0+[1-9]\D", text)]
        decimals = {len(text.removesuffix(f"{SPACE}%").partition(".")[2]) for text in plain}
        assert len(decimals) <= 1 or (form == "percent" and max(map(abs, values)) >= 10) or "·" in "".join(texts), texts


@pytest.mark.parametrize(("factor", "text"), CASES["factor"])
def test_how_many_times_as_much(factor, text):
    assert write_factor(float(factor)) == text


@pytest.mark.parametrize(("count", "text"), CASES["count"])
def test_a_count(count, text):
    assert format_number(count) == text and format_latex(count) == str(count)


@pytest.mark.parametrize(("function", "cases"), [
    ("writeNumber", [([float(value)], full) for value, full, *_ in CASES["number"]]),
    ("writeShort", [([float(value)], short) for value, _, short, _ in CASES["number"]]),
    ("writePercent", [([float(part)], text.replace(" %", f"{SPACE}%")) for part, text in CASES["percent"]]),
    ("writeFixed", [([float(value), decimals], text) for value, decimals, text in CASES["fixed"]]),
    ("writeCount", [([count], text) for count, text in CASES["count"]]),
])  # fmt: skip
def test_the_browser_writes_the_same_table(function, cases):
    given, texts = map(list, zip(*cases, strict=True))
    assert dict(zip(map(str, given), scripts.write_all(function, given), strict=True)) == dict(
        zip(map(str, given), texts, strict=True)
    )


def test_the_browser_writes_every_number_as_python_does():
    values = draw_values()
    some = [value for value in values if abs(value) < 1e18]
    wishes = {
        "writeNumber": ([[value] for value in values], [format_number(value) for value in values]),
        "writeShort": ([[value] for value in values], [format_short(value) for value in values]),
        "writePercent": ([[value] for value in values], [format_percent(value) for value in values]),
        "writeFixed": (
            [[value, i % 7] for i, value in enumerate(some)],
            [write_fixed(value, i % 7) for i, value in enumerate(some)],
        ),
    }
    for function, (given, texts) in wishes.items():
        found = scripts.write_all(function, given)
        assert not [each for each in zip(given, found, texts, strict=True) if each[1] != each[2]][:5], function
    assert len(values) > 5000


def test_all_forms_say_the_same_number_within_their_last_digits_and_none_is_too_long():
    """The short form is the full one rounded, not only near it: whoever sees both finds no contradiction."""
    for value in filter(np.isfinite, draw_values()):
        full, short = format_number(value), format_short(value)
        more = max(0, len(re.sub("[^⁰¹²³⁴⁵⁶⁷⁸⁹]", "", full)) - 1)  # further digits of a power
        assert len(full) <= FULL_WIDTH + more and len(short) <= SHORT_WIDTH + more, (value, full, short)
        (long, finest), (rough, half) = read(full), read(short)
        assert abs(Decimal(value) - long) <= finest and abs(Decimal(value) - rough) <= half, (value, full, short)
        assert abs(long - rough) <= half and finest <= half, (value, full, short)
        tex = re.sub(r"\\times 10\^\{(.*)\}", r"e\1", format_latex(value))
        assert Decimal(tex) == long, (value, tex)


def test_what_is_not_zero_has_a_digit_that_says_so():
    for value in filter(np.isfinite, draw_values()):
        texts = (format_number(value), format_short(value), format_latex(value), format_percent(value))
        assert [bool(re.search(r"[1-9∞]", text.split("·")[0])) for text in texts] == [value != 0] * 4, value


def test_a_percentage_says_the_part_within_its_last_digit():
    draw = np.random.default_rng(3)
    parts = [*draw.random(300), *(10.0 ** draw.uniform(-9, 0, 300)), *(1 - 10.0 ** draw.uniform(-9, 0, 300)), 0.0, 1.0]
    for part in (sign * float(part) for part in parts for sign in (-1, 1)):
        text = format_percent(part)
        bound, sign, digits = re.fullmatch(rf"([<>]?) ?(−?)([\d.]+(?:·10⁻.)?){SPACE}%", text).groups()
        percent, (told, half) = Decimal(abs(part)) * 100, read(digits)
        assert len(text) <= PERCENT_WIDTH and (sign == "−") == (part < 0), (part, text)
        smaller = bound == "<" and part >= 0  # of what is taken away the digits are written
        if bound:
            assert 0 < percent < told if smaller else told < percent < 100, (part, text)
            assert told == Decimal("0.001") if smaller else told == Decimal("99.9"), (part, text)
        else:
            assert abs(percent - told) <= half + Decimal("1e-12"), (part, text)


def test_numbers_of_single_precision_are_written_by_their_own_value():
    for value in filter(lambda each: abs(each) < 1e38, draw_values()):
        single = np.float32(value)
        forms = (format_number, format_short, format_percent, format_latex)
        assert [form(single) for form in forms] == [form(float(single)) for form in forms]


@pytest.mark.parametrize(("terms", "text"), [
    ([0.5, -0.0117, 2.0], "0.5000 + (−0.0117) + 2.0000"), ([-0.5, -2e-5], "−0.5000 + (−2.000·10⁻⁵)"),
    ([-1.0], "−1.0000"),
])  # fmt: skip
def test_a_sum_brackets_what_is_negative_behind_a_plus(terms, text):
    assert write_plain_sum(terms) == text


def test_both_languages_know_the_same_widths_and_the_same_sign_for_the_full_form():
    names = "SHORT_WIDTH, WORTH, FULL, KNOWN"
    script = f'import {{ {names} }} from "{(scripts.COMPONENTS / "shared" / "numbers.js").as_uri()}";'
    found = scripts.run_node(f"{script}\nconsole.log([SHORT_WIDTH, WORTH, FULL.decimals, KNOWN].join());")
    assert found.strip() == f"{SHORT_WIDTH},{numbers.WORTH},{numbers.DECIMALS},{numbers._KNOWN:.0f}"


def test_no_other_script_has_a_way_of_its_own():
    found = {
        file.relative_to(scripts.COMPONENTS).as_posix(): re.findall(
            r"\.(to(?:Fixed|Precision|Exponential|LocaleString))\(", file.read_text(encoding="utf-8")
        )
        for file in scripts.COMPONENTS.rglob("*.js")
    }
    del found["shared/numbers.js"]
    assert {name: used for name, used in found.items() if used} == {
        "canvas/sketch.js": ["toFixed"],  # of places
        "listener/picture.js": ["toFixed", "toFixed"],  # of a sheet's sides in millimetres
        "what_if/strip.js": ["toFixed"],  # of a strength, as a change writes it
    }
