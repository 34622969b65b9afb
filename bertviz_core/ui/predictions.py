"""The heads that a checkpoint carries, panel by panel."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analysis import mask_positions, top_k
from bertviz_core.figures.bars import bars
from bertviz_core.figures.heatmap import Side, heatmap
from bertviz_core.trace import Trace
from bertviz_core.ui.charts import share_bars, tensor_map
from bertviz_core.ui.labels import labels
from bertviz_core.ui.panel import panel
from bertviz_core.ui.shell import View

TOP = 10
_TABLE_ROWS = 40
RELATIONS = ("B follows A", "B is a random sentence")


def absent_heads(view: View) -> None:
    """Say which heads this checkpoint does not have."""
    absent = view.trace.model.absent_heads
    if absent:
        st.caption(f"This checkpoint has no {' and no '.join(absent)}; those steps are not in its pass.")


def top_words(trace: Trace, token: int, k: int) -> list[tuple[str, float, int]]:
    """The k most probable vocabulary entries at a position: word, probability, id."""
    probs = trace[f"cls.predictions.probs[token={token}]"]
    return [(trace.model.tokenizer.token(i), float(probs[i]), i) for i in top_k(probs, k)]


def masked_language_model(view: View) -> None:
    """The head step by step for all tokens, then the chosen position's ranking."""
    token = view.chosen.token
    for leaf, see in (
        ("dense", "The last vectors, turned towards the vocabulary"),
        ("activation", "Through the activation"),
        ("LayerNorm", "Normalized: what the vocabulary is compared with"),
    ):
        address = f"cls.predictions.transform.{leaf}"
        figure, note = tensor_map(view, address, cells=6_000)
        panel(view, address, see, figure, note=note)
    best = top_words(view.trace, token, TOP)
    words, ids = [f"{word}  {i}" for word, _, i in best], [i for _, _, i in best]
    place = f"“{view.trace.tokens[token]}” at position {token}"
    logits = f"cls.predictions.decoder[token={token}]"
    panel(view, logits, f"The best-fitting of {view.trace.model.config.vocab_size:,} entries for {place}",
          bars(view.trace[logits][ids], words, view.colors, view.colors.kinds["prediction"], name="score"),
          at={"vocab": ids[0]}, note="Entries with their ids.")  # fmt: skip
    probs = f"cls.predictions.probs[token={token}]"
    rest = 1 - sum(share for _, share, _ in best)
    panel(view, probs, f"The same as probabilities for {place}",
          share_bars(view, view.trace[probs][ids], words, "prediction", "probability"), at={"vocab": ids[0]},
          note=f"All other entries share {rest:.4f}.")  # fmt: skip
    _table(view.trace)


def _table(trace: Trace) -> None:
    """The top words at every position; for long inputs, at the masked ones and the first ones."""
    masks = mask_positions(trace.tokens)
    shown = sorted(
        {*masks, *range(len(trace.tokens))} if len(trace.tokens) <= _TABLE_ROWS else {*masks, *range(_TABLE_ROWS)}
    )
    rows = [
        {
            "token": labels(trace)[i],
            **{f"top {k + 1}": f"{w} {p:.3f}" for k, (w, p, _) in enumerate(top_words(trace, i, 5))},
        }
        for i in shown
    ]
    with st.container(border=True):
        st.markdown("**The five most probable words at every position**")
        st.dataframe(rows, hide_index=True, height="content")
        if len(shown) < len(trace.tokens):
            st.caption(f"Masked positions and the first {_TABLE_ROWS} of {len(trace.tokens)}.")


def whole_input(view: View) -> None:
    """The pooler and, where there is one, the next-sentence head."""
    vectors = np.stack([view.trace["pooler.dense"], view.trace["pooler.activation"]])
    figure = heatmap(vectors, Side("", ["dense", "tanh"]), Side("pooled"), view.colors)
    panel(view, "pooler.activation", "[CLS], projected, then squeezed by tanh", figure)
    if "cls.seq_relationship.probs" in view.trace:
        note = "" if max(view.trace.encoding.segments) else "Only one sentence is given: the answer means little."
        figure = share_bars(view, view.trace["cls.seq_relationship.probs"], RELATIONS, "prediction", "probability")
        panel(view, "cls.seq_relationship.probs", "Does the second sentence follow the first?", figure, note=note)


def classes(view: View) -> None:
    """The classifier's scores: of the input, or of the chosen token."""
    trace = view.trace
    address = "classifier.probs" if "classifier.probs" in trace else "classifier"
    if "token" in trace.dims(address):
        address += f"[token={view.chosen.token}]"
    color = view.colors.kinds["prediction"]
    figure = bars(trace[address], trace.model.labels, view.colors, color, name="probability" if "probs" in address else
                  "score", share="probs" in address)  # fmt: skip
    panel(view, address, "The classes that the checkpoint was fine-tuned on", figure)
