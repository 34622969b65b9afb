"""Five documents that describe BERT: how they differ from it, and where the app shows what each of them says."""

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


def write_tables() -> str:
    """A table for every document, folded up, for the README."""
    return "\n\n".join(_write_table(document) for document in DOCUMENTS)


def _write_table(document: Document) -> str:
    title = f"<summary><b>{document.name}</b> ({document.number}): {len(document.places)} places</summary>"
    lines = ["| place | what it is | page | address |", "|---|---|---|---|", *map(_write_line, document.places)]
    return "\n\n".join(["<details>", title, f"{document.what} {document.differs}", "\n".join(lines), "</details>"])


def _write_line(place: Place) -> str:
    what = f"{place.what} ({place.remark})" if place.remark else place.what
    addresses = ", ".join(f"`{address}`" for address in place.addresses) or "the whole page"
    return f"| {place.place} | {what} | {place.page} | {addresses} |"
