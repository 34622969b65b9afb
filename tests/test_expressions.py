"""Every node by itself: value, axes, code, LaTeX and cells tell the same story."""

import itertools
import math

import pytest
import torch

from bertviz_core.errors import DimsError
from bertviz_core.formula.dims import CONCAT, HEAD, HEAD_DIM, HIDDEN, KEY, LABEL, QUERY, TOKEN, VOCAB
from bertviz_core.formula.functions import GELU, GELU_TANH, RELU, SIGMOID, TANH, Apply, Mean, Softmax, Sqrt, Square
from bertviz_core.formula.nodes import Constant, Symbol
from bertviz_core.formula.pair_nodes import PairSum
from bertviz_core.formula.shapes import Lookup, MergeHeads, Rename, Select, SplitHeads, Transpose
from tests.latex import balanced, evaluated

SIZES = {TOKEN: 3, QUERY: 3, KEY: 3, HEAD: 2, HEAD_DIM: 4, CONCAT: 8, HIDDEN: 3, LABEL: 3, VOCAB: 5}
TWO, HALF, LESS = Constant("2", 2), Constant(r"\tfrac{1}{2}", 0.5), Constant("-3", -3)


def leaf(name, *axes):
    return Symbol(name, name, axes, name, "parameter")


A, B = leaf("a", TOKEN, HIDDEN), leaf("b", TOKEN, HIDDEN)
U, V = leaf("u", TOKEN), leaf("v", HIDDEN)
S = leaf("s")
Q, K = leaf("q", HEAD, QUERY, HEAD_DIM), leaf("k", HEAD, KEY, HEAD_DIM)
C, M, N, L = leaf("c", TOKEN, CONCAT), leaf("m", KEY), leaf("n", QUERY), leaf("l", TOKEN, VOCAB)
Z = leaf("z", HEAD_DIM, LABEL)
TABLE, IDS = leaf("t", VOCAB, HIDDEN), leaf("ids", TOKEN)
X, Y = leaf("x", HIDDEN, LABEL), leaf("y", LABEL)


@pytest.fixture(scope="module")
def env():
    generator = torch.Generator().manual_seed(7)
    symbols = (A, B, U, V, S, Q, K, C, M, N, L, TABLE, X, Y, Z)
    shapes = {symbol.address: [SIZES[axis] for axis in symbol.axes] for symbol in symbols}
    tensors = {
        name: torch.rand(shape, generator=generator, dtype=torch.float64) + 0.5 for name, shape in shapes.items()
    }
    signs = torch.tensor([[1, -1, 1], [-1, 1, 1], [1, 1, -1]])
    return tensors | {"b": tensors["b"] * signs, "x": tensors["x"] * signs.T, "ids": torch.tensor([4, 0, 4])}


