"""What is true of a pass, worked out in plain NumPy from its numbers, by the names of the claims that say so."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bertviz_core.documents.examples import SCORES, WORDS
from bertviz_core.formula.texts import spell_controls
from tests.claims.states import State
from tests.derived.reading import Number, find_numbers, unescape


@dataclass(frozen=True)
class Truth:
    """What a claim's parts should be, and what it compares.

    values: by the part's name, a whole number, a float or a text, or a set of such where several are as right;
    relation: the name of the claim's; others: all that is compared, the part itself among them; at: its place there.
    """

    values: dict
    relation: str = "SAYS"
    others: np.ndarray | None = None
    at: int | None = None


ORACLES: dict[str, Callable] = {}


def oracle(*names):
    """Registers how to work out what claims of these names should say: a function of the scene, and of the name where
    there are several."""

    def keep(work):
        for name in names:
            assert name not in ORACLES
            ORACLES[name] = (lambda scene, name=name: work(scene, name)) if len(names) > 1 else work
        return work

    return keep


class Scene:
    """One state's numbers, in double precision, each read once."""

    def __init__(self, shown: State, view):
        self.shown, self.view, self.trace = shown, view, view.trace
        self.layer, self.head, self.token = view.chosen.layer, view.chosen.head, view.chosen.token
        self.config, self.tokens = self.trace.model.config, self.trace.tokens
        self.special = self.trace.model.tokenizer.special_tokens
        self.real = np.flatnonzero(self.trace.encoding.mask)
        self._read = {}

    def __getitem__(self, address):
        if address not in self._read:
            self._read[address] = np.array(self.trace[address], dtype=np.float64)
            self._read[address].flags.writeable = False  # whoever asks next gets the same
        return self._read[address]

    def __contains__(self, address):
        return address in self.trace

    def own(self, leaf, layer=None):
        return self[f"encoder.layer.{self.layer if layer is None else layer}.{leaf}"]

    @property
    def word(self):
        return self.tokens[self.token]

    def name(self, i):
        """A token, with its position where it stands more than once."""
        twice = sum(text == self.tokens[i] for text in self.tokens) > 1
        return f"“{spell_controls(self.tokens[i])}” at position {i}" if twice else self.tokens[i]

    @property
    def weights(self):
        """The chosen token's attention weights in every head, (head, key)."""
        return self.own("attention.self.probs")[:, self.token]

    @property
    def row(self):
        return self.weights[self.head]

    @cached_property
    def counted(self):
        """The tokens of which one may be called the largest: those with mask 1, or all where a change lets any look at
        another one."""
        hidden = np.setdiff1d(np.arange(len(self.tokens)), self.real)
        layers = range(self.config.num_hidden_layers) if self.trace.changes else ()
        seen = any(self.own("attention.self.probs", layer)[..., hidden].any() for layer in layers)
        return np.arange(len(self.tokens)) if seen or not len(self.real) else self.real

    @property
    def other_words(self):
        return [i for i, text in enumerate(self.tokens) if text not in self.special and i != self.token]

    @property
    def key(self):
        """The key that is worked out, and whether a rule chose it."""
        asked = self.shown.says.get("key_token", "")
        if asked:
            return int(asked), False
        most = max(self.other_words, key=lambda i: (self.row[i], -i), default=None)
        fair = most is not None and self.row[most] * len(self.real) >= 1 - 1e-7
        return (most if fair else int(self.counted[self.row[self.counted].argmax()])), True

    @property
    def article_row(self):
        """The open row of the article's scores, as it was edited, and which one it is."""
        row, scores = WORDS.index(self.shown.says.get("score_row", WORDS[0])), np.array(SCORES, dtype=np.float64)
        for edit in filter(None, self.shown.says.get("scores", "").split(";")):
            place, _, number = edit.partition("=")
            scores[tuple(map(int, place.split(".")))] = float(number)
        return scores[row], WORDS[row]

    @property
    def article_divisor(self):
        """What the article's scores are divided by before the softmax: the root of 64, or nothing."""
        return 8.0 if self.shown.says.get("divided", "True") == "True" else 1.0

    @property
    def probs(self):
        return self[f"cls.predictions.probs[token={self.token}]"]

    def entry(self, i):
        return self.trace.model.tokenizer.token(int(i)) or f"id {i}"

    @cached_property
    def stages(self):
        """The chosen token's vector before the first layer and after every layer."""
        layers = (self.own("output.LayerNorm", i)[self.token] for i in range(self.config.num_hidden_layers))
        return np.stack([self["embeddings.LayerNorm"][self.token], *layers])

    def changed_to(self, address):
        """The rule or number that a change puts at an address, if any."""
        found = next((value for where, value in self.trace.changes.items() if str(where) == address), None)
        return getattr(found, "text", found)

    def read_words(self, vectors):
        """What the language model head gives vectors (row, hidden): probabilities (row, vocab). What changes put into
        the head at the chosen token they put there whatever it is given."""
        head = "cls.predictions.transform"
        x = self._change(f"{head}.dense", vectors @ self[f"{head}.dense.weight"] + self[f"{head}.dense.bias"])
        rule = self.changed_to(f"{head}.activation")
        x = activate(rule if isinstance(rule, str) else self.config.hidden_act, x)
        x = self._change(f"{head}.activation", x)
        mean = self._change(f"{head}.LayerNorm.mean", x.mean(-1, keepdims=True))
        variance = self._change(f"{head}.LayerNorm.variance", ((x - mean) ** 2).mean(-1, keepdims=True))
        x = self._change(f"{head}.LayerNorm.normalized", (x - mean) / np.sqrt(variance + self.config.layer_norm_eps))
        scaled = x * self[f"{head}.LayerNorm.weight"] + self[f"{head}.LayerNorm.bias"]
        x = self._change(f"{head}.LayerNorm", scaled)
        matrix = np.asarray(self.trace["cls.predictions.decoder.weight"])
        scores = (x.astype(matrix.dtype) @ matrix).astype(np.float64) + self["cls.predictions.decoder.bias"]
        return self._change("cls.predictions.probs", softmax(self._change("cls.predictions.decoder", scores)))

    def _change(self, path, rows):
        """Rows of a tensor of the head, each as if it stood at the chosen token, with what changes put there."""
        rows = rows.copy()
        for override in self.trace.overrides(path):
            numbers = np.full(self.trace.shape(path), np.nan)
            numbers[override.index] = override.numbers
            row = np.atleast_1d(numbers[self.token])
            put = ~np.isnan(row)
            was, given = rows[:, put], row[put]
            rows[:, put] = was * given if override.times else was + given if override.plus else given
        return rows


