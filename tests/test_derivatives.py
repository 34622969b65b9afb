"""How a cell changes with its operands, against differences: the same formula on operands that are moved a little."""

import numpy as np
import pytest
import torch

import bertviz_core as bv
from bertviz_core.formula.address import parse
from tests.factory import random_checkpoint

STEP = 1e-6


@pytest.fixture(
    scope="module", params=["pretraining", "sequence-classification", "token-classification", "question-answering"]
)
def trace(request, tmp_path_factory):
    folder = random_checkpoint(tmp_path_factory.mktemp("model"), kind=request.param, num_hidden_layers=1)
    return bv.run(bv.load_model(folder, dtype=torch.float64), "the cat sat", "on the [MASK]", pad_to=12)


def random_cell(trace, address, generator):
    at = ",".join(
        f"{axis}={generator.integers(size)}"
        for axis, size in zip(trace.dims(address), trace.shape(address), strict=True)
    )
    return f"{address}[{at}]" if at else address


def test_derivatives_are_what_differences_tend_to(trace):
    generator = np.random.default_rng(0)
    for address in trace.addresses:
        why = trace.explain(random_cell(trace, address, generator))
        slopes = dict(zip((operand for operand, _ in why.operands), trace.derivatives(why.address), strict=True))
        moves = {operand: float(generator.standard_normal()) for operand in slopes}
        expected = difference(trace, why, moves)
        found = sum(slopes[operand] * moves[operand] for operand in slopes if varies(trace, operand))
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-5), why.address


def varies(trace, operand):
    return not parse(operand).path.endswith("_ids")


def difference(trace, why, moves):
    """How the cell changes when all its operands move at once, divided by how far they do."""
    at = {axis: range(why.cell.at[axis.name], why.cell.at[axis.name] + 1) for axis in why.step.output.axes}
    results = []
    for way in (STEP, -STEP):
        env = {}
        for operand, move in moves.items():
            where = parse(operand)
            if where.path not in env:
                env[where.path] = torch.tensor(trace[where.path])
            if varies(trace, operand):
                env[where.path][tuple(where.at[axis] for axis in trace.dims(where.path))] += way * move
        results.append(why.step.expr.work(env, at).item())
    return (results[0] - results[1]) / (2 * STEP)


def test_of_a_product_they_are_the_other_factor(rome):
    why = "encoder.layer.2.attention.self.products[head=1,query=8,key=3]"
    query = rome["encoder.layer.2.attention.self.query[head=1,query=8]"]
    key = rome["encoder.layer.2.attention.self.key[head=1,key=3]"]
    np.testing.assert_allclose(rome.derivatives(why), [*key, *query], rtol=1e-6)


def test_ids_do_not_vary_and_a_slice_is_refused(rome):
    assert 0.0 in rome.derivatives("embeddings.word_embeddings[token=1,hidden=0]")
    with pytest.raises(bv.AddressError, match="is not one cell"):
        rome.derivatives("embeddings.sum[token=1]")
