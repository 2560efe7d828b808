"""Attribute lookup as the types have it, and questions that must run no code of the program more often than Python does."""

import collections.abc
import enum
import math
import numbers
import re
import sys
import types
import typing

from observe import case, open_case
from toy_framework import toy

t = toy.tensor


def x1():
    return (t([1.0, 2.0]),)


class Plain:
    attribute = 1

    def method(self):
        pass


def tagged():
    pass


tagged.tag = 3

NAMES = "append foo keys __len__ __iter__ __next__ __call__ __name__ tag real __self__ __func__ method start __wrapped__ items"
THINGS = {
    "list": list,
    "dict": dict,
    "tuple": tuple,
    "str": lambda: "s",
    "int": lambda: 1,
    "float": lambda: 1.5,
    "complex": lambda: 1j,
    "bytes": lambda: b"",
    "none": lambda: None,
    "ellipsis": lambda: ...,
    "frozenset": frozenset,
    "range": lambda: range(3),
    "slice": lambda: slice(1),
    "function": lambda: tagged,
    "new_function": lambda: (lambda: 0),
    "builtin": lambda: len,
    "method": lambda: Plain().method,
    "builtin_method": lambda: [].append,
    "keys": lambda: {}.keys(),
    "items": lambda: {}.items(),
    "list_iterator": lambda: iter([]),
    "dict_iterator": lambda: iter({}),
    "enumerate": lambda: enumerate([]),
    "zip": lambda: zip([]),
    "map": lambda: map(len, []),
    "class": lambda: Plain,
    "builtin_class": lambda: int,
    "instance": Plain,
    "module": lambda: math,
}


def given(name, make):
    def build():
        names = NAMES.split()

        def f(x, thing):
            return [hasattr(thing, n) for n in names], getattr(thing, "foo", 5), getattr(thing, "bar", x) is x, x + 1

        return {"f": f, "args": lambda: (t([1.0]), make())}

    build.__name__ = f"names_of_{name}"
    case()(build) if name in ("list", "dict", "tuple", "str", "int", "none", "range") else open_case(build)

    def build():
        def f(x, thing):
            y = x + 1
            return thing.foo, y

        return {"f": f, "args": lambda: (t([1.0]), make())}

    build.__name__ = f"missing_name_of_{name}"
    open_case(build)


for thing in THINGS.items():
    given(*thing)


@case()
def names_of_new_values():
    def f(x):
        def inner():
            pass

        values = [], {}, (), iter([1]), {}.keys(), enumerate([]), slice(1), inner, [].append, "".join
        return [[hasattr(v, n) for n in ("append", "foo", "keys", "__next__", "join", "start")] for v in values], x + 1

    return {"f": f, "args": x1}


@open_case
def property_that_raises_key_error():
    class Box:
        @property
        def part(self):
            print("getter")
            raise KeyError("part")

    box = Box()

    def f(x):
        y = x + 1
        return hasattr(box, "part"), y

    return {"f": f, "args": x1}


@open_case
def property_that_raises_attribute_error():
    class Box:
        @property
        def part(self):
            print("part")
            raise AttributeError("part")

        @property
        def whole(self):
            print("whole")
            return 3

    box = Box()

    def f(x):
        return hasattr(box, "part"), hasattr(box, "whole"), getattr(box, "part", 3), getattr(box, "whole", 4), x + 1

    return {"f": f, "args": x1}


@open_case
def default_with_a_getattr_hook():
    class Box:
        def __getattr__(self, name):
            if name == "a":
                return 7
            raise AttributeError(name)

    box = Box()

    def f(x):
        return getattr(box, "a", 1), getattr(box, "b", 2), hasattr(box, "a"), hasattr(box, "c"), x + 1

    return {"f": f, "args": x1}


@open_case
def property_that_fails_before_a_getattr_hook():
    class Box:
        @property
        def broken(self):
            raise AttributeError("inside")

        @property
        def odd(self):
            raise KeyError("inside")

        @property
        def whole(self):
            return 3

        def __getattr__(self, name):
            return 7

    def f(x, box):
        y = x * box.broken + box.whole
        found = getattr(box, "broken", 4), hasattr(box, "broken"), hasattr(box, "whole"), hasattr(box, "other")
        try:
            box.odd
        except KeyError as error:
            return y, found, error.args

    return {"f": f, "args": lambda: (t([1.0]), Box())}


