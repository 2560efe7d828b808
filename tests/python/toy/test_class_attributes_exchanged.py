"""An attribute of a class that is exchanged between calls: twice by another value of one kind, so that captures stop to ask what it
is, and then by something else, which may bind, come before what the instance has, or raise."""

import functools
import sys

import pytest
from toy_framework import toy

t = toy.tensor


class Called:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by


class Binds:
    def __init__(self, by):
        self.by = by

    def __get__(self, instance, owner):
        return "bound", self.by, owner.__name__


class BindsAndSets(Binds):
    def __set__(self, instance, value):
        instance.__dict__["told"] = (self.by, type(value).__name__)

    def __delete__(self, instance):
        instance.__dict__["told"] = "deleted"


class OfProperty(property):
    pass


class Slotted:
    __slots__ = ("value",)


# Kinds of values, each made of a number.
KINDS = {
    "int": lambda n: n,
    "float": lambda n: n + 0.5,
    "text": lambda n: "text%d" % n,
    "none": lambda n: None,
    "list": lambda n: [n],
    "tuple": lambda n: (n, [n]),
    "tensor": lambda n: t([float(n)]),
    "instance": Called,
    "function": lambda n: lambda *args: (len(args), n),
    "static method": lambda n: staticmethod(lambda *args: (len(args), n)),
    "static method of C": lambda n: staticmethod([len, abs, repr][n % 3]),
    "class method": lambda n: classmethod(lambda owner, *args: (owner.__name__, n)),
    "property": lambda n: property(lambda self: n, lambda self, value: self.__dict__.update(told=(n, value))),
    "property that refuses": lambda n: property(lambda self: n),
    "class that extends property": lambda n: OfProperty(lambda self: n),
    "cached property": lambda n: functools.cached_property(lambda self: n),
    "descriptor": Binds,
    "data descriptor": BindsAndSets,
    "partial": lambda n: functools.partial(max, n),
    "method of C": lambda n: [str.lower, list.append, dict.get][n % 3],
    "function of C": lambda n: [len, abs, repr][n % 3],
    "slot of another class": lambda n: Slotted.value,
    "class": lambda n: [int, str, Called][n % 3],
}

if sys.version_info[:2] == (3, 10):
    # It reads such a slot off any instance once it has read it often: whatever lies there.
    del KINDS["slot of another class"]


def by_name(x, make):
    found = make().value
    return x * 2, found


def by_getattr(x, make):
    return x * 2, getattr(make(), "value", "none")


def of_class(x, make):
    return x * 2, type(make()).value


def by_super(x, make):
    return x * 2, make().above()


def handled(x, make):
    y = x * 2
    try:
        found = make().value
    except (AttributeError, TypeError) as error:
        found = str(error)
    return y, found


def told(x, make):
    y, item = x * 2, make()
    try:
        item.value = 7
    except AttributeError as error:
        return y, str(error)
    return y, item.__dict__


def of_its_own(x, make):
    item = make()
    item.__dict__["value"] = "own"
    return x * 2, item.value


def called(x, make):
    try:
        return x * 2, make().value(x)
    except (AttributeError, TypeError) as error:
        return x * 3, str(error)


def world():
    class Above:
        pass

    class Under(Above):
        def above(self):
            return super().value

    return Above, Under


def shown(value, depth=3):
    """Values with their types, without addresses."""
    if isinstance(value, toy.Tensor):
        return "tensor", value.tolist()
    if isinstance(value, (list, tuple)) and depth:
        return type(value).__name__, [shown(part, depth - 1) for part in value]
    if isinstance(value, dict) and depth:
        return "dict", [(key, shown(part, depth - 1)) for key, part in value.items()]
    if isinstance(value, (int, float, str, type(None), type)):
        return type(value).__name__, str(value)
    return type(value).__name__, getattr(value, "__name__", ""), getattr(getattr(value, "__self__", None), "by", "")


def seen(call, make):
    try:
        return shown(call(t([1.0, 2.0]), make))
    except Exception as error:
        trace = error.__traceback__
        while trace.tb_next:
            trace = trace.tb_next
        return type(error).__name__, str(error), trace.tb_lineno


def history(call, first, then):
    """What each call says, as the attribute is exchanged."""
    above, under = world()
    made = [KINDS[first](1), KINDS[first](2), KINDS[first](3), KINDS[then](4), KINDS[then](5), KINDS[first](6)]
    out = []
    for value in made:
        above.value = value
        out.append(seen(call, under))
    return out


@pytest.mark.parametrize("way", [by_name, by_getattr, of_class, by_super, handled, told, of_its_own, called])
@pytest.mark.parametrize("first", KINDS)
def test_what_is_found_is_what_is_there(first, way):
    for then in KINDS:
        toy.reset()
        plain, captured = history(way, first, then), history(toy.to_static(way), first, then)
        assert captured == plain, then
