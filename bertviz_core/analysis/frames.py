"""Columns as a table of pandas, which is asked for only where somebody wants one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.errors import BertvizError

if TYPE_CHECKING:
    from pandas import DataFrame

Columns = Mapping[str, np.ndarray | Sequence[object]]


def make_frame(columns: Columns) -> DataFrame:
    """A table of these columns, all as long. Raises BertvizError where pandas is not installed."""
    return _open_pandas().DataFrame(dict(columns))


def stack_frames(parts: Iterable[Columns]) -> DataFrame:
    """Columns below one another. Where a part lacks one nothing stands, and whole numbers stay whole beside that."""
    pandas, frames = _open_pandas(), list[Any]()
    for _, alike in groupby(parts, tuple):
        together = list(alike)
        joined = {name: np.concatenate([np.asarray(part[name]) for part in together]) for name in together[0]}
        frames.append(pandas.DataFrame(joined))
    if len(frames) < 2:
        return frames[0] if frames else pandas.DataFrame()
    stacked = pandas.concat(frames, ignore_index=True)
    for name in stacked.columns:
        whole = all(frame[name].dtype.kind == "i" for frame in frames if name in frame)
        if whole and stacked[name].dtype.kind == "f":
            stacked[name] = stacked[name].astype("Int64")
    return stacked


def _open_pandas() -> Any:
    try:
        import pandas  # noqa: PLC0415
    except ImportError:
        raise BertvizError(
            'A table needs pandas, which is not installed here. Install it: pip install "bert-every-number[table]".'
        ) from None
    return pandas


def list_places(**axes: Sequence[object] | np.ndarray | int) -> dict[str, np.ndarray]:
    """A column for each axis, with every combination of their entries, the last axis fastest; a number has as many."""
    entries = {name: np.arange(each) if isinstance(each, int) else _as_column(each) for name, each in axes.items()}
    grid = np.indices([len(each) for each in entries.values()]).reshape(len(entries), -1)
    return {name: each[at] for (name, each), at in zip(entries.items(), grid, strict=True)}


def _as_column(entries: Sequence[object] | np.ndarray) -> np.ndarray:
    if isinstance(entries, np.ndarray):
        return entries
    column = np.empty(len(entries), dtype=object)
    column[:] = entries
    return column
