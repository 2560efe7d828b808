"""Frame objects of a function that goes on: who keeps one finds the function in it, who only looks loses no graph."""

import inspect
import sys
import traceback

from observe import case
from toy_framework import toy

t = toy.tensor

as_it_is = case(graphs=0, captures=None, breaks=None, fallbacks=1, reasons=None)
# The callee, or what is left of the function.
in_part = case(graphs=None, captures=None, breaks=None, fallbacks=1, reasons=None)
captured = case(graphs=None, captures=None, breaks=None, fallbacks=0, reasons=None)


def own():
    return sys._getframe(1)


def own_by_way_of_the_caller():
    frame = inspect.currentframe()
    try:
        return frame.f_back
    finally:
        del frame


def told(frame, *names):
    """What a frame object says, but for what it holds beside these variables."""
    held = {name: value for name, value in frame.f_locals.items() if name in names}
    return frame.f_code.co_name, frame.f_lineno, sorted(held), [value for value in held.values() if isinstance(value, int)]


def arguments():
    return {"args": lambda: (t([1.0]), 3)}


@as_it_is
def kept_over_a_break():
    def f(x, n):
        frame = sys._getframe()
        y = x * n
        seen = [frame.f_lineno]
        print("break")
        m = n + 1
        return seen, told(frame, "n", "m"), frame is sys._getframe(), y, m

    return {"f": f, **arguments()}


@as_it_is
def kept_after_a_break():
    def f(x, n):
        print("break")
        m = n + 1
        y = x * n
        frame = inspect.currentframe()
        print("break")
        return told(frame, "n", "m"), frame is inspect.currentframe(), frame.f_code is f.__code__, y, m

    return {"f": f, **arguments()}


@as_it_is
def kept_in_a_container():
    def f(x, n):
        frames = [sys._getframe(0)]
        for m in range(2):
            print(frames[0].f_lineno)
            frames.append(sys._getframe())
        return told(frames[0], "n", "m"), frames[0] is frames[1] is frames[2], x * n

    return {"f": f, **arguments()}


@as_it_is
def handed_to_others():
    def f(x, n):
        m = n * 2
        names = inspect.getargvalues(inspect.currentframe()).args
        print(told(sys._getframe(), "n", "m"))
        return names, x * m

    return {"f": f, **arguments()}


@as_it_is
def handed_out():
    def f(x, n):
        y = x * n
        print("break")
        return y, sys._getframe()

    def g(x, n):
        y, frame = f(x, n)
        return y, frame.f_code.co_name, frame.f_locals["n"], frame.f_back

    return {"f": f, **arguments(), "watch": lambda: g(t([1.0]), 4)}


@in_part
def given_by_a_helper():
    def f(x, n):
        frame = own()
        y = x * n
        print("break")
        m = n + 1
        return told(frame, "n", "m"), frame is sys._getframe(), y, m

    return {"f": f, **arguments()}


@in_part
def given_by_a_helper_after_a_break():
    def f(x, n):
        y = x * n
        print("break")
        m = n + 1
        frame = own_by_way_of_the_caller()
        print("break")
        return frame.f_lineno, frame.f_code.co_name, frame is own(), y, m

    return {"f": f, **arguments()}


@in_part
def in_an_inlined_function():
    def inner(x, n):
        frame = sys._getframe()
        y = x * n
        print("break")
        return told(frame, "n"), frame is sys._getframe(), y

    def f(x, n):
        before = inner(x, n)
        y = x * 2
        print("break")
        return before, inner(x + 1, n + 1), y

    return {"f": f, **arguments()}


@captured
def in_a_generator():
    def items(n):
        frame = sys._getframe()
        for m in range(n):
            yield told(frame, "n", "m"), frame is sys._getframe()
            print("break")

    def f(x, n):
        y = x * n
        return y, list(items(n))

    return {"f": f, **arguments()}


@as_it_is
def of_a_traceback():
    def f(x, n):
        y = x * n
        try:
            {}["missing"]
        except KeyError as error:
            frame = error.__traceback__.tb_frame
            print("break")
            m = n + 1
            return told(frame, "n", "m"), frame is sys._getframe(), y, m

    return {"f": f, **arguments()}


@as_it_is
def of_a_traceback_after_a_break():
    def f(x, n):
        y = x * n
        try:
            print("break")
            raise ValueError(n)
        except ValueError:
            m = n + 1
            frame = sys.exc_info()[2].tb_frame
            print("break")
            return told(frame, "n", "m"), frame is sys._getframe(), y, m

    return {"f": f, **arguments()}


@as_it_is
def of_a_traceback_by_code_within():
    def f(x, n):
        y = x * n
        look = lambda entry: sorted(entry.tb_frame.f_locals)  # noqa: E731
        try:
            print("break")
            m = n + 1
            raise ValueError(n)
        except ValueError as error:
            print("break")
            return look(error.__traceback__), y

    return {"f": f, **arguments()}


@in_part
def of_a_traceback_by_a_helper():
    def where(error):
        return error.__traceback__.tb_frame.f_lineno, error.__traceback__.tb_lineno

    def f(x, n):
        y = x * n
        try:
            {}["missing"]
        except KeyError as error:
            seen = [where(error)]
            seen.append(where(error))
            return seen, y

    return {"f": f, **arguments()}


@captured
def only_looked_at():
    def f(x, n):
        y = x * n
        seen = [sys._getframe().f_lineno, inspect.currentframe().f_code.co_name]
        frame = inspect.currentframe()
        seen.append(frame.f_back.f_globals["__name__"] if frame is not None else None)
        return seen, sys._getframe(0).f_lineno, y + 1

    return {"f": f, **arguments()}


@captured
def looked_at_by_a_helper():
    def caller(name):
        frame = sys._getframe(1)
        while frame and frame.f_code.co_name == name:
            frame = frame.f_back
        return frame.f_code.co_name, frame.f_lineno, own().f_lineno

    def f(x, n):
        y = x * n
        seen = [caller("g")]
        print("break")
        seen.append(caller("g"))
        return seen, y + 1

    return {"f": f, **arguments()}


@captured
def walked_by_a_helper():
    def entries(error):
        found, entry = [], error.__traceback__
        while entry is not None:
            found.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
            entry = entry.tb_next
        return found

    def f(x, n):
        y = x * n
        try:
            [].pop()
        except IndexError as error:
            seen = [entries(error), traceback.extract_tb(error.__traceback__)[0].lineno]
            print("break")
            return seen, entries(error), y

    return {"f": f, **arguments()}
