"""The pages, in the order of the computation, and which of them shows which stage of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from bertviz_core.formula.address import Address
from bertviz_core.formula.dims import TOKEN_AXES
from bertviz_core.formula.stages import Stage
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import DOCUMENT, HEAD, KEY_TOKEN, LAYER, TOKEN, WHERE, Key
from bertviz_core.ui.frame.link import list_whole_query
from bertviz_core.ui.frame.streamlit_inside import read_asked_page
from bertviz_core.ui.frame.view import Selection
from bertviz_core.ui.frame.walked import name_page
from bertviz_core.version import PROJECT

Query = Mapping[Key[str], str]  # what a URL has to say


@dataclass(frozen=True)
class PageInfo:
    """A page: its file under pages/ (and URL), its title, its section of the menu.

    line: what is seen there, in a few words, `{tokens}` and others for numbers of the pass; stage: the part of the pass
    that it shows; kind: of vector, whose colour it has; unchanged: it compares documents with the pass before any
    what-if change; tokens: whether it shows those of the sentence; explains: whether the drawer explains a number of
    the page's own there, as a rule.
    """

    name: str
    title: str
    section: str
    icon: str
    line: str
    stage: Stage | None = None
    kind: str = ""
    unchanged: bool = False
    tokens: bool = True
    explains: bool = True

    @property
    def tab(self) -> str:
        """What the browser's tab says: the page first, since of many tabs only a word can be read."""
        return f"{self.title} · {PROJECT}"

    @property
    def on_map(self) -> bool:
        """Whether the map leads to it: to what shows a part of the pass, and to what an answer is made of."""
        return self.section == _PASS and bool(self.kind)

    @property
    def of_sentence(self) -> bool:
        """Whether it shows a pass of the sentence."""
        return self.section in (_PASS, _TWO, _WHOLE)

    @property
    def of_two(self) -> bool:
        """Whether it sets a second pass beside that of the sentence."""
        return self.section == _TWO


@dataclass(frozen=True)
class Link:
    """Where an address is shown: the page, and what the URL has to say for that."""

    page: PageInfo
    query: Query = field(default_factory=dict[Key[str], str])


_NOTHING: Query = MappingProxyType({})
_PASS, _TWO, _WHOLE, _READ = "Follow the pass", "Two passes", "The whole model", "Read and run"
_DECLARED: Key[Mapping[str, StreamlitPage]] = Key("pages", {})  # this run's pages as Streamlit knows them, by name


def _show_stage(stage: Stage, icon: str, line: str, kind: str) -> PageInfo:
    """The page of a stage, called as the stage is."""
    return PageInfo(name_page(stage), stage.title, _PASS, icon, line, stage, kind)


# fmt: off
# Laid out by hand: an entry reads as a line of a table.
PAGES = (
    PageInfo("overview", "Overview", _PASS, ":material/map:", "the whole pass in one picture", explains=False),
    PageInfo(name_page(Stage.INPUT), "Tokenization", _PASS, ":material/content_cut:",
             "the text becomes {tokens} tokens", Stage.INPUT, "prediction"),
    _show_stage(Stage.EMBEDDINGS, ":material/layers:", "each token gets {hidden} numbers", "embedding"),
    _show_stage(Stage.QUERY_KEY_VALUE, ":material/key:", "what each token asks and offers", "query"),
    _show_stage(Stage.ATTENTION, ":material/hub:", "who looks at whom", "attention"),
    _show_stage(Stage.ATTENTION_OUTPUT, ":material/merge:", "brought home by {heads}", "value"),
    _show_stage(Stage.ADD_NORM, ":material/add_circle:", "added to the token, put on scale", "norm"),
    _show_stage(Stage.FEED_FORWARD, ":material/bolt:", "{neurons} neurons read each token", "ffn"),
    _show_stage(Stage.PREDICTIONS, ":material/target:", "which word fits the blank", "prediction"),
    PageInfo("where_from", "Where from", _PASS, ":material/account_tree:", "which tokens carried the word",
             kind="prediction"),
    _show_stage(Stage.SENTENCE, ":material/short_text:", "does B follow A?", "prediction"),
    PageInfo("patch", "Patch", _TWO, ":material/swap_horiz:", "one pass’s numbers in the other", kind="attention"),
    PageInfo("compare", "Compare", _TWO, ":material/compare_arrows:", "how far apart they end", kind="norm"),
    PageInfo("heads", "Heads", _WHOLE, ":material/grid_view:", "what {every_head} does", kind="attention"),
    PageInfo("layers", "Layers", _WHOLE, ":material/stacks:", "when the answer is there", kind="norm"),
    PageInfo("story", "Shortest story", _WHOLE, ":material/route:", "from the answer to the ids", kind="prediction"),
    PageInfo("parameters", "Parameters", _WHOLE, ":material/database:", "{parameters} learned numbers",
             tokens=False),
    PageInfo("learn", "Learn", _READ, ":material/school:", "{lessons} lessons, marked from the pass", explains=False),
    PageInfo("formulas", "All formulas", _READ, ":material/function:", "each with code and source"),
    PageInfo("documents", "Documents", _READ, ":material/compare:", "where {documents} texts differ from BERT",
             unchanged=True),
    PageInfo("training", "Training", _READ, ":material/model_training:", "a small BERT learns, step by step",
             unchanged=True),
    PageInfo("playground", "Playground", _READ, ":material/toys:", "the softmax of your own numbers", unchanged=True,
             explains=False),
    PageInfo("notebook", "Notebook", _READ, ":material/fact_check:", "its numbers beside these", unchanged=True,
             explains=False),
    PageInfo("notation", "Notation", _READ, ":material/translate:", "rows or columns, which letters", explains=False),
)
# fmt: on
_BY_NAME = {info.name: info for info in PAGES}
_BY_STAGE = {info.stage: info for info in PAGES if info.stage}


