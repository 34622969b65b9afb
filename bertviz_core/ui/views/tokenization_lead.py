"""The tokenization page's first picture: the text as typed, and under it the tokens, each a button that hides it."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from bertviz_core.analysis.claims import Claim, Part, Said, choose, say
from bertviz_core.analysis.hiding import Guess, Guesses, guess_token
from bertviz_core.analysis.made_from import is_put
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.checkpoint.encoding import Encoding
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_percent
from bertviz_core.formula.steps import PREDICTION
from bertviz_core.formula.texts import write_count
from bertviz_core.sharing.findings import Found
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.components.selectors import read_css
from bertviz_core.ui.frame import style
from bertviz_core.ui.frame.findings import show_finding, tell_progress
from bertviz_core.ui.frame.keys import MASK
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.told import offer_number
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.frame.words import render_text
from bertviz_core.ui.panels.card import Heading, open_card
from bertviz_core.ui.panels.guesses import ask_guesses, guess_hidden
from bertviz_core.ui.panels.passes import show_passes_html
from bertviz_core.ui.panels.said import name_word, tell_count, tell_percent, tell_tied, tell_token

_STYLE = read_css(Path(__file__).with_name("tokenization.css"))
_DRAWN = 20  # tokens beside each other; more are set like text, without lines to the letters
_WHOLE = 64  # tokens that a wide window shows all of; of more the card scrolls
_LETTER, _LARGEST, _LEAST, _WIDEST = 0.6, 2.9, 1.0, 94  # of a letter: width in its size; sizes, and all, in percent
_BENDS = 10  # corners of a band's side
_BETWEEN = " / "  # the sentence and the second one
_NAMED = 8  # hidden tokens


def write_headline(view: View) -> Said:
    """How many tokens there are; where one is hidden, what BERT guesses there."""
    trace, typed = view.trace, view.typed
    hidden = [i for i in view.masked if i == view.chosen.token] or view.masked
    if hidden and PROBS in trace:
        return _tell_guess(trace, hidden[0], typed)
    special = trace.model.tokenizer.special_tokens
    words = [i for i in trace.encoding.real if trace.tokens[i] not in special]
    i = words[0] if words else next(iter(trace.encoding.real), 0)
    parts = {
        "tokens": Part(write_count(len(trace.encoding.real), "token")),
        "word": name_word(trace.tokens[i]),
        "id": Part(trace.encoding.ids[i]),
        "size": tell_count(trace.model.config.vocab_size),
    }
    form = "What does BERT read? **{tokens}**, each a number: {word} is row **{id}** of {size}"
    return say(Claim("tokens read", form, parts))


def _tell_guess(trace: Trace, i: int, typed: Encoding) -> Said:
    """What is guessed at a hidden token, and where the one that was typed there stands."""
    guess = guess_token(trace, i, typed.ids[i])
    parts = {
        "share": tell_percent(guess.probability),
        "hidden": tell_token(typed.tokens, i),
        "guess": name_word(guess.word),
    }
    hidden = "Hidden: {hidden}. "
    told = Claim("guess", f"{hidden}BERT guesses {{guess}} with **{{share}}**; the word that stood there ", parts)
    probs, place = trace[PROBS.fix(token=i)], f"number **{guess.rank:,}** on its list"
    tied = tell_tied("guesses tie", "{count} of {all} words tie at **{share}**; the word that stood there ", probs)
    if guess.rank == 1:
        place = "its first guess" if guess.right else "one of these"
    said = choose(say(Claim("hidden word", hidden, parts), tied), told)
    return say(said, Claim("place of the typed", "is {place}", {"place": Part(place)}))


def show_tokens(view: View) -> None:
    """The text, cut into tokens, with what the model reads of each, and what it guesses where one is hidden."""
    st.html(_STYLE)
    offer_number(Address("input_ids").fix(token=view.chosen.token))
    count, asked = len(view.trace.tokens), ask_guesses(view)
    heading = Heading(
        "The sentence, cut into tokens",
        _tell_segments(view),
        r"V_{\mathrm{id}_i} = \mathrm{token}_i",
        "id: its row in the vocabulary V",
    )
    with open_card(view, PREDICTION, heading, "input_ids", f"(token {count})"):
        if asked is None:
            _draw_tokens(view, None)
        else:
            show_finding("guesses", asked, partial(_draw_tokens, view))


def _tell_segments(view: View) -> str:
    """What a second sentence changes; nothing of a model that knows one segment."""
    if view.trace.model.config.type_vocab_size < 2:
        return ""
    if is_put(view.trace, Address("token_type_ids")):
        return "A change puts segments there: another segment, another embedding."
    if view.pair:
        return "The second sentence is segment 1: its tokens get another segment embedding."
    return "All of it is segment 0; a second sentence, written under the pencil, would be segment 1."


def _draw_tokens(view: View, found: Found[tuple[Guesses, ...]] | None) -> None:
    """found: what is known of the guesses; None where they are not worked out."""
    known = ({},) * len(view.passes) if found is None or found.value is None else found.value
    bodies = [
        _render(one, {**guess_hidden(one), **others}, found is not None)
        for one, others in zip(view.passes, known, strict=True)
    ]
    show_passes_html(view, bodies)
    told = "" if found is None else tell_progress(found, "the tokens hidden") or "Under each: the guess with it hidden."
    st.caption(f"{_write_reading(view)} {told}".strip())


def _write_reading(view: View) -> str:
    if not view.trace.model.tokenizer.maskable(view.typed):
        return "No token can be masked: this checkpoint has no mask token, or the input has no word."
    hidden = ", ".join(f"“{view.typed.tokens[i]}” at position {i}" for i in view.masked[:_NAMED])
    more = f" and {len(view.masked) - _NAMED} more" if len(view.masked) > _NAMED else ""
    told = f" Masked: {hidden}{more}. The model reads id {view.trace.model.tokenizer.mask_id} there instead."
    pieces = " ##: the piece continues the word before it." if _has_pieces(view) else ""
    guessed = " The pass runs again, and BERT guesses it." if PROBS in view.trace else ""
    return escape_markdown(
        f"Choose a token to hide it behind [MASK]; choose it again to undo.{guessed}{pieces}{told if hidden else ''}"
    )


def _has_pieces(view: View) -> bool:
    return any(token.startswith("##") for token in view.trace.tokens)


def _render(view: View, guesses: Guesses, awaited: bool) -> str:
    """The letters, lines down to the tokens, and the tokens; long inputs without letters and lines.

    awaited: whether there will be a guess for every token that can be hidden.
    """
    count, letters = len(view.trace.tokens), _BETWEEN.join(filter(None, (view.text, view.pair)))
    size = min(_LARGEST, _WIDEST / (_LETTER * max(len(letters), 1)))
    drawn = count <= _DRAWN and size >= _LEAST
    above = _render_letters(letters, size) + _render_lines(view, len(letters), size) if drawn else ""
    maskable, masked = frozenset(view.trace.model.tokenizer.maskable(view.typed)), frozenset(view.masked)
    cards = "".join(
        _render_token(
            view,
            i,
            _render_button(view, i, masked) if i in maskable else _render_chip(view, i),
            _render_guess(guesses.get(i), awaited and i in maskable) if guesses or awaited else "",
        )
        for i in range(count)
    )
    guess, few = "<span>BERT guesses</span>" if guesses or awaited else "", " bv-cut-few" if count <= _WHOLE else ""
    one = " bv-cut-one" if not any(view.trace.encoding.segments) else ""
    labels = f"<b>token</b><span>id</span><span>{render_text('segment')}</span><span>position</span>{guess}"
    return (
        f'<div class="bv-cut{one}{"" if drawn else f" bv-cut-flow{few}"}" data-picture style="--count:{count}">'
        f'<div class="bv-cut-above">{above}</div><div class="bv-cut-labels">{labels}</div>'
        f'<div class="bv-cut-tokens">{cards}</div></div>'
    )


def _render_letters(letters: str, size: float) -> str:
    shown = "".join('<i class="bv-gap">·</i>' if letter.isspace() else escape(letter) for letter in letters)
    return f'<div class="bv-cut-text" style="font-size:{size:.3f}cqw">{shown}</div>'


def _render_lines(view: View, letters: int, size: float) -> str:
    """A band from each token's letters to the token, in percent of the width."""
    count, width = len(view.trace.tokens), _LETTER * size
    start, bands = 50 - letters * width / 2, []
    for i, place in enumerate(view.trace.model.tokenizer.locate(view.text, view.pair)):
        if place is not None:
            part, first, last = place
            offset = part * (len(view.text) + len(_BETWEEN))
            bands.append(
                _render_band(
                    start + (offset + first) * width,
                    start + (offset + last) * width,
                    100 * (i + 0.12) / count,
                    100 * (i + 0.88) / count,
                    "bv-band-chosen" if i == view.chosen.token else "",
                )
            )
    return f'<div class="bv-cut-lines" aria-hidden="true">{"".join(bands)}</div>'


