"""The page Patch, whose second pass has the last word hidden: every patch made by hand, with plain arrays."""

from functools import lru_cache

import numpy as np

import bertviz_core as bv
from tests.derived.pairs import _Key
from tests.derived.truth import Map, Scene, Truth, points, truth

SPECIAL = {"[CLS]", "[SEP]", "[PAD]", "[UNK]"}


class Patches:
    """Both passes, the measure in each, and what each patch of the first into the second does to it."""

    def __init__(self, s: Scene):
        view, self.s, self.one = s.shown.view, s, s.trace
        tokens = self.one.tokens
        words = [i for i in s.real if tokens[i] not in {*SPECIAL, "[MASK]"} and any(map(str.isalnum, tokens[i]))]
        self.two = bv.run(self.one.model, view.text, view.pair, pad_to=len(tokens), masked=[*view.masked, words[-1]])
        free = [i for i in range(len(tokens)) if tokens[i] not in SPECIAL]
        masks = [i for i in free if tokens[i] == "[MASK]"]
        self.token = s.token if s.token in free else [*masks, *free][0]
        self.words = self._choose_words() if "cls.predictions.probs" in self.one else None
        self.first, self.second = self.measure(self.one), self.measure(self.two)
        self.apart = words[-1]

    def _choose_words(self):
        shares = [trace.recomputed(f"cls.predictions.probs[token={self.token}]") for trace in (self.one, self.two)]
        best = {int(i) for row in shares for i in np.argsort(-row, kind="stable")[:8]}
        likely = [i for i in best if max(row[i] for row in shares) >= 0.01]
        if len(likely) < 2:
            likely = sorted(best, key=lambda i: -sum(row[i] for row in shares))[:2]
        rise = {i: shares[0][i] - shares[1][i] for i in likely}
        word = max(likely, key=rise.get)
        other = min([i for i in likely if i != word], key=rise.get)
        self.shares = [row[i] for i in (word, other) for row in shares]
        return word, other

    def measure(self, trace):
        if self.words:
            row = trace.recomputed(f"cls.predictions.decoder[token={self.token}]")
            return float(row[self.words[0]] - row[self.words[1]])
        token = "" if trace.dims("classifier.probs") == ("label",) else f"[token={self.token}]"
        best = int(np.argmax(self.one[f"classifier.probs{token}"]))
        return float(trace[f"classifier.probs{token}"][best])

    def moved(self, path, columns=slice(None), token=slice(None)):
        numbers = self.two[path].copy()
        numbers[token, columns] = self.one[path][token, columns]
        change = self.measure(self.two.with_changes({path: numbers})) - self.second
        return change / (self.first - self.second) if self.has_way else change

    @property
    def has_way(self):
        return abs(self.first - self.second) >= 0.01

    def grid(self, paths):
        """(path, token) what each patch does; padding is matched with nothing."""
        seen = self.one.encoding.mask
        return np.array(
            [[self.moved(path, token=i) if keep else np.nan for i, keep in enumerate(seen)] for path in paths]
        )


@lru_cache(maxsize=1)
def made(key):
    return Patches(key.scene)


def read(s: Scene) -> Patches:
    return made(_Key(s))


def name_rows(s, leaf):
    return [f"encoder.layer.{i}.{leaf}" for i in s.layers]


@truth("patch", "patched-way")
def way(s: Scene) -> Truth:
    found = read(s)
    ends, moved = np.array([found.first, found.second]), move_heads(s)
    most = moved.flat[np.abs(moved).argmax()]  # the drawer tells of it, so the ring is there
    reached = found.second + most * (found.first - found.second if found.has_way else 1)
    told, may = (found.shares, found.words) if found.words else ((), ())  # a word without a name is told by its id
    return Truth([points(), points(), points(x=[*ends, reached])], ends[:, None], told=told, may=may)


@truth("patch", "patched-residual")
def residual(s: Scene) -> Truth:
    return Truth([Map(read(s).grid(["embeddings.LayerNorm", *name_rows(s, "output.LayerNorm")]))])


@truth("patch", "patched-attention")
def attention(s: Scene) -> Truth:
    values = read(s).grid(name_rows(s, "attention.output.dense"))
    return Truth([Map(np.vstack([np.full((1, values.shape[1]), np.nan), values]))])


@truth("patch", "patched-feed-forward")
def feed_forward(s: Scene) -> Truth:
    values = read(s).grid(name_rows(s, "output.dense"))
    return Truth([Map(np.vstack([np.full((1, values.shape[1]), np.nan), values]))])


@truth("patch", "patched-heads")
def heads(s: Scene) -> Truth:
    values = move_heads(s)
    return Truth([Map(values)], values)


def move_heads(s: Scene) -> np.ndarray:
    found, size = read(s), s.trace.model.config.head_dim
    count = s.trace.model.config.num_attention_heads
    parts = [slice(size * i, size * (i + 1)) for i in range(count)]
    return np.array([[found.moved(p, part) for part in parts] for p in name_rows(s, "attention.self.context")])


@truth("patch", "patched-moves")
def moves(s: Scene) -> Truth:
    found = read(s)
    values = found.grid(["embeddings.LayerNorm", *name_rows(s, "output.LayerNorm")])
    reach = np.nan_to_num(np.abs(values).max(axis=0))
    end = 1.0 if found.has_way else reach.max()
    far = [int(i) for i in np.argsort(-reach) if reach[i] >= 0.1 * end]
    shown = list(dict.fromkeys([found.apart, found.token, *far]))[:6]
    return Truth([points(y=values[:, i]) for i in shown])
