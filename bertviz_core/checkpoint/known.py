"""The models of this process by what tells their weights from others, so that what was made with one finds it again."""

from __future__ import annotations

from weakref import WeakValueDictionary

import torch

from bertviz_core.checkpoint.hub import find_folder
from bertviz_core.checkpoint.model import Model, load_model
from bertviz_core.errors import CheckpointError

_KNOWN: WeakValueDictionary[str, Model] = WeakValueDictionary()


def note_model(model: Model) -> str:
    """From now on it is found by its digest, as long as somebody holds it. Returns the digest."""
    _KNOWN[model.digest] = model.whole or model
    return model.digest


def find_known(digest: str) -> Model | None:
    """The model of these weights, where this process holds it."""
    return _KNOWN.get(digest)


def find_model(name: str, revision: str, digest: str, dtype: torch.dtype) -> Model:
    """The model of these weights: one that this process holds, or what is loaded by its name, of the hub in this
    revision.

    Raises CheckpointError where it cannot be loaded, and where it has other weights by now.
    """
    found = find_known(digest)
    if found is None:
        found = load_model(name, dtype, None if find_folder(name) else revision)
        if found.digest != digest:
            raise CheckpointError(
                f"The model {name!r} has the weights {found.digest} now, not {digest}. Load the one that was used, and "
                "keep it while this is read."
            )
        note_model(found)
    return found
