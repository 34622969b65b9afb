"""A trace as one file: the numbers that its run kept, and what they were computed from.

A safetensors file holds numbers and text, and nothing that could be run. Whatever is read from one may be anybody's: it
is believed only as far as the model computes the same.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType] - of paths of whatever

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.hub import BUNDLED
from bertviz_core.checkpoint.known import find_known, note_model
from bertviz_core.checkpoint.model import Model, load_model
from bertviz_core.errors import ArgumentError, BertvizError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.shown import tell_how
from bertviz_core.tracing.changes import Changes
from bertviz_core.tracing.inputs import check_encoding, check_model
from bertviz_core.tracing.rewrites import Rule
from bertviz_core.tracing.taken import Taken, list_taken
from bertviz_core.tracing.trace import Trace
from bertviz_core.version import PROJECT, __version__

FORMAT = f"a trace of {PROJECT}: 1"
BEFORE, CHANGE = "before:", "change:"  # how the names of tensors begin that are no addresses of the trace
_NUMBER, _RULE, _ARRAY = "number", "rule", "array"
_LONGEST = 4_000_000  # letters of text that are read
_MOST = 10_000  # changes
_CLOSE = {
    torch.float32: 1e-3,
    torch.float64: 1e-6,
}  # of a tensor's largest number; machines are less apart
_ROWS = ("ids", "segments", "mask", "positions")


def save_trace(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the trace as one safetensors file: its spine by address, with text, model, program and changes as metadata.

    Raises InputError where it cannot be written, and for changes that take columns of another pass.
    """
    target = _read_path(path)
    tensors = dict(_list_spine(trace, ""))
    if trace.before is not None:
        tensors |= dict(_list_spine(trace.before, BEFORE))
    changes = _write_changes(trace, tensors)
    plain = trace.before or trace
    model, encoding = trace.model, plain.encoding
    told = {
        "format": FORMAT,
        "version": __version__,
        "model": model.name,
        "revision": model.revision,
        "weights": note_model(model),
        "dtype": str(model.dtype).removeprefix("torch."),
        "heads": json.dumps(list(model.heads)),
        "program": plain.program.name,
        "input": json.dumps({"tokens": encoding.tokens, **{row: getattr(encoding, row) for row in _ROWS}}),
        "changes": json.dumps(changes),
    }
    try:
        save_file({name: np.ascontiguousarray(each) for name, each in tensors.items()}, target, metadata=told)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{target} cannot be written: {error}. Choose another place.") from None


tell_how(save=save_trace)


def _read_path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise ArgumentError.of("The place of a trace must be a path", path, 'Give such as "trace.safetensors".')
    return Path(os.fsdecode(cast(str, path)))


def _list_spine(trace: Trace, prefix: str) -> Iterator[tuple[str, np.ndarray]]:
    """What the run of this trace computed and kept: all else follows from it."""
    for address in sorted(trace.program.spine):
        if trace.reached(address):
            yield f"{prefix}{address}", trace[address]


def _write_changes(trace: Trace, tensors: dict[str, np.ndarray]) -> list[tuple[str, str, float | str]]:
    """Each change as address, kind and value; arrays are put among the tensors."""
    written: list[tuple[str, str, float | str]] = []
    for where, value in _spell_out(trace, trace.changes):
        if isinstance(value, Rule):
            written.append((str(where), _RULE, value.text))
        elif np.ndim(value):
            name = f"{CHANGE}{len(written)}"
            tensors[name] = np.asarray(value)
            written.append((str(where), _ARRAY, name))
        else:
            written.append((str(where), _NUMBER, float(value)))
    return written


def _spell_out(trace: Trace, changes: Changes) -> Iterator[tuple[Address, float | np.ndarray | Rule]]:
    """The changes, with numbers in place of another pass that they take them from."""
    for where, value in changes.items():
        if not isinstance(value, Taken):
            yield where, value
            continue
        axes = trace.dims(where.whole)
        for index, numbers in list_taken((trace.before or trace).layout, where, value):
            fixed = {axis: at for axis, at in zip(axes, index, strict=True) if isinstance(at, int)}
            if any(isinstance(at, slice) and at != slice(None) for at in index):
                raise InputError(f"{where} takes columns of another pass, which a file cannot say. Undo this change.")
            yield where.whole.fix(**fixed), numbers


def load_trace(path: str | os.PathLike[str], model: Model | None = None) -> Trace:
    """The trace of a file that `trace.save(path)` wrote, with the same numbers to the bit; nothing in it is run.

    model: the one that it is of; without it the bundled one, or one that was used to save in this process, never one
    that only the file names. Text, changes and weights are checked, and every number is compared with what the model
    computes here, to a thousandth of the largest of its tensor: what is further off is refused. Raises InputError for
    what is no such file, ArgumentError for what is no path or no model.

        >>> trace.save("rome.safetensors")
        >>> again = bv.load_trace("rome.safetensors", model)
        >>> bool((again["cls.predictions.probs[token=8]"] == trace["cls.predictions.probs[token=8]"]).all())
        True
    """
    place = _read_path(path)
    if model is not None:
        check_model(model)
    if not place.is_file():
        raise InputError(f"There is no file {place}. Check the path.")
    try:
        with safe_open(str(place), framework="numpy") as file:  # pyright: ignore[reportUnknownVariableType] - has no types
            return _Reader(place, cast(Any, file), model).read()
    except (SafetensorError, OSError) as error:
        raise InputError(f"{place} is no safetensors file that can be read: {error}. Save the trace again.") from None


