"""From a model's name to a folder on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import constants, snapshot_download
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id

from bertviz_core.checkpoint.weights import INDEX, WEIGHTS, read_shard_names
from bertviz_core.errors import CheckpointError, InputError
from bertviz_core.sharing.environment import read_bytes
from bertviz_core.sharing.memory import read_budget

BUNDLED = "bundled"
_SUMMARY = "- In short: "
BUNDLED_FOLDER = Path(__file__).parents[1] / "models" / "bundled"
SILENCE_S = 10.0  # a download that stands still for longer is given up

_FILES = (
    "config.json",
    WEIGHTS,
    INDEX,
    "vocab.txt",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
_NEEDED = (("config.json",), (WEIGHTS, INDEX), ("tokenizer.json", "vocab.txt"))
_DOWNLOAD = Path(__file__).with_name("download.py")


@dataclass(frozen=True)
class Located:
    """Where a checkpoint lies: its name as given, the folder, and which version of the files it is."""

    name: str
    folder: Path
    revision: str


def read_limit() -> int:
    """Bytes that the files of one model may have: as many as are set, and no more than there is memory for.

    Raises CheckpointError where a setting is no such number.
    """
    try:
        return min(read_bytes("BERTVIZ_MAX_MODEL_GB", 3.0), read_budget().bounds.models)
    except InputError as error:
        raise CheckpointError(str(error)) from None


def measure_weights(folder: Path) -> int:
    """Bytes of the files that hold a checkpoint's weights; links to nothing are none. Raises CheckpointError where they
    cannot be looked at."""
    try:
        return sum(file.stat().st_size for file in folder.glob("*.safetensors") if file.is_file())
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be read: {error.strerror}. Check who may read it.") from error


def locate(name: str, revision: str | None = None) -> Located:
    """Resolve "bundled", a local folder or a Hugging Face id; download only what is not here yet.

    revision: of a Hugging Face id. Raises CheckpointError, within seconds, where there is no such folder, model or
    revision, or no network to ask.
    """
    name = name.strip()
    if not name:
        raise CheckpointError(f'No model was named. Give a folder, a Hugging Face model id, or "{BUNDLED}".')
    folder = find_folder(name)
    if folder is not None:
        if revision is not None:
            raise CheckpointError(
                f"{name[:120]!r} is here as files, of which there is no revision {revision[:80]!r}. Leave it out, and "
                "compare the model's digest."
            )
        return Located(name, folder, _take_fingerprint(folder))
    try:
        validate_repo_id(name)
    except HFValidationError:
        raise CheckpointError(
            f"{name[:120]!r} is neither a folder with a BERT checkpoint that this app can read nor a Hugging Face "
            "model id, which looks like google-bert/bert-base-uncased. Check the spelling; a folder needs config.json, "
            f"{WEIGHTS} and the tokenizer's files."
        ) from None
    return _find_cached(name, revision) or _download(name, revision)


def find_folder(name: str) -> Path | None:
    """The checkpoint's folder of this name, or of the bundled model; None where there is none.

    A file, a folder of other things and nothing at all are the same here: strangers may ask about any path, and shall
    not learn what lies there.
    """
    if name == BUNDLED:
        return BUNDLED_FOLDER
    try:
        path = Path(name).expanduser()
        return path.resolve() if (path / "config.json").is_file() else None
    except (OSError, ValueError, RuntimeError):  # a name too long, with a NUL, or of an unknown user's home
        return None


def read_card() -> str:
    """What the bundled model was trained on and how, and what it is bad at, as Markdown."""
    return (BUNDLED_FOLDER / "MODEL_CARD.md").read_text(encoding="utf-8")


def read_summary() -> str:
    """The same in one sentence: the card's line `In short`."""
    line = next(line for line in read_card().splitlines() if line.startswith(_SUMMARY))
    return line.removeprefix(_SUMMARY)


def _find_cached(name: str, revision: str | None) -> Located | None:
    wanted = list[str](_FILES)
    try:
        folder = Path(snapshot_download(name, revision=revision, local_files_only=True, allow_patterns=wanted))
    except (OSError, ValueError):  # a revision may be anything
        return None
    return Located(name, folder, folder.name) if _is_complete(folder) else None


def _is_complete(folder: Path) -> bool:
    if not all(any((folder / file).is_file() for file in one_of) for one_of in _NEEDED):
        return False
    try:
        return (folder / WEIGHTS).is_file() or all((folder / shard).is_file() for shard in read_shard_names(folder))
    except CheckpointError:
        return False


def _download(name: str, revision: str | None) -> Located:
    wish = {
        "name": name,
        "revision": revision,
        "files": _FILES,
        "weights": WEIGHTS,
        "needed": _NEEDED,
        "max_bytes": read_limit(),
        "silence_s": SILENCE_S,
        "cache": str(constants.HF_HUB_CACHE),
        "endpoint": constants.ENDPOINT,
    }
    settings = {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}  # plain files, whose growth is seen
    command = [sys.executable, "-P", str(_DOWNLOAD), json.dumps(wish)]  # -P: no module of ours hides one of Python's
    done = subprocess.run(
        command, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"error": f"The download of {name!r} broke off (exit code {done.returncode}). Try again."}
    if "error" in answer:
        raise CheckpointError(answer["error"])
    folder = Path(answer["folder"])
    if not _is_complete(folder):
        raise CheckpointError(f"{name!r} was not downloaded to the end. Check the network and try again.")
    return Located(name, folder, folder.name)


def _take_fingerprint(folder: Path) -> str:
    """A revision for a local folder: changes when a file's name, size or time changes."""
    try:
        files = sorted(
            file for file in folder.iterdir() if file.suffix in {".safetensors", ".json", ".txt"} and file.is_file()
        )
        listing = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    except OSError as error:
        raise CheckpointError(f"{folder} cannot be read: {error.strerror}. Check who may read it.") from error
    return hashlib.sha256(repr(listing).encode()).hexdigest()[:12]
