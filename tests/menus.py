"""What stands behind the signs of cards, opened: formulas with their numbers, code, files of values."""

import html
import re
from contextlib import contextmanager

import pytest
import streamlit

_ASIDE = re.compile(r'<span role="tooltip">.*?</span>|<[^>]*>', re.DOTALL)


@contextmanager
def open_menus(*kinds):
    """Draws every menu of these kinds open: "code" and "values" of each card, the "editor" of the sentence."""
    popover = streamlit.popover

    def opened(label, *args, key=None, **kwargs):
        if key and f"{key}-".startswith(tuple(f"{kind}-" for kind in kinds)):
            streamlit.session_state[key] = True
        return popover(label, *args, key=key, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamlit, "popover", opened)
        yield


@pytest.fixture(autouse=True, scope="module")
def code_open():
    """For a whole module of tests: the menus with code and worked numbers are open."""
    with open_menus("code"):
        yield


def read_plain(at):
    """What a page says as HTML, as text, without the meanings of the glossary's words."""
    return "\n".join(html.unescape(_ASIDE.sub("", one.proto.body)) for one in at.get("html"))
