"""The whole pass as a Jupyter notebook, read off the program: formulas and code, and a comparison at the end."""

from __future__ import annotations

import base64
import inspect
import json
import os
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import torch

from bertviz_core.checkpoint.hub import find_folder
from bertviz_core.export import carried
from bertviz_core.export.script import check_trace, name_file, write_inputs, write_parameter, write_step
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.stages import Stage
from bertviz_core.formula.steps import PARAMETER, Step
from bertviz_core.tracing.changes import list_changes
from bertviz_core.tracing.meanings import tell_meaning
from bertviz_core.tracing.trace import Trace

TOLERANCE = 2e-5  # of the numbers' usual size; the rounding of float32 amounts to a fifth of it

_Cells = Iterator[dict[str, Any]]


def write_ipynb(trace: Trace, weights: str | os.PathLike[str] | None = None) -> str:
    """The text of an .ipynb file that computes every tensor of the trace and compares it with what was recorded.

    weights: the path of the checkpoint's file. Without it the notebook reads the folder that the model came from, or
    `model.safetensors` beside itself; a model of the Hugging Face hub it downloads. It runs as it is, with torch and
    safetensors (and huggingface_hub for a model of the hub). Raises ArgumentError for what is no trace or no path.

        >>> from pathlib import Path
        >>> Path("pass.ipynb").write_text(bv.write_ipynb(trace)) > 10_000
        True
    """
    check_trace(trace)
    cells = [
        *_write_opening(trace),
        *_write_checkpoint(trace, None if weights is None else name_file(weights)),
        *_write_input(trace),
        *_write_pass(trace),
        *_write_comparison(trace),
    ]
    for i, cell in enumerate(cells):
        cell["id"] = f"cell-{i}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}, indent=1) + "\n"


def _make_markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def _make_code(*lines: str, folded: bool = False) -> dict[str, Any]:
    metadata = {"jupyter": {"source_hidden": True}} if folded else {}
    source = "\n".join(lines).splitlines(keepends=True)
    return {"cell_type": "code", "metadata": metadata, "execution_count": None, "outputs": [], "source": source}


def _write_opening(trace: Trace) -> _Cells:
    what = "as released" if trace.program.name == "bert" else f"as the {trace.program.name.replace('-', ' ')} writes it"
    changes = ", ".join(f"`{change}`" for change in list_changes(trace.changes))
    changed = f" The forward pass was changed: {changes}." if changes else ""
    yield _make_markdown(
        f"# BERT's forward pass, {what}{', with changes' if changes else ''}\n\n"
        f"{len(trace.tokens)} tokens go in, {len(trace.addresses)} tensors come out, in the order in which they are "
        "computed. Each has its formula and meaning; below it is the line of PyTorch that computes it, followed by the "
        "tensor's address and shape. Tokens are rows. Every number is computed here, from the checkpoint's "
        f"weights; the last cell compares all tensors with the recorded ones.{changed}\n\n"
        "Run all cells, from the top."
    )
    yield _make_code(
        "import base64",
        "import math",
        "from pathlib import Path",
        "",
        "import torch",
        "from safetensors.torch import load_file",
        "",
        "torch.set_printoptions(threshold=50, edgeitems=2, linewidth=120)",
    )


def _write_checkpoint(trace: Trace, weights: str | None) -> _Cells:
    yield _make_markdown(
        "## The checkpoint\n\n"
        "The file with the learned parameters, by name. Matrices are stored as (out, in) and are transposed to "
        "(in, out) where they are used, as in the formulas."
    )
    yield _make_code(
        *_find_files(trace, weights),
        "",
        "",
        inspect.getsource(carried.read),
        "",
        f"w = read(*map(str, files), dtype={trace.model.dtype})",
    )


def _find_files(trace: Trace, weights: str | None) -> list[str]:
    """The lines that find the checkpoint's files."""
    if weights is not None:
        return [f"files = [{weights!r}]"]
    name, revision = trace.model.name, trace.model.revision
    folder = find_folder(name)
    if folder is None:
        place = [
            "from huggingface_hub import snapshot_download",
            "",
            f"folder = Path(snapshot_download({name!r}, revision={revision!r}, allow_patterns='*.safetensors'))",
        ]
    else:
        place = [
            f"folder = Path({str(folder)!r})  # where the model {name!r} lay",
            "if not folder.is_dir():",
            "    folder = Path()  # on another machine: put the checkpoint's file beside this notebook",
        ]
    return [
        *place,
        'whole = folder / "model.safetensors"',
        'files = [whole] if whole.is_file() else sorted(folder.glob("*.safetensors"))',
        f"assert files, {f'Put model.safetensors, the weights of the model {name}, beside this notebook.'!r}",
    ]


