"""The page of two passes, beside the pass with the last word hidden: in NumPy, tokens matched by difflib."""

import difflib
from functools import lru_cache

import numpy as np

import bertviz_core as bv
from tests.claims.truths import angle
from tests.derived.truth import Scene, Truth, best, points, truth


class Hidden:
    """The pass on screen and that with its last word hidden, and which tokens of the two are matched."""

    def __init__(self, s: Scene):
        view, self.one = s.shown.view, s.shown.view.outcome.after
        special = self.one.model.tokenizer.special_tokens
        words = [i for i in s.real if self.one.tokens[i] not in special and any(map(str.isalnum, self.one.tokens[i]))]
        masked = [*view.masked, words[-1]]
        hidden = bv.run(self.one.model, view.text, view.pair, pad_to=len(self.one.tokens), masked=masked)
        self.other = view.outcome.before if view.outcome.changed else hidden
        rows = [[trace.tokens[i] for i in s.real] for trace in (self.one, self.other)]
        blocks = difflib.SequenceMatcher(None, *rows, autojunk=False).get_matching_blocks()
        self.pairs = [(s.real[b.a + i], s.real[b.b + i]) for b in blocks for i in range(b.size)]
        self.names = [self.name(k) for k in range(len(self.pairs))]
        stages = ["embeddings.LayerNorm", *(f"encoder.layer.{i}.output.LayerNorm" for i in s.layers)]
        self.angles = np.array([[angle(self.one[a][i], self.other[a][j]) for i, j in self.pairs] for a in stages])
        here = [i for i, _ in self.pairs]
        free = [k for k, i in enumerate(here) if self.one.tokens[i] not in special]
        farthest = max(free, key=lambda k: (self.angles[-1, k], -k))
        self.main = here.index(s.token) if "token" in s.asked and s.token in here else farthest

    def name(self, k):
        texts = [self.one.tokens[i] for i, _ in self.pairs]
        before = texts[: k + 1].count(texts[k])
        return texts[k] if before == 1 else f"{texts[k]} ({before}{({2: 'nd', 3: 'rd'}).get(before, 'th')})"

    def moved(self, layer):
        """(head,) how much attention goes elsewhere, mean over matched tokens."""
        one, other = self.fold(layer)
        return np.abs(one - other).sum(-1).mean(-1) / 2

    def fold(self, layer):
        """Both passes' maps of a layer, with one key more for all that are matched with none."""
        maps = []
        for side, trace in enumerate((self.one, self.other)):
            weights = np.array(trace[f"encoder.layer.{layer}.attention.self.probs"], dtype=np.float64)
            at = [pair[side] for pair in self.pairs]
            rest = [k for k in range(weights.shape[-1]) if k not in at]
            rows = weights[:, at]
            maps.append(np.concatenate([rows[:, :, at], rows[:, :, rest].sum(-1, keepdims=True)], axis=-1))
        return maps


@lru_cache(maxsize=1)
def hidden(trace, scene):
    return Hidden(scene.scene)


class _Key:
    """One scene, to be told from others by its pass."""

    def __init__(self, scene):
        self.scene = scene

    def __hash__(self):
        return 0

    def __eq__(self, other):
        return self.scene.trace is other.scene.trace


def read(s: Scene) -> Hidden:
    return hidden(s.trace, _Key(s))


@truth("compare", "Matched tokens")
def matched(s: Scene) -> Truth:
    found = read(s)
    alone = 2 * (len(s.real) - len(found.pairs))
    return Truth(told=[len(found.pairs), alone, s.layers[-1]])


@truth("compare", "apart")
def apart(s: Scene) -> Truth:
    found = read(s)
    order = sorted(range(len(found.pairs)), key=lambda k: (-found.angles[-1, k], k))
    kept = sorted({found.main, *order[:9]})[:10]
    drawn = sorted(kept, key=lambda k: k == found.main)
    left = len(found.pairs) - len(kept)
    lines = [points(found.names[k][:12], y=found.angles[:, k]) for k in drawn]
    return Truth(lines, found.angles.T, told=[left] if left else [])


@truth("compare", "answers")
def answers(s: Scene) -> Truth:
    found = read(s)
    i, j = found.pairs[found.main]
    masks = [[k for k, t in enumerate(trace.tokens) if t == "[MASK]"] for trace in (found.one, found.other)]
    if all(masks) and "cls.predictions.probs" in s.trace:
        i, j = masks[0][0], masks[1][0]
        rows = [
            trace.recomputed(f"cls.predictions.probs[token={k}]") for trace, k in ((found.one, i), (found.other, j))
        ]
    elif s.trace.dims("classifier") == ("label",):
        rows = [trace.recomputed("classifier.probs") for trace in (found.one, found.other)]
    else:
        rows = [trace.recomputed(f"classifier.probs[token={k}]") for trace, k in ((found.one, i), (found.other, j))]
    p, q = rows
    shown = sorted(best(np.maximum(p, q), 9), key=lambda k: (-p[k], k))
    mean = (p + q) / 2
    bits = (p * np.log2(p / mean)).sum() / 2 + (q * np.log2(q / mean)).sum() / 2
    drawn = [points(x=p[shown]), points(x=q[shown])]
    return Truth(drawn, np.stack([p[shown], q[shown]], axis=1), told=[bits])


@truth("compare", "elsewhere")
def elsewhere(s: Scene) -> Truth:
    found = read(s)
    heads = np.stack([found.moved(layer) for layer in s.layers])
    shown = -np.sort(-heads.ravel())
    maps = np.stack([np.stack(found.fold(layer)).max(axis=(0, 2, 3)) for layer in s.layers]).ravel()
    return Truth([points(y=shown)], heads, told=[maps[best(heads.ravel(), 8)].max()])