# expression; the same in plain PyTorch; its axes
NODES = {
    "symbol": (A, lambda e: e["a"], (TOKEN, HIDDEN)),
    "size": (TWO, lambda e: torch.tensor(2.0, dtype=torch.float64), ()),
    "add": (A + B, lambda e: e["a"] + e["b"], (TOKEN, HIDDEN)),
    "add, repeated along the first axis": (A + V, lambda e: e["a"] + e["v"], (TOKEN, HIDDEN)),
    "add, repeated along the last axis": (A + U, lambda e: e["a"] + e["u"][:, None], (TOKEN, HIDDEN)),
    "add, the narrow side first": (U + A, lambda e: e["u"][:, None] + e["a"], (TOKEN, HIDDEN)),
    "add a size": (A + TWO, lambda e: e["a"] + 2, (TOKEN, HIDDEN)),
    "sub": (A - B, lambda e: e["a"] - e["b"], (TOKEN, HIDDEN)),
    "sub from a size": (TWO - A, lambda e: 2 - e["a"], (TOKEN, HIDDEN)),
    "mul": (A * B, lambda e: e["a"] * e["b"], (TOKEN, HIDDEN)),
    "mul by a size": (A * HALF, lambda e: e["a"] * 0.5, (TOKEN, HIDDEN)),
    "mul by a scalar": (S * A, lambda e: e["s"] * e["a"], (TOKEN, HIDDEN)),
    "div": (A / B, lambda e: e["a"] / e["b"], (TOKEN, HIDDEN)),
    "div, repeated": (A / U, lambda e: e["a"] / e["u"][:, None], (TOKEN, HIDDEN)),
    "matmul": (A @ X, lambda e: e["a"] @ e["x"], (TOKEN, LABEL)),
    "matmul in every head": (Q @ Transpose(K), lambda e: e["q"] @ e["k"].mT, (HEAD, QUERY, KEY)),
    "matmul of one weight for every head": (Q @ Z, lambda e: e["q"] @ e["z"], (HEAD, QUERY, LABEL)),
    "mask over keys": (Q @ Transpose(K) + M, lambda e: e["q"] @ e["k"].mT + e["m"], (HEAD, QUERY, KEY)),
    "square": (Square(A), lambda e: e["a"] ** 2, (TOKEN, HIDDEN)),
    "sqrt": (Sqrt(A), lambda e: e["a"] ** 0.5, (TOKEN, HIDDEN)),
    "sqrt of a size": (A / Sqrt(TWO), lambda e: e["a"] / math.sqrt(2), (TOKEN, HIDDEN)),
    "transpose": (Transpose(K), lambda e: e["k"].permute(0, 2, 1), (HEAD, HEAD_DIM, KEY)),
    "rename": (Rename(A, TOKEN, KEY), lambda e: e["a"], (KEY, HIDDEN)),
    "mean": (Mean(A, HIDDEN), lambda e: e["a"].sum(1) / 3, (TOKEN,)),
    "mean over the first axis": (Mean(A, TOKEN), lambda e: e["a"].sum(0) / 3, (HIDDEN,)),
    "softmax": (Softmax(B, HIDDEN), lambda e: e["b"].exp() / e["b"].exp().sum(1, keepdim=True), (TOKEN, HIDDEN)),
    "softmax along the first axis": (Softmax(B, TOKEN), lambda e: e["b"].exp() / e["b"].exp().sum(0), (TOKEN, HIDDEN)),
    "softmax over the vocabulary": (
        Softmax(L, VOCAB),
        lambda e: e["l"].exp() / e["l"].exp().sum(1, keepdim=True),
        (TOKEN, VOCAB),
    ),
    "gelu": (Apply(B, GELU), lambda e: e["b"] * (1 + torch.erf(e["b"] / 2**0.5)) / 2, (TOKEN, HIDDEN)),
    "gelu by tanh": (
        Apply(B, GELU_TANH),
        lambda e: e["b"] / 2 * (1 + torch.tanh((2 / math.pi) ** 0.5 * (e["b"] + 0.044715 * e["b"] ** 3))),
        (TOKEN, HIDDEN),
    ),
    "relu": (Apply(B, RELU), lambda e: e["b"].clamp(min=0), (TOKEN, HIDDEN)),
    "tanh": (
        Apply(B, TANH),
        lambda e: (e["b"].exp() - (-e["b"]).exp()) / (e["b"].exp() + (-e["b"]).exp()),
        (TOKEN, HIDDEN),
    ),
    "sigmoid": (Apply(B, SIGMOID), lambda e: 1 / (1 + (-e["b"]).exp()), (TOKEN, HIDDEN)),
    "lookup": (Lookup(TABLE, IDS), lambda e: torch.stack([e["t"][i] for i in (4, 0, 4)]), (TOKEN, HIDDEN)),
    "split heads": (
        SplitHeads(C, Constant("h", 2), Constant("d_k", 4)),
        lambda e: torch.stack([e["c"][:, :4], e["c"][:, 4:]]),
        (HEAD, TOKEN, HEAD_DIM),
    ),
    "merge heads": (
        MergeHeads(Q, Constant("d_k", 4)),
        lambda e: torch.cat([e["q"][0], e["q"][1]], dim=1),
        (QUERY, CONCAT),
    ),
    "pair sum": (PairSum(N, M), lambda e: e["n"][:, None] + e["m"][None, :], (QUERY, KEY)),
    "pair sum of two parts of one": (
        PairSum(Rename(U, TOKEN, QUERY), Rename(U, TOKEN, KEY)),
        lambda e: torch.stack([e["u"][i] + e["u"] for i in range(3)]),
        (QUERY, KEY),
    ),
    "select the first": (Select(A, TOKEN, 0), lambda e: e["a"][0], (HIDDEN,)),
    "select inside": (Select(Q, HEAD_DIM, 2), lambda e: e["q"][:, :, 2], (HEAD, QUERY)),
}

MISFITS = {
    "add over other names": lambda: A + X,
    "add of two vectors": lambda: U + V,
    "add of axes in another order": lambda: A + leaf("r", HIDDEN, TOKEN),
    "mul over other names": lambda: A * leaf("r", KEY, HIDDEN),
    "matmul over other names": lambda: A @ leaf("r", LABEL, HIDDEN),
    "matmul of what was not turned": lambda: Q @ K,
    "matmul with other heads": lambda: Q @ leaf("r", LABEL, HEAD_DIM, KEY),
    "matmul by a vector": lambda: A @ V,
    "matmul of a size": lambda: TWO @ A,
    "matmul that gives one axis twice": lambda: A @ Transpose(A),
    "mean over an axis that is not there": lambda: Mean(A, KEY),
    "softmax along an axis that is not there": lambda: Softmax(A, KEY),
    "rename of an axis that is not there": lambda: Rename(A, KEY, QUERY),
    "rename to an axis that is there": lambda: Rename(A, TOKEN, HIDDEN),
    "select on an axis that is not there": lambda: Select(A, KEY, 0),
    "pair sum of a vector with itself": lambda: PairSum(U, U),
    "pair sum of a matrix": lambda: PairSum(A, M),
    "transpose of a vector": lambda: Transpose(V),
    "split heads of a vector": lambda: SplitHeads(V, Constant("h", 2), Constant("d_k", 4)),
    "split heads of an axis that is not made of heads": lambda: SplitHeads(A, Constant("h", 2), Constant("d_k", 4)),
    "merge heads of what has none": lambda: MergeHeads(leaf("r", LABEL, QUERY, HEAD_DIM), Constant("d_k", 4)),
}

