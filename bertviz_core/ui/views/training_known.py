"""Which of a training's numbers the drawer tells of: those of the steps so far, and the first step's beforehand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from bertviz_core.errors import TrainingError
from bertviz_core.formula.address import Address
from bertviz_core.learning import Training
from bertviz_core.ui.frame.told import Told, offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.views.training_run import START, Run, find_first
from bertviz_core.ui.views.training_told import STEP, find_largest, locate_update, tell


def _find_known(run: Run) -> Training | None:
    """The first step, worked out beforehand: while there is no other, and while the training must not be asked."""
    return None if run.records and not run.live else find_first(run)


def tell_known(view: View, run: Run, where: Address) -> Told | None:
    """What is told of a number of a step; of one that is still to come too, where that is known."""
    first = _find_known(run)
    if first is None or where.at.get(STEP) != 1:
        return tell(view, run.training, where)
    told = tell(view, first, where)
    if told is None or run.records:
        return told
    return replace(told, note=f"{told.note} This step is still to come: {START} takes it just so.".strip())


def offer_update(run: Run) -> None:
    """Have the drawer open with what a step makes of one weight: the one with the largest gradient."""
    known = _find_known(run)
    source = known or run.training
    if not source.records or (run.live and known is None):
        return
    record = source.record()
    with suppress(TrainingError):
        offer_number(locate_update(find_largest(source, record)[0], record.number))
