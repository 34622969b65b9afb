"""A corpus file as documents, and which of them are held out.

The file is plain text, as it is or as .xz: one sentence a line, an empty line between documents. A document may begin
with a line `# source: NAME`, which says where it is from and is no sentence.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bertviz_core.errors import InputError
from training.glosses import find_gloss

LABEL = "# source:"
HELD_OUT = Path(__file__).with_name("held_out.txt")  # of the corpora that the bundled file is made from
DICTIONARY, OTHER = "dictionary", "other"


@dataclass(frozen=True)
class Document:
    """Sentences that follow one another, and where they are from."""

    sentences: tuple[str, ...]
    source: str


def read_documents(*files: Path) -> list[Document]:
    """The documents of .txt or .txt.xz files. Raises InputError where one cannot be read or holds none.

    A document without a label, and not a dictionary's, is named by its file where there are several.
    """
    named = [file.name.partition(".")[0] if len(files) > 1 else OTHER for file in files]
    return [document for file, name in zip(files, named, strict=True) for document in _read_file(file, name)]


def _read_file(file: Path, name: str) -> list[Document]:
    try:
        with lzma.open(file) if file.suffix == ".xz" else file.open("rb") as opened:
            text = opened.read().decode("utf-8")
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise InputError(f"The corpus {file} cannot be read as UTF-8 text ({error}). Give a .txt or .txt.xz.") from None
    documents = [made for block in _cut_blocks(text.splitlines()) if (made := _make_document(block, name))]
    if not documents:
        raise InputError(f"The corpus {file} holds no sentence. It needs one a line, an empty line between documents.")
    return documents


def _cut_blocks(lines: Iterable[str]) -> Iterable[list[str]]:
    block: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            block.append(line.strip())
        elif block:
            yield block
            block = []


def _make_document(lines: list[str], name: str) -> Document | None:
    source = lines[0].removeprefix(LABEL).strip() if lines[0].startswith(LABEL) else ""
    sentences = tuple(lines[1:] if source else lines)
    if not sentences:
        return None
    return Document(sentences, source or (DICTIONARY if find_gloss(sentences) else name))


def is_held_out(document: Document, split: int, one_in: int) -> bool:
    """Whether a document is kept from training: by a hash of its text, so that neither order nor company matters.

    What HELD_OUT lists is kept from it in every split.
    """
    if digest_document(document) in read_held_out():
        return True
    text = f"{split}\n" + "\n".join(document.sentences)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % one_in == 0


def digest_document(document: Document) -> str:
    """The name of a document in a list of those held out."""
    return hashlib.sha256("\n".join(document.sentences).encode()).hexdigest()[:10]


@cache
def read_held_out(file: Path = HELD_OUT) -> frozenset[str]:
    """The documents that no run may read: a digest a line; lines that begin with # say what they are."""
    return frozenset(line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))


def split_documents(documents: Iterable[Document], split: int, one_in: int) -> tuple[list[Document], list[Document]]:
    """The documents to train on, and those held out. Raises InputError where one of the two has none."""
    parts: tuple[list[Document], list[Document]] = ([], [])
    for document in documents:
        parts[is_held_out(document, split, one_in)].append(document)
    if not all(parts):
        raise InputError(
            f"With one document in {one_in} held out, {len(parts[0])} are left to train on and {len(parts[1])} to "
            "measure with. Give a larger corpus or another --held-out."
        )
    return parts


def digest_documents(documents: Iterable[Document]) -> str:
    """A short name for exactly these documents in this order, to tell one corpus from another."""
    text = hashlib.sha256()
    for document in documents:
        text.update("\n".join((document.source, *document.sentences, "", "")).encode())
    return text.hexdigest()[:16]
