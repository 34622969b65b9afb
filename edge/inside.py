"""What of the edge leans on the inside of Streamlit and of uvicorn, which promise none of it.

Every function says why it is needed, and which public thing would do instead. The names are looked for in the installed
versions by a test. What needs nothing of Streamlit imported stands in streamlit_files.py, and uvicorn's ends of
connections in connections.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import PurePath
from typing import Any, NamedTuple

from starlette.types import Message, Send
from streamlit.commands import navigation
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import app_session
from streamlit.runtime.scriptrunner import get_script_run_ctx

# What the first message of a run says of the machine, by its part.
_OF_MACHINE = {
    "environment_info": ("python_version", "server_os", "has_display"),
    "user_info": ("installation_id", "installation_id_v3", "installation_id_v4"),
}
_LONGEST_NUMBER = 10  # bytes, as protobuf writes it
_FIXED_BYTES = {1: 8, 5: 4}  # of numbers that protobuf writes with so many, by the form of their tags


def is_run_of_visitor() -> bool:
    """Whether app.py is run for a visitor's session, and not looked through by a server that starts.

    Instead: a file for the server that is not the one for sessions.
    """
    return get_script_run_ctx(suppress_warning=True) is not None


def keep_silent_of_pages() -> None:
    """Have nothing said by Streamlit where an address names no page: the app says it, with what may be meant.

    Streamlit lays a window of its own over the page, the first time before app.py is run. Instead: an option for that.
    """
    navigation.send_page_not_found = _say_nothing


def _say_nothing(_: object) -> None:
    """What stands in for it."""


def tell_little_of_server() -> None:
    """Have the first message of a run say nothing of the machine: where the app lies, its system, Python's version, and
    names by which the machine is known elsewhere.

    A browser needs of it what names the app, and Streamlit's version. Instead: an option for that.
    """
    plain = app_session.AppSession._create_new_session_message  # pyright: ignore[reportPrivateUsage]
    if not hasattr(plain, "__wrapped__"):
        setattr(app_session.AppSession, plain.__name__, _leave_out_machine(plain))


def _leave_out_machine(plain: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(plain)
    def create(*given: Any, **named: Any) -> Any:
        message = plain(*given, **named)
        told = message.new_session
        told.main_script_path = PurePath(told.main_script_path).name
        for part, fields in _OF_MACHINE.items():
            for field in fields:
                getattr(told.initialize, part).ClearField(field)
            getattr(told.initialize, part).SetInParent()  # a browser reads it, also where it is empty
        return message

    return create


# What a browser says.


def read_message(data: bytes | None) -> BackMsg | None:
    """A message of a browser; None where it is none of Streamlit's. Instead: a list of kinds that the app allows."""
    try:
        return BackMsg.FromString(data or b"")
    except Exception:  # protobuf's own DecodeError; that package is Streamlit's affair
        return None


def name_kind(said: BackMsg) -> str | None:
    """What a message asks for, by Streamlit's name; None where it asks for nothing. Instead: as for `read_message`."""
    kind = said.WhichOneof("type")
    return said.backend_operation_request.WhichOneof("payload") if kind == "backend_operation_request" else kind


def has_more_parts(data: bytes, most: int) -> bool:
    """Whether a message of a browser has more parts than that, counted before it is taken apart.

    Each takes the memory of an object, and the shortest two bytes: of one message there are hundreds of thousands.
    Instead: bounds of protobuf's own.
    """
    try:
        return _count_left(memoryview(data), BackMsg.DESCRIPTOR, most) < 0
    except IndexError:  # it is cut; whoever takes it apart refuses it
        return False


def _count_left(data: memoryview, kind: Any, left: int) -> int:
    """How many parts fewer than `left` a message of this kind has, negative where it has more; a number in a row of
    them counts as one for each of its bytes.
    """
    at = 0
    while at < len(data) and left >= 0:
        tag, at = _read_varint(data, at)
        left -= 1
        match tag & 7:
            case 0:
                _, at = _read_varint(data, at)
            case 1 | 5 as form:
                at += _FIXED_BYTES[form]
            case 2:
                size, at = _read_varint(data, at)
                part, at = data[at : at + size], at + size
                field = kind.fields_by_number.get(tag >> 3)
                if field is not None and field.message_type is not None:
                    left = _count_left(part, field.message_type, left)
                elif field is not None and field.type not in (field.TYPE_STRING, field.TYPE_BYTES):
                    left -= len(part)
            case _:  # a group: no message of Streamlit's has one
                return -1
    return left


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """A number as protobuf writes it, and where it ends. Raises IndexError where it does not."""
    value = 0
    for i, byte in enumerate(data[at : at + _LONGEST_NUMBER]):
        value |= (byte & 0x7F) << 7 * i
        if byte < 0x80:
            return value, at + i + 1
    raise IndexError


class Asked(NamedTuple):
    """What a request for a run says: of which widgets something; values: the JSON of components; query: of the URL;
    page: its name; hashes: what Streamlit calls the page, and the part of it that is to run.
    """

    widgets: tuple[str, ...]
    values: tuple[str, ...]
    query: str
    page: str
    hashes: tuple[str, str]


def read_asked(said: BackMsg) -> Asked:
    """The parts of a request for a run that have a bound here. Instead: bounds of Streamlit's own."""
    asked = said.rerun_script
    widgets = asked.widget_states.widgets
    fields = ("json_value", "json_trigger_value")
    values = tuple(getattr(one, field) for one in widgets for field in fields if one.HasField(field))
    names, hashes = tuple(one.id for one in widgets), (asked.page_script_hash, asked.fragment_id)
    return Asked(names, values, asked.query_string, asked.page_name, hashes)


def say_settings_once() -> None:
    """Have the server's settings worked out once, and not for what each run says first.

    Streamlit reads some 200 of them six times over for that, in the thread of the event loop, each time with a lock
    that pages at work want as well: where many begin, nobody is served meanwhile. Instead: that it keeps them.
    """
    for name in ("_populate_config_msg", "_populate_theme_msg"):
        plain = getattr(app_session, name)
        if not hasattr(plain, "__wrapped__"):
            setattr(app_session, name, _fill_once(plain))


def _fill_once(fill: Callable[..., None]) -> Callable[..., None]:
    """What fills in a message, by which section of the settings it is about."""
    filled: dict[tuple[str, ...], Any] = {}

    @wraps(fill)
    def fill_in(message: Any, *section: str) -> None:
        if section not in filled:
            made = type(message)()
            fill(made, *section)
            filled[section] = made
        if filled[section].ListFields():  # else it is to stay as it is: not there
            message.MergeFrom(filled[section])

    return fill_in


def tell_if_gone(send: Send) -> Send:
    """What sends on a web socket, and says that the browser has gone where uvicorn has closed it (too long a message).

    uvicorn takes what the app still says there for a mistake of the app, which Streamlit would log with a traceback.
    Instead: that uvicorn raises what it raises where the browser has closed it.
    """

    async def send_unless_gone(message: Message) -> None:
        try:
            await send(message)
        except RuntimeError as error:
            raise OSError(str(error)) from error

    return send_unless_gone
