"""Whether a class overloads a reflected method of its base is asked of the classes themselves: a metaclass hears of what they lack."""

import operator

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


ASKED = []


class Hears(type):
    def __getattr__(cls, name):
        ASKED.append((cls.__name__, name))
        raise AttributeError(name)


class HearsAll(type):
    def __getattribute__(cls, name):
        if name.startswith("__r"):
            ASKED.append((type.__getattribute__(cls, "__name__"), name))
        return type.__getattribute__(cls, name)


class Base:
    def __add__(self, other):
        return NotImplemented

    def __mul__(self, other):
        return "product"


class Lacks(Base, metaclass=Hears):
    pass


class Has(Base, metaclass=Hears):
    def __radd__(self, other):
        return "reflected"


class Lower(Has):
    def __radd__(self, other):
        return "lower"


class Mixed(Has):
    def __rmul__(self, other):
        return "mixed"


class All(Base, metaclass=HearsAll):
    def __radd__(self, other):
        return "all"


PAIRS = [(Base, Lacks), (Base, Has), (Has, Lower), (Has, Mixed), (Lacks, Base), (Lacks, Lacks), (Base, All), (int, Lacks)]


def asked(left, right, operation):
    def build():
        a, b = left(), right()

        def f(x):
            ASKED.clear()
            try:
                answer = operation(a, b)
            except TypeError as error:
                answer = str(error)
            return x + 1, answer, list(ASKED)

        return {"f": f, "args": x1}

    build.__name__ = f"metaclass_asked_{operation.__name__}_{left.__name__}_{right.__name__}"
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


def added(a, b):
    return a + b


def multiplied(a, b):
    return a * b


def grown(a, b):
    a += b
    return a


for left, right in PAIRS:
    for operation in (added, multiplied, grown, operator.add):
        asked(left, right, operation)


@case(graphs=1, captures=1, breaks=0)
def metaclass_not_asked_of_what_is_there():
    def f(x):
        ASKED.clear()
        return x + 1, Base() + Has(), Has() + Lower(), list(ASKED)

    return {"f": f, "args": x1}
