"""What pages work out in the background, done, however slow the machine is."""

import pytest

from bertviz_core.sharing import findings
from bertviz_core.ui.frame.resources import get_findings


def settle(seconds: float = 60.0) -> bool:
    """Wait until nothing is under way. Returns whether that is so within this time, in which nothing is left off for
    not being asked for again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(findings, "WANTED_S", 2 * seconds)
        return get_findings().settle(seconds)


@pytest.fixture(autouse=True)
def leave_findings():
    """After each test: what its pages have begun would take the next one's time for as long as somebody may want it."""
    yield
    if get_findings.cache_info().currsize:
        found = get_findings()
        with pytest.MonkeyPatch.context() as patch, found._changed:
            patch.setattr(findings, "WANTED_S", 0.0)
            found._leave_unwanted()
