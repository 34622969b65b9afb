"""Examples to be changed by hand: a softmax, and the encoder article's attention, weighted sums, positions, scaling."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import playground, playground_examples, playground_softmax, playground_sum

view = open_page(
    "playground",
    "Small examples whose numbers you change: a softmax, and below it attention between six tokens, as one of the "
    "documents, the encoder article, computes it.",
    playground_softmax.write_headline,
)
playground_softmax.show_own(view)
scores, row = playground.read_scores()
shares = playground.show_shares(view, scores, row)
playground.show_softmax(view, scores, row)
with fold("scores", "**All scores** · the six rows, as the article has them or as edited") as opened:
    if opened:
        playground.show_scores(view, scores, row)
with fold("printed", "**The table as the article prints it** · where it is right, and where not") as opened:
    if opened:
        playground.show_printed(view)
with fold("sum", "**From attention weights to a weighted sum** · the article's ids, vectors, weights") as opened:
    if opened:
        mix = playground_sum.read_mix(shares, row)
        playground_sum.edit_mix(mix)
        playground_sum.show_weighted(view, mix)
with fold("positions", "**Sinusoidal positions** · of any length and size") as opened:
    if opened:
        playground_examples.show_sinusoidal(view)
with fold("scaling", r"**Why scores are divided by $\sqrt{d_k}$** · the softmax with and without") as opened:
    if opened:
        playground_examples.show_divisors(view, scores, row)
        playground_examples.show_unscaled(view)
