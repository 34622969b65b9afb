"""The strip of a lesson, docked below the page: what to know, what to do, what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import Any

import streamlit as st

from bertviz_core.errors import BertvizError
from bertviz_core.formula.texts import spell_controls
from bertviz_core.lessons.catalogue import LESSONS, QUIZZES, find_lesson
from bertviz_core.lessons.lesson import Choose, Lesson, Number, Pick, Slide, Step, Verdict, Write
from bertviz_core.lessons.marking import (
    fill,
    list_options,
    mark_index,
    mark_number,
    mark_slide,
    read_alike,
    tell_key,
    tell_lack,
)
from bertviz_core.tracing.changes import write_changes
from bertviz_core.ui.frame import choices, site, state
from bertviz_core.ui.frame.keys import CHANGES, LESSON, OPEN, STEP, TEXT, WALK, Key
from bertviz_core.ui.frame.labels import escape_markdown
from bertviz_core.ui.frame.lesson import (
    END,
    Answered,
    Sitting,
    close_lesson,
    is_over,
    list_answered,
    read_open,
    take_said,
)
from bertviz_core.ui.frame.lesson_guide import guide
from bertviz_core.ui.frame.resources import BUNDLED
from bertviz_core.ui.frame.words import explain_words

LEARN = "learn"  # the page with all lessons
_FOLDED = Key("lesson-folded", False)
_GUESS = Key("lesson-guess", "")
_LONGEST = 300  # characters of a sentence of one's own
_TRIES = 2  # after which the answer is shown to who asks
_PROMPTS: Mapping[type, str] = {
    Pick: "Choose in the picture, or here. Nothing counts until you check.",
    Number: "Type a number; a comma or a point will do. Enter checks.",
    Choose: "Choose one, then check.",
    Slide: "Move the slider, then check.",
    Write: "Write, then check.",
}
_KEYS = " By keyboard: F6 leads to the picture and back; there Enter chooses, and Enter once more checks."


def show_way(lesson: Lesson, number: int, label: str, key: str, **looks: Any) -> None:
    """A button that leads to a step, counted from 0, on the page on which it is asked; behind the last one to the end.

    All changes of the pass are taken back, one's own too: what is asked is about the pass without any. The quiz is
    about a sentence of its own, on which no lesson goes on.
    """
    if st.button(label, key=f"{key}-{lesson.name}-{number}", **looks):
        step, page, fold = END, LEARN, ""
        if number < len(lesson.steps):
            step, page, fold = str(number + 1), lesson.steps[number].page, lesson.steps[number].fold
        if number < len(lesson.steps) and (lesson.quiz or state.read(TEXT) in {form.text for form in QUIZZES}):
            choices.use_sentence(lesson.text)
        choices.choose({LESSON: lesson.name, STEP: step, CHANGES: "", WALK: "", OPEN: fold})
        site.switch_to(page)


@st.fragment
def show_lesson(page: str) -> None:
    """The strip, where a lesson is open; there, and among all lessons, the browser keeps what was answered."""
    choices.rerun_if_asked()
    sitting = read_open()
    if sitting is not None or page == LEARN:
        guide(sitting)
    if sitting is not None:
        folded = state.read(_FOLDED)
        with st.container(key="lesson-folded" if folded else "lesson-strip", gap=None):
            _show_head(sitting, folded)
            if not folded:
                with st.container(key="lesson-body", horizontal=True, gap=None):
                    _show_body(sitting)


def _show_head(sitting: Sitting, folded: bool) -> None:
    lesson, number = sitting.lesson, sitting.number
    with st.container(key="lesson-head", horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f'<b role="heading" aria-level="2">{escape(lesson.title)}</b>', width="content")
        with st.container(key="lesson-dots", horizontal=True, gap=None, width="content"):
            show_dots(lesson, list_answered(lesson, sitting.scene), number)
        st.html(f"<span>{number + 1} of {len(lesson.steps)} · {escape(sitting.step.title)}</span>", width="stretch")
        if sitting.waits and not lesson.quiz and sitting.answered.hints < len(sitting.step.hints):
            st.button("Hint", key="lesson-hint", type="tertiary", on_click=_give_hint, args=(sitting,))
        st.button("Open" if folded else "Hide", key="lesson-fold", type="tertiary", on_click=_fold, args=(not folded,))
        st.button("Leave", key="lesson-leave", type="tertiary", on_click=_leave)


def show_dots(lesson: Lesson, answered: tuple[Answered, ...], here: int | None = None) -> None:
    """A link to each step, which says what became of it. here: the open step's number, in the strip: on *Learn* both
    it and the lesson's card have them."""
    key = "lesson-dot" if here is None else "lesson-dot-strip"
    for i, each in enumerate(answered):
        became = "here" if i == here else _name_state(lesson, lesson.steps[i], each)
        with st.container(key=f"{key}-{lesson.name}-{i}-{became}", width="content"):
            show_way(lesson, i, str(i + 1), key, type="tertiary", help=lesson.steps[i].title)


