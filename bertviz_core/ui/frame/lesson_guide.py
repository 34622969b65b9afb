"""What the browser does for a lesson: it shows where the asked part is, and keeps what was answered."""

from __future__ import annotations

import secrets

from bertviz_core.lessons.lesson import Pick
from bertviz_core.ui.components.loading import load_component
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.lesson import Sitting, count_proposed, list_remembered, name_end, remember_all
from bertviz_core.ui.frame.lesson_kept import LONGEST, read_kept, write_kept
from bertviz_core.ui.frame.state import Sent

_GUIDE: Key[Sent] = Key("lesson-guide", None)
_VISIT = Key("lesson-visit", "")  # tells the browser which of our visits this is
_FORGOTTEN = Key("lesson-forgotten", 0)  # how often all answers were forgotten in it
_guide = load_component("lesson", isolated=False)


def guide(sitting: Sitting | None) -> None:
    """Ring what is asked, and have the browser keep all answers. sitting: the lesson, if one is open."""
    if not state.holds(_VISIT):
        state.write(_VISIT, secrets.token_hex(8))
    _guide(
        key=_GUIDE.name,
        data={
            "visit": state.read(_VISIT),
            "answers": write_kept(list_remembered()),
            "longest": LONGEST,
            "forgotten": state.read(_FORGOTTEN),
            "proposed": count_proposed(),
            **(
                _tell_step(sitting)
                if sitting
                else {"step": name_end(), "number": 0, "at": "", "stage": "", "picks": False}
            ),
        },
        on_kept_change=state.on_event(_GUIDE, "kept", _take, _is_kept),
    )


def _tell_step(sitting: Sitting) -> dict[str, object]:
    answered = sitting.answered
    stage = "over" if sitting.over else "wrong" if answered.verdict else "asks"
    return {
        "step": sitting.named,
        "number": sitting.number + 1,
        "at": sitting.step.at if sitting.here and sitting.ready else "",
        "stage": stage,
        "picks": sitting.waits and isinstance(sitting.step.ask, Pick),
    }


def forget_answers() -> None:
    """Forget all answers, in the browser too."""
    remember_all({})
    state.write(_FORGOTTEN, state.read(_FORGOTTEN) + 1)


def _is_kept(said: object) -> bool:
    return isinstance(said, str) and len(said) <= LONGEST and state.is_text(said)


def _take(text: str) -> None:
    """What the browser kept of other visits, before this one or beside it; what was answered in this one is added. No
    text says that all was forgotten in one beside it."""
    remember_all({**read_kept(text), **list_remembered()} if text else {})
    choices.ask_for_rerun()
