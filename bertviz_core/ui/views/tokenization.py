"""The tokenizer's record on screen."""

from __future__ import annotations

from html import escape

import streamlit as st

from bertviz_core.checkpoint.wordpiece import Record, Search, Word
from bertviz_core.ui.frame.view import View

_SHOWN_REJECTED = 12
_SHOWN_WORDS = 60
_LONGEST = (r"\begin{aligned} e &= \max\,\{\, j : w_{s \ldots j} \in V \,\} \\ "
            r"s_{\mathrm{next}} &= e + 1 \end{aligned}")  # fmt: skip


def show_stages(view: View) -> None:
    """Each change to the text's characters, and the words it is cut into."""
    for record in _make_records(view):
        with st.container(border=True):
            rows = [("as typed", record.text), *record.stages]
            texts = [None, *(text for _, text in rows)]
            st.html("".join(_render_stage(*row, before) for row, before in zip(rows, texts, strict=False)))
            words = " ".join(f'<span class="bv-token bv-word">{escape(word.text)}</span>' for word in record.words)
            st.html(
                f"<p>split at spaces and around punctuation: {len(record.words)} words</p>"
                f'<div class="bv-tokens">{words}</div>'
            )


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
                st.caption(f"The {_SHOWN_WORDS} words with the longest search, of {len(longest_first)}.")


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
