"""What all tests share: the bundled model and one trace of it, made once."""

import pytest

import bertviz_core as bv


@pytest.fixture(scope="session")
def bundled():
    return bv.load_model()


@pytest.fixture(scope="session")
def rome(bundled):
    return bv.run(bundled, "When in Rome, do as the [MASK] do.")
