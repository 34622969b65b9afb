"""A document's places: a formula, a line or a code cell of it, and where the app shows what it says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bertviz_core.documents.slips import Slip
from bertviz_core.programs.names import SELF_ATTENTION

LAYER = "encoder.layer.{i}."  # what the address of a tensor of every layer begins with, its number left open
SELF, OUT = f"L.{SELF_ATTENTION.path}.", "L.attention.output."  # beginnings of addresses, as `row` takes them
RELU = "the document has ReLU, BERT its own activation"


@dataclass(frozen=True)
class Place:
    """A formula, a line or a code cell of a document, and the page and addresses where the app shows it.

    place: the formula as LaTeX, the cell's number or the section; addresses: `{i}` stands for the layer, and none for
    the page as a whole; remark: in what the page shows something else than the document says.
    """

    place: str
    what: str
    page: str
    addresses: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Document:
    """One document: its number and name, what it is, in what it differs from BERT as released, and its places.

    form: what it is, in a few words for a row of a table;
    slips: its own errors; others: what no step computes: sizes, sets, settings and pictures, and where the app has it.
    """

    number: str
    name: str
    form: str
    what: str
    differs: str
    places: tuple[Place, ...]
    slips: tuple[Slip, ...]
    others: tuple[Place, ...] = ()

    @property
    def program(self) -> str:
        """The name of the program that runs it as it is written."""
        return self.name.replace(" ", "-")


def put(place: str, what: str, page: str, addresses: str = "", remark: str = "") -> Place:
    """A place whose addresses are written in one string, `L.` standing for the layer's path."""
    paths = (LAYER + address[2:] if address.startswith("L.") else address for address in addresses.split())
    return Place(place, what, page, tuple(paths), remark)


def put_cells(numbers: str, what: str, page: str, addresses: str = "", remark: str = "") -> Iterable[Place]:
    """One place for each cell of a notebook; cells that show one thing are written together."""
    return (put(f"`In [{number}]`", what, page, addresses, remark) for number in numbers.split())


def place_attention(formula: str) -> Place:
    """Scaled dot-product attention in one formula, as two documents print it."""
    addresses = f"{SELF}products {SELF}scaled {SELF}probs {SELF}context"
    return put(formula, "scaled dot-product attention", "attention", addresses)


def place_heads(formula: str) -> Place:
    """The heads put together, as two documents print it."""
    return put(
        formula, "concatenated heads, projected by the output matrix", "attention_output", f"{SELF}context {OUT}dense"
    )


def place_head(formula: str) -> Place:
    """One head of its own, as two documents print it."""
    return put(
        formula,
        "one head: queries, keys and values from its own matrices",
        "query_key_value",
        f"{SELF}query {SELF}key {SELF}value",
    )
