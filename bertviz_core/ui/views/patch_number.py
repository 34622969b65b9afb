"""One patch worked out for the drawer: how far it moves the measure, the words in three passes; and to keep it."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from bertviz_core.analysis.change_names import name_change
from bertviz_core.analysis.claims import Claim, Part, Said, say
from bertviz_core.analysis.patching import GRIDS, OF_HEADS, list_paths, measure_moved, place_patch, take
from bertviz_core.analysis.predictions import PROBS
from bertviz_core.analysis.ranking import rank_top
from bertviz_core.errors import AddressError, InputError
from bertviz_core.formula.address import Address
from bertviz_core.formula.numbers import format_latex, format_number, format_percent
from bertviz_core.formula.steps import ATTENTION
from bertviz_core.formula.texts import name_token
from bertviz_core.tracing.changes import Value, join_changes, write_changes
from bertviz_core.tracing.rewrites import Rule
from bertviz_core.tracing.taken import Taken
from bertviz_core.tracing.trace import Trace
from bertviz_core.ui.frame import choices, state
from bertviz_core.ui.frame.keys import AGAINST, CHANGES, MASK, MODEL, PAIRS, TEXT, WITH
from bertviz_core.ui.frame.resources import get_store
from bertviz_core.ui.frame.second import WITH_CHANGES, reads_sentence
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.views.patch_both import DIRECTION, LOSE, OF_WORDS, RESTORE, UNNAMED, Both, tell_measured
from bertviz_core.ui.walk.card import WORD, Card, Cell, Row, Table, write_share
from bertviz_core.ui.walk.line import Line
from bertviz_core.ui.walk.spreads import draw_way
from bertviz_core.ui.walk.worked_out import WorkedOut

PATCHED = "patched"  # the last part of the addresses of these numbers
_WORDS = 9  # that are listed
WARNINGS = {  # by whether numbers are restored, or lost
    True: "Restored there does not mean stored there: a patch carries all that lies below it.",
    False: "Lost there does not mean stored there: a patch takes away all that lies below it.",
}


def find_number(trace: Trace, grid: str, row: int, column: int) -> Address:
    """The address of what one patch does to the measure."""
    of = Address(f"{list_paths(trace, grid)[row]}.{PATCHED}")
    return of.fix(head=column) if grid == OF_HEADS else of.fix(token=column)


def read_patch(trace: Trace, where: Address) -> tuple[Address, Rule]:
    """The change that such an address speaks of. Raises AddressError where it names none."""
    return place_patch(trace, *find_patch(trace, where))


def find_patch(trace: Trace, where: Address) -> tuple[str, int, int]:
    """The grid, row and column of such an address. Raises AddressError where it names no patch."""
    path, at = where.path.rpartition(".")[0], where.at
    for grid in GRIDS:
        axis, count = (
            ("head", trace.model.config.num_attention_heads) if grid == OF_HEADS else ("token", len(trace.tokens))
        )
        if where.name == PATCHED and path in list_paths(trace, grid) and set(at) == {axis} and at[axis] < count:
            return grid, list_paths(trace, grid).index(path), at[axis]
    raise AddressError(f"{where} names no patch: one is of a layer's vectors at a token, or of a head’s output.")


def tell_patched(view: View, both: Both, where: Address) -> WorkedOut | None:
    """What the drawer says of one patch; None of another address. Raises AddressError where it names none."""
    if where.name != PATCHED:
        return None
    place, rule = read_patch(both.target.trace, where)
    try:
        patched = _run(both, place, take(both.source.trace, both.pairs, rule))
    except InputError as error:
        raise AddressError(str(error)) from None
    values = [both.there.read(both.source.trace), both.measure.read(both.target.trace), both.measure.read(patched)]
    source, target, value = values
    moved = measure_moved(value, source, target)
    way = bool(np.isfinite(moved))
    number = moved if way else value - target
    return WorkedOut(
        "Moved by this patch",
        ATTENTION,
        parts=[(name, format_number(x), "") for name, x in zip(("from", "into", "patched"), values, strict=True)],
        number=number,
        unit=format_percent(number) if way else "",
        card=Card(
            _tell(both, place, rule, values, number if way else None),
            _list_words(both, patched),
            draw_way([(both.target.name, target), (both.source.name, source)], value, "patched"),
            f"m: {tell_measured(both)}. {WARNINGS[both.restore]}",
        ),
        line=_write_line(source, target, value, way),
        act=partial(_show_keep, view, both, place, rule) if _can_keep(view, both) else None,
    )


def _run(both: Both, place: Address, value: Value) -> Trace:
    """The target's pass with the patch."""
    target = both.target
    changes = join_changes(target.trace.changes, {place: value})
    return get_store().get(
        target.trace.model, target.text, target.pair, len(target.trace.tokens), target.masked, changes=changes
    )