def _name_state(lesson: Lesson, step: Step, answered: Answered) -> str:
    """What became of a step; of the quiz no more than whether it was answered, and of a lesson how."""
    if not is_over(lesson, step, answered):
        return "open"
    if lesson.quiz or answered.at_once:
        return "once"
    return "right" if answered.right else "told"


def _fold(folded: bool) -> None:
    state.write(_FOLDED, folded)


def _leave() -> None:
    close_lesson()
    choices.ask_for_rerun()


def _give_hint(sitting: Sitting) -> None:
    sitting.note(replace(sitting.answered, hints=sitting.answered.hints + 1))


def _show_body(sitting: Sitting) -> None:
    if not sitting.ready:
        _show_unready(sitting)
        return
    step, numbers = sitting.step, sitting.worked.numbers
    with st.container(key="lesson-read", gap=None):
        place = f'<p class="bv-faint">Look at: {escape(fill(step.place, numbers))}</p>' if sitting.in_view else ""
        st.html(f"<p>{_render_text(sitting)}</p>{place}{_render_hints(sitting)}")
    with st.container(key="lesson-do", gap=None):
        st.html(f'<p tabindex="-1" data-step="{sitting.named}"><b>{escape(fill(step.task, numbers))}</b></p>')
        if not sitting.here:
            page = site.get_page(step.page)
            show_way(sitting.lesson, sitting.number, f"This is asked on the page {page.title} ›", "lesson-there")
        elif not sitting.over:
            _ask(sitting)
    with st.container(key="lesson-said", gap=None):
        _show_said(sitting)


def _render_text(sitting: Sitting) -> str:
    """What to know, with the meanings of the glossary's words; in the quiz without, since that asks about them."""
    text = escape(sitting.step.text, quote=False)
    numbers = {name: escape(number) for name, number in sitting.worked.numbers.items()}
    return fill(text if sitting.lesson.quiz else explain_words(text, escape), numbers)


def _render_hints(sitting: Sitting) -> str:
    given = sitting.step.hints[: sitting.answered.hints]
    return "".join(f'<p class="bv-hint">{escape(fill(hint, sitting.worked.numbers))}</p>' for hint in given)


def _show_unready(sitting: Sitting) -> None:
    """Why the step makes no sense for this sentence, and the way on."""
    text, lacks = sitting.lesson.text, tell_lack(sitting.step, sitting.scene)
    if sitting.lesson.quiz and not read_alike(text, sitting.scene):
        lacks = "the quiz asks about a sentence of its own"
    with st.container(key="lesson-read", gap=None):
        st.html(f"<p>Step {sitting.number + 1}, {escape(sitting.step.title)}: {escape(lacks)}.</p>")
    with st.container(key="lesson-do", horizontal=True):
        st.button(escape_markdown(f"Take “{text}”"), key="lesson-own", on_click=_take, args=(text, ""))
        if sitting.scene.model.name != BUNDLED:
            st.button("Take it with the bundled model", key="lesson-bundled", on_click=_take, args=(text, BUNDLED))
        _show_next(sitting)


