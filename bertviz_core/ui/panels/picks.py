"""Which cell a click on a chart means: addresses in which {x} and {y} stand for column and row, {n} for the point,
{q} and {k} for the query and key that a cell of a map names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace


def pick_matrix(trace: Trace, address: Address) -> str:
    """One address for all cells of a matrix; "" for what is no matrix."""
    dims = trace.dims(address)
    return _fix(address, f"{dims[0]}={{y}}", f"{dims[1]}={{x}}") if len(dims) == 2 else ""


def pick_placed(weights: Address) -> str:
    """One address for all cells of a map that says of each the query and the key that it means, as its customdata."""
    return _fix(weights, "query={q}", "key={k}")


def pick_vectors(trace: Trace, addresses: Iterable[Address]) -> list[str]:
    """One address a row, where the rows are vectors from several places."""
    return [_fix(address, f"{trace.dims(address)[0]}={{x}}") for address in addresses]


def pick_every(trace: Trace, address: Address) -> str:
    """One address for all bars or points: the cells of a vector, in its order."""
    return _fix(address, f"{trace.dims(address)[0]}={{n}}")


def pick_points(trace: Trace, address: Address, indices: Iterable[int]) -> list[str]:
    """One address a bar or point: the cells of a vector at the given indices."""
    axis = trace.dims(address)[0]
    return [str(address.fix(**{axis: i})) for i in indices]


def _fix(where: Address, *more: str) -> str:
    """An address as the browser completes it."""
    fixed: Sequence[str] = [f"{axis}={i}" for axis, i in where.index]
    return f"{where.path}[{','.join([*fixed, *more])}]"
