"""The page's own number: how far a document's vector ends from BERT's, worked out for the drawer from both passes."""

from __future__ import annotations

from functools import partial

import numpy as np

from bertviz_core.analysis.alignment import find_layer_outputs, read_ordered
from bertviz_core.analysis.claims import Claim, Part, say
from bertviz_core.analysis.layers import compute_angles
from bertviz_core.documents import DOCUMENTS, Document, find_document
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_degrees
from bertviz_core.formula.steps import NORM
from bertviz_core.formula.texts import name_token
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.told import Told, offer_number, offer_teller
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.walk.worked_out import COSINE, Compared, compare

_PATH = f"documents.{COSINE}"


def find_cosine(document: Document, token: int) -> Address:
    """The address of the cosine of a document's vector with BERT's, after the last layer."""
    return Address(_PATH).fix(document=int(document.number), token=token)


def tell(view: View, where: Address) -> Told | None:
    """What is told of such an address; None for another. Raises AddressError where it names nothing."""
    if where.path != _PATH:
        return None
    at = where.at
    if not (at.get("document", -1) in range(len(DOCUMENTS)) and at.get("token", -1) in range(len(view.trace.tokens))):
        raise AddressError(f"{where} names no document and token: there are {len(DOCUMENTS)} documents.")
    token, document = at["token"], DOCUMENTS[at["document"]]
    traces = view.trace, view.run_as(document.program, get_store())
    rows = [find_layer_outputs(one.program)[-1].fix(token=token) for one in traces]
    x, y = (read_ordered(one, row).astype(np.float64) for one, row in zip(traces, rows, strict=True))
    parts = {
        "up": Part(int((x * y > 0).sum())),
        "down": Part(int((x * y < 0).sum())),
        "all": Part(len(x)),
        "angle": Part(float(compute_angles(x, y)), format_degrees),
        "document": Part(document.name),
        "word": Part(name_token(view.trace.tokens, token)),
    }
    form = (
        "After the last layer the {document}’s {word} stands at **{angle}** to BERT’s. Of {all} products {up} "
        "raise the cosine, {down} lower it."
    )
    return compare(
        f"Cosine with BERT, {document.name}",
        NORM,
        say(Claim("cosine with a document", form, parts)),
        Compared("BERT", x, "x", (lambda i: rows[0].fix(hidden=i)) if np.array_equal(x, traces[0][rows[0]]) else None),
        Compared(f"document {document.number}", y, "y"),
    )


def offer(view: View, name: str) -> None:
    """Let the drawer tell of these numbers, and open with that of the document that is looked at."""
    offer_teller(partial(tell, view))
    if document := find_document(name):
        offer_number(find_cosine(document, view.chosen.token))
