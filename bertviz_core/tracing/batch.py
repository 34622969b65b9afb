"""Several texts run at once: what is done token by token in one product for all, attention text by text.

The texts stand one behind the other, so that nothing is padded. Of each the spine is cut out, which is all that a trace
keeps. A product over more rows may sum each of them in another order, and then the last digits differ from those of the
text run alone; where the rows of a product do not depend on how many there are, every bit is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import torch
from torch import Tensor

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.model import Model
from bertviz_core.formula.cells import At, Parted, narrow
from bertviz_core.formula.dims import Dims
from bertviz_core.formula.steps import Program, Step
from bertviz_core.tracing.inputs import make_inputs
from bertviz_core.tracing.placing import is_by_token, place_tokens


def run_batch(model: Model, program: Program, encodings: Sequence[Encoding]) -> list[dict[str, Tensor]]:
    """The spine of each text by address, in tensors of its own."""
    with torch.inference_mode():
        return _Batch(model, program, encodings).run()


class _Batch(Parted):
    """The texts, one behind the other along the axis of tokens; by address what was computed for all of them.

    A tensor with one axis of tokens is whole; one with two of them, or with none, stands in a list, one for each text.
    """

    def __init__(self, model: Model, program: Program, encodings: Sequence[Encoding]) -> None:
        self._program, self._parameters = program, model.parameters
        self._lengths = [len(encoding) for encoding in encodings]
        self._starts = [0, *accumulate(self._lengths)][:-1]
        rows = [make_inputs(encoding, model.dtype) for encoding in encodings]
        self._whole = {path: torch.cat([row[path] for row in rows]) for path in rows[0]}
        self._listed: dict[str, list[Tensor]] = {}

    def run(self) -> list[dict[str, Tensor]]:
        own: set[str] = set()  # of the whole tensors, those that nobody else holds
        for step in self._program.forward:
            over = self._program.last_reads[step.address]
            self.spare = over & own & step.read_once
            if self._compute(step) and step.expr.fresh and step.address not in self._program.spine:
                own.add(step.address)
            for name in over:
                self._whole.pop(name, None)
                self._listed.pop(name, None)
        texts = range(len(self._lengths))
        return [{path: self._cut(path, i).clone() for path in self._program.spine} for i in texts]

    def _compute(self, step: Step) -> bool:
        """Compute a step; whether it was done for all texts at once."""
        names = [leaf.address for leaf in step.leaves]
        if is_by_token(step.expr) and not any(name in self._listed for name in names):
            self._whole[step.address] = step.expr.value(self)
            return True
        texts = range(len(self._lengths))
        parts = [step.expr.value({name: self._cut(name, i) for name in names}) for i in texts]
        places = place_tokens(step.output.axes)
        if len(places) == 1:
            self._whole[step.address] = torch.cat(parts, places[0])
        else:
            self._listed[step.address] = parts
        return False

    def _cut(self, address: str, i: int) -> Tensor:
        """A tensor as one of the texts has it."""
        if address in self._listed:
            return self._listed[address][i]
        symbol = self._program.symbol(address)
        places = place_tokens(symbol.axes) if symbol else []
        return self[address].narrow(places[0], self._starts[i], self._lengths[i]) if places else self[address]

    def part(self, address: str, dims: Dims, at: At) -> Tensor:
        return narrow(self[address], dims, at)

    def __getitem__(self, address: str) -> Tensor:
        found = self._whole.get(address)
        return self._parameters[address] if found is None else found

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)
