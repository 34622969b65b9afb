"""A lesson as data: steps, each with a task, a kind of answer, and the function that works its key out of a pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass

import numpy as np

from bertviz_core.formula.address import Address
from bertviz_core.lessons.scene import Scene
from bertviz_core.tracing.changes import Changes

Numbers = Mapping[str, str]


@dataclass(frozen=True)
class Worked:
    """What a step says of one pass.

    key: the answer: the index of an option or of what can be picked, or a number; numbers: what the named places of its
    texts are filled with; why: the cell that explains the answer in the drawer.
    """

    key: float
    numbers: Numbers
    why: Address


@dataclass(frozen=True)
class Option:
    """One of a few answers. right, wrong: what is said to who chose it, where it is the key, and where it is not."""

    label: str
    right: str
    wrong: str


@dataclass(frozen=True)
class Choose:
    """One of two to four options. The key is an index.

    run: what is changed in the pass to see it; with that it is a prediction, which has one try.
    """

    options: tuple[Option, ...]
    run: Callable[[Scene], Changes] | None = None
    once: bool = False


@dataclass(frozen=True)
class Pick:
    """One of many things on screen: a click on its number proposes it, and so does its name in a list.

    names: of all that can be picked, the key being an index; find: what a click on a cell proposes, or why it cannot be
    meant, as a sentence; None for a cell that has nothing to do with it; cell: the one that is ringed for a proposal.
    """

    names: Callable[[Scene], tuple[str, ...]]
    find: Callable[[Scene, Address], int | str | None]
    cell: Callable[[Scene, int], Address] | None = None


@dataclass(frozen=True)
class Number:
    """A number that is typed. within: how far from the key it may be."""

    within: float


@dataclass(frozen=True)
class Slide:
    """A slider. ends: its least and its largest value; start: where it stands; show: what is said at a value; shares:
    what each token then gets, in the order of the sentence."""

    ends: Callable[[Scene], tuple[float, float]]
    start: Callable[[Scene], float]
    within: Callable[[Scene, float], bool]
    show: Callable[[Scene, float], str]
    shares: Callable[[Scene, float], np.ndarray]


@dataclass(frozen=True)
class Verdict:
    """What is said of an answer. counted: whether it was one at all, so that it is a try."""

    right: bool
    says: str
    counted: bool = True


@dataclass(frozen=True)
class Write:
    """A word or a sentence of one's own. guess: what is to be foretold of it, if anything; check: marks both.

    runs: whether it is a sentence, which the page then shows; samples: of what may be written, for who teaches.
    """

    label: str
    guess: str
    check: Callable[[Scene, str, str], Verdict]
    runs: bool = True
    samples: Callable[[Scene], tuple[tuple[str, str], ...]] = lambda _: ()


Ask = Choose | Pick | Number | Slide | Write


@dataclass(frozen=True)
class Tried:
    """An answer to be told what is wrong with it: an index, or a number."""

    scene: Scene
    worked: Worked
    answer: float


@dataclass(frozen=True)
class Wrong:
    """A mistake that is often made: which answers show it, and what is said."""

    is_so: Callable[[Tried], bool]
    says: str


def otherwise(_: Tried) -> bool:
    """Of the last of the mistakes, which every other answer shows."""
    return True


@dataclass(frozen=True)
class Need:
    """One thing that a sentence or a model must have for a step to make sense. lacks: said where it has not."""

    lacks: str
    is_met: Callable[[Scene], bool]


@dataclass(frozen=True)
class OnPaper:
    """How a step is put on paper, where nothing can be clicked or covered.

    text, task: in place of the step's own, where these will not do; their named places are filled in the same way.
    """

    text: str = ""
    task: str = ""


@dataclass(frozen=True)
class InRoom:
    """How a step is asked of a class, which sees the question on a projector and answers on phones.

    text, task: as in `OnPaper`, with {layer} and {head} besides; among: which can be picked, all of them if that is
    not said; shown: the model's own number of one that was picked; below: what these numbers are; was: that number
    before anything was changed; tops: whether the likeliest words at the token are shown with the question, of which
    it speaks and which do not give the answer away.
    """

    text: str = ""
    task: str = ""
    among: Callable[[Scene], Collection[int]] | None = None
    shown: Callable[[Tried], str] | None = None
    below: str = ""
    was: str = ""
    tops: bool = False


@dataclass(frozen=True)
class Picture:
    """What a lesson is about, as it is printed: HTML; and what its empty boxes are to be filled with, in words."""

    body: str
    boxes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One idea, one task, one answer. Its texts have named places, which `work` fills from the pass.

    name: in the URL; page: where it is asked; place: what to look at there; at: the card there, by a part of the
    addresses that it names, or "tokens" or "map"; fold: the one in which that stands; covers: what stands on that page
    and gives the answer away, as `at`, or "headline", "tokens", or "page" for all of it;
    right: what is said then, unless the option says it; wrong: the first that fits is said, the last fits always; tell:
    more numbers of what was answered; misconception: what a wrong answer mostly comes from, for who teaches; costly:
    whether the key takes many passes; paper: how it is printed; room: how a class is asked.
    """

    name: str
    title: str
    page: str
    place: str
    text: str
    task: str
    ask: Ask
    work: Callable[[Scene], Worked]
    _: KW_ONLY
    at: str
    misconception: str
    fold: str = ""
    hints: tuple[str, ...] = ()
    right: str = ""
    wrong: tuple[Wrong, ...] = ()
    tell: Callable[[Tried], Numbers] = lambda _: {}
    covers: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()
    costly: bool = False
    paper: OnPaper = OnPaper()
    room: InRoom = InRoom()

    @property
    def once(self) -> bool:
        """Whether it has one try: what it asks is seen afterwards."""
        return isinstance(self.ask, Choose) and (self.ask.once or self.ask.run is not None)


@dataclass(frozen=True)
class Lesson:
    """Steps in their order. line: what it is about; minutes: how long it takes; after: what one can do then; draw: what
    its handout shows of a pass; text: the sentence that has all that its steps need; quiz: whether it asks about that
    sentence alone, once, and says what was right only at its end."""

    name: str
    title: str
    line: str
    minutes: int
    after: tuple[str, ...]
    steps: tuple[Step, ...]
    draw: Callable[[Scene], Picture]
    text: str = "When in Rome, do as the [MASK] do."
    quiz: bool = False

    def find_step(self, name: str) -> int | None:
        """The place of a step, by its number from 1 as the URL has it; None where there is none."""
        number = int(name) if name.isascii() and name.isdecimal() and len(name) < 4 else 0
        return number - 1 if 1 <= number <= len(self.steps) else None
