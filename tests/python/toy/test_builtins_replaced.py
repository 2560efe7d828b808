"""A frame keeps the builtins that it has begun with, whatever its globals have under `__builtins__` by then: so do all continuations of
it."""

import builtins
import sys

import pytest

from toy_framework import toy

t = toy.tensor

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 10), reason="functions have no builtins of their own, and their frames ask globals and callers"
)

SOURCE = """
def f(x):
    kept = globals()["__builtins__"]
    globals()["__builtins__"] = {"len": lambda value: 99}
    between()
    x = x * len([1, 2])
    toy.graph_break()
    x = x + len([1, 2, 3])
    globals()["__builtins__"] = kept
    between()
    return x + len([])

def inner(x):
    toy.graph_break()
    x = x * len([1, 2])
    toy.graph_break()
    return x + len([1])

def below(x):
    kept = globals()["__builtins__"]
    try:
        globals()["__builtins__"] = {"len": lambda value: 99}
        return inner(x) + len([1])
    finally:
        globals()["__builtins__"] = kept

def numbers(x):
    for i in range(3):
        yield x * len([1, 2])

def waiting(x):
    asked = numbers(x)
    x = next(asked)
    kept = globals()["__builtins__"]
    globals()["__builtins__"] = {"len": lambda value: 99}
    toy.graph_break()
    x = x + next(asked)
    toy.graph_break()
    for given in asked:
        x = x + given
    globals()["__builtins__"] = kept
    return x
"""


def world(between=toy.graph_break):
    space = {"toy": toy, "__builtins__": vars(builtins), "between": between, "__name__": "space"}
    exec(SOURCE, space)
    return space


@pytest.mark.parametrize("name", ["f", "below", "waiting"])
def test_continuations_have_those_of_the_frame(name):
    expected = [world()[name](t([1.0])).tolist() for _ in range(3)]
    toy.reset()
    entry = toy.to_static(world()[name])
    assert [entry(t([1.0])).tolist() for _ in range(3)] == expected
    assert toy.stats()["breaks"] > 1 and toy.stats()["fallbacks"] == 0


def test_eager_forms_have_those_of_the_frame():
    """A listener that begins at the break has what follows run as plain Python."""

    def listens(*_told):
        return None

    @toy.disable
    def between():
        sys.setprofile(None if sys.getprofile() is listens else listens)

    try:
        expected = world(between)["f"](t([1.0])).tolist()
        toy.reset()
        entry = toy.to_static(world(between)["f"])
        assert [entry(t([1.0])).tolist() for _ in range(3)] == [expected] * 3
    finally:
        sys.setprofile(None)
