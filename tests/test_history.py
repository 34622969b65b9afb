"""Back and Forward: where they lead is the truth, whatever else is said or answered at the same time."""

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from bertviz_core.ui.frame import choices, ready, remade, state, stepper, url
from bertviz_core.ui.frame.keys import TOKEN
from bertviz_core.ui.frame.site import get_page
from bertviz_core.ui.frame.streamlit_costs import BEGIN_S
from bertviz_core.ui.frame.view import Selection
from tests.browser import visit as open_tab
from tests.menus import open_menus
from tests.test_url import PLACE

# What the server says arrives later, once `window.latency` is set; in order, if that is not changed meanwhile.
SLOW_LINE = """
window.latency = 0;
window.WebSocket = class extends WebSocket {
    constructor(...where) {
        super(...where);
        this.addEventListener('message', (event) => {
            if (event.late || !window.latency) return;
            event.stopImmediatePropagation();
            const late = Object.assign(new MessageEvent('message', { data: event.data }), { late: true });
            setTimeout(() => this.dispatchEvent(late), window.latency);
        });
    }
};
"""


@pytest.fixture
def app(chromium, server):
    """A tab without a past of its own."""
    with open_tab(chromium, server, fresh=True) as app:
        yield app


class Query(dict):
    """The address as a run finds it, and writes it."""

    def from_dict(self, says):
        self.clear()
        self.update(says)


@pytest.fixture
def visit(monkeypatch):
    """One run of a page for a browser at this address: its message can be of Back, and make choices by its widgets."""
    session, query = {}, Query()
    monkeypatch.setattr(state, "st", SimpleNamespace(session_state=session))
    monkeypatch.setattr(url, "st", SimpleNamespace(query_params=query))

    def run(choose=None, back=False, broken_off=False, page="attention", **address):
        monkeypatch.setattr(url, "is_history_navigation", lambda: back)
        query.from_dict(address)
        if choose:
            choose()
        url.follow_history()
        if not broken_off:
            url.begin_run(page)
            url.publish()
        return dict(query)

    return run


def test_what_the_message_of_back_says_of_the_menus_is_no_choice(visit):
    assert visit(layer="3", head="5") == {"layer": "3", "head": "5"}
    assert visit(lambda: choices.choose_head(4, 5), layer="3", head="5") == {"layer": "4", "head": "5"}
    assert visit(lambda: choices.choose_head(2, 5), back=True, layer="3", head="5") == {"layer": "3", "head": "5"}


def test_where_back_led_counts_also_where_its_run_was_broken_off_by_a_choice(visit):
    visit(layer="3", head="5", walk="pooler.dense")
    visit(page="heads", layer="1", head="0")
    visit(back=True, broken_off=True, layer="3", head="5", walk="pooler.dense")
    choose = partial(choices.go, {TOKEN: 2})
    assert visit(choose, layer="3", head="5", walk="pooler.dense") == {
        "layer": "3",
        "head": "5",
        "token": "2",
        "walk": "pooler.dense",
    }


def test_a_message_with_the_address_before_the_newest_one_undoes_no_choice(visit):
    """The browser may not have been told of it yet; with any other address, it has gone there."""
    visit(layer="3", head="5")
    visit(lambda: choices.choose_head(4, 5), layer="3", head="5")
    assert visit(layer="3", head="5") == {"layer": "4", "head": "5"}
    assert visit(layer="1", head="5") == {"layer": "1", "head": "5"}
    assert visit(back=True, layer="4", head="5") == {"layer": "4", "head": "5"}


