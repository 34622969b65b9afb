"""Where a pass leaves what its precision can hold: the first step with a number that is not finite."""

from __future__ import annotations

import numpy as np

from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import KEY, TOKEN
from bertviz_core.tracing.changes import Value
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.rewrites import OTHER_EPSILON, Rule
from bertviz_core.tracing.taken import Taken
from bertviz_core.tracing.trace import Trace

# Of a parameter, or a number that a change puts: BERT's widest sums of such numbers, squared for a variance, stay below
# the largest number of single precision.
_TAME = 1e3
_NONE = ""


def find_overflow(trace: Trace) -> Address | None:
    """The first step, in the order computed, whose result is not finite throughout; None where every number is.

    A score of a token that the mask removes may be infinite. Costs nothing where no number is large to begin with,
    otherwise about another pass, once.
    """
    if not _is_suspect(trace):
        return None
    found = remember(trace, "overflow", lambda: _search(trace))
    return Address(found) if found else None


def _is_suspect(trace: Trace) -> bool:
    """Whether a large number goes in, or a LayerNorm divides by less than it should."""
    return trace.model.largest > _TAME or any(map(_is_wild, trace.changes.values()))


def _is_wild(value: Value) -> bool:
    """Whether a change may put a large number into the pass."""
    if isinstance(value, Taken):  # numbers of a pass whose own model is suspect, or they are as tame as that is
        return True
    if isinstance(value, Rule):
        return value.word == OTHER_EPSILON
    return bool(np.max(np.abs(value), initial=0.0) > _TAME)


def _search(trace: Trace) -> str:
    return next((step.address for step in trace.program.steps if not _is_finite(trace, Address(step.address))), _NONE)


def _is_finite(trace: Trace, address: Address) -> bool:
    dims = trace.dims(address)
    if address.path in trace.program.by_rows:  # not all at once: it has a number per vocabulary entry
        return all(np.isfinite(trace[address.fix(**{TOKEN.name: i})]).all() for i in range(len(trace.tokens)))
    values = trace[address]
    if dims[-1:] == (KEY.name,):
        values = values[..., np.array(trace.encoding.mask, dtype=bool)]
    return bool(np.isfinite(values).all())
