"""The page's own number: how far a document's vector ends from BERT's, worked out for the drawer from both passes."""

from __future__ import annotations

from functools import partial

from bertviz_core.analysis.alignment import find_layer_outputs, read_ordered
from bertviz_core.analysis.layers import compute_angles, compute_cosine
from bertviz_core.documents import DOCUMENTS, Document, find_document
from bertviz_core.errors import AddressError
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_degrees, format_number
from bertviz_core.formula.steps import NORM
from bertviz_core.ui.frame.labels import quote
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.told import Told, offer_number, offer_teller
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.worked import write_cosine

_PATH = "documents.cosine"
_SHOWN = 10  # components, the largest products


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
    x, y = (read_ordered(one, find_layer_outputs(one.program)[-1].fix(token=token)).astype(float) for one in traces)
    cosine, terms = float(compute_cosine(x, y)), x * y
    word = quote(view.trace.tokens[token])
    angle = format_degrees(float(compute_angles(x, y)))
    up = int((terms > 0).sum())
    best = sorted(range(len(terms)), key=lambda i: -abs(terms[i]))[:_SHOWN]
    last = f"x^{{(L)}}_{{{token}}}, y^{{(L)}}_{{{token}}}"
    return Told(
        f"Cosine with BERT, {document.name}",
        NORM,
        format_number(cosine),
        f"After the last layer the {document.name}’s {word} stands at **{angle}** to BERT’s. {up} of {len(terms)} "
        "products raise the cosine, the others lower it.",
        [write_cosine(x, y, last)],
        [(f"component {i}: {format_number(x[i])} · {format_number(y[i])}", format_number(terms[i]), "") for i in best],
        f"Worked out from two passes, not one of their steps. The {len(best)} products that are largest in size, of "
        f"{len(terms)}.",
    )


def offer(view: View, name: str) -> None:
    """Let the drawer tell of these numbers, and open with that of the document that is looked at."""
    offer_teller(partial(tell, view))
    if document := find_document(name):
        offer_number(find_cosine(document, view.chosen.token))
