"""The pages: each has its file and its place in the menu, and says its own name."""

import ast
from pathlib import Path

import pytest
from streamlit import config

from bertviz_core.ui.frame.site import PAGES

FOLDER = Path(__file__).parents[1] / "pages"


def test_every_file_is_a_page_of_the_menu_and_every_page_has_its_file():
    assert sorted(file.stem for file in FOLDER.glob("*.py")) == sorted(info.name for info in PAGES)


def test_no_list_of_files_stands_there_before_the_first_run():
    assert config.get_option("client.showSidebarNavigation") is False, ".streamlit/config.toml"


@pytest.mark.parametrize("name", [info.name for info in PAGES])
def test_a_page_opens_itself_and_says_what_it_is(name):
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    calls = [
        (node.func.id, node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open_page"
    ]
    assert calls == [("open_page", name)]
    assert ast.get_docstring(tree)


def test_a_tab_says_the_page_first():
    """A title of the whole app would go before those of its pages."""
    assert {info.tab for info in PAGES} == {f"{info.title} · BERT, every number" for info in PAGES}
    assert "page_title" not in (FOLDER.parent / "app.py").read_text(encoding="utf-8")