def _render_band(a: float, b: float, c: float, d: float, kind: str) -> str:
    """A bent band, from a to b above and from c to d below, all in percent: a polygon, since HTML here has no paths."""
    steps = [i / _BENDS for i in range(_BENDS + 1)]
    left = [(a + (c - a) * _ease(step), 100 * step) for step in steps]
    right = [(b + (d - b) * _ease(step), 100 * step) for step in reversed(steps)]
    corners = ",".join(f"{x:.2f}% {y:.0f}%" for x, y in (*left, *right))
    return f'<i class="{kind}" style="clip-path:polygon({corners})"></i>'


def _ease(step: float) -> float:
    """From 0 to 1, flat at both ends."""
    return step * step * (3 - 2 * step)


def _render_token(view: View, i: int, chip: str, guess: str) -> str:
    """One token and what the model reads of it. chip: the token itself; guess: what the model guesses there."""
    encoding, here = view.trace.encoding, " data-here" if i == view.chosen.token else ""
    return (
        f'<div class="bv-cut-token"{here}>{chip}'
        f'<button class="bv-cut-id" data-cell="input_ids[token={i}]">{encoding.ids[i]}</button>'
        f"<span>{encoding.segments[i]}</span><span>{encoding.positions[i]}</span>{guess}</div>"
    )


