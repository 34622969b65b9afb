"""The page about the feed-forward network: neurons, what they write, and what that adds up to."""

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional

from bertviz_core.analysis.answers import rank_spans
from tests.derived.truth import (
    Rows,
    Scene,
    Truth,
    assert_near,
    best,
    points,
    truth,
)

FUNCTIONS = {
    "GELU (erf)": functional.gelu,
    "GELU (tanh)": lambda x: functional.gelu(x, approximate="tanh"),
    "ReLU": torch.relu,
}
NAMED = {  # what a probability stands for, by what is answered
    "cls.predictions.probs": lambda s, i: f"“{s.word(i)}”",
    "classifier.probs": lambda s, i: s.trace.model.labels[i],
    "qa_outputs.start.probs": lambda s, i: (
        f"an answer from “{s.trace.tokens[i]}”" + f" at position {i}" * (s.trace.tokens.count(s.trace.tokens[i]) > 1)
    ),
}


def apply(function, x) -> np.ndarray:
    return function(torch.tensor(np.asarray(x, dtype=np.float64))).numpy()


def neurons(s: Scene) -> dict[str, np.ndarray]:
    """Of all neurons of the chosen token: numbers, the vectors that they write, and their shares of the sum."""
    before, after = (s.own(f"intermediate.{leaf}")[s.token] for leaf in ("dense", "activation"))
    x = s.own("attention.output.LayerNorm")[s.token] @ s.own("intermediate.dense.weight")
    assert_near(before, x + s.own("intermediate.dense.bias"), "pre-activations")
    assert_near(after, apply(functional.gelu, before), "activations")
    parts = after[:, None] * s.own("output.dense.weight")
    total = parts.sum(axis=0) + s.own("output.dense.bias")
    lengths = np.sqrt((parts**2).sum(axis=1))
    shares = np.array([part @ total for part in parts]) / (total @ total)
    return {
        "before": before,
        "after": after,
        "parts": parts,
        "total": total,
        "lengths": lengths,
        "shares": shares,
        "top": np.array(best(lengths, 12)),
    }


def draw_grid(x: np.ndarray) -> np.ndarray:
    return np.linspace(min(x.min(), -3) - 0.5, max(x.max(), 3) + 0.5, 160)


@truth("feed_forward", "neurons")
def curve(s: Scene) -> Truth:
    found = neurons(s)
    x, y = found["before"], found["after"]
    grid = draw_grid(x)
    drawn = [points(x=grid, y=apply(functional.gelu, grid)), points("this token", x=x, y=y)]
    return Truth(drawn, np.stack([x, y, found["lengths"], found["shares"]], axis=1))


@dataclass(frozen=True)
class Answer:
    """The likeliest answer at the chosen token: its probability, that without each neuron, and what it pushes."""

    name: str
    value: float
    without: list[float]
    pushes: list[str]


def find_answer(s: Scene, neurons: np.ndarray) -> Answer | None:
    """The answer with and without each neuron, set to 0 there; none where the checkpoint answers nothing."""
    trace, after = s.trace, f"encoder.layer.{s.layer}.intermediate.activation"
    path = next((path for path in NAMED if path in trace), None)
    if path is None:
        return None
    cell = f"{path}[token={s.token}]" if "token" in trace.dims(path) else path
    i = rank_spans(trace, 1)[0].start if path.startswith("qa_outputs") else int(trace[cell].argmax())
    zeros = [{f"{after}[token={s.token},intermediate={j}]": 0.0} for j in neurons]
    rows = [trace.with_changes(zero).recomputed(cell) for zero in zeros]
    moved = [trace.recomputed(cell) - row for row in rows] if path == "cls.predictions.probs" else []
    pushes = [f"\u2191\xa0{s.word(int(each.argmax()))} \u2193\xa0{s.word(int(each.argmin()))}" for each in moved]
    return Answer(f"{NAMED[path](s, i)} without it", float(trace[cell][i]), [float(row[i]) for row in rows], pushes)


@truth("feed_forward", "The 12 that write most")
def strongest_neurons(s: Scene) -> Truth:
    found = neurons(s)
    top = found["top"]
    columns = {"activation": found["after"][top], "length written": found["lengths"][top]}
    answer = find_answer(s, top)
    last, name = (
        (found["shares"][top], "share of sum")
        if answer is None
        else (100 * (np.array(answer.without) - answer.value), answer.name)
    )
    columns[name] = last
    texts = {"pushes most": answer.pushes} if answer and answer.pushes else {}
    return Truth(
        told=[12, *([answer.value] if answer else [])],
        tables=[{name: column.tolist() for name, column in columns.items()} | texts],
        rows=[str(i) for i in top],
    )


@truth("feed_forward", "neuron-parts")
def contributions(s: Scene) -> Truth:
    found, top = neurons(s), neurons(s)["top"].tolist()[:5]
    rest = [i for i in range(len(found["after"])) if i not in top]
    rows = {f"neuron {i}": found["parts"][i] for i in top} | {f"{len(rest):,} others": found["parts"][rest].sum(axis=0)}
    rows |= {"bias": s.own("output.dense.bias"), "= written": found["total"]}
    x, shares = found["before"], found["shares"]
    active, quiet = int(sum(x > 0)), shares[x <= 0]
    return Truth(
        [Rows(rows)], np.stack(list(rows.values())), told=[active, len(x) - active, quiet.sum(), abs(quiet).max()]
    )


@truth("feed_forward", "functions")
def functions(s: Scene) -> Truth:
    found = neurons(s)
    x, y = found["before"], found["after"]
    grid, others = draw_grid(x), ("GELU (tanh)", "ReLU")
    drawn = [points(name, x=grid, y=apply(FUNCTIONS[name], grid)) for name in others]
    drawn += [points("this model", x=grid, y=apply(functional.gelu, grid)), points("this token", x=x, y=y)]
    told = [abs(apply(FUNCTIONS[name], x) - apply(functional.gelu, x)).max() for name in others]
    return Truth(drawn, np.stack([x, y]), told=told)


@truth("feed_forward", "page")
def neurons_as_a_table(s: Scene) -> Truth:
    found = neurons(s)
    rows = np.sqrt((s.own("output.dense.weight") ** 2).sum(axis=1))
    columns = {
        "neuron": np.arange(len(rows)),
        "pre-activation": found["before"],
        "activation": found["after"],
        "length of row": rows,
        "length written": found["lengths"],
        "share of sum": found["shares"],
    }
    return Truth(frames=[{name: column.tolist() for name, column in columns.items()}])
