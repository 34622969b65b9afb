"""What all sessions share: loaded models, the store of traces, and what was worked out to be drawn."""

from __future__ import annotations

import os
from typing import Any

import streamlit as st

from bertviz_core.checkpoint.hub import BUNDLED
from bertviz_core.checkpoint.lru import ByteLRU
from bertviz_core.checkpoint.model import Model
from bertviz_core.checkpoint.shelf import ModelShelf
from bertviz_core.errors import CheckpointError
from bertviz_core.tracing.store import TraceStore

OFFERED = (BUNDLED, "google-bert/bert-base-uncased")
_DRAWN_BYTES = 64_000_000
_SETTING = "BERTVIZ_MODELS"  # a comma-separated list: only these models may be chosen


def list_models() -> tuple[tuple[str, ...], bool]:
    """The models to choose from, and whether the user may name another one."""
    listed = tuple(name.strip() for name in os.environ.get(_SETTING, "").split(",") if name.strip())
    return (listed, False) if listed else (OFFERED, True)


def get_model(name: str) -> Model:
    """The process's model of this name. Raises CheckpointError.

    What is not offered is refused before anything is looked up: whoever asks learns nothing about folders or the hub.
    """
    names, free = list_models()
    if not free and name not in names:
        raise CheckpointError(
            f"This server offers only these models: {', '.join(names)}. The link asks for another one. Use one of "
            f"these, or run the explorer on your own machine without {_SETTING}."
        )
    return get_shelf().get(name)


@st.cache_resource(show_spinner=False)
def get_shelf() -> ModelShelf:
    """The process's models; one that has to go takes its traces along."""
    return ModelShelf(dropped=get_store().forget_model)


@st.cache_resource(show_spinner=False)
def get_store() -> TraceStore:
    """The process's traces."""
    return TraceStore()


@st.cache_resource(show_spinner=False)
def get_drawn() -> ByteLRU[tuple[object, ...], Any]:
    """What pages have worked out to be drawn, by what it depends on; whoever takes it must not change it."""
    return ByteLRU(_DRAWN_BYTES)
