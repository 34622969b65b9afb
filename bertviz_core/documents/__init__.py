"""Five documents that describe BERT: how they differ from it, and where the app shows what each of them says."""

from __future__ import annotations

from bertviz_core.documents.article import ARTICLE
from bertviz_core.documents.definition import DEFINITION
from bertviz_core.documents.note import NOTE
from bertviz_core.documents.notebook import NOTEBOOK
from bertviz_core.documents.places import Document, Place
from bertviz_core.documents.post import POST

DOCUMENTS = (NOTE, NOTEBOOK, DEFINITION, POST, ARTICLE)


def markdown() -> str:
    """A table for every document, folded up, for the README."""
    return "\n\n".join(_table(document) for document in DOCUMENTS)


def _table(document: Document) -> str:
    title = f"<summary><b>{document.name}</b> ({document.number}): {len(document.places)} places</summary>"
    lines = ["| place | what it is | page | address |", "|---|---|---|---|", *map(_line, document.places)]
    return "\n\n".join(["<details>", title, f"{document.what} {document.differs}", "\n".join(lines), "</details>"])


def _line(place: Place) -> str:
    what = f"{place.what} ({place.remark})" if place.remark else place.what
    addresses = ", ".join(f"`{address}`" for address in place.addresses) or "the whole page"
    return f"| {place.place} | {what} | {place.page} | {addresses} |"
