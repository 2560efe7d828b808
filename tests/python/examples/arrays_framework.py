"""The example framework `arrays`, found or skipped with a reason."""

import importlib
import importlib.util

import pytest


def load():
    if importlib.util.find_spec("arrays") is None:
        pytest.skip("arrays is not built: see examples/arrays", allow_module_level=True)
    return importlib.import_module("arrays")


arrays = load()
