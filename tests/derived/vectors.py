"""The pages about the tokens' vectors: embeddings, Add & Norm, feed-forward, layers."""

import math

import numpy as np

from tests.derived.truth import (
    Bars,
    Map,
    Rows,
    Scene,
    Truth,
    best,
    cosine,
    cosines,
    length,
    moments,
    points,
    strongest,
    truth,
    window,
)

PARTS = {"word": "word_embeddings", "position": "position_embeddings", "segment": "token_type_embeddings",
         "sum": "sum"}  # fmt: skip


def strips(s: Scene, addresses: dict[str, str]) -> Rows:
    return Rows({name: s[address][s.token] for name, address in addresses.items()})


@truth("embeddings", "embeddings.sum[token=*]")
def three_make_one(s: Scene, token: str) -> Truth:
    return Truth([strips(s, {name: f"embeddings.{part}" for name, part in PARTS.items()})])


@truth("embeddings", "embeddings.LayerNorm[token=*]")
def fixed_size(s: Scene, token: str) -> Truth:
    leaves = {"sum": "sum", "normalized": "LayerNorm.normalized", "LayerNorm": "LayerNorm"}
    before, after = (s[f"embeddings.{leaf}"][s.token] for leaf in ("sum", "LayerNorm"))
    return Truth([strips(s, {name: f"embeddings.{leaf}" for name, leaf in leaves.items()})],
                 told=[math.sqrt(np.mean((x - x.mean()) ** 2)) for x in (before, after)])  # fmt: skip


@truth("embeddings", "embeddings.sum")
def lengths(s: Scene) -> Truth:
    shown = window(s.token, 24, len(s.names))
    columns = {f"length of {name}": [length(s[f"embeddings.{part}"][i]) for i in shown] for name, part in PARTS.items()}
    total = (
        s["embeddings.word_embeddings"] + s["embeddings.position_embeddings"] + s["embeddings.token_type_embeddings"]
    )
    return Truth([Map(total)], total, tables=[columns], rows=[s.names[i] for i in shown])


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
    return np.array([[(math.cos if j % 2 else math.sin)(i / 10000 ** ((j - j % 2) / width)) for j in range(width)]
                     for i in range(count)])  # fmt: skip


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
    return Truth([points("learned", y=found[0]), points("sinusoidal", y=found[1])], np.stack(found),
                 worked=[found[0][s.token + 1]])  # fmt: skip


