"""The page about the layers: words, lengths, angles and cosines from stage to stage."""

import math
from itertools import pairwise

import numpy as np

from tests.derived.truth import (
    Bars,
    Map,
    Scene,
    Truth,
    best,
    cosine,
    cosines,
    length,
    points,
    softmax,
    strongest,
    truth,
    window,
)


@truth("layers", "The answer, read after every layer")
def ladder(s: Scene) -> Truth:
    """The five likeliest words of every stage; below them the followed one, where it is not among them."""
    probs = read_lens(s, s.token)
    word = int(s.asked.get("followed", best(probs[-1], 1)[0]))
    ranks = [1 + int((row > row[word]).sum()) for row in probs]
    columns = {}
    for name, row, rank in zip(name_columns(s), probs, ranks, strict=True):
        columns[name] = [(s.word(i), row[i]) for i in best(row, 5)]
        if max(ranks) > 5:
            columns[name].append(f"{s.word(word)} {ordinal(rank)}" if rank > 5 else "")
    return Truth(tables=[columns])


def ordinal(n: int) -> str:
    return f"{n:,}" + ("th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th"))


def name_columns(s: Scene) -> list[str]:
    return ["Embedding", *(f"Layer {i}" for i in s.layers)]


@truth("layers", "How far it turns")
def way(s: Scene) -> Truth:
    states = s.states[:, s.token]
    angles = [math.degrees(math.acos(cosine(a, b))) for a, b in pairwise(states)]
    lengths = [length(x) for x in states]
    columns = {"turn": angles, "length": list(pairwise(lengths))}
    return Truth(tables=[columns])


@truth("layers", "resemblance")
def resemblance_on_the_way(s: Scene) -> Truth:
    found = np.array([cosines(rows)[s.token] for rows in s.states]).T
    others = [i for i in s.real if i != s.token]
    near = max(others, key=lambda i: found[i, s.layer + 1])
    thin = [found[i] for i in others if i != near]
    joined = np.concatenate([np.append(row, np.nan) for row in thin])
    value = found[near, s.layer + 1]
    repeats = s.trace.tokens.count(s.trace.tokens[near]) > 1  # where it does, its position tells it from the others
    told = [value, near] if repeats else [value]
    return Truth([points(y=joined), points(y=found[near])], found[others], told=told, worked=[value])


@truth("layers", "norms")
def norms(s: Scene) -> Truth:
    found = np.array([[length(x) for x in rows] for rows in s.states])
    return Truth(
        [Map(found.T)],
        found.T,
        told=[found[0, s.real].mean(), found[-1, s.real].mean()],
        worked=[found[s.layer + 1, s.token]],
    )


@truth("layers", "turns")
def turns(s: Scene) -> Truth:
    found = np.array(
        [
            [cosine(a, b) for a, b in zip(after, before, strict=True)]
            for before, after in zip(s.states[:-1], s.states[1:], strict=True)
        ]
    )
    means = found[:, s.real].mean(axis=1)
    return Truth([Map(found.T)], found.T, told=[int(means.argmin()), means.min()], worked=[found[s.layer, s.token]])


@truth("layers", "cosines")
def resemblance(s: Scene) -> Truth:
    found = cosines(s.states[s.layer + 1])
    drawn = np.where(np.eye(len(found), dtype=bool), np.nan, found)
    return Truth([Map(drawn)], found)


def components(s: Scene) -> tuple[np.ndarray, np.ndarray]:
    """Points (stage, token, component) and shares of variance, from the eigenvectors of the covariance."""
    rows = s.states[:, s.real].reshape(-1, s.states.shape[-1])
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
    return Truth(
        [points(**sides) for sides in drawn],
        held,
        told=[seen, 1 - seen],
        spans=[(shown.start, shown.stop - 1)],
        worked=[found[at, s.token, int(count) - 1]],
    )


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
    columns |= {
        f"top {k + 1}": [(s.saved(i), row[i]) for row in probs for i in best(row, 3)[k : k + 1]] for k in range(3)
    }
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
    plain = [k for k, i in enumerate(shown) if s.trace.tokens[i][0] != "["]
    own = sum(int(words[k, 0]) == s.trace.encoding.ids[shown[k]] for k in plain)  # that start as themselves
    told = [] if own == len(plain) or len(plain) < 2 else [len(plain), *([own] if own > 1 else [])]
    return Truth([Map(full)], found, told=told, tables=[columns], rows=[s.apart[i] for i in shown])


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
    return Truth([Map(last)], last, told=[last[s.real].max()], worked=[last[s.token, s.token]])


@truth("layers", "rollout-token")
def rollout_token(s: Scene) -> Truth:
    found = np.array([layer[s.token] for layer in roll_out(s)])
    shown = sorted(s.listed[i] for i in best(found[-1, s.listed], 16))
    some = [16] if len(s.real) > 16 else []
    return Truth(
        [Bars({s.names[i]: found[-1][i] for i in shown})],
        found.T,
        told=[found[0, s.token], found[-1, s.token], len(found) - 1, *some],
        worked=[found[-1, s.token]],
    )
