"""Training by document 002's own algorithm, on your sentences: every step, every number of it, and what comes of it."""

from bertviz_core.ui.frame.shell import open_page
from bertviz_core.ui.panels.fold import fold
from bertviz_core.ui.views import training, training_fields, training_folds

view = open_page(
    "training",
    "Tokens are hidden at random; each step moves the parameters down the gradient of the loss, so that they become "
    "likelier.",
    training.write_headline,
    training.ask_headline,
)
run = training.show_training(view)
if run is not None:
    with fold("learns", "**What learns** · from which sentences") as opened:
        if opened:
            training_fields.show_choices(run.origin, run.live)
    with fold("attention", "**Attention** · before and now") as opened:
        if opened:
            training_folds.show_attention(view, run)
    with fold("eta", "**η** · a step that is too long runs away") as opened:
        if opened:
            training_folds.show_eta(view, run)
    with fold("practised", "**As practised** · 80/10/10, AdamW, warm-up") as opened:
        if opened:
            training_folds.show_practised(run)
    with fold("open", "**What is left open** · and line 5") as opened:
        if opened:
            training.show_open(run)
    with fold("use", "**Use it** · on all pages, or as a file") as opened:
        if opened:
            training_folds.show_use(run)
