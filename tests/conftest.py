"""What all tests share: the bundled model and one trace of it, made once."""

from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

import bertviz_core as bv
from bertviz_core.formula import numbers, tex
from tests.browser import app, chromium, server, still, window  # noqa: F401 - fixtures
from tests.factory import base_sized_checkpoint
from tests.learning import learner, trained  # noqa: F401 - fixtures
from tests.listener import calm, phone, tab, trial  # noqa: F401 - fixtures
from tests.nginx import nginx, place  # noqa: F401 - fixtures

# Every app that is tested looks for components in all packages that are installed, which takes longer than a page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


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
    monkeypatch.setattr(tex, "_SHOWN_TERMS", 1000)
    monkeypatch.setattr(numbers, "DECIMALS", 12)
