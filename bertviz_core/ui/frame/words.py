"""Words of the glossary in the app's own texts: a pointer, a tap or the Tab key on one shows what it means."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape

import streamlit as st

from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.ui.frame.labels import escape_markdown

_MEANINGS = {word.lower(): meaning for word, meaning in GLOSSARY.items()}
_FORMS = {form: word for word in _MEANINGS for form in (word, f"{word}s", f"{word}es", f"{word.removesuffix('y')}ies")}
_NAMES = "|".join(re.escape(form) for form in sorted(_FORMS, key=len, reverse=True))
_WORD = re.compile(rf"(?<![\w-])({_NAMES})(?![\w-])", re.IGNORECASE)
# Code, formulas, escaped signs, and what is quoted, which are tokens and texts of a user's, stay as they are.
_LITERAL = re.compile(r"(`[^`]*`|\$[^$]*\$|“[^”]*”|\\.)")
_INDEX = re.compile(r"_(\w)")  # of a symbol among the words
_QUESTION = re.compile(r"[^?*]+\?(?= )")
_ONE_LINE = 44  # characters that a phone shows of a headline in one line


def set_question_apart(headline: str) -> str:
    """A headline as Markdown: the question of one that is too long for one line of a phone is emphasized, since it
    stands in a line of its own there."""
    if len(headline.replace("*", "").replace("\\", "")) <= _ONE_LINE:
        return headline
    return _QUESTION.sub(r"*\g<0>*", headline, count=1) if _QUESTION.match(headline) else headline


def show_text(text: str) -> None:
    """Markdown of the app's own, never of a user's: the first use of each word of the glossary carries its meaning."""
    st.markdown(explain_words(text), unsafe_allow_html=True)


def show_note(text: str) -> None:
    """The same as a caption; nothing of an empty text."""
    if text:
        st.caption(explain_words(text), unsafe_allow_html=True)


def render_text(text: str) -> str:
    """Plain text as HTML, with the same meanings: what a page begins with needs no Markdown, which is slow to load."""
    return explain_words(escape(text, quote=False), escape)


@lru_cache(maxsize=1 << 9)
def explain_words(text: str, write: Callable[[str], str] = escape_markdown) -> str:
    """The same Markdown with HTML around the first use of each word of the glossary. write: makes text of a meaning."""
    seen: set[str] = set()

    def mark(match: re.Match[str]) -> str:
        word = _FORMS[match[0].lower()]
        if word in seen:
            return match[0]
        seen.add(word)
        meaning = write(_MEANINGS[word])
        shown = _INDEX.sub(r"<sub>\1</sub>", match[0])
        return f'<span class="bv-term" tabindex="0">{shown}<span role="tooltip">{meaning}</span></span>'

    return "".join(part if _LITERAL.fullmatch(part) else _WORD.sub(mark, part) for part in _LITERAL.split(text))
