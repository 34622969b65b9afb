"""Where the library that reads tokenizers fails: how that is told from other ends, and what was wrong."""

from __future__ import annotations

from pathlib import Path

from transformers import AutoConfig


def find_config_fault(folder: Path) -> str:
    """What the library finds wrong with config.json, which it reads for the tokenizer too; "" where nothing is."""
    try:
        AutoConfig.from_pretrained(str(folder), local_files_only=True)
    except Exception as error:
        return f"config.json cannot be read ({' '.join(str(error).split())[:200]}). Correct it, or fetch it again."
    return ""


def is_failure(error: BaseException) -> bool:
    """Whether the library has failed, in whatever way: where its Rust part panics, what it raises is no Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def take_first_line(error: BaseException) -> str:
    """What went wrong, in a line."""
    text = str(error).strip().split("\n")[0]
    return text if isinstance(error, OSError | ValueError) and text else f"{type(error).__name__}: {text}"
