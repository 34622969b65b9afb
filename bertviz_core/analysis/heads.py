"""What a head does on one sentence: numbers over its attention, and the rules that give it a name."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from bertviz_core.programs.names import ATTENTION_WEIGHTS
from bertviz_core.tracing.readonly import lock
from bertviz_core.tracing.trace import Trace

SHARE, BITS, TOKENS = "share", "bits", "tokens"
_ROUNDING = 1e-4  # by which a row of shares may miss 1


@dataclass(frozen=True, eq=False)
class Sentence:
    """The tokens that attention runs over, and which of them belong together.

    tokens: of the whole input; real: the positions of those that attention runs over, all where none are given; cls,
    sep: which of the special tokens begins an input, and which ends a text, as the tokenizer has them.
    """

    tokens: Sequence[str]
    special: frozenset[str]
    real: Sequence[int] | None = None
    cls: str | None = None
    sep: str | None = None

    @cached_property
    def places(self) -> np.ndarray:
        """(token,) the positions in the whole input: between two of them one that is masked out may stand."""
        return np.arange(len(self.tokens)) if self.real is None else np.array(self.real)

    def are(self, token: str | None) -> np.ndarray:
        """(token,) which tokens have this text."""
        return np.array([self.tokens[i] == token for i in self.places])

    @cached_property
    def punctuation(self) -> np.ndarray:
        """(token,) which tokens are signs and nothing else."""
        texts = [self.tokens[i] for i in self.places]
        return np.array([text not in self.special and all(map(is_sign, text)) for text in texts])

    @cached_property
    def same_word(self) -> np.ndarray:
        """(query, key) which tokens belong to the query's word: its other pieces, and wherever it stands again."""
        words = np.array(self._words())[self.places]
        plain = np.array([self.tokens[i] not in self.special for i in self.places])
        return (words[:, None] == words) & plain[:, None] & plain & ~np.eye(len(words), dtype=bool)

    def _words(self) -> list[str]:
        """The whole word that each token of the input belongs to."""
        starts = [i for i, text in enumerate(self.tokens) if i == 0 or not text.startswith("##")]
        words = []
        for start, end in zip(starts, [*starts[1:], len(self.tokens)], strict=True):
            words += ["".join(text.removeprefix("##") for text in self.tokens[start:end])] * (end - start)
        return words


def is_sign(character: str) -> bool:
    """Whether a character is a punctuation mark, around which the tokenizer cuts."""
    return character in string.punctuation or unicodedata.category(character).startswith("P")


@dataclass(frozen=True)
class Statistic:
    """One number per head: the mean of what each query gives.

    by_query: (head, query, key) shares and the sentence to (head, query), with those queries that have something to
    measure; short, title: for narrow and wide places; unit: a share of 1, bits or tokens; latex: the formula, with A
    for attention; meaning: the same in words; brief: the formula where that has no room, if there is a shorter one.
    """

    name: str
    short: str
    title: str
    unit: str
    latex: str
    meaning: str
    by_query: Callable[[np.ndarray, Sentence], np.ndarray]
    brief: str = ""

    def of(self, probs: np.ndarray, sentence: Sentence) -> np.ndarray:
        """(head,) numbers; nan where the sentence has nothing to measure."""
        values = self.by_query(probs, sentence)
        return values.mean(axis=-1) if values.shape[-1] else np.full(len(values), np.nan)


@dataclass(frozen=True)
class Role:
    """A name for heads one of whose statistics is above a threshold."""

    name: str
    statistic: Statistic
    above: float

    @property
    def rule(self) -> str:
        return f"{self.statistic.meaning}, above {self.above}"


def _measure_entropy(probs: np.ndarray, _: Sentence) -> np.ndarray:
    """In bits; 0 log 0 is 0."""
    logs = np.log2(probs, where=probs > 0, out=np.zeros_like(probs))
    return np.abs((probs * logs).sum(axis=-1))  # a share of 1.0000001 must not make it negative


def measure_entropy(row: np.ndarray) -> float:
    """The entropy in bits of one row of shares."""
    return float(_measure_entropy(row.astype(np.float64), Sentence((), frozenset())))


def _measure_evenness(probs: np.ndarray, sentence: Sentence) -> np.ndarray:
    most = np.log2(probs.shape[-1])
    return _measure_entropy(probs, sentence) / most if most else probs[:, :0, 0]


def _measure_distance(probs: np.ndarray, sentence: Sentence) -> np.ndarray:
    places = sentence.places.astype(probs.dtype)
    return np.einsum("hqk,qk->hq", probs, np.abs(places[:, None] - places))


def _watch_offset(k: int) -> Callable[[np.ndarray, Sentence], np.ndarray]:
    """The share on the token k places after the query, of the queries that have one."""

    def watch(probs: np.ndarray, sentence: Sentence) -> np.ndarray:
        queries, keys = np.nonzero(sentence.places - sentence.places[:, None] == k)
        return probs[:, queries, keys]

    return watch


