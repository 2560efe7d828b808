"""What a method of C that is bound refuses names the class of the receiver, and not the class that has the method."""

import sys

from observe import case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0]),)


class Items(list):
    def nothing(self):
        return super().append()

    def keyword(self):
        return super().append(x=1)

    def two(self):
        return super(Items, self).extend(1, 2)

    def counted(self):
        return super().count()

    def item(self):
        return super().__getitem__()

    def missing(self):
        return super().index(8)


class Names(dict):
    def nothing(self):
        return super().keys(1)

    def popped(self):
        return super().popitem(1)


class Text(str):
    def nothing(self):
        return super().join()

    def one(self):
        return super().upper(2)


class Pair(tuple):
    def nothing(self):
        return super().count()


class Whole(int):
    def one(self):
        return super().bit_length(2)


class Failure(Exception):
    def nothing(self):
        return super().with_traceback()


class Inherits(Items):
    pass


WORLDS = {
    "a_list": (lambda: Items([1]), "nothing keyword two counted item missing"),
    "a_list_below": (lambda: Inherits([1]), "nothing keyword two counted item missing"),
    "a_dict": (lambda: Names(), "nothing popped"),
    "a_text": (lambda: Text("a"), "nothing one"),
    "a_pair": (lambda: Pair((1,)), "nothing"),
    "a_number": (lambda: Whole(3), "one"),
    "an_exception": (lambda: Failure(), "nothing"),
}


def refused(world, make, name):
    def build():
        value = make()

        def f(x):
            try:
                getattr(value, name)()
            except (TypeError, ValueError) as error:
                return x + 1, str(error)

        return {"f": f, "args": x1}

    build.__name__ = f"refused_by_c_{world}_{name}"
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


# Since 3.12 whether `super().append` is bound depends on how often the instruction has run.
if sys.version_info < (3, 12):
    for world, (make, names) in WORLDS.items():
        for name in names.split():
            refused(world, make, name)


def bound(name, make, method, *given):
    def build():
        value = make()

        def f(x):
            method_of_value = getattr(value, method)
            try:
                method_of_value(*given)
            except TypeError as error:
                return x + 1, str(error)

        return {"f": f, "args": x1}

    build.__name__ = f"bound_and_refused_{name}"
    build.__module__ = __name__
    case(graphs=None, breaks=None, captures=None, reasons=None)(build)


bound("a_list", lambda: Items([1]), "count")
bound("a_list_itself", lambda: [1], "count")
bound("a_pair", lambda: Pair((1,)), "count")
bound("a_text", lambda: Text("a"), "join")
bound("a_number", lambda: Whole(1), "bit_length", 2)
