"""The attention pages: projections, scores, the softmax, weighted values, heads."""

import itertools
import string
import unicodedata

import numpy as np

from tests.derived.truth import (
    Bars,
    Map,
    Rows,
    Scene,
    Truth,
    choose_some,
    cosine,
    length,
    points,
    softmax,
    strongest,
    truth,
    window,
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
    return Truth([Map(x[None]), Map(weight), Map(columns)], columns, told=[row, columns[row, 2]],
                 worked=[columns[row, 2]])  # fmt: skip


@truth("query_key_value", "split-*")
def split(s: Scene, name: str) -> Truth:
    heads, width = s.config.num_attention_heads, s.config.head_dim
    own = read_input(s)[s.token] @ s.own(f"attention.self.{name}.weight") + s.own(f"attention.self.{name}.bias")
    rows = np.array([[own[i * width + j] for j in range(width)] for i in range(heads)])
    return Truth([Map(own[None]), Map(rows)], rows, told=[s.head * width, (s.head + 1) * width - 1, heads * width],
                 worked=[rows[s.head][strongest(rows[s.head])]])  # fmt: skip


@truth("attention", "dot-product")
def dot_product(s: Scene) -> Truth:
    q, k = s.own("attention.self.query")[s.head, s.token], s.own("attention.self.key")[s.head, s.key]
    pairs = sorted(enumerate(q * k), key=lambda pair: -abs(pair[1]))
    order, terms = [i for i, _ in pairs], [float(term) for _, term in pairs]
    running = list(itertools.accumulate(terms))
    x = [str(i) for i in order]
    scaled = sum(terms) / len(terms) ** 0.5
    mask = 0.0 if s.trace.encoding.mask[s.key] else float(np.finfo(np.float32).min)
    return Truth([points(x=x, y=terms), points(x=x, y=running)], np.stack([order, terms, running], axis=1),
                 told=[3, running[2], running[-1], len(terms)],
                 worked=[running[-1], scaled, scaled + mask])  # fmt: skip


def told_of(s: Scene, shown: list[int]) -> list[float]:
    """What is said where not all keys are drawn."""
    probs = s.own("attention.self.probs")[s.head, s.token]
    return [] if len(shown) == len(probs) else [len(shown), float(probs[shown].sum())]


def choose_keys(s: Scene) -> list[int]:
    return choose_some(s.own("attention.self.probs")[s.head, s.token], SHOWN, (s.token, s.key))


@truth("attention", "cosines")
def angles(s: Scene) -> Truth:
    q, keys = s.own("attention.self.query")[s.head, s.token], s.own("attention.self.key")[s.head]
    found = [(cosine(q, k), length(k), float(q @ k)) for k in keys]
    shown = choose_keys(s)
    turned, long, product = ([found[i][part] for i in shown] for part in range(3))
    return Truth(
        [Bars({s.names[i]: found[i][0] for i in shown})], np.array(found), told=[length(q), *told_of(s, shown)],
        worked=[found[s.key][2]], rows=[s.names[i] for i in shown],
        tables=[{"cosine": turned, "length of k": long, "dot product R": product}],
    )  # fmt: skip


@truth("attention", "softmax")
def softmax_row(s: Scene) -> Truth:
    scores = s.own("attention.self.scores")[s.head, s.token]
    below = scores - max(scores)
    powers = [float(np.exp(x)) for x in below]
    running = list(itertools.accumulate(powers))
    shares = [power / running[-1] for power in powers]
    shown = choose_keys(s)
    part = {name: [values[i] for i in shown] for name, values in {
        "masked score S": [x if x > MASKED else "masked out" for x in scores.tolist()],
        "S − max": [x if y > MASKED else "masked out" for x, y in zip(below.tolist(), scores, strict=True)],
        "e^(S − max)": powers, "sum so far": running, "attention weight": shares}.items()}  # fmt: skip
    sums, drawn = part["sum so far"], part["e^(S − max)"]
    bars = points(x=drawn, base=[a - b for a, b in zip(sums, drawn, strict=True)])
    return Truth([bars, points(x=sums)], np.stack([scores, below, powers, running, shares], axis=1),
                 told=[max(scores), running[-1], *told_of(s, shown)], worked=[shares[s.key]], tables=[part],
                 rows=[s.names[i] for i in shown])  # fmt: skip


@truth("attention", "encoder.layer.*.attention.self.probs[head=*,query=*]")
def shares(s: Scene, layer: str, head: str, query: str) -> Truth:
    row, shown = softmax(s.own("attention.self.scores")[s.head, s.token]), choose_keys(s)
    return Truth([Bars({s.names[i]: row[i] for i in shown})], row, told=told_of(s, shown), worked=[row[s.key]])


@truth("attention_output", "brought")
def brought(s: Scene) -> Truth:
    probs, values = s.own("attention.self.probs")[s.head, s.token], s.own("attention.self.value")[s.head]
    parts = np.array([share * value for share, value in zip(probs, values, strict=True)])
    total, lengths = parts.sum(axis=0), [length(part) for part in parts]
    shown = choose_some(lengths, SHOWN, (s.token,))
    rows = {s.names[i]: parts[i] for i in shown}
    others = len(parts) - len(shown)
    if others:
        rows[f"{others} others"] = sum(parts[i] for i in range(len(parts)) if i not in shown)
    looked, bringing = int(np.argmax(probs)), int(np.argmax(lengths))
    told = [looked] if looked == bringing else [looked, bringing, float(probs[looked])]
    along = [float(part @ total) / float(total @ total) for part in parts]
    columns = {"attention weight A": probs, "length of V": [length(value) for value in values],
               "length of A V": lengths, "fraction of the sum": along}  # fmt: skip
    return Truth([Rows({**rows, "sum": total})], np.vstack([parts, total]),
                 told=[*told, *([len(shown)] if others else [])], worked=[total[strongest(total)]],
                 rows=[s.names[i] for i in shown],
                 tables=[{name: [float(column[i]) for i in shown] for name, column in columns.items()}])  # fmt: skip


def weigh(s: Scene) -> np.ndarray:
    """The chosen token's heads, (head, head_dim)."""
    return np.array([p[s.token] @ v for p, v in zip(s.own("attention.self.probs"), s.own("attention.self.value"),
                                                    strict=True)])  # fmt: skip


@truth("attention_output", "merged")
def merged(s: Scene) -> Truth:
    rows, width = weigh(s), s.config.head_dim
    return Truth([Map(rows.reshape(1, -1)), Map(rows)], rows, told=[s.head * width, (s.head + 1) * width - 1],
                 worked=[rows[s.head][strongest(rows[s.head])]])  # fmt: skip


@truth("attention_output", "encoder.layer.*.attention.self.context")
def context(s: Scene, layer: str) -> Truth:
    width = s.config.head_dim
    heads = zip(s.own("attention.self.probs"), s.own("attention.self.value"), strict=True)
    whole = np.concatenate([p @ v for p, v in heads], axis=1)
    column = s.head * width + strongest(weigh(s)[s.head])
    return Truth([Map(whole)], whole, told=[s.head * width, (s.head + 1) * width - 1], worked=[whole[s.token, column]])


@truth("attention_output", "head-parts")
def head_parts(s: Scene) -> Truth:
    weight, bias = s.own("attention.output.dense.weight"), s.own("attention.output.dense.bias")
    width = s.config.head_dim
    parts = [*(row @ weight[i * width : (i + 1) * width] for i, row in enumerate(weigh(s))), bias]
    total = np.sum(parts, axis=0)
    names = [*(f"head {i}" for i in range(len(parts) - 1)), "bias"]
    along = [float(part @ total) / float(total @ total) for part in parts]
    drawn = dict(zip([*names, "sum"], [*parts, total], strict=True))
    return Truth([Rows(drawn)], np.stack(list(drawn.values())), worked=[total[strongest(total)]], rows=names,
                 tables=[{"length": [length(part) for part in parts], "fraction of the sum": along}])  # fmt: skip


SHARES = {"previous": "previous", "next": "next", "itself": "self", "[CLS]": "cls", "[SEP]": "sep",
          "punctuation": "punctuation", "same word": "same_word"}  # fmt: skip
ROLES = {"previous token": "previous", "next token": "next", "itself": "self", "[CLS]": "cls", "[SEP]": "sep",
         "punctuation": "punctuation", "same word": "same_word", "broad": "evenness"}  # fmt: skip


def is_sign(token: str) -> bool:
    return all(one in string.punctuation or unicodedata.category(one)[0] == "P" for one in token)


def whole_words(tokens: list[str]) -> list[str]:
    """For every token the word that it is a piece of."""
    first = [max(j for j in range(i + 1) if j == 0 or not tokens[j].startswith("##")) for i in range(len(tokens))]
    return ["".join(t.removeprefix("##") for t, g in zip(tokens, first, strict=True) if g == f) for f in first]


def measure_queries(s: Scene, layer: int, head: int) -> dict[str, list[float]]:
    """What each query of a head gives to every statistic, one loop a statistic; padding left out."""
    real = [i for i, m in enumerate(s.trace.encoding.mask) if m]
    p = s[f"encoder.layer.{layer}.attention.self.probs"][head][np.ix_(real, real)].tolist()
    tokens, special = [s.trace.tokens[i] for i in real], s.trace.model.tokenizer.special_tokens
    places, words = range(len(real)), whole_words([s.trace.tokens[i] for i in real])
    signs = [i for i in places if tokens[i] not in special and is_sign(tokens[i])]
    same = {q: [k for k in places if k != q and words[k] == words[q] and tokens[k] not in special]
            for q in places if tokens[q] not in special}  # fmt: skip
    entropy = [-sum(x * np.log2(x) for x in row if x) for row in p]
    return {
        "previous": [p[q][q - 1] for q in places if q], "next": [p[q][q + 1] for q in places[:-1]],
        "self": [p[q][q] for q in places], "cls": [row[tokens.index("[CLS]")] for row in p],
        "sep": [sum(x for x, t in zip(row, tokens, strict=True) if t == "[SEP]") for row in p],
        "punctuation": [sum(row[k] for k in signs) for row in p] if signs else [],
        "same_word": [sum(p[q][k] for k in keys) for q, keys in same.items() if keys],
        "entropy": entropy, "evenness": [x / np.log2(len(real)) for x in entropy],
        "distance": [sum(x * abs(q - k) for k, x in enumerate(p[q])) for q in places],
    }  # fmt: skip


def measure(s: Scene, layer: int, head: int) -> dict[str, float | None]:
    """The means; nothing where no query has anything to measure."""
    known = s.measured.setdefault((layer, head), {})
    if not known:
        known |= {name: float(np.mean(values)) if values else None
                  for name, values in measure_queries(s, layer, head).items()}  # fmt: skip
    return known


def name_roles(numbers: dict[str, float | None]) -> list[str]:
    above = {role: 0.9 if role == "broad" else 0.5 for role in ROLES}
    return [role for role, name in ROLES.items() if (numbers[name] or 0) > above[role]]


def chosen_statistic(s: Scene) -> str:
    """The name of the statistic that is in the link."""
    return s.asked.get("statistic", "previous")


@truth("heads", "head-statistic")
def head_statistic(s: Scene) -> Truth:
    name = chosen_statistic(s)
    grid = np.array([[measure(s, i, j)[name] for j in range(s.config.num_attention_heads)] for i in s.layers])
    (a, b), (c, d) = (np.argwhere(grid == end)[0] for end in (grid.max(), grid.min()))
    return Truth([Map(grid)], grid, told=[grid.max(), int(a), int(b), grid.min(), int(c), int(d)],
                 worked=[grid[s.layer, s.head]])  # fmt: skip


@truth("heads", "Layer *, head by head")
def head_table(s: Scene, layer: str) -> Truth:
    heads = range(s.config.num_attention_heads)
    numbers = [measure(s, int(layer), head) for head in heads]
    columns = {"role here": ["\n".join(name_roles(one)) or None for one in numbers]}
    columns |= {short: [one[name] for one in numbers] for short, name in SHARES.items()}
    columns |= {name: [one[name] for one in numbers] for name in ("entropy", "distance")}
    return Truth(tables=[columns], rows=[str(head) for head in heads])


@truth("heads", "The * of * heads with the largest *")
def head_ranking(s: Scene, count: str, all_of: str, title: str) -> Truth:
    numbers = {(i, j): measure(s, i, j) for i in s.layers for j in range(s.config.num_attention_heads)}
    name = chosen_statistic(s)
    shown = sorted(numbers, key=lambda place: -(numbers[place][name] or 0))[:24]
    columns = {"role here": ["\n".join(name_roles(numbers[place])) or None for place in shown]}
    columns |= {short: [numbers[place][own] for place in shown] for short, own in SHARES.items()}
    columns |= {own: [numbers[place][own] for place in shown] for own in ("entropy", "distance")}
    return Truth(told=[24, len(numbers)], tables=[columns], rows=[f"{i}, {j}" for i, j in shown])


@truth("heads", "Which token attends to which")
def head_profile(s: Scene) -> Truth:
    numbers = measure(s, s.layer, s.head)
    rows = [(short, numbers[name]) for short, name in SHARES.items() if numbers[name] is not None]
    roles = [numbers[ROLES[role]] for role in name_roles(numbers)]
    real = sum(s.trace.encoding.mask)
    told = [numbers["entropy"], float(np.log2(real)), numbers["distance"], *roles, *([real] if real > 2 else [])]
    drawn = window(s.token, LINES, real)  # padding is never drawn
    if len(drawn) < len(s.names):
        rest = np.delete(s.own("attention.self.probs")[s.head][list(drawn)], list(drawn), axis=1)
        told += [rest.sum(axis=1).mean(), *([drawn.start, drawn.stop - 1] if len(drawn) == LINES else [])]
    return Truth(told=[*told, *(0.9 if r == "broad" else 0.5 for r in name_roles(numbers))], answers=[rows])
