"""What is predicted for a hidden word before a training, and what now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from bertviz_core.errors import TrainingError
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.learning import Ranked
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.views.training_lead import choose_risen, read_words
from bertviz_core.ui.views.training_run import RANKED, Run

_WORDS, _AROUND = 2, 3  # hidden words that are shown; tokens of its sentence on each side


def show_before_and_now(view: View, run: Run, progress: str = "") -> None:
    """The words whose probability rose most: what the model answers in their place, before any step and now.

    Before the first step: after all that will come. progress: how far these steps are known; "" where all are.
    """
    title = "Now, and still to come" if progress or run.ahead.records else "Before and now"
    heading = Heading(title, "", r"P(\theta)_{w, j}", "one word hidden")
    with open_card(view, PREDICTION, heading, "one word hidden", name="training-words"):
        if progress:
            st.caption(progress)
            st.html(f'<div class="bv-places bv-blank" aria-hidden="true">{_render_blank() * _WORDS}</div>')
            return
        _, shares, words = read_words(run)
        chosen = choose_risen(shares, words, _WORDS) or [0]
        places: list[str] = []
        for i in chosen:
            sentence, token = run.training.words[i]
            try:
                known = run.ahead.ranked[i] if run.ahead.ranked else None
                before, now = known or run.training.rank_words(sentence, token, RANKED)
            except TrainingError as error:
                st.caption(escape_markdown(str(error)))
                return
            first, then = ("now", "after all steps") if run.ahead.records else ("before", "now")
            places.append(render_choices(run.tokens(sentence), token, {first: before, then: now}))
        st.html(f'<div class="bv-places">{"".join(places)}</div>')


def render_choices(tokens: Sequence[str], token: int, ranked: Mapping[str, Ranked]) -> str:
    """The place in the sentence, and the best predictions side by side; the hidden word stands out.

    ranked: the predictions by when they were made.
    """
    first, last = max(1, token - _AROUND), min(len(tokens) - 1, token + 1 + _AROUND)
    lead, tail = " ".join(tokens[first:token]), " ".join(tokens[token + 1 : last])
    place = (
        f"{'… ' if first > 1 else ''}{escape(lead)} <span class=bv-mask>[MASK]</span> {escape(tail)}"
        f"{' …' if last < len(tokens) - 1 else ''} <small>was “{escape(tokens[token])}”</small>"
    )
    columns = "".join(
        f"<div><small>{name}</small>{''.join(_render_word(word, share, tokens[token]) for word, share in best)}</div>"
        for name, best in ranked.items()
    )
    return f'<div><div class="bv-hiding">{place}</div><div class="bv-choices">{columns}</div></div>'


def _render_blank() -> str:
    """The room that a word's predictions will take."""
    word, share, line = ("&nbsp;" * letters for letters in (8, 5, 36))
    column = f"<div><small>&nbsp;</small>{f'<p><span>{word}</span><span>{share}</span></p>' * RANKED}</div>"
    place = f'<div class="bv-hiding"><i>{line}</i></div>'
    return f'<div>{place}<div class="bv-choices">{column * 2}</div></div>'


def _render_word(word: str, share: float, right: str) -> str:
    true = " class=bv-true" if word == right else ""
    return f"<p{true}><span>{escape(word)}</span><span>{format_percent(share)}</span></p>"
