"""What the pages of queries, keys, values and of attention open with: blocks, a sum, fitting keys, weights, steps."""

import numpy as np

from tests.derived.attention import choose_keys, read_input, told_of
from tests.derived.truth import Map, Scene, Truth, cosine, length, points, softmax, strongest, truth, window


def project(s: Scene, name: str) -> np.ndarray:
    """What one of the three matrices makes of every token in the chosen head, (token, component)."""
    own = slice(s.head * s.config.head_dim, (s.head + 1) * s.config.head_dim)
    return read_input(s) @ s.own(f"attention.self.{name}.weight")[:, own] + s.own(f"attention.self.{name}.bias")[own]


FITTING = 16  # keys in order of fit


def compared_key(s: Scene) -> int:
    """The key that is asked for, else the one with the largest dot product."""
    products, real = project(s, "key") @ project(s, "query")[s.token], s.trace.encoding.mask
    best = max((i for i, keep in enumerate(real) if keep), key=lambda i: products[i])
    return int(s.asked.get("key_token", best))


@truth("query_key_value", "blocks")
def blocks(s: Scene) -> Truth:
    found = [project(s, name) for name in ("query", "key", "value")]
    return Truth([Map(block) for block in found], np.concatenate(found, axis=1))


@truth("query_key_value", "one-number")
def one_number(s: Scene) -> Truth:
    name = s.asked.get("projection", "query")
    rows = {each: project(s, each) for each in ("query", "key", "value")}
    terms = rows["query"][s.token] * rows["key"][compared_key(s)]
    found = strongest(rows["value"][s.token]) if name == "value" else int(terms.argmax())
    x, column = read_input(s)[s.token], s.head * s.config.head_dim + found
    weight = s.own(f"attention.self.{name}.weight")[:, column]
    why = [] if name == "value" else [terms[found], terms.sum()]
    drawn = [Map(x[None]), Map(weight[None]), points(x=range(len(x)), y=list(x * weight))]
    value = rows[name][s.token, found]
    return Truth(drawn, np.stack([x, weight, x * weight], axis=1), told=[found, *why], worked=[value])


def name_chosen(s: Scene) -> str:
    """The chosen token as titles call it: with its position, where it stands elsewhere as well."""
    word = s.trace.tokens[s.token]
    return f"“{word}”" if s.trace.tokens.count(word) == 1 else f"“{word}” at position {s.token}"


@truth("query_key_value", "Which keys fit what * asks?")
def fit(s: Scene, word: str) -> Truth:
    assert word == name_chosen(s)
    q, keys = project(s, "query")[s.token], project(s, "key")
    products = [float(q @ k) for k in keys]
    row = softmax(s.own("attention.self.scores")[s.head, s.token])
    real = [i for i, keep in enumerate(s.trace.encoding.mask) if keep]
    order = sorted(real, key=lambda i: -products[i])
    shown = order if len(order) <= FITTING + 1 else order[:FITTING]
    key = compared_key(s)
    shown += [] if key in shown else [key]
    columns = {
        "Dot product\ntheir sum: how well it fits": products,
        "Angle\nbetween q and k": [float(np.degrees(np.arccos(cosine(q, k)))) for k in keys],
        "Length\nof k": [length(k) for k in keys],
        "Weight\nafter scaling and softmax": [float(x) for x in row],
    }
    end = max(float(np.abs(q * keys[i]).max()) for i in shown)
    return Truth(
        told=[length(q), -end, end, *([len(shown)] if len(shown) < len(s.real) else [])],
        rows=[s.apart[i] for i in shown],
        tables=[
            {f"{len(q)} products\nq times k, component by component": [""] * len(shown)}
            | {name: [column[i] for i in shown] for name, column in columns.items()}
        ],
    )


DRAWN_WHOLE, QUERIES = 100, 16  # tokens of the matrix; rows of the table


@truth("attention", "encoder.layer.*.attention.self.probs[head=*]")
def weights(s: Scene, layer: str, head: str) -> Truth:
    whole, count = softmax(s.own("attention.self.scores")[s.head]), len(s.names)
    assert count <= DRAWN_WHOLE, "an overview stands beside the matrix: test_attention_pages"
    return Truth([Map(whole)], whole, worked=[whole[s.token, s.key]])


@truth("attention", "The row of * on the sentence")
def row_on_sentence(s: Scene, word: str) -> Truth:
    assert word == name_chosen(s)
    return Truth()


@truth("attention", "How * divides its attention")
def steps(s: Scene, word: str) -> Truth:
    assert word == name_chosen(s)
    q, keys = s.own("attention.self.query")[s.head, s.token], s.own("attention.self.key")[s.head]
    width, real = len(q), s.trace.encoding.mask
    products = [float(q @ k) for k in keys]
    scaled = [x / width**0.5 for x in products]
    row = softmax([x if keep else -np.inf for x, keep in zip(scaled, real, strict=True)])
    shown = choose_keys(s)
    pads = [token == "[PAD]" for token, keep in zip(s.trace.tokens, real, strict=True) if not keep]
    masked = "padding is masked out" if all(pads) else "tokens with mask 0 are masked out"
    padded = masked if pads else "no padding: + 0"
    columns = {
        f"1 · Dot product\nq · k over {width} components": products,
        f"2 · Scaled\n÷ √{width} = {width**0.5:.4f}, same scale": scaled,
        f"3 · Mask\n{padded}": [x if keep else "masked out" for x, keep in zip(scaled, real, strict=True)],
        "4 · Softmax\nexp(S) over the sum of all exp(S)": [float(x) for x in row],
    }
    told = [] if "key_token" in s.asked else [s.key, float(row[s.key])]
    return Truth(
        told=[*told, *told_of(s, shown)],
        rows=[s.apart[i] for i in shown],
        tables=[{name: [column[i] for i in shown] for name, column in columns.items()}],
    )


@truth("attention", "The attention weights in numbers")
def weights_in_numbers(s: Scene) -> Truth:
    whole, keys = softmax(s.own("attention.self.scores")[s.head]), choose_keys(s)
    rows = window(s.token, max(QUERIES, len(keys)), len(s.names))
    columns = {s.names[k]: [float(whole[q, k]) for q in rows] for k in keys}
    return Truth(
        told=told_of(s, keys),
        tables=[columns],
        rows=[s.names[q] for q in rows],
        spans=[(rows.start, rows.stop - 1)],
        may=[len(s.names)],
    )
