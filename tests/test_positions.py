"""Sinusoidal positions against the printed formula, and cosines by distance against plain sums."""

import math

import numpy as np
import pytest

from bertviz_core.analysis import positions
from bertviz_core.analysis.layers import compute_cosines


@pytest.mark.parametrize(("count", "hidden"), [(512, 384), (64, 24), (5, 7), (1, 1)])
def test_sinusoidal_positions_are_the_printed_formula(count, hidden):
    found = positions.compute_sinusoids(count, hidden)
    assert found.shape == (count, hidden) and found.dtype == np.float64
    for pos in {0, 1, count // 2, count - 1} - {count}:
        for j in range(hidden):
            if j % 2 == 0:
                expected = math.sin(pos / 10000 ** (j / hidden))
            else:
                expected = math.cos(pos / 10000 ** ((j - 1) / hidden))
            assert found[pos, j] == pytest.approx(expected, abs=1e-12)


def test_position_0_is_zeros_and_ones():
    assert positions.compute_sinusoids(3, 6)[0].tolist() == [0, 1, 0, 1, 0, 1]


def test_sinusoidal_cosines_depend_on_the_distance_alone():
    found = compute_cosines(positions.compute_sinusoids(40, 32))
    for p, q in ((0, 7), (3, 10), (32, 39), (20, 13)):
        pairs = [math.cos(7 / 10000 ** (2 * i / 32)) for i in range(16)]
        assert found[p, q] == pytest.approx(math.fsum(pairs) / 16, abs=1e-12)


def test_wavelengths_grow_from_two_pi():
    assert positions.compute_wavelength(0, 384) == positions.compute_wavelength(1, 384) == pytest.approx(2 * math.pi)
    for component in (2, 3, 10):
        length = positions.compute_wavelength(component, 16)
        angle = 10000 ** -((component - component % 2) / 16)
        assert math.sin(5 * angle) == pytest.approx(math.sin((5 + length) * angle))
        assert length * angle == pytest.approx(2 * math.pi)


def test_at_distance_is_the_mean_of_all_pairs_so_far_apart():
    matrix = np.random.default_rng(3).normal(size=(9, 9))
    matrix = matrix + matrix.T
    for distance in range(9):
        pairs = [matrix[i, j] for i in range(9) for j in range(9) if j - i == distance]
        assert positions.average_at_distance(matrix, distance) == pytest.approx(math.fsum(pairs) / len(pairs))
