"""Documents that describe BERT: how they differ from it, and where the app shows what each of them says."""

from __future__ import annotations

from bertviz_core.documents.article import ARTICLE
from bertviz_core.documents.definition import DEFINITION
from bertviz_core.documents.note import NOTE
from bertviz_core.documents.notebook import NOTEBOOK
from bertviz_core.documents.places import Document, Place
from bertviz_core.documents.post import POST

DOCUMENTS = (NOTE, NOTEBOOK, DEFINITION, POST, ARTICLE)


def find_document(program: str) -> Document | None:
    """The document that a program is written after, also a variant of it; None for BERT as released."""
    return next((one for one in DOCUMENTS if program.startswith(one.program)), None)


def find_title(program: str) -> str:
    """A program as menus and headings call it: its document with its number."""
    document = find_document(program)
    if document is None:
        return "BERT as released"
    return f"{document.name} ({document.number}){', dropout on' if program.endswith('dropout') else ''}"


_INTRODUCTION = (
    "# Documents\n\n"
    "Several texts describe BERT, each in its own way. They agree neither with each other nor in every point with BERT "
    "as released. These tables list every formula, line of pseudocode and code cell of theirs, and where the app shows "
    "it: on the page of that name, under that [address](addresses.md) (`{i}` is the layer). Below each stands what no "
    "step computes: sizes, sets, settings and pictures, these by what they show. The page *Notation* lists what each "
    "of them calls a quantity. The page *Documents* runs each as it is written, beside BERT; where a document leaves "
    "something open, its step says what is taken. [All their slips](slips.md) have a list of their own."
)


def write_tables() -> str:
    """All documents with what is special about each, and a table of its places, as Markdown."""
    return "\n\n".join([_INTRODUCTION, *map(_write_table, DOCUMENTS)]) + "\n"


def _write_table(document: Document) -> str:
    title = f"## {document.name[0].upper()}{document.name[1:]} ({document.number})"
    lines = ["| place | what it is | page | address |", "|---|---|---|---|", *map(_write_line, document.places)]
    others = ["| no step computes | what it is | page |", "|---|---|---|"]
    others += [f"| {other.place} | {other.what} | {other.page} |" for other in document.others]
    return "\n\n".join([title, f"{document.what} {document.differs}", "\n".join(lines), "\n".join(others)])


def _write_line(place: Place) -> str:
    what = f"{place.what} ({place.remark})" if place.remark else place.what
    addresses = ", ".join(f"`{address}`" for address in place.addresses) or "the whole page"
    return f"| {place.place} | {what} | {place.page} | {addresses} |"