@pytest.fixture
def steppers(monkeypatch):
    """The steppers as they are drawn at a place: a function, what was drawn by name, and what is remembered."""
    session, drawn = {}, {}
    monkeypatch.setattr(state, "st", SimpleNamespace(session_state=session))

    def note_menu(name, options, index, key, on_change, args, **looks):
        drawn[name] = (key, options[index], partial(on_change, *args))

    def note_button(name, on_click, args, disabled, **looks):
        drawn[name] = (disabled, partial(on_click, *args))

    monkeypatch.setattr(remade, "st", SimpleNamespace(selectbox=note_menu))
    nothing = SimpleNamespace(button=note_button, container=lambda **looks: nullcontext())
    monkeypatch.setattr(stepper, "st", nothing)

    def show(layer, head):
        config = SimpleNamespace(num_hidden_layers=6, num_attention_heads=12)
        stepper.show_steppers(get_page("attention"), config, Selection(layer, head, token=0))
        for name in ("Layer", "Head"):
            key, value, _ = drawn[name]
            session[key] = value
        return drawn["Layer"], drawn["Head"]

    return show, drawn, session


def test_a_menu_is_made_anew_where_something_else_has_moved_the_place(steppers):
    """What the former one still says is then nobody's choice; where one chooses in it, it stays, and its focus."""
    show, _, session = steppers
    (key, _, take), _ = show(3, 5)
    session[key] = 4
    take()
    assert (session["layer"], session["head"]) == ("4", "5")
    (same, value, _), _ = show(4, 5)
    assert (same, value) == (key, 4)
    (other, value, take), (other_head, _, _) = show(1, 0)
    assert other != key and "head" in other_head and value == 1
    session.pop("layer")
    take()
    assert "layer" not in session  # a menu that says what it was drawn with


def test_presses_add_up_before_the_first_of_them_is_drawn_and_end_at_the_ends(steppers):
    show, drawn, session = steppers
    show(3, 11)
    (at_end, _), (_, step) = drawn["Next head"], drawn["Next layer"]
    assert at_end and not drawn["Next layer"][0]
    step()
    step()
    assert (session["layer"], session["head"]) == ("5", "11")
    step()
    assert session["layer"] == "5"
    (_, value, _), _ = show(5, 11)
    assert value == 5 and drawn["Next layer"][0] and not drawn["Previous layer"][0]
    drawn["Previous head"][1]()
    assert (session["layer"], session["head"]) == ("5", "10")


def test_what_a_browser_says_of_the_widgets_of_another_session_is_nobodys_choice():
    def open_app():
        with open_menus("editor"):
            return AppTest.from_file(str(Path(__file__).parents[1] / "app.py"), default_timeout=60).run()

    def list_keys(at):
        return {
            widget.key
            for widget in (*at.text_input, *at.selectbox)
            if "-field-" in widget.key or "-menu-" in widget.key
        }

    ready.prepare_process()
    one, other = open_app(), open_app()
    assert len(list_keys(one)) >= 5 and not list_keys(one) & list_keys(other)


def test_the_page_of_the_installed_streamlit_says_when_back_or_forward_asks():
    (script,) = (Path(streamlit.__file__).parent / "static" / "static" / "js").glob("index.[!e]*.js")
    said = script.read_text(encoding="utf-8")
    assert "`popstate`,this.onHistoryChange" in said and "isHistoryNavigation:" in said
    assert "window.history.pushState({}," in said and "window.history.replaceState({}," in said


def list_places(app, *choices, page="attention"):
    """Choose one after the other; returns what is seen at each step of the history, from the first."""
    app.use_up().add_init_script(SLOW_LINE)
    app.open(page, **PLACE)
    seen = [see(app)]
    for choose in choices:
        choose()
        app.page.wait_for_function("here => location.href !== here", arg=seen[-1][0])
        app.settle()
        seen.append(see(app))
    return seen


def see(app):
    return app.page.url, app.shown(), app.chosen()


def go(app, *steps, pause=80):
    """Back and Forward, each a moment after the one before; then wait until what is seen stays: an earlier run may
    have ended before the last one says that it has begun."""
    with app.rerun():
        for by in steps:
            app.page.evaluate("by => history.go(by)", by)
            app.page.wait_for_timeout(pause)
    seen = None
    while seen != (seen := see(app)):
        app.page.wait_for_timeout(5000 * BEGIN_S)
        app.find(":--app:--at-rest").wait_for(state="attached")
        app.settle()