def _write_input(trace: Trace) -> _Cells:
    yield _make_markdown(
        "## The input\n\nFor each token its id, its position, its segment, and 1 unless it is padding."
    )
    yield _make_code(f"tokens = {trace.tokens!a}", "", *write_inputs(trace))


def _write_pass(trace: Trace) -> _Cells:
    """Stage by stage: the formulas, and the code; a parameter is taken out of the file where it is first used."""
    chapter, known = "", set()
    for (part, stage), group in groupby(trace.program.steps, key=_find_place):
        steps = list(group)
        heading = f"## {part}\n\n### {stage.title}" if part != chapter else f"### {stage.title}"
        chapter = part
        yield _make_markdown(
            "\n\n".join([heading if part else f"## {stage.title}", *(_write_formula(trace, step) for step in steps)])
        )
        new = [leaf for leaf in _list_parameters(steps) if leaf.address not in known]
        known.update(leaf.address for leaf in new)
        yield _make_code(
            *(write_parameter(trace, leaf) for leaf in new),
            *([""] if new else []),
            *(line for step in steps for line in write_step(trace, step)),
            steps[-1].output.variable,
        )


def _find_place(step: Step) -> tuple[str, Stage]:
    """The chapter and the stage that a step stands in; outside the layers there are no chapters."""
    alone = "One layer, cell by cell" if step.repeats else ""
    return alone if step.layer is None else f"Layer {step.layer}", step.stage


def _list_parameters(steps: list[Step]) -> list[Symbol]:
    return list(dict.fromkeys(leaf for step in steps for leaf in step.leaves if leaf.kind == PARAMETER))


def _write_formula(trace: Trace, step: Step) -> str:
    choice = f"\n\n> {step.choice}" if step.choice else ""
    return f"$${step.latex}$$\n\n{tell_meaning(trace, step)} *{step.source}.*{choice}"


def _write_comparison(trace: Trace) -> _Cells:
    yield _make_markdown(
        "## Are these the recorded numbers?\n\n"
        "All numbers would fill a large file, so each tensor is recorded by a summary: it is split into up to 64 runs, "
        "and each run's mean is kept, with every number weighted by its place. A tensor of 64 numbers or fewer is "
        "compared number by number. In a larger one a wrong step changes the means, and so do numbers that change "
        "places; only a small error in a single number could go unnoticed. A tensor passes if every mean is within "
        f"{TOLERANCE:g} of the numbers' usual size, which allows for little more than rounding."
    )
    yield _make_code(inspect.getsource(carried.take_marks), "", inspect.getsource(carried.measure_distance).rstrip())
    yield _make_code("recorded = {", *(f"    {line}," for line in _write_records(trace)), "}", folded=True)
    yield _make_code(
        "off = {address: measure_distance(*record) for address, record in recorded.items()}",
        "farthest = max(off, key=off.get)",
        f"wrong = [address for address in off if not off[address] <= {TOLERANCE:g}]",
        'assert not wrong, f"{len(wrong)} of {len(off)} tensors differ from the recorded ones, first {wrong[0]}"',
        "count = sum(tensor.numel() for tensor, _, _ in recorded.values())",
        'print(f"All {len(off)} tensors, {count:,} numbers, are as recorded.")',
        'print(f"The largest difference is {off[farthest]:.1e}, in {farthest}.")',
    )


def _write_records(trace: Trace) -> Iterator[str]:
    """For each address: the variable, the shape, and the marks of what the trace holds."""
    for step in trace.program.steps:
        means, _ = carried.take_marks(torch.tensor(trace[step.address]))
        text = base64.b64encode(means.numpy().astype("<f4").tobytes()).decode()
        yield f'"{step.address}": ({step.output.variable}, {trace.shape(step.address)}, "{text}")'
