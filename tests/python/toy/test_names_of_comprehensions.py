"""Comprehensions whose variables have the name of an argument or of a variable that a function inside takes, with and without breaks.

From 3.12 on they run in the frame of the function: such a variable lies in the place of the cell.
"""

import doors
import pytest
from toy_framework import toy

t = toy.tensor


def passed(value):
    return value


through = doors.opaque


def argument(n, ask):
    kept = lambda: n  # noqa: E731
    return [n for n in (5, ask(n))], kept(), n


def argument_before(n, ask):
    found = [n * 2 for n in (5, n) if ask(n) is None or n]
    kept = lambda: n  # noqa: E731
    return found, kept(), n


def sets_and_dicts(n, ask):
    kept = (n + k for k in range(2))
    ask(n)
    return {n for n in (1, n)}, {n: -n for n in (2, n)}, list(kept), n


def pairs(n, ask):
    kept = lambda: n  # noqa: E731
    return [(m, n) for n, m in [(1, 2), (3, ask(4) or 4)]], kept(), n


def nested(n, ask):
    m = n + 1
    kept = lambda: (n, m)  # noqa: E731
    return [[(n, m) for m in range(ask(2) or 2)] for n in range(2)], kept(), n, m


def cells_of_their_own(n, ask):
    kept = lambda: n  # noqa: E731
    return [f() for f in [lambda: n for n in (7, ask(8) or 8)]], kept(), n


def one_inside_the_other(n, ask):
    kept = lambda: n  # noqa: E731
    return [n for n in [n + k for n in (1, 2) for k in (ask(0) or 0, n)]], kept(), n


def starred(ask, *n, **kw):
    kept = lambda: (n, kw)  # noqa: E731
    return [n for n in (5, n)], [kw for kw in (1, ask(kw))], kept()


def raises(n, ask):
    kept = lambda: n  # noqa: E731
    try:
        return [1 // n for n in (1, ask(0) or 0)]
    except ZeroDivisionError as error:
        return str(error), kept(), n


def rebound(n, ask):
    def add():
        nonlocal n
        n += 1
        return n

    found = [n for n in (add(), ask(n) or 3, add())]
    return found, n, add()


PROGRAMS = [
    argument,
    argument_before,
    sets_and_dicts,
    pairs,
    nested,
    cells_of_their_own,
    one_inside_the_other,
    raises,
    rebound,
]


@pytest.mark.parametrize("ask", [passed, through], ids=["whole", "with breaks"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_plain_python(program, ask):
    def f(x, n):
        return x * n, program(n, ask)

    captured = toy.to_static(f)
    for n in (7, 7, 9, 0):
        assert captured(t([1.0]), n)[1] == f(t([1.0]), n)[1]
    assert toy.stats()["hook_failures"] == 0
    if ask is passed:
        assert toy.stats()["breaks"] == 0


@pytest.mark.parametrize("ask", [passed, through], ids=["whole", "with breaks"])
def test_arguments_in_a_row(ask):
    def f(x, n):
        return x * n, starred(ask, n, 2, k=n)

    captured = toy.to_static(f)
    for n in (7, 7, 9):
        assert captured(t([1.0]), n)[1] == f(t([1.0]), n)[1]
