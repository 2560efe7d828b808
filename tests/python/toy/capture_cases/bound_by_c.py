"""Bound methods of values of C that were made before the frame: what they are bound to is their own affair."""

from observe import open_case
from toy_framework import toy

t = toy.tensor

METHODS = {
    "plus": lambda: (5).__add__,
    "less": lambda: (5).__lt__,
    "power": lambda: (5).__pow__,
    "minus": lambda: (5).__neg__,
    "large": lambda: (10**30).__add__,
    "both": lambda: True.__and__,
    "float_plus": lambda: (5.0).__add__,
    "text_plus": lambda: "a".__add__,
    "joined": lambda: ",".join,
    "bytes_plus": lambda: b"a".__add__,
    "tuple_has": lambda: (1, 2).__contains__,
    "list_item": lambda: [1, 2].__getitem__,
    "dict_item": lambda: {1: 2}.__getitem__,
    "dict_get": lambda: {1: 2}.get,
    "frozen_has": lambda: frozenset([1]).__contains__,
    "range_item": lambda: range(5).__getitem__,
    "appended": lambda: [].append,
    "next": lambda: iter([1, 2, 3] * 20).__next__,
    "of_the_type": lambda: int.__add__,
    "of_the_class": lambda: int.from_bytes,
}


def called(name, call, way):
    def build():
        method = METHODS[name]()

        def f(x, given):
            try:
                seen = call(given)
            except (TypeError, StopIteration) as error:
                seen = type(error).__name__, str(error)
            return x + 1, seen

        def plain(x, given):
            return x + 1, call(given)

        return {"f": f if way == "caught" else plain, "args": lambda: (t([1.0]), method)}

    build.__name__ = f"a_bound_method_of_c_{name}_{call.__name__}_{way}"
    return open_case(build)


def with_one(method):
    return method(1)


def with_two(method):
    return method(2, 3)


def with_none(method):
    return method()


def as_a_key(method):
    return sorted([1, 0, 1], key=method)


def mapped(method):
    return list(map(method, [1, 1]))


for name in METHODS:
    for call in (with_one, with_two, with_none, as_a_key, mapped):
        for way in ("caught", "plain"):
            called(name, call, way)
