"""What the canvas of the whole pass draws: for a window of tokens, strips of recorded numbers, stage by stage.

A strip holds numbers exactly as the trace has them, and says the address of each. Rows are always tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ranking import center_range, rank_top
from bertviz_core.analysis.token_attention import read_weights
from bertviz_core.formula.address import Address
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.names import ATTENTION_WEIGHTS, CONTEXT, SELF_ATTENTION
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.trace import Trace

ROWS = 32  # drawn at most
WIDTH = 64  # components of a residual strip, where not all are drawn
NEURONS = 48
_OWN = 3  # neurons of the chosen token, before those of others
WHOLE = "input", "context", "sum", "norm", "neurons", "sum2", "output"  # strips of a layer that can be seen whole
_ALONE = "whole."  # before such a strip's name
_WHOLE_NUMBERS = 36_000  # of a strip that is seen whole, with fewer rows where it is wide
_ALL_LAYERS = 9_216  # numbers of the layers' outputs together, beyond which fewer components of each are drawn
_LEAST = 12

PASS, LAYER, HEAD = LEVELS = "pass", "layer", "head"
AFTER, BEFORE, DIFFERENCE = "after", "before", "difference"
EMBEDDING = Address("embeddings.LayerNorm")
_ACTIVATION, _OUTPUT = "intermediate.activation", "output.LayerNorm"


@dataclass(frozen=True)
class Spot:
    """Where the canvas looks.

    component: of the residual stream, drawn in every strip; window: the rows drawn; cell: the one that is explained,
    drawn in the strip that it is of.
    """

    layer: int
    head: int
    token: int
    component: int | None
    window: range
    cell: Address | None = None


@dataclass(frozen=True, eq=False)
class Strip:
    """One stage on the canvas.

    id: its name and, where every layer has it, the layer, `output.3`; level: from which zoom on it is drawn; template:
    the address of its cells, with {row}, {column}, {key}, {head} for indices; columns: what is drawn of its last axis,
    real indices; total: the length of that axis; values: (token, column), (query, key), (head, query, key), or (key,)
    for ribbons; changed: which of them a change moved, None where nothing was changed; put: into which of them a change
    put a number, so that no formula made it, None where it did so nowhere in the tensor.
    """

    id: str
    layer: int | None
    level: str
    address: Address
    template: str
    columns: tuple[int, ...]
    total: int
    values: np.ndarray
    changed: np.ndarray | None
    put: np.ndarray | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all of a strip of the layer, beside the part of it that is drawn with the others."""
        return self.id.startswith(_ALONE)

    @property
    def name(self) -> str:
        """What the stage is called, whichever layer it is of."""
        return self.id.partition(".")[0] if self.level == PASS else self.id.rpartition(".")[2]


