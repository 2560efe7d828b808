"""The extension module under test, and ways to hook frames with it.

It is the test backend's: the door to CPython is the same in each, and only this one has the probes of these tests.
"""

import contextlib
import importlib
import sys
import types

native = importlib.import_module("toy_backend")

PY311 = sys.version_info >= (3, 11)


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
    copy = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
