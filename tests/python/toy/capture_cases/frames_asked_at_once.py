"""Frame objects that are asked at once for their code or their line: the simulation knows both, and nobody has the frame object."""

import inspect
import sys

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


def my_name():
    return sys._getframe().f_code.co_name


def name_of_caller():
    return sys._getframe(1).f_code.co_name


def name_further_out():
    return sys._getframe().f_back.f_back.f_code.co_name


def line_of_caller():
    return inspect.currentframe().f_back.f_lineno


@case()
def names_of_functions():
    def f(x):
        def inner():
            return name_of_caller(), name_further_out()

        return x * 2.0, my_name(), name_of_caller(), inner(), sys._getframe().f_code.co_name

    return {"f": f, "args": x1}


@case()
def lines_where_frames_are():
    def f(x):
        first = inspect.currentframe().f_lineno
        y = x * 2.0
        return (
            y,
            first,
            line_of_caller(),
            sys._getframe().f_lineno,
            sys._getframe(
            ).f_lineno,
        )

    return {"f": f, "args": x1}


@case()
def the_code_itself():
    def f(x):
        return x * 2.0, sys._getframe().f_code is f.__code__, inspect.currentframe().f_code.co_filename == __file__

    return {"f": f, "args": x1}


@open_case
def frames_that_are_kept():
    def g():
        return sys._getframe()

    def f(x):
        frame = sys._getframe()
        y = x * 2.0
        return y, frame.f_lineno, frame.f_code.co_name, g().f_code.co_name, g().f_lineno

    return {"f": f, "args": x1}


@open_case
def frames_below_the_function():
    def f(x):
        return x * 2.0, sys._getframe(1).f_code.co_name is not None

    return {"f": f, "args": x1}


@open_case
def frames_of_generators():
    def g():
        yield sys._getframe().f_code.co_name
        yield sys._getframe(1).f_code.co_name
        return sys._getframe()

    def f(x):
        return x * 2.0, list(g()), [name_of_caller() for _ in range(1)], list(map(lambda _: name_of_caller(), [1]))

    return {"f": f, "args": x1}


@open_case
def no_such_frame():
    def f(x):
        try:
            return x, sys._getframe(10000).f_code.co_name
        except ValueError as error:
            return x * 2.0, str(error)

    return {"f": f, "args": x1}


class Told:
    def __del__(self):
        ENDED.append("told")


ENDED = []


def caller_of(value):
    return sys._getframe(1)


def caller_with_a_value():
    value = Told()
    return sys._getframe(1)


@open_case
def values_that_end_before_a_frame_is_asked():
    def f(x):
        ENDED.clear()
        return x * 2.0, caller_of(Told()).f_lineno > 0, caller_with_a_value().f_code.co_name, len(ENDED)

    return {"f": f, "args": x1}
