"""Reads what a page shows: its panels with their charts, tables, texts, formulas and downloads, as plain data."""

import base64
import csv
import html
import io
import json
import math
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from bertviz_core.sharing import findings
from bertviz_core.ui.frame.site import PAGES
from bertviz_core.ui.views import training_run
from bertviz_core.ui.walk.explain import write_text
from tests.menus import open_menus
from tests.settling import settle

APP = str(Path(__file__).parents[2] / "app.py")
_AWAITED = (
    "attention",
    "documents",
    "feed_forward",
    "heads",
    "patch",
    "predictions",
    "sentence",
    "story",
    "tokenization",
    "where_from",
)  # numbers arrive later there
LONG = 120  # seconds after which what is worked out in the background is stuck
TITLE = 'class="bv-panel-title"'
_SAYS = re.compile(r'<span class="bv-says">(.*?)</span></span><span class="bv-icons">', re.DOTALL)
_TAGS = re.compile(r'<span role="tooltip".*?</span>|<[^>]*>')
_MATH = re.compile(r"(?<!\\)\$\$?(.+?)(?<!\\)\$\$?", re.DOTALL)  # in Markdown
_TEX = re.compile(r'class="bv-formula-line" data-tex="([^"]*)"')
_OFFER = re.compile(r'class="bv-worked" data-cell="([^"]*)"')
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_ASIDE = re.compile(  # sources, code, cells and numbers of documents, powers of ten by themselves
    r":gray\[[^\n]*\]|`[^`]*`|<code>[^\n]*?</code>"
    r"|\bIn \[\d+\]|\(00\d\)|\bsec\. [\d.]+|(?<![·×])(?<![·×] )\b10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+"
)
# A line of a list that is no table: a name, perhaps a role and a bar, and a number.
_LISTED = re.compile(
    r"<span>([^<]*)</span>(?:<small>(?:<span>)?[^<]*(?:</span>)?</small><i[^>]*><s[^>]*></s></i>)?<b>([^<]*)</b>"
)
_SUM = re.compile(r'<p class="bv-fourfold-sum">(.*?)</p>', re.DOTALL)  # a sentence that is not Markdown
_LISTS = ('class="bv-follows"', 'class="bv-ranked"')
_OFFERED = re.compile(r' data-cell="[^"]*"')  # in Markdown
_CELL = re.compile(r'<button[^>]* data-cell="([^"]*)"')
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<about>about (?=\d{1,3},\d{3}))?(?:(?P<bound>[<>])\s?(?=[-−]?[\d.]+\s?%))?"
    r"(?P<sign>[-−±]?)(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<rest>\.\d+)?"
    r"(?P<e>e[-−+]?\d+)?(?:\s?[·×]\s?10(?P<raised>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?(?P<percent>\s?%)?(?![\w]|\.\d)"
)


@dataclass(frozen=True)
class Number:
    """A number as it is written: its value, and how far that may be off by half of its last digit."""

    text: str
    value: float
    slack: float
    exact: bool  # written as a whole number
    bound: str = ""  # "<" or ">" before a percentage: strictly between it and the nearer of 0 and 1, or −1

    def tells(self, expected: float, near: float = 1e-12) -> bool:
        """Whether this is how the expected number would be written. near: what it may be off besides."""
        near += 1e-5 * abs(expected)  # what single precision rounds
        if self.bound:
            nothing, all_of_it = sorted((0.0, math.copysign(1.0, self.value)))
            low, high = (nothing, self.value) if self.bound == "<" else (self.value, all_of_it)
            return bool(low - near < expected < high + near)
        if not self.exact:
            return bool(abs(self.value - expected) <= self.slack + near)
        if isinstance(expected, int | np.integer) or not self.value:  # what is 0 has no decimals
            return self.value == expected
        return abs(expected) >= 9.95 and abs(self.value - expected) <= 0.5 + near


def find_numbers(text: str) -> list[Number]:
    """The numbers of a text, also `−1.007e−08`, `30,522`, `2.4 · 10⁻⁶`, `< 0.1 %`; not those of sources and code."""
    return [_read(found) for found in _NUMBER.finditer(_ASIDE.sub(" ", unescape(text)))]


def unescape(text: str) -> str:
    """Markdown as it is read: without the backslashes before signs."""
    return _ESCAPE.sub("", text)


