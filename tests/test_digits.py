"""Decimals of printed calculations: what is printed works out, in as few digits as that takes."""

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest

from bertviz_core.analysis.digits import find_fewest, fit_chain, fit_product, fit_quotient, fit_sum


def put(value, decimals):
    """A number as it is printed, exactly."""
    return Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN)


@pytest.mark.parametrize("count", [2, 3, 12, 33])
def test_printed_terms_add_up_to_the_printed_sum(count):
    rng = np.random.default_rng(count)
    exact = 0
    for scale in np.repeat([1e-3, 0.1, 1, 30], 25):
        values = (scale * rng.standard_normal(count)).tolist()
        digits = fit_sum(values, sum(values))
        assert digits.total <= digits.terms <= digits.total + 1
        exact += digits.exact
        if digits.exact:
            printed = sum(put(value, digits.terms) for value in values)
            assert put(printed, digits.total) == put(sum(values), digits.total)
    assert exact >= 99


def test_no_more_decimals_than_it_takes():
    assert fit_sum([0.25, 0.5], 0.75).total == 2
    digits = fit_sum([0.124, 0.124], 0.248)  # 0.12 + 0.12 would be 0.25
    assert (digits.total, digits.terms, digits.exact) == (2, 3, True)


def test_small_numbers_keep_two_significant_digits():
    assert [find_fewest([value]) for value in (0.0, 25.0, 0.5, 0.021, -0.0016)] == [2, 2, 2, 3, 4]
    assert find_fewest([0.0001, 7.0]) == 2


def test_a_sum_that_a_change_broke_is_not_called_exact():
    assert not fit_sum([1.0, 2.0], 7.0).exact


def test_printed_factors_make_the_printed_product():
    rng = np.random.default_rng(1)
    for one, other in 3 * rng.standard_normal((300, 2)):
        decimals = fit_product((one, other), one * other, 2)
        assert put(float(put(one, decimals)) * float(put(other, decimals)), 2) == put(one * other, 2)
    assert fit_product((0.5, 0.5), 0.25, 2) == 2


def test_a_printed_dividend_gives_the_printed_quotient_by_the_divisor_itself():
    rng, divisor = np.random.default_rng(1), 32**0.5
    for dividend in 30 * rng.standard_normal(300):
        decimals = fit_quotient(dividend, divisor, dividend / divisor, 2)
        assert put(float(put(dividend, decimals)) / divisor, 2) == put(dividend / divisor, 2)
    assert fit_quotient(37.011, divisor, 37.011 / divisor, 2) == 2
    assert fit_quotient(31.0268, divisor, 31.0268 / divisor, 2) == 3  # 31.03 would give 5.49 for 5.48


def test_a_chain_has_its_sums_right():
    rng = np.random.default_rng(2)
    right = 0
    for _ in range(200):
        skip, added, mean, gamma, beta = rng.standard_normal(5)
        deviation = 0.3 + rng.random()
        normal = (skip + added - mean) / deviation
        levels = [skip, skip + added, skip + added - mean, normal, normal * gamma, normal * gamma + beta]
        digits = fit_chain(levels, [added, mean, deviation, gamma, beta], "+−÷×+")
        start, total, centered, _, scaled, end = (put(level, digits.total) for level in levels)
        sums = [
            start + put(added, digits.total) == total,
            total - put(mean, digits.total) == centered,
            scaled + put(beta, digits.total) == end,
        ]
        right += all(sums)
        if digits.exact:
            assert all(sums)
            product = float(put(normal, digits.total)) * float(put(gamma, digits.factors))
            assert put(product, digits.total) == scaled
    assert right >= 160
