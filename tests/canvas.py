"""The canvas of the first page as a browser gets it: what it is given for a trace, and that read back cell by cell."""

import base64
import itertools
import random

import numpy as np

from bertviz_core.analysis.canvas import Spot, choose_rows, count_rows
from bertviz_core.analysis.openings import open_head, open_token
from bertviz_core.figures.palette import PALETTES
from bertviz_core.ui.frame.view import AFTER, Outcome, Selection, View
from bertviz_core.ui.views.overview_canvas import Place, make_data

# Texts of the picture that lie on each other or stick out of it.
BLEMISHES = """() => {
    const stage = document.querySelector('.bvc-stage').getBoundingClientRect(), found = [];
    const seen = e => e.textContent.trim() && e.checkVisibility() && getComputedStyle(e).opacity > 0.2;
    const texts = [...document.querySelectorAll('.bvc-drawn text')].filter(seen)
        .map(e => [e.textContent, e.getBoundingClientRect(), /rotate/.test(e.getAttribute('transform'))]);
    for (const [text, r] of texts)
        if (r.left < stage.left - 1 || r.right > stage.right + 1 || r.top < stage.top - 1
                || r.bottom > stage.bottom + 1)
            found.push(`sticks out: ${text}`);
    texts.forEach(([one, a, turned], i) => texts.slice(i + 1).forEach(([other, b, too]) => {
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 3 && down > 5 && !turned && !too) found.push(`overlap: ${one} / ${other}`);
    }));
    return found;
}"""


def look(before, after=None, show=AFTER, token=None, head=None):
    """A view of a trace, at the place that the rules choose unless told."""
    after = after or before
    token = open_token(before).token if token is None else token
    opened = open_head(before, token)
    layer, own = head or (opened.layer, opened.head)
    outcome, chosen = Outcome(before, after, {}, show), Selection(layer, own, token)
    return View("", None, before.encoding, outcome, chosen, PALETTES["light"], "row")


def draw(view, component=None, start=None, strip="", rows=None):
    """What the canvas is given. start: the first row of its window, or rows: all of them; strip: of a layer, the one
    that is seen whole."""
    chosen = view.chosen
    most, total = count_rows(view.trace.model.config, strip), len(view.trace.tokens)
    window = rows or choose_rows(chosen.token, total, start, most)
    spot = Spot(chosen.layer, chosen.head, chosen.token, component, window)
    return make_data(view, Place("layer" if strip else "pass", spot, 0, strip))


class Drawn:
    """What the canvas was given, read as its JavaScript reads it."""

    def __init__(self, data):
        self.data = data
        self.bytes = base64.b64decode(data["bytes"])
        self.stages = {stage["id"]: stage for stage in data["stages"]}

    def values(self, name):
        """The numbers of a stage, in their shape."""
        stage = self.stages[name]
        return self._read(stage["at"], "<f4", stage["size"])

    def marks(self, name):
        """Which cells of a stage were changed."""
        stage = self.stages[name]
        return self._read(stage["mark"], "u1", stage["size"])

    def puts(self, name):
        """Into which cells of a stage a change put numbers; None where into none of its tensor."""
        stage = self.stages[name]
        return None if stage["put"] is None else self._read(stage["put"], "u1", stage["size"])

    def _read(self, at, kind, size):
        return np.frombuffer(self.bytes, kind, int(np.prod(size)), at).reshape(size)

    def cells(self, name):
        """The address of every cell of a stage, in the order of its values."""
        stage, window = self.stages[name], self.data["window"]
        rows = range(window["start"], window["stop"])
        heads = range(self.data["size"]["heads"]) if len(stage["size"]) == 3 else [0]
        for head, row, column in itertools.product(heads, rows, stage["columns"]):
            yield stage["address"].format(row=row, column=column, key=column, head=head)


def pick(drawn, count, seed=0):
    """Cells of all levels at random: stage, place, address."""
    chosen = random.Random(seed)
    names = [name for name in drawn.stages if not name.startswith("ribbons.")]
    listed = {name: list(drawn.cells(name)) for name in names}
    for level in ("pass", "layer", "head"):
        own = [name for name in names if drawn.stages[name]["level"] == level]
        for _ in range(count // 3 + 1):
            name = chosen.choice(own)
            place = chosen.randrange(len(listed[name]))
            yield name, place, listed[name][place]


def open_canvas(app, **query):
    """Opens the first page at a place; gives the picture."""
    app.open(**query)
    app.page.wait_for_selector(".bvc-stage")
    app.page.wait_for_function("() => document.querySelector('.bvc-drawn text') !== null")
    return app.page.locator(".bvc-stage")


def press(app, *keys):
    """One key after the other, without waiting."""
    for key in keys:
        app.page.keyboard.press(key)


def wait_for_query(app, **wanted):
    """Waits until the URL says this."""
    app.page.wait_for_function(
        "wanted => Object.entries(wanted).every(([key, value]) => "
        "new URLSearchParams(location.search).get(key) === value)",
        arg=wanted,
    )


def say(stop):
    """What a stop says, as plain text."""
    return "".join(text for text, _ in stop["sentence"])