def _sum_on(probs: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The share on these keys together; of no query where there are none."""
    return probs[:, :, keys].sum(axis=-1) if keys.any() else probs[:, :0, 0]


def _sum_on_same_word(probs: np.ndarray, sentence: Sentence) -> np.ndarray:
    same = sentence.same_word
    return np.einsum("hqk,qk->hq", probs, same)[:, same.any(axis=-1)]


_OVER = r"\frac{1}{n}\sum_{q}\,"

PREVIOUS = Statistic(
    "previous", "previous", "attention weight on the previous token", SHARE,
    r"\frac{1}{|Q|}\sum_{q\,\in\,Q} A_{q,\,q-1}",
    "the mean attention weight on the previous token, over the queries Q that have one", _watch_offset(-1),
)  # fmt: skip
NEXT = Statistic(
    "next", "next", "attention weight on the next token", SHARE,
    r"\frac{1}{|Q|}\sum_{q\,\in\,Q} A_{q,\,q+1}",
    "the mean attention weight on the next token, over the queries Q that have one", _watch_offset(1),
)  # fmt: skip
SELF = Statistic(
    "self", "itself", "attention weight on itself", SHARE, rf"{_OVER}A_{{qq}}",
    "the mean attention weight on the query's own token", _watch_offset(0),
)  # fmt: skip
ON_CLS = Statistic(
    "cls", "[CLS]", "attention weight on [CLS]", SHARE, rf"{_OVER}A_{{q,\,\mathrm{{[CLS]}}}}",
    "the mean attention weight on [CLS]", lambda probs, sentence: _sum_on(probs, sentence.are(sentence.cls)),
)  # fmt: skip
ON_SEP = Statistic(
    "sep", "[SEP]", "attention weight on [SEP]", SHARE, rf"{_OVER}\sum_{{k\,\in\,\mathrm{{[SEP]}}}} A_{{qk}}",
    "the mean attention weight on all [SEP] together",
    lambda probs, sentence: _sum_on(probs, sentence.are(sentence.sep)),
)  # fmt: skip
PUNCTUATION = Statistic(
    "punctuation", "punctuation", "attention weight on punctuation", SHARE,
    rf"{_OVER}\sum_{{k\,\in\,\mathrm{{signs}}}} A_{{qk}}",
    "the mean attention weight on all punctuation marks together",
    lambda probs, sentence: _sum_on(probs, sentence.punctuation),
)  # fmt: skip
SAME_WORD = Statistic(
    "same_word", "same word", "attention weight on the same word", SHARE,
    r"\frac{1}{|Q|}\sum_{q\,\in\,Q}\ \sum_{k\,\in\,\mathrm{word}(q),\ k\neq q} A_{qk}",
    "the mean attention weight on other pieces of the query's word and its repetitions, over the queries Q that have "
    "such tokens", _sum_on_same_word,
)  # fmt: skip
ENTROPY = Statistic(
    "entropy", "entropy", "entropy in bits", BITS, rf"-{_OVER}\sum_{{k}} A_{{qk}}\log_2 A_{{qk}}",
    "the mean entropy of the queries' weights: 0 bits if all is on one token, log₂ n if uniform", _measure_entropy,
)  # fmt: skip
EVENNESS = Statistic(
    "evenness", "evenness", "entropy relative to uniform attention", SHARE,
    rf"-\frac{{1}}{{\log_2 n}}\,{_OVER}\sum_{{k}} A_{{qk}}\log_2 A_{{qk}}",
    "the mean entropy of the queries, as a fraction of the log₂ n bits of uniform attention", _measure_evenness,
    r"\bar{H} / \log_2 n",
)  # fmt: skip
DISTANCE = Statistic(
    "distance", "distance", "mean distance in tokens", TOKENS, rf"{_OVER}\sum_{{k}} A_{{qk}}\,|q-k|",
    "the mean distance from query to key, weighted by attention", _measure_distance,
)  # fmt: skip

STATISTICS = {
    statistic.name: statistic
    for statistic in (
        PREVIOUS, NEXT, SELF, ON_CLS, ON_SEP, PUNCTUATION, SAME_WORD, ENTROPY, EVENNESS, DISTANCE,
    )
}  # fmt: skip

_OF_SHARES = (ENTROPY.name, EVENNESS.name, DISTANCE.name)
_ANY = "any"  # beside the statistics: 1 for a head that has any weight, else 0

ROLES = (
    Role("previous token", PREVIOUS, 0.5),
    Role("next token", NEXT, 0.5),
    Role("itself", SELF, 0.5),
    Role("[CLS]", ON_CLS, 0.5),
    Role("[SEP]", ON_SEP, 0.5),
    Role("punctuation", PUNCTUATION, 0.5),
    Role("same word", SAME_WORD, 0.5),
    Role("broad", EVENNESS, 0.9),
)


def are_shares(rows: np.ndarray) -> np.ndarray:
    """(…,) whether the numbers of (…, key) rows are shares of a whole: none below 0, and together 1.

    A softmax gives nothing else; a change may put anything there.
    """
    exact = rows.astype(np.float64)
    return (exact >= 0).all(axis=-1) & (np.abs(exact.sum(axis=-1) - 1) <= _ROUNDING)


def compute_statistics(probs: np.ndarray, sentence: Sentence) -> dict[str, np.ndarray]:
    """Every statistic of (head, query, key) shares, by name: (head,) float64.

    Weights on certain keys can be added up whatever they are. Entropy and distance are those of shares: nan for a head
    with a row that is none, where a change put other numbers.
    """
    exact = probs.astype(np.float64)
    found = {statistic.name: statistic.of(exact, sentence) for statistic in STATISTICS.values()}
    shared = are_shares(exact).all(axis=-1)
    found[_ANY] = np.asarray(exact.any(axis=(-1, -2)), dtype=np.float64)
    return found | {name: np.where(shared, found[name], np.nan) for name in _OF_SHARES}


def compute_by_query(trace: Trace, layer: int, head: int, statistic: Statistic) -> np.ndarray:
    """What each query of one head gives to a statistic; their mean is the number."""
    probs, sentence = drop_padding(trace, layer)
    return statistic.by_query(probs[head : head + 1].astype(np.float64), sentence)[0]


def drop_padding(trace: Trace, layer: int) -> tuple[np.ndarray, Sentence]:
    """A layer's shares, and its tokens, without padding."""
    real = np.flatnonzero(trace.encoding.mask)
    probs = trace[ATTENTION_WEIGHTS.in_layer(layer)]
    if len(real) < len(trace.tokens):
        probs = probs[:, real[:, None], real]
    tokenizer = trace.model.tokenizer
    sentence = Sentence(trace.tokens, tokenizer.special_tokens, real.tolist(), tokenizer.cls_token, tokenizer.sep_token)
    return probs, sentence


def measure_layer(trace: Trace, layer: int) -> dict[str, np.ndarray]:
    """Every statistic of a layer's heads, without padding. A weight that a change puts on padding is one, too."""
    probs, sentence = drop_padding(trace, layer)
    whole = trace[ATTENTION_WEIGHTS.in_layer(layer)][:, sentence.places]
    return compute_statistics(probs, sentence) | {_ANY: np.asarray(whole.any(axis=(-1, -2)), dtype=np.float64)}


def is_silent(numbers: Mapping[str, float]) -> bool:
    """Whether all of a head's weights are 0, from its statistics."""
    return not numbers[_ANY]


def has_shares(numbers: Mapping[str, float]) -> bool:
    """Whether each row of a head's weights is one of shares, from its statistics."""
    return not np.isnan(numbers[DISTANCE.name])


def find_roles(numbers: Mapping[str, float]) -> list[Role]:
    """The roles whose rules hold for one head's statistics: none, where its weights are no shares."""
    return [role for role in ROLES if has_shares(numbers) and numbers[role.statistic.name] > role.above]


def pool_blocks(probs: np.ndarray, size: int) -> np.ndarray:
    """(…, query, key) shares in at most size x size blocks of neighbouring tokens.

    A block holds the share that its keys get together from its queries on average, so that rows still sum to 1.
    """
    tokens = probs.shape[-1]
    if tokens <= size:
        return probs
    starts = np.arange(size) * tokens // size
    queries = np.add.reduceat(probs, starts, axis=-2) / np.diff(starts, append=tokens)[:, None]
    return np.add.reduceat(queries, starts, axis=-1)


@dataclass(frozen=True, eq=False)
class Summary:
    """All heads of a trace, small. Padding is left out.

    pictures: (layer, head, query, key) shares, pooled, as whole numbers from 0 to 255;
    numbers: every statistic by name, (layer, head), and what `is_silent` reads; tokens: how many were read.
    """

    pictures: np.ndarray
    numbers: Mapping[str, np.ndarray]
    tokens: int

    def of(self, layer: int, head: int) -> dict[str, float]:
        """One head's statistics by name."""
        return {name: float(values[layer, head]) for name, values in self.numbers.items()}


def _write_bytes(shares: np.ndarray) -> np.ndarray:
    """Shares as whole numbers from 0 to 255; a weight that a change made no share, as the nearest that is one."""
    return np.rint(np.nan_to_num(shares.astype(np.float64)).clip(0, 1) * 255).astype(np.uint8)


def summarize(trace: Trace, size: int, done: Callable[[int], None] | None = None) -> Summary:
    """Read all layers, one after the other, keeping little of each. done: told after each layer."""
    pictures, numbers = [], []
    for layer in range(trace.model.config.num_hidden_layers):
        probs, _ = drop_padding(trace, layer)
        pictures.append(_write_bytes(pool_blocks(probs, size)))
        numbers.append(measure_layer(trace, layer))
        if done is not None:
            done(layer)
    together = {name: lock(np.stack([layer[name] for layer in numbers])) for name in numbers[0]}
    return Summary(lock(np.stack(pictures)), MappingProxyType(together), sum(trace.encoding.mask))
