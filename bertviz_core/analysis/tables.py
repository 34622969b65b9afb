"""Numbers of one pass or many as a tidy table: a row for each number, a column for each axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analysis.frames import list_places, stack_frames
from bertviz_core.analysis.predictions import RELATIONS
from bertviz_core.errors import ArgumentError, InputError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.shown import tell_how
from bertviz_core.tracing.many import list_traces
from bertviz_core.tracing.trace import Trace

if TYPE_CHECKING:
    from bertviz_core.analysis.frames import DataFrame

TEXT, EVERY_LAYER = "text", "{i}"
_FIRST = (TEXT, "address", "layer")  # columns
Way = str | Callable[..., Any]
Reduce = Mapping[str, Way]
Asked = Where | Sequence[Where] | Callable[[Trace], Any]

WAYS: Mapping[str, Callable[..., Any]] = {
    "mean": np.mean, "sum": np.sum, "min": np.min, "max": np.max, "std": np.std, "median": np.median,
    "norm": np.linalg.norm,
}  # fmt: skip
OVER_TEXTS = ("mean", "sum", "min", "max", "std", "count")


def table(traces: Trace | Iterable[Trace], what: Asked, reduce: Reduce | None = None) -> DataFrame:
    """Numbers of one pass or of many as a tidy table of pandas: a row for each number, in the column `value`.

    what: an address, whole, a slice or a cell; `{i}` in it stands for every layer; several addresses in a list; or a
    function of a trace that gives a table or what has one, as `bv.roles`. The other columns: `text`, the number of the
    trace, `address` where there are several, `layer`, and one for each axis, `head`, `query`, ..., with what stands
    there beside it: `query_text`, `vocab_text`, `label_text`. Padding is left out. reduce: by axis how it disappears,
    in this order: "mean", "sum", "min", "max", "std", "median", "norm" (the Euclidean length), or a function such as
    `np.ptp`; last of all the axis `text`, with "count" and without "median" and "norm": only sums are held. Raises
    AddressError for an address that is not there, InputError for an axis or a way that there is not, BertvizError where
    pandas is not installed. Source: Wickham 2014, Tidy Data.

        >>> weights = "encoder.layer.{i}.attention.self.probs"
        >>> bv.table(trace, weights, reduce={"query": "mean", "key": "max"}).columns.tolist()
        ['text', 'layer', 'head', 'value']
        >>> texts = bv.run_many(model, ["He sat by the river.", "She saw the king."])
        >>> bv.table(texts, "encoder.layer.5.output.LayerNorm", {"hidden": "norm", "token": "mean"}).shape
        (2, 3)
    """
    ways = _check_ways(reduce)
    if isinstance(what, str | Address) or not callable(what):
        return _table_of(list_traces(traces), _list_asked(what), ways)
    if ways:
        raise InputError("reduce takes the axes of addresses, and a function was given. Reduce its table.")
    return _join(_take_columns(what(trace), number) for number, trace in enumerate(list_traces(traces)))


tell_how(table=table)


def _check_ways(reduce: object) -> dict[str, Way]:
    if reduce is None:
        return {}
    if not isinstance(reduce, Mapping):
        raise ArgumentError.of(
            "reduce must be a mapping of axes to ways", reduce, 'Give for example {"token": "mean"}.'
        )
    for axis, way in reduce.items():
        known = OVER_TEXTS if axis == TEXT else WAYS
        if not (isinstance(way, str) and way in known) and (axis == TEXT or not callable(way)):
            raise InputError(f"{axis} cannot be reduced by {way!r}. Choose one of these: {', '.join(known)}.")
    return dict(reduce)


def _list_asked(what: Any) -> list[Where]:
    """Addresses, as text with `{i}` where somebody wrote it."""
    asked = [what] if isinstance(what, str | Address) or not isinstance(what, Iterable) else list(what)
    if not asked:
        raise InputError("There is no address to make a table of. Give one, such as embeddings.sum.")
    return asked


def _expand(trace: Trace, asked: Where) -> Iterator[Address]:
    if not (isinstance(asked, str) and EVERY_LAYER in asked):
        yield trace.layout.locate(asked)
        return
    for layer in range(trace.model.config.num_hidden_layers):
        yield trace.layout.locate(asked.replace(EVERY_LAYER, str(layer)))


def _table_of(traces: Iterator[Trace], asked: Sequence[Where], ways: dict[str, Way]) -> DataFrame:
    over = ways.pop(TEXT, None)
    parts = (part for number, trace in enumerate(traces) for part in _read(trace, number, asked, ways))
    return _join(part.columns for part in (parts if over is None else _gather(parts, str(over))))


@dataclass
class _Part:
    """The numbers at one address: axes by name with their entries and what these are called, values in their shape."""

    fixed: dict[str, object]
    axes: dict[str, np.ndarray]
    texts: dict[str, np.ndarray]
    values: np.ndarray

    @property
    def columns(self) -> dict[str, np.ndarray]:
        places = list_places(**{axis: len(entries) for axis, entries in self.axes.items()}) if self.axes else {}
        count = self.values.size
        found: dict[str, np.ndarray] = {name: np.full(count, each) for name, each in self.fixed.items()}
        for axis, at in places.items():
            found[axis] = self.axes[axis][at]
            if axis in self.texts:
                found[f"{axis}_text"] = self.texts[axis][at]
        return {**found, "value": self.values.reshape(-1)}


def _read(trace: Trace, number: int, asked: Sequence[Where], ways: Mapping[str, Way]) -> Iterator[_Part]:
    for where in (address for each in asked for address in _expand(trace, each)):
        values, axes = _drop_padding(trace, trace[where], trace.dims(where))
        for axis, way in ways.items():
            if axis not in axes:
                raise InputError(f"{where} has no axis {axis!r} to reduce; it has {', '.join(axes) or 'none'}.")
            place = list(axes).index(axis)
            reduced = (WAYS[way] if isinstance(way, str) else way)(values.astype(np.float64), axis=place)
            if np.shape(reduced) != values.shape[:place] + values.shape[place + 1 :]:
                raise InputError(f"What reduces {axis} must give one number for all of it, as np.mean does with axis=.")
            values, axes = np.asarray(reduced), {name: at for name, at in axes.items() if name != axis}
        named = {"address": where.path} if len(asked) > 1 else {}
        layer = {} if where.layer is None else {"layer": where.layer}
        texts = {axis: found for axis, at in axes.items() if (found := _name(trace, axis, at)) is not None}
        yield _Part({TEXT: number, **named, **layer, **_tell_fixed(trace, where)}, axes, texts, values)


def _tell_fixed(trace: Trace, where: Address) -> dict[str, object]:
    """The indices of an address, and what they are called."""
    found: dict[str, object] = {}
    for axis, index in where.index:
        found[axis], name = index, _name(trace, axis, np.array([index]))
        if name is not None:
            found[f"{axis}_text"] = name[0]
    return found


def _drop_padding(trace: Trace, values: np.ndarray, dims: Sequence[str]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The numbers without those of padding, and by axis which entries are left."""
    axes = {axis: np.arange(size) for axis, size in zip(dims, values.shape, strict=True)}
    if all(trace.encoding.mask):
        return values, axes
    real = np.array(trace.encoding.real)
    axes |= {axis: real for axis in axes if axis in TOKEN_AXES}
    return values[np.ix_(*axes.values())] if axes else values, axes


