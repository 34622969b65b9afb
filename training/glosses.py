"""Sentences made from a dictionary: how they are known, and how a wrong article is mended.

A dictionary gives a headword and a definition, which were put together by rule: "X means D.", "a X is D.", "something X
is D.", "to X is to D.", "X: D.". The rule for "a X is D." did not know names ("a Paris is the capital of France"), nor
sounds ("a aluminate is a compound"), nor definitions without an article ("a lipstick is makeup").
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST = 12  # sentences: one definition and its examples; a longer document is prose
_WORD = r"[^\s:.,;?!]+"
_GLOSS = re.compile(
    rf"(?:(?P<article>an?|to|something) )?(?P<head>{_WORD}(?: {_WORD}){{0,5}}?)(?: (?P<verb>means|is) |: )(?P<rest>.+)"
)
_DETERMINERS = ("a ", "an ", "any ", "one ", "some ", "someone ", "something ", "the ")
_VOWEL = re.compile(r"(?!eu|ewe|one\b|once|ou?ija|u(?:ni(?![mn])|[bkst][aeiou]|ran))[aeiou]|hono|hour|heir|honest")


def match_gloss(sentence: str) -> re.Match[str] | None:
    """The parts of a sentence made from a headword and its definition; None for any other sentence."""
    found = _GLOSS.fullmatch(sentence)
    return found if found and (found["verb"] != "is" or found["article"]) else None


def find_gloss(sentences: Sequence[str]) -> re.Match[str] | None:
    """The parts of a document's first sentence where the document is a dictionary's entry."""
    return match_gloss(sentences[0]) if len(sentences) <= _LONGEST else None


def mend_gloss(sentence: str) -> str:
    """The sentence with its article put right; any other sentence as it stands.

    "a X is D": a name with "the" before its definition loses the article ("Paris is the capital of France"). Any other
    name, and any definition that does not begin with an article or the like, becomes "X: D". Else "a" or "an" follows
    the headword's first sound, as far as its letters show it.
    """
    found = match_gloss(sentence)
    if found is None or found["verb"] != "is" or found["article"] not in ("a", "an"):
        return sentence
    head, rest = found["head"], found["rest"]
    if head[0].isupper() and rest.startswith("the "):
        return f"{head} is {rest}"
    if head[0].isupper() or not rest.startswith(_DETERMINERS):
        return f"{head}: {rest}"
    return f"{choose_article(head)} {head} is {rest}"


def choose_article(word: str) -> str:
    """“a” or “an” by the first sound of a word, as far as its letters show it."""
    return "an" if _VOWEL.match(word) else "a"
