"""What is typed as an answer: a word as an entry of the vocabulary, a sentence with one [MASK]."""

from __future__ import annotations

from dataclasses import replace

from bertviz_core.analysis.predictions import find_masks
from bertviz_core.formula.texts import spell_controls
from bertviz_core.lessons.lesson import Verdict
from bertviz_core.lessons.scene import Scene


def read_entry(scene: Scene, word: str) -> int | Verdict:
    """The one entry of the vocabulary that a typed word is; else what is to be typed instead.

    Raises InputError for text that is not valid Unicode.
    """
    tokenizer, text = scene.model.tokenizer, word.strip()
    known = tokenizer.id(text) if text else None
    ids = list(tokenizer.pieces(text)) if known is None else [known]
    if not ids:
        return Verdict(False, "Write one word.", counted=False)
    named = f"“{spell_controls(text)}”"
    if len(ids) > 1:
        pieces = " ".join(tokenizer.name(i) for i in ids)
        return Verdict(False, f"{named} is no entry of the vocabulary; it is cut into {pieces}. Try another.", False)
    if tokenizer.name(ids[0]) == tokenizer.unk_token and text != tokenizer.unk_token:
        return Verdict(False, f"The vocabulary cannot spell {named}. Try another word.", counted=False)
    return ids[0]


def read_sentence(scene: Scene, text: str) -> Scene | Verdict:
    """A typed sentence with one [MASK], looked at there; else what is to be typed instead.

    Raises InputError where the model cannot read it.
    """
    own = scene.read(text)
    masks = find_masks(own.trace)
    if len(masks) != 1:
        return Verdict(False, "Write a sentence with one [MASK].", counted=False)
    return replace(own, token=masks[0])
