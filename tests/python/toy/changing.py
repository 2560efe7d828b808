"""The registry of things that change between two calls."""

import pytest

from known_failures import known

CHANGES = []


def change(build):
    """Register a case: `build` makes a function of a tensor, and the change."""
    CHANGES.append(pytest.param(build, id=build.__name__, marks=known("change:" + build.__name__)))
    return build
