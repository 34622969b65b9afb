"""Imports point one way, from room to room; every module is in a room; libraries keep their places."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("sources")  # each file is read once

ROOT = Path(__file__).parents[1]
CORE, EDGE, ROOMS_OF_CLASSES = "bertviz_core", "edge", "rooms"
LONGEST = 360  # lines of a file

# Every package, in levels: a module imports from its own package and from the levels before it, never from a package
# beside its own or from one that comes later.
LEVELS = (
    (f"{CORE}.errors", f"{CORE}.version", EDGE),
    (f"{CORE}.formula", f"{CORE}.sharing", ROOMS_OF_CLASSES),
    (f"{CORE}.programs",),
    (f"{CORE}.checkpoint",),
    (f"{CORE}.tracing",),
    (f"{CORE}.learning",),
    (f"{CORE}.documents",),
    (f"{CORE}.analysis", f"{CORE}.export"),
    (f"{CORE}.figures", f"{CORE}.lessons"),
    (f"{CORE}.ui.components",),
    (f"{CORE}.showing",),
    (f"{CORE}.ui.frame",),
    (f"{CORE}.ui.walk",),
    (f"{CORE}.ui.panels",),
    (f"{CORE}.ui.views",),
    ("pages", "app", f"{CORE}.__main__"),
)
ROOMS = tuple(room for level in LEVELS for room in level)
DOORS = (CORE, f"{CORE}.ui")  # what holds rooms, and has nothing of its own but an __init__
SHOWN = (f"{CORE}.ui", "pages", "app", EDGE)
# library, where it may be imported (None: anywhere else), where it may not
LIBRARIES = (
    ("streamlit", SHOWN, ()),
    ("pandas", (f"{CORE}.analysis.frames",), ()),
    ("plotly", (f"{CORE}.figures.plotly_inside",), ()),
    ("torch", None, (f"{CORE}.figures", f"{CORE}.showing", f"{CORE}.ui", "pages", EDGE, ROOMS_OF_CLASSES)),
)


def modules(root):
    """Every module of the product by dotted name: the core, the pages, the app."""
    files = [file for folder in (CORE, EDGE, ROOMS_OF_CLASSES, "pages") for file in (root / folder).rglob("*.py")] + [
        root / "app.py"
    ]
    return {dotted(file.relative_to(root)): file for file in files if file.is_file()}


def dotted(path):
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(name, file):
    """The full names that a module imports, also inside functions: `from a import b` gives a.b."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    return _read_imports(package, file.read_text(encoding="utf-8"))


@cache
def _read_imports(package, text):
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return frozenset(found)


def graph(root):
    """Which modules of the product each one imports."""
    known = modules(root)

    def module(imported):
        return imported if imported in known else imported.rpartition(".")[0]

    return {name: {module(i) for i in imports(name, file)} & set(known) for name, file in known.items()}


def inside(name, places):
    return any(name == place or name.startswith(f"{place}.") for place in places)


def reached(start, edges):
    """Everything that a module imports, and what that imports, and so on."""
    seen, todo = set(), [start]
    while todo:
        fresh = edges[todo.pop()] - seen
        seen |= fresh
        todo.extend(fresh)
    return seen


def room(name):
    """The room that a module is in; None for a door, and for what is in no room."""
    return next((each for each in ROOMS if inside(name, [each])), None)


def upward_imports(root):
    """Where a room reaches one beside or above it, directly or through others; a door is above all that it opens."""
    edges = graph(root)
    level = {each: i for i, places in enumerate(LEVELS) for each in places}
    return sorted(
        f"{name} -> {found}"
        for name in edges
        if room(name)
        for found in reached(name, edges)
        if (found in DOORS and room(name) not in ("pages", "app"))
        or (room(found) and room(found) != room(name) and level[room(found)] >= level[room(name)])
    )


def homeless(root):
    """The modules that are in no room."""
    return sorted(name for name in modules(root) if room(name) is None and name not in DOORS)


