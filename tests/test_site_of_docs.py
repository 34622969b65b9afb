"""The documentation's site is built without a warning where its tool is; the paper has what journals ask for."""

import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import bertviz_core as bv

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "paper" / "paper.md"


@pytest.mark.rare
@pytest.mark.skipif(not (find_spec("mkdocs") and find_spec("mkdocstrings")), reason="needs mkdocs and mkdocstrings")
def test_the_site_is_built_without_a_warning_and_names_all_that_is_public(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 0, done.stderr
    reference = (tmp_path / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    assert [name for name in bv.__all__ if f'id="bertviz_core.{name}"' not in reference] == []


def test_every_page_of_the_site_is_in_its_menu():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {file.name for file in (ROOT / "docs").glob("*.md")}
    assert pages == set(re.findall(r": ([\w-]+\.md)$", menu, re.MULTILINE))


def test_the_paper_has_the_parts_that_journals_ask_for_and_names_nobody_but_the_maintainers():
    text = PAPER.read_text(encoding="utf-8")
    assert all(f"\n# {part}\n" in text for part in ("Summary", "Statement of need", "References"))
    assert 250 <= len(text.split()) <= 1000
    cited = set(re.findall(r"@(\w+)", text))
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert cited == known
    authors = re.findall(r"^  - name: (.+)$", text.split("affiliations:")[0], re.MULTILINE)
    assert authors == re.findall(r"^  - name: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_sites_hook_writes_links_to_other_files_as_their_paths():
    known = {}
    exec(compile(ast.parse((ROOT / "docs" / "site.py").read_text(encoding="utf-8")), "site.py", "exec"), known)
    turned = known["on_page_markdown"]("see [more](../deploy/README.md) and [here](python.md)")
    assert turned == "see more (`deploy/README.md`) and [here](python.md)"