@truth("embeddings", "positions-*-cosines")
def position_cosines(s: Scene, kind: str) -> Truth:
    table = learned(s) if kind == "learned" else sinusoids(*learned(s).shape)
    found = cosines(table)
    far, step = min(64, len(found) - 1), -(-len(found) // 48)
    told = [np.mean([found[i, i + apart] for i in range(len(found) - apart)]) for apart in (1, far)]
    return Truth([Map(found)], found, told=[*told, far, *([step] if step > 1 else [])])


def norm(x: np.ndarray, epsilon: float) -> np.ndarray:
    return (x - np.mean(x)) / math.sqrt(np.mean((x - np.mean(x)) ** 2) + epsilon)


MODULES = {"attention.output": ("", "attention.output.dense"), "output": ("attention.output.LayerNorm", "output.dense")}


def where(s: Scene) -> str:
    """The sublayer that the Add & Norm page was asked for."""
    return "output" if s.asked.get("where") == "feed-forward" else "attention.output"


def add(s: Scene, layer: int, module: str) -> list[list[float]]:
    """Lengths of skip, added and sum, and the angle, for every token."""
    here = f"encoder.layer.{layer}."
    before = s.states[layer] if module == "attention.output" else s[f"{here}attention.output.LayerNorm"]
    return [[length(x), length(y), length(x + y), math.degrees(math.acos(cosine(x, y)))]
            for x, y in zip(before, s[f"{here}{module}.dense"], strict=True)]  # fmt: skip


SUMS = ("skip", "added", "sum")


@truth("add_norm", "sums")
def sums(s: Scene) -> Truth:
    found = np.array(add(s, s.layer, where(s)))
    shown = window(s.token, 16, len(s.names))
    x, y, total, angle = found[s.token]
    turn = math.radians(angle)
    tip = [x + y * math.cos(turn), y * math.sin(turn)]
    arc = np.linspace(0, turn, 24)
    radius = min(x, y) / 4
    drawn = [points("skip", x=[0, x], y=[0, 0]), points("added", x=[x, tip[0]], y=[0, tip[1]]),
             points("sum", x=[0, tip[0]], y=[0, tip[1]]), points(y=[0, 0]),
             points(x=x + radius * np.cos(arc), y=radius * np.sin(arc))]  # fmt: skip
    spans = [max(found[i, 0] + found[i, 1], found[i, 2]) for i in shown]
    *_, second, longest = sorted([0.0, *spans])
    apart = [shown[spans.index(longest)]] if longest > 2 * second > 0 else []
    columns = {name: list(found[shown.start : shown.stop, k]) for k, name in enumerate([*SUMS, "angle"])}
    end = second if apart else longest
    return Truth(drawn, found, told=[abs(x - y), math.hypot(x, y), x + y, total, *apart],
                 tables=[{**columns, f"0 to {end:.1f}": [""] * len(shown)}], rows=[s.trace.tokens[i] for i in shown],
                 spans=[(shown.start, shown.stop - 1)])  # fmt: skip


@truth("add_norm", "Lengths and angles of *")
def all_sums(s: Scene, word: str) -> Truth:
    names = {"attention": "attention.output", "feed-forward": "output"}
    rows = {f"layer {i}, {name}": add(s, i, module)[s.token] for i in s.layers for name, module in names.items()}
    found = np.array(list(rows.values()))
    columns = {name: list(found[:, k]) for k, name in enumerate([*SUMS, "angle in degrees"])}
    return Truth(tables=[columns], rows=list(rows))


@truth("add_norm", "strips")
def strips_of_norm(s: Scene) -> Truth:
    at = where(s)
    x, gamma, beta = s.own(f"{at}.residual")[s.token], s.own(f"{at}.LayerNorm.weight"), s.own(f"{at}.LayerNorm.bias")
    flat = norm(x, s.config.layer_norm_eps)
    rows = {"sum": x, "normalized": flat, "γ": gamma, "β": beta, "result": gamma * flat + beta}
    added = s.own(f"{at}.dense")[s.token]
    top = strongest(added)
    asked = s.asked.get("component")
    return Truth([points(name, y=row) for name, row in rows.items()], np.stack(list(rows.values())),
                 told=[int(asked)] if asked else [top, added[top]])  # fmt: skip


@truth("add_norm", "page")
def epsilon_and_spread(s: Scene) -> Truth:
    x, own = s.own(f"{where(s)}.residual")[s.token], s.config.layer_norm_eps
    columns = {"epsilon": [], "largest change here": [], "(0.00001, −0.00001) becomes": []}
    for value in (1e-12, 1e-5, 1e-3):
        flat = norm(np.array([1e-5, -1e-5]), value)
        columns["epsilon"].append(f"{value:g}")
        columns["largest change here"].append(float(np.abs(norm(x, value) - norm(x, own)).max()))
        columns["(0.00001, −0.00001) becomes"].append(tuple(flat.tolist()))
    return Truth(worked=moments(x, own), frames=[columns])


@truth("add_norm", "direct-path")
def direct_path(s: Scene) -> Truth:
    factor, found = 1.0, {}
    for i in s.layers:
        for name, at in (("attention", "attention.output"), ("feed-forward", "output")):
            x = s[f"encoder.layer.{i}.{at}.residual"][s.token]
            factor /= math.sqrt(np.mean((x - x.mean()) ** 2) + s.config.layer_norm_eps)
            found[f"layer {i} {name}"] = factor
    return Truth([Bars(found)], np.array([list(found.values())]))