def declare_pages() -> tuple[PageInfo, StreamlitPage]:
    """Declare the pages to Streamlit, which shows no list of them; returns the one that the URL asks for."""
    declared = {info.name: copy(_make_page(info)) for info in PAGES}
    state.write(_DECLARED, declared)
    asked = st.navigation(list(declared.values()), position="hidden")
    return _BY_NAME[asked.url_path or PAGES[0].name], asked


def find_lost() -> tuple[str, PageInfo | None]:
    """The name of a page that there is not, by which the URL asks for this run, and the page that is called most like
    it; "" where there is such a page."""
    name = read_asked_page()
    if name in _BY_NAME or not name:
        return "", None
    called = {each: info for info in PAGES for each in (info.name, info.title.lower().replace(" ", "_"))}
    near = get_close_matches(re.sub(r"\W+", "_", name.lower()), called, 1)
    return name, called[near[0]] if near else None


@cache
def _make_page(info: PageInfo) -> StreamlitPage:
    """A page as Streamlit knows it; to make one, it looks for its file. Each run has its own copy."""
    first = info is PAGES[0]
    return st.Page(
        f"pages/{info.name}.py", title=info.tab, icon=info.icon, default=first, url_path=None if first else info.name
    )


def show_link(
    info: PageInfo,
    label: str = "",
    icon: str | None = None,
    query: Query = _NOTHING,
    says: Mapping[str, str] | None = None,
) -> None:
    """A link to a page that carries all that is chosen.

    query: what else, or something else, the page shall show, "" for what is as usual there; says: what is chosen, where
    links to many pages are drawn, from `url.list_queries`.
    """
    carried = url.list_queries([info.name])[info.name] if says is None else says
    st.page_link(
        state.read(_DECLARED)[info.name],
        label=label or info.title,
        icon=icon,
        query_params={name: text for name, text in {**carried, **_write_query(query)}.items() if text},
    )


def _write_query(query: Query) -> dict[str, str]:
    return {key.name: text for key, text in query.items()}


def tell_address() -> dict[str, object]:
    """The address of what is drawn, which the browser compares with its own: page, query, and what pages there are.

    link: the query of one that is copied.
    """
    first, *others = (info.name for info in PAGES)
    page = url.read_page()
    return {
        "page": "" if page == first else page,
        "pages": others,
        "query": url.list_query(),
        "link": list_whole_query(),
    }


def switch_to(name: str) -> None:
    """Go to the page of this name with all that is chosen; this run ends here."""
    st.switch_page(state.read(_DECLARED)[name], query_params=url.list_queries([name])[name])


def get_page(name: str) -> PageInfo:
    """The page of this name."""
    return _BY_NAME[name]


def find_page(stage: Stage) -> PageInfo:
    """The page that shows a stage."""
    return _BY_STAGE[stage]


def name_place(where: Address, here: Selection) -> dict[Key[str], str]:
    """What a URL has to say for a page to look at a cell: its layer, head and token; what it has not, as here."""
    at = where.at
    tokens = [index for axis, index in where.index if axis in TOKEN_AXES]
    place = {
        LAYER: here.layer if where.layer is None else where.layer,
        HEAD: at.get("head", here.head),
        TOKEN: tokens[0] if tokens else here.token,
    }
    if {"query", "key"} <= at.keys():
        place[KEY_TOKEN] = at["key"]
    return {key: str(index) for key, index in place.items()}


def find_link(trace: Trace, where: Address) -> Link:
    """Where an address of a trace is shown: on the page of its stage, as far as BERT as released has it.

    What only a document's program has stands in that program's list of steps. Raises AddressError for an address that
    is not in the trace.
    """
    stage = trace.model.program.stages.get(where.path)
    if stage:
        second = stage is Stage.ADD_NORM and where.leaf.startswith("output.")
        return Link(find_page(stage), {WHERE: "feed-forward"} if second else {})
    step = trace.step(where)
    layer = 0 if step.repeats else step.layer
    chosen = {} if layer is None else {LAYER: str(layer)}
    return Link(get_page("documents"), {DOCUMENT: trace.program.name, **chosen})
