"""Recursion of the program: finite and deep, or without end, through functions, methods and what builtins call.

Frames that were inlined count against the limit of the interpreter as eager's do; and a recursion is captured in pieces of
many frames, not frame by frame.
"""

import sys

import pytest

from toy_framework import toy

t = toy.tensor
REACHED = []


@pytest.fixture(autouse=True)
def nothing_reached():
    REACHED.clear()


def plain(n):
    REACHED.append(n)
    return plain(n + 1)


def even(n):
    REACHED.append(n)
    return odd(n + 1)


def odd(n):
    REACHED.append(n)
    return even(n + 1)


class Node:
    def __init__(self, n):
        self.n = n

    def method(self):
        REACHED.append(self.n)
        return Node(self.n + 1).method()

    @property
    def attribute(self):
        REACHED.append(self.n)
        return Node(self.n + 1).attribute

    def __getattr__(self, name):
        REACHED.append(name)
        return getattr(self, name + "_")

    def __add__(self, other):
        REACHED.append(other)
        return self + (other + 1)


def keyed(n):
    REACHED.append(n)
    return max([n], key=lambda v: keyed(v + 1))


def mapped(n):
    REACHED.append(n)
    return list(map(mapped, [n + 1]))


def asked(n):
    REACHED.append(n)
    return any(asked(n + 1) for _ in range(2))


def handles_and_goes_on(n):
    REACHED.append(n)
    try:
        return handles_and_goes_on(n + 1)
    finally:
        REACHED.append(-n)


ENDLESS = {
    "function": lambda: plain(0),
    "two functions": lambda: even(0),
    "method": lambda: Node(0).method(),
    "property": lambda: Node(0).attribute,
    "operator": lambda: Node(0) + 0,
    "getattr": lambda: Node(0).missing,
    "finally": lambda: handles_and_goes_on(0),
    "key of max": lambda: keyed(0),
    "map": lambda: mapped(0),
    "generator": lambda: asked(0),
}
# Calls of builtins and classes count for levels of their own, or not, by version: there the last level may differ.
THROUGH_BUILTINS = {"key of max", "map", "generator", "getattr", "method", "property"}
# Up to 3.10 a call that is left to the interpreter may reach one level more; a level notes two things at most.
# 3.12 counts evaluators that nest in C, too, and allows 800 of them: one for each frame that a hook has seen.
SLACK = 400 if sys.version_info[:2] == (3, 12) else 0 if sys.version_info >= (3, 11) else 2


@pytest.mark.parametrize("way", ENDLESS)
def test_without_end(way):
    recurse = ENDLESS[way]

    def f(x):
        try:
            recurse()
        except RecursionError as error:
            return x * 2, str(error).startswith("maximum recursion depth exceeded")
        return x, False

    f(t([1.0]))
    deepest = max(len(REACHED), 1)
    translated = toy.to_static(f)
    for _ in range(3):
        REACHED.clear()
        result, said = translated(t([1.0]))
        assert (result.tolist(), said) == ([2.0], True)
        if way not in THROUGH_BUILTINS:
            assert abs(len(REACHED) - deepest) <= SLACK
    stats = toy.stats()
    assert stats["hook_failures"] == 0
    assert "internal-error" not in stats["reasons"]
    assert stats["captures"] < 200, "in pieces of many frames"


def total(x, n):
    return x if n == 0 else total(x, n - 1) + 1


def test_deep_and_finite():
    """More frames than one capture inlines."""
    translated = toy.to_static(lambda x: total(x, 450))
    for _ in range(3):
        assert translated(t([1.0])).tolist() == [451.0]
    stats = toy.stats()
    assert stats["reasons"] == {"depth": stats["breaks"]}
    assert stats["breaks"] <= 4


def frames_now():
    frame, count = sys._getframe(), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


def test_the_limit_of_the_moment():
    """What was captured with room is not served where eager would have none."""
    f = toy.to_static(lambda x: total(x, 100))
    assert f(t([1.0])).tolist() == [101.0]
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(frames_now() + 60)
        with pytest.raises(RecursionError):
            f(t([1.0]))
    finally:
        sys.setrecursionlimit(limit)
    assert f(t([1.0])).tolist() == [101.0]
    assert toy.stats()["reasons"]["depth"] >= 1