def _read(found: re.Match) -> Number:
    part = found.groupdict(default="")
    digits = part["whole"].replace(",", "") + part["rest"]
    power = int((part["e"][1:] or "0").replace("−", "-")) + int(part["raised"].translate(_RAISED) or "0")
    unit = 10.0 ** (power - max(len(part["rest"]) - 1, 0) - 2 * bool(part["percent"]))
    sign = -1 if part["sign"] in ("-", "−") else 1
    value = sign * float(digits) * 10.0 ** (power - 2 * bool(part["percent"]))
    exact = not (part["rest"] or part["e"] or part["raised"] or part["percent"])
    nothing = bool(part["percent"]) and value == 0  # little is written as less than, so 0 % is none at all
    if part["about"]:  # two digits of it tell, the others are zeros
        return Number(found[0], value, 10.0 ** (len(digits) - 2) / 2, False)
    return Number(found[0], value, 0.0 if exact or nothing else unit / 2, exact, part["bound"])


@dataclass
class Table:
    """A table: what its rows are, their names, and the cells' texts by the column's name."""

    what: str
    rows: list[str]
    columns: dict[str, list[str]]


@dataclass
class Panel:
    """What stands in one card. name: of its chart, or where it has none its title's; page: in no card."""

    page: str
    name: str = ""
    title: str = ""
    of: str = ""
    figure: dict = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    answers: list[list[tuple[str, str]]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    frames: list[Table] = field(default_factory=list)
    offered: str = ""  # the cell that a button of the panel opens the drawer with

    @property
    def traces(self) -> list[dict]:
        """The chart's parts, their arrays as NumPy's."""
        return [{key: decode(value) for key, value in part.items()} for part in self.figure.get("data", [])]

    @property
    def labels(self) -> list[str]:
        """The names of the chart's rows."""
        return self.figure["layout"]["yaxis"].get("ticktext", [])


def decode(value):
    """A chart's array; Plotly writes arrays as base64, with their type and shape."""
    if isinstance(value, dict) and "bdata" in value:
        shape = [int(size) for size in str(value.get("shape", "-1")).split(",")]
        return np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"]).reshape(shape).astype(np.float64)
    if isinstance(value, list) and value and all(isinstance(one, int | float) for one in value):
        return np.array(value, dtype=np.float64)
    return value


class _Cells(HTMLParser):
    """Rows and cells of the tables, and the words and numbers of the answers, of a piece of HTML."""

    def __init__(self):
        super().__init__()
        self.tables, self.answers, self.open = [], [], None

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self.open = self.tables[-1][-1]
        elif tag == "br" and self.open is not None:
            self.open[-1] += "\n"
        elif tag == "div" and ("class", "bv-answer") in attrs:
            self.answers.append([])
        elif tag == "span" and self.answers and not self.tables:
            self.answers[-1].append("")
            self.open = self.answers[-1]

    def handle_endtag(self, tag):
        if tag in ("td", "th", "span"):
            self.open = None

    def handle_data(self, data):
        if self.open is not None:
            self.open[-1] += data


def read_html(body: str) -> tuple[list[Table], list[list[tuple[str, str]]]]:
    """The tables, among them lists with numbers, and the answers of a piece of HTML."""
    cells = _Cells()
    cells.feed(body)
    tables = []
    for head, *every in cells.tables:
        rows = [row for row in every if len(row) > 1]  # not the row that offers others
        columns = {name: [row[i] for row in rows] for i, name in enumerate(head) if i}
        tables.append(Table(head[0], [row[0] for row in rows], columns))
    if any(kind in body for kind in _LISTS):
        names, numbers = zip(*map(re.Match.groups, _LISTED.finditer(body)), strict=True)
        tables.append(Table("", list(map(html.unescape, names)), {"number": list(numbers)}))
    return tables, [list(zip(flat[::2], flat[1::2], strict=True)) for flat in cells.answers]


@dataclass
class Shown:
    """What every page shows of one scene: panels by page and name, downloads by file name."""

    view: object
    panels: dict[tuple[str, str], Panel]
    files: dict[str, object]

    @property
    def trace(self):
        return self.view.trace

    def find(self, page: str, name: str) -> Panel:
        return self.panels[page, name]

    def held(self, name: str) -> np.ndarray:
        """What is in a panel's .npy file."""
        return np.load(io.BytesIO(self.files[f"{name}.npy"]()))

    def written(self, name: str) -> list[list[str]]:
        """What is in a panel's .csv file, its head first."""
        return list(csv.reader(io.StringIO(self.files[f"{name}.csv"]().decode("utf-8"))))


def open_pages(query: dict[str, str], pages=None, keep: bool = False):
    """What every page, or those named, shows of what a link asks for; keep: and the app as it stands then."""
    files, panels = {}, {}
    plain = streamlit.download_button

    def kept(label, data=None, file_name="", *args, **kwargs):
        files[file_name] = data
        return plain(label, data, file_name, *args, **kwargs)

    at = AppTest.from_file(APP, default_timeout=60)
    at.query_params.update({"open": "all", **query})  # every fold
    with pytest.MonkeyPatch.context() as patch, open_menus("code", "values"):
        patch.setattr(streamlit, "download_button", kept)
        take_time(patch)
        at.run()
        for name in [info.name for info in PAGES] if pages is None else pages:
            at.switch_page(f"pages/{name}.py").run()
            if name in _AWAITED:
                assert settle(LONG)
                at.run()
            assert not at.exception, (name, [one.value for one in at.exception])
            for panel in read_page(name, at.main):
                _read_drawer(panel, at.session_state["view"])
                assert (name, panel.name) not in panels, (name, panel.name)
                panels[name, panel.name] = panel
    shown = Shown(at.session_state["view"], panels, files)
    return (shown, at) if keep else shown


def take_time(patch: pytest.MonkeyPatch) -> None:
    """However slow this machine is, all is worked out that is asked for, and no step of a training is taken unasked."""
    for limit in ("WANTED_S", "MOST_S"):
        patch.setattr(findings, limit, 10.0 * LONG)
    patch.setattr(training_run, "_SHORT", 0)  # tokens


def _read_drawer(panel: Panel, view) -> None:
    """Add what the drawer says of the cell that a tensor's panel, or a stop of the story, offers: the formula worked,
    and how exact it is."""
    of_cell = panel.name.partition("[")[0] in view.trace or panel.name.startswith("operands-story-")
    if panel.offered and of_cell:
        text = write_text(view, view.trace.explain(panel.offered))
        panel.formulas += _MATH.findall(text)
        panel.texts += [
            part.removeprefix(":small[:gray[").removesuffix("]]")
            for part in text.split("\n\n")
            if part.startswith(":small[:gray[")
        ]


def read_page(page: str, root) -> list[Panel]:
    """What stands in a page's cards, and last what stands in none."""
    loose = Panel(page, "page")
    found = []
    _walk(root, loose, page, found)
    return [*found, loose]


def _walk(block, panel: Panel, page: str, found: list[Panel]) -> None:
    children = list(block.children.values())
    heading = _find_heading(children)
    if heading:
        of, title = re.search(r'data-of="([^"]*)".*?<b>(.*?)</b>', heading, re.DOTALL).groups()
        panel = Panel(page, html.unescape(title), html.unescape(title), html.unescape(of))
        panel.texts += [html.unescape(_TAGS.sub("", says)) for says in _SAYS.findall(heading)]
        found.append(panel)
    for child in children:
        if hasattr(child, "children"):
            _walk(child, panel, page, found)
        elif child.type == "plotly_chart" and panel.title and panel.figure:  # beside the card's first chart
            found.append(Panel(page, title=panel.title, of=panel.of))
            _take(child, found[-1])
        else:
            _take(child, panel)


def _find_heading(children: list) -> str:
    """The heading of a card, as HTML: the first thing in its first line; empty for any other block."""
    line = list(getattr(children[0], "children", {}).values()) if children else []
    body = line[0].proto.body if line and getattr(line[0], "type", "") == "html" else ""
    return body if TITLE in body else ""


def _take(element, panel: Panel) -> None:
    kind = element.type
    if kind == "plotly_chart":
        panel.figure = json.loads(element.proto.spec)
        panel.name = element.proto.id.partition("-chart-")[2]
    elif kind == "html":
        tables, answers = read_html(element.proto.body)
        panel.tables += tables
        panel.answers += answers
        panel.texts += [html.unescape(_TAGS.sub("", said)) for said in _SUM.findall(element.proto.body)]
        panel.formulas += [html.unescape(tex) for tex in _TEX.findall(element.proto.body)]
        panel.cells += [html.unescape(cell) for cell in _CELL.findall(element.proto.body)]
        offer = _OFFER.search(element.proto.body)
        panel.offered = html.unescape(offer[1]) if offer else panel.offered
    elif kind in ("markdown", "caption", "info", "success", "warning"):
        panel.formulas += _MATH.findall(element.value)
        panel.texts.append(_OFFERED.sub("", _MATH.sub(" ", element.value)))
    elif kind == "latex":
        panel.formulas.append(element.value.strip("$\n"))
    elif kind in ("arrow_data_frame", "dataframe"):
        frame = element.value
        panel.frames.append(Table("", [], {name: list(frame[name]) for name in frame.columns}))
