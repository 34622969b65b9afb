"""A cold process: all that is imported late is there before the first page, however many come at once."""

import asyncio
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from bertviz_core.ui.frame.site import PAGES
from tests.browser import running
from tests.often import seldom

ROOT = Path(__file__).parents[1]
LIBRARIES = {
    "pandas",
    "plotly",
    "_plotly_utils",
    "PIL",
    "numpy",
    "pyarrow",
    "packaging",
    "narwhals",
    "dateutil",
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "huggingface_hub",
    "streamlit",
}
SESSIONS = 6
# Streamlit itself starts before anything is prepared: so does a script of one line. What a page imports afterwards is
# printed.
FRESH = """
import json, sys
from bertviz_core.sharing.threads import SWITCH_S
from streamlit.testing.v1 import AppTest
from threadpoolctl import threadpool_info
from bertviz_core.ui.frame.ready import prepare_process
from bertviz_core.ui.frame.site import PAGES
AppTest.from_string("import streamlit as st; st.write('ready')").run()
if "prepared" in sys.argv:
    prepare_process()
    assert sys.getswitchinterval() == SWITCH_S < 0.005  # a thread that computes keeps the server's for that long
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}  # they never rest
known, late = set(sys.modules), {}
at = AppTest.from_file(sys.argv[1], default_timeout=120)
for info in PAGES:
    if info is not PAGES[0]:
        at.switch_page(f"pages/{info.name}.py")
    at.run()
    assert not at.exception, at.exception
    late[info.name] = sorted(set(sys.modules) - known)
    known |= set(sys.modules)
print(json.dumps(late))
"""


def import_late(*how):
    """What each page of a new process imports, by page; our own modules among it."""
    done = subprocess.run(
        [sys.executable, "-c", FRESH, str(ROOT / "app.py"), *how],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.rare
def test_no_page_imports_anything_of_a_library_that_is_not_there_already():
    late = import_late("prepared")
    assert set(late) == {info.name for info in PAGES}
    foreign = {
        name: [m for m in found if m.partition(".")[0] in {*LIBRARIES, "bertviz_core"}] for name, found in late.items()
    }
    assert {name: found for name, found in foreign.items() if found} == {}


async def open_session(url, page):
    """What a browser's first visit of a page brings: the messages of one session, up to the end of its script."""
    messages = []
    async with connect(f"{url.replace('http', 'ws')}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as ws:
        request = BackMsg()
        request.rerun_script.page_name = page
        await ws.send(request.SerializeToString())
        while not ends(messages):
            message = ForwardMsg()
            message.ParseFromString(await asyncio.wait_for(ws.recv(), 120))
            messages.append(message)
    return messages


def ends(messages):
    """Whether a script ran to its end: a page that finds no app around it begins again."""
    finished = ForwardMsg.ScriptFinishedStatus
    return (
        bool(messages)
        and messages[-1].WhichOneof("type") == "script_finished"
        and (messages[-1].script_finished == finished.FINISHED_SUCCESSFULLY)
    )


def list_exceptions(messages):
    return [
        message.delta.new_element.exception.message
        for message in messages
        if message.delta.new_element.WhichOneof("type") == "exception"
    ]


def list_titles(messages):
    """The pages' own titles, which stand under their headlines."""
    told = [re.match(r"<p><strong>(.+?)\.</strong>", message.delta.new_element.html.body) for message in messages]
    return [unescape(found[1]) for found in told if found]


async def open_at_once(url, pages):
    return await asyncio.gather(*(open_session(url, page) for page in pages))


@pytest.mark.rare
@pytest.mark.parametrize(
    "names",
    [seldom(("predictions",), name="one page"),
     pytest.param(("", "attention", "layers"), id="several pages")],
)  # fmt: skip
def test_the_first_sessions_of_a_cold_server_come_at_once(tmp_path, names):
    pages = [names[i % len(names)] for i in range(SESSIONS)]
    titles = {info.name: info.title for info in PAGES} | {"": PAGES[0].title}
    with running(tmp_path) as url, ThreadPoolExecutor(1) as own:  # in this thread Playwright may have a loop running
        sessions = own.submit(lambda: asyncio.run(open_at_once(url, pages))).result()
    assert [list_exceptions(messages) for messages in sessions] == [[]] * SESSIONS
    assert [list_titles(messages)[-1:] for messages in sessions] == [[titles[page]] for page in pages]
