"""Tracebacks of exceptions that code between the `raise` and the handler has raised once more, and silenced.

Up to 3.10 what is raised again at the end of a `with` or a `finally` has the traceback with which it came there; from 3.11 on
the one that the exception has.
"""

import contextlib

import pytest

from doors import opaque
from toy_framework import toy

t = toy.tensor


class Stopped(StopIteration):
    pass


class Failed(RuntimeError):
    pass


@contextlib.contextmanager
def manager():
    yield


@contextlib.contextmanager
def manager_that_breaks():
    try:
        opaque()
        yield
    finally:
        opaque()


class Raises:
    """`__exit__` raises what it is given, and handles it."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, entries):
        try:
            raise error
        except BaseException:
            return False


class RaisesAndBreaks(Raises):
    def __exit__(self, kind, error, entries):
        try:
            raise error
        except BaseException:
            opaque()
            return False


def again(error):
    try:
        raise error
    except BaseException:
        pass


def caught(x, make, kind):
    try:
        with make():
            raise kind("inside")
    except kind as error:
        return entries(error)


def given(x, make, kind):
    made = kind("made")
    try:
        with make():
            raise made
    except kind as error:
        return entries(error), error is made


def breaks_inside(x, make, kind):
    try:
        with make():
            opaque()
            raise kind("inside")
    except kind as error:
        opaque()
        return entries(error)


def in_a_loop(x, make, kind):
    seen = []
    for made in (kind(1), kind(2)):
        opaque()
        try:
            with make():
                raise made
        except kind as error:
            seen.append(entries(error))
    return seen


def left(x, make, kind):
    with make():
        raise kind("inside")


def nested(x, make, kind):
    try:
        with make(), make():
            raise kind("inside")
    except kind as error:
        return entries(error)


def with_finally(x, make, kind):
    try:
        try:
            with make():
                raise kind("inside")
        finally:
            opaque()
    except kind as error:
        return entries(error)


def of_a_callee(x, make, kind):
    def callee():
        with make():
            raise kind("inside")

    try:
        callee()
    except kind as error:
        return entries(error)


def between(x, make, kind):
    try:
        try:
            raise kind("inside")
        finally:
            again(kind("other"))
    except kind as error:
        again(error)
        return entries(error)


def raised_again_by_raise(x, make, kind):
    try:
        try:
            raise kind("inside")
        except kind as error:
            again(error)
            raise
    except kind as error:
        return entries(error)


def raised_again_by_finally(x, make, kind):
    made = kind("made")
    try:
        try:
            raise made
        finally:
            again(made)
    except kind as error:
        return entries(error)


def entries(error):
    found, entry = [], error.__traceback__
    while entry is not None:
        found.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
        entry = entry.tb_next
    return [entry for entry in found if entry[0] not in ("told",)]


def told(function, *args):
    try:
        return function(t([1.0]), *args)
    except Exception as error:
        return "left", entries(error)


FUNCTIONS = [caught, given, breaks_inside, in_a_loop, left, nested, with_finally, of_a_callee]
MAKERS = [manager, manager_that_breaks, Raises, RaisesAndBreaks]
WAYS = [(function, make) for function in FUNCTIONS for make in MAKERS]
WAYS += [(function, None) for function in (between, raised_again_by_raise, raised_again_by_finally)]


@pytest.mark.parametrize("kind", [ValueError, Failed, StopIteration, Stopped])
@pytest.mark.parametrize(("function", "make"), WAYS, ids=lambda part: getattr(part, "__name__", "-"))
def test_entries(function, make, kind):
    eager = told(function, make, kind)
    translated = toy.to_static(function)
    for _ in range(3):
        assert told(translated, make, kind) == eager
    assert "internal-error" not in toy.stats()["reasons"]


def test_an_exception_that_the_handler_fails_to_make():
    """Up to 3.11 C code leaves it to the handler to make the exception: what that raises keeps its entries."""
    testcapi = pytest.importorskip("_testcapi")

    class Unmade(Exception):
        def __init__(self):
            raise KeyError("not made")

    def f(x):
        try:
            testcapi.raise_exception(Unmade, 0)
        except KeyError as error:
            return entries(error)

    eager = f(t([1.0]))
    translated = toy.to_static(f)
    for _ in range(3):
        # Captured code has an entry of the handler's frame in any case.
        assert [entry for entry in translated(t([1.0])) if entry[0] != "f"] == [e for e in eager if e[0] != "f"]
