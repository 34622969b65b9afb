"""All addresses of BERT in one table: `python -m bertviz_core.analysis.addresses > docs/addresses.md`."""

from __future__ import annotations

import sys

from bertviz_core.analysis.notation import Entry, list_entries
from bertviz_core.documents.names import find_key
from bertviz_core.formula.dims import list_names
from bertviz_core.formula.stages import Stage
from bertviz_core.programs.bert import MOST_HEADS, write_bert
from bertviz_core.programs.config import BertConfig
from bertviz_core.programs.names import ATTENTION_WEIGHTS

_INTRODUCTION = (
    "# Addresses\n\n"
    "Every tensor has one name, its address: the path of the Hugging Face module without `bert.`, and a further part "
    "where no module computes it. `path[axis=index,...]` is a slice or a cell of it; indices begin at 0:\n\n"
    f"    {ATTENTION_WEIGHTS.in_layer(3).fix(head=5, query=2, key=7)}\n\n"
    "Below are all addresses of a BERT with every head, under the stage that computes or first reads them. Each stage "
    "is a page of the app; the page of the input is *Tokenization*. `{i}` is the layer, matrices are (in, out). A "
    "checkpoint without a head lacks its addresses; where tokens are classified, `classifier` has the axis `token` too."
)


def write_addresses() -> str:
    """Every input, parameter and step of BERT, with its symbol, axes and meaning, stage by stage, as Markdown."""
    program = write_bert(BertConfig(num_hidden_layers=1), MOST_HEADS)
    entries = list_entries(program, 0)
    tables = (_write_table(stage, [entry for entry in entries if entry.stage is stage]) for stage in Stage)
    return "\n\n".join([_INTRODUCTION, *tables]) + "\n"


def _write_table(stage: Stage, entries: list[Entry]) -> str:
    lines = ["| address | symbol | axes | meaning |", "|---|---|---|---|", *map(_write_line, entries)]
    return f"## {stage.title}\n\n" + "\n".join(lines)


def _write_line(entry: Entry) -> str:
    key, symbol = find_key(entry.symbol.address), entry.symbol.tex
    if key != entry.symbol.address:  # the layer that was written stands for all
        symbol = symbol.replace("(0)", "(i)").replace("(1)", "(i+1)")
    return f"| `{key}` | ${symbol}$ | {' × '.join(list_names(entry.symbol.axes))} | {entry.meaning} |"


if __name__ == "__main__":
    sys.stdout.write(write_addresses())
