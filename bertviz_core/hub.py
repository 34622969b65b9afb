"""From a model's name to a folder on this machine. The only place that talks to the Hugging Face hub."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import (
    HFValidationError,
    HTTPError,  # pyright: ignore[reportPrivateImportUsage] - its library's name changes
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)

from bertviz_core.errors import CheckpointError
from bertviz_core.weights import INDEX, WEIGHTS

BUNDLED = "bundled"
BUNDLED_FOLDER = Path(__file__).parent / "models" / "bundled"
TIMEOUT_S = 5.0
MAX_BYTES = 3_000_000_000

_FILES = ("config.json", "*.safetensors", INDEX, "vocab.txt", "tokenizer.json", "tokenizer_config.json",
          "special_tokens_map.json", "added_tokens.json")  # fmt: skip
_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?")


@dataclass(frozen=True)
class Located:
    """Where a checkpoint lies: its name as given, the folder, and which version of the files it is."""

    name: str
    folder: Path
    revision: str


def locate(name: str) -> Located:
    """Resolve "bundled", a local folder or a Hugging Face id; download only what is not here yet.

    Raises CheckpointError, within seconds, where there is no such folder or model, or no network to ask.
    """
    name = name.strip()
    if name == BUNDLED:
        return Located(name, BUNDLED_FOLDER, _fingerprint(BUNDLED_FOLDER))
    folder = Path(name).expanduser()
    if name and _is_dir(folder):
        return Located(name, folder.resolve(), _fingerprint(folder))
    if not _ID.fullmatch(name) or ".." in name:
        raise CheckpointError(f"{name[:120]!r} is neither a folder on this machine nor a Hugging Face model id.")
    return _cached(name) or _downloaded(name)


def _is_dir(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except (OSError, ValueError):
        return False


def _cached(name: str) -> Located | None:
    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError):
        return None
    complete = (folder / "config.json").is_file() and ((folder / WEIGHTS).is_file() or (folder / INDEX).is_file())
    return Located(name, folder, folder.name) if complete else None


def _downloaded(name: str) -> Located:
    try:
        info = HfApi().model_info(name, timeout=TIMEOUT_S, files_metadata=True)
        _check_listing(name, {file.rfilename: file.size or 0 for file in info.siblings or []})
        folder = snapshot_download(name, revision=info.sha, allow_patterns=list(_FILES), etag_timeout=TIMEOUT_S)
    except RepositoryNotFoundError:
        raise CheckpointError(
            f"There is no public model {name!r} on the Hugging Face hub, and no such folder here. Check the spelling."
        ) from None
    except (HTTPError, LocalEntryNotFoundError, OSError) as error:
        raise CheckpointError(
            f"{name!r} is not on this machine and the Hugging Face hub could not be reached ({type(error).__name__}). "
            "Check the network, or give a local folder; the bundled model needs no network."
        ) from error
    return Located(name, Path(folder), info.sha or Path(folder).name)


def _check_listing(name: str, sizes: dict[str, int]) -> None:
    weights = {file: size for file, size in sizes.items() if file.endswith(".safetensors")}
    if not weights:
        raise CheckpointError(
            f"{name!r} has no safetensors file. Its weights are in a format that can run code when loaded (a Python "
            "pickle), so they are refused; choose a model that ships safetensors."
        )
    if sum(weights.values()) > MAX_BYTES:
        raise CheckpointError(
            f"{name!r} is {sum(weights.values()) / 1e9:.1f} GB; the limit here is {MAX_BYTES / 1e9:.0f} GB."
        )


def _fingerprint(folder: Path) -> str:
    """A revision for a local folder: changes when a file's name, size or time changes."""
    files = sorted(file for file in folder.iterdir() if file.suffix in {".safetensors", ".json", ".txt"})
    listing = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return hashlib.sha256(repr(listing).encode()).hexdigest()[:12]
