"""Self-attention in one layer and one head: products, scaled, masked, softmax, context."""

import streamlit as st

from bertviz_core.ui.charts import limit, share_bars, tensor_map
from bertviz_core.ui.labels import labels
from bertviz_core.ui.panel import panel
from bertviz_core.ui.shell import end, page

view = page(
    "attention",
    "Every token asks with a query, is found by its key and hands over its value. "
    "A query times all keys gives scores; the softmax turns them into shares of 1; the shares average the values.",
)
trace, layer, head, token = view.trace, view.chosen.layer, view.chosen.head, view.chosen.token
own = f"encoder.layer.{layer}.attention.self"
CELLS = 6_000  # eight maps on one page

st.header(f"Layer {layer}, head {head}: queries, keys, values", anchor=False)
projections = [f"{own}.{name}[head={head}]" for name in ("query", "key", "value")]
end_of_scale = max(limit(trace[address]) for address in projections)
for address, see in zip(
    projections,
    ("What each token looks for", "What each token can be found by", "What each token hands over"),
    strict=True,
):
    figure, note = tensor_map(view, address, end=end_of_scale, cells=CELLS)
    panel(view, address, see, figure, at={"key": token} if "key" in trace.dims(address) else None, note=note)

st.header("From products to shares", anchor=False)
for name, see, share in (
    ("products", "Every query times every key", False),
    ("scaled", f"The same, divided by √{trace.model.config.head_dim}", False),
    ("scores", "Padding hidden; without padding, nothing changes here", False),
    ("probs", "Each row divided up by the softmax: who looks at whom", True),
):
    address = f"{own}.{name}[head={head}]"
    figure, note = tensor_map(view, address, share=share, end=1.0 if share else None, cells=CELLS)
    panel(view, address, see, figure, note=note)

row = f"{own}.probs[head={head},query={token}]"
shown = trace[row].argsort()[::-1][:16]
panel(
    view,
    row,
    f"Where “{trace.tokens[token]}” looks",
    share_bars(view, trace[row][sorted(shown)], [labels(trace)[i] for i in sorted(shown)], "attention", "share"),
    note="The 16 largest shares, in sentence order." if len(trace.tokens) > len(shown) else "In sentence order.",
)

st.header("What the token takes away", anchor=False)
width = trace.model.config.head_dim
figure, note = tensor_map(view, f"{own}.context", cells=CELLS)
panel(
    view,
    f"{own}.context",
    "The values, averaged; all heads side by side",
    figure,
    at={"token": token, "concat": head * width},
    note=note or f"Head {head} fills columns {head * width} to {(head + 1) * width - 1}.",
)
for leaf, see in (
    ("dense", "Mixed back into one vector by the output projection"),
    ("residual", "Added to what the token was"),
    ("LayerNorm", "Normalized: what the feed-forward network reads"),
):
    address = f"encoder.layer.{layer}.attention.output.{leaf}"
    figure, note = tensor_map(view, address, cells=CELLS)
    panel(view, address, see, figure, note=note)
end("attention")
