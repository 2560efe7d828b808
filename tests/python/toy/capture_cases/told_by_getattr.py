"""`getattr(value, name)` tells an AttributeError of code of the program what was asked for, unless it knows (3.10+)."""

import sys

from observe import case
from toy_framework import toy

t = toy.tensor
pause = toy.disable(lambda *args: None)


def x1():
    return (t([1.0]),)


def silent(*args):
    pass


def kinds(between):
    class Hook:
        def __getattr__(self, name):
            between()
            raise AttributeError("no " + name)

    class Getter:
        @property
        def value(self):
            between()
            raise AttributeError("a getter")

    class Both(Hook):
        value = Getter.value

    class Lookup:
        def __getattribute__(self, name):
            between()
            raise AttributeError("a look-up")

    class Descriptor:
        def __get__(self, instance, owner):
            between()
            raise AttributeError("a descriptor")

    class Described:
        value = Descriptor()

    class Knows:
        def __getattr__(self, name):
            between()
            error = AttributeError("it knows")
            error.name = "another"
            raise error

    class Passes:
        def __getattr__(self, name):
            between()
            return getattr(Hook(), name + "_passed")

    class Other:
        def __getattr__(self, name):
            between()
            raise KeyError(name)

    return [Hook, Getter, Both, Lookup, Described, Knows, Passes, Other]


def told(error):
    return type(error), str(error), getattr(error, "name", None), type(getattr(error, "obj", None)).__name__


def by_builtin(value):
    return getattr(value, "value")


def by_builtin_under_a_handler(value):
    try:
        return getattr(value, "value")
    except KeyError:
        return "a key"


def by_instruction(value):
    return value.value


def with_default(value):
    return getattr(value, "value", 3), hasattr(value, "value")


def asked(name, between, way, at, **decisions):
    def build():
        kind = kinds(between)[at]

        def f(x):
            try:
                answer = way(kind())
            except (AttributeError, KeyError) as error:
                answer = told(error)
            return x + 1, answer

        return {"f": f, "args": x1}

    build.__name__ = "told_by_getattr_" + name
    build.__module__ = __name__
    case(**decisions)(build)


DECISIONS = [(silent, "", {"captures": 1, "breaks": 0}), (pause, "_behind_a_break", {"captures": 2, "breaks": 1})]
for between, where, expected in DECISIONS:
    for at, kind in enumerate(kinds(between)):
        for way in (by_builtin, by_builtin_under_a_handler, by_instruction):
            if sys.version_info >= (3, 12) and way is by_instruction and kind.__name__ in ("Getter", "Lookup"):
                # Whether the instruction tells what was asked for depends on how often it has run.
                continue
            # `Both` and `Passes` come to the break twice; a write to an exception is a break of its own.
            twice = kind.__name__ in ("Both", "Passes") and between is pause
            writes = kind.__name__ == "Knows" and sys.version_info >= (3, 10)
            more = {name: count + twice + writes for name, count in expected.items()}
            reasons = ("disabled",) * (between is pause) + ("user-code",) * writes
            asked(way.__name__ + "_" + kind.__name__ + where, between, way, at, graphs=1, reasons=reasons, **more)


@case(graphs=1, captures=None, breaks=2, reasons=("disabled", "would-raise"))
def told_by_getattr_to_the_caller():
    kind = kinds(pause)[0]

    def f(x):
        y = x + 1
        getattr(kind(), "value")
        return y

    return {"f": f, "args": x1}


def kept_error():
    error = AttributeError("kept")

    class Keeps:
        def __getattr__(self, name):
            raise error

    return Keeps(), error


@case(graphs=None, captures=None, breaks=None, fallbacks=None, reasons=None)
def told_by_nobody_who_takes_a_default():
    def f(x):
        keeps, error = kept_error()
        answers = getattr(keeps, "value", 3), hasattr(keeps, "other")
        return x + 1, answers, told(error)

    return {"f": f, "args": x1}
