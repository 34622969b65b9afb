"""What each of the documents makes of a sentence, run as it is written: how far from BERT, and which answer."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from bertviz_core.analysis.alignment import guess_words, measure_layers
from bertviz_core.programs import DOCUMENT_PROGRAMS
from bertviz_core.tracing.trace import Trace


@dataclass(frozen=True)
class DocumentRun:
    """A document's pass at one token.

    cosines: of its vector after each layer with BERT's; word, probability: its likeliest entry, which BERT's own head
    reads where the document ends before the words. Without a language model head the word is "".
    """

    program: str
    cosines: tuple[float, ...]
    word: str = ""
    probability: float = 0.0


def run_documents(
    trace: Trace, token: int, run_as: Callable[[str], Trace]
) -> Generator[tuple[float, tuple[DocumentRun, ...]]]:
    """Run every document on the tokens of BERT's pass; what is known after each. run_as: runs one, by its program."""
    found: list[DocumentRun] = []
    for program in DOCUMENT_PROGRAMS:
        found.append(read_document(trace, run_as(program), token))
        yield len(found) / len(DOCUMENT_PROGRAMS), tuple(found)


def read_document(trace: Trace, other: Trace, token: int) -> DocumentRun:
    """How far a document's pass is from BERT's at a token, and what it answers there."""
    cosines = tuple(float(layer.cosines[token]) for layer in measure_layers(trace, other))
    best = next(iter(guess_words(other, token, 1)), None)
    name = other.program.name
    return DocumentRun(name, cosines) if best is None else DocumentRun(name, cosines, best.token, best.probability)
