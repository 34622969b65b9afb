"""How every token's vector moves through the layers, and what could be read from it on the way."""

import streamlit as st

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import layers, layers_flow, layers_ladder, layers_way

view = open_page(
    "layers",
    "An LM head, trained for the last layer, can be asked after every layer as if the pass ended there (the logit "
    "lens).",
    layers_ladder.write_headline,
)
lens = layers_ladder.read_lens(view)
if lens:
    layers_ladder.show_ladder(view, lens)
else:
    st.caption("This checkpoint has no LM head (masked language model head), so its vectors give no predictions.")
together, near, turn = st.columns([37, 29, 30], gap="small")
with together:
    layers.show_resemblance(view)
with near:
    layers.show_resemblance_on_the_way(view)
with turn:
    layers_way.show_way(view)
if lens:
    with fold("lens", "**The final words, layer by layer** · the logit lens with its formula") as opened:
        if opened:
            layers_flow.show_lens(view)
    with fold("winners", "**Every token’s winner** · after every layer") as opened:
        if opened:
            layers_flow.show_lens_everywhere(view)
    with fold("table", "**The same, as a table** · top three after every layer") as opened:
        if opened:
            layers_flow.show_words(view)
with fold("moves", "**All tokens** · length and turn at every stage") as opened:
    if opened:
        layers.show_lengths(view)
        layers.show_turns(view)
with fold("rollout", "**Roll-out** · attention followed back through all layers") as opened:
    if opened:
        layers_flow.show_rollout(view)
        layers_flow.show_rollout_of_token(view)
with fold("paths", "**The map of meaning** · principal components of all vectors") as opened:
    if opened:
        layers.show_ways(view)
