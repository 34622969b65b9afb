"""The cells walked through to the number that the drawer explains, as the URL holds them."""

from __future__ import annotations

from collections.abc import Iterable

from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address, Where, read_address
from bertviz_core.formula.stages import Stage
from bertviz_core.ui.frame import state
from bertviz_core.ui.frame.keys import VIEW, WALK, Key

LONGEST = 80  # numbers of a walk
_STEP = "~"
_TRAINING = "training"  # the page that alone can tell of the numbers of its steps
_WHOLE_PASS = "overview"  # the page whose picture has every number of the pass
_MOVED = Key("walk-moved", "")  # the cell that is explained since the layer or the head was chosen, if one is


def read_walk() -> tuple[Where, ...]:
    """The cells, the last one that is explained; none where the drawer is closed. What is no address stays text."""
    way = state.read(WALK)
    return tuple(map(read_cell, way.split(_STEP, LONGEST)[:LONGEST])) if way else ()


def is_cut() -> bool:
    """Whether a link asks for a longer walk than is read. No link of ours does."""
    return state.read(WALK).count(_STEP) >= LONGEST


def read_cell(text: str) -> Where:
    """A cell that was clicked or typed; what is no address as it came, to be named where it is refused."""
    try:
        return read_address(text)
    except AddressError:
        return text


def read_explained() -> Where | None:
    """The cell that the drawer explains; None where it is closed."""
    return next(iter(read_walk()[-1:]), None)


def write_walk(way: Iterable[Where]) -> str:
    """The cells as the URL has them; of a long walk the first ones are forgotten."""
    return _STEP.join([*map(str, way)][-LONGEST:])


def name_page(stage: Stage) -> str:
    """The page that shows a stage, as its file is called."""
    return "tokenization" if stage is Stage.INPUT else stage.name.lower()


def stays_at(page: str, cell: Where | None) -> bool:
    """Whether a number that was clicked elsewhere stays in the drawer when this page is opened: whether it is about it.

    Any other page opens with its own number.
    """
    if not isinstance(cell, Address):
        return False
    if cell.of_training:
        return page == _TRAINING
    view = state.read(VIEW)
    if view is None or cell.path not in view.trace:
        return False
    stage = view.trace.model.program.stages.get(cell.path)
    return page == _WHOLE_PASS or (stage is not None and page == name_page(stage))


def note_moved(cell: Where | None) -> None:
    """The number that is explained is another one since somebody chose a layer or a head; None where somebody chose
    the number itself."""
    state.write(_MOVED, str(cell or ""))


def is_moved(cell: Where) -> bool:
    return state.read(_MOVED) == str(cell)


def find_other_page(page: str, cell: Where | None) -> str:
    """The page that alone can tell of a cell, if that is another one than this; else ""."""
    elsewhere = isinstance(cell, Address) and cell.of_training and page != _TRAINING
    return _TRAINING if elsewhere else ""
