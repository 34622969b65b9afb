"""Random trees of nodes: value, axes, code, LaTeX and cells tell the same story."""

import random

import pytest
import torch

from bertviz_core.formula.dims import HIDDEN, LABEL, TOKEN
from bertviz_core.formula.functions import GELU, GELU_TANH, RELU, SIGMOID, TANH, Apply, Square
from bertviz_core.formula.nodes import Add, Div, Mul, Sub
from bertviz_core.formula.shapes import Transpose
from tests.latex import evaluated
from tests.test_expressions import LESS, TWO, cells, coded, leaf

SQUARE = (TOKEN, HIDDEN, LABEL)  # axes of one size: only the names keep them apart


def random_tree(chance, rows, columns, depth):
    """A random formula of matrices with these axes."""

    def branch(r=rows, c=columns):
        return random_tree(chance, r, c, depth - 1)

    choice = chance.randrange(8) if depth else 8
    if choice == 0:
        middle = chance.choice([axis for axis in SQUARE if axis not in (rows, columns)])
        return branch(c=middle) @ branch(r=middle)
    if choice == 1:
        return Transpose(branch(columns, rows))
    if choice == 2:
        return Square(branch())
    if choice == 3:
        return Apply(branch(), chance.choice((TANH, SIGMOID, GELU, GELU_TANH, RELU)))
    if choice < 8:
        return (Add, Sub, Mul, Div)[choice - 4](
            branch(),
            chance.choice((branch(), TWO, LESS, leaf("y", LABEL)) if columns == LABEL else (branch(), TWO, LESS)),
        )
    return leaf(chance.choice("mn"), rows, columns)


@pytest.mark.parametrize("seed", range(150))
def test_a_random_formula_means_the_same_in_every_reading(seed, precise):
    expr = random_tree(random.Random(seed), TOKEN, LABEL, depth=4)
    generator = torch.Generator().manual_seed(seed)
    env = {
        name: torch.rand(size, generator=generator, dtype=torch.float64) + 0.5
        for name, size in {"m": (3, 3), "n": (3, 3), "y": (3,)}.items()
    }
    value = expr.value(env)
    torch.testing.assert_close(coded(expr, env), value, rtol=1e-9, atol=1e-9, equal_nan=True)
    torch.testing.assert_close(evaluated(expr.latex(), env), value, rtol=1e-9, atol=1e-9, equal_nan=True)
    for at, place in cells(expr, env):
        torch.testing.assert_close(expr.work(env, at).flatten()[0], value[place], rtol=1e-9, atol=1e-9, equal_nan=True)
        if value[place].isfinite():
            torch.testing.assert_close(evaluated(expr.worked(env, at)), value[place], rtol=1e-6, atol=1e-6)
