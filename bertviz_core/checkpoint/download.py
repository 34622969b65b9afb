"""Fetch one model from the Hugging Face hub. Run as a process of its own, by `hub`, never imported by it.

The hub's client retries by itself, for minutes, with locks held, and cannot be called off. A process can: this one ends
as soon as nothing more arrives, and with it its connections and its locks.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, constants, snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    HTTPError,  # pyright: ignore[reportPrivateImportUsage] - its library's name changes
    LocalEntryNotFoundError,
    OfflineModeIsEnabled,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.file_download import repo_folder_name

TIMEOUT_S = 5.0
CHUNK_BYTES = 64 * 1024  # written as it comes, so that a slow line is told from a dead one
_IN_PROGRESS = "blobs/*.incomplete"
_OTHERWISE = "Give a local folder, or use the bundled model, which needs no network."
_SILENT = (
    "The Hugging Face hub has sent nothing for {seconds:.0f} seconds while {name} was fetched. Check the network and "
    f"try again. {_OTHERWISE}"
)
_ENDLESS = (
    f"What was sent for {{name}} is more than was announced, and than the limit here, {{limit:.1f}} GB. {_OTHERWISE}"
)

_SENTENCES: tuple[tuple[type[BaseException], str], ...] = (  # the first family that an error belongs to
    (
        GatedRepoError,
        "The owner of {name} lets in only those who have been granted access. Ask for it on the model's page on the "
        "Hugging Face hub and log in with `hf auth login`, or choose another model.",
    ),
    (
        RevisionNotFoundError,
        "{name} has no such revision on the Hugging Face hub. Give a commit, branch or tag that its page there lists.",
    ),
    (
        RepositoryNotFoundError,
        "There is no public model {name} on the Hugging Face hub, and no folder of this name with one here. Check "
        "the spelling.",
    ),
    (
        OfflineModeIsEnabled,
        f"{{name}} is not on this machine, and HF_HUB_OFFLINE forbids downloads. Unset it. {_OTHERWISE}",
    ),
    (
        HfHubHTTPError,
        f"The Hugging Face hub answered {{status}} when it was asked for {{name}}. Try again later. {_OTHERWISE}",
    ),
    (
        HTTPError,
        "{name} is not on this machine and the Hugging Face hub could not be reached ({kind}). Check the network. "
        f"{_OTHERWISE}",
    ),
    (OSError, f"{{name}} could not be stored in the cache: {{detail}}. Try again. {_OTHERWISE}"),
    (
        BaseException,
        f"{{name}} could not be fetched: what answers there is not the Hugging Face hub ({{kind}}). {_OTHERWISE}",
    ),
)


def main() -> None:
    """Answer the wish on the command line with one line of JSON: the folder, or the error's text."""
    wish = json.loads(sys.argv[1])
    answer: dict[str, str] = {}
    cached = Path(wish["cache"]) / repo_folder_name(repo_id=wish["name"], repo_type="model")
    others = set(cached.glob(_IN_PROGRESS))
    worker = threading.Thread(target=lambda: answer.update(attempt(wish)), daemon=True)
    worker.start()
    trouble = _wait(worker, cached, wish["silence_s"], wish["max_bytes"])
    if trouble:
        for file in set(cached.glob(_IN_PROGRESS)) - others:
            file.unlink(missing_ok=True)  # nobody could go on with it: its name is known to this process only
        answer["error"] = trouble.format(
            name=repr(wish["name"]), seconds=wish["silence_s"], limit=wish["max_bytes"] / 1e9
        )
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # the client's own threads may still be waiting


def _wait(worker: threading.Thread, cached: Path, silence_s: float, max_bytes: int) -> str:
    """Wait until the worker is done (""), or until nothing arrives for too long, or too much: why it is given up."""
    begun = seen = _measure(cached)
    since = time.monotonic()
    while worker.is_alive():
        worker.join(0.2)
        now = _measure(cached)
        if now - begun > max_bytes:  # sizes are announced before, but nobody has to keep to that
            return _ENDLESS
        if now != seen:
            seen, since = now, time.monotonic()
        elif time.monotonic() - since > silence_s:
            return _SILENT
    return ""


def _measure(cached: Path) -> int:
    """Bytes of the model that lie in the cache, files in progress counted."""
    total = 0
    for path in cached.rglob("*"):
        with suppress(OSError):  # a file in progress may just have got its final name
            total += path.lstat().st_size
    return total


def attempt(wish: dict[str, Any]) -> dict[str, str]:
    """Fetch what is wished for: {"folder": path}, or {"error": text}."""
    name, revision, where = wish["name"], wish["revision"], {"endpoint": wish["endpoint"]}
    try:
        info = HfApi(**where).model_info(name, revision=revision, timeout=TIMEOUT_S, files_metadata=True)
        sizes = {file.rfilename: file.size or 0 for file in info.siblings or []}
        wanted = _choose_files(sizes, wish)
        error = _refuse(wanted, sum(sizes[file] for file in wanted), wish)
        if error:
            return {"error": f"{name!r} {error}"}
        folder = snapshot_download(
            name, revision=revision, cache_dir=wish["cache"], allow_patterns=wanted, etag_timeout=TIMEOUT_S, **where
        )  # of a name, or of none, the client notes which commit it got, and finds it again without the network
    except Exception as error:  # whatever it is, the page needs a sentence
        return {"error": _explain(name, error)}
    return {"folder": folder}


def _choose_files(sizes: dict[str, int], wish: dict[str, Any]) -> list[str]:
    wanted = [file for file in wish["files"] if file in sizes]
    if wish["weights"] not in sizes:
        wanted += [file for file in sizes if file.endswith(".safetensors") and "/" not in file]
    return wanted


def _refuse(wanted: list[str], size: int, wish: dict[str, Any]) -> str | None:
    if not any(file.endswith(".safetensors") for file in wanted):
        return (
            "has no safetensors file. Its weights are in a format that can run code when loaded (a Python pickle), so "
            "they are refused; choose a model that ships safetensors."
        )
    for one_of in wish["needed"]:
        if not set(one_of) & set(wanted):
            return f"has no {' or '.join(one_of)}, so it cannot be read as BERT. Choose another model."
    if size > wish["max_bytes"]:
        return f"is {size / 1e9:.1f} GB; the limit here is {wish['max_bytes'] / 1e9:.1f} GB. Choose a smaller model."
    return None


def _explain(name: str, error: BaseException) -> str:
    """What went wrong, and what to do, in plain words."""
    if isinstance(error, LocalEntryNotFoundError) and error.__cause__:
        error = error.__cause__
    status = error.response.status_code if isinstance(error, HfHubHTTPError) else None
    kind = GatedRepoError if status in (401, 403) and type(error) is HfHubHTTPError else type(error)
    sentence = next(text for family, text in _SENTENCES if issubclass(kind, family))
    detail = getattr(error, "strerror", None) or "the received file is not the announced one"
    return sentence.format(name=repr(name), kind=kind.__name__, status=status, detail=detail)


if __name__ == "__main__":
    constants.DOWNLOAD_CHUNK_SIZE = CHUNK_BYTES
    main()
