"""The registry of things that change between two calls, and the ways to meet a captured function."""

import pytest

from known_failures import known
from toy_framework import toy

CHANGES = []


def change(build):
    """Register a case: `build` makes a function of a tensor, and the change."""
    CHANGES.append(pytest.param(build, id=build.__name__, marks=known("change:" + build.__name__)))
    return build


def entry(f):
    return toy.to_static(f)


def inlined(f):
    return toy.to_static(lambda *args: f(*args))


def hook(f):
    def outer(*args):
        locals()
        return f(*args)

    return toy.to_static(outer)


def after_a_break(f):
    def outer(*args):
        toy.show(args[0])
        return f(*args)

    return toy.to_static(outer)


DOORS = [entry, inlined, hook, after_a_break]
