"""Modules of JavaScript, joined to the one script that the browser gets of a component; no tool is needed for it.

Each module stands in a function of its own, which gives what the module exports, and before those that import it. So it
means what it means as a file: nobody sees what it does not export, and two modules may use one name for two things.
Laid into one scope, a module's `open` would be what another one gets that means the window's. The script reads like the
files, under a line with the name of each.

Understood is what the components need: `import { a, b as c } from "./x.js"`, `import X from "./x.json" with { type:
"json" }`, `export` before a function, a class or a const, and `export default` in the component's own module, each at
the beginning of a line. Everything else is refused.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

_IMPORT = re.compile(
    r'^import (?:\{(?P<names>[\w$\s,]+)\} from "(?P<script>\.[^"\n]+\.js)"'
    r'|(?P<whole>[\w$]+) from "(?P<data>\.[^"\n]+\.json)" with \{ type: "json" \});\n',
    re.MULTILINE,
)
_EXPORT = re.compile(r"^export (?=(?:(?:async )?function\*? |class |const )(?P<name>[\w$]+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_OTHER = re.compile(r"^\s*(?:import|export)\b(?!.*\bdefault function)|\bimport\s*[(.]", re.MULTILINE)


FOLDER = Path(__file__).parent  # of all components


class JoiningError(ValueError):
    """A module says something that this cannot join."""


def join_modules(entry: Path, root: Path, name: str = "") -> str:
    """The script of a component whose own module is `entry`; modules are named by their paths from `root`.

    name: of a constant that what it exports becomes, for a script that stands in a page and calls it.
    """
    joined = "\n".join(_write(file, root, entry) for file in list_modules(entry))
    return _DEFAULT.sub(f"const {name} = ", joined) if name else joined


def list_modules(entry: Path) -> list[Path]:
    """A module and all that it imports, directly or not, each behind what it imports itself."""
    order: list[Path] = []
    _visit(entry.resolve(), [], order)
    return order


def list_imports(file: Path) -> dict[Path, tuple[str, ...]]:
    """The files that a module imports, and the names that it takes from each; none from one with data."""
    found: dict[Path, tuple[str, ...]] = {}
    for match in _IMPORT.finditer(_read(file)):
        path = (file.parent / (match["script"] or match["data"])).resolve()
        if path in found:
            raise JoiningError(f"{file} imports {path.name} twice: one import names all that is taken from a module.")
        if not path.is_file():
            raise JoiningError(f"{file} imports {path}, which is not there.")
        found[path] = tuple(name.split()[0] for name in _list_names(match)) if match["script"] else ()
    return found


def list_exports(file: Path) -> list[str]:
    """The names that a module exports, but for its default."""
    return [match["name"] for match in _EXPORT.finditer(_read(file))]


def _visit(file: Path, trail: list[Path], order: list[Path]) -> None:
    if file in trail:
        circle = " > ".join(each.name for each in [*trail[trail.index(file) :], file])
        raise JoiningError(f"Modules import each other in a circle: {circle}. Move what two of them need to a third.")
    if file in order:
        return
    if file.suffix == ".js":
        for needed, names in list_imports(file).items():
            _visit(needed, [*trail, file], order)
            lacking = set(names) - set(list_exports(needed) if needed.suffix == ".js" else names)
            if lacking:
                raise JoiningError(f"{file} imports {', '.join(sorted(lacking))}, which {needed} does not export.")
    order.append(file)


def _write(file: Path, root: Path, entry: Path) -> str:
    name = file.relative_to(root.resolve()).as_posix()
    if file.suffix == ".json":
        return f"// {name}\nconst {_name(file, root)} = {json.dumps(json.loads(_read(file)), ensure_ascii=False)};\n"
    source = _read(file)
    body = _IMPORT.sub(lambda match: _write_import(match, file, root), source)
    if file == entry.resolve():
        _check(file, body, defaults=1)
        return f"// {name}\n{body}"
    body = _EXPORT.sub("", body)
    _check(file, body, defaults=0)
    given = ", ".join(list_exports(file))
    return f"// {name}\nconst {_name(file, root)} = (() => {{\n{body}\nreturn {{ {given} }};\n}})();\n"


def _write_import(match: re.Match[str], file: Path, root: Path) -> str:
    path = (file.parent / (match["script"] or match["data"])).resolve()
    taken = match["whole"] or "{ " + ", ".join(name.replace(" as ", ": ") for name in _list_names(match)) + " }"
    return f"const {taken} = {_name(path, root)};\n"


def _list_names(match: re.Match[str]) -> list[str]:
    return [" ".join(name.split()) for name in match["names"].split(",") if name.strip()]


def _check(file: Path, body: str, defaults: int) -> None:
    """That nothing but a default is left of the imports and exports, and as many of these as there may be."""
    if other := _OTHER.search(body):
        line = body[other.start() :].lstrip().partition("\n")[0]
        raise JoiningError(f"{file}: cannot join `{line}`; see {__name__} for what it understands.")
    if len(_DEFAULT.findall(body)) != defaults:
        raise JoiningError(f"{file} must have {defaults or 'no'} default export: only a component's index has one.")


def _name(file: Path, root: Path) -> str:
    """What stands for a module in the script."""
    return "$" + re.sub(r"\W", "_", file.relative_to(root.resolve()).with_suffix("").as_posix())


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")
