"""Oracles of what the page of two passes says: the second pass run anew, tokens matched by difflib, angles in NumPy."""

import difflib
from contextlib import suppress
from functools import lru_cache

import numpy as np

import bertviz_core as bv
from tests.claims.truths import Truth, angle, oracle


class Two:
    """The two passes of a state, and what is measured of them."""

    def __init__(self, scene):
        outcome, says = scene.view.outcome, scene.shown.says
        self.one, self.other = outcome.after, _run_second(outcome, says, scene.view)
        rows = [[trace.tokens[i] for i in trace.encoding.real] for trace in (self.one, self.other)]
        blocks = difflib.SequenceMatcher(None, *rows, autojunk=False).get_matching_blocks()
        here, there = self.one.encoding.real, self.other.encoding.real
        self.pairs = [(here[b.a + i], there[b.b + i]) for b in blocks for i in range(b.size)]
        layers = range(scene.config.num_hidden_layers)
        self.stages = ["embeddings.LayerNorm", *(f"encoder.layer.{i}.output.LayerNorm" for i in layers)]
        self.angles = np.array([self.measure(stage) for stage in self.stages])
        self.main = self._find_main(int(says["token"]) if "token" in says else None)

    def measure(self, stage):
        x, y = (np.asarray(trace[stage], dtype=np.float64) for trace in (self.one, self.other))
        return [angle(x[i], y[j]) for i, j in self.pairs]

    def _find_main(self, token):
        here = [i for i, _ in self.pairs]
        if token in here:
            return here.index(token)
        special = self.one.model.tokenizer.special_tokens
        alike = list(self.one.tokens) == list(self.other.tokens)
        special = special - {"[MASK]"} if alike else special
        words = [k for k, i in enumerate(here) if self.one.tokens[i] not in special] or [*range(len(here))]
        return max(words, key=lambda k: (np.nan_to_num(self.angles[-1, k], nan=-1.0), -k), default=None)

    def answers(self):
        """(answer,) names and both rows of probabilities, and what is asked."""
        masks = [[i for i, t in enumerate(trace.tokens) if t == "[MASK]"] for trace in (self.one, self.other)]
        pair = self.pairs[self.main] if self.main is not None else None
        if "cls.predictions.probs" in self.one and all(masks):
            blanks = [(i, j) for i in masks[0] for j in masks[1] if (i, j) in self.pairs]  # in both passes
            return self._words(*(pair if pair in blanks else [*blanks, (masks[0][0], masks[1][0])][0]))
        if "classifier.probs" in self.one:
            at = "" if self.one.dims("classifier.probs") == ("label",) else "[token={}]"
            rows = [
                np.asarray(t[f"classifier.probs{at.format(i)}"])
                for t, i in zip((self.one, self.other), pair or (0, 0), strict=True)
            ]
            return [*self.one.model.labels], *rows, pair if at else None
        if "qa_outputs" in self.one:
            return self._spans()
        if "cls.seq_relationship.probs" in self.one and all(1 in t.encoding.segments for t in (self.one, self.other)):
            rows = [np.asarray(t["cls.seq_relationship.probs"]) for t in (self.one, self.other)]
            return ["B follows A", "B is a random sentence"], *rows, None
        return self._words(*pair) if pair and "cls.predictions.probs" in self.one else None

    def _spans(self):
        """The five best spans of either pass, each beside that between the matched tokens of the other."""
        there, here, found = dict(self.pairs), {j: i for i, j in self.pairs}, {}
        for span in rank_spans(self.one):
            found.setdefault((span, carry(span, there)), join(self.one, span))
        for span in rank_spans(self.other):
            found.setdefault((carry(span, here), span), join(self.other, span))
        rows = [
            np.array([span_share(trace, spans[side]) for spans in found])
            for side, trace in enumerate((self.one, self.other))
        ]
        return [*found.values()], *rows, None

    def _words(self, i, j):
        tokenizer = self.one.model.tokenizer
        names = [tokenizer.token(k) or f"id {k}" for k in range(self.one.model.config.vocab_size)]
        rows = [t.recomputed(f"cls.predictions.probs[token={k}]") for t, k in ((self.one, i), (self.other, j))]
        return names, *rows, (i, j)


def rank_spans(trace):
    coding, special = trace.encoding, {"[CLS]", "[SEP]", "[PAD]"}
    rows = zip(coding.tokens, coding.segments, coding.mask, strict=True)
    inside = [i for i, (token, second, real) in enumerate(rows) if second and real and token not in special]
    scores = np.asarray(trace["qa_outputs.spans"])
    return sorted([(i, j) for i in inside for j in inside if 0 <= j - i < 30], key=lambda s: (-scores[s], s))[:5]


def carry(span, matched):
    start, end = (matched.get(i) for i in span)
    return None if start is None or end is None or end < start else (start, end)


