"""The whole pass as one plain PyTorch script, read off the program."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator

import numpy as np

from bertviz_core.checkpoint.weights import is_stored_turned
from bertviz_core.errors import ArgumentError
from bertviz_core.export import carried
from bertviz_core.formula.nodes import Symbol
from bertviz_core.formula.steps import Step
from bertviz_core.tracing.changes import list_changes
from bertviz_core.tracing.trace import Trace


def write_script(trace: Trace, weights: str | os.PathLike[str] = "model.safetensors") -> str:
    """Python source that needs torch and safetensors only: loads a checkpoint file, runs every step, line by line.

    weights: the path written into the script. The file's names may carry `bert.`; older gamma and beta names and a
    missing tied decoder are understood. After the last line every tensor stands in the variable of its step. Raises
    ArgumentError for what is no trace or no path.

        >>> next(line for line in bv.write_script(trace).splitlines() if line.startswith("A_3 =")).split("  #")[0]
        'A_3 = torch.softmax(S_3, dim=-1)'
    """
    check_trace(trace)
    return "\n".join(
        [
            "import math",
            "",
            "import torch",
            "from safetensors.torch import load_file",
            "",
            "",
            inspect.getsource(carried.read),
            "",
            f"w = read({name_file(weights)!r}, dtype={trace.model.dtype})",
            "",
            write_comment(" ".join(trace.tokens)),
            *(write_comment(f"changed: {change}") for change in list_changes(trace.changes)),
            *write_inputs(trace),
            "",
            *(write_parameter(trace, symbol) for symbol in trace.program.parameters),
            "",
            *(line for step in trace.program.steps for line in write_step(trace, step)),
            "",
        ]
    )


def check_trace(trace: Trace) -> None:
    """Raises ArgumentError for anything else."""
    if not isinstance(trace, Trace):
        raise ArgumentError.of("What is written must be a trace", trace, "Give what run returns.")


def name_file(weights: str | os.PathLike[str]) -> str:
    """The path of a file of weights as text. Raises ArgumentError for what is none."""
    if not isinstance(weights, str | os.PathLike):
        raise ArgumentError.of("The file of the weights must be a path", weights, "Give a str or a Path.")
    return os.fsdecode(weights)


def write_comment(text: str) -> str:
    """A comment of one line, whatever stands in the text: a line break in it would begin a line of code."""
    return f"# {text.encode('unicode_escape').decode()}"


def write_inputs(trace: Trace) -> list[str]:
    """The program's inputs, number by number."""
    return [
        f"{symbol.variable} = {_write_row(trace, symbol.address)}  # {_write_sizes(trace, symbol.address)}"
        for symbol in trace.program.inputs
    ]


def _write_row(trace: Trace, address: str) -> str:
    numbers = trace[address]
    kind = "" if np.issubdtype(numbers.dtype, np.integer) else f", dtype={trace.model.dtype}"
    return f"torch.tensor({[int(number) for number in numbers]}{kind})"


def write_parameter(trace: Trace, symbol: Symbol) -> str:
    """A parameter out of the file, as formulas use it."""
    turned = ".T" if is_stored_turned(symbol) else ""
    return f'{symbol.variable} = w["{symbol.address}"]{turned}  # {_write_sizes(trace, symbol.address)}'


def write_step(trace: Trace, step: Step) -> Iterator[str]:
    """The step's line with address and shape, and what was put in place of its numbers, if anything was."""
    yield f"{step.code}  # {step.address} {_write_sizes(trace, step.address)}"
    name = step.output.variable
    for i, override in enumerate(trace.overrides(step.address)):
        if not i:
            yield f"{name} = {name}.clone()"
        place = ", ".join(map(_write_index, override.index)) or "..."
        does = "*=" if override.times else "+=" if override.plus else "="
        yield f"{name}[{place}] {does} {_write_amount(override.numbers)}  # changed"


def _write_index(at: int | slice) -> str:
    return str(at) if isinstance(at, int) else ":" if at == slice(None) else f"{at.start}:{at.stop}"


def _write_amount(value: np.ndarray) -> str:
    return f"torch.tensor({value.tolist()}, dtype=torch.float64)" if value.ndim else repr(value.item())


def _write_sizes(trace: Trace, address: str) -> str:
    """The shape, axis by axis, as in `(head 12, query 7, key 7)`."""
    sizes = zip(trace.dims(address), trace.shape(address), strict=True)
    return f"({', '.join(f'{name} {size}' for name, size in sizes)})"
