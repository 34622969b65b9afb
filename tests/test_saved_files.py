"""The files that visitors save: one at a time, for who was offered them, and no more memory than there is room for."""

import asyncio
import io
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from math import ceil
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import bertviz_core as bv
from bertviz_core.sharing.fairness import OF_ONE_ADDRESS
from bertviz_core.ui.frame import files
from bertviz_core.ui.frame.files import Files
from bertviz_core.ui.frame.spreadsheet import write_csv
from bertviz_core.ui.frame.streamlit_inside import Wanted
from bertviz_core.ui.frame.visitor import read_visitor
from bertviz_core.ui.panels.panel import write_npy
from tests.edge import ENDS, ask, open_line
from tests.loops import run_alone


@pytest.fixture
def held(monkeypatch):
    """What the server holds, by address; every session is connected, has a line, and may take what it wants."""
    held, line = {}, SimpleNamespace(turn=lambda costly: nullcontext())
    monkeypatch.setattr(files, "read_visitor", lambda session: session.split("-")[0])
    monkeypatch.setattr(files, "read_network", lambda session: session.partition("@")[2])
    monkeypatch.setattr(files, "is_connected", lambda session: not session.endswith("gone"))
    monkeypatch.setattr(files, "get_line", lambda: line)
    monkeypatch.setattr(files, "get_watch", lambda: SimpleNamespace(refuse_if_full=lambda: None))
    monkeypatch.setattr(files, "find_wanted", lambda request, session: request)
    return held


def keep_in(held, room):
    def put(content, wanted):
        held[wanted.name] = content
        return wanted.name

    return Files(room, put, held.pop)


def wanted(name, size=10):
    return Wanted(lambda: bytes(size), "text/plain", name)


def test_of_many_files_the_newest_are_held_as_far_as_there_is_room_and_one_always(held):
    async def ask_for_all():
        kept = keep_in(held, 100)
        for i in range(30):
            await kept.make(wanted(f"f{i}", 30), "ann")
            assert kept.nbytes == sum(map(len, held.values())) <= 100
        assert list(held) == ["f27", "f28", "f29"]
        await kept.make(wanted("large", 1000), "ann")
        assert list(held) == ["large"]
        kept.clear()
        assert held == {} and kept.nbytes == 0

    run_alone(ask_for_all())


def test_a_file_is_let_go_after_a_while_though_nobody_runs_a_page(held, monkeypatch):
    monkeypatch.setattr(files, "KEPT_S", 0.05)

    async def leave():
        kept = keep_in(held, 100)
        await kept.make(wanted("a"), "ann")
        assert list(held) == ["a"]
        while held:
            await asyncio.sleep(0.01)

    run_alone(asyncio.wait_for(leave(), 20))


def test_of_a_browser_that_goes_while_its_file_is_made_nothing_stays_for_long(held, monkeypatch):
    monkeypatch.setattr(files, "KEPT_S", 0.05)
    begun, go_on = threading.Event(), threading.Event()

    async def leave():
        kept = keep_in(held, 100)
        make = Wanted(lambda: bytes(begun.set() or go_on.wait(20)), "text/plain", "a")
        asked = asyncio.create_task(kept.make(make, "ann"))
        await asyncio.to_thread(begun.wait, 20)
        asked.cancel()
        await asyncio.wait([asked])
        go_on.set()
        assert await kept.make(wanted("b"), "bob")
        assert list(held) == ["a", "b"]
        while held:
            await asyncio.sleep(0.01)

    run_alone(asyncio.wait_for(leave(), 20))


def test_one_file_is_made_at_a_time_and_one_for_a_visitor(held):
    begun, go_on, at_once = threading.Event(), threading.Event(), []

    def make():
        at_once.append(threading.active_count())
        begun.set()
        assert go_on.wait(20)
        return b"x"

    async def ask_for_many():
        kept = keep_in(held, 100)
        first = asyncio.create_task(kept.make(Wanted(make, "text/plain", "first"), "ann"))
        await asyncio.to_thread(begun.wait, 20)
        with pytest.raises(bv.BusyError, match="being made for you already"):
            await kept.make(wanted("second"), "ann-other tab")
        others = [asyncio.create_task(kept.make(wanted(f"{i}"), f"v{i}")) for i in range(files.MOST - 1)]
        await asyncio.sleep(0)
        assert held == {}  # they wait
        with pytest.raises(bv.BusyError, match="files of others are to be made before"):
            await kept.make(wanted("third"), "bob")
        others[0].cancel()
        await asyncio.wait(others[:1])
        go_on.set()
        await asyncio.gather(first, *others[1:])
        assert "0" not in held and len(held) >= 10  # of who has gone, nothing is made
        assert await kept.make(wanted("second"), "ann")  # and both may ask again
        assert await kept.make(wanted("again"), "v0")

    run_alone(ask_for_many())


