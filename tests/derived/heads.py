"""The page of all heads: statistics, roles, the chosen head large."""

import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tests.derived.reading import Panel
from tests.derived.truth import Map, Scene, Truth, best, softmax, truth, window

LINES = 40  # tokens of the lines, and of the large map that has lines
SHARES = {
    "previous": "previous",
    "next": "next",
    "itself": "self",
    "[CLS]": "cls",
    "[SEP]": "sep",
    "punctuation": "punctuation",
    "same word": "same_word",
}
ROLES = {
    "previous token": "previous",
    "next token": "next",
    "itself": "self",
    "[CLS]": "cls",
    "[SEP]": "sep",
    "punctuation": "punctuation",
    "same word": "same_word",
    "broad": "evenness",
}


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
    same = {
        q: [k for k in places if k != q and words[k] == words[q] and tokens[k] not in special]
        for q in places
        if tokens[q] not in special
    }
    entropy = [-sum(x * np.log2(x) for x in row if x) for row in p]
    return {
        "previous": [p[q][q - 1] for q in places if q],
        "next": [p[q][q + 1] for q in places[:-1]],
        "self": [p[q][q] for q in places],
        "cls": [row[tokens.index("[CLS]")] for row in p],
        "sep": [sum(x for x, t in zip(row, tokens, strict=True) if t == "[SEP]") for row in p],
        "punctuation": [sum(row[k] for k in signs) for row in p] if signs else [],
        "same_word": [sum(p[q][k] for k in keys) for q, keys in same.items() if keys],
        "entropy": entropy,
        "evenness": [x / np.log2(len(real)) for x in entropy],
        "distance": [sum(x * abs(q - k) for k, x in enumerate(p[q])) for q in places],
    }


def measure(s: Scene, layer: int, head: int) -> dict[str, float | None]:
    """The means; nothing where no query has anything to measure."""
    known = s.measured.setdefault((layer, head), {})
    if not known:
        known |= {
            name: float(np.mean(values)) if values else None for name, values in measure_queries(s, layer, head).items()
        }
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
    return Truth(
        [Map(grid)], grid, told=[grid.max(), int(a), int(b), grid.min(), int(c), int(d)], worked=[grid[s.layer, s.head]]
    )


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


@truth("heads", "encoder.layer.*.attention.self.probs[head=*]")
def chosen_head(s: Scene, layer: str, head: str) -> Truth:
    """The large map."""
    weights = s.own("attention.self.probs")[s.head]
    return Truth([Map(weights)], weights)


@truth("heads", "All * heads")
def all_heads(s: Scene, count: str) -> Truth:
    """The map of all heads; what stands below each is a component's."""
    heads = s.config.num_hidden_layers * s.config.num_attention_heads
    assert int(count) == heads
    return Truth(told=[heads], may=pooled(s))


@truth("attention", "All * heads of layer *")
def layer_heads(s: Scene, count: str, layer: str) -> Truth:
    """The maps of a layer's heads."""
    assert int(layer) == s.layer
    assert int(count) == s.config.num_attention_heads
    worth, power = measure_worth(s)
    told = (100 * worth / 10.0**power)[s.layer].tolist()
    return Truth(told=[s.layer], may=[*range(s.config.num_attention_heads), *pooled(s), *told])


@truth("heads", "Which token attends to which")
def head_lines(s: Scene) -> Truth:
    """How much of a query's attention goes to tokens that are not drawn."""
    drawn = window(s.token, LINES, sum(s.trace.encoding.mask))  # padding is never drawn
    if len(drawn) == len(s.real):
        return Truth()
    rest = np.delete(s.own("attention.self.probs")[s.head][list(drawn)], list(drawn), axis=1)
    return Truth(told=[rest.sum(axis=1).mean()], spans=[(drawn.start, drawn.stop - 1)])


def pooled(s: Scene) -> list[int]:
    """What is said of the small pictures: how many tokens a cell stands for."""
    real = sum(s.trace.encoding.mask)
    return [real, -(-real // 32), -(-real // 32) - 1]


@truth("heads", "Its role: *")
def head_role(s: Scene, role: str) -> Truth:
    """The chosen head's role and what it is measured by."""
    numbers = measure(s, s.layer, s.head)
    profile = [(short, numbers[name]) for short, name in SHARES.items() if numbers[name] is not None]
    assert role == (", ".join(name_roles(numbers)) or "no role")
    real, entropy = sum(s.trace.encoding.mask), float(numbers["entropy"] or 0)
    return Truth(told=[entropy, float(np.log2(real)), numbers["distance"]], answers=[profile])


@truth("heads", "The answer without it")
def answer_without(s: Scene) -> Truth:
    """The likeliest words with and without the chosen head."""
    probs = softmax(s.hf_run.prediction_logits[0, s.token].double().numpy())
    words, without = best(probs, 5), zero_heads(s)
    answer = {"without": list(without[s.layer, s.head, words]), "with": list(probs[words])}
    return Truth(tables=[answer], rows=[f"“{s.word(i)}”" for i in words])


@truth("heads", "Needed, or in its way")
def head_ranks(s: Scene) -> Truth:
    """Which heads the answer needs."""
    worth, power = measure_worth(s)
    worth = worth.ravel()
    ranked = {"number": [100 * worth[i] / 10.0**power for i in rank_needed(worth)]}
    told = list(map(int, ((worth > 0).sum(), worth.size, (worth < 0).sum())))
    return Truth(told=told, tables=[ranked])


def measure_worth(s: Scene) -> tuple[np.ndarray, int]:
    """(layer, head) by how much the likeliest word is likelier with a head; the power of ten in which that is told."""
    probs = softmax(s.hf_run.prediction_logits[0, s.token].double().numpy())
    first = best(probs, 5)[0]
    worth = probs[first] - zero_heads(s)[..., first]
    return worth, int(np.floor(np.log10(100 * abs(worth).max()))) if abs(worth).max() < 0.001 else 0


def rank_needed(worth: np.ndarray) -> list[int]:
    """The heads that the answer needs most, and those most in its way, four of each at most."""
    needed = [i for i in best(worth, 3) if worth[i] > 0]
    return [*needed, *(i for i in best(-worth, 3) if worth[i] < 0)]


def zero_heads(s: Scene) -> np.ndarray:
    """(layer, head, vocab) the chosen token's probabilities where one head brings nothing."""
    heads = range(s.config.num_attention_heads)
    return np.array([[zero_head(s, layer, head) for head in heads] for layer in s.layers])


def zero_head(s: Scene, layer: int, head: int) -> np.ndarray:
    """The same for one head, by a hook in Hugging Face's model."""
    width = s.config.head_dim

    def zeroed(_, given):
        context = given[0].clone()
        context[..., head * width : (head + 1) * width] = 0
        return (context,)

    hook = s.hf.bert.encoder.layer[layer].attention.output.dense.register_forward_pre_hook(zeroed)
    try:
        return softmax(s.run_hf().prediction_logits[0, s.token].double().numpy())
    finally:
        hook.remove()


@dataclass(frozen=True)
class Curves:
    """Lines from rows to rows, in one trace with gaps between them."""

    ends: Sequence[tuple[int, int]]

    def check(self, panel: Panel, trace: Mapping, why: object) -> None:
        y = np.array(trace["y"], dtype=float)
        each = np.split(y, np.flatnonzero(np.isnan(y)) + 1)[:-1]
        assert [(line[0], line[-2]) for line in each] == [(float(a), float(b)) for a, b in self.ends], why
