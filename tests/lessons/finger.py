"""Somebody who answers lessons on a phone: with a finger, and what is typed on the glass."""

from playwright.sync_api import expect

from bertviz_core.lessons.lesson import Choose, Pick, Slide, Write
from bertviz_core.lessons.marking import list_options, work_out
from tests.lessons.keyboard import CHECK, STRIP


class Finger:
    """A finger on the glass of a page: it reaches what can be seen, and scrolls to the rest."""

    def __init__(self, app):
        self.app, self.page = app, app.page

    def tap(self, selector):
        self.page.locator(selector).first.tap()

    def send(self, selector):
        """Tap on something of which the server hears."""
        with self.app.rerun():
            self.tap(selector)

    def answer(self, lesson, step, scene, said):
        ask = step.ask
        if isinstance(ask, Choose):
            option = list_options(step, scene, work_out(lesson.name, step, scene))[said]
            self.page.locator(f"{STRIP} label").filter(has_text=option).last.tap()
        elif isinstance(ask, Pick):
            self.pick(ask, scene, said)
        elif isinstance(ask, Slide):
            self.slide(said)
        else:
            for place, text in enumerate(filter(None, said) if isinstance(ask, Write) else [said]):
                self.page.locator(f"{STRIP} input[type=text]").nth(place).tap()
                self.page.keyboard.type(text)
        self.send(CHECK)

    def pick(self, ask, scene, said):
        """In the matrix, whose cells are so small that the first tap only says which one it is."""
        count = len(scene.tokens)
        row, column = divmod(said, count) if said >= count else (scene.token, said)
        box = self.app.find("[data-picks] :--heatmap").bounding_box()
        x, y = (box["x"] + box["width"] * (column + 0.5) / count, box["y"] + box["height"] * (row + 0.5) / count)
        self.page.touchscreen.tap(x, y)
        expect(self.page.locator(".bv-readout")).to_contain_text("tap again to choose")
        with self.app.rerun():
            self.page.touchscreen.tap(x, y)
        expect(self.page.locator(f"{STRIP} input[role=combobox]")).to_have_value(ask.names(scene)[said])

    def slide(self, value):
        """Somewhere on the line of the slider."""
        thumb = self.page.locator(f"{STRIP} input[type=range]")
        low, high = (float(thumb.get_attribute(name) or 0) for name in ("min", "max"))
        line = self.page.locator(f"{STRIP} [role=group]:has(input[type=range]) > div").first.bounding_box()
        where = line["x"] + line["width"] * (value - low) / (high - low)
        with self.app.rerun():
            self.page.touchscreen.tap(where, line["y"] + line["height"] / 2)