@pytest.mark.slow
def test_quick_ways_through_the_history_end_where_they_lead(app):
    """Two Forwards before the first one is answered, and others; every place stays in the history."""
    seen = list_places(
        app, lambda: app.choose("Layer", "Layer 4"), lambda: app.choose("Head", "Head 1"), lambda: app.point(4)
    )
    for steps, place in (((-2,), 1), ((1, 1), 3), ((-1, -1, -1, 1, 1), 2), ((-1,), 1)):
        go(app, *steps)
        assert see(app) == seen[place], steps


@pytest.mark.rare
def test_quick_ways_through_the_components_of_a_page_end_where_they_lead(app):
    """Its own menu said over and over what it had shown before."""
    seen = list_places(
        app, *(partial(app.choose, "Component", f"component {i}") for i in (3, 15, 12, 7)), page="query_key_value"
    )
    for steps, place in (((-1, -1, -1, -1), 0), ((1, 1, 1, 1), 4), ((-1, -1, 1, -1), 2), ((-1, 1, 1), 3)):
        go(app, *steps)
        assert see(app) == seen[place], steps


@pytest.mark.rare
def test_an_answer_that_comes_after_back_does_not_write_over_where_that_led(app):
    """A choice whose answer is on its way, and Back: its address came last, and stood over another page."""
    first, second = list_places(app, lambda: app.point(4))
    app.page.evaluate("window.latency = 1000")
    runs = app.page.evaluate("window.runs")
    app.page.locator('.bv-chips [data-token="1"]').click()
    app.page.wait_for_function("before => window.runs > before", arg=runs)
    with app.rerun():
        app.page.evaluate("history.back()")
    app.page.wait_for_timeout(1200)
    app.find(":--app:--at-rest").wait_for(state="attached")
    app.settle()
    assert see(app) == first
    app.page.evaluate("window.latency = 0")
    go(app, 1)
    assert see(app) == second


@pytest.mark.rare
def test_a_page_that_is_not_what_its_address_says_becomes_so(app):
    """However that came about: here, by a hand that nobody is told of."""
    (before,) = list_places(app)
    with app.rerun():
        app.page.evaluate("history.replaceState({}, '', location.href.replace('layer=3', 'layer=1'))")
        app.find(":--app").evaluate("app => app.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }))")
        app.page.evaluate("window.bvTrail.wait()")
    assert app.query == {**PLACE, "layer": "1"} and app.chosen()[0] == "Layer 1" and see(app) != before


@pytest.mark.rare
@pytest.mark.slow
def test_an_answer_that_is_long_on_its_way_is_waited_for(app):
    """The address of the page that still stands there was written over the one that had been asked for."""
    list_places(app)
    app.page.evaluate("window.latency = 2500")
    with app.rerun():
        app.page.evaluate("history.replaceState({}, '', location.href.replace('layer=3', 'layer=1'))")
        app.page.evaluate("window.bvTrail.wait()")
    app.page.wait_for_timeout(3000)  # what the run said is on its way, too
    app.settle()
    app.page.evaluate("window.latency = 0")
    assert app.query == {**PLACE, "layer": "1"} and app.chosen()[0] == "Layer 1"


@pytest.mark.rare
@pytest.mark.slow
def test_an_address_that_says_what_no_page_knows_is_asked_for_once(app):
    """The page has the last word, or there were no end."""
    list_places(app)
    with app.rerun():
        app.page.evaluate("history.replaceState({}, '', location.href + '&nonsense=1')")
        app.page.evaluate("window.bvTrail.wait()")
    app.page.wait_for_function("() => !location.search.includes('nonsense')")
    runs = app.page.evaluate("window.runs")
    app.page.wait_for_timeout(2500)
    assert app.page.evaluate("window.runs") == runs and app.query == PLACE