def _name(trace: Trace, axis: str, at: np.ndarray) -> np.ndarray | None:
    """What the entries of an axis are called; None where they have numbers only."""
    if axis in TOKEN_AXES:
        return np.array(trace.tokens, dtype=object)[at]
    if axis == "vocab":
        return np.array([trace.model.tokenizer.name(int(i)) for i in at], dtype=object)
    names = {"label": trace.model.labels, "relation": RELATIONS}.get(axis)
    return None if names is None else np.array(names, dtype=object)[at]


@dataclass
class _Sums:
    """What is known of the numbers at one place over texts: enough for every way of `OVER_TEXTS`."""

    part: _Part
    count: int = 0
    mean: np.ndarray = field(default_factory=lambda: np.zeros(()))
    squares: np.ndarray = field(default_factory=lambda: np.zeros(()))
    least: np.ndarray = field(default_factory=lambda: np.array(np.inf))
    most: np.ndarray = field(default_factory=lambda: np.array(-np.inf))

    def add(self, values: np.ndarray) -> None:
        """After Welford 1962: exact however large the mean is beside the deviation."""
        exact = values.astype(np.float64)
        self.count += 1
        away = exact - self.mean
        self.mean = self.mean + away / self.count
        self.squares = self.squares + away * (exact - self.mean)
        self.least, self.most = np.minimum(self.least, exact), np.maximum(self.most, exact)

    def finish(self, way: str) -> _Part:
        found = {
            "mean": self.mean, "sum": self.mean * self.count, "min": self.least, "max": self.most,
            "std": np.sqrt(self.squares / self.count), "count": np.full(np.shape(self.mean), self.count),
        }[way]  # fmt: skip
        return _Part(_drop_texts(self.part.fixed), self.part.axes, self.part.texts, np.asarray(found))


def _gather(parts: Iterator[_Part], way: str) -> Iterator[_Part]:
    """The numbers of all texts together, a place at a time."""
    sums: dict[tuple[object, ...], _Sums] = {}
    for part in parts:
        left = [axis for axis in part.axes if axis in TOKEN_AXES]
        if left:
            raise InputError(f"Texts have different tokens: to reduce over them, reduce {', '.join(left)} before.")
        sums.setdefault(tuple(_drop_texts(part.fixed).values()), _Sums(part)).add(part.values)
    for each in sums.values():
        yield each.finish(way)


def _drop_texts(fixed: Mapping[str, object]) -> dict[str, object]:
    """The same without what is one text's own: its number, its tokens."""
    own = {TEXT, *(f"{axis}_text" for axis in TOKEN_AXES)}
    return {name: each for name, each in fixed.items() if name not in own}


def _take_columns(given: Any, number: int) -> dict[str, np.ndarray]:
    """What a function gave for one trace, as columns behind the number of its text."""
    found = given.table() if hasattr(given, "table") else given
    if not (hasattr(found, "columns") and hasattr(found, "to_dict")):
        raise ArgumentError.of(
            "What a function gives must be a table, or have one", given, "Give for example what bv.roles does."
        )
    return {TEXT: np.full(len(found), number), **{name: found[name].to_numpy() for name in found.columns}}


def _join(parts: Iterable[Mapping[str, np.ndarray]]) -> DataFrame:
    """Columns below one another, those of places first; an empty table where there is no text."""
    frame: DataFrame = stack_frames(parts)
    behind = [name for name in frame.columns if name not in _FIRST]
    first = [name for name in _FIRST if name in frame.columns]
    return frame.reindex(columns=[*first, *sorted(behind, key="value".__eq__)])
