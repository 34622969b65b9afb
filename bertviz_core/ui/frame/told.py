"""Numbers that are in no pass: the page that has such ones says what the drawer tells of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bertviz_core.formula.address import Address, Where
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.keys import Key


@dataclass(frozen=True)
class Told:
    """What the drawer says of one number.

    name: what number it is; kind: of vector, whose colour it has; value: as it is written; words: a sentence of
    Markdown; formulas: short LaTeX, in letters and with numbers; parts: what it was made from, each with its name, its
    value and its address, "" where it has none; note: one more line; draw: draws its picture, if it has one; unit: what
    stands behind the value.
    """

    name: str
    kind: str
    value: str
    words: str
    formulas: Sequence[str]
    parts: Sequence[tuple[str, str, str]] = ()
    note: str = ""
    draw: Callable[[], object] | None = field(default=None, compare=False)
    act: Callable[[], object] | None = field(default=None, compare=False)
    unit: str = ""


Teller = Callable[[Address], Told | None]
_TELLER: Key[Teller | None] = Key("teller", None)
_NUMBER: Key[Address | None] = Key("page-number", None)


def forget_teller() -> None:
    """Another run of a page begins: it says anew what it can tell, and which is its own number."""
    state.take(_TELLER)
    state.take(_NUMBER)


def offer_teller(tell: Teller) -> None:
    """Let the drawer ask this for what it tells of an address, before it looks for that in the pass.

    Raises AddressError for an address of the page's own that names nothing; gives None for what is not its own.
    """
    state.write(_TELLER, tell)


def find_told(cell: Where) -> Told | None:
    """What the page tells of an address, if it is one of its own. Raises AddressError where it names nothing."""
    tell = state.read(_TELLER)
    return tell(cell) if tell is not None and isinstance(cell, Address) else None


def offer_number(cell: Address) -> None:
    """Let the drawer explain this one while nobody has clicked another; of several that a page offers, the first."""
    if state.read(_NUMBER) is None:
        state.write(_NUMBER, cell)


def read_number(trace: Trace) -> Address | None:
    """The page's own number, a tensor's in the order of its axes; None where it has none."""
    cell = state.read(_NUMBER)
    return cell.sort(trace.dims(cell.whole)) if cell and cell.path in trace else cell