def foreign_views(root):
    """Where the parts of one page import those of another: what two pages share is a panel."""
    views = f"{CORE}.ui.views"
    pages = sorted((f.stem for f in (root / "pages").glob("*.py")), key=len, reverse=True)

    def page(name):
        leaf = name.removeprefix(f"{views}.")
        return next((each for each in pages if leaf == each or leaf.startswith(f"{each}_")), None)

    edges = graph(root)
    own = {name: page(name) for name in edges if name.startswith(f"{views}.")}
    nameless = [f"{name} belongs to no page" for name, of in own.items() if of is None]
    crossed = [
        f"{name} -> {found}" for name in own for found in edges[name] if found in own and own[found] != own[name]
    ]
    strange = [
        f"{name} -> {found}"
        for name in edges
        if name.startswith("pages.")
        for found in edges[name]
        if found in own and own[found] != name.removeprefix("pages.")
    ]
    return sorted([*nameless, *crossed, *strange])


def misplaced_libraries(root):
    """Where a library is imported that has no place there."""
    return sorted(
        f"{name} imports {library}"
        for name, file in modules(root).items()
        for library, allowed, forbidden in LIBRARIES
        if library in {imported.partition(".")[0] for imported in imports(name, file)}
        if (allowed is not None and not inside(name, allowed)) or inside(name, forbidden)
    )


def cycles(root):
    """The modules that import themselves through others."""
    edges = graph(root)
    return sorted(name for name in edges if name in reached(name, edges))


def test_the_product_is_seen():
    edges = graph(ROOT)
    assert {f"{CORE}.tracing.trace", f"{CORE}.programs.bert", CORE} <= set(edges)
    assert f"{CORE}.formula.nodes" in edges[f"{CORE}.formula.functions"]
    assert {f"{CORE}.formula.steps", f"{CORE}.formula.functions"} <= edges[f"{CORE}.programs.bert"]
    assert f"{CORE}.formula.functions" in reached(f"{CORE}.tracing.trace", edges)


def test_every_module_is_in_a_room():
    assert homeless(ROOT) == []


def test_every_room_is_there():
    known = modules(ROOT)
    assert [each for each in ROOMS if each != "pages" and each not in known] == []


def test_parts_of_a_page_serve_that_page():
    assert foreign_views(ROOT) == []


PACKAGES = [name for name, file in modules(ROOT).items() if file.name == "__init__.py"]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_says_in_a_line_what_it_is_for(package):
    text = ast.get_docstring(ast.parse(modules(ROOT)[package].read_text(encoding="utf-8")))
    assert text and 20 <= len(text.splitlines()[0]) <= 120


