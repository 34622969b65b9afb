"""The version and its day, wherever they are written by hand."""

import re
from datetime import date
from pathlib import Path

import bertviz_core as bv

ROOT = Path(__file__).parents[1]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_citation_and_the_changes_are_of_this_version_and_one_day():
    (version, day), *_ = re.findall(r"^## (\S+) \((\S+)\)$", read("CHANGELOG.md"), re.MULTILINE)
    cited = dict(re.findall(r"^([a-z-]+): (.+)$", read("CITATION.cff"), re.MULTILINE))
    assert (version, version, day) == (bv.__version__, cited["version"], cited["date-released"])
    assert date.fromisoformat(day)
    assert cited["license"] == "Apache-2.0" and "Apache License" in read("LICENSE")


def test_the_citation_for_latex_is_that_of_the_citation_file():
    (entry,) = re.findall(r"```bibtex\n(.*?)```", read("docs/how-to.md"), re.DOTALL)
    told = dict(re.findall(r"^  (\w+) = \{+(.+?)\}+,$", entry, re.MULTILINE))
    cited = dict(re.findall(r"^ *(?:- )?([a-z-]+): (.+)$", read("CITATION.cff"), re.MULTILINE))
    assert told == {
        "title": cited["title"].strip('"'),
        "author": cited["name"],
        "version": cited["version"],
        "year": cited["date-released"][:4],
    }


def test_the_workflow_runs_all_checks():
    assert "run: bash .ci/run" in read(".github/workflows/checks.yml")
