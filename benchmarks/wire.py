"""One session as a browser keeps it, on the wire that browsers use; who sends and receives is up to the caller."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

SPEAKS = "streamlit"  # the web socket's subprotocol
STREAM = "_stcore/stream"
_OVER = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
_EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"  # the widget that takes what a component of this id sends
_PAGES = "Pages"  # the label of their menu
_TOKEN = re.compile(r'data-token="(\d+)"')
_CELL = re.compile(r'data-cell="([^"]+)"')


@dataclass(frozen=True)
class Seen:
    """What can be read in an element on screen, and the part of the page (fragment) that it is in."""

    part: str
    text: str


@dataclass(frozen=True)
class Look:
    """What has a part of the page run again after some seconds, as something is worked out meanwhile: its id, and which
    of its looks that is."""

    name: str
    part: str
    after: float
    number: int


@dataclass
class Conversation:
    """What one session was sent, and what it answers.

    query: what stands in the URL; page: the page's hash, as the server calls it; names: the hash of every page by its
    name in the URL; links: the query of the link to a page, by its hash; menus, fields: ids by label; folds: ids;
    buttons, popovers: ids by label, of popovers those that are filled only when they are opened, and listener: the id
    of the component that hears clicks, each with its part of the page; files: by what a file is asked for that is made
    only then, by the label of its button; session: what the server calls it; trouble: what a visitor must not see;
    said: what could be read of the answer so far, in the order in which it came.
    """

    query: str = ""
    page: str = ""
    names: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    menus: dict[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    folds: list[str] = field(default_factory=list)
    buttons: dict[str, tuple[str, str]] = field(default_factory=dict)
    session: str = ""
    listener: tuple[str, str] = ("", "")
    looks: dict[str, Look] = field(default_factory=dict)
    popovers: dict[str, tuple[str, str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    _screen: dict[tuple[int, ...], Seen] = field(default_factory=dict)
    _states: dict[str, WidgetState] = field(default_factory=dict)
    _drawn: set[str] = field(default_factory=set)  # the widgets of the last whole run, by id
    _parts: dict[str, str] = field(default_factory=dict)  # of the page, which runs by itself where a widget changes
    _kept: dict[str, tuple[int, ForwardMsg]] = field(default_factory=dict)  # by hash: the run that had it last
    _runs: int = 0
    _kept_for: int = 0  # runs for which a message is kept that may be told by its hash alone; the server says it

    # What a visitor does: each gives the bytes to be sent.

    def open(self, name: str = "", query: str = "") -> bytes:
        """Open a page, "" the first, by its URL."""
        self.query = query
        return self._ask(name=name)

    def rerun(self) -> bytes:
        """Have the page run as it is."""
        return self._ask()

    def must_open_menu(self, name: str) -> bool:
        """Whether there is no link to a page on screen before the menu of pages is opened."""
        return _PAGES in self.popovers and self.names[name] not in self.links

    def open_menu(self, label: str = _PAGES) -> bytes:
        """Open a menu that is filled then, such as that of pages."""
        name, part = self.popovers[label]
        return self._ask(part, WidgetState(id=name, bool_value=True))

    def follow(self, name: str) -> bytes:
        """Go to a page by its link."""
        self.page = self.names[name]
        self.query = self.links.get(self.page, "")
        return self._ask()

    def choose(self, label: str, option: str) -> bytes:
        """Choose from a menu."""
        name, _ = self.menus[label]
        self._states[name] = WidgetState(id=name, string_value=option)
        return self._ask(self._parts[name])

    def type(self, label: str, text: str) -> bytes:
        """Fill in a field."""
        name = self.fields[label]
        self._states[name] = WidgetState(id=name, string_value=text)
        return self._ask(self._parts[name])

    def turn_fold(self, name: str, opened: bool) -> bytes:
        """Open a fold, or close it."""
        self._states[name] = WidgetState(id=name, bool_value=opened)
        return self._ask(self._parts[name])

    def press(self, label: str) -> bytes:
        """Press a button."""
        name, part = self.buttons[label]
        return self._ask(part, WidgetState(id=name, trigger_value=True))

    def click(self, kind: str, value: object) -> bytes:
        """Click on what says that it is of a kind, "token" or "cell" say, and of a value."""
        name, part = self.listener
        events = json.dumps([{"event": kind, "value": value}])
        return self._ask(part, WidgetState(id=_EVENTS.format(name), json_trigger_value=events))

    def look_again(self, look: Look) -> bytes:
        """Have a part of the page run again, as the browser does by itself."""
        events = json.dumps([{"event": "again", "value": look.number}])
        return self._ask(look.part, WidgetState(id=_EVENTS.format(look.name), json_trigger_value=events))

    def find_next_look(self) -> Look | None:
        """What asks first, of all parts of the page that ask by themselves."""
        return min(self.looks.values(), key=lambda look: look.after, default=None)

    def _ask(self, part: str = "", sent: WidgetState | None = None, name: str = "") -> bytes:
        self.said = []
        self._kept = {key: kept for key, kept in self._kept.items() if self._runs - kept[0] <= self._kept_for}
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_name = self.query, name
        asked.page_script_hash, asked.fragment_id = self.page, part
        asked.widget_states.widgets.extend([*self._states.values(), *([sent] if sent else [])])
        asked.cached_message_hashes.extend(self._kept)
        return message.SerializeToString()

    # What it was told.

    def take(self, data: bytes) -> bool:
        """Take a message. Returns whether it is the last one of what was asked for."""
        said = ForwardMsg.FromString(data)
        match said.WhichOneof("type"):
            case "new_session":
                self._runs += 1
                self.session = said.new_session.initialize.session_id
                self._kept_for = said.new_session.config.max_cached_message_age
                self._begin(set(said.metadata.run.fragment_ids))
            case "navigation":
                self.page = said.navigation.page_script_hash
                self.names = {page.url_pathname: page.page_script_hash for page in said.navigation.app_pages}
            case "page_info_changed":
                self.query = said.page_info_changed.query_string
            case "delta" | "ref_hash":
                self._note(self._keep(said), tuple(said.metadata.delta_path))
            case "page_not_found":
                self.trouble.append("no such page")
            case "script_finished":
                if said.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:  # a browser forgets what is gone
                    self._states = {name: state for name, state in self._states.items() if name in self._drawn}
                if said.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                    self.trouble.append("compile error")
                    return True
                return said.script_finished in _OVER
        return False

    def list_texts(self) -> list[str]:
        """All that can be read on screen, from top to bottom, with the options that are chosen."""
        return [seen.text for _, seen in sorted(self._screen.items()) if seen.text]

    @property
    def tokens(self) -> int:
        """How many tokens the sentence has that is read."""
        return len({token for text in self.list_texts() for token in _TOKEN.findall(text)})

    @property
    def cells(self) -> list[str]:
        """The numbers in the page's text that can be clicked, by their addresses."""
        return [cell for text in self.list_texts() for cell in _CELL.findall(text)]

    def _begin(self, parts: set[str]) -> None:
        """Another run of the page, or of some parts of it: what it does not send again is gone."""
        self._screen = {at: seen for at, seen in self._screen.items() if parts and seen.part not in parts}
        self.looks = {name: look for name, look in self.looks.items() if parts and look.part not in parts}
        if not parts:
            self.folds, self.links, self.buttons, self._drawn = [], {}, {}, set()
            self.popovers, self.files = {}, {}

    def _keep(self, said: ForwardMsg) -> ForwardMsg:
        if said.HasField("ref_hash"):
            said = self._kept[said.ref_hash][1]
        elif not said.metadata.cacheable:
            return said
        self._kept[said.hash] = self._runs, said
        return said

    def _note(self, said: ForwardMsg, at: tuple[int, ...]) -> None:
        if said.delta.HasField("add_block"):
            block = said.delta.add_block
            self.folds += [block.expandable.id] if block.expandable.id else []
            self._drawn.add(block.expandable.id)
            self._parts[block.expandable.id] = said.delta.fragment_id
            if block.popover.id:
                self.popovers[block.popover.label] = block.popover.id, said.delta.fragment_id
        if said.delta.HasField("new_element"):
            element = said.delta.new_element
            self._note_widget(element, said.delta.fragment_id)
            seen = self._screen[at] = Seen(said.delta.fragment_id, " ".join(_read(element)))
            self.said += [seen.text] if seen.text else []
        self.said += [one.spinner.text for one in said.delta.new_transient.elements if one.HasField("spinner")]

    def _note_widget(self, element: Element, part: str) -> None:
        match element.WhichOneof("type"):
            case "selectbox":
                menu = element.selectbox
                self._parts[menu.id] = part
                self.menus[menu.label] = menu.id, tuple(menu.options)
                shown = menu.raw_value if menu.set_value else "".join(menu.options[menu.default : menu.default + 1])
                self._fill(menu.id, shown, menu.set_value)
            case "text_input":
                typed = element.text_input
                self._parts[typed.id] = part
                self.fields[typed.label] = typed.id
                self._fill(typed.id, typed.value if typed.set_value else typed.default, typed.set_value)
            case "button":
                self.buttons[element.button.label] = element.button.id, part
            case "download_button":
                self.files[element.download_button.label] = element.download_button.deferred_file_id
            case "page_link":
                self.links[element.page_link.page_script_hash] = element.page_link.query_string
            case "bidi_component" if element.bidi_component.component_name.endswith("listener"):
                self.listener = element.bidi_component.id, part
            case "bidi_component" if element.bidi_component.component_name.endswith("again"):
                name, asked = element.bidi_component.id, json.loads(element.bidi_component.json)
                self.looks[name] = Look(name, part, asked["after"] / 1000, asked["look"])
            case "exception":
                self.trouble.append(f"exception: {element.exception.type} {element.exception.message}".strip())
            case "alert" if element.alert.format == Alert.ERROR:
                self.trouble.append(f"error page: {element.alert.body}")

    def _fill(self, name: str, value: str, told: bool) -> None:
        """A widget stands on screen: with the value that the server gives it, or that it had here."""
        self._drawn.add(name)
        if told or name not in self._states:
            self._states[name] = WidgetState(id=name, string_value=value)


def _read(element: Element) -> Iterator[str]:
    match element.WhichOneof("type"):
        case "heading":
            yield element.heading.body
        case "markdown":
            yield element.markdown.body
        case "html":
            yield element.html.body
        case "alert":
            yield element.alert.body
        case "selectbox":
            menu = element.selectbox
            yield menu.raw_value if menu.set_value else "".join(menu.options[menu.default : menu.default + 1])
