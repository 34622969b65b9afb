"""What tells the numbers that a canvas draws apart from those of any other pass, face or window."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from bertviz_core.analysis.canvas import Faces, Spot
from bertviz_core.tracing.rewrites import Rule
from bertviz_core.tracing.taken import Taken
from bertviz_core.tracing.trace import Trace


def fingerprint(faces: Faces, spot: Spot) -> str:
    """The same for two canvases whose strips of one layer and head are the same; the layer and head do not count.

    It stands for the model, the input, the changes, the face, and which rows and columns are drawn.
    """
    found = hashlib.sha256(repr((faces.face, spot.token, spot.component, spot.window, spot.cell)).encode())
    for trace in (faces.before, faces.after):
        for part in _tell_apart(trace):
            found.update(part)
    return found.hexdigest()[:16]


def _tell_apart(trace: Trace) -> Iterator[bytes]:
    model, encoding = trace.model, trace.encoding
    yield repr((model.name, model.revision, model.dtype, encoding)).encode()
    for where, value in sorted(trace.changes.items(), key=lambda change: str(change[0])):
        yield str(where).encode()
        if isinstance(value, Taken):  # another pass is a part of what it is
            yield repr(value.name).encode()
        yield value.text.encode() if isinstance(value, Rule | Taken) else np.asarray(value).tobytes()
