"""Word, position and segment: from three tables to one vector per token."""

from bertviz_core.ui.charts import strips, tensor_map
from bertviz_core.ui.panel import panel
from bertviz_core.ui.shell import end, page

view = page(
    "embeddings",
    "Every token becomes a vector: its word's row, its position's row and its segment's row are looked up and added. "
    "A LayerNorm then gives every vector the same mean and spread before the first layer reads it.",
)

PARTS = ["word_embeddings", "position_embeddings", "token_type_embeddings", "sum", "LayerNorm"]
token = view.trace.tokens[view.chosen.token]
panel(
    view,
    "embeddings.sum",
    f"Three vectors make one: “{token}” at position {view.chosen.token}",
    strips(view, [f"embeddings.{part}" for part in PARTS]),
    note="One row a vector, one column a component, all on one scale. Columns can be followed by eye from row to row.",
)
for address, see in (
    ("embeddings.word_embeddings", "What each token is"),
    ("embeddings.position_embeddings", "Where it stands"),
    ("embeddings.token_type_embeddings", "Which sentence it belongs to"),
    ("embeddings.LayerNorm.normalized", "The sum, with mean 0 and variance 1 in every row"),
    ("embeddings.LayerNorm", "What the first layer reads"),
):
    figure, note = tensor_map(view, address)
    panel(view, address, see, figure, note=note)
end("embeddings")
