"""Where a number comes from: amounts of the tokens by several methods, of which some add up to it, and one asks again.

parts: what was carried from each token, with attention weights, deviations and slopes held (see `carried`).
gradients: integrated gradients from a text of nothing but [MASK] (Sundararajan et al. 2017). hiding: by how much the
number falls when [MASK] stands in place of the token, in a pass of its own. lengths: of the part of each token in the
last vector that the number is read from. attention: what the last layer's heads give, on average; values, residual:
the same weighed by what it brings (Kobayashi et al. 2020 and 2021, see `value_weighted`). rollout: attention of all
layers multiplied (Abnar & Zuidema 2020).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import torch

from bertviz_core.analysis.carried import (
    Pulled,
    carry_forward,
    pull_back,
    read_carried,
)
from bertviz_core.analysis.frames import list_places, stack_frames
from bertviz_core.analysis.gradients import MOST_STEPS, STEPS, integrate_gradients
from bertviz_core.analysis.hiding import read_hidden
from bertviz_core.analysis.layers import average_attention, roll_out_attention
from bertviz_core.analysis.targets import find_reader
from bertviz_core.analysis.value_weighted import Readings, read_attention
from bertviz_core.errors import ArgumentError, BertvizError, InputError
from bertviz_core.formula.address import Address, Where
from bertviz_core.formula.functions import Softmax
from bertviz_core.tracing.doubled import Doubled
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

if TYPE_CHECKING:
    from bertviz_core.analysis.frames import DataFrame

EXACT, ROUNDED = 1e-10, 1e-4  # the most that parts may miss, by float64 and by float32, for each unit of the number
GRADIENTS = "gradients"
COMPLETE = 0.01  # of the difference that gradients explain, the most that their sum may miss


@dataclass(frozen=True, eq=False)
class Attribution:
    """What each token has to do with one number, or with the difference of two.

    parts: (token,) amounts in the order of the tokens, NaN where the method has none; biases: what came from no token,
    0 where the method knows none; total: parts and biases together; recorded: what they should add up to: the number of
    the trace, or, of gradients, how far it is from that of the baseline. Of methods whose amounts add up to nothing,
    total and recorded are None. tolerance: the most that the two may differ. steps: of gradients, how many were taken;
    changed: what of the biases is none, but was put there by changes.
    """

    target: Address
    against: Address | None
    method: str
    tokens: tuple[str, ...]
    parts: np.ndarray
    biases: float = 0.0
    total: float | None = None
    recorded: float | None = None
    tolerance: float = 0.0
    steps: int | None = None
    changed: float = 0.0

    @property
    def rest(self) -> str:
        """What came from no token, in a word or two."""
        return name_rest(bool(self.changed))

    @property
    def gap(self) -> float | None:
        """By how much the total is above what it should be."""
        return None if self.total is None or self.recorded is None else self.total - self.recorded

    def table(self) -> DataFrame:
        """A row for each token and its part, and one for what came from no token: biases, and what changes put."""
        tokens = len(self.tokens)
        return stack_frames(
            [
                {"token": np.arange(tokens), "token_text": list_places(of=self.tokens)["of"], "part": self.parts},
                {"token_text": np.array([self.rest], dtype=object), "part": np.array([self.biases])},
            ]
        )

    def check(self) -> Self:
        """This one again, if it adds up. Raises BertvizError if it does not, or if its method's amounts never do."""
        if self.gap is None:
            raise BertvizError(
                f"What {self.method!r} gives does not add up to a number. Choose 'parts' or 'gradients'."
            )
        if not abs(self.gap) <= self.tolerance:
            raise BertvizError(
                f"What {self.method!r} gives for {self.target} adds up to {self.total:.6g}, not to "
                f"{self.recorded:.6g}. {self._name_remedy()}"
            )
        return self

    def _name_remedy(self) -> str:
        if self.steps is None:
            return "Choose a model in float64."
        if self.steps < MOST_STEPS:
            return f"It may miss {COMPLETE:.0%} of that. Take more steps: steps={min(4 * self.steps, MOST_STEPS)}."
        return f"It may miss {COMPLETE:.0%} of that, also after the most steps. Choose another method, such as 'parts'."


def name_rest(changed: bool) -> str:
    """What came from no token. changed: whether changes put numbers there, too."""
    return "biases, changes" if changed else "biases"


