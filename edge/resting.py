"""The connections on which nothing is being answered, of all addresses, of which a server keeps so many and no more."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from edge.pace import name_network

try:
    import resource
except ImportError:  # Windows
    resource = None

HEAD_S = 5.0  # a browser that connects asks at once, and a connection that it keeps in store it opens anew
# A browser asks one journey after it connects, and who is hung up on before that sees no page: so many that a process
# takes some tenths of a second for them, however fast they come.
MOST = 4000
_SHARE = 4  # of the files that a process may have open, one part in so many


class Connection(Protocol):
    def hang_up(self) -> None: ...


class Resting:
    """Connections by address; each address's in the order in which they came to rest.

    Where there are too many, the longest at rest is hung up on of the address that has most: who floods closes its own.
    """

    def __init__(self) -> None:
        self._lines: dict[str, OrderedDict[Connection, None]] = {}  # the first is found however many before it went
        self._of: dict[Connection, str] = {}

    def __len__(self) -> int:
        return len(self._of)

    def add(self, one: Connection, address: str) -> None:
        network = name_network(address)
        self._of[one] = network
        self._lines.setdefault(network, OrderedDict())[one] = None
        if len(self._of) > count_most():
            longest = next(iter(max(self._lines.values(), key=len)))
            self.remove(longest)
            longest.hang_up()

    def remove(self, one: Connection) -> None:
        """Do nothing where it does not rest."""
        if (network := self._of.pop(one, None)) is not None:
            line = self._lines[network]
            del line[one]
            if not line:
                del self._lines[network]


def count_most() -> int:
    """How many may rest: fewer than MOST where the process may have few files open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE) if resource else (-1, -1)
    return MOST if files < 0 else min(MOST, files // _SHARE)
