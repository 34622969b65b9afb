"""The attention pages: projections, scores, the softmax, weighted values, heads."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tests.derived.reading import Panel
from tests.derived.truth import (
    Bars,
    Map,
    Points,
    Rows,
    Scene,
    Truth,
    assert_near,
    choose_some,
    cosine,
    length,
    points,
    strongest,
    truth,
)

MASKED = -1e30
SHOWN, LINES = 16, 40  # keys in charts of one query, tokens of the lines


def read_input(s: Scene) -> np.ndarray:
    """What the chosen layer reads."""
    return s.states[s.layer]


@truth("query_key_value", "projection-*")
def projection(s: Scene, name: str) -> Truth:
    width = s.config.head_dim
    own = slice(s.head * width, (s.head + 1) * width)
    x, weight = read_input(s)[s.token], s.own(f"attention.self.{name}.weight")[:, own].T
    bias = s.own(f"attention.self.{name}.bias")[own]
    columns = np.stack([weight @ x, bias, weight @ x + bias], axis=1)
    row = strongest(columns[:, 2])
    return Truth(
        [Map(x[None]), Map(weight), Map(columns)], columns, told=[row, columns[row, 2]], worked=[columns[row, 2]]
    )


@truth("query_key_value", "split-*")
def split(s: Scene, name: str) -> Truth:
    heads, width = s.config.num_attention_heads, s.config.head_dim
    own = read_input(s)[s.token] @ s.own(f"attention.self.{name}.weight") + s.own(f"attention.self.{name}.bias")
    rows = np.array([[own[i * width + j] for j in range(width)] for i in range(heads)])
    return Truth(
        [Map(own[None]), Map(rows)],
        rows,
        told=[s.head * width, (s.head + 1) * width - 1, heads * width],
        worked=[rows[s.head][strongest(rows[s.head])]],
    )


@truth("attention", "dot-product")
def dot_product(s: Scene) -> Truth:
    q, k = s.own("attention.self.query")[s.head, s.token], s.own("attention.self.key")[s.head, s.key]
    pairs = sorted(enumerate(q * k), key=lambda pair: -abs(pair[1]))
    order, terms = [i for i, _ in pairs], [float(term) for _, term in pairs]
    running = list(itertools.accumulate(terms))
    names = [str(i) for i in order]
    x = list(range(len(order)))
    scaled = sum(terms) / len(terms) ** 0.5
    mask = 0.0 if s.trace.encoding.mask[s.key] else float(np.finfo(np.float32).min)
    return Truth(
        [points(x=x, y=y, customdata=names) for y in (terms, running)],
        np.stack([order, terms, running], axis=1),
        told=[3, running[2], running[-1], len(terms)],
        worked=[running[-1], scaled, scaled + mask],
    )


def told_of(s: Scene, shown: list[int]) -> list[float]:
    """What is said where not all keys are drawn."""
    probs = s.own("attention.self.probs")[s.head, s.token]
    drawn = {*s.real} & {*shown}
    return [] if len(drawn) == len(s.real) else [len(drawn), len(s.real), float(probs[shown].sum())]


def choose_keys(s: Scene) -> list[int]:
    return choose_some(s.own("attention.self.probs")[s.head, s.token], SHOWN, (s.token, s.key))


@truth("attention", "query-key-cosines")
def angles(s: Scene) -> Truth:
    q, keys = s.own("attention.self.query")[s.head, s.token], s.own("attention.self.key")[s.head]
    found = [(cosine(q, k), length(k), float(q @ k)) for k in keys]
    shown = choose_keys(s)
    turned, long, product = ([found[i][part] for i in shown] for part in range(3))
    return Truth(
        [Bars({s.names[i]: found[i][0] for i in shown})],
        np.array(found),
        told=[length(q), *told_of(s, shown)],
        worked=[found[s.key][2]],
        rows=[s.names[i] for i in shown],
        tables=[{"cosine": turned, "length of k": long, "dot product R": product}],
    )


@truth("attention", "softmax")
def softmax_row(s: Scene) -> Truth:
    scores = s.own("attention.self.scores")[s.head, s.token]
    below = scores - max(scores)
    powers = [float(np.exp(x)) for x in below]
    running = list(itertools.accumulate(powers))
    shares, plain = [power / running[-1] for power in powers], [float(np.exp(x)) for x in scores]
    shown = choose_keys(s)
    part = {
        name: [values[i] for i in shown]
        for name, values in {
            "masked score S": [x if x > MASKED else "masked out" for x in scores.tolist()],
            "S − max": [x if y > MASKED else "masked out" for x, y in zip(below.tolist(), scores, strict=True)],
            "e^(S − max)": powers,
            "sum so far": running,
            "attention weight": shares,
            "e^S, not shifted": plain,
        }.items()
    }
    sums, drawn = part["sum so far"], part["e^(S − max)"]
    bars = points(x=drawn, base=[a - b for a, b in zip(sums, drawn, strict=True)])
    return Truth(
        [bars, points(x=sums)],
        np.stack([scores, below, powers, running, shares, plain], axis=1),
        told=[max(scores), running[-1], sum(plain), *told_of(s, shown)],
        worked=[shares[s.key]],
        tables=[part],
        rows=[s.names[i] for i in shown],
    )


def choose_listed(s: Scene, sizes: Sequence[float]) -> list[int]:
    """The tokens with the largest of these numbers and the chosen one; padding only where it is that."""
    found = choose_some([sizes[i] for i in s.listed], SHOWN, (s.listed.index(s.token),))
    return [s.listed[i] for i in found]


@truth("attention_output", "brought")
def brought(s: Scene) -> Truth:
    probs, values = s.own("attention.self.probs")[s.head, s.token], s.own("attention.self.value")[s.head]
    parts = np.array([share * value for share, value in zip(probs, values, strict=True)])
    total, lengths = parts.sum(axis=0), [length(part) for part in parts]
    shown = choose_listed(s, lengths)
    rows = {s.apart[i]: parts[i] for i in shown}
    others = [i for i in s.listed if i not in shown]
    if others:
        rows[f"{len(others)} others"] = sum(parts[i] for i in others)
    looked, bringing = int(np.argmax(probs)), int(np.argmax(lengths))
    told = [looked] if looked == bringing else [looked, bringing, float(probs[looked])]
    along = [float(part @ total) / float(total @ total) for part in parts]
    columns = {
        "attention weight A": probs,
        "length of V": [length(value) for value in values],
        "length of A V": lengths,
        "fraction of the sum": along,
    }
    return Truth(
        [Rows({**rows, "sum": total})],
        np.vstack([parts, total]),
        told=[*told, *([len(shown)] if others else [])],
        worked=[total[strongest(total)]],
        rows=[s.apart[i] for i in shown],
        tables=[{name: [float(column[i]) for i in shown] for name, column in columns.items()}],
    )


def weigh(s: Scene) -> np.ndarray:
    """The chosen token's heads, (head, head_dim)."""
    return np.array(
        [p[s.token] @ v for p, v in zip(s.own("attention.self.probs"), s.own("attention.self.value"), strict=True)]
    )


