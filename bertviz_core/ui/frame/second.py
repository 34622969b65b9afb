"""The second pass, which pages of two passes set beside that on screen, and which changes can take numbers from.

In the URL `with` says which one: a sentence, or `changes:` with a list of changes to this sentence's own pass, noise
among them; else `against` names another model; else it is the pass without what was changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bertviz_core.analysis.change_names import name_change
from bertviz_core.analysis.patching import give_source
from bertviz_core.errors import BertvizError, BusyError, InputError
from bertviz_core.formula.texts import join_words, name_token
from bertviz_core.tracing.changes import Listed, read_changes, write_changes
from bertviz_core.tracing.identity import name_pass
from bertviz_core.tracing.inputs import encode
from bertviz_core.tracing.matching import match_tokens, read_pairs, write_pairs
from bertviz_core.tracing.planning import check_changes
from bertviz_core.tracing.remember import remember
from bertviz_core.tracing.store import is_long
from bertviz_core.tracing.taken import Pairs, is_taken
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import AGAINST, PAIRS, WITH
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.resources import get_model, get_store
from bertviz_core.ui.frame.view import View

WITH_CHANGES = "changes:"  # before the changes of a second pass of the same sentence
_NONE = "none"  # in the URL, where every line between tokens was taken away by hand
_MOST_NAMED = 3  # changes


@dataclass(frozen=True, eq=False)
class Second:
    """The pass beside that on screen. pairs: which token of that is matched with which of this; said: what pass it is,
    in plain words; masked: which of its tokens are hidden, beside those that its sentence has so; wrong: what of the
    URL could not be used, and why, as Markdown."""

    trace: Trace
    pairs: Pairs
    said: str
    masked: tuple[int, ...]
    wrong: str = ""


@dataclass(frozen=True, eq=False)
class First:
    """What a second pass is set beside. trace: without changes; other: the pass of the model that it is compared with
    on every page, if it is; pair, masked: as it was read; changed: what its changes are called, if it has any."""

    trace: Trace
    text: str
    pair: str | None
    masked: tuple[int, ...]
    other: Trace | None = None
    changed: str = ""

    @classmethod
    def of(cls, view: View) -> First:
        """Of what is on screen."""
        before, after = view.outcome.before, view.outcome.after
        other = before if before.model is not after.model else None
        changed = view.outcome.yours if after.changes else ""
        return cls(after.before or after, view.text, view.pair, view.masked, other, changed)


def get_second(view: View, *, by_place: bool = False) -> Second | None:
    """The second pass that the URL asks for. None where it asks for none, or for one that cannot be run: see
    `tell_refused`. by_place: as `match_tokens` has it, where nobody has matched tokens by hand."""
    try:
        found = _run_second(First.of(view))
    except BusyError:
        raise
    except BertvizError:
        return None
    masked = () if reads_sentence() else view.masked
    return None if found is None else match_by_hand(view.outcome.after, *found, masked, by_place=by_place)


def tell_refused(view: View) -> str:
    """Why the second pass that the URL asks for cannot be run, as Markdown; "" where it can."""
    try:
        _run_second(First.of(view))
    except BusyError:
        raise
    except BertvizError as error:
        return escape_markdown(f"There is no second pass. {error}")
    return ""


def get_hidden(view: View, *, by_place: bool = False) -> Second | None:
    """The pass with the last word hidden, to be set beside where none was asked for; None where no token can be."""
    after = view.outcome.after
    tokenizer = after.model.tokenizer
    hideable = [i for i in tokenizer.maskable(after.encoding) if i in after.encoding.real]
    ids, tokens = after.encoding.ids, after.tokens
    words = [i for i in hideable if ids[i] != tokenizer.mask_id and any(map(str.isalnum, tokens[i]))]
    if not words or after.program is not after.model.program:
        return None
    hidden = (*view.masked, words[-1])
    trace = get_store().get(after.model, view.text, view.pair, len(after.tokens), hidden)
    return match_by_hand(after, trace, f"{name_token(after.tokens, words[-1])} hidden", hidden, by_place=by_place)


def reads_sentence() -> bool:
    """Whether the URL asks for another sentence as second pass."""
    asked = state.read(WITH)
    return bool(asked) and not asked.startswith(WITH_CHANGES)


def is_second_long(view: View) -> bool:
    """Whether a sentence that is set beside that on screen is so long that to draw both is costly."""
    if not reads_sentence():
        return False
    try:
        return is_long(len(encode(view.trace.model, state.read(WITH), view.pair)))
    except BertvizError:  # it is not run
        return False


def match_by_hand(
    one: Trace, other: Trace, said: str, masked: tuple[int, ...] = (), *, by_place: bool = False
) -> Second:
    """The second pass with its tokens matched as somebody did by hand, else by place or by equal pieces."""
    found = _match(one, other, by_place)
    asked = state.read(PAIRS)
    if not asked:
        return Second(other, found, said, masked)
    try:
        return Second(other, () if asked == _NONE else read_pairs(asked, one, other), said, masked)
    except InputError as error:
        return Second(other, found, said, masked, escape_markdown(str(error)))


def _match(one: Trace, other: Trace, by_place: bool = False) -> Pairs:
    """`match_tokens`, remembered: what is pressed asks for it again, and nobody waits in line for that."""
    name = f"matched {'by place' if by_place else ''} with {name_pass(other)}"
    return remember(one, name, lambda: match_tokens(one, other, by_place))


def match_pair(one: Trace, other: Trace, pairs: Pairs, here: int, there: int | None) -> None:
    """Match a token with another one, or with none, by hand; whatever either of them was matched with is alone then."""
    kept = [pair for pair in pairs if pair[0] != here and pair[1] != there]
    if there is not None:
        kept.append((here, there))
    chosen = tuple(sorted(kept))
    usual = chosen == _match(one, other)
    choices.choose({PAIRS: "" if usual else write_pairs(chosen) or _NONE})


def match_again() -> None:
    """Match equal pieces again, whatever was done by hand."""
    choices.choose({PAIRS: ""})
    choices.ask_for_rerun()


def give_numbers(changes: Listed, first: First) -> Listed:
    """The same changes, those that take numbers from another pass with the second one as that.

    Where that cannot be run they stay as they are, and say so where they are to be made.
    """
    if not any(is_taken(value) for value in changes.values()):
        return changes
    try:
        source, said = _run_second(first) or (first.trace, "")
    except BusyError:
        raise
    except BertvizError:
        return changes
    return give_source(changes, source, match_by_hand(first.trace, source, said, by_place=True).pairs)


def _run_second(first: First) -> tuple[Trace, str] | None:
    model, asked, name = first.trace.model, state.read(WITH), state.read(AGAINST)
    if asked.startswith(WITH_CHANGES):
        return _run_changed(first, read_changes(asked.removeprefix(WITH_CHANGES)))
    if asked:
        return get_store().get(model, asked, first.pair), asked
    if name and name != model.name:
        return first.other or get_store().get(get_model(name), first.text, first.pair), Path(name).name
    return (first.trace, f"without {first.changed}") if first.changed else None


def _run_changed(first: First, changes: Listed) -> tuple[Trace, str]:
    """This sentence's own pass with changes. Raises InputError where one of them cannot be made."""
    trace = first.trace
    good, wrong = check_changes(trace.layout, trace.encoding, changes)
    if wrong:
        where, why = next(iter(wrong.items()))
        written = write_changes({where: changes[where]}).rstrip(":")
        raise InputError(f"{written} cannot be changed in it. {why}")
    named = [name_change(trace, where, value) for where, value in list(good.items())[:_MOST_NAMED]]
    more = [f"{len(good) - len(named)} more"] if len(good) > len(named) else []
    changed = get_store().get(trace.model, first.text, first.pair, len(trace.tokens), first.masked, changes=good)
    return changed, join_words([*named, *more]) if named else "the same, unchanged"
