"""The numbers that the encoder article prints: six tokens, their scores and shares, and what is averaged by them."""

# fmt: off
# Laid out by hand: a row of a matrix is a row here.

from __future__ import annotations

WORDS = ("Hello", ",", "how", "are", "you", "?")

IDS = (34, 90, 15, 684, 55, 193)

# The printed components of each token's row: the first two and the last two.
COMPONENTS = ("0", "1", "d − 2", "d − 1")
EMBEDDINGS = (
    (123.4, 0.32, 94.0, 32.0),
    (83.0, 34.0, 77.0, 19.0),
    (0.2, 50.0, 33.0, 30.0),
    (289.0, 432.98, 150.0, 92.0),
    (80.0, 46.0, 23.0, 32.0),
    (41.0, 21.0, 74.0, 33.0),
)

SCORES = (
    (78.49, 43.29, 1.2, 41.74, 91.43, 74.47),
    (95.84, 28.78, 57.13, 68.20, -60.94, 26.85),
    (-95.69, -52.16, 17.00, 45.71, 48.49, 64.35),
    (-69.92, 85.16, 94.94, 91.04, -92.83, 77.49),
    (65.85, 55.85, 62.54, -97.46, 76.38, 13.20),
    (-30.05, -4.52, 76.02, 42.35, 15.29, 63.61),
)

SHARES = tuple(tuple(line.split()) for line in """
72.40e-06 1.23e-21 6.51e-40 2.62e-22 9.99e-01 4.30e-08
1.00e+00 7.51e-30 1.54e-17 9.91e-13 8.15e-69 1.09e-30
3.12e-70 2.51e-51 2.72e-21 8.03e-09 1.29e-07 9.99e-01
2.47e-72 5.54e-05 9.80e-01 1.98e-02 2.77e-82 2.58e-08
2.67e-05 1.21e-09 9.75e-07 3.17e-76 9.99e-01 3.64e-28
8.59e-47 1.05e-35 9.99e-01 2.38e-15 4.21e-27 4.07e-06
            """.strip().splitlines())
ONES = 7  # stand beside the six rows as their sums

ONE_HOT = (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)  # example 1
CALLED_PLACE, CALLED_WORD = 4, "you"  # the place, counted from 1, at which its words say that this token stands
MIXED = (0.1, 0.0, 0.06, 0.1, 0.6, 0.14)  # example 2
