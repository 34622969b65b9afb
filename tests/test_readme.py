"""The README's numbers, kept true."""

import re
from pathlib import Path

import numpy as np

README = Path(__file__).parents[1] / "README.md"


def test_the_printed_predictions_are_the_models_own(rome):
    table = README.read_text(encoding="utf-8").split("<!-- top-5")[1]
    printed = re.findall(r"^\| (\S+) \| (0\.\d{4}) \|$", table, re.MULTILINE)
    probs = rome["cls.predictions.probs[token=8]"]
    best = np.argsort(-probs)[:5]
    assert printed == [(rome.model.tokenizer.token(int(i)), f"{probs[i]:.4f}") for i in best]


def test_every_file_that_the_readme_names_exists():
    text = README.read_text(encoding="utf-8")
    named = re.findall(
        r"\]\(([\w./-]+)\)|`(?:bash |python |pytest )?((?:\.ci|tests|benchmarks|bertviz_core)/[\w./-]+)`", text
    )
    paths = [first or second for first, second in named]
    assert len(paths) >= 4
    assert [path for path in paths if not (README.parent / path).exists()] == []


def test_one_line_runs_the_app_and_one_line_the_tests():
    blocks = re.findall(
        r"^## (\w+)\n\n```sh\n(.+?)\n```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert [section for section, _ in blocks] == ["Run", "Test"]
    install = "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/"
    assert [line for _, line in blocks] == [f"{install}streamlit run app.py", f"{install}python -m pytest"]
