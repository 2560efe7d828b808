"""The modules beside the tests are importable, and nothing is captured when a test starts."""

import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))
os.environ.setdefault("SOT_VERIFY_GUARDS", "1")
# A compiled graph is compared with eager execution, and then serves, whatever a clock says.
os.environ.setdefault("SOT_MEASURE", "0")


@pytest.fixture(autouse=True)
def nothing_captured():
    arrays = sys.modules.get("arrays")
    if arrays is not None:
        arrays.reset()
    yield
