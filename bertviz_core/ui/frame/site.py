"""The pages, in the order of the computation, and which of them shows which stage of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from bertviz_core.formula.address import Address
from bertviz_core.formula.stages import Stage
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True)
class PageInfo:
    """A page: its file under pages/ (and URL), its title, its section of the menu.

    stage: the part of the pass that it shows; short: that part on the map of the pass, in a word or two; leaf: the
    tensor whose shape stands there, inside the chosen layer where the stage is in one.
    """

    name: str
    title: str
    section: str
    icon: str
    stage: Stage | None = None
    short: str = ""
    leaf: str = ""

    def find_shape(self, layer: int) -> Address:
        """The address whose shape stands on the map, in the chosen layer."""
        return Address.in_layer(layer, self.leaf) if self.stage and self.stage.in_layer else Address(self.leaf)


@dataclass(frozen=True)
class Link:
    """Where an address is shown: the page, and what the URL has to say for that."""

    page: PageInfo
    query: Mapping[str, str] = field(default_factory=dict)


DOCUMENTS = "Documents"  # the section that compares BERT with what documents write
_LAYER, _MODEL = "Encoder layer", "Whole model"


def _show_stage(name: str, stage: Stage, section: str, icon: str, short: str, leaf: str) -> PageInfo:
    """The page of a stage, called as the stage is."""
    return PageInfo(name, stage.title, section, icon, stage, short, leaf)


PAGES = (
    PageInfo("overview", "Overview", "Start", ":material/map:"),
    PageInfo("tokenization", "Tokenization", "Input", ":material/content_cut:", Stage.INPUT, "tokens", "input_ids"),
    _show_stage("embeddings", Stage.EMBEDDINGS, "Input", ":material/layers:", "embeddings", "embeddings.LayerNorm"),
    _show_stage("query_key_value", Stage.QUERY_KEY_VALUE, _LAYER, ":material/key:", "Q, K, V", "attention.self.query"),
    _show_stage("attention", Stage.ATTENTION, _LAYER, ":material/hub:", "attention", "attention.self.probs"),
    _show_stage("attention_output", Stage.ATTENTION_OUTPUT, _LAYER, ":material/merge:", "heads merged",
                "attention.output.dense"),
    _show_stage("add_norm", Stage.ADD_NORM, _LAYER, ":material/add_circle:", "add & norm",
                "attention.output.LayerNorm"),
    _show_stage("feed_forward", Stage.FEED_FORWARD, _LAYER, ":material/bolt:", "feed-forward",
                "intermediate.activation"),
    PageInfo("heads", "Heads", _MODEL, ":material/grid_view:"),
    PageInfo("layers", "Layers", _MODEL, ":material/stacks:"),
    _show_stage("predictions", Stage.PREDICTIONS, _MODEL, ":material/target:", "words", "cls.predictions.probs"),
    _show_stage("sentence", Stage.SENTENCE, _MODEL, ":material/short_text:", "sentence", "pooler.activation"),
    PageInfo("story", "Shortest story", _MODEL, ":material/route:"),
    PageInfo("parameters", "Parameters", "Model", ":material/database:"),
    PageInfo("notation", "Notation", "Model", ":material/translate:"),
    PageInfo("documents", "Documents", DOCUMENTS, ":material/compare:"),
    PageInfo("notebook", "Check against the notebook", DOCUMENTS, ":material/fact_check:"),
    PageInfo("playground", "Playground", DOCUMENTS, ":material/toys:"),
)  # fmt: skip
_BY_NAME = {info.name: info for info in PAGES}
_BY_STAGE = {info.stage: info for info in PAGES if info.stage}


def declare_pages() -> StreamlitPage:
    """Declare the pages to Streamlit, in sections; returns the one that the URL asks for."""
    sections: dict[str, list[StreamlitPage]] = {}
    for info, page in zip(PAGES, list_pages().values(), strict=True):
        sections.setdefault(info.section, []).append(page)
    return st.navigation(sections)


def list_pages() -> Mapping[str, StreamlitPage]:
    """Every page by name."""
    return {
        info.name: st.Page(f"pages/{info.name}.py", title=info.title, icon=info.icon, default=info is PAGES[0],
                           url_path=None if info is PAGES[0] else info.name)
        for info in PAGES
    }  # fmt: skip


def find_page(stage: Stage) -> PageInfo:
    """The page that shows a stage."""
    return _BY_STAGE[stage]


def find_link(trace: Trace, where: Address) -> Link:
    """Where an address of a trace is shown: on the page of its stage, as far as BERT as released has it.

    What only a document's program has stands in that program's list of steps. Raises AddressError for an address that
    is not in the trace.
    """
    stage = trace.model.program.stages.get(where.path)
    if stage:
        return Link(find_page(stage))
    step = trace.step(where)
    layer = 0 if step.repeats else step.layer
    chosen = {} if layer is None else {"layer": str(layer)}
    return Link(_BY_NAME["documents"], {"document": trace.program.name, **chosen})


def find_neighbours(name: str) -> tuple[PageInfo | None, PageInfo | None]:
    """The pages before and after one, in the order of the computation."""
    place = [info.name for info in PAGES].index(name)
    return (PAGES[place - 1] if place else None), (PAGES[place + 1] if place + 1 < len(PAGES) else None)
