"""Two passes side by side: how far apart one word ends, and what both answer; as sentences."""

from __future__ import annotations

import numpy as np

from bertviz_core.analysis.claims import Claim, Part, Relation, Said, choose, say, say_largest
from bertviz_core.analysis.compared_answers import BLANK, CLASS, FOLLOWS, READING, SPAN, Answers
from bertviz_core.analysis.predictions import find_masks
from bertviz_core.formula.address import Address
from bertviz_core.ui.frame.example import is_example
from bertviz_core.ui.frame.labels import read_escaped
from bertviz_core.ui.frame.view import View
from bertviz_core.ui.panels.said import name_plain, name_word, tell_count, tell_degrees, tell_percent, tell_token
from bertviz_core.ui.views.compare_both import Both, read_both

_ASKED = {
    BLANK: "the blank is most likely ",
    CLASS: "the likeliest class is ",
    SPAN: "the likeliest answer is ",
    FOLLOWS: "it is likelier that ",
    READING: "{token} reads most like ",
}
_WHICH_BLANK = "{token} is most likely "  # where there are more than one
_WHOSE_CLASS = "the likeliest class of {token} is "  # where every token has one


def write_headline(view: View) -> Said:
    """How far apart the word that is looked at ends, and how far apart it began."""
    both = read_both(view)
    if both is None:
        return say("How far apart are two passes?")
    if both.same:
        return say(Claim("same pass", "Twice the same pass: **nothing** is apart", {}, Relation.NONE, both.last))
    if both.main is None:
        return say("Two texts without a common token: only **what they answer** can be compared")
    if not len(both.last):
        return say("Two passes whose vectors enclose no angle: **matched tokens**, heads and answers are compared")
    if np.isnan(both.angles[[0, -1], both.main]).any():
        return _tell_no_angle(both, both.main)
    return _tell_apart(both, both.main)


def _tell_apart(both: Both, pair: int) -> Said:
    """The word, its angle at the end, and that at the start."""
    here, there = both.pairs[pair]
    words = tell_token(both.one.tokens, here), tell_token(both.other.tokens, there)
    start, end = both.angles[0, pair], both.angles[-1, pair]
    parts = {
        "end": tell_degrees(end),
        "where": Part(name_end(both.stages[-1])),
        "one": words[0],
        "other": words[1],
    }
    alike = both.one.tokens[here] == both.other.tokens[there]
    ask = "Is it the same {one}? " if alike else "Is {one} like {other}? "
    apart = Claim("apart at the end", f"{ask}**{{end}} apart {{where}}**; ", parts)
    began = {"start": tell_degrees(start)}
    ways = [Claim("began alike", "both began alike", began, Relation.NONE, np.array([start]))]
    form = "both began {start} apart"
    if _differ_by_place(both, here, there):
        ways.append(Claim("began apart by place", f"{form}, by their places", began))
    return say(apart, choose(*ways, Claim("began apart", form, began)))


def _tell_no_angle(both: Both, pair: int) -> Said:
    """That the word has no direction in one of the passes, where it begins or ends."""
    here, _ = both.pairs[pair]
    lacks = [i for i in (0, -1) if np.isnan(both.angles[i, pair])]
    where = " and ".join(name_end(both.stages[i]) for i in lacks)
    parts = {"one": tell_token(both.one.tokens, here), "where": Part(where)}
    form = "No angle at {one}: a vector of it **has no direction** {where}; other tokens, heads, answers are compared"
    return say(Claim("no angle", form, parts))


def name_end(stage: Address) -> str:
    """Where a vector stands, inside a sentence."""
    return "as layer 0 receives it" if stage.layer is None else f"after layer {stage.layer}"


def _differ_by_place(both: Both, here: int, there: int) -> bool:
    """Whether nothing but its place tells a token from the other one where the first layer begins."""
    one, other = both.one, both.other
    if one.model is not other.model or one.changes or other.changes:
        return False
    read = [(e.ids[i], e.segments[i]) for e, i in ((one.encoding, here), (other.encoding, there))]
    return read[0] == read[1] and one.encoding.positions[here] != other.encoding.positions[there]


def tell_both(view: View) -> Said:
    """What both passes answer, and which token ends farthest apart."""
    both = read_both(view)
    if both is None or both.same:
        return say()
    answered = [_tell_answers(both, both.answers)] if both.answers else []
    return say(*answered, *([_tell_farthest(both)] if np.isfinite(both.last).any() else []))


def write_more(view: View) -> str:
    """What `tell_both` says as plain text, to stand below the headline."""
    return read_escaped(f"{'An example. ' if is_example() else ''}{tell_both(view).text}")


def _tell_answers(both: Both, answers: Answers) -> Said:
    """The likeliest answer of either pass."""
    found: list[Claim | Said] = []
    for side, (which, shares) in enumerate((("first", answers.one), ("second", answers.other))):
        if np.isnan(shares).all():
            continue
        trace, best = (both.one, both.other)[side], int(np.nanargmax(shares))
        parts = {"share": tell_percent(shares[best]), "what": _name_answer(answers, best)}
        if "{token}" in _ask(both, answers) and answers.at:
            parts["token"] = tell_token(trace.tokens, answers.at[side])
        lead = f"In the {which} {_ask(both, answers)}" if not found else f"in the {which} "
        known = shares[~np.isnan(shares)]
        at = int((~np.isnan(shares))[:best].sum())
        none = f"{'in' if found else 'In'} the {which} nothing is likelier than {{what}}, {{share}}"
        found.append(
            say_largest(
                (f"answer of the {which}", f"{lead}{{what}}, {{share}}"),
                (f"no likelier answer of the {which}", none),
                parts,
                known,
                (at,),
            )
        )
    return say(found[0], *(each for one in found[1:] for each in ("; ", one)), ". ") if found else say()


def _ask(both: Both, answers: Answers) -> str:
    """What is asked; of several blanks, which one; of classes that tokens have, whose."""
    if answers.kind == CLASS and answers.at:
        return _WHOSE_CLASS
    return _WHICH_BLANK if answers.kind == BLANK and has_more_blanks(both) else _ASKED[answers.kind]


def has_more_blanks(both: Both) -> bool:
    """Whether there is more than one blank to speak of."""
    return any(len(find_masks(trace)) > 1 for trace in (both.one, both.other))


def _name_answer(answers: Answers, best: int) -> Part:
    return name_plain(answers.name(best)) if answers.kind == FOLLOWS else name_word(answers.name(best))


def _tell_farthest(both: Both) -> Said:
    """Which matched token ends farthest apart."""
    known = np.flatnonzero(np.isfinite(both.last))
    angles = both.last[known]
    most = int(angles.argmax())
    parts = {"angle": tell_degrees(angles[most]), "token": tell_token(both.one.tokens, both.pairs[known[most]][0])}
    if len(angles) == 1:
        return say()
    if not angles.any():
        return say(Claim("none apart", "All matched tokens end alike.", {}, Relation.NONE, angles))
    return say_largest(
        ("farthest apart", "Farthest of the matched: {token}, {angle}."),
        ("none farther apart", "No matched token ends farther apart than {token}, {angle}."),
        parts,
        angles,
        (most,),
    )


def tell_matched(view: View) -> Said:
    """How many tokens are matched, and how many stand alone: the title of the first card."""
    both = read_both(view)
    if both is None:
        return say()
    alone = sum(len(trace.encoding.real) - len(both.pairs) for trace in (both.one, both.other))
    parts = {"matched": tell_count(len(both.pairs)), "alone": tell_count(alone)}
    return say(Claim("tokens matched", "{matched} matched, {alone} alone", parts))
