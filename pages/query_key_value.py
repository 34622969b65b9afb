"""Queries, keys and values: one vector a token, turned into three by learned matrices."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import query_key_value, query_key_value_fit, query_key_value_worked

view = open_page(
    "query_key_value",
    "Three learned matrices make a query, a key and a value of each token's vector; queries are compared with keys.",
    query_key_value.write_headline,
)
place = query_key_value.choose_place(view)
query_key_value.show_blocks(view, place)
query_key_value_fit.show_fit(view, place)
query_key_value.show_sum(view, place)
config = view.trace.model.config
heads, width, hidden = config.num_attention_heads, config.head_dim, config.hidden_size
with fold("weights", f"**The matrix** · the head's {hidden} × {width} learned weights of its {place.name}") as opened:
    if opened:
        query_key_value_worked.show_token(view, place.name)
cut = f"**All {heads} heads** · one long vector of {heads * width} numbers, cut into heads"
if heads == 1:
    cut = f"**The only head** · the whole vector of {width} numbers"
with fold("heads", cut) as opened:
    if opened:
        query_key_value_worked.show_split(view, place.name)
with fold("maps", f"**Each by itself** · all {len(view.trace.tokens)} queries, keys and values") as opened:
    if opened:
        query_key_value_worked.show_all_tokens(view)
