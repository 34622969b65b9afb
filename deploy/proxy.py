"""nginx in front of the replicas: its configuration, and Streamlit's files as it sends them."""

from __future__ import annotations

import gzip
import os
import pwd
import resource
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from string import Template

from edge.classes import JOIN, LEAD
from edge.headers import CLOSED_TEXT, list_headers, read_frames, write_cookie_rules
from edge.resting import HEAD_S
from edge.sizes import LONGEST_ADDRESS
from edge.streamlit_files import CLOSED, find_static

HERE = Path(__file__).parent
HEALTH = "/_stcore/health"  # answers 200 as soon as one replica is warm
MOST_OF_ONE_ADDRESS = 2000  # requests that are answered at a time, web sockets among them
# Requests of one address that come to the processes: what they answer in a second, at once after a rest, and at most,
# of which the rest waits. A visitor's first page asks for five; an address may be a whole lecture's.
A_SECOND, AT_ONCE, IN_LINE = 100, 500, 2000
_HEAD = 1 << 13  # bytes of an answer's head beside an address that it leads to
# Connections at a time, as far as files may be open: whoever begins to ask and does not go on keeps one for HEAD_S.
MOST_CONNECTIONS, _OWN_FILES = 32_768, 200
# Seconds that a process may take to say something, before the next one is asked: whoever is in its line waits for 3.5.
ANSWER_S = 10


LISTENS = "BERTVIZ_LISTENS"  # tells each process where nginx does
# Names the networks of what stands in front: whose request it is, they are believed.
PROXIES = "BERTVIZ_PROXIES"


class _Blanks(Template):
    delimiter = "%"  # nginx's own variables begin with a dollar


@dataclass(frozen=True)
class Place:
    """Where the service listens, and the folder that all it writes is in."""

    address: str
    port: int
    folder: Path

    def socket(self, number: int) -> Path:
        """The socket of a replica in service; what stands here is warm."""
        return self.folder / f"replica-{number}.sock"

    def aside(self, number: int) -> Path:
        """Where it is meanwhile while its replica does not answer: there nginx does not find it."""
        return self.folder / f"aside-{number}.sock"


def render_config(place: Place, processes: int) -> str:
    """nginx's configuration for replicas 0 to processes - 1, each the home of some visitors and the others' backup."""
    servers = [f"server unix:{place.socket(number)} max_fails=0" for number in range(processes)]
    homes = [
        [f"{server}{'' if number == home else ' backup'};" for number, server in enumerate(servers)]
        for home in range(processes)
    ]
    frames = read_frames()
    headers = list_headers(frames)
    files = count_files()
    return _Blanks((HERE / "nginx.conf").read_text(encoding="utf-8")).substitute(
        user=_name_user(),
        folder=place.folder,
        here=HERE,
        files=files,
        connections=files - _OWN_FILES,
        head=f"{HEAD_S:g}",
        address=place.address,
        port=place.port,
        every=_indent([f"{server};" for server in servers]),
        homes="".join(f"    upstream home_{home} {{\n{_indent(lines)}\n    }}\n" for home, lines in enumerate(homes)),
        routes=_indent([f"{number} home_{number};" for number in range(processes)]),
        proxies=_write_proxies(read_proxies()),
        headers=_indent([f'add_header {name} "{value}" always;' for name, value in headers.items()]),
        hidden=_indent([f"proxy_hide_header {name};" for name in headers]),
        plain_rules=write_cookie_rules(frames, encrypted=False),
        encrypted_rules=write_cookie_rules(frames, encrypted=True),
        longest=LONGEST_ADDRESS,
        answered=LONGEST_ADDRESS + _HEAD,
        most=MOST_OF_ONE_ADDRESS,
        a_second=A_SECOND,
        at_once=AT_ONCE,
        in_line=IN_LINE,
        answer=ANSWER_S,
        class_pages=f"{JOIN}|{LEAD}",
        closed="|".join(CLOSED),
        closed_text=CLOSED_TEXT,
    )


def count_files() -> int:
    """How many files nginx may have open, a connection being one: what it must ask for, it may be refused."""
    _, allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + _OWN_FILES
    return wanted if allowed < 0 else min(wanted, allowed)


def read_proxies() -> list[str]:
    """The networks of PROXIES. Raises ValueError for what is none."""
    try:
        return [str(ip_network(each)) for each in os.environ.get(PROXIES, "").replace(",", " ").split()]
    except ValueError as error:
        raise ValueError(f"{PROXIES} holds networks, separated by spaces, such as 10.0.0.0/8: {error}.") from error


def _write_proxies(networks: list[str]) -> str:
    """How nginx finds out whose request one of theirs is: the last address of the header that is not theirs."""
    believed = [f"    set_real_ip_from {each};" for each in networks]
    return "\n".join(
        [*believed, "    real_ip_header X-Forwarded-For;", "    real_ip_recursive on;"] if believed else []
    )


def _name_user() -> str:
    """Started by root, nginx would give its workers to somebody who may not open the sockets."""
    return "" if os.geteuid() else f"user {pwd.getpwuid(0).pw_name};"


def _indent(lines: list[str]) -> str:
    return "\n".join(f"        {line}" for line in lines)


def lay_out_assets(folder: Path) -> None:
    """Streamlit's static files below folder/static, each as it is and compressed, so that none is compressed twice."""
    source = find_static()
    for file in (source / "static").rglob("*"):
        if file.is_file():
            target = folder / file.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(file)
            target.with_name(f"{target.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
