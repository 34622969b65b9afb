"""What a trace shows of itself, in a line and in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.checkpoint.model import Model
from bertviz_core.formula.address import Where
from bertviz_core.formula.shown import show
from bertviz_core.formula.steps import Program
from bertviz_core.formula.texts import shorten, write_count
from bertviz_core.tracing.changes import Changes


class Seen:
    """The part of a trace that is for eyes: what draws it is above it, and is asked by name."""

    model: Model
    encoding: Encoding
    program: Program
    changes: Changes

    def __repr__(self) -> str:
        shown = f"{shorten(' '.join(self.encoding.tokens), 60)!r} by {self.model.name!r}"
        changed = f", {write_count(len(self.changes), 'change')}" if self.changes else ""
        total, addresses = (
            write_count(len(self.encoding), "token"),
            write_count(len(self.program.steps), "address", "addresses"),
        )
        return f"<Trace of {shown}: {total}, {addresses}{changed}>"

    def _repr_html_(self) -> str:
        """In a notebook: tokens, likeliest words, all addresses, without any request."""
        return show("trace", self)

    def show(self, what: Any, *, theme: str = "light") -> Any:
        """The app's chart of a vector or matrix, as a figure of Plotly's that shows itself with its formula.

        what: its address; or what `bv.attribute`, `bv.ablation` or `bv.lens` found in this trace: bars of tokens, a map
        of heads, bars of layers. theme: "light" or "dark", of what Plotly draws. `save(path)` writes it as .svg or .pdf
        for a paper. Raises InputError for what has other than one or two axes and for what was found in another trace,
        AddressError for an address that is not there.
        """
        return show("figure", self, what, theme=theme)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trace as one safetensors file, which `bv.load_trace` reads: numbers and text, nothing that runs.

        Raises InputError where it cannot be written.
        """
        show("save", self, path)

    def table(self, what: Where | Sequence[Where], reduce: Mapping[str, Any] | None = None) -> Any:
        """Numbers of this pass as a tidy table of pandas, as `bv.table` makes it of many."""
        return show("table", self, what, reduce)
