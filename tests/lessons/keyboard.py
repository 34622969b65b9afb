"""Somebody who answers lessons with nothing but the keys of a keyboard."""

import re

from playwright.sync_api import Error, expect

from bertviz_core.formula.address import parse
from bertviz_core.lessons.lesson import Choose, Number, Pick, Slide, Write

STRIP = ".st-key-lesson-strip"
TASK = f"{STRIP} [data-step]"
CHECK = f"{STRIP} .st-key-lesson-check button"
NEXT = f'{STRIP} [class*="st-key-lesson-next-"] button'
LISTED = ("visible", "looked")  # whose picture has no parts to choose, or is covered: there it is the list
_FOCUS = """() => {
    let focus = document.activeElement;
    while (focus?.shadowRoot?.activeElement) focus = focus.shadowRoot.activeElement;
    return focus;
}"""
_IS_THERE = f"selector => ({_FOCUS})().matches(selector)"
_TELL = f"() => ({_FOCUS})().outerHTML.slice(0, 200)"


class Keyboard:
    """Hands on the keys of a page; what has the focus is read, never set."""

    def __init__(self, app):
        self.app, self.page = app, app.page

    def press(self, *names):
        for name in names:
            self.page.keyboard.press(name)

    def send(self, key="Enter"):
        """Press a key that the server hears of."""
        with self.app.rerun():
            self.press(key)

    def is_at(self, selector):
        return self.page.evaluate(_IS_THERE, selector)

    def wait_at(self, selector):
        """Until the app itself has led the focus there."""
        try:
            self.page.wait_for_function(_IS_THERE, arg=selector, timeout=20_000)
        except Error as error:
            raise AssertionError(f"the focus is not at {selector}, but at {self.page.evaluate(_TELL)}") from error

    def tab_to(self, selector, at_most=12, key="Tab"):
        """Press Tab, or Shift and Tab, until it is reached."""
        for _ in range(at_most):
            self.press(key)
            if self.is_at(selector):
                return
        raise AssertionError(f"{selector} is not reached; the focus is at {self.page.evaluate(_TELL)}")

    def read_focus(self, name):
        return self.page.evaluate(f"name => ({_FOCUS})().getAttribute(name) ?? ''", name)

    # Answers, each from the task on.

    def answer(self, step, scene, said):
        ask = step.ask
        if isinstance(ask, Pick):
            self.list_pick(ask, scene, said) if step.name in LISTED else self.pick(ask, scene, said)
        elif isinstance(ask, Choose):
            self.tab_to(f"{STRIP} input[type=radio]")
            self.press("Space")
            while self.read_focus("value") != str(said):
                self.press("ArrowDown")
        elif isinstance(ask, Slide):
            self.slide(said)
        else:
            for text in [said] if isinstance(ask, Number) else filter(None, said):
                self.tab_to(f"{STRIP} input[type=text]")
                self.page.keyboard.type(text)
        if isinstance(ask, Choose | Slide | Write):
            self.tab_to(CHECK)
        self.send()

    def list_pick(self, ask, scene, said):
        """By its name, in the list."""
        self.tab_to(f"{STRIP} input[role=combobox]")
        self.page.keyboard.type(ask.names(scene)[said])
        self.press("Enter")
        self.tab_to(CHECK)

    def pick(self, ask, scene, said):
        """In the picture: Enter proposes it, and will check it."""
        self.press("F6")
        role = self.read_focus("role")
        if role == "application":
            live = self.page.locator(".bv-live")
            self.go(said, lambda: _read_pair(live.inner_text(), scene.tokens), len(scene.tokens))
        elif role == "gridcell":
            self.go(said, lambda: _read_places(self.read_focus("aria-label")), scene.model.config.num_attention_heads)
        elif role == "radio":
            self.press("Home")
            self.go_on("ArrowRight", ask, scene, said)
        else:
            self.go_on("Tab", ask, scene, said)
        self.send()
        expect(self.page.locator(f"{STRIP} input[role=combobox]")).to_have_value(ask.names(scene)[said])

    def go(self, said, read_place, columns):
        """With arrows, by what is read out of the cell on which one is: its row and its column."""
        row, column = read_place()
        to = divmod(said, columns) if said >= columns or self.is_at('[role="gridcell"]') else (row, said)
        self.press(*["ArrowDown" if to[0] > row else "ArrowUp"] * abs(to[0] - row))
        self.press(*["ArrowRight" if to[1] > column else "ArrowLeft"] * abs(to[1] - column))
        assert read_place() == to

    def go_on(self, key, ask, scene, said, at_most=60):
        """From number to number, until one is reached that stands for the answer."""
        for _ in range(at_most):
            token, cell = self.read_focus("data-token"), self.read_focus("data-cell")
            if token == str(said) or (cell and ask.find(scene, parse(cell)) == said):
                return
            self.press(key)
        raise AssertionError(f"there is no {ask.names(scene)[said]} in the picture")

    def slide(self, value):
        """By tenths of the slider, and then by its least steps."""
        self.tab_to(f"{STRIP} input[type=range]")
        low, high, least = (float(self.read_focus(name)) for name in ("min", "max", "step"))
        for size, keys in (((high - low) / 10, ("PageUp", "PageDown")), (least, ("ArrowRight", "ArrowLeft"))):
            missing = value - float(self.read_focus("value"))
            self.press(*[keys[missing < 0]] * int(abs(missing) / size + 0.5))
        self.app.settle()


def _read_pair(said, tokens):
    """The positions of two tokens with which it begins, of which a number stands before those that occur twice:
    `as, [MASK]: 0.3`, `5 do, 9 do: 0.3`."""
    names = said.rpartition(": ")[0]
    pairs = ((_find(names[: at.start()], tokens), _find(names[at.end() :], tokens)) for at in re.finditer(", ", names))
    return next((pair for pair in pairs if None not in pair), None) or _read_places(said)


def _find(name, tokens):
    number = re.match(r"(\d+) ", name)
    return int(number[1]) if number else tokens.index(name) if name in tokens else None


def _read_places(said):
    """The two numbers with which what is read out of a cell begins: `6 as, 8 [MASK]: 0.3`, `layer 5, head 2, ...`."""
    row, column = re.match(r"\D*(\d+).*?, \D*?(\d+)", said).groups()
    return int(row), int(column)
