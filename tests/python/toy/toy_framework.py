"""The made-up framework `toy_backend`, found or skipped with a reason.

`SOT_TOY_MODULE_DIR` names the directory that holds `toy_backend.so` for this interpreter; without it, an installed
`toy_backend` is used.
"""

import importlib
import importlib.util
import os
import sys

import pytest


def load():
    directory = os.environ.get("SOT_TOY_MODULE_DIR")
    if directory and directory not in sys.path:
        sys.path.insert(0, directory)
    if importlib.util.find_spec("toy_backend") is None:
        if directory:
            raise ImportError(f"SOT_TOY_MODULE_DIR={directory} holds no toy_backend for this interpreter")
        pytest.skip(
            "toy_backend is not built: set SOT_TOY_MODULE_DIR to a directory with toy_backend.so",
            allow_module_level=True,
        )
    return importlib.import_module("toy_backend")


toy = load()
