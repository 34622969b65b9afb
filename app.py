"""An interactive visual explorer of BERT: `streamlit run app.py`."""

from base64 import b64encode

import streamlit as st

from edge.inside import is_run_of_visitor
from edge.package import PACKAGE

ICON = PACKAGE / "ui" / "frame" / "icon.png"


@st.cache_resource(show_spinner="The server has just started and loads the model. This page goes on by itself …")
def prepare() -> None:
    """Have all that every page needs loaded, once; who waits for that meanwhile reads why."""
    # Slow the first time, so what says so comes first; and the shell first, as on every page: threads that come in by
    # different modules at once can each hold what the other one waits for.
    import bertviz_core.ui.frame.shell  # noqa: PLC0415, F401  # pyright: ignore[reportUnusedImport]
    from bertviz_core.ui.frame.ready import prepare_process  # noqa: PLC0415

    prepare_process()


if is_run_of_visitor():
    # As part of the page: a file's picture would be looked at, and put where browsers find it, in each run.
    icon = f"data:image/png;base64,{b64encode(ICON.read_bytes()).decode()}"
    st.set_page_config(page_icon=icon, layout="wide")
    prepare()

    from bertviz_core.ui.frame.shell import run_app  # by then it is there
    from bertviz_core.ui.walk.drawer import show_drawer

    run_app(show_drawer)
else:  # the server starts: `streamlit run` looks for an app by this name
    from edge.guard import list_hosts, list_middleware
    from edge.inside import keep_silent_of_pages, tell_little_of_server
    from edge.welcome import welcome
    from rooms.serving import Serving

    keep_silent_of_pages()
    tell_little_of_server()
    hosts = list_hosts()
    classes = Serving(alone=bool(hosts))
    routes = classes.list_routes(st.get_option("server.baseUrlPath"))
    app = st.App(__file__, lifespan=classes.keep(welcome), routes=routes, middleware=list_middleware(hosts))
