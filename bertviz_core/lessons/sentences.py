"""Of a sentence: its words, one that is worth asking about, what a click on a token means, and one's own sentence."""

from __future__ import annotations

from bertviz_core.analysis.heads import Sentence
from bertviz_core.errors import InputError
from bertviz_core.formula.address import Address
from bertviz_core.lessons.lesson import Verdict
from bertviz_core.lessons.marking import read_number
from bertviz_core.lessons.scene import Scene

_PREFIX = "##"  # of a piece that goes on a word
LEAST_LETTERS = 3  # letters of a word that is worth asking about


def is_piece(token: str) -> bool:
    """Whether a token goes on the word before it."""
    return token.startswith(_PREFIX) and token != _PREFIX


def list_plain(scene: Scene) -> tuple[int, ...]:
    """The positions of what was typed and is no mark: words, and pieces of words."""
    special = scene.model.tokenizer.special_tokens
    signs = Sentence(scene.tokens, special).punctuation
    return tuple(i for i, token in enumerate(scene.tokens) if token not in special and not signs[i])


def list_words(scene: Scene) -> tuple[int, ...]:
    """The positions of the words that are one token each."""
    tokens = [*scene.tokens, ""]
    return tuple(i for i in list_plain(scene) if not is_piece(tokens[i]) and not is_piece(tokens[i + 1]))


def find_rarest(scene: Scene, *without: int) -> int | None:
    """The word that stands furthest down in the vocabulary, where frequent ones come first; None where none will do."""
    tokens, ids = scene.tokens, scene.trace.encoding.ids
    words = [
        i
        for i in list_words(scene)
        if i not in without and len(tokens[i]) >= LEAST_LETTERS and tokens[i].isascii() and tokens[i].isalpha()
    ]
    return max(words, key=lambda i: (ids[i], -i), default=None)


def find_token(_: Scene, cell: Address) -> int | None:
    """The token whose id, or whose chip, was clicked."""
    return cell.at.get("token") if cell.path == "input_ids" else None


def has_head(scene: Scene) -> bool:
    """Whether the model can be asked for a word."""
    return "cls.predictions.probs" in scene.trace


def read_own(scene: Scene, text: str) -> Scene | Verdict:
    """The pass of a sentence of one's own at the same layer and head; or why there is none, which is no try."""
    try:
        return scene.read(text)
    except InputError as error:
        return Verdict(False, str(error), counted=False)


def read_whole(typed: str) -> int | None:
    """A whole number, as typed; None for anything else."""
    value = read_number(typed)
    return int(value) if value is not None and value == int(value) else None
