"""The browser's modules: who imports whom, what each takes and gives, and what stands in one of them alone."""

import re

import pytest

from bertviz_core.ui.components.joining import JoiningError, list_exports, list_imports, list_modules
from tests.scripts import COMPONENTS, FOLDERS
from tests.test_imports import LONGEST, ROOT

SHARED = "shared"


def list_files(root):
    return sorted(root.rglob("*.js"))


def foreign_imports(root):
    """Where a component imports what is not its own nor shared, or where shared imports a component's."""
    return sorted(
        f"{file.relative_to(root)} -> {needed.relative_to(root)}"
        for file in list_files(root)
        for needed in list_imports(file)
        if needed.relative_to(root).parts[0] not in (file.relative_to(root).parts[0], SHARED)
    )


def cycles(root):
    """What is wrong with the order of the modules of a component."""
    found = []
    for file in list_files(root):
        try:
            list_modules(file)
        except JoiningError as error:
            found.append(str(error))
    return found


def unused_exports(root, tests=()):
    """What a module exports that no other module, and no test, imports."""
    used = {
        (needed, name)
        for file in [*list_files(root), *tests]
        for needed, names in list_imports(file).items()
        for name in names
    }
    used |= {(needed, name) for file in tests for needed in whole_imports(file) for name in list_exports(needed)}
    return sorted(
        f"{file.relative_to(root)}: {name}"
        for file in list_files(root)
        for name in list_exports(file)
        if (file, name) not in used
    )


def whole_imports(file):
    """The modules that a test takes as a whole."""
    found = re.findall(r'^import \* as \w+ from "(\.[^"]+)"', file.read_text(encoding="utf-8"), re.MULTILINE)
    return [(file.parent / path).resolve() for path in found]


def unused_modules(root):
    """The modules that no component is made of."""
    entries = [*root.glob("*/index.js"), *root.glob("*/alone.js")]  # those of a page of its own are no component's
    used = {file for entry in entries for file in list_modules(entry)}
    return sorted(str(file.relative_to(root)) for file in list_files(root) if file not in used)


TESTS = sorted((ROOT / "tests" / "js").glob("*.js"))


def test_the_modules_are_seen():
    edges = list_imports(COMPONENTS / "canvas" / "cells.js")
    assert "stageOf" in edges[COMPONENTS / "canvas" / "parts.js"] and len(list_files(COMPONENTS)) > 50
    assert {"canvas", "listener"} <= set(FOLDERS)


def test_a_component_imports_its_own_modules_and_shared_ones():
    assert foreign_imports(COMPONENTS) == []


def test_no_module_imports_itself_through_others():
    assert cycles(COMPONENTS) == []


def test_what_is_exported_is_imported():
    assert unused_exports(COMPONENTS, TESTS) == []


def test_every_module_is_part_of_a_component():
    assert unused_modules(COMPONENTS) == []


def test_modules_can_be_read_at_one_go():
    lines = {file.name: len(file.read_text(encoding="utf-8").splitlines()) for file in list_files(COMPONENTS)}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


VIOLATIONS = {
    "a component that knows another": ("two/b.js", 'import { a } from "../one/a.js";\n', foreign_imports),
    "a shared module that knows a component": ("shared/s.js", 'import { a } from "../one/a.js";\n', foreign_imports),
    "a circle": ("one/a.js", 'import { c } from "./c.js";\nexport const a = 1;\n', cycles),
    "an export for nobody": ("one/a.js", "export const a = 1;\nexport const more = 1;\n", unused_exports),
}


@pytest.mark.parametrize(("path", "source", "check"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_a_violation_is_found(tmp_path, path, source, check):
    files = {
        "one/a.js": "export const a = 1;\n",
        "one/c.js": 'import { a } from "./a.js";\nexport const c = 1;\n',
        "one/index.js": 'import { c } from "./c.js";\n',
        "two/b.js": "",
        "shared/s.js": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert check(tmp_path) == []
    (tmp_path / path).write_text(source, encoding="utf-8")
    assert check(tmp_path) != []


# What stands in one module only, by a pattern of the source: where it may stand.
IN_ONE_PLACE = {
    r"\.(_\w+|calcdata)\b|\{ _|\b_fullLayout\b|js-plotly-plot|main-svg": ["shared/plotly_inside.js"],
    r"data-testid|\.stApp\b|data-baseweb|testScriptState|testConnectionState": ["shared/streamlit.js"],
    r"attention\\?\.self|encoder\\?\.layer|cls\\?\.predictions|\bhidden=\(": ["shared/addresses.js"],
    r"createElementNS|http://www\.w3\.org": ["listener/picture.js", "shared/element.js"],
}


@pytest.mark.parametrize("pattern", IN_ONE_PLACE)
def test_what_belongs_to_one_module_stands_there_alone(pattern):
    found = [
        file.relative_to(COMPONENTS).as_posix()
        for file in list_files(COMPONENTS)
        if re.search(pattern, file.read_text(encoding="utf-8"))
    ]
    assert found == IN_ONE_PLACE[pattern]
