"""The embeddings page: three rows and their sum, nearest words, positions."""

import math

import numpy as np

from tests.derived.truth import (
    Bars,
    Map,
    Rows,
    Scene,
    Truth,
    best,
    cosines,
    length,
    moments,
    points,
    strongest,
    truth,
    window,
)
from tests.derived.vectors import norm

PARTS = {"word": "word_embeddings", "position": "position_embeddings", "segment": "token_type_embeddings", "sum": "sum"}


def strips(s: Scene, addresses: dict[str, str]) -> Rows:
    return Rows({name: s[address][s.token] for name, address in addresses.items()})


@truth("embeddings", "three-rows")
def three_rows(s: Scene) -> Truth:
    word, position, segment = (s[f"embeddings.{part}"][s.token] for name, part in PARTS.items() if name != "sum")
    total = word + position + segment
    flat = norm(total, s.config.layer_norm_eps)
    output = s["embeddings.LayerNorm.weight"] * flat + s["embeddings.LayerNorm.bias"]
    at = strongest(total)
    rows = np.stack([word, position, segment, total, flat, output])
    return Truth([Map(rows)] * 12, rows.T, told=[at, *rows[:4, at], abs(flat[at]), s.trace.encoding.ids[s.token]])


@truth("embeddings", "alike")
def alike(s: Scene) -> Truth:
    output = s["embeddings.LayerNorm"]
    shown = [s.listed[i] for i in window(s.listed.index(s.token), 100, len(s.listed))]
    found = cosines(output[shown])
    return Truth([Map(found)], found, spans=[(shown[0], shown[-1])])


@truth("embeddings", "embeddings.word_embeddings")
def same_rows(s: Scene) -> Truth:
    found, told = s["embeddings.word_embeddings.weight"][list(s.trace.encoding.ids)], []
    tokens = [s.trace.tokens[i] for i in s.real]
    repeated = [token for i, token in enumerate(tokens) if token in tokens[:i]]
    if repeated:
        told = [tokens.count(repeated[0]), s.trace.encoding.ids[s.trace.tokens.index(repeated[0])]]
    return Truth([Map(found)], told=told)


@truth("embeddings", "embeddings.LayerNorm[token=*]")
def fixed_size(s: Scene, token: str) -> Truth:
    leaves = {"sum": "sum", "normalized": "LayerNorm.normalized", "LayerNorm": "LayerNorm"}
    return Truth(
        [strips(s, {name: f"embeddings.{leaf}" for name, leaf in leaves.items()})],
        told=[s[f"embeddings.{leaf}"][s.token].std() for leaf in leaves.values()],
    )


@truth("embeddings", "How long the three rows and their sum are")
def lengths(s: Scene) -> Truth:
    shown = window(s.token, 24, len(s.names))
    columns = {f"length of {name}": [length(s[f"embeddings.{part}"][i]) for i in shown] for name, part in PARTS.items()}
    spans = [(shown[0], shown[-1])] if len(shown) < len(s.names) else []
    return Truth(tables=[columns], rows=[s.apart[i] for i in shown], spans=spans)


@truth("embeddings", "page")
def spread_of_sum(s: Scene) -> Truth:
    total = sum(s[f"embeddings.{part}"][s.token] for name, part in PARTS.items() if name != "sum")
    return Truth(worked=moments(total, s.config.layer_norm_eps))


@truth("embeddings", "neighbours")
def neighbours(s: Scene) -> Truth:
    matrix, own = s["embeddings.word_embeddings.weight"], s.trace.encoding.ids[s.token]
    sizes = np.sqrt((matrix**2).sum(axis=1))
    turned = matrix @ matrix[own] / (sizes * sizes[own])
    near = [i for i in best(turned, 11) if i != own][:10]
    held = np.array([[i, turned[i], matrix[i] @ matrix[own], sizes[i]] for i in near])
    return Truth([Bars({f"{s.word(i)}  {i}": turned[i] for i in near})], held, told=[own], worked=[turned[near[0]]])


def sinusoids(count: int, width: int) -> np.ndarray:
    return np.array(
        [
            [(math.cos if j % 2 else math.sin)(i / 10000 ** ((j - j % 2) / width)) for j in range(width)]
            for i in range(count)
        ]
    )


def learned(s: Scene) -> np.ndarray:
    return s["embeddings.position_embeddings.weight"][:512]


@truth("embeddings", "positions-learned")
def positions_learned(s: Scene) -> Truth:
    table = learned(s)
    return Truth([Map(table)], table, told=[len(table)], worked=[table[s.token][strongest(table[s.token])]])


@truth("embeddings", "positions-sinusoidal")
def positions_sinusoidal(s: Scene) -> Truth:
    table = sinusoids(*learned(s).shape)
    width, last = table.shape[1], min(96, table.shape[1]) - 1
    component = min(10, (width - 1) // 2 * 2)
    waves = [2 * math.pi * 10000 ** ((j - j % 2) / width) for j in (0, last)]
    return Truth([Map(table)], table, told=[waves[0], last, round(waves[1])], worked=[table[s.token, component]])


@truth("embeddings", "position-nearness")
def position_nearness(s: Scene) -> Truth:
    table = learned(s)
    found = [cosines(table)[s.token], cosines(sinusoids(*table.shape))[s.token]]
    return Truth(
        [points("learned", y=found[0]), points("sinusoidal", y=found[1])],
        np.stack(found),
        worked=[found[0][s.token + 1]],
    )


@truth("embeddings", "positions-*-cosines")
def position_cosines(s: Scene, kind: str) -> Truth:
    table = learned(s) if kind == "learned" else sinusoids(*learned(s).shape)
    found = cosines(table)
    far, step = min(64, len(found) - 1), -(-len(found) // 48)
    told = [np.mean([found[i, i + apart] for i in range(len(found) - apart)]) for apart in (1, far)]
    return Truth([Map(found)], found, told=[*told, far, *([step] if step > 1 else [])])
