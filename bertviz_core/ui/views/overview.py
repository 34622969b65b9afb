"""The first page's words: the question of the sentence that is read, its answer, and the model that gives it."""

from __future__ import annotations

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
    text, name = trace.tokens[token], tell_token(trace.tokens, token)
    if PROBS not in trace:
        parts = {"word": name, "size": Part(trace.model.config.hidden_size)}
        form = "How does BERT read {word}? As **{size} numbers**, made anew in every layer"
        return say(Claim("token as numbers", form, parts))
    (word, share, i), *_ = rank_words(trace, token, 1)
    masked = token in find_masks(trace)
    swapped = token < len(view.typed) and trace.encoding.ids[token] != view.typed.ids[token]
    ask = "How does BERT fill the blank?" if masked else f"What does BERT expect at {name}?"
    quoted = quote_around(view, BLANK if masked else text if swapped else None)
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
    """That a change puts some of the numbers; and what the chosen token is, where it is one that nobody typed."""
    text = view.trace.tokens[view.chosen.token]
    put = "Some are put there by a change." if view.trace.changes else ""
    return " ".join(filter(None, (put, f"{text}: {GLOSSARY[text]}" if text in ("[CLS]", "[SEP]") else "")))


def quote_around(view: View, instead: str | None) -> str:
    """The sentence around the chosen token, as it was typed; empty where the token was not typed.

    instead: what stands at the token's place; without, the token itself.
    """
    places = view.trace.model.tokenizer.locate(view.text, view.pair)
    place = places[view.chosen.token] if view.chosen.token < len(places) else None
    if place is None:
        return ""
    part, start, end = place
    texts = [view.text, view.pair or ""]
    here = texts[part]
    before = " / ".join([*texts[:part], here[:start]])
    after = " / ".join(filter(None, [here[end:], *texts[part + 1 :]]))
    left = before if len(before) <= _AROUND else "… " + before[-_AROUND:].partition(" ")[2]
    right = after if len(after) <= _AROUND else after[:_AROUND].rpartition(" ")[0] + " …"
    return f"{left}{here[start:end] if instead is None else instead}{right}"


def show_model(view: View) -> None:
    """Which model this is, in a line; and what its checkpoint lacks."""
    config = view.trace.model.config
    st.caption(
        f"{escape_markdown(view.trace.model.name)}: {write_count(config.num_hidden_layers, 'layer')}, "
        f"{write_count(config.num_attention_heads, 'head')}, hidden size {config.hidden_size}, "
        f"{config.vocab_size:,} vocabulary entries, {view.trace.model.parameter_count:,} parameters."
    )
    note_absent_heads(view)