@open_case
def getattribute_of_a_new_instance():
    class Odd:
        def __getattribute__(self, name):
            return 99 if name == "x" else object.__getattribute__(self, name)

    def f(x):
        odd = Odd()
        odd.x = 1
        return odd.x, x + 1

    return {"f": f, "args": x1}


@open_case
def types_of_methods_and_iterators():
    def f(x):
        values = [].append, [].__len__, "".join, object().__repr__, iter([]), iter(()), iter("a"), reversed([]), reversed("a")
        return [type(v).__name__ for v in values], x + 1

    return {"f": f, "args": x1}


@open_case
def super_in_class_methods():
    class A:
        @classmethod
        def m(cls):
            return cls.__name__

        @staticmethod
        def s():
            return 3

    class B(A):
        @classmethod
        def m(cls):
            return super().m() + "b"

    def f(x):
        return B.m(), super(B, B).m(), super(B, B()).s(), hasattr(super(B, B()), "nothing"), x + 1

    return {"f": f, "args": x1}


@case()
def metaclass_with_its_own_mro():
    class Extra:
        w = 4

    class Meta(type):
        def mro(cls):
            return [cls, Extra, object]

    class A(metaclass=Meta):
        v = 3

        def m(self):
            return self.v + self.w

    a = A()

    def f(x):
        return a.m(), A.v, A.w, isinstance(a, Extra), issubclass(A, Extra), x + 1

    return {"f": f, "args": x1}


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@open_case
def keys_that_are_compared_by_identity():
    table = {Colour.RED: 1, Colour.BLUE: 2, int: 3, "s": 4, tagged: 5, None: 6}

    def f(x):
        found = table[Colour.RED], table[int], table["s"], table[tagged], table[None], table.get(float), Colour.BLUE in table
        return found, x + 1

    return {"f": f, "args": x1}


@case()
def abstract_classes():
    class Loop:
        def __iter__(self):
            return iter([])

    class Registered:
        pass

    collections.abc.Sequence.register(Registered)
    loop, registered = Loop(), Registered()
    classes = (
        collections.abc.Iterable,
        collections.abc.Sequence,
        collections.abc.Mapping,
        collections.abc.Callable,
        collections.abc.Hashable,
        numbers.Number,
    )

    def f(x):
        values = loop, registered, 1, [], {}, "s", (), 1.5, len
        return [isinstance(v, c) for v in values for c in classes], isinstance(x, (int, (str, (toy.Tensor,)))), x + 1

    return {"f": f, "args": x1}


@open_case
def code_of_the_program_runs_as_often_as_in_python():
    log = []

    class Key:
        def __hash__(self):
            log.append("hash")
            return 1

        def __eq__(self, other):
            log.append("eq")
            return self is other

    class Meta(type):
        def __instancecheck__(cls, value):
            log.append("instancecheck")
            return True

        def __subclasscheck__(cls, other):
            log.append("subclasscheck")
            return True

    class A(metaclass=Meta):
        pass

    class Busy:
        @property
        def part(self):
            log.append("part")
            return 5

        def __len__(self):
            log.append("len")
            return 2

        def __bool__(self):
            log.append("bool")
            return True

        def __iter__(self):
            log.append("iter")
            return iter([1])

        def __call__(self):
            log.append("call")
            return 1

        def __repr__(self):
            log.append("repr")
            return "P"

        @property
        def __class__(self):
            log.append("class")
            return Busy

    key, busy = Key(), Busy()
    table = {key: 1}

    def f(x):
        values = busy.part, bool(busy), len(busy), list(busy), tuple(busy), [*busy], busy(), callable(busy), repr(busy)
        keys = table[key], key in table, key == key
        kinds = isinstance(x, A), isinstance(3, A), issubclass(int, A), isinstance(busy, Busy), isinstance(busy, int)
        return values, keys, kinds, x + 1

    return {"f": f, "args": x1, "watch": lambda: list(log)}


@open_case
def hashes_of_keys_of_an_argument():
    log = []

    class Key:
        def __hash__(self):
            log.append("hash")
            return 1

    key = Key()

    def f(x, table):
        return len(table), list(table.values()), x + 1

    return {"f": f, "args": lambda: (t([1.0]), {key: 3}), "watch": lambda: list(log)}


