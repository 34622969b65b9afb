"""The class of users that measures the app: it uses all kinds of things, notices what goes wrong, and comes back."""

import asyncio
import json
import math
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import users
from classroom import DEAR, App, Outside, Plan, Tally, find_growth, find_percentile, hold_class, list_common
from served import ROOT
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from users import User
from wire import Conversation

from bertviz_core.ui.frame import site


def message(fill):
    said = ForwardMsg()
    fill(said)
    return said.SerializeToString()


def element(path, fill, part=""):
    def write(said):
        said.metadata.delta_path.extend(path)
        said.delta.fragment_id = part
        fill(said.delta.new_element)

    return message(write)


def begin(*parts):
    def write(said):
        said.new_session.name = "app"
        said.metadata.run.fragment_ids.extend(parts)

    return message(write)


def end(how):
    return message(lambda said: setattr(said, "script_finished", how))


@pytest.fixture
def talk():
    told = Conversation()
    told.take(begin())
    told.take(element([0, 0], lambda new: setattr(new.heading, "body", "A title")))
    chips = '<i data-token="0"></i><i data-token="1"></i>'
    told.take(element([0, 1], lambda new: setattr(new.html, "body", chips), "part"))
    return told


def test_a_session_knows_what_is_on_screen(talk):
    assert talk.list_texts()[0] == "A title" and talk.tokens == 2
    talk.take(begin("part"))
    assert talk.list_texts() == ["A title"]  # what is in the part has not been sent again yet
    talk.take(begin())
    assert talk.list_texts() == []


def test_a_part_that_waits_for_more_asks_again_as_a_browser_does(talk):
    def wait(name, after, look):
        def fill(new):
            new.bidi_component.id, new.bidi_component.component_name = name, "bertviz.again"
            new.bidi_component.json = json.dumps({"look": look, "after": after})

        return fill

    talk.take(element([0, 2], wait("$$ID-slow", 800, 7), "slow"))
    talk.take(element([0, 3], wait("$$ID-quick", 400, 3), "quick"))
    look = talk.find_next_look()
    assert (look.part, look.after) == ("quick", 0.4)
    asked = BackMsg.FromString(talk.look_again(look)).rerun_script
    assert asked.fragment_id == "quick"
    assert json.loads(asked.widget_states.widgets[-1].json_trigger_value) == [{"event": "again", "value": 3}]
    talk.take(begin("quick"))  # and is over
    assert talk.find_next_look().part == "slow"


def test_what_changes_in_a_part_of_the_page_has_that_part_run_as_in_a_browser(talk):
    def write_fold(said):
        said.metadata.delta_path.extend([0, 4])
        said.delta.fragment_id = "folds"
        said.delta.add_block.expandable.id = "$$ID-fold"

    def write_menu(new):
        new.selectbox.id, new.selectbox.label = "$$ID-layer", "Layer"
        new.selectbox.options.extend(["Layer 1", "Layer 2"])

    typed = element(
        [0, 2],
        lambda new: (setattr(new.text_input, "id", "$$ID-text"), setattr(new.text_input, "label", "S")),
        "editor",
    )
    for said in (typed, message(write_fold), element([0, 5], write_menu)):
        talk.take(said)
    sent = (talk.type("S", "A cat."), talk.turn_fold("$$ID-fold", True), talk.choose("Layer", "Layer 2"))
    parts = [BackMsg.FromString(each).rerun_script.fragment_id for each in sent]
    assert parts == ["editor", "folds", ""]


def test_a_run_that_begins_anew_has_not_ended(talk):
    assert not talk.take(end(ForwardMsg.FINISHED_EARLY_FOR_RERUN))
    assert talk.take(end(ForwardMsg.FINISHED_SUCCESSFULLY))
    assert talk.take(end(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY))
    assert talk.trouble == []
    assert talk.take(end(ForwardMsg.FINISHED_WITH_COMPILE_ERROR)) and talk.trouble == ["compile error"]


def test_exceptions_and_error_pages_are_trouble_and_remarks_are_not(talk):
    def write_alert(how):
        return lambda new: (setattr(new.alert, "body", "No."), setattr(new.alert, "format", how))

    talk.take(element([0, 2], write_alert(Alert.INFO)))
    assert talk.trouble == []
    talk.take(element([0, 2], write_alert(Alert.ERROR)))
    talk.take(
        element([0, 3], lambda new: (setattr(new.exception, "type", "E"), setattr(new.exception, "message", "m")))
    )
    assert talk.trouble == ["error page: No.", "exception: E m"]