def test_whatever_visitors_one_address_makes_up_others_have_their_file_next(held):
    begun, go_on, most = threading.Event(), threading.Event(), ceil(OF_ONE_ADDRESS * files.MOST)

    async def ask_for_many():
        kept = keep_in(held, 1000)
        first = Wanted(lambda: bytes(begun.set() or go_on.wait(20)), "text/plain", "first")
        asked = [asyncio.create_task(kept.make(first, "a0@there"))]
        await asyncio.to_thread(begun.wait, 20)
        asked += [asyncio.create_task(kept.make(wanted(f"{i}"), f"a{i}@there")) for i in range(1, most)]
        await asyncio.sleep(0)
        with pytest.raises(bv.BusyError, match="for your address"):
            await kept.make(wanted("one more"), f"a{most}@there")
        asked.append(asyncio.create_task(kept.make(wanted("mine"), "bob@here")))
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(*asked)
        assert list(held)[:3] == ["first", "mine", "1"] and len(held) == most + 1

    run_alone(ask_for_many())


def test_files_are_made_in_the_lane_of_costly_work_and_charged_to_who_asks(held, monkeypatch):
    turns, charged, seen = [], [], []
    account = SimpleNamespace(
        charge=lambda who, seconds: charged.append(who), count_wait=lambda who: 7.2 * (who == "bob")
    )
    monkeypatch.setattr(
        files, "get_line", lambda: SimpleNamespace(turn=lambda costly: nullcontext(turns.append(costly)))
    )
    monkeypatch.setattr(files, "get_budget", lambda: account)

    async def ask_for_one():
        kept = keep_in(held, 100)
        await kept.make(Wanted(lambda: bytes(seen.append(read_visitor()) or 3), "text/plain", "a"), "ann-1")
        with pytest.raises(bv.BusyError, match="Choose it again in 8 s"):
            await kept.make(wanted("b"), "bob")
        with pytest.raises(bv.InputError, match="changed since"):
            await kept.make(wanted("c"), "cid-gone")

    monkeypatch.setattr("bertviz_core.ui.frame.visitor.read_cookies", lambda session: {"bertviz_visitor": session})
    run_alone(ask_for_one())
    assert (turns, charged, seen, list(held)) == ([True], ["ann"], ["ann-1"], ["a"])
    assert read_visitor() == ""


def test_no_file_gets_larger_than_a_bound_and_that_is_noticed_while_it_is_written(monkeypatch):
    monkeypatch.setattr(files, "FILE", 1000)
    written = []

    def rows():
        for i in range(10**6):
            written.append(i)
            yield ["row", i]

    with pytest.raises(bv.InputError, match="more than 0 MB"):
        write_csv(rows())
    assert len(written) < 300
    with pytest.raises(bv.InputError, match=r"Take it as \.npy"):
        write_npy(np.zeros(126))
    assert np.array_equal(np.load(io.BytesIO(write_npy(np.arange(125.0)))), np.arange(125.0))


# Over the wire.


def run_first_page(line):
    """The session, and the files that the first page offers, by how their buttons begin."""
    request = BackMsg()
    request.rerun_script.query_string = "open=export"
    line.send(request.SerializeToString())
    session, offered, message = "", {}, ForwardMsg()
    while not (message.WhichOneof("type") == "script_finished" and message.script_finished in ENDS):
        message.ParseFromString(line.recv(60))
        session = session or message.new_session.initialize.session_id
        button = message.delta.new_element.download_button
        if button.deferred_file_id:
            offered[button.label.partition(" ")[0]] = button.deferred_file_id
    return session, offered


def fetch(line, session, *names):
    """Ask for files at once: the addresses, and what is said instead."""
    for number, name in enumerate(names):
        request = BackMsg()
        request.backend_operation_request.request_id = str(number)
        request.backend_operation_request.session_id = session
        request.backend_operation_request.deferred_file.file_id = name
        line.send(request.SerializeToString())
    urls, refused, message = [], [], ForwardMsg()
    while len(urls) + len(refused) < len(names):
        message.ParseFromString(line.recv(60))
        if message.WhichOneof("type") == "backend_operation_response":
            answer = message.backend_operation_response
            (refused if answer.error_msg else urls).append(answer.error_msg or answer.deferred_file.url)
    return urls, refused


def ask_for_files(server):
    with open_line(server) as mine, open_line(server) as other:
        (session, offered), (_, theirs) = run_first_page(mine), run_first_page(other)
        assert set(offered) == set(theirs) == {"Notebook", "Script", "Weights"}
        assert fetch(mine, session, theirs["Script"], "0" * 32)[1] == [files._GONE] * 2  # another's, and nobody's
        (url, *_), refused = fetch(mine, session, *[offered["Script"]] * 20)
        assert set(refused) == {files._MADE} and len(refused) > 10  # a few may ask when the first one is made
        for _ in range(3):  # others run pages meanwhile
            run_first_page(other)
        return ask(server, url)


def test_a_file_is_for_who_was_offered_it_and_still_there_after_others_have_run_pages(server):
    with ThreadPoolExecutor(1) as own:  # in this thread Playwright may have a loop running
        status, headers, text = own.submit(ask_for_files, server).result()
    assert status == 200 and 'filename="bert.py"' in headers["Content-Disposition"] and "import torch" in text