def attribute(
    trace: Trace, target: Where, against: Where | None = None, method: str = "parts", steps: int = STEPS
) -> Attribution:
    """What each token has to do with a number of a pass: a logit, or any hidden state.

    target: the address of one cell; against: of another one, whose number is taken off: why this and not that; method:
    one of METHODS; steps: of gradients, on the way. The answer's `parts`, (token,), with `biases` add up to the number,
    in its unit. Raises AddressError for an address that names no cell, InputError for a number that the method cannot
    be asked about, ArgumentError for what is neither, BertvizError where gradients miss more than 1 % of what they
    explain. Sources: of each method, at the head of `analysis/attribution.py`.

        >>> found = bv.attribute(trace, f"cls.predictions.decoder[token=8,vocab={model.tokenizer.id('people')}]")
        >>> trace.tokens[found.parts.argmax()]
        'the'
        >>> found.check() is found  # the parts and the biases add up to the recorded number
        True
    """
    if not isinstance(trace, Trace):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may have no types
        raise ArgumentError.of("A trace is attributed", trace, "Make one: bv.run(model, text).")
    if method not in METHODS:
        raise InputError(f"There is no method {method!r}. Choose one of these: {', '.join(METHODS)}.")
    cells = tuple(_read_cell(trace, where) for where in (target, against) if where is not None)
    question = Question(*cells)
    return (
        attribute_gradients(trace, question, steps).check() if method == GRADIENTS else METHODS[method](trace, question)
    )


@dataclass(frozen=True)
class Question:
    """The number that is asked about, less another one."""

    target: Address
    against: Address | None = None

    @property
    def weights(self) -> Mapping[Address, float]:
        """How many times each of the two cells counts."""
        return {self.target: 1.0} if self.against is None else {self.target: 1.0, self.against: -1.0}

    def read(self, trace: Trace) -> float:
        """The number as a trace has it."""
        return sum(times * float(trace[cell]) for cell, times in self.weights.items())

    @property
    def token(self) -> int:
        """The token whose last vector it is read from."""
        return find_reader(self.target)


def _read_cell(trace: Trace, where: Where) -> Address:
    symbol, fixed = trace.layout.one_cell(where)
    return Address(symbol.address, tuple((axis.name, fixed[axis]) for axis in symbol.axes))


def attribute_parts(trace: Trace, question: Question, doubled: Doubled | None = None) -> Attribution:
    """The parts that tokens and biases carried to it. doubled: the pass as `read_carried` gives it, if at hand."""
    doubled = doubled or read_carried(trace)
    return sum_parts(trace, question, doubled, pull_back(doubled, question.weights, {trace.program.start}))


def sum_parts(trace: Trace, question: Question, doubled: Doubled, pulled: Pulled) -> Attribution:
    """The same of a way back that has been gone, to what every token starts as."""
    source = trace.program.start
    slope = pulled.slopes.get(source)
    start = doubled[source]
    parts = (start * (torch.zeros_like(start) if slope is None else slope)).sum(dim=-1).numpy()
    total, recorded = float(parts.sum()) + pulled.biases, question.read(trace)
    size = max(1.0, float(np.abs(parts).sum()) + abs(pulled.biases))
    tolerance = size * (EXACT if trace.model.dtype == torch.float64 else ROUNDED)
    found = _answer(trace, question, "parts", parts, pulled.biases, total, recorded, tolerance)
    return replace(found, changed=pulled.changed)


def attribute_gradients(trace: Trace, question: Question, steps: int = STEPS) -> Attribution:
    """Integrated gradients from [MASK] at every token, also where they miss more than they may: see `gap`."""
    found = integrate_gradients(trace, question.weights, steps)
    total = float(found.parts.sum())
    tolerance = COMPLETE * abs(found.difference) + EXACT * max(1.0, float(np.abs(found.parts).sum()))
    return replace(
        _answer(trace, question, GRADIENTS, found.parts, 0.0, total, found.difference, tolerance), steps=steps
    )


def attribute_hiding(trace: Trace, question: Question) -> Attribution:
    """By how much it falls when a token is hidden: the logarithm of its probability, or the difference of two numbers.

    NaN where [MASK] stands already, and for padding.
    """
    parts = np.full(len(trace.encoding), np.nan)
    for _, found in hide_measures(trace, question, list_unhidden(trace)):
        parts[list(found)] = read_measure(trace, question) - np.array([*found.values()])
    return _answer(trace, question, "hiding", parts)


def hide_measures(
    trace: Trace, question: Question, positions: Sequence[int]
) -> Generator[tuple[float, Mapping[int, float]]]:
    """What hiding is measured by, with each of these tokens hidden in turn; what is known after each.

    A token that cannot be hidden has none.
    """
    found: dict[int, float] = {}
    for done, i in enumerate(positions, 1):
        with suppress(InputError):
            number = read_measure_hidden(trace, question, i)
            if np.isfinite(number):
                found[i] = number
        yield done / len(positions), dict(found)