@case()
def a_bound_method_of_c_is_built_again():
    pattern = re.compile("a+")

    def f(x, pattern):
        # Methods that are given their class (METH_METHOD), that are not, of a class, and slot wrappers.
        return x * 2, [pattern.match, pattern.fullmatch, "-".join, {"k": 1}.get, float.fromhex, (3).__add__]

    return {"f": f, "args": lambda: (t([1.0, 2.0]), pattern)}


class Refusing:
    def __getattr__(self, name):
        raise AttributeError(name)


class Failing:
    @property
    def part(self):
        raise AttributeError("its own words")


class FailingLater:
    """The getter is left by a break, so that the exception comes out of plain Python."""

    @property
    def part(self):
        print("part")
        raise AttributeError("its own words")


class Telling:
    @property
    def part(self):
        raise AttributeError("its own words", name="mine", obj=3) if sys.version_info >= (3, 10) else AttributeError


def asked(error):
    """What an AttributeError says of the attribute; None before 3.10."""
    return str(error), getattr(error, "name", None), type(getattr(error, "obj", None)).__name__


def _register_asked(kind, inner):
    # From 3.12 on an instruction that is warm enters the getter of a property by itself, and tells nothing: plain Python does
    # the one or the other.
    warm = sys.version_info >= (3, 12) and kind in (Failing, FailingLater)

    def said(error):
        return str(error) if warm else asked(error)

    def build():
        def attribute(x):
            try:
                return kind().part
            except AttributeError as error:
                return said(error), x + 1

        def method(x):
            try:
                return kind().part()
            except AttributeError as error:
                return said(error), x + 1

        def below(x):
            def ask():
                return kind().part.more

            y = x + 1
            try:
                return ask()
            except AttributeError as error:
                return said(error), y

        def uncaught(x):
            x = x + 1
            return kind().part + x

        return {"f": {"attribute": attribute, "method": method, "below": below, "uncaught": uncaught}[inner], "args": x1}

    build.__name__ = f"error_of_{kind.__name__}_{inner}"
    open_case(build)


for _kind in (Refusing, Failing, FailingLater, Telling):
    for _inner in ("attribute", "method", "below", "uncaught"):
        _register_asked(_kind, _inner)


@open_case
def the_class_is_asked_of_a_lookup_of_the_program():
    log = []

    class Anything:
        def __getattribute__(self, name):
            log.append(name)
            return 5

    def f(x):
        thing = Anything()
        return thing.__class__, isinstance(thing, int), isinstance(thing, Anything), x + 1

    return {"f": f, "args": x1, "watch": lambda: list(log)}


@open_case
def import_from_a_module_that_answers_itself():
    log = []
    module = types.ModuleType("toy_module_that_answers")

    def answer(name):
        log.append(name)
        if name.startswith("no"):
            raise AttributeError(name)
        return name

    module.__getattr__ = answer
    module.plain = 3
    sys.modules[module.__name__] = module

    def f(x):
        from toy_module_that_answers import answered, plain

        try:
            from toy_module_that_answers import nothing
        except ImportError as error:
            nothing = str(error)
        return answered, plain, nothing, x + 1

    return {"f": f, "args": x1, "watch": lambda: list(log)}


@open_case
def names_of_keywords_behind_what_is_let_go():
    T = typing.TypeVar("T")

    class Box(typing.Generic[T]):
        def __init__(self, value):
            self.value = value

    def f(x):
        return Box[int](value=x).value + 1

    return {"f": f, "args": x1}


@open_case
def what_objects_of_c_say_of_missing_attributes():
    import array
    import collections
    import datetime
    import itertools

    def f(x, made):
        told = []
        for thing in [*made, collections.deque(), collections.OrderedDict(), datetime.date(2020, 1, 2), re.compile("a")]:
            try:
                thing.nothing
            except AttributeError as error:
                told.append(str(error))
        for kind in (collections.deque, datetime.date, dict, Plain):
            try:
                kind.nothing
            except AttributeError as error:
                told.append(str(error))
        return x + 1, told

    return {"f": f, "args": lambda: (x1()[0], [itertools.count(), array.array("i"), Plain(), 1, "a"])}