PRECEDENCE = {
    "(a + b) * c": ((A + B) * V, "(a + b) * v", r"\left(a + b\right) \odot v"),
    "a * (b + c)": (A * (B + V), "a * (b + v)", r"a \odot \left(b + v\right)"),
    "a - (b + c)": (A - (B + V), "a - (b + v)", r"a - \left(b + v\right)"),
    "a - b + c": (A - B + V, "a - b + v", "a - b + v"),
    "a + (b - c)": (A + (B - V), "a + (b - v)", r"a + \left(b - v\right)"),
    "(a @ b) + c": (A @ X + Y, "a @ x + y", r"a\, x + y"),
    "(a + b) @ c": ((A + B) @ X, "(a + b) @ x", r"\left(a + b\right)\, x"),
    "a @ (b * c)": (A @ (X * Y), "a @ (x * y)", r"a\, \left(x \odot y\right)"),
    "a / (b + c)": (A / (B + V), "a / (b + v)", r"\frac{a}{b + v}"),
    "a / (b * c)": (A / (B * V), "a / (b * v)", r"\frac{a}{b \odot v}"),
    "a / b * c": (A / B * V, "a / b * v", r"\frac{a}{b} \odot v"),
    "a * (b / c)": (A * (B / V), "a * (b / v)", r"a \odot \frac{b}{v}"),
    "(a / b)^2": (Square(A / B), "(a / b) ** 2", r"{\left(\frac{a}{b}\right)}^2"),
    "(a^2)^2": (Square(Square(A)), "(a ** 2) ** 2", r"{\left({a}^2\right)}^2"),
    "(-3)^2": (Square(LESS), "(-3) ** 2", r"{\left(-3\right)}^2"),
    "a - (-3)": (A - LESS, "a - (-3)", r"a - \left(-3\right)"),
    "(u + u) + a": (U + U + A, "(u + u)[:, None] + a", "u + u + a"),
    "u^2 + a": (Square(U) + A, "(u ** 2)[:, None] + a", "{u}^2 + a"),
    "a / sqrt(u)": (A / Sqrt(U), "a / torch.sqrt(u)[:, None]", r"\frac{a}{\sqrt{u}}"),
    "mean(a) * u": (
        Mean(A, HIDDEN) * U, "a.mean(dim=-1) * u", r"\left(\frac{1}{d}\sum_{j=1}^{d} {a}_{j}\right) \odot u"),
    "mean(a)^2": (
        Square(Mean(A, HIDDEN)), "a.mean(dim=-1) ** 2", r"{\left(\frac{1}{d}\sum_{j=1}^{d} {a}_{j}\right)}^2"),
    "(a + b)^T": (Transpose(A + B), "(a + b).mT", r"{\left(a + b\right)}^{\top}"),
    "(a @ x)^T": (Transpose(A @ X), "(a @ x).mT", r"{\left(a\, x\right)}^{\top}"),
    "row of a sum": (Select(A + B, TOKEN, 0), "(a + b)[0]", r"{\left(a + b\right)}_{0,:}"),
    "column of a sum": (Select(A + B, HIDDEN, 0), "(a + b)[:, 0]", r"{\left(a + b\right)}_{:,0}"),
    "part of a vector": (Select(U, TOKEN, 1), "u[1]", "{u}_{1}"),
    "pair sum of products": (
        PairSum(N + N, M * M), "(n + n)[:, None] + m * m",
        r"\left(n + n\right)\, \mathbf{1}^{\top} + \mathbf{1}\, {\left(m \odot m\right)}^{\top}"),
    "renamed sum, times": (
        Rename(A + B, HIDDEN, LABEL) * Y, "(a + b) * y", r"\left(a + b\right) \odot y"),
}  # fmt: skip


def coded(expr, env):
    """What the expression's code gives, as plain PyTorch."""
    return torch.as_tensor(eval(expr.code(), {"torch": torch, "math": math}, dict(env)), dtype=torch.float64)


def cells(expr, env):
    """Every cell of the expression: the narrowed axes, and the index."""
    dims = expr.dims()
    for place in itertools.product(*(range(size) for size in expr.value(env).shape)):
        yield {axis: range(i, i + 1) for axis, i in zip(dims, place, strict=True)}, place