def test_files_can_be_read_at_one_go():
    folders = (CORE, EDGE, "pages", "tests", "benchmarks", "training")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    long = {
        str(file.relative_to(ROOT)): n
        for file in files
        if (n := len(file.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert long == {}


def test_imports_point_one_way():
    assert upward_imports(ROOT) == []


def test_libraries_stay_where_they_belong():
    assert misplaced_libraries(ROOT) == []


def test_no_module_imports_itself_through_others():
    assert cycles(ROOT) == []


VIOLATIONS = {
    "a program that knows the trace": ("programs/new.py", "from bertviz_core.tracing.trace import run", upward_imports),
    "a formula that knows a program": ("formula/nodes.py", "from bertviz_core import programs", upward_imports),
    "a trace that draws, through another": (
        "tracing/trace.py",
        "from bertviz_core.documents import between",
        upward_imports,
    ),
    "an export that knows analysis": ("export/new.py", "from bertviz_core.analysis import x", upward_imports),
    "a room that goes through the front door": ("tracing/trace.py", "import bertviz_core as bv", upward_imports),
    "a figure that knows a widget": (
        "figures/new.py",
        "def f():\n    import bertviz_core.ui.panels.panel",
        upward_imports,
    ),
    "a figure that knows a widget, relatively": ("figures/new.py", "from ..ui.panels import panel", upward_imports),
    "a panel that knows a page's part": ("ui/panels/panel.py", "import bertviz_core.ui.views.one", upward_imports),
    "a widget that knows a page": ("ui/panels/panel.py", "import pages.one", upward_imports),
    "a part that uses another page's": ("ui/views/one_more.py", "from bertviz_core.ui.views import two", foreign_views),
    "a page that uses another's part": ("../pages/one.py", "from bertviz_core.ui.views import two", foreign_views),
    "a part of no page": ("ui/views/nobody.py", "", foreign_views),
    "a module in no room": ("stray.py", "", homeless),
    "a package in no room": ("attic/__init__.py", "", homeless),
    "streamlit in the core": ("tracing/trace.py", "import streamlit as st", misplaced_libraries),
    "streamlit in a figure": ("figures/new.py", "from streamlit.components import v2", misplaced_libraries),
    "plotly in the interface": ("ui/panels/panel.py", "import plotly.graph_objects as go", misplaced_libraries),
    "plotly in a chart": ("figures/new.py", "import plotly.graph_objects as go", misplaced_libraries),
    "plotly on a page": ("../pages/one.py", "from plotly import io", misplaced_libraries),
    "torch in a figure": ("figures/new.py", "import torch", misplaced_libraries),
    "torch in the interface": ("ui/panels/panel.py", "import torch", misplaced_libraries),
    "torch on a page": ("../pages/one.py", "from torch import Tensor", misplaced_libraries),
    "a cycle of two": ("ui/panels/panel.py", "from bertviz_core.ui.panels import other", cycles),
    "a cycle through the package": ("tracing/trace.py", "import bertviz_core as bv", cycles),
}
SOUND = {
    "__init__.py": "from bertviz_core.tracing.trace import Trace",
    "formula/__init__.py": "",
    "formula/nodes.py": "",
    "programs/__init__.py": "",
    "tracing/__init__.py": "",
    "tracing/trace.py": "from bertviz_core.programs import bert\nimport torch",
    "documents/__init__.py": "",
    "documents/between.py": "from bertviz_core.programs import bert",
    "analysis/__init__.py": "",
    "analysis/x.py": "",
    "export/__init__.py": "",
    "figures/__init__.py": "",
    "figures/plotly_inside.py": "import plotly",
    "figures/base.py": "from bertviz_core.figures import plotly_inside",
    "ui/__init__.py": "",
    "ui/panels/__init__.py": "",
    "ui/panels/panel.py": "import streamlit\nfrom bertviz_core.figures import base",
    "ui/panels/other.py": "from bertviz_core.ui.panels import panel",
    "ui/views/__init__.py": "",
    "ui/views/one.py": "from bertviz_core.ui.panels import panel",
    "ui/views/one_more.py": "from bertviz_core.ui.views import one",
    "ui/views/two.py": "",
    "../pages/one.py": "import streamlit\nimport bertviz_core as bv\nfrom bertviz_core.ui.views import one",
    "../pages/two.py": "",
}


@pytest.fixture
def project(tmp_path):
    for path, source in SOUND.items():
        write(tmp_path, path, source)
    return tmp_path


def write(root, path, source):
    file = (root / CORE / path).resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, encoding="utf-8")


def test_a_sound_project_passes(project):
    assert upward_imports(project) == misplaced_libraries(project) == cycles(project) == []
    assert foreign_views(project) == homeless(project) == []


@pytest.mark.parametrize(("path", "source", "check"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_a_violation_is_found(project, path, source, check):
    (project / CORE).mkdir(exist_ok=True)
    write(project, path, source)
    assert check(project) != []


# What stands in one place only, by a pattern of the source: where it may stand.
IN_ONE_PLACE = {
    r"\bsession_state\b": [
        f"bertviz_core/ui/frame/{name}.py" for name in ("state", "streamlit_costs", "streamlit_inside")
    ],
    r"\bquery_params\b(?!=)": ["bertviz_core/ui/frame/url.py"],
    r"\bst\.plotly_chart\b|displayModeBar": ["bertviz_core/ui/frame/chart.py"],
    r"(?<!def )\bparse\(": ["bertviz_core/formula/address.py"],
    r"\bread_address\(": [  # where addresses come in as text: the public face, the URL, a change that somebody wrote
        "bertviz_core/analysis/patching.py",
        "bertviz_core/formula/address.py",
        "bertviz_core/learning/explaining.py",
        "bertviz_core/tracing/changes.py",
        "bertviz_core/tracing/layout.py",
        "bertviz_core/ui/frame/walked.py",
        "bertviz_core/ui/views/training_told.py",
    ],
    r"update_(layout|xaxes|yaxes|traces)|add_(shape|annotation|hline|hrect|trace)\(": [],  # a chart is built in one go
}


@pytest.mark.parametrize("pattern", IN_ONE_PLACE)
def test_what_belongs_to_one_module_stands_there_alone(pattern):
    found = [
        file.relative_to(ROOT).as_posix()
        for file in modules(ROOT).values()
        if re.search(pattern, file.read_text(encoding="utf-8"))
    ]
    assert sorted(found) == IN_ONE_PLACE[pattern]
