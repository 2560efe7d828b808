"""Fixtures for the tests of `sot-core/src/cpython`.

`SOT_TEST_MODULE` names the extension module (default `sot._sot`).
"""

import contextlib
import importlib
import os
import sys

import pytest

native = importlib.import_module(os.environ.get("SOT_TEST_MODULE", "sot._sot"))


@pytest.fixture
def sot():
    """The extension module; no test may leave a hook behind."""
    assert native.set_eval_frame(None) is None
    yield native
    assert native.set_eval_frame(None) is None
    assert native._probe_slot_is_default()


@contextlib.contextmanager
def callback(function):
    """Runs the block with `function` as the eval-frame callback of this thread."""
    previous = native.set_eval_frame(function)
    try:
        yield
    finally:
        native.set_eval_frame(previous)


def swap(target, replacement, disable=False):
    """A callback that runs the code of `replacement` in frames of `target`."""

    def decide(frame):
        if frame.f_code is target.__code__:
            return native.CustomCode(replacement.__code__, disable)
        return None

    return decide


def with_code(function, code):
    """A function like `function` (same closure, defaults) that runs `code` without any hook."""
    import types

    copy = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


PY311 = sys.version_info >= (3, 11)
