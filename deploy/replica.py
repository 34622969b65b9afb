"""One process of the app, open to visitors only when its model is warm: `python -m deploy.replica SOCKET`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
import uvicorn

from bertviz_core.ui.frame.ready import prepare_process
from deploy.proxy import LISTENS
from edge.guard import LOCAL, list_middleware
from rooms.serving import Serving

ROOT = Path(__file__).parents[1]


@asynccontextmanager
async def warm_up(_app: st.App) -> AsyncIterator[None]:
    """Do what the first visitor would wait for."""
    await asyncio.to_thread(prepare_process)
    yield


def is_trouble(record: logging.LogRecord) -> bool:
    """Whether something went wrong, and not only somebody came."""
    return record.levelno >= logging.WARNING


def serve(socket: str) -> None:
    """Serve the app on a socket that is there as soon as the app is warm: uvicorn opens it after `warm_up`."""
    logging.getLogger("uvicorn.access").disabled = True  # a request holds the visitor's sentence
    # So may that of a web socket, which uvicorn logs here, with the visitor's address. Streamlit sets the level itself.
    logging.getLogger("uvicorn.error").addFilter(is_trouble)
    classes = Serving(alone=os.environ.get(LISTENS, "") in LOCAL)
    uvicorn.run(
        st.App(
            ROOT / "app.py",
            lifespan=classes.keep(warm_up),
            routes=classes.list_routes(),
            middleware=list_middleware(),
        ),
        uds=socket,
        # As `streamlit run` has them; no compression, which costs time.
        ws="websockets-sansio",
        log_config=None,  # Streamlit sets up logging, for uvicorn too
        ws_per_message_deflate=False,
        # Only nginx can reach the socket, so what it says of the visitor is true.
        forwarded_allow_ips="*",
        timeout_graceful_shutdown=3,
    )


if __name__ == "__main__":
    serve(sys.argv[1])