def _render_chip(view: View, i: int, does: str = "") -> str:
    """does: the attributes of a token that a click hides or shows."""
    return style.render_token(view.trace, i, "bv-cut-chip", *style.mark_mask(view.trace, i), does=does)


def _render_button(view: View, i: int, masked: frozenset[int]) -> str:
    """A token that a click hides, or shows again. masked: the hidden ones."""
    token, typed = view.trace.tokens[i], view.typed
    hidden, positions = i in masked, sorted(masked ^ {i})
    said = f"Show “{typed.tokens[i]}” again" if hidden else f"Hide “{token}” behind [MASK]"
    return _render_chip(
        view,
        i,
        (
            f'data-choose="{MASK.name}={",".join(map(str, positions))}" title="{escape(said)}" '
            f'aria-pressed="{str(hidden).lower()}"'
        ),
    )


def _render_guess(guess: Guess | None, awaited: bool) -> str:
    """awaited: whether a guess that is not known yet keeps its room."""
    if guess is None:
        return f'<span class="bv-cut-guess">{"<b>…</b><i></i>&nbsp;" if awaited else ""}</span>'
    word = f"{guess.tied:,} tie" if guess.tied > 1 else f"{guess.word}{' ✓' * guess.right}"
    return (
        f'<span class="bv-cut-guess"><b>{escape(word)}</b>'
        f'<i><u style="width:{guess.probability:.1%}"></u></i>{format_percent(guess.probability)}</span>'
    )