def _take(text: str, model: str) -> None:
    """Go on with a sentence, and with a model if one is named."""
    if model:
        choices.choose_model(model)
    choices.use_sentence(text)
    choices.ask_for_rerun()


def _show_next(sitting: Sitting) -> None:
    lesson, following = sitting.lesson, sitting.number + 1
    end = "your result" if lesson.quiz else "what you can do now"
    name = lesson.steps[following].title if following < len(lesson.steps) else end
    show_way(lesson, following, f"Next: {name} ›", "lesson-next", type="primary")


def _show_said(sitting: Sitting) -> None:
    """What came back; before an answer, how one is given."""
    said, answered = take_said(), sitting.answered
    if sitting.lesson.quiz and sitting.over:
        told = f"Noted{_tell_chosen(sitting)}. How many were right is told after the last question."
    elif answered.shown:
        told = f"It is {tell_key(sitting.step, sitting.scene, sitting.worked)}."
    elif answered.verdict is not None:
        told = f"{_name_verdict(sitting)} {answered.verdict.says}"
    else:
        told = _PROMPTS[type(sitting.step.ask)]
    looks = "over" if sitting.over else "wrong" if answered.verdict and not said else "none"
    begins = not said and sitting.waits and answered.verdict is None
    keys = f'<span class="bv-keys">{_KEYS}</span>' if begins and isinstance(sitting.step.ask, Pick) else ""
    st.html(f'<p class="bv-verdict bv-{looks}" role="status" aria-live="polite">{escape(said or told)}{keys}</p>')
    with st.container(key="lesson-ways", horizontal=True):
        if sitting.over:
            _show_next(sitting)
            if not sitting.lesson.quiz:
                st.html(
                    f'<button class="bv-button" data-cell="{escape(str(sitting.worked.why))}">Why</button>',
                    width="content",
                )
        elif answered.wrong >= _TRIES:
            st.button("Show me", key="lesson-show", on_click=_show_answer, args=(sitting,))


def _tell_chosen(sitting: Sitting) -> str:
    """What was chosen, where that is still known."""
    chosen = state.find(sitting.answer)
    options = list_options(sitting.step, sitting.scene, sitting.worked)
    return f": {options[chosen].rstrip('.')}" if isinstance(chosen, int) and chosen < len(options) else ""


def _name_verdict(sitting: Sitting) -> str:
    if sitting.answered.right:
        return "Right."
    return "It came out differently." if sitting.step.once else "Not yet."


def _show_answer(sitting: Sitting) -> None:
    sitting.note(replace(sitting.answered, shown=True))
    choices.ask_for_rerun()


def _ask(sitting: Sitting) -> None:
    """What the answer is given with, and *Check*."""
    if isinstance(sitting.step.ask, Slide):
        _ask_slide(sitting, sitting.step.ask)
        return
    form = st.form(f"lesson-form-{sitting.lesson.name}-{sitting.number}", border=False)
    with form, st.container(key="lesson-answer-row", horizontal=True, vertical_alignment="bottom"):
        with st.container(gap="xsmall"):
            _show_widget(sitting)
        st.form_submit_button("Check", key="lesson-check", on_click=_check, args=(sitting,), type="primary")


