"""The very tuple that a call spreads is `args` of the exception that it makes."""

from observe import case
from toy_framework import toy

t = toy.tensor
GIVEN = (1, "two")


class Plain(Exception):
    pass


class Initialised(Exception):
    def __init__(self, *args):
        self.same = args is GIVEN


class InitialisedByBase(Exception):
    def __init__(self, *args):
        super().__init__(*args)
        self.same = self.args is args


class Made(Exception):
    def __new__(cls, *args):
        return Exception.__new__(cls, *args)


CLASSES = [Plain, Initialised, InitialisedByBase, Made, ValueError, KeyError, StopIteration]


@case(graphs=None, breaks=None, captures=None, reasons=None)
def arguments_from_before():
    def f(x, given):
        found = []
        for cls in CLASSES:
            error = cls(*given)
            found.append((error.args is given, error.args, vars(error)))
        return x + 1.0, found

    return {"f": f, "args": lambda: (t([1.0]), GIVEN)}


@case(graphs=None, breaks=None, captures=None, reasons=None)
def arguments_raised():
    def f(x):
        given, found = (len(GIVEN), x), []
        for cls in CLASSES:
            for these in (given, GIVEN, ()):
                try:
                    raise cls(*these)
                except Exception as error:
                    found.append((error.args is these, len(error.args)))
        return x + 1.0, found

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, breaks=None, captures=None, reasons=None)
def arguments_seen_by_the_caller(translate):
    def make(x):
        made = (x, 1)
        return Plain(*GIVEN), Plain(*made), KeyError(*made), made, x + 1.0

    captured = translate(make)

    def f(x):
        first, second, third, made, y = captured(x)
        return first.args is GIVEN, second.args is made, third.args is made, y

    return {"f": f, "args": lambda: (t([1.0]),)}
