"""What Python refuses it refuses at its place: inside the `try` around it, on its own line."""

import collections
import dataclasses
import math
import types

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


class Slots:
    __slots__ = ("a",)


class Dictless:
    __slots__ = ()


class SlotsAndDict(Slots):
    pass


class ReadOnly:
    @property
    def foo(self):
        return 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int = 1


THINGS = {
    "object": object,
    "slots": Slots,
    "no_slots": Dictless,
    "slots_and_dict": SlotsAndDict,
    "property": ReadOnly,
    "frozen": Frozen,
    "list": list,
    "dict": dict,
    "ordered_dict": collections.OrderedDict,
    "type": lambda: int,
    "none": lambda: None,
    "number": lambda: 1.5,
    "function": lambda: (lambda: 0),
    "namespace": types.SimpleNamespace,
    "method": lambda: [].append,
    "exception": ValueError,
}


def writes(name, make):
    def build():
        def f(x, thing):
            y = x + 1
            try:
                thing.foo = 1
            except (AttributeError, TypeError) as error:
                return type(error).__name__, str(error), y
            return "written", thing.foo, y

        return {"f": f, "args": lambda: (t([1.0]), make())}

    build.__name__ = f"attribute_of_{name}_in_try"
    open_case(build)

    def build():
        def f(x, thing):
            y = x + 1
            thing.foo = y
            return y

        return {"f": f, "args": lambda: (t([1.0]), make()), "watch": tuple}

    build.__name__ = f"attribute_of_{name}"
    open_case(build)


for thing in THINGS.items():
    writes(*thing)


@open_case
def attribute_of_a_new_object():
    def f(x):
        y = x + 1
        thing = object()
        try:
            thing.foo = 1
        except AttributeError as error:
            return str(error), y

    return {"f": f, "args": lambda: (t([1.0]),)}


KEYS = {"list": lambda: [1], "tuple_of_list": lambda: ([1],), "dict": dict, "slice": lambda: slice(1), "nested": lambda: (1, ({},))}


def keys(name, make):
    def build():
        def f(x, key):
            y = x + 1
            table = {"a": 1}
            said = []
            try:
                table[key] = 2
            except TypeError as error:
                said.append(str(error))
            try:
                said.append(table.get(key))
            except TypeError as error:
                said.append(str(error))
            try:
                said.append({key: 1})
            except TypeError as error:
                said.append(str(error))
            return said, table, y

        return {"f": f, "args": lambda: (t([1.0]), make())}

    build.__name__ = f"unhashable_{name}_in_try"
    open_case(build)

    def build():
        def f(x, key):
            y = x + 1
            table = {}
            table[key] = y
            return table

        return {"f": f, "args": lambda: (t([1.0]), make())}

    build.__name__ = f"unhashable_{name}"
    open_case(build)


for key in KEYS.items():
    keys(*key)


@open_case
def sum_of_text():
    def f(x):
        y = x + 1
        try:
            return sum(["a"], "")
        except TypeError as error:
            return str(error), y

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def bool_that_is_no_bool():
    class Odd:
        def __bool__(self):
            return 1

    odd = Odd()

    def f(x):
        y = x + 1
        try:
            return bool(odd), y
        except TypeError as error:
            return str(error), y

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def super_of_the_wrong_things():
    class A:
        pass

    class B(A):
        pass

    class C:
        pass

    def f(x):
        y = x + 1
        said = []
        try:
            super(B(), C)
        except TypeError as error:
            said.append(str(error))
        try:
            super(B, C())
        except TypeError as error:
            said.append(str(error))
        return said, y

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def import_of_a_missing_name():
    def f(x):
        y = x + 1
        from os import nothing_of_this_name  # noqa: F401

        return y

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def import_of_a_missing_name_in_try():
    def f(x):
        y = x + 1
        try:
            from os import nothing_of_this_name  # noqa: F401
        except ImportError as error:
            return type(error).__name__, y

    return {"f": f, "args": lambda: (t([1.0]),)}


@case()
def import_of_a_submodule():
    def f(x):
        import os.path as joined
        from collections import abc
        from os import path

        return path is joined, abc.__name__, x + 1

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def relative_import():
    def f(x):
        from . import another_module
        from .another_module import SCALE

        return x * SCALE, another_module.SCALE

    return {"f": f, "args": lambda: (t([1.0]),)}


@case(graphs=None, captures=None, breaks=None, reasons=("tensor-to-scalar",))
def mathematics_of_a_tensor():
    def f(x):
        y = x + 1
        return math.sqrt(y.sum()), math.isfinite(y.sum()), math.floor(2.5), math.hypot(3, 4), y

    return {"f": f, "args": lambda: (t([1.0]),)}


@open_case
def keywords_given_twice():
    def g(**kwargs):
        return kwargs

    def f(x, table):
        y = x + 1
        return g(**table, **table), y

    return {"f": f, "args": lambda: (t([1.0]), collections.defaultdict(int, {"a": 1}))}