def _show_widget(sitting: Sitting) -> None:
    step, key = sitting.step, sitting.answer.name
    looks: dict[str, Any] = {"key": key, "label_visibility": "collapsed"}
    options = [*map(escape_markdown, list_options(step, sitting.scene, sitting.worked))]
    if isinstance(step.ask, Choose):
        st.radio("Your answer", range(len(options)), index=None, format_func=options.__getitem__, **looks)
    elif isinstance(step.ask, Pick):
        st.selectbox(
            "Your answer",
            range(len(options)),
            index=None,
            format_func=list_options(step, sitting.scene, sitting.worked).__getitem__,
            placeholder="What you choose appears here",
            **looks,
        )
    elif isinstance(step.ask, Write):
        st.text_input(step.ask.label, placeholder=step.ask.label, max_chars=_LONGEST, **looks)
        if step.ask.guess:
            guess = _guess(sitting).name
            st.text_input(
                step.ask.guess, placeholder=step.ask.guess, max_chars=60, key=guess, label_visibility="collapsed"
            )
    else:
        st.text_input("Your number", placeholder="Your number", max_chars=40, **looks)


def _guess(sitting: Sitting) -> Key[str]:
    return _GUESS.of(sitting.lesson.name, sitting.number)


def _ask_slide(sitting: Sitting, ask: Slide) -> None:
    low, high = ask.ends(sitting.scene)
    value = st.slider(
        "Your value", low, high, ask.start(sitting.scene), 0.01, key=sitting.answer.name, label_visibility="collapsed"
    )
    with st.container(key="lesson-answer-row", horizontal=True, vertical_alignment="center"):
        st.html(
            f'<p aria-live="polite">{escape(ask.show(sitting.scene, value))}</p>{_draw_shares(sitting, ask, value)}',
            width="stretch",
        )
        st.button("Check", key="lesson-check", on_click=_check, args=(sitting,), type="primary")


def _draw_shares(sitting: Sitting, ask: Slide, value: float) -> str:
    """A bar for each token's share, as high as that; the picture on the page shows the pass as it is."""
    names = [spell_controls(token) for token in sitting.scene.tokens]
    bars = "".join(
        f'<span><i style="height:{44 * share:.1f}px"></i>{escape(name)}</span>'
        for name, share in zip(names, ask.shares(sitting.scene, value).tolist(), strict=True)
    )
    return f'<div class="bv-shares" aria-hidden="true">{bars}</div>'


def _check(sitting: Sitting) -> None:
    """Mark what was answered; a prediction is then run, and a sentence of one's own is read."""
    ask, said = sitting.step.ask, state.find(sitting.answer)
    try:
        verdict = _mark(sitting, said)
    except BertvizError as error:
        verdict = Verdict(False, str(error), counted=False)
    sitting.note_verdict(verdict)
    if verdict.counted and not sitting.lesson.quiz:
        if isinstance(ask, Choose) and ask.run is not None:
            choices.use_changes(write_changes(ask.run(sitting.scene)))
        elif isinstance(ask, Write) and ask.runs:
            choices.choose_head(sitting.scene.layer, sitting.scene.head)
            choices.use_sentence(str(said))
    choices.ask_for_rerun()


def _mark(sitting: Sitting, said: object) -> Verdict:
    step, scene, worked = sitting.step, sitting.scene, sitting.worked
    if said is None or said == "":
        return Verdict(False, "Answer first, then check.", counted=False)
    if isinstance(step.ask, Write):
        return step.ask.check(scene, str(said), str(state.find(_guess(sitting)) or ""))
    if isinstance(step.ask, Slide) and isinstance(said, int | float):
        return mark_slide(step, scene, worked, float(said))
    if isinstance(step.ask, Choose | Pick) and isinstance(said, int):
        return mark_index(step, scene, worked, said)
    return mark_number(step, scene, worked, str(said))


def tell_unknown() -> tuple[str, ...]:
    """That the URL asks for a lesson or a step that there is not, if it does."""
    name, step = state.read(LESSON), state.read(STEP)
    lesson = find_lesson(name)
    if not name or (lesson and (step == END or lesson.find_step(step) is not None)):
        return ()
    if lesson is None:
        known = ", ".join(each.name for each in (*LESSONS, *QUIZZES))
        return (f"There is no lesson “{escape_markdown(name[:40])}”, only {known}.",)
    return (f"The lesson “{lesson.title}” has no step “{escape_markdown(step[:20])}”, only 1 to {len(lesson.steps)}.",)
