"""The numbers of the stops of a walk through the pass, as they are handed out.

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
    """The pieces. pieces: those of the window, as index, text and id; total: how many tokens the tokenizer made of the
    text; padding: how many stand behind these; text, id: the chosen one's; put: whether a change put that id there."""

    pieces: tuple[tuple[int, str, int], ...]
    total: int
    padding: int
    vocabulary: int
    text: str
    id: int
    put: bool


@dataclass(frozen=True)
class LookedUp:
    """One component of the chosen piece's embeddings.

    rows: by table, the index of its row, the value, and whether that is a change's and not the row's; put: whether a
    change put numbers into the LayerNorm.
    """

    id: int
    component: int
    rows: tuple[tuple[str, int, float, bool], ...]
    sum: float
    normalized: float
    put: bool
    digits: Digits

    @property
    def adds_up(self) -> bool:
        return _agree(sum(value for _, _, value, _ in self.rows), self.sum)


@dataclass(frozen=True)
class Offered:
    """What the chosen head makes: Euclidean lengths of the chosen token's query and of the key and value compared.

    of: the position of that key; weight: the attention weight on it; most: whether the chosen token looks at no other
    token more; tied: whether it looks at another as much, of words other than itself where that key is the first of
    these; nowhere: whether all its weights are 0; put: which of query, key and value a change put numbers into.
    """

    query: float
    key: float
    value: float
    of: int
    weight: float
    most: bool
    tied: bool
    nowhere: bool
    put: tuple[str, ...]


Term = tuple[int, float, float, float, int]  # component, two factors, their product, decimals of the factors


@dataclass(frozen=True)
class Compared:
    """The chosen token's query and the key that speaks for the head.

    key: its position; terms: component, q, k and their product, the largest in size first, with the decimals of the
    factors; alone: whether no other product is as large in size as the first, or written alike; sum: of the products;
    scale: what it is divided by; score: as recorded.
    """

    key: int
    query: int
    terms: tuple[Term, ...]
    alone: bool
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
    """One component of what the head hands on: the one that moves a component of the token's vector most.

    hidden: that one; alone: whether no other moves it as much, or by a number that is written alike; values: weight
    times value, row by row; largest: the row that brings most; first: whether no other brings as much; others: what the
    rows outside the window bring together; sum: as recorded.
    """

    component: int
    hidden: int
    alone: bool
    of: tuple[int, ...]
    shares: tuple[float, ...]
    values: tuple[float, ...]
    largest: int
    first: bool
    part: float
    others: float
    sum: float
    digits: Digits

    @property
    def adds_up(self) -> bool:
        return _agree(sum(self.values) + self.others, self.sum)


@dataclass(frozen=True)
class Joined:
    """One component of the attention output: the concatenated heads times a column of the output matrix, and a bias.

    head, heads, width: the chosen one, how many there are, and how many numbers each brings; term: the product that is
    followed, its component counted through all heads; vector, weights: the concatenated heads and the column, to five
    decimals; parts: what each head brings, the sum of its products; product: of all heads; value: as recorded.
    digits.factors: the decimals of what is summed up head by head.
    """

    component: int
    head: int
    heads: int
    width: int
    term: Term
    vector: tuple[float, ...]
    weights: tuple[float, ...]
    parts: tuple[float, ...]
    product: float
    bias: float
    value: float
    digits: Digits

    @property
    def adds_up(self) -> bool:
        return _agree(self.product + self.bias, self.value)


@dataclass(frozen=True)
class Normalized:
    """One component through the residual sum and its LayerNorm.

    residual: whether the program adds the layer's input, skip; given: what the heads and the bias give, which is added
    unless a change put another number there; centered: the sum less the mean; deviation: by which that is divided,
    epsilon included; normal: the quotient; scaled: that times gamma; mean_put, variance_put, normal_put, put: whether
    a change put the mean there, the variance, the quotient, and the result.
    """

    component: int
    residual: bool
    skip: float
    given: float
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
    mean_put: bool
    variance_put: bool
    normal_put: bool
    put: bool
    digits: Digits

    @property
    def adds_up(self) -> bool:
        return _agree(self.residual * self.skip + self.added, self.sum)

    @property
    def is_given(self) -> bool:
        return _agree(self.given, self.added)


Neuron = tuple[int, float, float]  # its index, pre-activation, activation


@dataclass(frozen=True)
class Then:
    """What the program does with a layer's feed-forward output.

    added: adds what came in; normalized: normalizes the sum; put: but a change put numbers there; lost: none of what is
    handed on is made from it, as the change put all of these; component: one of what is handed on, of which skip came
    in, written is what the neurons write with their bias, sum is both and value what LayerNorm makes of that.
    """

    added: bool
    normalized: bool
    put: bool
    lost: bool
    component: int
    skip: float
    written: float
    sum: float
    value: float
    digits: Digits

    @property
    def whole(self) -> bool:
        """Whether what came in and what is written are added and normalized, and nothing else."""
        return self.added and self.normalized and not (self.put or self.lost)


@dataclass(frozen=True)
class Fired:
    """The neurons at the chosen token.

    strongest: the largest in size first; alone: whether no other is as large as that one, or written alike; damped: of
    those above 0 the one that the activation function takes most from, None where it takes nothing worth printing;
    shut: the one with the lowest pre-activation, None where that is not below 0 or something worth printing is left of
    it; active: how many are above 0; function: by its name, empty where a change put numbers in place of all that it
    gives; put: whether one did so at any neuron, and then none is named as damped or shut; curve: points of it, from
    the lowest pre-activation that is listed to the highest; onwards: what becomes of what they write.
    """

    strongest: tuple[Neuron, ...]
    alone: bool
    damped: Neuron | None
    shut: Neuron | None
    active: int
    total: int
    function: str
    put: bool
    curve: tuple[tuple[float, float], ...]
    onwards: Then


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

    component, last: one of the last vector's, and its number; words: word, logit, e^(logit − largest), probability, id;
    alone: whether no other logit is as high as the first, or
    written alike; others: the probability of all other words together; ranked: word, probability and id of the two most
    probable ones; tied: how many are as probable as the first of these.
    """

    component: int
    last: float
    words: tuple[tuple[str, float, float, float, int], ...]
    alone: bool
    denominator: float
    others: float
    total: int
    ranked: tuple[tuple[str, float, int], ...]
    tied: int
    logit: Logit
    digits: Digits

    @property
    def shares_up(self) -> bool:
        """Whether the best word's probability is its share of all powers of e."""
        return _agree(self.words[0][2] / self.denominator, self.words[0][3])


@dataclass(frozen=True)
class Ended:
    """Without an LM head: one component of the chosen token's last vector. heads: what reads these vectors instead."""

    component: int
    value: float
    width: int
    heads: tuple[str, ...]


@dataclass(frozen=True)
class Stops:
    """All of them, in the order of the computation."""

    cut: Cut
    looked_up: LookedUp
    offered: Offered
    compared: Compared
    divided: Divided
    collected: Collected
    joined: Joined
    normalized: Normalized
    fired: Fired
    word: Answered | Ended
