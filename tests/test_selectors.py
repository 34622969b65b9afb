"""What is known of the elements that Streamlit, Plotly and KaTeX draw stands in one file, and in what is installed."""

import json
import re
from pathlib import Path

import pytest
import streamlit

from bertviz_core.ui.components import selectors
from bertviz_core.ui.components.selectors import expand, read_css, read_selectors

ROOT = Path(__file__).parents[1]
FILE = ROOT / "bertviz_core/ui/components/shared/selectors.json"
ENTRIES = json.loads(FILE.read_text(encoding="utf-8"))
SEARCHING = (Path(__file__), Path(__file__).with_name("test_javascript_imports.py"))  # which look for such names
WRITTEN = ("*.css", "*.html", "*.js", "*.py")  # where selectors stand
_ATTRIBUTE = re.compile(r'\[([\w-]+)(?:="([\w-]+)")?\]')


@pytest.fixture(scope="module")
def installed():
    """All that stands in quotes in the scripts that a browser gets, as words; and what they put something behind."""
    scripts = (Path(streamlit.__file__).parent / "static").rglob("*.js")
    text = "\n".join(script.read_text(encoding="utf-8") for script in scripts)
    return set(re.findall(r"""[`"' ]\.?([\w-]+)(?=[`"' ])""", text)), set(
        re.findall(r"`(st[A-Z][\w-]+)\$\{\w+\}`", text)
    )


def list_names(entry):
    """The names that an entry takes from a library."""
    if "selector" in entry:
        return [name for pair in _ATTRIBUTE.findall(entry["selector"]) for name in pair if name]
    return [entry["testid"] if "testid" in entry else entry["class"]]


def find_missing(entries, installed):
    words, begun = installed

    def is_there(name):
        ends = [name.removeprefix(begin) for begin in begun if name.startswith(begin)]
        return name in words or any(end in words for end in ends)

    return {key: name for key, entry in entries.items() for name in list_names(entry) if not is_there(name)}


def test_every_name_is_in_the_installed_libraries(installed):
    assert find_missing(ENTRIES, installed) == {}


@pytest.mark.parametrize("gone", [
    {"testid": "stMainBlocks"}, {"testid": "stAlertContentMishap"}, {"class": "nsewdrags"},
    {"selector": '[data-stalest="true"]'},
])  # fmt: skip
def test_a_name_that_is_not_there_is_found(installed, gone):
    assert list(find_missing({"gone": gone, "main": {"testid": "stMain"}}, installed)) == ["gone"]


def test_the_file_is_sorted_and_every_entry_is_one_selector_with_a_reason():
    assert list(ENTRIES) == sorted(ENTRIES)
    for name, entry in ENTRIES.items():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name), name
        assert len(set(entry) & {"testid", "class", "selector"}) == 1 and len(entry) == 2, name
        assert entry["why"].endswith("."), name
        assert all(list_names(entry)), name


def test_a_name_is_written_as_its_selector(tmp_path, monkeypatch):
    entries = {"a": {"testid": "stA"}, "a-b": {"class": "b"}, "c": {"selector": "[c]"}}
    (tmp_path / "selectors.json").write_text(json.dumps(entries), encoding="utf-8")
    (tmp_path / "one.css").write_text("p:has(> :--c) { color: red }", encoding="utf-8")
    monkeypatch.setattr(selectors, "_FILE", tmp_path / "selectors.json")
    read_selectors.cache_clear()
    try:
        assert expand(":--a > p:--a-b:--c::after { --x: 1 }") == '[data-testid="stA"] > p.b[c]::after { --x: 1 }'
        assert read_css(tmp_path / "one.css") == "<style>p:has(> [c]) { color: red }</style>"
        with pytest.raises(KeyError):
            expand(":--unknown")
    finally:
        read_selectors.cache_clear()


def test_no_other_file_names_what_streamlit_draws():
    ids = "|".join(sorted(entry["testid"] for entry in ENTRIES.values() if "testid" in entry))
    classes = "|".join(sorted(entry["class"] for entry in ENTRIES.values() if "class" in entry))
    foreign = re.compile(rf"data-testid|get_by_test_id|st-emotion|\b(?:{ids})\b|\.(?:{classes})\b")
    files = [
        file
        for folder in ("benchmarks", "bertviz_core", "pages", "tests")
        for kind in WRITTEN
        for file in (ROOT / folder).rglob(kind)
    ]
    named = {file: set(foreign.findall(file.read_text(encoding="utf-8"))) for file in files if file not in SEARCHING}
    found = {str(file.relative_to(ROOT)): names for file, names in named.items() if names}
    assert found == {
        "bertviz_core/ui/components/selectors.py": {"data-testid"},  # how a test id becomes a selector
        # Plotly's own
        "bertviz_core/ui/components/shared/plotly_inside.js": {".hoverlayer", ".js-plotly-plot", ".main-svg"},
        "bertviz_core/ui/components/shared/streamlit.js": {"data-testid"},
        "tests/js/record/scenes_pages.js": {".js-plotly-plot", ".stMain", ".stMainBlockContainer"},  # a page of it
    }


def test_a_selector_of_every_style_sheet_is_known():
    for file in (ROOT / "bertviz_core").rglob("*.css"):
        assert ":--" not in expand(file.read_text(encoding="utf-8"))


def list_selectors():
    """Every selector with :has() of the style sheets that all pages have, as the browser gets it, by its file."""
    for file in (ROOT / "bertviz_core").rglob("*.css"):
        if file.parent.name != "views":  # where a card is named by what it shows, it may be, on its page alone
            rules = re.sub(r"/\*.*?\*/", "", expand(file.read_text(encoding="utf-8")), flags=re.DOTALL)
            for rule in re.findall(r"[^{}]+(?=\{)", rules):
                for selector in re.split(r",(?![^()]*\))", rule):
                    if ":has(" in selector:
                        yield file.name, selector.strip()


def test_what_an_element_has_is_said_by_names_that_few_elements_have():
    """By any other, each node that is drawn has a browser work out the style of the page anew."""
    said = {
        (file, argument)
        for file, selector in list_selectors()
        for argument in re.findall(r":has\(((?:[^()]|\([^()]*\))*)\)", selector)
    }
    assert len(said) > 20
    assert [each for each in said if re.search(r"\*(?!=)|\[class|:not|data-testid", each[1])] == []


def test_of_what_stands_below_such_an_element_few_have_the_name():
    """Where that is an attribute of all of Streamlit's elements, or none at all, all are worked out anew."""
    found = []
    for file, selector in list_selectors():
        depth, last, begins = 0, "", False  # what stands behind the last combinator; whether a :has() stands before it
        for part in re.split(r"(\(|\)|[\s>~+]+)", selector):
            depth += {"(": 1, ")": -1}.get(part, 0)
            if not depth and re.fullmatch(r"[\s>~+]+", part):
                begins, last = begins or ":has" in last, ""
            last += part
        named = re.match(r"[a-z.#]", last.strip(" >~+"))
        if begins and ("data-testid" in last or not named):
            found.append((file, selector))
    assert found == []
