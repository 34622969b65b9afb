"""What several methods say of the tokens of one number, piece by piece: attention, lengths by layer, gradients."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from bertviz_core.analysis.attribution import COMPLETE, Question
from bertviz_core.analysis.carried import carry_forward, read_carried
from bertviz_core.analysis.gradients import STEPS, Gradients, integrate_each
from bertviz_core.analysis.value_weighted import Readings, read_attention
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

MOST_TOKENS = 40  # of a sentence that pages take apart in these ways unasked
_NEAR = 1e-3  # of what gradients explain: where their sum misses more, they are taken at more steps
_MORE_STEPS = 4 * STEPS


@dataclass(frozen=True, eq=False)
class Methods:
    """What is known by now.

    weighed: the last layer's attention in its readings; lengths: by layer, (token, source) of the parts of each token's
    vector, the biases' last; gradients: with all that their parts are made from.
    """

    weighed: Readings | None = None
    lengths: tuple[np.ndarray, ...] = ()
    gradients: Gradients | None = None
    refused: str = ""

    @property
    def gap(self) -> float:
        """By how much the gradients' sum misses what it explains, as a part of that."""
        if self.gradients is None:
            return 0.0
        gap = abs(float(self.gradients.parts.sum()) - self.gradients.difference)
        return gap / abs(self.gradients.difference) if self.gradients.difference else float(gap > 0)

    @property
    def complete(self) -> bool:
        """Whether the gradients add up well enough to be shown."""
        return self.gradients is not None and self.gap <= COMPLETE


def list_outputs(trace: Trace) -> list[str]:
    """The addresses of what each layer gives."""
    return [Address.in_layer(i, "output.LayerNorm").path for i in range(trace.model.config.num_hidden_layers)]


def try_methods(trace: Trace, question: Question) -> Generator[tuple[float, Methods]]:
    """The last layer's attention, lengths after every layer, integrated gradients; what is known after each piece."""
    outputs, doubled = list_outputs(trace), read_carried(trace)
    found = Methods(read_attention(trace, len(outputs) - 1, doubled))
    for done, (_, parts) in enumerate(carry_forward(doubled, outputs), 1):
        lengths = lock(np.linalg.norm(parts.numpy(), axis=-1).T)
        found = replace(found, lengths=(*found.lengths, lengths))
        yield 0.3 * done / len(outputs), found
    try:
        for steps, before in ((STEPS, 0.3), (_MORE_STEPS, 0.6)):
            known = found
            for part, gradients in integrate_each(trace, question.weights, steps):
                known = replace(found, gradients=gradients)
                yield before + 0.3 * part, found
            if known.gap <= _NEAR:
                break
        yield 1.0, known
    except InputError as error:
        yield 1.0, replace(found, refused=str(error))
