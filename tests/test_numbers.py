"""Numbers as the app writes them."""

import math

import pytest

from bertviz_core.formula.numbers import format_latex, format_number, format_percent, format_share, write_plain_sum

PLAIN = {0.0: "0.0000", -0.4321: "−0.4321", 1.2345678: "1.2346", 2e-5: "2.000e−05", 123456.0: "1.235e+05", 12: "12",
         1234: "1,234", math.inf: "inf", -math.inf: "−inf", math.nan: "nan"}  # fmt: skip
PERCENT = {0.0: "0 %", 1.0: "100 %", 0.5206: "52 %", 0.0994: "9.9 %", 0.0996: "10 %", 0.004: "0.4 %", 0.0009: "< 0.1 %",
           1e-12: "< 0.1 %", 0.9995: "> 99.9 %", 0.998: "99.8 %", 0.9899: "99 %", 0.994: "99.4 %"}  # fmt: skip
LATEX = {-0.5: "-0.5000", 12: "12", 1e-12: r"1.000\times 10^{-12}", math.inf: r"\infty", -math.inf: r"-\infty"}


@pytest.mark.parametrize(("value", "text"), PLAIN.items())
def test_a_number(value, text):
    assert format_number(value) == text


@pytest.mark.parametrize(("value", "text"), PERCENT.items())
def test_a_part_of_a_whole(value, text):
    assert format_percent(value) == text.replace(" %", "\N{NO-BREAK SPACE}%")


@pytest.mark.parametrize(("value", "text"), [
    (1.0, "100.0 %"), (0.14264, "14.3 %"), (0.01, "1.0 %"), (0.00977, "0.98 %"), (0.0021, "0.21 %"),
    (0.00031, "0.031 %"), (0.00001, "0.001 %"), (1e-9, "< 0.001 %"), (0.0, "0.0 %"),
])  # fmt: skip
def test_a_probability(value, text):
    assert format_share(value) == text.replace(" %", "\N{NO-BREAK SPACE}%")


@pytest.mark.parametrize(("terms", "text"), [
    ([0.5, -0.0117, 2.0], "0.5000 + (−0.0117) + 2.0000"), ([-0.5, -2e-5], "−0.5000 + (−2.000e−05)"),
    ([-1.0], "−1.0000"),
])  # fmt: skip
def test_a_sum_brackets_what_is_negative_behind_a_plus(terms, text):
    assert write_plain_sum(terms) == text


@pytest.mark.parametrize(("value", "text"), LATEX.items())
def test_a_number_in_a_formula(value, text):
    assert format_latex(value) == text


@pytest.mark.parametrize("value", [5e-4, 1e-300, -3e-9])
def test_what_is_tiny_is_not_nothing(value):
    assert "0.0000" not in format_number(value) and "0.0000" not in format_latex(value)
