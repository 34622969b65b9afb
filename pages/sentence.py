"""Answers about the input as a whole: the next sentence, the classes, and the pooled vector they come from."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.absent import note_absent_heads
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import sentence, sentence_answer, sentence_pooler, sentence_verdict

view = open_page(
    "sentence",
    "A matrix makes logits of the last vectors, of all tokens or of what the pooler makes of [CLS].",
    sentence.write_headline,
    more=sentence.tell_probabilities,
)
if "qa_outputs" in view.trace:
    if sentence_answer.has_context(view):
        sentence_answer.show_answer(view)
    else:
        sentence_answer.offer_question()
    sentence_answer.show_bounds(view)
    with fold(
        "logits", "**From vectors to scores** · the two logits of every token, the score of every span"
    ) as opened:
        if opened:
            sentence_answer.show_logits(view)
if "cls.seq_relationship.probs" in view.trace:
    verdict, others = st.columns([56, 40], gap="small")
    with verdict:
        sentence_verdict.show_verdict(view)
    with others:
        sentence_verdict.show_others(view)
if "classifier" in view.trace:
    (sentence.show_token_classes if "token" in view.trace.dims("classifier") else sentence.show_classes)(view)
if "pooler.dense" in view.trace:
    sentence.show_evidence(view)
    with fold("pooler", "**The pooler** · the numbers of [CLS], projected, become as many others") as opened:
        if opened:
            sentence_pooler.show_pooler(view)
with fold("vector", "**One vector for a whole text** · the first token, or the mean of all") as opened:
    if opened:
        sentence.show_one_vector(view)
with fold("absent", "**Classes, and answers to questions** · what this checkpoint does not have") as opened:
    if opened:
        note_absent_heads(view)
        if "qa_outputs" not in view.trace:
            sentence_answer.tell_absent()
