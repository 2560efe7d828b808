"""`getattr` that C calls in its own name or for others (`map`, `reduce`, `attrgetter`) tells an AttributeError of code of the program
what was asked for, as `getattr` in the code does (3.10+)."""

import functools
import operator

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


class Hook:
    def __getattr__(self, name):
        raise AttributeError("no " + name)


class Getter:
    @property
    def value(self):
        raise AttributeError("a getter")


class Lookup:
    def __getattribute__(self, name):
        raise AttributeError("a look-up")


class Meta(type):
    def __getattr__(cls, name):
        raise AttributeError("a metaclass")


class OfMeta(metaclass=Meta):
    pass


class Holds:
    def __init__(self, value):
        self.inner = value


ASKED = {"Hook": Hook(), "Getter": Getter(), "Lookup": Lookup(), "OfMeta": OfMeta}


def told(error):
    return str(error), getattr(error, "name", None), type(getattr(error, "obj", None)).__name__


def reduced(value):
    return functools.reduce(getattr, ["inner", "value"], Holds(value))


def mapped(value):
    return list(map(getattr, [value], ["value"]))


def stepped(value):
    return next(map(getattr, [value], ["value"]))


def got(value):
    return operator.attrgetter("value")(value)


def got_below(value):
    return operator.attrgetter("inner.value")(Holds(value))


def got_among(value):
    return operator.attrgetter("inner", "inner.value")(Holds(value))


def sorted_by(value):
    return sorted([value], key=operator.attrgetter("value"))


def by_partial(value):
    return functools.partial(getattr, value)("value")


def by_builtin(value):
    return getattr(value, "value")


WAYS = [reduced, mapped, stepped, got, got_below, got_among, sorted_by, by_partial, by_builtin]


def asked(way, kind):
    def build():
        def f(x):
            try:
                answer = way(ASKED[kind])
            except AttributeError as error:
                answer = told(error)
            return x + 1, answer

        return {"f": f, "args": x1}

    build.__name__ = f"told_in_the_name_of_c_{way.__name__}_{kind}"
    build.__module__ = __name__
    case(graphs=1, captures=1, breaks=0)(build)


for kind in ASKED:
    for way in WAYS:
        asked(way, kind)


@case(graphs=1, captures=1, breaks=0)
def not_told_to_who_takes_a_default_by_name():
    error = AttributeError("kept")

    class Keeps:
        def __getattr__(self, name):
            raise error

    def f(x):
        keeps = Keeps()
        answers = list(map(hasattr, [keeps], ["value"])), list(map(getattr, [keeps], ["value"], [3]))
        return x + 1, answers, told(error)

    return {"f": f, "args": x1}
