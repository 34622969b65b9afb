"""The pages about the tokens' vectors: Add & Norm, feed-forward, layers."""

import math

import numpy as np
import torch
from torch.nn import functional

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
    softmax,
    strongest,
    truth,
    window,
)

FUNCTIONS = {
    "GELU (erf)": functional.gelu,
    "GELU (tanh)": lambda x: functional.gelu(x, approximate="tanh"),
    "ReLU": torch.relu,
}


def norm(x: np.ndarray, epsilon: float) -> np.ndarray:
    return (x - np.mean(x)) / math.sqrt(np.mean((x - np.mean(x)) ** 2) + epsilon)


MODULES = {"attention.output": ("", "attention.output.dense"), "output": ("attention.output.LayerNorm", "output.dense")}


@truth("add_norm", "encoder.layer.*.residual")
def residual(s: Scene, place: str) -> Truth:
    before, new = MODULES[place.partition(".")[2]]
    x = s.own(before) if before else s.states[s.layer]
    rows = [x[s.token], s.own(new)[s.token]]
    variables = ("X" if not before else "Y", "O" if not before else "D", "U" if not before else "Z")
    names = s.shown.find("add_norm", f"encoder.layer.{place}.residual").labels
    assert [name[0] for name in names] == list(variables), names
    return Truth([Rows(dict(zip(names, [*rows, rows[0] + rows[1]], strict=True)))])


@truth("add_norm", "encoder.layer.*.LayerNorm.normalized")
def inside(s: Scene, place: str) -> Truth:
    at = place.partition(".")[2]
    x, gamma, beta = s.own(f"{at}.residual")[s.token], s.own(f"{at}.LayerNorm.weight"), s.own(f"{at}.LayerNorm.bias")
    flat = norm(x, s.config.layer_norm_eps)
    return Truth([Rows({"normalized": flat, "γ": gamma, "β": beta, "output": gamma * flat + beta})])


@truth("add_norm", "page")
def epsilon_and_spread(s: Scene) -> Truth:
    x, own = s.own("attention.output.residual")[s.token], s.config.layer_norm_eps
    columns = {"epsilon": [], "largest change here": [], "(0.00001, −0.00001) becomes": []}
    for value in (1e-12, 1e-5, 1e-3):
        flat = norm(np.array([1e-5, -1e-5]), value)
        columns["epsilon"].append(f"{value:g}")
        columns["largest change here"].append(float(np.abs(norm(x, value) - norm(x, own)).max()))
        columns["(0.00001, −0.00001) becomes"].append(tuple(flat.tolist()))
    worked = []
    for at in MODULES:
        worked += moments(s.own(f"{at}.residual")[s.token], own)
    return Truth(worked=worked, frames=[columns])


@truth("add_norm", "direct-path")
def direct_path(s: Scene) -> Truth:
    factor, found = 1.0, {}
    for i in s.layers:
        for name, at in (("attention", "attention.output"), ("feed-forward", "output")):
            x = s[f"encoder.layer.{i}.{at}.residual"][s.token]
            factor /= math.sqrt(np.mean((x - x.mean()) ** 2) + s.config.layer_norm_eps)
            found[f"layer {i} {name}"] = factor
    return Truth([Bars(found)], np.array([list(found.values())]))


def apply(function, x) -> np.ndarray:
    return function(torch.tensor(np.asarray(x, dtype=np.float64))).numpy()


@truth("feed_forward", "encoder.layer.*.intermediate.activation[token=*]")
def curve(s: Scene, layer: str, token: str) -> Truth:
    x = s.own("attention.output.LayerNorm")[s.token] @ s.own("intermediate.dense.weight")
    x = x + s.own("intermediate.dense.bias")
    y = apply(functional.gelu, x)
    grid = np.linspace(min(x.min(), -3) - 0.5, max(x.max(), 3) + 0.5, 160)
    lines = [points(name, x=grid, y=apply(FUNCTIONS[name], grid)) for name in ("GELU (tanh)", "ReLU")]
    drawn = [*lines, points("this model", x=grid, y=apply(functional.gelu, grid)), points("this token", x=x, y=y)]
    top = best(y, 5)
    return Truth(drawn, y, told=[sum(y > 0) / len(y), len(y), *top, *(float(y[i]) for i in top)], worked=[y[top[0]]])


@truth("feed_forward", "encoder.layer.*.output.dense[token=*]")
def contributions(s: Scene, layer: str, token: str) -> Truth:
    strength, directions = s.own("intermediate.activation")[s.token], s.own("output.dense.weight")
    parts = strength[:, None] * directions
    sizes = np.sqrt((parts**2).sum(axis=1))
    top = best(sizes, 12)
    total = parts.sum(axis=0) + s.own("output.dense.bias")
    return Truth([Rows({f"neuron {i}": parts[i] for i in top})], total,
                 told=[12, sizes[top[0]], sizes[top[-1]], length(total)], worked=[total[strongest(total)]])  # fmt: skip


@truth("layers", "norms")
def norms(s: Scene) -> Truth:
    found = np.array([[length(x) for x in rows] for rows in s.states])
    return Truth([Map(found.T)], found.T, told=[found[0].mean(), found[-1].mean()],
                 worked=[found[s.layer + 1, s.token]])  # fmt: skip


