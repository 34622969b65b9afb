"""The pages about the tokens' vectors: Add & Norm, feed-forward, layers."""

import math

import numpy as np

from tests.derived.truth import (
    Bars,
    Scene,
    Truth,
    cosine,
    length,
    moments,
    points,
    strongest,
    truth,
    window,
)


def norm(x: np.ndarray, epsilon: float) -> np.ndarray:
    return (x - np.mean(x)) / math.sqrt(np.mean((x - np.mean(x)) ** 2) + epsilon)


MODULES = {"attention.output": ("", "attention.output.dense"), "output": ("attention.output.LayerNorm", "output.dense")}


def where(s: Scene) -> str:
    """The sublayer that the Add & Norm page was asked for."""
    return "output" if s.asked.get("where") == "feed-forward" else "attention.output"


def add(s: Scene, layer: int, module: str) -> list[list[float]]:
    """Lengths of what was there, added and sum, and the angle, for every token."""
    here = f"encoder.layer.{layer}."
    before = s.states[layer] if module == "attention.output" else s[f"{here}attention.output.LayerNorm"]
    return [
        [length(x), length(y), length(x + y), math.degrees(math.acos(cosine(x, y)))]
        for x, y in zip(before, s[f"{here}{module}.dense"], strict=True)
    ]


SUMS = ("was", "added", "sum")


@truth("add_norm", "Add: was, added, sum")
def sums(s: Scene) -> Truth:
    found = np.array(add(s, s.layer, where(s)))
    around = window(s.listed.index(s.token), 12, len(s.listed))
    shown = [s.listed[i] for i in around]
    spans = [max(found[i, 0] + found[i, 1], found[i, 2]) for i in shown]
    *_, second, longest = sorted([0.0, *spans])
    apart = [shown[spans.index(longest)]] if longest > 2 * second > 0 else []
    columns = {name: list(found[shown, k]) for k, name in enumerate([*SUMS, "angle"])}
    end = second if apart else longest
    return Truth(
        told=apart,
        tables=[{**columns, f"0 to {end:.2f}": [""] * len(shown)}],
        rows=[s.apart[i] for i in shown],
        spans=[(shown[0], shown[-1])],
        may=[len(s.real)],
    )


@truth("add_norm", "triangle")
def triangle(s: Scene) -> Truth:
    x, y, total, angle = add(s, s.layer, where(s))[s.token]
    turn = math.radians(angle)
    tip = [x + y * math.cos(turn), y * math.sin(turn)]
    arc = np.linspace(0, turn, 24)
    radius = min(x, y) / 4
    drawn = [
        points("was", x=[0, x], y=[0, 0]),
        points("added", x=[x, tip[0]], y=[0, tip[1]]),
        points("sum", x=[0, tip[0]], y=[0, tip[1]]),
        points(y=[0, 0]),
        points(x=x + radius * np.cos(arc), y=radius * np.sin(arc)),
        points(x=[abs(x - y), x + y]),
        *(points(x=[at, at]) for at in (abs(x - y), math.hypot(x, y), x + y)),
        points("the sum", x=[total]),
        points("was", x=[x / 2], y=[0]),
        points("added", x=[(x + tip[0]) / 2], y=[tip[1] / 2]),
        points("sum", x=[tip[0] / 2], y=[tip[1] / 2]),
    ]
    return Truth(drawn)


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
    asked = s.asked.get("normed")
    return Truth(
        [points(name, y=row) for name, row in rows.items()],
        np.stack(list(rows.values())),
        told=[int(asked)] if asked else [top, added[top]],
    )


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
