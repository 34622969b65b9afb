"""Question answering: which spans of the text can be the answer, and which of them score best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.analysis.ranking import rank_top
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace

LONGEST_ANSWER = 30  # tokens, as in the released code (run_squad.py, max_answer_length)
LOGITS = Address("qa_outputs")
START, END, SPANS = (LOGITS.enter(leaf) for leaf in ("start", "end", "spans"))
NO_ANSWER = SPANS.fix(start=0, end=0)  # [CLS] to [CLS]: what SQuAD 2.0 teaches for a question without an answer


@dataclass(frozen=True)
class Span:
    """A possible answer. start, end: its first and its last token."""

    start: int
    end: int

    @property
    def cell(self) -> Address:
        """The address of its score."""
        return SPANS.fix(start=self.start, end=self.end)

    @property
    def start_cell(self) -> Address:
        """The address of the first summand of its score."""
        return START.fix(start=self.start)

    @property
    def end_cell(self) -> Address:
        """The address of the second summand of its score."""
        return END.fix(end=self.end)


def list_context(trace: Trace) -> list[int]:
    """The tokens in which the answer is looked for: those of the second text, without [SEP] and padding."""
    coding, tokenizer = trace.encoding, trace.model.tokenizer
    words = {tokenizer.unk_token, tokenizer.mask_id is not None and tokenizer.token(tokenizer.mask_id)}
    special = tokenizer.special_tokens - words
    tokens = zip(coding.tokens, coding.segments, coding.mask, strict=True)
    return [i for i, (token, segment, real) in enumerate(tokens) if segment and real and token not in special]


def rank_spans(trace: Trace, k: int) -> list[Span]:
    """The k spans with the highest scores, the best first: inside the context, at most LONGEST_ANSWER tokens long.

    Of equal scores the one that starts first, and then the shorter one, comes first.
    """
    context = np.array(list_context(trace), dtype=int)
    if not len(context):
        return []
    first, last = np.meshgrid(context, context, indexing="ij")
    length = last - first + 1
    possible = (length >= 1) & (length <= LONGEST_ANSWER)
    starts, ends = first[possible], last[possible]
    best = rank_top(trace[SPANS][starts, ends], k)
    return [Span(int(starts[i]), int(ends[i])) for i in best]


def find_answer(trace: Trace) -> Span:
    """The best span; without a second text, from the token with the highest start logit to that of the end logit,
    padding left out."""
    best, real = rank_spans(trace, 1), trace.encoding.real
    return best[0] if best else Span(*(real[int(trace[bound][list(real)].argmax())] for bound in (START, END)))


def compute_share(trace: Trace, span: Span) -> float:
    """The probability of a span: that of its start times that of its end, as if the two were independent."""
    start, end = trace[START.enter("probs")], trace[END.enter("probs")]
    return float(start[span.start]) * float(end[span.end])


def read_span(trace: Trace, span: Span, text: str, pair: str | None) -> str:
    """A span's letters as they stand in the second text; its tokens joined, where the model read other tokens."""
    tokenizer, tokens = trace.model.tokenizer, slice(span.start, span.end + 1)
    ids = trace.encoding.ids[tokens]
    if pair is not None and ids == tokenizer.encode(text, pair).ids[tokens]:
        first, last = (tokenizer.locate(text, pair)[i] for i in (span.start, span.end))
        if first and last and first[0] == last[0] == 1:
            return pair[first[1] : last[2]]
    return tokenizer.decode(ids)
