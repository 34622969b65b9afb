"""What this is called, and which version it is: a clone's by its pyproject.toml, else the distribution's."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "bert-every-number"
PROJECT = "BERT, every number"  # as people call it


def read_version(folder: Path = Path(__file__).parents[1]) -> str:
    """The version of the package in a folder.

    The file goes first: where a clone is used, another version may be installed as well.
    """
    file = folder / "pyproject.toml"
    if file.is_file():
        project = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
        if project.get("name") == DISTRIBUTION:
            return project["version"]
    return metadata.version(DISTRIBUTION)


__version__ = read_version()
