"""The shortest story: a number, and the way from it back to the input along the largest operand of each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bertviz_core.analysis.walk import Turn, choose_stops, find_beginnings, list_turns
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import STORY_OF
from bertviz_core.ui.frame.view import View


@dataclass(frozen=True, eq=False)
class Story:
    """The way from a number back to the input. name, start: of the number; turns: every step; stops: their places."""

    trace: Trace
    name: str
    start: Address
    turns: tuple[Turn, ...]

    @cached_property
    def value(self) -> float:
        """The number that it begins with."""
        return float(self.trace.recomputed(self.start))

    @cached_property
    def stops(self) -> list[int]:
        return choose_stops(self.trace, [turn.cell for turn in self.turns])

    @property
    def cells(self) -> list[Address]:
        """The cells of the stops."""
        return [self.turns[place].cell for place in self.stops]

    @property
    def token(self) -> int | None:
        """The token whose id it ends at; None where it ends at a parameter, or at what a change put there."""
        last = self.cells[-1]
        return last.at["token"] if last.path == "input_ids" else None

    @cached_property
    def tokens(self) -> list[int | None]:
        """The token whose way it is, stop by stop; None before there is one."""
        found: list[int | None] = []
        for cell in self.cells:
            at = cell.at
            own = next((at[axis] for axis in ("token", "key", "query") if axis in at), None)
            found.append(own if own is not None or not found else found[-1])
        return found


def read_story(view: View) -> Story:
    """The story that the URL asks for."""
    offered = list_offered(view)
    url.bind(STORY_OF, offered, next(iter(offered)))
    name = state.read(STORY_OF)
    return Story(view.trace, name, offered[name], list_turns(view.trace, offered[name]))


def list_offered(view: View) -> Mapping[str, Address]:
    return find_beginnings(view.trace, view.chosen.token)
