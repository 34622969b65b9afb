"""What the model guesses where a token is hidden: of every token of a sentence, unasked, once for all pages."""

from __future__ import annotations

from functools import partial

from bertviz_core.analysis.hiding import Guesses, guess_token, guess_tokens
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.tracing.identity import name_pass
from bertviz_core.ui.frame.findings import Wanted
from bertviz_core.ui.frame.view import View

_GUESSED = 48  # tokens at most for which every guess is worked out: each is a pass


def ask_guesses(view: View) -> Wanted[tuple[Guesses, ...]] | None:
    """The finding: every token that is not hidden yet, hidden in turn, in each of the view's passes; None where that is
    costly or tells nothing."""
    mask = view.trace.model.tokenizer.mask_id
    others = tuple(i for i in view.trace.model.tokenizer.maskable(view.typed) if view.trace.encoding.ids[i] != mask)
    if PROBS not in view.trace or not others or len(view.trace.tokens) > _GUESSED:
        return None
    traces = tuple(one.trace for one in view.passes)
    return Wanted(("guesses", others, *map(name_pass, traces)), view.trace, partial(guess_tokens, traces, others))


def guess_hidden(view: View) -> Guesses:
    """The guesses where a token is hidden in the pass itself."""
    trace, mask, typed = view.trace, view.trace.model.tokenizer.mask_id, view.typed
    if PROBS not in trace or not trace.model.tokenizer.maskable(typed):
        return {}
    return {i: guess_token(trace, i, typed.ids[i]) for i in range(len(typed)) if trace.encoding.ids[i] == mask}
