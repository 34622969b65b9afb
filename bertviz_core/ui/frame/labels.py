"""Other people's words, as they are written in Markdown; and what is said of padding."""

from __future__ import annotations

import re

from bertviz_core.analysis.attention import is_attended
from bertviz_core.analysis.labels import name_masked
from bertviz_core.formula.texts import spell_controls
from bertviz_core.tracing.trace import Trace

_ADDRESS = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_JOINER = "\u2060"


def tell_padding(trace: Trace, before: Trace) -> str:
    """To stand on every page of a sentence with padding: what is done about it. Nothing without. before: the pass
    without changes, which can have less of it."""
    encoding = trace.encoding
    hidden = sorted({*range(len(encoding))} - {*encoding.real})
    if not hidden:
        return ""
    some = "1 of {} tokens has" if len(hidden) == 1 else f"{len(hidden)} of {{}} tokens have"
    told = f"{some.format(len(encoding))} attention mask 0, as padding has: drawn, but left out of every "
    moved = (
        " Of how far numbers moved, those that a change masks are part." if {*hidden} & {*before.encoding.real} else ""
    )
    if is_attended(trace, hidden):
        told += "mean and nearest. As changed, tokens attend to some, which counts as what they look at and take."
        return f"{told}{moved}"
    return f"{told}mean, largest and nearest.{moved}"


def tell_left_out(trace: Trace) -> str:
    """To stand where tokens with attention mask 0 are not drawn: that they are not. Nothing where there are none."""
    masked = name_masked(trace)
    return f"{masked[0].upper()}{masked[1:]} {'is' if masked == 'padding' else 'are'} left out." if masked else ""


def escape_markdown(text: str) -> str:
    """Markdown that shows a text as it stands, in its line: a model's name, an error's words.

    What looks like an address would be made a link even so: there a sign is put in between that takes no room.
    """
    return re.sub(r"[!-/:-@\[-`{-~]", r"\\\g<0>", _ADDRESS.sub(_JOINER, spell_controls(text)))


def read_escaped(text: str) -> str:
    """What `escape_markdown` was given, for a place that takes plain text."""
    return _ESCAPED.sub(r"\1", text.replace(_JOINER, ""))


def quote(text: str) -> str:
    """A token or word in a sentence of Markdown, in quotation marks, as it stands."""
    return f"“{escape_markdown(text)}”"
