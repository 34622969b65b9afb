"""All slips of the documents in one table: `python -m bertviz_core.analysis.slip_table > docs/slips.md`."""

from __future__ import annotations

import sys

from bertviz_core.analysis.slip_numbers import Measured, Spot, measure_slip
from bertviz_core.checkpoint.model import load_model
from bertviz_core.documents import DOCUMENTS, Document
from bertviz_core.documents.slips import Slip
from bertviz_core.formula.numbers import format_number
from bertviz_core.tracing.trace import run

TEXT, LAYER, TOKEN = "When in Rome, do as the [MASK] do.", 3, 8
_INTRODUCTION = (
    "# Slips of the documents\n\n"
    "Where a document contradicts itself, its own code, arithmetic, or the BERT that it describes. In what a document "
    "merely differs from BERT as released stands under [its title](documents.md). The page *Documents* lists all of "
    f"them, with the numbers of your own sentence; here they are the bundled model's on “{TEXT}”, layer {LAYER}, token "
    f"{TOKEN}. A dash: words show it, not a number."
)


def make_spot() -> Spot:
    """Where the table's numbers are measured."""
    model = load_model("bundled")
    trace = run(model, TEXT)
    return Spot(
        trace, LAYER, TOKEN, lambda program, more: run(model, TEXT, pad_to=len(trace.tokens) + more, program=program)
    )


def write_slips() -> str:
    """Every slip: where it stands, what is printed, what is right, what shows it, its number, where the app has it."""
    spot = make_spot()
    return "\n\n".join([_INTRODUCTION, *(_write_table(document, spot) for document in DOCUMENTS)]) + "\n"


def _write_table(document: Document, spot: Spot) -> str:
    title = f"## {document.name[0].upper()}{document.name[1:]} ({document.number})"
    head = "| document | where | slip | what shows it | number | the app shows it |\n|---|---|---|---|---|---|"
    return "\n".join([f"{title}\n", head, *(_write_line(document, slip, spot) for slip in document.slips)])


def _write_line(document: Document, slip: Slip, spot: Spot) -> str:
    pages = [f"Documents, “Slips in the {document.name}”"]
    if slip.place:
        page, fold = slip.place
        pages.append(f"`{page}?open={fold}`" if fold else f"`{page}`")
    cells = (
        document.number,
        slip.where,
        f"{slip.says} → {slip.right}",
        f"{slip.proof.value}: {slip.shows}",
        write_measured(measure_slip(slip.name, spot)) or "–",
        "; ".join(pages),
    )
    return f"| {' | '.join(cells)} |"


def write_measured(found: tuple[Measured, ...]) -> str:
    """The numbers of a slip in one line."""
    return "; ".join(f"{one.what}: {format_number(one.value)}" for one in found)


if __name__ == "__main__":
    sys.stdout.write(write_slips())
