"""The tokenizer's record on screen."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import streamlit as st

from bertviz_core.analysis.claims import Part, Said, say, say_largest
from bertviz_core.analysis.heads import is_sign
from bertviz_core.checkpoint.wordpiece import Record, Search, Word
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import join_words, write_count
from bertviz_core.ui.frame import state, url
from bertviz_core.ui.frame.keys import Key
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card

_SHOWN_REJECTED = 8  # at once, of one search
_CHOICES = 8
_EXAMPLE = "electroencephalography"
_SHOWN_WORDS = 60
_LONGEST = (
    r"\begin{aligned} e &= \max\,\{\, j : w_{s \ldots j} \in V \,\} \\ "
    r"s_{\mathrm{next}} &= e + 1 \end{aligned}"
)
_CUT = (
    "From letter s on the longest candidate in V is taken, and the search goes on behind it. ##: a piece that "
    "continues a word."
)
_UNCUT = "The whole word is an entry of V: it is not cut."
_SPLIT = Key("split", "", 100)


def show_stages(view: View) -> None:
    """Each change to the text's characters, and the words it is cut into."""
    for record in _make_records(view):
        with st.container(border=True):
            rows = [("as typed", record.text), *record.stages]
            texts = [None, *(text for _, text in rows)]
            st.html("".join(_render_stage(*row, before) for row, before in zip(rows, texts, strict=False)))
            words = " ".join(f'<span class="bv-token bv-word">{escape(word.text)}</span>' for word in record.words)
            st.html(
                f"<p>split at spaces and around punctuation: {tell_words(record.words)}</p>"
                f'<div class="bv-tokens">{words}</div>'
            )


def tell_words(words: Sequence[Word]) -> str:
    """How many of what a text is split into are words, punctuation marks and special tokens."""
    specials = [word for word in words if word.is_special]
    marks = [word for word in words if all(map(is_sign, word.text)) and not word.is_special]
    others = len(words) - len(specials) - len(marks)
    counts = [(others, "word"), (len(marks), "punctuation mark"), (len(specials), "special token")]
    return join_words([write_count(count, name) for count, name in counts if count or name == "word"])


def bind_word() -> None:
    """Let the word whose search is shown stand in the URL."""
    url.bind(_SPLIT)


def show_search(view: View) -> None:
    """The search of one word: a column a piece, the rejected candidates struck out, longest first."""
    searched, asked = _list_searched(view), state.read(_SPLIT).strip()
    word, reason = _choose_word(view, searched, asked)
    if word is None:
        return
    tried, found = _count_tried(word), sum(search.found is not None for search in word.searches)
    heading = Heading(
        f"The search for the longest piece: “{word.text}”", "", _LONGEST, "V: the vocabulary; s: where a search starts"
    )
    with open_card(view, PREDICTION, heading, "the vocabulary", code=_show_code):
        whole, other = st.columns([13, 5], vertical_alignment="center", gap="medium")
        whole.html(f"<div>{_render_choices(searched, word)}{_render_brackets(word)}</div>")
        other.text_input(
            "Another word",
            key=_SPLIT.name,
            max_chars=_SPLIT.longest,
            placeholder="Another word",
            label_visibility="collapsed",
        )
        st.html(_render_stairs(view, word))
        st.caption(
            f"{write_count(tried, 'candidate')}: {tried - found} rejected, {found} found. {reason} "
            f"{_UNCUT if word.pieces == (word.text,) else _CUT}"
        )


def _show_code() -> None:
    st.code("while word[s:e] not in V:\n    e -= 1", language=None)


def _list_searched(view: View) -> list[Word]:
    """The sentence's different words that are not found at the first try, the longest search first."""
    words = dict.fromkeys(word for record in _make_records(view) for word in record.words if word.searches)
    return sorted((word for word in words if word.pieces != (word.text,)), key=lambda word: -_count_tried(word))


def _count_tried(word: Word) -> int:
    """How many candidates were looked up."""
    return sum(len(search.rejected) + (search.found is not None) for search in word.searches)


def tell_search(view: View) -> Said:
    """Whether the word that is shown first takes more candidates than any other of the sentence."""
    tried = np.array([_count_tried(word) for word in _list_searched(view)])
    if not tried.size:
        return say()
    parts = {"tried": Part(int(tried[0]))}
    return say_largest(
        ("longest search", "It has the longest search of this sentence."),
        ("no longer search", "No other word of this sentence has a longer search."),
        parts,
        tried,
        (0,),
    )


def _choose_word(view: View, searched: list[Word], asked: str) -> tuple[Word | None, str]:
    """The word that is shown, and why it is this one. None where the checkpoint's rules are not known."""
    record = view.trace.model.tokenizer.record(asked or _EXAMPLE)
    if record is None:
        return None, ""
    if searched and not asked:
        return searched[0], tell_search(view).text
    words = [word for word in record.words if word.searches]
    if not words:
        return (searched or [None])[0], "Nothing of what was typed is searched."
    word = max(words, key=lambda word: len(word.searches))
    return word, "" if asked else f"{_tell_found(view)}; this is another one."


