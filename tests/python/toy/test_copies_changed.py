"""What `copy` asks about a class and its registries changes between two calls: the change must be seen."""

import copy
import copyreg

import pytest

from doors import DOORS
from toy_framework import toy

t = toy.tensor


def world():
    class Point:
        def __init__(self, x):
            self.x = x

    class Slotted:
        __slots__ = ("x",)

        def __init__(self, x):
            self.x = x

    return Point, Slotted


def picture(value):
    if isinstance(value, (list, tuple)):
        return [picture(item) for item in value]
    if isinstance(value, dict):
        return {key: picture(item) for key, item in value.items()}
    return (type(value).__name__, getattr(value, "x", None)) if hasattr(value, "x") else value


CHANGES = {
    "copyreg.pickle": lambda Point, undo: copyreg.pickle(Point, lambda o: (Point, (100,))),
    "another reducer": lambda Point, undo: [
        copyreg.dispatch_table.__setitem__(Point, lambda o, n=n: (Point, (n,))) for n in (100, 200)
    ],
    "copyreg of numbers": lambda Point, undo: copyreg.pickle(int, lambda o: (int, (o + 1,))),
    "__reduce_ex__": lambda Point, undo: setattr(Point, "__reduce_ex__", lambda self, n: (Point, (300,))),
    "__reduce__": lambda Point, undo: setattr(Point, "__reduce__", lambda self: (Point, (400,))),
    "__copy__": lambda Point, undo: setattr(Point, "__copy__", lambda self: 500),
    "__deepcopy__": lambda Point, undo: setattr(Point, "__deepcopy__", lambda self, memo: 600),
    "__getstate__": lambda Point, undo: setattr(Point, "__getstate__", lambda self: {"x": 700}),
    "__setstate__": lambda Point, undo: setattr(Point, "__setstate__", lambda self, state: setattr(self, "x", 800)),
    "__getnewargs__": lambda Point, undo: setattr(Point, "__getnewargs__", lambda self: ()),
    "__new__": lambda Point, undo: setattr(Point, "__new__", staticmethod(lambda cls, *args: 900)),
    "__getattribute__": lambda Point, undo: setattr(Point, "__getattribute__", lambda self, n: object.__getattribute__(self, n)),
    "dispatch of copy": lambda Point, undo: copy._copy_dispatch.update({Point: lambda o: 1000}),
    "dispatch of deepcopy": lambda Point, undo: copy._deepcopy_dispatch.update({Point: lambda o, memo: 1100}),
    "who makes again": lambda Point, undo: undo.setattr(copyreg, "__newobj__", lambda cls, *args: 1200),
    "who knows the slots": lambda Point, undo: undo.setattr(copyreg, "_slotnames", lambda cls: ["x"]),
    "who puts together": lambda Point, undo: undo.setattr(copy, "_reconstruct", lambda *args, **more: 1300),
}


@pytest.fixture(autouse=True)
def registries():
    held = [copyreg.dispatch_table, copy._copy_dispatch, copy._deepcopy_dispatch]
    before = [dict(table) for table in held]
    yield
    for table, content in zip(held, before):
        table.clear()
        table.update(content)


def outcomes(door, program, change, monkeypatch):
    Point, Slotted = world()
    with monkeypatch.context() as undo:
        table = copyreg.dispatch_table.copy()
        # A class remembers its slots: each call has another class that nobody has asked yet, but for the first.
        objects = [Point(2), Slotted(3), [Point(4)], {"a": Point(5)}, 6]
        run = door(lambda x, value: (x + 1, program(value)))

        def outcome(value):
            try:
                return picture(run(t([1.0]), value)[1])
            except Exception as error:
                return type(error).__name__, str(error)

        found = [outcome(value) for value in objects for _ in range(3)]
        CHANGES[change](Point, undo)
        found += [outcome(value) for value in objects for _ in range(3)]
        copyreg.dispatch_table.clear()
        copyreg.dispatch_table.update(table)
        return found


PROGRAMS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "of a list": lambda value: copy.deepcopy([value, value]),
    "reduced": lambda value: type(value).__reduce_ex__(value, 4)[0].__name__,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(change, program, door, monkeypatch):
    def plain(f):
        return f

    wanted = outcomes(plain, PROGRAMS[program], change, monkeypatch)
    assert outcomes(door, PROGRAMS[program], change, monkeypatch) == wanted
    stats = toy.stats()
    assert stats["captures"] > 0 and "internal-error" not in stats["reasons"]
