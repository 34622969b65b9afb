"""How much memory a process may take, as one number, and the bounds that follow from it."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from bertviz_core.errors import InputError
from bertviz_core.sharing.environment import read_bytes
from bertviz_core.sharing.machine import LEAST, count_bytes, count_files

SETTING = "BERTVIZ_MEMORY_MB"
FIXED = 370_000_000  # bytes of its own that a warm process holds: modules, tokenizers, threads
BUNDLED = 50_000_000  # of the bundled model, which is never let go
PASS = 50_000_000  # that a pass over 512 tokens takes of the bundled model's size, beside what stays of it
VISIT = 200_000  # that a visitor's session holds, beside the passes that it looks at
FILE = 100_000_000  # of the largest that is made for a visitor to save
FILES = 5  # that a session has open: its socket, and the event loop of its run
_SHARE = 0.8  # of what the machine or its container has: the rest is for what runs beside the app
_TRAINING = 0.35  # of the whole: for the process that trains
# Of what is left of the server's part, by what it is for: the share, and the bytes beyond which more is of no use.
_SHARES = {
    "models": (0.25, 4_000_000_000 - BUNDLED),
    "traces": (0.20, 1_000_000_000),
    "recomputed": (0.10, 500_000_000),
    "drawn": (0.02, 100_000_000),
    "files": (0.05, 200_000_000),
    "findings": (0.01, 50_000_000),
    "sessions": (0.10, 200_000_000),
    "passes": (0.27, 500_000_000),
}


@dataclass(frozen=True)
class Bounds:
    """Bytes. models: of the parameters of all models, the bundled one among them; traces: of the spines of traces;
    recomputed: of what was worked out from them; drawn: of what pages draw; files: of those that visitors save;
    findings: of what was worked out unasked; sessions: of what visitors hold beside that; passes: of what is at work.
    """

    models: int
    traces: int
    recomputed: int
    drawn: int
    files: int
    findings: int
    sessions: int
    passes: int

    @property
    def passes_at_once(self) -> int:
        return max(1, self.passes // PASS)

    @property
    def visits(self) -> int:
        """How many sessions may be connected: as many as there is memory for, and files that can be open."""
        return min(self.sessions // VISIT, max(1, count_files() // 2 // FILES))

    @property
    def total(self) -> int:
        return sum(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True)
class Budget:
    """Bytes. whole: of a server process together with the process that trains for it; training: of the latter."""

    whole: int

    @property
    def training(self) -> int:
        return int(_TRAINING * self.whole)

    @property
    def server(self) -> int:
        """What is left for the process that answers visitors."""
        return self.whole - self.training

    @property
    def bounds(self) -> Bounds:
        """The server's part, less what is fixed, shared out."""
        rooms = share_out(self.server - FIXED - BUNDLED)
        return Bounds(**{**rooms, "models": rooms["models"] + BUNDLED})


def share_out(room: int) -> dict[str, int]:
    """Bytes for each use by its share; what is beyond the most that a use can need goes to the others."""
    found: dict[str, int] = {}
    while True:
        open_ = {name: share for name, (share, _) in _SHARES.items() if name not in found}
        left, weight = room - sum(found.values()), sum(open_.values())
        parts = {name: int(left * share / weight) for name, share in open_.items()}
        full = {name: _SHARES[name][1] for name, part in parts.items() if part >= _SHARES[name][1]}
        if not full:
            return {**found, **parts}
        found |= full


def read_budget() -> Budget:
    """What whoever runs the app has set, else four fifths of what this machine or its container has.

    Raises InputError where the setting is no positive number, and where it is too small.
    """
    budget = Budget(read_bytes(SETTING, _SHARE * count_bytes() / 1e6))
    if budget.whole < LEAST:
        given = f"{SETTING} is {budget.whole / 1e6:.0f}"
        if not os.environ.get(SETTING, "").strip():
            given = f"this machine or its container leaves {budget.whole / 1e6:.0f}"
        raise InputError(
            f"A process of this app takes at least {LEAST / 1e6:.0f} megabytes of memory, but {given}. Whoever runs "
            "this server can mend that: with more memory, or with fewer processes on it."
        )
    return budget