@truth("attention_output", "merged")
def merged(s: Scene) -> Truth:
    rows, width = weigh(s), s.config.head_dim
    return Truth(
        [Map(rows.reshape(1, -1)), Map(rows)],
        rows,
        told=[s.head * width, (s.head + 1) * width - 1],
        worked=[rows[s.head][strongest(rows[s.head])]],
    )


@truth("attention_output", "encoder.layer.*.attention.self.context")
def context(s: Scene, layer: str) -> Truth:
    width = s.config.head_dim
    heads = zip(s.own("attention.self.probs"), s.own("attention.self.value"), strict=True)
    whole = np.concatenate([p @ v for p, v in heads], axis=1)
    column = s.head * width + strongest(weigh(s)[s.head])
    return Truth([Map(whole)], whole, told=[s.head * width, (s.head + 1) * width - 1], worked=[whole[s.token, column]])


def split_output(s: Scene) -> dict[str, np.ndarray]:
    """What each head adds to the chosen token's output; the bias, and the sum."""
    weight, bias = s.own("attention.output.dense.weight"), s.own("attention.output.dense.bias")
    width = s.config.head_dim
    parts = [row @ weight[i * width : (i + 1) * width] for i, row in enumerate(weigh(s))]
    total = np.sum([*parts, bias], axis=0)
    return {**{f"head {i}": part for i, part in enumerate(parts)}, "bias": bias, "sum": total}


