"""What tests of the library share, which needs nothing of the app: the bundled model and one trace of it, made once."""

import pytest

import bertviz_core as bv
from bertviz_core.formula import numbers, tex
from tests.factory import base_sized_checkpoint


@pytest.fixture(scope="session")
def bundled():
    return bv.load_model()


@pytest.fixture(scope="session")
def rome(bundled):
    return bv.run(bundled, "When in Rome, do as the [MASK] do.")


@pytest.fixture(scope="session")
def base_sized(tmp_path_factory):
    """A checkpoint as large as BERT base; tests that read it are in the group of that name, so that it is made once."""
    return base_sized_checkpoint(tmp_path_factory.mktemp("base"))


@pytest.fixture
def precise(monkeypatch):
    """Worked formulas with every term and twelve decimals, so that they can be calculated."""
    monkeypatch.setattr(tex, "_SHOWN_TERMS", 100_000)
    monkeypatch.setattr(numbers, "DECIMALS", 12)
    monkeypatch.setattr(tex, "format_short_latex", numbers.format_latex)
