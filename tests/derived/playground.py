"""The playground: the encoder article's examples, as the link edits them."""

import itertools
import math

import numpy as np

from bertviz_core.documents import examples
from tests.derived.articles import PRINTED, SCORES
from tests.derived.truth import Bars, Map, Rows, Scene, Truth, choose_some, points, softmax, truth

WORDS = examples.WORDS


def edit(s: Scene) -> np.ndarray:
    """The article's scores with what the link changes."""
    scores = SCORES.copy()
    for place, value in read_edits(s, "scores").items():
        scores[place] = value
    return scores


def read_edits(s: Scene, key: str) -> dict[tuple[int, int], float]:
    """What the link changes of one of the article's tables."""
    found = {}
    for one in filter(None, s.asked.get(key, "").split(";")):
        place, value = one.split("=")
        row, column = map(int, place.split("."))
        found[row, column] = float(value)
    return found


def divide(s: Scene) -> np.ndarray:
    """What the softmax reads: by the root of 64, unless the link says that the scores are left as they are."""
    return edit(s) / 8 if s.asked.get("divided", "True") == "True" else edit(s)


def open_row(s: Scene) -> int:
    return WORDS.index(s.asked.get("score_row", "Hello"))


@truth("playground", "playground-own")
def playground_own(s: Scene) -> Truth:
    numbers = np.array([2.0, 1.0, 0.0, -1.0])
    edits = read_edits(s, "numbers")
    for (_, column), value in edits.items():
        numbers[column] = value
    powers = np.exp(numbers)
    shares = powers / powers.sum()
    columns = {
        "x": [*(int(x) if x == int(x) else x for x in numbers), None],
        "e to that": [*powers, powers.sum()],
        "share of the sum": [*shares, 1.0],
    }
    names = [f"x{i}" for i in range(4)]
    return Truth(
        [Bars(dict(zip(names, shares, strict=True)))],
        np.stack([numbers, powers, shares], axis=1),
        told=[0, 1, 1, math.e, 1, len(edits), 4],
        worked=[shares.max()],
        rows=[*names, "sum"],
        tables=[columns],
    )


@truth("playground", "playground-scores")
def playground_scores(s: Scene) -> Truth:
    scores, row = edit(s), open_row(s)
    return Truth([Map(scores)], scores, told=[int((scores != SCORES).sum()), 36, scores[row].max()])


@truth("playground", "playground-softmax")
def playground_softmax(s: Scene) -> Truth:
    scores, read = edit(s)[open_row(s)], divide(s)[open_row(s)]
    below = read - read.max()
    powers = [math.exp(x) for x in below]
    running = list(itertools.accumulate(powers))
    shares = [power / running[-1] for power in powers]
    columns = {
        "score S": scores,
        **({"S / √d_k": read} if read is not scores and (read != scores).any() else {}),
        "less the largest": below,
        "e to that": powers,
        "sum so far": running,
        "attention weight": shares,
    }
    undivided = [max(softmax(scores))] if s.asked.get("divided", "True") == "True" else []
    bars = points(x=powers, base=[a - b for a, b in zip(running, powers, strict=True)])
    return Truth(
        [bars, points(x=running)],
        np.stack(list(columns.values()), axis=1),
        told=[max(shares), *undivided, read.max(), running[-1], 7],
        may=[8],
        worked=[max(shares)],
        rows=list(WORDS),
        tables=[{name: [float(x) for x in column] for name, column in columns.items()}],
    )


@truth("playground", "playground-shares")
def playground_shares(s: Scene) -> Truth:
    shares = softmax(divide(s))
    told = [1.0, len(read_edits(s, "scores")), shares.size]
    return Truth([Map(shares)], shares, told=told)


def is_cut(text: str, value: float) -> bool:
    """Whether a print is the number with eight decimals, all digits after the second left out, and no larger."""
    digits, _, power = f"{value:.8e}".partition("e")
    return text == f"{digits[:4]}e{power}" and float(text) <= value


def is_rounded(text: str, value: float) -> bool:
    return text == f"{value:.2e}"


def mark(text: str, value: float) -> str:
    return "✓ cut off" if is_cut(text, value) else "✓" if is_rounded(text, value) else "✗"


