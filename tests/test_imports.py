"""Imports point one way: expressions, programs, trace, analysis, figures, ui, pages; libraries keep their places."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = "bertviz_core"
LAYERS = (
    (f"{CORE}.dims", f"{CORE}.expressions", f"{CORE}.operations", f"{CORE}.steps"),
    (f"{CORE}.programs",),
    (f"{CORE}.model", f"{CORE}.trace", f"{CORE}.store", f"{CORE}.script"),
    (f"{CORE}.analysis",),
    (f"{CORE}.figures",),
    (f"{CORE}.ui",),
    ("pages", "app"),
)
SHOWN = (f"{CORE}.ui", "pages", "app")
# library, where it may be imported (None: anywhere else), where it may not
LIBRARIES = (
    ("streamlit", SHOWN, ()),
    ("plotly", (f"{CORE}.figures",), ()),
    ("torch", None, (f"{CORE}.figures", "pages")),
)


def modules(root):
    """Every module of the product by dotted name: the core, the pages, the app."""
    files = [*(root / CORE).rglob("*.py"), *(root / "pages").rglob("*.py"), root / "app.py"]
    return {dotted(file.relative_to(root)): file for file in files if file.is_file()}


def dotted(path):
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(name, file):
    """The full names that a module imports, also inside functions: `from a import b` gives a.b."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return found


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


def upward_imports(root):
    """Where a layer reaches one above it, directly or through others."""
    edges = graph(root)
    return sorted(
        f"{name} -> {found}"
        for level, layer in enumerate(LAYERS)
        for name in edges
        if inside(name, layer)
        for found in reached(name, edges)
        if any(inside(found, above) for above in LAYERS[level + 1 :])
    )


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
    assert {f"{CORE}.trace", f"{CORE}.programs.bert", CORE} <= set(edges)
    assert f"{CORE}.expressions" in edges[f"{CORE}.operations"]
    assert {f"{CORE}.steps", f"{CORE}.operations"} <= edges[f"{CORE}.programs.bert"]
    assert f"{CORE}.operations" in reached(f"{CORE}.trace", edges)


def test_imports_point_one_way():
    assert upward_imports(ROOT) == []


def test_libraries_stay_where_they_belong():
    assert misplaced_libraries(ROOT) == []


def test_no_module_imports_itself_through_others():
    assert cycles(ROOT) == []


VIOLATIONS = {
    "a program that knows the trace": ("programs/new.py", "from bertviz_core.trace import run", upward_imports),
    "an expression that knows a program": ("operations.py", "from bertviz_core import programs", upward_imports),
    "a trace that draws, through another": ("trace.py", "from bertviz_core import between", upward_imports),
    "a figure that knows a widget": ("figures/new.py", "def f():\n    import bertviz_core.ui.panel", upward_imports),
    "a figure that knows a widget, relatively": ("figures/new.py", "from ..ui import panel", upward_imports),
    "a widget that knows a page": ("ui/panel.py", "import pages.one", upward_imports),
    "streamlit in the core": ("trace.py", "import streamlit as st", misplaced_libraries),
    "streamlit in a figure": ("figures/new.py", "from streamlit.components import v2", misplaced_libraries),
    "plotly in the interface": ("ui/panel.py", "import plotly.graph_objects as go", misplaced_libraries),
    "plotly on a page": ("../pages/one.py", "from plotly import io", misplaced_libraries),
    "torch in a figure": ("figures/new.py", "import torch", misplaced_libraries),
    "torch on a page": ("../pages/one.py", "from torch import Tensor", misplaced_libraries),
    "a cycle of two": ("ui/panel.py", "from bertviz_core.ui import other", cycles),
    "a cycle through the package": ("trace.py", "import bertviz_core as bv", cycles),
}
SOUND = {
    "__init__.py": "from bertviz_core.trace import Trace",
    "operations.py": "",
    "programs/__init__.py": "",
    "trace.py": "from bertviz_core.programs import bert\nimport torch",
    "between.py": "from bertviz_core.figures import base",
    "figures/__init__.py": "",
    "figures/base.py": "import plotly",
    "ui/panel.py": "import streamlit\nfrom bertviz_core.figures import base",
    "ui/other.py": "from bertviz_core.ui import panel",
    "../pages/one.py": "import streamlit\nimport bertviz_core as bv\nfrom bertviz_core.ui import panel",
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


@pytest.mark.parametrize(("path", "source", "check"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_a_violation_is_found(project, path, source, check):
    (project / CORE).mkdir(exist_ok=True)
    write(project, path, source)
    assert check(project) != []