@truth("attention_output", "head-parts")
def head_parts(s: Scene) -> Truth:
    drawn = split_output(s)
    total = drawn["sum"]
    along = [float(part @ total) / float(total @ total) for part in drawn.values()]
    assert abs(sum(along[:-1]) - 1) < 1e-6  # the parts are together what the sum is
    weight, heads = s.own("attention.output.dense.weight"), s.config.num_attention_heads
    return Truth(
        [
            Map(weigh(s)),
            Blocked(weight.reshape(heads, -1, weight.shape[1])),
            Rows(drawn),
            points("share", x=along[:-1]),
        ],
        np.stack(list(drawn.values())),
        told=[heads, max(along[:heads]), int(np.argmax(along[:heads]))],
        worked=[total[strongest(total)]],
    )


@dataclass(frozen=True)
class Blocked:
    """Every head's rows of a matrix (head, head_dim, hidden), a few of them drawn within the row of the head."""

    blocks: np.ndarray

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        drawn = self.pick()
        assert_near(trace["z"], drawn, why)
        assert np.isclose(trace["dy"], len(self.blocks) / len(drawn)) and np.isclose(trace["y0"], trace["dy"] - 0.5), (
            why
        )

    def pick(self) -> np.ndarray:
        """Four of a head's rows at most, every eighth column, and a gap before the next head."""
        _, dim, hidden = self.blocks.shape
        rows = list(range(0, dim, max(1, dim // 4)))[:4]
        drawn = self.blocks[:, rows][:, :, range(0, hidden, 8)]
        return np.pad(drawn, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, drawn.shape[2])


def measure_taken(s: Scene) -> np.ndarray:
    """The lengths of the weighted values, (head, key)."""
    heads = zip(s.own("attention.self.probs"), s.own("attention.self.value"), strict=True)
    return np.array([[length(w * v) for w, v in zip(p[s.token], values, strict=True)] for p, values in heads])


@truth("attention_output", "taken")
def taken(s: Scene) -> Truth:
    probs, values = s.own("attention.self.probs")[s.head, s.token], s.own("attention.self.value")[s.head]
    parts = [share * value for share, value in zip(probs, values, strict=True)]
    total, lengths = np.sum(parts, axis=0), [length(part) for part in parts]
    shown = choose_listed(s, lengths)
    rest = [i for i in s.listed if i not in shown]
    others = np.sum([parts[i] for i in rest], axis=0) if rest else total
    along = [float(part @ total) / float(total @ total) for part in parts]
    sums = {
        "weight": sum(probs[i] for i in rest),
        "length": np.nan,
        "taken": length(others),
        "part": sum(along[i] for i in rest),
    }
    columns = {"weight": probs, "length": [length(value) for value in values], "taken": lengths, "part": along}
    drawn = []
    for name, column in columns.items():
        bars = {s.apart[i]: float(column[i]) for i in shown}
        drawn.append(Bars({**bars, **({f"{len(rest)} others": sums[name]} if rest else {}), "sum": np.nan}))
    return Truth(drawn, told=[len(shown)] if rest else [], worked=[max(lengths)])


@truth("attention_output", "taken-by-head")
def taken_by_head(s: Scene) -> Truth:
    found = measure_taken(s)
    shown = choose_listed(s, found[s.head])
    places = [(head, row) for head in range(len(found)) for row in range(len(shown))]
    at = points(x=[head for head, _ in places], y=[row for _, row in places])
    return Truth([Squares(at, s.own("attention.self.probs")[:, s.token][:, shown], found[:, shown]), at], found.T)


@dataclass(frozen=True)
class Squares:
    """Squares of all heads and tokens: where they stand, and the two numbers that each says when it is pointed at."""

    at: Points
    weights: np.ndarray
    taken: np.ndarray

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        self.at.check(panel, trace, why)
        said = np.array([numbers for _, *numbers in trace["customdata"]])
        assert_near(said, np.stack([self.weights.ravel(), self.taken.ravel()], axis=1), why)
