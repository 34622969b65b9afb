"""README, CONTRIBUTING and docs/: their numbers are the model's, their code runs, and all that they name exists."""

import ast
import json
import pkgutil
import re
import shlex
from dataclasses import fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.analysis.addresses import write_addresses
from bertviz_core.formula.address import Address
from bertviz_core.lessons.notes import list_plans, write_notes
from bertviz_core.programs import PROGRAMS
from bertviz_core.tracing.changes import RULES
from bertviz_core.ui.frame.site import PAGES
from tests.scripts import COMPONENTS
from tests.test_imports import LEVELS, modules
from training.settings import Settings, name_option

ROOT = Path(__file__).parents[1]
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
DOCS = [README, CONTRIBUTING, ROOT / "training" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
GENERATED = ("documents.md", "slips.md", "addresses.md", "teaching.md")
WRITTEN = [file for file in DOCS if file.name not in GENERATED]
LONGEST = {README: 7_000, CONTRIBUTING: 14_000}

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = {name_option(one.name) for one in fields(Settings)}
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
TOOLS = {
    "python",
    "python3",
    "pip",
    "pytest",
    "ruff",
    "pyright",
    "streamlit",
    "bash",
    "source",
    "docker",
    "mkdocs",
    "node",
    "npm",
}
FROM_ELSEWHERE = ("mkdocs", "docker", "source", "bash", "pip", "python", "python3", "node", "npm")
# What belongs to others, and what stands for something that the reader puts in.
FOREIGN = {
    "jessevig/bertviz", "source .venv/bin/activate", "sdk: docker", "app_port: 8501", "dtype=torch.float64",
    "path[axis=index,...]", "changes=address:value~address:value", "draw_…", "bert.", ".bin",
}  # fmt: skip


def text(file):
    return file.read_text(encoding="utf-8")


def named(files):
    return pytest.mark.parametrize("file", files, ids=lambda file: file.name)


def test_the_printed_predictions_are_the_models_own(rome):
    table = text(README).split("<!-- top-5")[1]
    printed = re.findall(r"^\| (\S+) \| (0\.\d{4}) \|$", table, re.MULTILINE)
    probs = rome["cls.predictions.probs[token=8]"]
    best = np.argsort(-probs)[:5]
    assert printed == [(rome.model.tokenizer.token(int(i)), f"{probs[i]:.4f}") for i in best]


def test_one_line_runs_the_app_and_one_line_the_tests():
    blocks = re.findall(r"^## (\w+)\n\n```sh\n(.+?)\n```$", text(README), re.MULTILINE | re.DOTALL)
    assert [section for section, _ in blocks] == ["Run", "Test"]
    install = "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/"
    assert [line for _, line in blocks] == [f"{install}streamlit run app.py", f"{install}python -m pytest"]


def test_the_first_lines_say_what_this_is_not():
    assert "Not related to the package `jessevig/bertviz`" in " ".join(text(README).splitlines()[:12])


@named(LONGEST)
def test_it_is_short(file):
    assert len(file.read_bytes()) <= LONGEST[file]


def test_python_takes_eight_lines():
    (block,) = blocks(README, "python")
    assert len([line for line in block.splitlines() if line.strip()]) <= 8


def blocks(file, language):
    return [block for name, block in FENCED.findall(text(file)) if name == language]


@named([file for file in WRITTEN if blocks(file, "python")])
def test_its_python_runs_and_gives_what_stands_beside_it(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = {}
    for line in "\n".join(blocks(file, "python")).splitlines():
        code, _, remark = line.partition("  # ")
        exec(code, known)
        if (result := literal(remark)) is not ...:
            assert eval(code, known) == result, line


def literal(remark):
    """The value that a remark writes down; nothing where it is words."""
    try:
        return ast.literal_eval(remark)
    except (SyntaxError, ValueError):
        return ...


@named(DOCS)
def test_its_links_lead_somewhere(file):
    links = LINK.findall(text(file))
    assert [link for link in links if not (file.parent / link).exists()] == []


@named(DOCS)
def test_every_document_can_be_found_from_the_readme(file):
    index = ROOT / "docs" / "index.md"
    linked = {(page.parent / link).resolve() for page in (README, index) for link in LINK.findall(text(page))}
    assert file == README or file.resolve() in linked


def commands():
    """Every command line of the written documents: from blocks of shell, and from the running text."""
    for file in WRITTEN:
        prose = FENCED.sub("", text(file))
        lines = [line for block in blocks(file, "sh") for line in block.splitlines()]
        lines += [span for span in SPAN.findall(prose) if " " in span and span.split()[0] in TOOLS]
        for line in lines:
            for part in re.split(r" && ", line.split("  #")[0]):
                yield file.name, part.strip()


@pytest.mark.parametrize(("file", "command"), sorted(set(commands())))
def test_every_command_can_be_given(file, command):
    words = [word.removeprefix(".venv/bin/") for word in shlex.split(command)]
    tool, *rest = words
    assert tool in TOOLS
    if rest[:1] == ["-m"]:
        assert find_spec(rest[1])
    for word in rest:
        if "/" in word and not word.startswith(("-", ".venv")) and tool != "docker" and ":" not in word:
            assert (ROOT / word).exists(), word
    script = ROOT / rest[0] if rest else ROOT
    if script.suffix == ".py":
        assert all(f'"{word}"' in text(script) for word in rest if word.startswith("--"))
    if tool == "npm" and rest[0] != "ci":
        assert rest[-1] in json.loads(text(ROOT / "package.json"))["scripts"]
    if re.fullmatch(r"[\w-]+", tool) and tool not in FROM_ELSEWHERE:
        assert re.search(rf"^{tool}\b", text(ROOT / "requirements.txt"), re.MULTILINE)


@cache
def vocabulary():
    """Every name that the sources define, every parameter of the URL and every other plain string in them."""
    folders = (ROOT / folder for folder in (bv.__name__, "deploy", "edge", "pages", "tests", "benchmarks", "training"))
    files = [file for folder in folders for file in folder.rglob("*.py") if file != Path(__file__)]
    found = {
        name
        for folder in (COMPONENTS, ROOT / "tests" / "js")
        for file in folder.rglob("*.js")
        for name in re.findall(r"^(?:export )?(?:function|class) (\w+)", text(file), re.MULTILINE)
    }
    for node in (node for file in files for node in ast.walk(ast.parse(text(file)))):
        match node:
            case ast.ClassDef():
                own = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
                own |= {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)}
                found |= {node.name, *(f"{node.name}.{member}" for member in own)}
            case ast.FunctionDef():
                found.add(node.name)
            case ast.Name():
                found.add(node.id)
            case ast.arg():
                found.add(node.arg)
            case ast.Attribute():
                found.add(node.attr)
            case ast.Constant(value=str(word)) if " " not in word:
                found.add(word)
    return found


@cache
def addresses():
    model = bv.load_model("bundled")
    paths = {path for name in PROGRAMS for path in [*model.written(name).by_address, *model.written(name).leaves]}
    return {re.sub(r"layer\.\d+", "layer.{i}", path) for path in paths}


def exists(span):
    """Whether what is quoted is there: a path, a test, a module, an address, or a name of the sources."""
    path, _, test = span.partition("::")
    place = ROOT / path.replace("{name}.py", "")
    if "/" in path and place.exists():
        return not test or f"def {test}(" in text(place)
    if "/" in path and path.partition("/")[0] in {file.name for file in ROOT.iterdir()}:
        return False
    if span.startswith("bv."):
        return hasattr(bv, span.removeprefix("bv."))
    if span.startswith(f"{bv.__name__}."):
        return can_be_imported(span)
    whole = re.sub(r"layer\.\d+", "layer.{i}", span.partition("[")[0])
    if any(whole == address or (whole[0] == "…" and address.endswith(whole[1:])) for address in addresses()):
        return True
    rooms = (ROOT, ROOT / bv.__name__, COMPONENTS)
    option = span.partition(" ")[0].replace("--no-", "--")
    if option.startswith("--"):
        span = option
    return span in {*RULES, *OPTIONS, *vocabulary()} or any((folder / span).exists() for folder in rooms)


def can_be_imported(name):
    try:
        return bool(pkgutil.resolve_name(name))
    except (ImportError, AttributeError):
        return False


def quoted():
    for file in WRITTEN:
        for span in dict.fromkeys(SPAN.findall(FENCED.sub("", text(file)))):
            if span not in FOREIGN and not (" " in span and span.split()[0] in TOOLS):
                yield pytest.param(span, id=f"{file.name}: {span}")


@pytest.mark.xdist_group("quoted")  # all of the sources is read once
@pytest.mark.parametrize("span", list(quoted()))
def test_what_is_quoted_exists(span):
    assert exists(span)


@pytest.mark.xdist_group("quoted")
@pytest.mark.parametrize(
    "span",
    ["tests/test_walk.py::test_nothing", "tests/test_nothing.py", "bv.nothing", "bertviz_core.nothing", "draw_nothing",
     "encoder.layer.{i}.nothing", "pages/nothing.py", "Chart.nothing", "….nothing"],
)  # fmt: skip
def test_what_does_not_exist_is_found(span):
    assert not exists(span)


@named(WRITTEN)
def test_the_pages_that_it_names_are_in_the_menu(file):
    controls = {"Edit the sentence", "Model", "What if"}
    said = set(re.findall(r"(?<!\*)\*([A-Z][^*\n]+)\*(?!\*)", FENCED.sub("", text(file))))
    sentence = {name for name in said if name.endswith(".")}
    assert said - sentence - controls <= {info.title for info in PAGES}


def test_every_rule_of_a_change_is_explained():
    table = "".join(line for line in text(ROOT / "docs" / "what-if.md").splitlines() if line.startswith("|"))
    assert [rule for rule in RULES if f"`{rule}`" not in table] == []


def test_the_addresses_written_down_are_those_of_the_program():
    assert text(ROOT / "docs" / "addresses.md") == write_addresses()
    listed = re.findall(r"^\| `([^`]+)`", text(ROOT / "docs" / "addresses.md"), re.MULTILINE)
    assert len(listed) == len(set(listed)) > 60
    assert {Address(address).path for address in listed} == set(listed)


def test_the_notes_for_teachers_are_those_of_the_lessons():
    assert text(ROOT / "docs" / "teaching.md") == write_notes(bv.load_model("bundled"))


@pytest.mark.parametrize("title", list_plans())
def test_a_plan_for_a_class_takes_as_long_as_it_says(title):
    assert sum(taken for taken, _ in list_plans()[title]) == int(title.split()[0])


def house():
    """The rooms as CONTRIBUTING shows them, the highest first: number, place, what the room itself says."""
    known = modules(ROOT)
    for number, places in reversed(list(enumerate(LEVELS))):
        for place in places:
            file = known.get(place)
            purpose = ast.get_docstring(ast.parse(text(file))).splitlines()[0] if file else "One short file a page."
            folder = file is None or file.name == "__init__.py"
            yield f"| {number} | `{place.replace('.', '/')}{'/' if folder else '.py'}` | {purpose} |"


def test_the_house_is_drawn_as_it_is():
    drawn = [line for line in text(CONTRIBUTING).splitlines() if re.match(r"\| \d+ \|", line)]
    assert drawn == list(house())