def _tell_found(view: View) -> str:
    """What can be said of a sentence none of whose searches rejects anything: of a word that is too long there is no
    search, and it is unknown."""
    words = [word for record in _make_records(view) for word in record.words if not word.is_special]
    if not any(word.searches for word in words):
        return "No word of the sentence is searched"
    every = "Every word" if all(word.searches for word in words) else "Every word that is searched"
    return f"{every} of the sentence is found at the first try"


def _tell_pieces(word: Word) -> str:
    return "unknown" if word.note else write_count(len(word.pieces), "piece")


def _render_choices(searched: list[Word], word: Word) -> str:
    """The sentence's words that are cut into pieces, as buttons."""
    buttons = "".join(
        f'<button data-choose="{_SPLIT.name}={escape(each.text)}" aria-pressed="{str(each.text == word.text).lower()}">'
        f"{escape(each.text)} <small>{_tell_pieces(each)}</small></button>"
        for each in searched[:_CHOICES]
    )
    return f'<div class="bv-pieces">{buttons}</div>' if buttons else ""


def _render_stairs(view: View, word: Word) -> str:
    columns = "".join(_render_column(view, i, search) for i, search in enumerate(word.searches, 1))
    note = f"<div><span>{escape(word.note)}</span></div>" if word.note else ""
    return f'<div class="bv-stairs" data-picture>{columns}{note}</div>'


def _render_column(view: View, number: int, search: Search) -> str:
    """One search: how many were rejected, which, a dot for each letter left out, and what was found, with its id."""
    struck = [
        f'<s data-cut="{"·" * (len(search.rejected[0]) - len(candidate))}">{escape(candidate)}</s>'
        for candidate in search.rejected
    ]
    first, rest = struck[:_SHOWN_REJECTED], struck[_SHOWN_REJECTED:]
    more = f"<details><summary>… {len(rest)} more</summary>{''.join(rest)}</details>" if rest else ""
    count = f"{len(search.rejected)} rejected" if search.rejected else "at the first try"
    found = (
        f'<div class="bv-found-line"><b class="bv-found">{escape(search.found)}</b>'
        f"{view.trace.model.tokenizer.id(search.found)}</div>"
        if search.found
        else ""
    )
    return f"<div><span><b>{number}</b>{count}</span>{''.join(first)}{more}{found}</div>"


def _render_brackets(word: Word) -> str:
    """The word's letters, with a bracket under each piece."""
    if len(word.searches) < 2 or word.note:
        return ""
    parts = "".join(
        f"<span>{escape(piece.removeprefix('##') if i else piece)}<i></i><small>{escape(piece)}</small></span>"
        for i, piece in enumerate(word.pieces)
    )
    return f'<div class="bv-brackets" aria-hidden="true">{parts}</div>'


def show_searches(view: View) -> None:
    """For every different word, the candidates in the order tried: rejected ones struck out, found ones bold."""
    st.markdown(
        "From left to right, WordPiece takes the longest piece in the vocabulary, then continues after it with "
        "`##`. ~~Struck out~~: not in the vocabulary. **Bold**: found."
    )
    st.latex(_LONGEST)
    st.caption("w: the word's characters; s: where the search starts; V: the vocabulary. The piece ends at e.")
    for record in _make_records(view):
        words = dict.fromkeys(word for word in record.words if word.searches or word.note)
        at_once = [word for word in words if word.pieces == (word.text,) and not word.note]
        longest_first = sorted(words.keys() - at_once, key=lambda word: (-len(word.searches), record.words.index(word)))
        lines = [_render_word(word) for word in longest_first[:_SHOWN_WORDS]]
        if at_once:
            lines.append("found at the first try: " + "".join(f"<b>{escape(word.text)}</b>" for word in at_once))
        with st.container(border=True):
            st.html(f'<div class="bv-search">{"<br>".join(lines)}</div>')
            if len(longest_first) > _SHOWN_WORDS:
                st.caption(f"The {_SHOWN_WORDS} words in most pieces, of {len(longest_first)}.")


def _make_records(view: View) -> list[Record]:
    texts = [view.text, view.pair]
    records = [view.trace.model.tokenizer.record(text) for text in texts if text]
    if None in records:
        st.info(
            "This checkpoint's tokenizer follows other rules than BERT's: it gives the ids, but no steps to show here."
        )
    return [record for record in records if record]


def _render_word(word: Word) -> str:
    tried = "".join(_render_search(search) for search in word.searches)
    return f"{escape(word.text)} → {tried}" + (f"<i>{escape(word.note)}</i>" if word.note else "")


def _render_search(search: Search) -> str:
    first, rest = search.rejected[:_SHOWN_REJECTED], len(search.rejected) - _SHOWN_REJECTED
    struck = "".join(f"<s>{escape(candidate)}</s>" for candidate in first) + (f"… {rest} more … " if rest > 0 else "")
    return struck + (f"<b>{escape(search.found)}</b>" if search.found else "")


def _render_stage(name: str, text: str, before: str | None) -> str:
    """One stage's text; shorter where the stage changed nothing."""
    if text == before:
        return f"<p>{escape(name)}: <i>no change</i></p>"
    return f'<p>{escape(name)}<br><code class="bv-search">{_make_visible(text)}</code></p>'


def _make_visible(text: str) -> str:
    return escape(text).replace(" ", "·") or "∅"