@pytest.fixture(params=NODES)
def node(request, env):
    expr, plain, dims = NODES[request.param]
    return expr, plain(env), dims


def test_a_node_has_the_value_of_plain_pytorch(node, env):
    expr, expected, _ = node
    torch.testing.assert_close(expr.value(env), expected, rtol=1e-13, atol=1e-13)


def test_a_node_has_the_axes_of_its_value(node, env):
    expr, _, dims = node
    assert expr.dims() == dims
    assert list(expr.value(env).shape) == [SIZES[axis] for axis in dims]


def test_the_code_of_a_node_gives_its_value(node, env):
    expr, expected, _ = node
    torch.testing.assert_close(coded(expr, env), expected, rtol=1e-13, atol=1e-13)


def test_the_latex_of_a_node_is_balanced_and_names_its_leaves(node):
    expr, *_ = node
    seen = []
    painted = expr.latex(lambda symbol: seen.append(symbol) or rf"\textcolor{{x}}{{{symbol.tex}}}")
    assert balanced(expr.latex()) and balanced(painted)
    assert set(seen) == leaves(expr)


def test_a_node_keeps_float32(node, env):
    expr, expected, _ = node
    single = {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in env.items()}
    if expr.parts or isinstance(expr, Symbol):
        assert expr.value(single).dtype == torch.float32
        torch.testing.assert_close(expr.value(single).double(), expected, rtol=1e-5, atol=1e-5)


def test_every_cell_of_a_node_is_recomputed_from_the_cells_it_names(node, env):
    expr, expected, _ = node
    for at, place in cells(expr, env):
        torch.testing.assert_close(expr.work(env, at).flatten(), expected[place][None], rtol=1e-13, atol=1e-13)


def test_the_operands_of_a_cell_are_the_cells_with_a_slope(node, env):
    """Complete: whatever moves the cell is listed. Minimal: nothing else is (a ReLU's slope may be 0)."""
    expr, *_ = node
    tracked = {name: t.clone().requires_grad_() for name, t in env.items() if t.is_floating_point()}
    value = expr.value({**env, **tracked})
    for at, place in cells(expr, env) if value.requires_grad else ():
        slopes = torch.autograd.grad(value[place], list(tracked.values()), retain_graph=True, allow_unused=True)
        moving = {
            (name, *index)
            for name, slope in zip(tracked, slopes, strict=True)
            for index in (slope.nonzero().tolist() if slope is not None else ())
        }
        listed = {
            (leaf.address, *index)
            for leaf, needed in expr.operands(env, at)
            if leaf.address in tracked
            for index in itertools.product(
                *(needed.get(axis, range(size)) for axis, size in zip(leaf.axes, env[leaf.address].shape, strict=True))
            )
        }
        assert moving == listed or ("relu" in expr.code() and moving <= listed)


def test_the_worked_formula_of_a_cell_gives_its_value(node, env, precise):
    expr, expected, _ = node
    if isinstance(expr, Lookup):
        assert expr.worked(env, {TOKEN: range(1), HIDDEN: range(2, 3)}) == r"t\left[4, 2\right]"
        return
    for at, place in cells(expr, env):
        torch.testing.assert_close(evaluated(expr.worked(env, at)), expected[place], rtol=1e-9, atol=1e-9)


def test_gradients_reach_every_leaf(node, env):
    expr, *_ = node
    tracked = {leaf.address: env[leaf.address].clone().requires_grad_() for leaf in leaves(expr) if leaf != IDS}
    if tracked:
        expr.value({**env, **tracked}).sum().backward()
        assert all(tensor.grad is not None and tensor.grad.isfinite().all() for tensor in tracked.values())


def leaves(expr):
    return {expr} if isinstance(expr, Symbol) else set().union(*(leaves(part) for part in expr.parts))


@pytest.mark.parametrize("build", MISFITS.values(), ids=MISFITS)
def test_axes_that_do_not_fit_by_name_are_an_error_even_where_sizes_agree(build):
    with pytest.raises(DimsError):
        build().dims()


def test_a_symbol_cannot_have_one_axis_twice():
    with pytest.raises(DimsError, match="one axis twice"):
        leaf("r", TOKEN, TOKEN)


@pytest.mark.parametrize(("expr", "code", "latex"), PRECEDENCE.values(), ids=PRECEDENCE)
def test_precedence(expr, code, latex, env, precise):
    assert expr.code() == code
    assert expr.latex() == latex
    torch.testing.assert_close(coded(expr, env), expr.value(env))
    for at, place in cells(expr, env):
        torch.testing.assert_close(evaluated(expr.worked(env, at)), expr.value(env)[place], rtol=1e-9, atol=1e-9)
