"""The folder to push to a Docker Space of the Hugging Face hub: `python -m deploy.space FOLDER`."""

from __future__ import annotations

import argparse
import shutil
from fnmatch import fnmatch
from pathlib import Path

from deploy.proxy import PROXIES
from edge.headers import ANCESTORS

ROOT = Path(__file__).parents[1]
RECIPE = ("Dockerfile", ".dockerignore")  # what the hub builds the image with
FRAMES = "'self' https://huggingface.co https://*.hf.space"  # the hub shows a Space inside a page of its own
PROXY = "10.0.0.0/8"  # where what stands in front of a Space is
LARGEST_BYTES = 10 << 20  # what is larger, or not text, the hub takes through LFS only


def list_shipped(root: Path = ROOT) -> list[Path]:
    """Every file that .dockerignore lets into the image, relative to the root, sorted."""
    lines = (root / ".dockerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    if patterns[0] != "*":
        raise ValueError(f".dockerignore must begin by leaving everything out (*), and begins with {patterns[0]}.")
    shipped = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    left_out = [pattern for pattern in patterns[1:] if not pattern.startswith("!")]
    files = [file for name in shipped for file in [root / name, *(root / name).rglob("*")] if file.is_file()]
    return sorted(
        relative
        for relative in (file.relative_to(root) for file in files)
        if not any(_matches(relative, pattern) for pattern in left_out)
    )


def _matches(file: Path, pattern: str) -> bool:
    """Whether a file, or a folder that it is in, is what a pattern means, as Docker reads it."""
    names = [file.as_posix(), *(parent.as_posix() for parent in file.parents[:-1])]
    if pattern.startswith("**/"):
        return any(fnmatch(Path(name).name, pattern[3:]) for name in names)
    return any(fnmatch(name, pattern) and name.count("/") == pattern.count("/") for name in names)


def is_large(file: Path) -> bool:
    """Whether the hub takes a file through LFS only."""
    return file.stat().st_size > LARGEST_BYTES or b"\0" in file.read_bytes()


def make_space(target: Path) -> None:
    """Write all that a Space needs into a folder, which must be empty or not there, but for a .git of its own."""
    if target.is_dir() and any(each.name != ".git" for each in target.iterdir()):
        raise FileExistsError(f"{target} must be empty, but for .git: what is pushed is what this writes.")
    files = [*map(Path, RECIPE), *list_shipped()]
    for file in files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, target / file)
    with (target / "Dockerfile").open("a", encoding="utf-8") as recipe:
        recipe.write(f'ENV {ANCESTORS}="{FRAMES}" {PROXIES}="{PROXY}"\n')
    kinds = sorted({file.suffix for file in files if is_large(ROOT / file)})
    rules = [f"*{kind} filter=lfs diff=lfs merge=lfs -text\n" for kind in kinds]
    (target / ".gitattributes").write_text("".join(rules), encoding="utf-8")
    shutil.copyfile(Path(__file__).with_name("space.md"), target / "README.md")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m deploy.space", description=__doc__)
    parser.add_argument("folder", type=Path)
    make_space(parser.parse_args().folder)


if __name__ == "__main__":
    main()
