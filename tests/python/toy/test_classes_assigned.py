"""An object is given another class: whoever holds it is not told, and what is captured of the object asks for its class at each call."""

import types
import weakref

import pytest

import sot
from toy_framework import toy

t = toy.tensor


class Plain:
    scale = 1

    def text(self):
        return "plain"

    def __len__(self):
        return 1


class Other(Plain):
    scale = 2

    def text(self):
        return "other"

    def __len__(self):
        return 2

    def __bool__(self):
        return False


class Ending(Plain):
    def __del__(self):
        pass


class OtherEnding(Ending):
    scale = 2


class Items(list):
    pass


class OtherItems(list):
    pass


class Named(types.ModuleType):
    scale = 2


HELD = {}
MODULE = types.ModuleType("held")
OBJECT = None


def by_global(x):
    return getattr(OBJECT, "scale", 0), x * 2, type(OBJECT).__name__, isinstance(OBJECT, (Other, OtherItems))


def by_item(x):
    held = HELD["object"]
    return getattr(held, "scale", 0), x * 2, type(held).__name__, isinstance(held, (Other, OtherItems))


def by_module(x):
    held = MODULE.object
    return getattr(held, "scale", 0), x * 2, type(held).__name__, isinstance(held, (Other, OtherItems))


def by_methods(x):
    return OBJECT.text() if hasattr(OBJECT, "text") else None, x + 1, bool(OBJECT), len(OBJECT)


PAIRS = {"plain": (Plain, Other), "ending": (Ending, OtherEnding), "items": (Items, OtherItems)}


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("f", [by_global, by_item, by_module, by_methods])
@pytest.mark.parametrize("door", ["entry", "hook"])
def test_the_class_is_asked_for_at_each_call(f, pair, watched, door):
    first, second = PAIRS[pair]

    def told(captures):
        global OBJECT
        OBJECT = HELD["object"] = MODULE.object = first()
        watcher = weakref.ref(OBJECT) if watched else None
        toy.reset()
        call = toy.to_static(f) if captures and door == "entry" else f
        sot._sot._capture_all(captures and door == "hook")
        try:
            found = []
            for ty in (first, first, second, second, first):
                OBJECT.__class__ = ty
                found.append([value.tolist() if isinstance(value, toy.Tensor) else value for value in call(t([1.0]))])
        finally:
            sot._sot._capture_all(False)
        return found, watcher is None or watcher() is OBJECT

    assert told(True) == told(False)


def test_a_module_is_given_another_class():
    def f(x):
        return getattr(MODULE, "scale", 0), x * 2

    call = toy.to_static(f)
    assert call(t([1.0]))[0] == 0
    MODULE.__class__ = Named
    try:
        assert call(t([1.0]))[0] == 2
    finally:
        MODULE.__class__ = types.ModuleType
    assert call(t([1.0]))[0] == 0


def test_a_metaclass_is_not_asked_for_the_parts_of_a_union():
    asked = []

    class Meta(type):
        def __getattr__(cls, name):
            asked.append(name)
            raise AttributeError(name)

    class Own(metaclass=Meta):
        pass

    own = Own()

    def f(x):
        return isinstance(own, (int, Own)), issubclass(Own, Own), isinstance(3, Own), x * 2

    call = toy.to_static(f)
    for _ in range(3):
        assert call(t([1.0]))[:3] == (True, True, False)
    assert asked == []
