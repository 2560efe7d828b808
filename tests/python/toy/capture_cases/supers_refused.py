"""`super()` where the interpreter refuses it, behind breaks: what it says depends on the arguments of the code, not of the piece."""

import sys

from observe import case
from toy_framework import toy

t = toy.tensor
pause = toy.disable(lambda *args: None)


def x1():
    return (t([1.0]),)


class Base:
    def packed(*args):
        pause()
        return super().found

    def within(self):
        def inner():
            pause()
            return super().found

        return inner()

    def packed_with_cells(*args, **kwargs):
        def look():
            return args, kwargs

        pause()
        look()
        return super().found

    def deleted(self):
        del self
        pause()
        return super().found

    def other(self):
        self = 3
        pause()
        return super().found

    def generated(*args):
        yield 1
        pause()
        yield super().found


class Middle(Base):
    found = "found"


class Below(Middle):
    def right(self, pause=pause):
        def look():
            return self

        pause()
        return super().found, look() is self


def plain():
    pause()
    return super().found


def plain_with_argument(x):
    pause()
    return super().found


def named_alone(*, x=1):
    pause()
    return super().found


def said(function, *args):
    try:
        return function(*args)
    except (RuntimeError, TypeError) as error:
        return type(error), str(error)


def refused(name, function):
    def build():
        def f(x):
            return x + 1, said(function)

        return {"f": f, "args": x1}

    build.__name__ = "super_refused_in_" + name
    build.__module__ = __name__
    # 3.12 refuses a receiver of another class by an instruction of its own, which breaks.
    breaks = 1 + (name == "other" and sys.version_info >= (3, 12))
    case(graphs=1, captures=None, breaks=breaks, fallbacks=None, reasons=None)(build)


for each in ("packed", "within", "packed_with_cells", "deleted", "other"):
    refused(each, getattr(Base(), each))
refused("generated", lambda: list(Base().generated()))
refused("plain", plain)
refused("plain_with_argument", lambda: plain_with_argument(3))
refused("named_alone", named_alone)


@case(graphs=2, captures=2, breaks=1, reasons=("disabled",))
def super_behind_a_break():
    def f(x):
        y = x + 1
        found = Below().right()
        return y, found, y + 1

    return {"f": f, "args": x1}


@case(graphs=1, captures=None, breaks=None, fallbacks=None, reasons=None)
def super_refused_to_the_caller():
    def f(x):
        y = x + 1
        plain()
        return y

    return {"f": f, "args": x1}