class _Reader:
    """One file, of which nothing is believed before it was checked."""

    def __init__(self, place: Path, file: Any, model: Model | None) -> None:
        self._place, self._file, self._model = place, file, model
        self._told: Mapping[str, str] = file.metadata() or {}
        if self._told.get("format") != FORMAT:
            raise self._refuse(f"its format is {self._told.get('format', 'not told')[:80]!r}, not {FORMAT!r}")
        if sum(map(len, self._told.values())) > _LONGEST:
            raise self._refuse(f"it tells more than {_LONGEST} letters")

    def _refuse(self, why: str) -> InputError:
        return InputError(f"{self._place} is not a trace that can be read: {why}. Save the trace again.")

    def read(self) -> Trace:
        model = self._choose_model()
        program = self._told.get("program", "")
        try:
            plain = Trace(model, self._read_encoding(model), program)
            changes = self._read_changes()
            changed = plain.with_changes(changes) if changes else plain
        except BertvizError as error:
            raise self._refuse(str(error).rstrip(".")) from None
        if changed is plain:
            return Trace(model, plain.encoding, program, spine=self._read_spine(plain, ""))
        before = Trace(model, plain.encoding, program, spine=self._read_spine(plain, BEFORE))
        return before.with_changes(changes, spine=self._read_spine(changed, ""))

    def _choose_model(self) -> Model:
        """The model of the weights that the file names."""
        digest, name = self._told.get("weights", ""), self._told.get("model", "")
        found = self._model or find_known(digest)
        if found is None and name == BUNDLED and self._told.get("dtype") == "float32":
            found = load_model()
        if found is None:
            raise InputError(
                f"{self._place} holds a trace of the model {name[:80]!r}, weights {digest[:12]!r}. Load that "
                "yourself, and give it: bv.load_trace(path, model)."
            )
        if found.digest != digest:
            raise InputError(
                f"{self._place} holds a trace of other weights: {digest[:12]!r}, not {found.digest!r} as "
                f"{found.name!r} has them. Give the model that it was made with."
            )
        heads = self._parse("heads", list)
        if not all(isinstance(head, str) for head in heads):
            raise self._refuse("its heads are no words")
        return found.keep_heads(heads) if set(heads) < set(found.heads) else found

    def _parse(self, name: str, kind: type) -> Any:
        """A part of what is told, as JSON."""
        try:
            found = json.loads(self._told.get(name, ""))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, kind):
            raise self._refuse(f"its {name} cannot be read")
        return found

    def _read_encoding(self, model: Model) -> Encoding:
        told = self._parse("input", dict)
        rows: list[Any] = [told.get(row) for row in _ROWS]
        if not all(isinstance(row, list) and all(type(each) is int for each in cast(list[Any], row)) for row in rows):
            raise self._refuse("its input does not have whole numbers for each token")
        limits = (model.config.vocab_size, model.config.type_vocab_size, 2, model.config.max_position_embeddings)
        if len({len(row) for row in rows}) != 1 or any(
            not 0 <= each < limit for row, limit in zip(rows, limits, strict=True) for each in row
        ):
            raise self._refuse("its input has numbers that the model does not know")
        ids, segments, mask, positions = map(tuple, rows)
        if told.get("tokens") != [model.tokenizer.token(i) for i in ids]:
            raise self._refuse("its tokens are not those of its ids")
        return check_encoding(model, Encoding(tuple(told["tokens"]), ids, segments, mask, positions))

    def _read_changes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        told = self._parse("changes", list)
        for change in told[:_MOST]:
            match change:
                case [str(where), "number", int() | float() as value] | [str(where), "rule", str(value)]:
                    found[where] = value
                case [str(where), "array", str(name)] if name.startswith(CHANGE):
                    found[where] = self._read_tensor(name)
                case _:
                    raise self._refuse(f"one of its changes cannot be read: {json.dumps(change)[:80]}")
        if len(found) < len(told):
            raise self._refuse(f"it has more than {_MOST} changes, or one twice")
        return found

    def _read_spine(self, trace: Trace, prefix: str) -> dict[str, torch.Tensor]:
        """The numbers of the file at the addresses of a trace's spine. Raises InputError where they are others."""
        known = dict(_list_spine(trace, prefix))
        found = {name.removeprefix(prefix): self._compare(name, own, trace) for name, own in known.items()}
        more = [name for name in self._file.keys() if not name.startswith((BEFORE, CHANGE))]  # noqa: SIM118 - no mapping
        strange = [] if prefix else [name for name in more if name not in known]
        if strange:
            raise self._refuse(f"it holds {strange[0][:80]!r}, which is nothing of the trace")
        return found

    def _compare(self, name: str, own: np.ndarray, trace: Trace) -> torch.Tensor:
        numbers = self._read_tensor(name, own)
        limit = _CLOSE[trace.model.dtype] * max(1e-6, float(np.abs(own).max(initial=0.0)))
        if not (np.abs(numbers.astype(np.float64) - own) <= limit).all():
            raise self._refuse(f"its numbers at {name} are not what the model computes")
        return torch.tensor(numbers)

    def _read_tensor(self, name: str, like: np.ndarray | None = None) -> np.ndarray:
        """One tensor, once it is known to be there and of the right shape and kind."""
        if name not in self._file.keys():  # noqa: SIM118 - not a mapping
            raise self._refuse(f"{name[:80]!r} is not in it")
        lies = self._file.get_slice(name)
        if like is None:
            if lies.get_dtype() != "F64" or math.prod(lies.get_shape()) > _LONGEST:
                raise self._refuse(f"{name[:80]!r} does not hold numbers of a change")
        elif tuple(lies.get_shape()) != like.shape or lies.get_dtype() != f"F{8 * like.itemsize}":
            raise self._refuse(f"{name} has another shape than {like.shape}, or other numbers")
        return np.array(self._file.get_tensor(name))
