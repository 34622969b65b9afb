"""The sentence page of a question answering model, from the outputs of Hugging Face's own."""

import numpy as np

from tests.derived.truth import Bars, Map, Scene, Truth, best, softmax, strongest, truth

LONGEST = 30  # tokens of an answer
NAMED = 32  # letters of an answer in the table


def read_logits(s: Scene) -> np.ndarray:
    """(2, token) what Hugging Face's model says of every token: start, end."""
    found = s.hf_run
    return np.stack([found.start_logits[0].double().numpy(), found.end_logits[0].double().numpy()])


def rank(s: Scene) -> list[tuple[int, int]]:
    """Every span that can be an answer, first and last token, the best first."""
    start, end = read_logits(s)
    inside = [i for i, kind in enumerate(s.trace.encoding.segments) if kind and s.trace.encoding.mask[i]][:-1]
    spans = [(i, j) for i in inside for j in inside if i <= j < i + LONGEST]
    return sorted(spans, key=lambda span: -(start[span[0]] + end[span[1]]))


def name_span(s: Scene, span: tuple[int, int]) -> str:
    places = s.trace.model.tokenizer.locate(s.asked["text"], s.asked["pair"])
    text = s.asked["pair"][places[span[0]][1] : places[span[1]][2]]
    return text if len(text) <= NAMED else f"{text[: NAMED - 1]}…"


@truth("sentence", "The answer in the text")
def in_the_text(s: Scene) -> Truth:
    inside = [i for i, kind in enumerate(s.trace.encoding.segments) if kind and s.trace.encoding.mask[i]][:-1]
    return Truth(told=[max(softmax(row)[inside].max() for row in read_logits(s))])


@truth("sentence", "The best answers")
def best_answers(s: Scene) -> Truth:
    (start, end), found = read_logits(s), rank(s)[:6]
    rows = [*found, (0, 0)]
    names = [*(name_span(s, span) for span in found), "no answer"]
    columns = {
        "tokens": [f"{i}–{j}" if i < j else i for i, j in rows],
        "start": [start[i] for i, _ in rows],
        "end": [end[j] for _, j in rows],
        "score": [start[i] + end[j] for i, j in rows],
        "probability": [softmax(start)[i] * softmax(end)[j] for i, j in rows],
    }
    return Truth(told=[LONGEST], tables=[columns], rows=names, worked=[columns["score"][0]])


@truth("sentence", "qa_outputs*")
def logits_and_scores(s: Scene, rest: str) -> Truth:
    start, end = read_logits(s)
    (first, last), both = rank(s)[0], np.stack([start, end], axis=1)
    if rest == "":
        own = both[s.token]
        return Truth([Map(both)], both, worked=[own[strongest(own)]])
    if rest == ".spans":
        scores = np.add.outer(start, end)
        return Truth([Map(scores)], scores, worked=[scores[first, last]])
    row, place = (start, first) if rest.startswith(".start") else (end, last)
    row = softmax(row) if rest.endswith(".probs") else row
    shown = sorted(s.real[i] for i in best(row[s.real], 16))
    return Truth([Bars({s.names[i]: row[i] for i in shown})], row, told=[16, len(s.real)], worked=[row[place]])
