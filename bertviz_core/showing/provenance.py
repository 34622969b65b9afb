"""What a picture that leaves the app or a notebook says of itself, so that its numbers can be found again."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from bertviz_core.analysis.predictions import find_masks
from bertviz_core.formula.address import Address
from bertviz_core.tracing.trace import Trace
from bertviz_core.version import PROJECT, __version__

_APP = "http://localhost:8501"  # where `streamlit run app.py` serves it


def tell_model(trace: Trace) -> str:
    """Which weights, and by which version of this project they were run."""
    model = trace.model
    name = Path(model.name).name if Path(model.name).is_absolute() else model.name  # whose folder it is tells nothing
    return f"{name} · weights {model.digest} · {PROJECT} {__version__}"


def join_tokens(trace: Trace) -> str:
    """What the model read, its pieces put together."""
    return " ".join(trace.tokens).replace(" ##", "")


def write_link(trace: Trace, address: Address, app: str = _APP) -> str:
    """The app's page of the same pass: sentence, model, place. Without the changes, if the trace has some."""
    at = address.at
    named = {"layer": address.layer, "head": at.get("head"), "token": at.get("query", at.get("token"))}
    place = {name: index for name, index in named.items() if index is not None}
    cell = {"walk": str(address)} if not trace.dims(address) else {}
    return f"{app}/?{urlencode({**_list_texts(trace), 'model': trace.model.name, **place, **cell})}"


def _list_texts(trace: Trace) -> dict[str, str]:
    """The text and its pair, as they give these tokens again."""
    special, masks = trace.model.tokenizer.special_tokens, find_masks(trace)
    texts = {"text": list[str](), "pair": list[str]()}
    for i, token in enumerate(trace.tokens):
        if i in masks or token not in special:
            texts["pair" if trace.encoding.segments[i] else "text"].append(token)
    return {name: " ".join(words).replace(" ##", "") for name, words in texts.items() if words}


def list_caption(trace: Trace, address: Address) -> tuple[str, ...]:
    """The lines below a picture: sentence, address, checkpoint and version, link."""
    return (join_tokens(trace), str(address), tell_model(trace), write_link(trace, address))