@dataclass(frozen=True, eq=False)
class Faces:
    """The pass before and after its changes, the same trace where there are none, and what of the two is drawn."""

    before: Trace
    after: Trace
    face: str = AFTER

    @property
    def drawn(self) -> Trace:
        """The trace whose numbers are drawn; of the difference, the later one."""
        return self.before if self.face == BEFORE else self.after

    def show(self, before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The numbers of the chosen face, float32, and which of them were changed."""
        changed = None if self.before is self.after else before != after
        shown = {BEFORE: before, AFTER: after, DIFFERENCE: after - before}[self.face]
        return np.ascontiguousarray(shown, dtype=np.float32), changed


def choose_rows(token: int, total: int, start: int | None = None, most: int = ROWS) -> range:
    """The window of tokens: from `start` on as far as there are that many; else with the token in its middle."""
    if start is None:
        return center_range(token, most, total)
    first = min(start, max(0, total - most))
    return range(first, min(first + most, total))


def count_rows(config: BertConfig, whole: str) -> int:
    """How many rows are drawn at most. whole: the strip that is seen whole, one of WHOLE, or empty."""
    wide = {"": 1, "neurons": config.intermediate_size}.get(whole, config.hidden_size)
    return min(ROWS, max(1, _WHOLE_NUMBERS // wide))


def list_strips(faces: Faces, spot: Spot, whole: str = "") -> Iterator[Strip]:
    """Every stage of the pass; of the chosen layer and head also what is inside them; and all of the whole strip."""
    yield from _list_pass(faces, spot)
    yield from _list_layer(faces, spot)
    yield from _list_head(faces, spot)
    if whole:
        address = _locate(spot.layer, whole)
        every = range(faces.drawn.shape(address)[-1])
        yield _cut(faces, spot, _ALONE + whole, LAYER, address, every)


def _locate(layer: int, name: str) -> Address:
    """The address of one of a layer's strips."""
    if name == "input":
        return Address.in_layer(layer - 1, _OUTPUT) if layer else EMBEDDING
    leaf = {
        "context": CONTEXT.path,
        "added": "attention.output.dense",
        "sum": "attention.output.residual",
        "norm": "attention.output.LayerNorm",
        "neurons": _ACTIVATION,
        "sum2": "output.residual",
        "output": _OUTPUT,
    }[name]
    return Address.in_layer(layer, leaf)


def _list_pass(faces: Faces, spot: Spot) -> Iterator[Strip]:
    config = faces.drawn.model.config
    share = min(1.0, _ALL_LAYERS / (config.num_hidden_layers * len(spot.window) * WIDTH))
    width, neurons = (max(_LEAST, int(most * share)) for most in (WIDTH, NEURONS))
    yield _cut(faces, spot, "embedding", PASS, EMBEDDING, _choose_columns(config.hidden_size, WIDTH, spot.component))
    for layer in range(config.num_hidden_layers):
        output = _locate(layer, "output")
        most = WIDTH if layer == spot.layer else width
        columns = _choose_columns(config.hidden_size, most, spot.component)
        yield _cut(faces, spot, f"output.{layer}", PASS, output, columns)
        shown = order_neurons(faces.after, layer, spot.token, spot.window)[:neurons]
        yield _cut(faces, spot, f"neurons.{layer}", PASS, _locate(layer, "neurons"), shown)
        yield _draw_ribbons(faces, spot, layer)


def _list_layer(faces: Faces, spot: Spot) -> Iterator[Strip]:
    config, own = faces.drawn.model.config, SELF_ATTENTION.in_layer(spot.layer)
    wide = _choose_columns(config.hidden_size, WIDTH, spot.component)
    yield _cut(faces, spot, "input", LAYER, _locate(spot.layer, "input"), wide)
    for name in ("query", "key", "value"):
        columns = _choose_columns(config.head_dim, WIDTH)
        yield _cut(faces, spot, name, LAYER, own.enter(name).fix(head=spot.head), columns)
    yield _cut(faces, spot, "weights", LAYER, own.enter("probs"), spot.window)
    every = min(config.head_dim, max(1, WIDTH // config.num_attention_heads))
    merged = [head * config.head_dim + i for head in range(config.num_attention_heads) for i in range(every)]
    yield _cut(faces, spot, "context", LAYER, _locate(spot.layer, "context"), merged[:WIDTH])
    for name in ("added", "sum", "norm", "sum2"):
        yield _cut(faces, spot, name, LAYER, _locate(spot.layer, name), wide)


def _list_head(faces: Faces, spot: Spot) -> Iterator[Strip]:
    width, own = faces.drawn.model.config.head_dim, SELF_ATTENTION.in_layer(spot.layer)
    for name in ("query", "key", "value"):
        yield _cut(faces, spot, f"head.{name}", HEAD, own.enter(name).fix(head=spot.head), range(width))
    merged = range(spot.head * width, (spot.head + 1) * width)
    yield _cut(faces, spot, "head.context", HEAD, own.enter("context"), merged)
    for name, leaf in (("weights", "probs"), ("scores", "scores")):
        yield _cut(faces, spot, f"head.{name}", HEAD, own.enter(leaf).fix(head=spot.head), spot.window)


def _choose_columns(total: int, most: int, component: int | None = None) -> Sequence[int]:
    """The first components, all where they fit, and the chosen one."""
    first = range(min(total, most))
    return first if component is None or component in first else (*first, component)


def order_neurons(trace: Trace, layer: int, token: int, window: range) -> tuple[int, ...]:
    """The neurons of a layer that are drawn: those whose activation at a token is largest in size, the largest first;
    then of each other row the one that is largest there, the largest first; then some at even distances.

    Of the token's own strongest alone, its row would be full, and every other row would say nothing of its token.
    """
    sizes = np.abs(read_activations(trace)[layer])
    others = sizes[[i for i in window if i != token]]
    best = others.argmax(axis=1)[np.argsort(-others.max(axis=1, initial=0.0), kind="stable")]
    evenly = np.linspace(0, sizes.shape[1] - 1, NEURONS).astype(int)
    ordered = (*rank_top(sizes[token], _OWN), *best.tolist(), *evenly.tolist())
    return tuple(dict.fromkeys(map(int, ordered)))[:NEURONS]


def read_activations(trace: Trace) -> tuple[np.ndarray, ...]:
    """(token, neuron) activations, layer by layer.

    Remembered together: one layer's tensors after the other would push what is read first out of the cache again, and
    another token would take as long as a pass.
    """
    layers = range(trace.model.config.num_hidden_layers)
    return remember(trace, "activations", lambda: tuple(trace[Address.in_layer(i, _ACTIVATION)] for i in layers))


def _cut(faces: Faces, spot: Spot, name: str, level: str, address: Address, columns: Sequence[int]) -> Strip:
    """A strip of whole rows: the window's tokens, and of the last axis these columns and the explained cell's."""
    every = tuple(columns)
    if spot.cell and spot.cell.path == address.path and level != HEAD and name != "weights":
        own = spot.cell.at[faces.drawn.dims(address.whole)[-1]]
        every += () if own in every else (own,)
    before, after = (_read(trace, address, spot.window, every) for trace in (faces.before, faces.after))
    values, changed = faces.show(before, after)
    total = faces.drawn.shape(address)[-1]
    put = _find_put(faces.drawn, address)
    return Strip(
        name,
        address.layer,
        level,
        address,
        write_template(faces.drawn, address),
        every,
        total,
        values,
        changed,
        None if put is None else _narrow(put, spot.window, every),
    )


def _read(trace: Trace, address: Address, rows: range, columns: tuple[int, ...]) -> np.ndarray:
    """(..., row, column) of a tensor."""
    whole = read_activations(trace)[address.layer or 0] if address.leaf == _ACTIVATION else trace[address]
    return _narrow(whole, rows, columns)


def _narrow(whole: np.ndarray, rows: range, columns: tuple[int, ...]) -> np.ndarray:
    return whole[..., rows.start : rows.stop, :][..., columns]


def _find_put(trace: Trace, address: Address) -> np.ndarray | None:
    """Bool, axes as `trace[address]`: into which cells of a tensor a change put numbers; None where into none of it."""
    overrides = trace.overrides(address.path)
    if not overrides:
        return None
    put = np.zeros(trace.shape(address.whole), dtype=bool)
    for override in overrides:
        put[override.index] = True
    return put[trace.layout.index(address)]


def write_template(trace: Trace, address: Address) -> str:
    """The address of a tensor's cells, with names in braces for the indices that are not fixed."""
    axes, fixed = trace.dims(address.whole), address.at
    free = [axis for axis in axes if axis not in fixed]
    names = {axis: f"{{{name}}}" for axis, name in zip(reversed(free), ("column", "row", "head"), strict=False)}
    if free[-2:] == ["query", "key"]:
        names["key"] = "{key}"
    return f"{address.path}[{','.join(f'{axis}={fixed.get(axis, names.get(axis))}' for axis in axes)}]"


def _draw_ribbons(faces: Faces, spot: Spot, layer: int) -> Strip:
    """(key,) the chosen token's attention weights on the window's tokens, mean over the heads."""
    before, after = (average_heads(trace, layer, spot.token) for trace in (faces.before, faces.after))
    inside = slice(spot.window.start, spot.window.stop)
    values, changed = faces.show(before[inside], after[inside])
    address = ATTENTION_WEIGHTS.in_layer(layer).fix(query=spot.token)
    template = f"{address.path}[query={spot.token},key={{row}}]"
    return Strip(f"ribbons.{layer}", layer, PASS, address, template, (), len(before), values, changed)


@dataclass(frozen=True)
class Most:
    """The largest attention weight of a head at a token. key, text: the token that it is on; share: 0 to 1, unless a
    change put others; nowhere: whether all weights are 0."""

    layer: int
    head: int
    token: int
    key: int
    text: str
    share: float
    nowhere: bool


def find_most(trace: Trace, spot: Spot) -> Most:
    """Of the chosen head's weights at the chosen token, on all tokens of the input, the largest."""
    weights = read_weights(trace, spot.token)[spot.layer, spot.head]
    key = int(weights.argmax())
    share, nowhere = float(weights[key]), not weights.any()
    return Most(spot.layer, spot.head, spot.token, key, trace.tokens[key], share, nowhere)


def average_heads(trace: Trace, layer: int, token: int) -> np.ndarray:
    """(key,) a token's attention weights in a layer, mean over its heads."""
    return read_weights(trace, token)[layer].mean(axis=0)


@dataclass(frozen=True)
class Outside:
    """Attention of the chosen token on what lies above and below the window, 0 to 1 each."""

    before: float
    after: float


def measure_outside(faces: Faces, spot: Spot) -> Mapping[str, Outside]:
    """How much attention leaves the window: by layer, mean over heads; and of the chosen head under `head`."""
    rows = {
        str(layer): average_heads(faces.drawn, layer, spot.token)
        for layer in range(faces.drawn.model.config.num_hidden_layers)
    }
    rows[HEAD] = read_weights(faces.drawn, spot.token)[spot.layer, spot.head]
    return {
        name: Outside(float(row[: spot.window.start].sum()), float(row[spot.window.stop :].sum()))
        for name, row in rows.items()
    }
