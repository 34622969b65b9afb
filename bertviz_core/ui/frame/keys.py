"""What a session remembers: each key is declared once, with the type and the usual value of what it stands for.

Here are those of every page's URL, and those that more than one page or room names. What belongs to one module alone
is declared at the head of that.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from bertviz_core.formula.notations import NOTATIONS, Notation
from bertviz_core.ui.frame.packing import LONGEST
from bertviz_core.ui.frame.preparation import NO_PADDING

if TYPE_CHECKING:
    from bertviz_core.ui.frame.view import View

T = TypeVar("T")


@dataclass(frozen=True)
class Key(Generic[T]):
    """A name in the session's state, and in the URL if it stands there.

    usual: its value where nothing was chosen; longest: the characters that are read of it, whoever wrote the URL.
    """

    name: str
    usual: T = field(compare=False)
    longest: int = field(default=200, compare=False)

    def of(self, *parts: object) -> Key[T]:
        """The same of one thing among several, such as one cell of a table."""
        return replace(self, name="-".join(map(str, (self.name, *parts))))


# What is run.
TEXT, PAIR, MODEL = Key("text", "", LONGEST), Key("pair", "", LONGEST), Key("model", "", LONGEST)
PAD = Key("pad", NO_PADDING)
MASK = Key("mask", "", LONGEST)
CHANGES = Key("changes", "", LONGEST)
WEIGHTS = Key("weights", "", LONGEST)  # which ones the model had where a link was copied: its name and their digest
AGAINST = Key("against", "", LONGEST)  # the model that is compared with
WITH = Key("with", "", LONGEST)  # what is set beside: see `second`
PAIRS = Key("pairs", "", LONGEST)  # which tokens of the two passes are matched, where somebody did that by hand
SHOW = Key("show", "")  # which pass the panels show
FORMULAS: Key[Notation] = Key("formulas", NOTATIONS[0])
# Where pages look: text, as somebody asked for it, and empty where a rule chooses.
LAYER, HEAD, TOKEN, KEY_TOKEN = Key("layer", ""), Key("head", ""), Key("token", ""), Key("key_token", "")
WALK = Key("walk", "", LONGEST)  # the cells walked through
OPEN = Key("open", "", LONGEST)  # the folds that are open
LESSON, STEP = Key("lesson", ""), Key("step", "")  # what is asked: a lesson's name, and the number of its step
WITHOUT = Key("without", "")  # the controls that whoever made a link has taken away, by name
# No widget has one of these as its key.
UNDRAWN = (
    MASK, CHANGES, WEIGHTS, AGAINST, WITH, PAIRS, LAYER, HEAD, TOKEN, KEY_TOKEN, WALK, OPEN, LESSON, STEP, WITHOUT
)  # fmt: skip
COMMON = (TEXT, PAIR, MODEL, PAD, SHOW, FORMULAS, *UNDRAWN)  # what stands in the URL of every page
FIXED = (TEXT, MODEL)  # what a link always says: what is usual may be another where and when it is opened

# What some pages have in their URLs, and others name in links to them.
COMPONENT, WINDOW = Key("component", ""), Key("window", "")
WHERE, DOCUMENT, STORY_OF = Key("where", ""), Key("document", ""), Key("story-of", "")
ORIGIN_OF = Key("of", "")  # the address of the number whose origin is asked for
OF_TOKENS = (TOKEN, KEY_TOKEN, MASK, WINDOW, PAIRS)  # positions: they mean nothing once there are other tokens

# Of the session's training: whether it has begun; and whether the one of the session before ended with its server.
TRAINED, TRAINING_LOST = Key("trained", False), Key("training-lost", False)

VIEW: Key[View | None] = Key("view", None)  # what a page draws from; None in a server that has just started