def _tell(both: Both, place: Address, rule: Rule, values: list[float], moved: float | None) -> Said:
    source, target, value = (Part(x, format_number) for x in values)
    named = name_change(both.target.trace, place, rule).replace("the other pass", _name_source(both.source.name))
    parts = {
        "value": value,
        "source": source,
        "target": target,
        "what": Part(f"{named[0].upper()}{named[1:]}"),
        "into": Part(_name_pass(both.target.name)),
        "measured": Part(tell_measured(both)),
    }
    moves = "moves the {measured} from {target} to **{value}**"
    if value.text == target.text:
        moves = "leaves the {measured} near **{value}**"
    form = f"{{what}}, put into {{into}}, {moves}"
    if moved is None:
        return say(Claim("patched number alone", f"{form}; it is {{source}} in the other pass.", parts))
    parts["share"] = Part(moved, format_percent)
    return say(Claim("patched number", f"{form}, {{share}} of the way to {{source}}.", parts))


def _name_pass(name: str) -> str:
    return f"the {name}" if name in UNNAMED else f"the “{name}” pass"


def _name_source(name: str) -> str:
    return _name_pass(name) if name in UNNAMED else f"“{name}”"


def _write_line(source: float, target: float, value: float, way: bool) -> Line:
    patched, into, out = (rf"m_{{\text{{{name}}}}}" for name in ("patched", "into", "from"))
    p, i, o = (format_latex(x) for x in (value, target, source))
    less = rf"{p} - ({i})" if target < 0 else rf"{p} - {i}"
    if not way:
        return Line(r"\Delta m", rf"{patched} - {into}", less)
    below = rf"{o} - ({i})" if target < 0 else rf"{o} - {i}"
    return Line("r", rf"\dfrac{{{patched} - {into}}}{{{out} - {into}}}", rf"\dfrac{{{less}}}{{{below}}}")


def _list_words(both: Both, patched: Trace) -> Table | None:
    """The likely words in all three passes."""
    if both.kind not in OF_WORDS:
        return None
    here, there = both.target.token, both.source.token
    rows = [
        np.asarray(trace.recomputed(PROBS.fix(token=token)), dtype=np.float64)
        for trace, token in ((both.target.trace, here), (patched, here), (both.source.trace, there))
    ]
    tokenizer = patched.model.tokenizer
    measured = [cell.at["vocab"] for cell in both.measure.cells]
    best = [i for i in rank_top(np.sum(rows, axis=0), _WORDS) if i not in measured][: _WORDS - len(measured)]
    listed = [
        Row(
            (Cell(tokenizer.name(i), look=WORD), *(write_share(float(row[i])) for row in rows)),
            own=i in measured,
        )
        for i in [*measured, *best]
    ]
    return Table(
        f"The words at {name_token(patched.tokens, here)}, three passes", ("word", "into", "patched", "from"), listed
    )


def _show_keep(view: View, both: Both, place: Address, rule: Rule) -> None:
    """A button that keeps the patch as a change, which all pages show then."""
    st.button(
        "Change this number",
        key="patch-keep",
        on_click=_keep,
        args=(view, both, place, rule),
        help="Keeps the patch as a change: all pages then show the pass with it.",
    )


def _keep(view: View, both: Both, place: Address, rule: Rule) -> None:
    """Put the patch into the pass on screen; where that is the one that numbers come from, the two change places."""
    kept = {where: value for where, value in both.target.trace.changes.items() if not isinstance(value, Taken)}
    line = write_changes({**kept, place: rule})
    if both.restore:
        _swap(view, both)
    choices.choose({CHANGES: line, PAIRS: state.read(PAIRS) if not both.restore else _turn_pairs()})
    choices.ask_for_rerun()


def _turn_pairs() -> str:
    """Tokens that were matched by hand, the other way round."""
    pairs = [pair.split("-") for pair in state.read(PAIRS).split(".") if pair.count("-") == 1]
    return ".".join(f"{j}-{i}" for i, j in pairs)


def _can_keep(view: View, both: Both) -> bool:
    """Whether the URL can say of what is on screen then that it is the second pass."""
    return not (both.restore and view.masked and _trades_sentences(view, both))


def _trades_sentences(view: View, both: Both) -> bool:
    """Whether the two passes change places by their sentences. That which is the second one is read as it is typed,
    without tokens that were hidden in it by hand."""
    return reads_sentence() or both.target.masked != view.masked


def _swap(view: View, both: Both) -> None:
    """The second pass comes on screen, and what was there is the second one."""
    first, target = both.source.trace, both.target
    choices.choose({DIRECTION: LOSE if both.restore else RESTORE})
    if _trades_sentences(view, both):
        choices.choose({TEXT: target.text, WITH: view.text, MASK: ",".join(map(str, target.masked))})
    elif state.read(AGAINST):
        choices.choose({MODEL: both.target.trace.model.name, AGAINST: first.model.name})
    else:
        choices.choose({WITH: f"{WITH_CHANGES}{write_changes(first.changes)}"})