@truth("layers", "turns")
def turns(s: Scene) -> Truth:
    found = np.array([[cosine(a, b) for a, b in zip(after, before, strict=True)]
                      for before, after in zip(s.states[:-1], s.states[1:], strict=True)])  # fmt: skip
    means = found.mean(axis=1)
    return Truth([Map(found.T)], found.T, told=[int(means.argmin()), means.min()], worked=[found[s.layer, s.token]])


@truth("layers", "cosines-*")
def resemblance(s: Scene, address: str) -> Truth:
    found = cosines(s[address])
    other = 0 if s.token else len(found) - 1
    pairs = [found[i, j] for i in range(len(found)) for j in range(len(found)) if i != j]
    return Truth([Map(found)], found, told=[np.mean(pairs)], worked=[found[s.token, other]])


def components(s: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Points (stage, token, component) and shares of variance, from the eigenvectors of the covariance."""
    rows = s.states.reshape(-1, s.states.shape[-1])
    values, vectors = np.linalg.eigh(np.cov(rows, rowvar=False))
    main = vectors[:, ::-1][:, :3].T
    main = np.array([v if v[strongest(v)] > 0 else -v for v in main])
    return (s.states - rows.mean(axis=0)) @ main.T, values[::-1][:3] / values.sum()


@truth("layers", "paths-*")
def paths(s: Scene, count: str) -> Truth:
    found, parts = components(s)
    shown = window(s.token, 24, len(s.names))
    others = [i for i in shown if i != s.token]
    flat, at = found[..., : int(count)], s.layer + 1
    joined = np.concatenate([np.vstack([flat[:, i], np.full((1, int(count)), np.nan)]) for i in others])
    drawn = [dict(zip("xyz", part.T, strict=False)) for part in (joined, flat[at, others], flat[:, s.token])]
    seen = float(sum(parts[: int(count)]))
    held = found.transpose(1, 0, 2).reshape(-1, 3)
    return Truth([points(**sides) for sides in drawn], held, told=[seen, 1 - seen],
                 spans=[(shown.start, shown.stop - 1)],
                 worked=[found[at, s.token, int(count) - 1]])  # fmt: skip


def read_lens(s: Scene, token: int) -> np.ndarray:
    """Hugging Face's head on Hugging Face's own hidden states of one token, (stage, vocab)."""
    return softmax(s.read_words(np.stack([states[0, token].numpy() for states in s.hf_run.hidden_states])))


@truth("layers", "lens")
def lens(s: Scene) -> Truth:
    probs = read_lens(s, s.token)
    top = best(probs[-1], 3)
    return Truth([points(f"{s.word(i)} {i}", y=probs[:, i]) for i in top], probs, worked=[probs[s.layer + 1, top[0]]])


@truth("layers", "page")
def lens_words(s: Scene) -> Truth:
    probs = read_lens(s, s.token)
    final = best(probs[-1], 1)[0]
    columns = {"after": s.stages}
    columns |= {f"top {k + 1}": [(s.word(i), row[i]) for row in probs for i in best(row, 3)[k : k + 1]]
                for k in range(3)}  # fmt: skip
    ranks = [1 + int((row > row[final]).sum()) for row in probs]
    return Truth(frames=[{**columns, f"“{s.word(final)}”": list(probs[:, final]), "its rank": ranks}])


@truth("layers", "lens-everywhere")
def lens_everywhere(s: Scene) -> Truth:
    shown = window(s.token, 12, len(s.names))
    probs = np.array([read_lens(s, i) for i in shown])
    found = probs.max(axis=-1)
    words = probs.argmax(axis=-1)
    full = np.zeros((len(s.names), found.shape[1]))
    full[shown.start : shown.stop] = found
    columns = {stage: [s.word(i) for i in words[:, k]] for k, stage in enumerate(s.stages)}
    return Truth([Map(full)], found, tables=[columns], rows=[s.names[i] for i in shown])


def roll_out(s: Scene) -> list[np.ndarray]:
    """After every layer: half of each row is the token's own, half the mean of the heads' attention."""
    found = [np.eye(len(s.names))]
    for i in s.layers:
        mixed = 0.5 * s[f"encoder.layer.{i}.attention.self.probs"].mean(axis=0) + 0.5 * np.eye(len(s.names))
        found.append(mixed @ found[-1])
    return found[1:]


@truth("layers", "rollout")
def rollout(s: Scene) -> Truth:
    last = roll_out(s)[-1]
    return Truth([Map(last)], last, told=[last.max()], worked=[last[s.token, s.token]])


@truth("layers", "rollout-token")
def rollout_token(s: Scene) -> Truth:
    found = np.array([layer[s.token] for layer in roll_out(s)])
    shown = sorted(best(found[-1], 16))
    some = [16] if len(s.names) > 16 else []
    return Truth([Bars({s.names[i]: found[-1][i] for i in shown})], found.T,
                 told=[found[0, s.token], found[-1, s.token], len(found) - 1, *some],
                 worked=[found[-1, s.token]])  # fmt: skip
