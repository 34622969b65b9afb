"""The first page's words: the question of the sentence that is read, its answer, and the model that gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import streamlit as st

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say
from bertviz_core.analysis.predictions import PROBS, find_masks, rank_words
from bertviz_core.documents.glossary import GLOSSARY
from bertviz_core.formula.texts import write_count
from bertviz_core.ui.frame.labels import escape_markdown, quote
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.absent import note_absent_heads
from bertviz_core.ui.panels.said import name_plain, tell_percent, tell_tied, tell_token

BLANK = "▒▒▒"
_AROUND = 64  # characters that are quoted on each side of the chosen token


def write_headline(view: View) -> Said:
    """The question at the chosen token, in its sentence, and the model's answer; in one line."""
    trace, token = view.trace, view.chosen.token
    name = tell_token(trace.tokens, token)
    if PROBS not in trace:
        parts = {"word": name, "size": Part(trace.model.config.hidden_size)}
        form = "How does BERT read {word}? As **{size} numbers**, made anew in every layer"
        return say(Claim("token as numbers", form, parts))
    (word, share, i), *_ = rank_words(trace, token, 1)
    masked = token in find_masks(trace)
    ask = "How does BERT fill the blank?" if masked else f"What does BERT expect at {name}?"
    quoted = quote_around(view)
    said = f" {quote(quoted)}" if quoted else ""
    parts, probs = {"share": tell_percent(share), "word": name_plain(word)}, trace[PROBS.fix(token=token)]
    return say(
        f"{ask}{said} → ",
        choose(
            tell_tied("expected words tie", "**{count} of {all} words tie at {share}**", probs),
            Claim("expected word", "**{word} {share}**", parts, Relation.HIGHEST, probs, (i,)),
        ),
    )


def tell_more(view: View) -> str:
    """What else is true of this view: of numbers that a change put, of words, of a token that nobody typed."""
    text = view.trace.tokens[view.chosen.token]
    put = "Some are put there by a change." if any(map(view.trace.overrides, view.trace.changes)) else ""
    way = "Choose a predicted word, and the way to it is shown." if PROBS in view.trace else ""
    return " ".join(filter(None, (put, way, f"{text}: {GLOSSARY[text]}" if text in ("[CLS]", "[SEP]") else "")))


def quote_around(view: View) -> str:
    """The sentence around the chosen token, as it is read: as typed, but for tokens that others stand in place of.

    Empty where the chosen token was not typed. Where it is hidden, a blank stands for it.
    """
    trace, chosen = view.trace, view.chosen.token
    places = trace.model.tokenizer.locate(view.text, view.pair)
    if chosen >= len(places) or places[chosen] is None:
        return ""
    before, here, after = list[str](), "", list[str]()
    side = before
    for i, text in _list_read(view, places):
        if i == chosen:
            here, side = BLANK if chosen in find_masks(trace) else text, after
        else:
            side.append(text)
    left, right = "".join(before), "".join(after)
    if len(left) > _AROUND:
        left = "… " + left[-_AROUND:].partition(" ")[2]
    if len(right) > _AROUND:
        right = right[:_AROUND].rpartition(" ")[0] + " …"
    return f"{left}{here}{right}"


def _list_read(view: View, places: Sequence[tuple[int, int, int] | None]) -> Iterator[tuple[int | None, str]]:
    """The typed texts in pieces, as they are read: each token with its position, and what stands between tokens:
    a blank where a change puts a word beside another, such as in place of a comma."""
    read, at = view.trace.encoding, (0, 0)
    last, swapped = "", False  # the token before, and whether it stands in place of another
    texts = [view.text, *filter(None, [view.pair])]
    for i, place in enumerate(places):
        if place is None:
            continue
        part, start, end = place
        if part > at[0]:
            yield None, f"{texts[at[0]][at[1] :]} / "
            at, last = (part, 0), ""
        between = texts[part][at[1] : start]
        other = read.ids[i] != view.typed.ids[i]
        text = read.tokens[i].removeprefix("##") if other else texts[part][max(start, at[1]) : end]
        apart = (other or swapped) and not between and not read.tokens[i].startswith("##")
        yield None, " " if apart and _is_word(last) and _is_word(text) else between
        yield i, text
        at, last, swapped = (part, end), text, other
    yield None, " / ".join([texts[at[0]][at[1] :], *texts[at[0] + 1 :]])


def _is_word(text: str) -> bool:
    """Whether a token beside another one is read as two words of one line: a mark, such as a comma, is not."""
    return len(text) > 1 or text.isalnum()


def show_model(view: View) -> None:
    """Which model this is, in a line; and what its checkpoint lacks."""
    config = view.trace.model.config
    st.caption(
        f"{escape_markdown(view.trace.model.name)}: {write_count(config.num_hidden_layers, 'layer')}, "
        f"{write_count(config.num_attention_heads, 'head')}, hidden size {config.hidden_size}, "
        f"{config.vocab_size:,} vocabulary entries, {view.trace.model.parameter_count:,} parameters."
    )
    note_absent_heads(view)
