"""What a page draws from: the pass, the place in it that was chosen, the colours and the notation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.figures.palette import Palette
from bertviz_core.formula.address import Where
from bertviz_core.formula.notations import Notation
from bertviz_core.formula.steps import Step
from bertviz_core.tracing.store import TraceStore
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import style

AFTER, BEFORE, DIFFERENCE = SHOWN = "After", "Before", "Difference"  # as the URL has them


@dataclass(frozen=True)
class Selection:
    """Which layer, head and token the pages look at, all 0-based."""

    layer: int
    head: int
    token: int


@dataclass(frozen=True)
class Outcome:
    """A pass before and after its changes; both are the same trace where there is none that can be made.

    wrong: by address, why a change cannot be made; show: which of the two the panels show, or their difference; half:
    which of the two this is about, BEFORE or AFTER, while a difference is worked out.
    """

    before: Trace
    after: Trace
    wrong: Mapping[Where, str]
    show: str = AFTER
    half: str = ""

    @property
    def changed(self) -> bool:
        """Whether any change was made."""
        return self.after is not self.before

    @property
    def yours(self) -> str:
        """What was changed, in words."""
        return "your change" if self._single else "your changes"

    def say_unreached(self, what: str) -> str:
        """That no change makes a difference to something."""
        return f"{self.yours} {self.agree('does', 'do')} not reach {what}"

    def agree(self, one: str, many: str) -> str:
        """The form of a verb that stands behind `yours`."""
        return one if self._single else many

    @property
    def _single(self) -> bool:
        return len(self.after.changes) == 1

    @property
    def shown(self) -> Trace:
        """The trace that panels draw from."""
        return self.before if BEFORE in (self.show, self.half) else self.after

    @property
    def compared(self) -> bool:
        """Whether panels shall show how far the pass after lies from the one before."""
        return self.changed and self.show == DIFFERENCE


@dataclass(frozen=True)
class View:
    """What a page draws from.

    typed: the tokens of the text and its pair, before any was masked or padding added; outcome: the pass before and
    after what was changed in it, of which `trace` is the one that is shown.
    """

    text: str
    pair: str | None
    typed: Encoding
    outcome: Outcome
    chosen: Selection
    colors: Palette
    notation: Notation

    @property
    def trace(self) -> Trace:
        """The pass that panels draw from."""
        return self.outcome.shown

    @property
    def unchanged(self) -> View:
        """The same view on the pass before what was changed in it."""
        before = self.outcome.before
        return replace(self, outcome=Outcome(before, before, {}))

    @property
    def passes(self) -> tuple[View, ...]:
        """This view; where the difference is to be shown, one on the pass before the changes and one on that after."""
        if not self.outcome.compared:
            return (self,)
        return tuple(replace(self, outcome=replace(self.outcome, half=half)) for half in (BEFORE, AFTER))

    @property
    def ghost(self) -> Trace | None:
        """The pass before the changes, which is drawn faintly beside the one after them; None where that is not shown
        alone."""
        found = self.outcome
        return found.before if found.changed and found.show == AFTER else None

    @property
    def guide(self) -> View:
        """The view by which to choose what is worth drawing, such as the largest: of two passes that are compared the
        one after the changes, for both, so that both draw the same places."""
        return self.passes[-1]

    def typeset(self, step: Step) -> str:
        """A step's formula in the chosen notation, in the colours of its kinds of vector."""
        return step.typeset(style.make_painter(self.colors), self.notation)

    def run_as(self, program: str, traces: TraceStore, more: int = 0) -> Trace:
        """This sentence's trace as a document describes the pass, run now if nobody has asked for it yet.

        more: how many [PAD] tokens to add.
        """
        if program == self.trace.program.name and not more:
            return self.trace
        length = len(self.trace.tokens) + more
        return traces.get(self.trace.model, self.text, self.pair, length, self.masked, program)

    @property
    def masked(self) -> tuple[int, ...]:
        """The positions at which a token that was typed is hidden."""
        ids = zip(self.typed.ids, self.outcome.before.encoding.ids, strict=False)
        return tuple(i for i, (typed, read) in enumerate(ids) if typed != read)
