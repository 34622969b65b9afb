"""Where one number comes from, taken apart twice from one pass in float64: by tokens, and by components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch

from bertviz_core.analysis.attribution import Attribution, Question, sum_parts
from bertviz_core.analysis.carried import measure_carried, pull_back, read_carried
from bertviz_core.analysis.components import Components, split_components
from bertviz_core.errors import InputError
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

MOST_BYTES = 64_000_000  # held while a pass is taken apart


@dataclass(frozen=True, eq=False)
class Origins:
    """What a number is made of.

    parts: of each token, and of all biases; starts, slopes: (token, hidden) the vector that each token starts as, and
    how much each of its components counts for the number: their products add up to the token's part; own: what each
    step adds by itself, put: what changes put there, both by address; components: None where the program's layers have
    no heads and blocks to tell apart.
    """

    parts: Attribution
    starts: np.ndarray
    slopes: np.ndarray
    own: Mapping[str, float]
    put: Mapping[str, float]
    components: Components | None


def check_size(trace: Trace) -> None:
    """Raises InputError where taking a number of a pass apart would take much memory."""
    size = measure_carried(trace)
    if size > MOST_BYTES:
        raise InputError(
            f"To tell apart what {len(trace.tokens)} tokens carried takes {size / 1e6:,.0f} MB, and a page may take "
            f"{MOST_BYTES / 1e6:,.0f}. Choose a shorter text, or use bv.attribute in Python."
        )


def find_origins(trace: Trace, question: Question) -> Origins:
    """Take a number apart. Raises InputError for one that nothing carries, and where that would take much memory."""
    check_size(trace)
    doubled, source = read_carried(trace), trace.program.start
    pulled = pull_back(doubled, question.weights, {source})
    starts = doubled[source]
    slopes = pulled.slopes.get(source, torch.zeros_like(starts))
    try:
        components = split_components(trace, question.weights, doubled)
    except InputError:
        components = None
    return Origins(
        sum_parts(trace, question, doubled, pulled),
        lock(starts.numpy()),
        lock(slopes.numpy()),
        dict(pulled.own),
        dict(pulled.put),
        components,
    )
