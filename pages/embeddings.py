"""Word, position and segment: from three tables to one vector per token."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import embeddings, embeddings_positions, embeddings_said

view = open_page(
    "embeddings",
    "A token's word, position and segment embedding are added; LayerNorm puts the sum on one scale.",
    embeddings_said.write_headline,
)
component, reason = embeddings.choose_component(view)
embeddings.show_token(view, component, reason)
embeddings.show_all_tokens(view, component)
with fold("neighbours", "**Nearest words** · vocabulary entries with similar embeddings") as opened:
    if opened:
        embeddings.show_neighbours(view)
with fold("positions", "**Positions** · learned and sinusoidal, and how near they are to each other") as opened:
    if opened:
        embeddings_positions.show_tables(view)
        embeddings_positions.show_resemblance(view)
with fold("lengths", "**Length and LayerNorm** · how long every vector is, and what LayerNorm makes of it") as opened:
    if opened:
        embeddings.show_lengths(view, component)