def test_a_message_that_is_known_by_its_hash_is_what_was_sent_before(talk):
    def write(said):
        said.hash, said.metadata.cacheable = "known", True
        said.metadata.delta_path.extend([0, 5])
        said.delta.new_element.markdown.body = "long"

    def refer(said):
        said.ref_hash = "known"
        said.metadata.delta_path.extend([0, 6])

    talk.take(message(write))
    talk.take(message(refer))
    assert talk.list_texts()[-2:] == ["long", "long"]


def test_percentiles_and_growth():
    assert [find_percentile(range(101), percent) for percent in (50, 95)] == [50, 95]
    assert find_percentile([], 95) == 0 and find_percentile([3.0], 50) == 3
    assert find_growth([(i, held) for i, held in enumerate([9, 9, 1, 1, 5, 5, 4, 4])]) == (1, 3)


async def hold_with_a_break(url, tally, lines):
    """Three users whose connections break when each has chosen something, and some choices after they came back."""
    guests = [User(url, seed, math.inf, tally, disturbed=True) for seed in range(3)]
    visits = [asyncio.create_task(guest.attend()) for guest in guests]

    async def wait(enough):
        while not enough():
            assert not any(visit.done() for visit in visits)
            await asyncio.sleep(0.05)

    async with asyncio.timeout(120):
        await wait(lambda: len(tally.times) >= 12)
        for line in lines:
            line.transport.abort()
        seen = len(tally.times)
        await wait(lambda: len(tally.back) >= 3 and len(tally.times) >= seen + 6)
    for guest in guests:
        guest.until = 0.0
    await asyncio.gather(*visits)
    return await hold_class(Outside(url, [os.getpid()]), Plan(2, 1.0))


@pytest.mark.rare
def test_users_come_back_after_a_broken_connection_and_see_what_they_saw(server, monkeypatch):
    tally, lines = Tally(), []

    async def dial(*where, **named):
        lines.append(await users_dial(*where, **named))
        return lines[-1]

    users_dial = users.dial
    monkeypatch.setattr(users, "dial", dial)
    monkeypatch.setattr(users, "THINK_S", (0.05, 0.2))
    with ThreadPoolExecutor(1) as own:  # in this thread Playwright may have a loop running
        row = own.submit(lambda: asyncio.run(hold_with_a_break(server, tally, lines))).result()
    assert tally.visits == 3 and len(tally.back) == 3 and tally.changed == 0 and tally.trouble == {}
    assert len(row.tally.times) >= 2 and row.trouble == {}
    assert row.spent_ms > 0 and row.own > 0 and max(held for _, held in row.memory) > 1e8


def test_a_share_of_a_class_opens_the_dear_pages_alone_and_always_the_same_users():
    plans = [Plan(40, 1.0, dear=share) for share in (0.0, 0.2, 1.0)]
    pages = [[plan.choose_pages(user) for user in range(40)] for plan in plans]
    assert [sum(map(bool, each)) for each in pages] == [0, 8, 40]
    assert set(pages[1]) == {(), DEAR} and all(any(pages[1][i : i + 5]) for i in range(0, 40, 5))
    names = [info.name for info in site.PAGES]
    assert set(DEAR) <= set(names)
    user = User("", 3, 0.0, Tally(), pages=DEAR)
    user._talk.names = dict.fromkeys(names, "")
    user._talk.must_open_menu = lambda page: True
    user._talk.open_menu = lambda: b""
    gone = {user._go() or user._going[0] for _ in range(60)}
    assert gone == set(DEAR)


def test_apps_that_take_turns_are_visited_on_the_pages_that_all_have(tmp_path):
    for name, pages in (("old", ("overview", "heads", "gone")), ("new", ("overview", "heads", "patch"))):
        for page in pages:
            file = tmp_path / name / "pages" / f"{page}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    old, new = (App(name, tmp_path / name, 0) for name in ("old", "new"))
    assert list_common([old, new]) == ("", "heads") and list_common([new]) == ()
    assert Plan(2, 1.0, pages=("", "heads"), dear=0.5).choose_pages(0) == ("", "heads")
    here = App("here", ROOT, 0)
    assert set(list_common([here, here])) == {"" if info is site.PAGES[0] else info.name for info in site.PAGES}
