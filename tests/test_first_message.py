"""What a run says first to a browser: the server's settings, worked out once, and nothing of its machine."""

import inspect
import platform
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession

from edge import inside as edge_inside

ROOT = Path(__file__).parents[1]


def test_what_is_said_of_settings_is_what_streamlit_says_and_is_worked_out_once(monkeypatch):
    names = ("_populate_config_msg", "_populate_theme_msg")
    plain = [inspect.unwrap(getattr(app_session, name)) for name in names]
    for name, fill in zip(names, plain, strict=True):
        monkeypatch.setattr(app_session, name, fill)
    own = say_settings(*plain)
    edge_inside.say_settings_once()
    edge_inside.say_settings_once()
    fitted = [getattr(app_session, name) for name in names]
    assert [fill.__wrapped__ for fill in fitted] == plain
    assert say_settings(*fitted) == own
    for name in ("get_option", "get_options_for_section"):
        monkeypatch.setattr(config, name, pytest.fail)
    assert say_settings(*fitted) == own


def test_the_first_message_says_nothing_of_the_machine(monkeypatch):
    plain = inspect.unwrap(AppSession._create_new_session_message)
    monkeypatch.setattr(AppSession, "_create_new_session_message", plain)
    before = create_first_message()
    edge_inside.tell_little_of_server()
    edge_inside.tell_little_of_server()
    told = create_first_message()
    assert AppSession._create_new_session_message.__wrapped__ is plain
    assert str(ROOT) in before.main_script_path and told.main_script_path == "app.py"
    started = told.initialize
    assert started.HasField("user_info") and not started.user_info.ListFields()
    assert [field.name for field, _ in started.environment_info.ListFields()] == ["streamlit_version"]
    assert before.initialize.user_info.ListFields() and before.initialize.environment_info.python_version
    assert not {str(ROOT), platform.python_version(), platform.system()} & set(list_texts(told))


def create_first_message():
    """What a run says first, of a session that has just begun."""
    session = MagicMock(id="a session", _run_on_save=False, _state="")
    session._script_data.configure_mock(name="app", is_hello=False)
    session._pages_manager.configure_mock(main_script_path=str(ROOT / "app.py"), main_script_hash="1")
    session._compute_skills_nudge_state.return_value = (False, "")
    session._pages_manager.get_pages.return_value = {}
    run = MagicMock(script_run_id="a run", fragment_ids_this_run=[])
    return AppSession._create_new_session_message(session, "", run).new_session


def list_texts(message):
    """All texts of a message, with those of its parts."""
    for _, value in message.ListFields():
        parts = [value] if isinstance(value, str) or hasattr(value, "ListFields") else []
        for part in parts:
            yield from [part] if isinstance(part, str) else list_texts(part)


def say_settings(fill_in_config, fill_in_theme):
    """What the first message of a run says of the server's settings."""
    message = NewSession()
    fill_in_config(message.config)
    fill_in_theme(message.custom_theme)
    for name in ("light", "dark", "sidebar"):
        fill_in_theme(getattr(message.custom_theme, name), f"theme.{name}")
    return message