def join(trace, span):
    return trace.model.tokenizer.decode(trace.encoding.ids[span[0] : span[1] + 1])


def span_share(trace, span):
    sides = zip(("start", "end"), span or (), strict=False)
    return float(np.prod([float(trace[f"qa_outputs.{side}.probs"][i]) for side, i in sides])) if span else np.nan


def _run_second(outcome, says, view):
    if "with" in says:
        with suppress(bv.InputError):  # where the model cannot read it, the app says so and hides a word
            return bv.run(outcome.after.model, says["with"], view.pair)
    elif outcome.changed:
        return outcome.before
    trace, tokenizer = outcome.after, outcome.after.model.tokenizer
    words = [
        i
        for i in trace.encoding.real
        if trace.tokens[i] not in tokenizer.special_tokens and any(c.isalnum() for c in trace.tokens[i])
    ]
    hidden = [i for i, (a, b) in enumerate(zip(view.typed.ids, outcome.before.encoding.ids, strict=False)) if a != b]
    assert words and tokenizer.mask_id is not None
    return bv.run(trace.model, view.text, view.pair, pad_to=len(trace.tokens), masked=[*hidden, words[-1]])


def name(tokens, i):
    """With its position where it stands twice."""
    return f"“{tokens[i]}” at position {i}" if tokens.count(tokens[i]) > 1 else tokens[i]


@lru_cache(maxsize=1)
def two(scene):
    return Two(scene)


@oracle("same pass")
def _(scene):
    return Truth({}, "NONE", two(scene).angles[-1])


@oracle("apart at the end")
def _(scene):
    found = two(scene)
    (i, j), layers = found.pairs[found.main], scene.config.num_hidden_layers
    names = (name(trace.tokens, at) for trace, at in ((found.one, i), (found.other, j)))
    values = {**dict(zip(("one", "other"), names, strict=True)), "end": found.angles[-1, found.main]}
    return Truth({**values, "where": f"after layer {layers - 1}"})


@oracle("no angle")
def _(scene):
    found = two(scene)
    i, j = found.pairs[found.main]
    last = scene.config.num_hidden_layers - 1
    ends = (
        ("as layer 0 receives it", "embeddings.LayerNorm"),
        (f"after layer {last}", f"encoder.layer.{last}.output.LayerNorm"),
    )
    lacks = [said for said, path in ends if not (found.one[path][i].any() and found.other[path][j].any())]
    assert lacks
    return Truth({"one": name(found.one.tokens, i), "where": " and ".join(lacks)})


@oracle("began alike", "began apart", "began apart by place")
def _(scene, name):
    found = two(scene)
    (i, j), start = found.pairs[found.main], found.angles[0, found.main]
    if name == "began alike":
        return Truth({"start": start}, "NONE", np.array([start]))
    if name == "began apart by place":
        one, other = found.one.encoding, found.other.encoding
        assert not found.one.changes and not found.other.changes and i != j
        assert (one.ids[i], one.segments[i]) == (other.ids[j], other.segments[j])
    return Truth({"start": start})


@oracle(
    "answer of the first",
    "answer of the second",
    "no likelier answer of the first",
    "no likelier answer of the second",
)
def _(scene, name):
    found, side = two(scene), int(name.endswith("second"))
    names, *rows, at = found.answers()
    best = int(np.nanargmax(rows[side]))
    tied = {names[k] for k in np.flatnonzero(rows[side] == rows[side][best])}
    known = ~np.isnan(rows[side])
    trace = (found.one, found.other)[side]
    token = at and trace.tokens[at[side]]
    if at and trace.tokens.count(token) > 1:
        token = f"“{token}” at position {at[side]}"
    values = {"what": tied, "share": float(rows[side][best]), "token": token or ""}
    relation = "HIGHEST" if name.startswith("no likelier") else "LARGEST"
    return Truth(values, relation, np.asarray(rows[side])[known], int(known[:best].sum()))


@oracle("farthest apart", "none farther apart")
def _(scene, name):
    found = two(scene)
    known = np.flatnonzero(np.isfinite(found.angles[-1]))
    angles = found.angles[-1][known]
    most = int(angles.argmax())
    i = found.pairs[known[most]][0]
    relation = "LARGEST" if name == "farthest apart" else "HIGHEST"
    return Truth({"angle": angles[most], "token": scene.name(i)}, relation, angles, most)


@oracle("none apart")
def _(scene):
    last = two(scene).angles[-1]
    return Truth({}, "NONE", np.round(last[np.isfinite(last)], 3))  # degrees


@oracle("tokens matched")
def _(scene):
    found = two(scene)
    alone = len(found.one.encoding.real) + len(found.other.encoding.real) - 2 * len(found.pairs)
    return Truth({"matched": len(found.pairs), "alone": alone})
