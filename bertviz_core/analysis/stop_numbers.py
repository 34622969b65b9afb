"""The numbers of the nine stops of a walk through the pass, as they are handed out.

Every number is the trace's own or follows from it in float64; lists go row by row of the canvas's window. digits: with
how many decimals sentence and picture print them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bertviz_core.analysis.digits import Digits


def _agree(one: float, other: float) -> bool:
    """Whether two ways to one number agree, as they do unless a change put something else there."""
    return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-4)


@dataclass(frozen=True)
class Cut:
    """The pieces. pieces: those of the window, as index, text and id; total: of all; text, id: the chosen one's."""

    pieces: tuple[tuple[int, str, int], ...]
    total: int
    vocabulary: int
    text: str
    id: int


@dataclass(frozen=True)
class LookedUp:
    """One component of the chosen piece's embeddings. rows: by table, the index of its row and the value there."""

    id: int
    component: int
    rows: tuple[tuple[str, int, float], ...]
    sum: float
    normalized: float
    digits: Digits

    @property
    def adds_up(self) -> bool:
        return _agree(sum(value for _, _, value in self.rows), self.sum)


@dataclass(frozen=True)
class Offered:
    """What the chosen head makes: Euclidean lengths of the chosen token's query and of the key and value compared.

    of: the position of that key; most: whether the chosen token looks at no other token more.
    """

    query: float
    key: float
    value: float
    of: int
    most: bool


Term = tuple[int, float, float, float, int]  # component, two factors, their product, decimals of the factors


@dataclass(frozen=True)
class Compared:
    """The chosen token's query and the key that speaks for the head.

    key: its position; terms: component, q, k and their product, the largest in size first, with the decimals of the
    factors; sum: of the products; scale: what it is divided by; score: as recorded.
    """

    key: int
    query: int
    terms: tuple[Term, ...]
    sum: float
    scale: float
    score: float
    digits: Digits

    @property
    def adds_up(self) -> bool:
        return _agree(self.sum / self.scale, self.score)


@dataclass(frozen=True)
class Divided:
    """The softmax of the chosen token's scores.

    of: the rows; scores, exponentials e^(score − largest), shares: row by row; largest: of all scores; denominator: the
    sum of all exponentials; others: the share of the rows outside the window; key, share: the row that is spoken of.
    """

    of: tuple[int, ...]
    scores: tuple[float, ...]
    exponentials: tuple[float, ...]
    shares: tuple[float, ...]
    largest: float
    denominator: float
    others: float
    key: int
    share: float
    adds_up: bool
    digits: Digits


@dataclass(frozen=True)
class Collected:
    """One component of what the head hands on: the largest in size.

    values: weight times value, row by row; largest: the row that brings most; others: what the rows outside the window
    bring together; sum: as recorded.
    """

    component: int
    of: tuple[int, ...]
    shares: tuple[float, ...]
    values: tuple[float, ...]
    largest: int
    part: float
    others: float
    sum: float
    digits: Digits


@dataclass(frozen=True)
class Normalized:
    """One component through the residual sum and its LayerNorm.

    centered: the sum less the mean; deviation: by which that is divided, epsilon included; normal: the quotient;
    scaled: that times gamma.
    """

    component: int
    skip: float
    added: float
    sum: float
    mean: float
    centered: float
    deviation: float
    normal: float
    gamma: float
    scaled: float
    beta: float
    value: float
    digits: Digits

    @property
    def adds_up(self) -> bool:
        return _agree(self.skip + self.added, self.sum)


Neuron = tuple[int, float, float]  # its index, pre-activation, activation


@dataclass(frozen=True)
class Fired:
    """The neurons at the chosen token.

    strongest: the largest in size first; damped: of those above 0 the one that the activation function takes most from,
    None where it takes nothing worth printing; shut: the one with the lowest pre-activation, None where that is not
    below 0; active: how many are above 0.
    """

    strongest: tuple[Neuron, ...]
    damped: Neuron | None
    shut: Neuron | None
    active: int
    total: int
    function: str


@dataclass(frozen=True)
class Logit:
    """The best word's logit: the LM head's vector h times the word's row w of the decoder, and the word's bias.

    terms: component, h, w and their product, the largest in size first, not all of them; rest: of all other products;
    product: of all; value: as recorded.
    """

    terms: tuple[Term, ...]
    rest: float
    width: int
    product: float
    bias: float
    value: float
    digits: Digits

    @property
    def adds_up(self) -> bool:
        return _agree(self.product + self.bias, self.value)


@dataclass(frozen=True)
class Answered:
    """The softmax over the vocabulary at the chosen token.

    words: word, logit, e^(logit − largest), probability, id; others: the probability of all other words together.
    """

    words: tuple[tuple[str, float, float, float, int], ...]
    denominator: float
    others: float
    total: int
    logit: Logit
    digits: Digits


@dataclass(frozen=True)
class Ended:
    """Without an LM head: the largest number in size of the chosen token's last vector."""

    component: int
    value: float
    width: int


@dataclass(frozen=True)
class Stops:
    """All nine, in the order of the computation."""

    cut: Cut
    looked_up: LookedUp
    offered: Offered
    compared: Compared
    divided: Divided
    collected: Collected
    normalized: Normalized
    fired: Fired
    word: Answered | Ended
