"""The pages, in the order of the computation, and which of them shows which address."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.navigation.page import StreamlitPage


@dataclass(frozen=True)
class PageInfo:
    """A page: its file under pages/ (and URL), its title, its section of the menu, the addresses it shows.

    stage: its place on the map of the pass, in a word or two, with the address whose shape stands there.
    """

    name: str
    title: str
    section: str
    icon: str
    shows: str = r"(?!)"  # a pattern; this one fits nothing
    stage: tuple[str, str] | None = None


DOCUMENTS = "Documents"  # the section that compares BERT with what documents write
_IDS = r"input_ids|token_type_ids|attention_mask"

PAGES = (
    PageInfo("overview", "Overview", "Start", ":material/map:"),
    PageInfo("tokenization", "Tokenization", "Input", ":material/content_cut:", _IDS, ("tokens", "input_ids")),
    PageInfo("embeddings", "Embeddings", "Input", ":material/layers:", r"embeddings\..*|position_ids",
             ("embeddings", "embeddings.LayerNorm")),
    PageInfo("query_key_value", "Query, key, value", "Encoder layer", ":material/key:",
             r".*\.attention\.self\.(query|key|value)(\..*)?",
             ("Q, K, V", "encoder.layer.{layer}.attention.self.query")),
    PageInfo("attention", "Attention scores", "Encoder layer", ":material/hub:",
             r".*\.attention\.self\.(products|scaled|scores|probs)",
             ("attention", "encoder.layer.{layer}.attention.self.probs")),
    PageInfo("attention_output", "Attention output", "Encoder layer", ":material/merge:",
             r".*\.attention\.(self\.context|output\.dense)(\..*)?",
             ("heads merged", "encoder.layer.{layer}.attention.output.dense")),
    PageInfo("add_norm", "Add & Norm", "Encoder layer", ":material/add_circle:",
             r"encoder\..*output\.(residual|LayerNorm).*",
             ("add & norm", "encoder.layer.{layer}.attention.output.LayerNorm")),
    PageInfo("feed_forward", "Feed-forward", "Encoder layer", ":material/bolt:", r".*\.(intermediate|output)\..*",
             ("feed-forward", "encoder.layer.{layer}.intermediate.activation")),
    PageInfo("heads", "Heads", "Whole model", ":material/grid_view:"),
    PageInfo("layers", "Layers", "Whole model", ":material/stacks:"),
    PageInfo("predictions", "Predictions", "Whole model", ":material/target:", r"cls\.predictions\..*",
             ("words", "cls.predictions.probs")),
    PageInfo("sentence", "Sentence", "Whole model", ":material/short_text:",
             r"(pooler|cls\.seq_relationship|classifier).*",
             ("sentence", "pooler.activation")),
    PageInfo("story", "Shortest story", "Whole model", ":material/route:"),
    PageInfo("parameters", "Parameters", "Model", ":material/database:"),
    PageInfo("notation", "Notation", "Model", ":material/translate:"),
    PageInfo("documents", "Documents", DOCUMENTS, ":material/compare:"),
    PageInfo("notebook", "Check against the notebook", DOCUMENTS, ":material/fact_check:"),
    PageInfo("playground", "Playground", DOCUMENTS, ":material/toys:"),
)  # fmt: skip


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


def find_page(address: str) -> PageInfo | None:
    """The page that shows an address."""
    return next((info for info in PAGES if re.fullmatch(info.shows, address)), None)


def find_neighbours(name: str) -> tuple[PageInfo | None, PageInfo | None]:
    """The pages before and after one, in the order of the computation."""
    place = [info.name for info in PAGES].index(name)
    return (PAGES[place - 1] if place else None), (PAGES[place + 1] if place + 1 < len(PAGES) else None)