def activate(name, x):
    if name == "relu":
        return np.maximum(x, 0)
    assert name == "gelu", name
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def length(x):
    return float(np.sqrt((np.asarray(x, dtype=np.float64) ** 2).sum()))


def angle(x, y):
    """Between two vectors, in degrees; NaN where one has no length."""
    if not (length(x) and length(y)):
        return math.nan
    x, y = x / length(x), y / length(y)
    return math.degrees(2 * math.atan2(length(x - y), length(x + y)))


# The words and numbers of a sentence, read back.

_BELOW = re.compile(r"< (0\.0+1)")


def tells(text, expected):
    """Whether this is how something that should be `expected` would be written."""
    if isinstance(expected, set):
        return any(tells(text, one) for one in expected)
    text = unescape(text).replace("\u2060", "")
    if isinstance(expected, str):
        return _unquote(text) == _unquote(spell_controls(expected))
    if isinstance(expected, int | np.integer):
        return text.replace(",", "") == str(int(expected))
    if found := _BELOW.fullmatch(text):
        return 0 < expected < float(found[1])
    if text.startswith("> \N{MINUS SIGN}0.1"):
        return -0.001 < expected < 0
    numbers, expected = find_numbers(text), np.atleast_1d(expected)  # several of a sum
    return len(numbers) == len(expected) and all(map(Number.tells, numbers, expected.tolist()))


def _unquote(text):
    return text[1:-1] if len(text) > 1 and (text[0], text[-1]) == ("“", "”") else text


# Relations, worked out again.


def stands(claim, truth):
    """Whether a truth's relation is true of the oracle's own numbers; of what is written, as the sentence has it."""
    if truth.relation in _OF_ROWS:
        return _OF_ROWS[truth.relation](claim, truth)
    return {
        "SAYS": lambda: True,
        "NONE": lambda: not np.asarray(truth.others).any(),
        "ABOVE": lambda: _is_above(claim, truth),
        "SAME": lambda: len({part.text for part in [*claim.parts.values()][:2]}) == 1,
    }[truth.relation]()


def _is_above(claim, truth):
    (one, first), (other, second) = [*claim.parts.items()][:2]
    return truth.values[one] > truth.values[other] and first.text != second.text


def _split(truth):
    others = np.asarray(truth.others, dtype=np.float64)
    return others[truth.at], np.delete(others, truth.at)


def _is_extreme(claim, truth, sign):
    own, rest = _split(truth)
    part = next(iter(claim.parts.values()))
    apart = not rest.size or part.write(float(sign * (sign * rest).max())) != part.text
    return bool((sign * rest < sign * own).all()) and apart


_OF_ROWS = {
    "LARGEST": lambda claim, truth: _is_extreme(claim, truth, 1),
    "SMALLEST": lambda claim, truth: _is_extreme(claim, truth, -1),
    "HIGHEST": lambda _, truth: bool((_split(truth)[1] <= _split(truth)[0]).all()),
    "TIED": lambda _, truth: _split(truth)[0] == _split(truth)[1].max(initial=-np.inf),
    "LOWEST": lambda _, truth: bool((_split(truth)[1] >= _split(truth)[0]).all()),
}


def find_faults(claim, scene):
    """What is wrong with a claim: a part is not the oracle's, or its relation does not stand."""
    if claim.name not in ORACLES:
        return [f"nobody works out {claim.name!r}"]
    try:
        truth = ORACLES[claim.name](scene)
    except (AssertionError, ValueError, IndexError) as error:
        return [f"{claim.name!r} may not be said: {claim.text!r}: {error!r}"]
    if claim.relation.name != truth.relation:
        return [f"{claim.name!r} compares by {claim.relation.name}, not by {truth.relation}"]
    used = {name: part.text for name, part in claim.parts.items() if f"{{{name}}}" in claim.form}
    faults = [
        f"{claim.name!r}: {text!r} is {truth.values[name]!r} in {claim.text!r}"
        for name, text in used.items()
        if text not in claim.text or not tells(text, truth.values[name])
    ]
    return faults if stands(claim, truth) else [*faults, f"{claim.name!r} is not so: {claim.text!r}, {truth}"]