def read_measure_hidden(trace: Trace, question: Question, position: int) -> float:
    """What hiding is measured by, with the token at a position hidden. Raises InputError where none can be."""
    shares = _find_asked(trace, question)
    there = read_hidden(trace, [shares] if shares else [*question.weights], position)
    return _take_log(there[0]) if shares else float(np.dot([*question.weights.values()], there))


def list_unhidden(trace: Trace) -> list[int]:
    """The tokens that can be hidden: all but padding, and those that are [MASK] already."""
    return [i for i in trace.encoding.real if trace.encoding.ids[i] != trace.model.tokenizer.mask_id]


def _take_log(share: np.ndarray | float) -> float:
    """-inf where a change made it 0."""
    with np.errstate(divide="ignore"):
        return float(np.log(share))


def read_measure(trace: Trace, question: Question) -> float:
    """What hiding is measured by: the logarithm of the number's share in its softmax, where it has one."""
    shares = _find_asked(trace, question)
    return question.read(trace) if shares is None else _take_log(trace.recomputed(shares))


def _find_asked(trace: Trace, question: Question) -> Address | None:
    return None if question.against else find_shares(trace, question.target)


def find_shares(trace: Trace, target: Address) -> Address | None:
    """The probability that a softmax makes of a logit, if one does."""
    for step in trace.program.readers.get(target.path, ()):
        if isinstance(step.expr, Softmax):
            return Address(step.address, target.index)
    return None


def attribute_lengths(trace: Trace, question: Question) -> Attribution:
    """The length of each token's part of the last hidden state that the number is carried from, at its token."""
    last = [address for address in trace.program.carried if Address(address).layer is not None][-1]
    ((_, parts),) = carry_forward(read_carried(trace), {last})
    at = question.token
    return _answer(trace, question, "lengths", torch.linalg.vector_norm(parts[:-1, at], dim=-1).numpy())


def attribute_attention(trace: Trace, question: Question) -> Attribution:
    """The last layer's attention weights from its token, mean over heads."""
    *_, last = average_attention(trace)
    return _answer(trace, question, "attention", last[question.token])


def attribute_values(trace: Trace, question: Question) -> Attribution:
    """The length of what the last layer's attention brings to its token from each token."""
    return _answer(trace, question, "values", _read_last(trace).values[question.token])


def attribute_residual(trace: Trace, question: Question) -> Attribution:
    """The same, residual connection and LayerNorm counted."""
    return _answer(trace, question, "residual", _read_last(trace).residual[question.token])


def _read_last(trace: Trace) -> Readings:
    return read_attention(trace, trace.model.config.num_hidden_layers - 1)


def attribute_rollout(trace: Trace, question: Question) -> Attribution:
    """Attention rollout up to the last layer, from its token."""
    return _answer(trace, question, "rollout", roll_out_attention(trace)[-1, question.token])


def _answer(
    trace: Trace, question: Question, method: str, parts: np.ndarray, biases: float = 0.0, total: float | None = None,
    recorded: float | None = None, tolerance: float = 0.0,
) -> Attribution:  # fmt: skip
    amounts = lock(np.array(parts, dtype=np.float64))
    tokens = tuple(trace.tokens)
    return Attribution(question.target, question.against, method, tokens, amounts, biases, total, recorded, tolerance)


METHODS: Mapping[str, Callable[[Trace, Question], Attribution]] = {
    "parts": attribute_parts,
    GRADIENTS: attribute_gradients,
    "hiding": attribute_hiding,
    "lengths": attribute_lengths,
    "attention": attribute_attention,
    "values": attribute_values,
    "residual": attribute_residual,
    "rollout": attribute_rollout,
}

# By which formula each method's amounts come about, a token's `j` for what is read at `i`.
FORMULAS: Mapping[str, str] = {
    "parts": r"c_j = \sum_h x_{j,h} \; s_{j,h}",
    "gradients": r"g_j = \sum_h (x_{j,h} - m_h) \; \bar{s}_{j,h}",
    "hiding": r"\Delta_j = m - m_{j = \mathrm{[MASK]}}",
    "lengths": r"x_i = \sum_j x_{i,j} + b_i, \quad \lVert x_{i,j} \rVert",
    "attention": r"\bar{A}_{i,j} = \frac{1}{h} \sum_h A_{h,i,j}",
    "values": r"\lVert \sum_h A_{h,i,j} V_{h,j} W_h \rVert",
    "residual": r"\lVert \mathrm{center}(\sum_h A_{h,i,j} V_{h,j} W_h + [i = j] \; x_i) \; \gamma / \sigma \rVert",
    "rollout": r"R^{(l)} = \hat{A}^{(l)} R^{(l-1)}",
}