@truth("playground", "playground-printed")
def playground_printed(s: Scene) -> Truth:
    computed = softmax(SCORES)
    pairs = [pair for row, line in zip(examples.SHARES, computed, strict=True) for pair in zip(row, line, strict=True)]
    cut = sum(is_cut(*pair) for pair in pairs)
    changed = sum(is_cut(*pair) and not is_rounded(*pair) for pair in pairs)
    right = PRINTED[1:].sum(axis=1)
    columns = {
        word: [
            f"{text}\n{computed[i, j]:.6e}\n{mark(text, computed[i, j])} "
            f"{abs(float(text) - computed[i, j]):.0e}".replace("-", "−")
            for i, text in enumerate(row[j] for row in examples.SHARES)
        ]
        for j, word in enumerate(WORDS)
    }
    told = [computed[0, 0], 72.40e-6, right.min(), right.max(), 36, cut, 1, changed, 7, 30, 0.999997557, 9.99e-1]
    assert cut + 1 + 1 == 36  # one is wrong, one rounded up
    return Truth(
        [Map(np.log10(PRINTED / computed))],
        np.log10(PRINTED / computed),
        told=told,
        worked=[computed[0, 0]],
        tables=[columns],
        rows=list(WORDS),
    )


@truth("playground", "playground-weighted")
def playground_weighted(s: Scene) -> Truth:
    mix = s.asked.get("mix", "one-hot")
    weights = {"one-hot": examples.ONE_HOT, "mixed": examples.MIXED}.get(mix, softmax(divide(s)[open_row(s)]))
    table = np.array(examples.EMBEDDINGS)
    ids = list(examples.IDS)
    for place, value in read_edits(s, "article_rows").items():
        table[place] = value
    for (_, token), value in read_edits(s, "article_ids").items():
        ids[token] = int(value)
    parts = [w * table[examples.IDS.index(i)] for w, i in zip(weights, ids, strict=True)]
    total = np.sum(parts, axis=0)
    told = {"one-hot": [5], "mixed": [1.0]}.get(mix, [total[0]])
    return Truth(
        [Rows(dict(zip([*WORDS, "sum"], [*parts, total], strict=True)))],
        np.stack([*parts, total]),
        told=told,
        worked=[total[0]],
        tables=[{"id": ids, "attention weight": [float(w) for w in weights]}],
        rows=list(WORDS),
    )


@truth("playground", "playground-positions")
def playground_positions(s: Scene) -> Truth:
    count, width = int(s.asked.get("length", 64)), int(s.asked.get("width", 64))
    i, j = min(int(s.asked.get("at_position", 5)), count - 1), min(int(s.asked.get("at_component", 2)), width - 1)
    matrix = np.array(
        [
            [(math.cos if c % 2 else math.sin)(p / 10000 ** ((c - c % 2) / width)) for c in range(width)]
            for p in range(count)
        ]
    )
    wave = 2 * math.pi * 10000 ** ((j - j % 2) / width)
    steps = [-(-count // 64), -(-width // 96)]
    steps[1] += steps[1] > 1 and steps[1] % 2 == 0
    return Truth(
        [Map(matrix)], matrix, told=[j, wave, count, width, *(steps if max(steps) > 1 else [])], worked=[matrix[i, j]]
    )


@truth("playground", "playground-divisors")
def playground_divisors(s: Scene) -> Truth:
    row = edit(s)[open_row(s)]
    found = np.array([softmax(row / math.sqrt(4**k)) for k in range(7)]).T
    top = found[row.argmax()]
    return Truth([Map(found)], found, told=[top[0], top[3], top[6], 8, 64, 4096])


@truth("playground", "playground-unscaled")
def playground_unscaled(s: Scene) -> Truth:
    real = np.array(s.trace.encoding.mask) == 1
    products = s.own("attention.self.products")[s.head, s.token]
    without, shares = (softmax(np.where(real, x, -np.inf)) for x in (products, products / math.sqrt(s.config.head_dim)))
    top = int(without.argmax())
    shown, kept = choose_some(without + shares, 12, (top,)), np.flatnonzero(real).tolist()
    bars = [Bars({s.names[i]: row[i] for i in shown}) for row in (without, shares)]
    columns = {
        "dot product R": products,
        "weight without √d_k": without,
        "slope without √d_k": without * (1 - without),
        "weight with √d_k": shares,
        "slope with √d_k": shares * (1 - shares),
    }
    told = [
        without.max(),
        shares.max(),
        s.config.head_dim,
        *([len({*shown} & {*kept}), len(kept)] if {*kept} - {*shown} else []),
    ]
    return Truth(
        bars,
        np.stack([without, shares], axis=1),
        told=told,
        rows=[s.names[i] for i in shown],
        tables=[{name: [float(column[i]) for i in shown] for name, column in columns.items()}],
    )


@truth("playground", "page")
def edited(s: Scene) -> Truth:
    sizes = {"article_ids": 6, "article_rows": 24, "article_weights": 12}
    return Truth(told=[number for key, size in sizes.items() for number in (len(read_edits(s, key)), size)])
