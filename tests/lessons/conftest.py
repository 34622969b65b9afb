"""Two models: the bundled one, and a small one with random parameters."""

import pytest

from tests.lessons.models_a import cased, headless, small  # noqa: F401 - fixtures
from tests.lessons.scenes import make_models


@pytest.fixture(scope="session")
def models(bundled, tmp_path_factory):
    return make_models(bundled, tmp_path_factory.mktemp("random"))
